#!/usr/bin/env bash
# test_clean_running.sh - clean of a run that is still going is exit 2 and removes nothing.
. "$(dirname "$0")/common.sh"

"$PAGESTORM" run --dir "$DIR" --size 16M -d 60 --set CONFIG.Reserve=1 --out "$WORK/result" \
    >"$WORK/first" 2>&1 &
CHILD=$!
for _ in $(seq 100); do
    grep -q 'initial update: done' "$WORK/first" && break
    sleep 0.1
done
exits 2 clean "$WORK/result" --yes
[ -e "$DIR/sqliosim.mdx" ] && [ -e "$WORK/result/ledger" ] || fail "something was removed"
kill -INT "$CHILD"
wait "$CHILD"
RC=$?
CHILD=
[ "$RC" -eq 130 ] || fail "the run ended with $RC"
