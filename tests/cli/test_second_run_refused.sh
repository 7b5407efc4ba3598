#!/usr/bin/env bash
# test_second_run_refused.sh - a second run on the files of a running one is exit 2;
# the first goes on.
. "$(dirname "$0")/common.sh"

"$PAGESTORM" run --dir "$DIR" --size 16M -d 60 --set CONFIG.Reserve=1 --out "$WORK/first" --quiet \
    >"$WORK/first.out" 2>&1 &
CHILD=$!
for _ in $(seq 100); do
    [ -e "$DIR/sqliosim.ldx" ] && [ -e "$WORK/first/ledger" ] && break
    sleep 0.1
done
[ -e "$WORK/first/ledger" ] || fail "the first run did not start: $(cat "$WORK/first.out")"
run run --dir "$DIR" "${QUICK[@]}" --out "$WORK/second"
[ "$RC" -eq 2 ] || fail "exit code $RC instead of 2"
grep -qF "$DIR/sqliosim.mdx" "$WORK/err" || fail "the file is not named"
[ ! -e "$WORK/second" ] || fail "a result folder was created"
kill -0 "$CHILD" || fail "the first run is gone"
kill -INT "$CHILD"
wait "$CHILD"
RC=$?
CHILD=
[ "$RC" -eq 130 ] || fail "the first run ended with $RC"
grep -q '^INTEGRITY   INCOMPLETE' "$WORK/first.out" || fail "$(cat "$WORK/first.out")"
