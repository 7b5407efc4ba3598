#!/usr/bin/env bash
# test_ledger_lost.sh - a ledger that is cut during the run ends it with a sentence and exit code 3.
. "$(dirname "$0")/common.sh"

"$PAGESTORM" run --dir "$DIR" --size 16M -d 40 --set CONFIG.Reserve=1 --out "$WORK/out" --quiet \
    >"$WORK/run.out" 2>"$WORK/err" &
CHILD=$!
for _ in $(seq 200); do
    grep -qs stress "$WORK/out/series.csv" && break
    sleep 0.1
done
grep -qs stress "$WORK/out/series.csv" || fail "the main part did not begin"
truncate -s 4096 "$WORK/out/ledger"
wait "$CHILD"
RC=$?
CHILD=
[ "$RC" -eq 3 ] || fail "exit code $RC instead of 3"
grep -q 'the ledger in the result folder' "$WORK/err" || fail "the ledger is not named"
