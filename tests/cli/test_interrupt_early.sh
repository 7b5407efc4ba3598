#!/usr/bin/env bash
# test_interrupt_early.sh - a signal before the load begins: exit 130, and a result, or, while
# the files were being created, none of them left behind and a reason.
. "$(dirname "$0")/common.sh"

"$PAGESTORM" run --dir "$DIR" --size 400M -d 60 --set CONFIG.Reserve=1 --out "$WORK/result" \
    >"$WORK/out" 2>"$WORK/err" &
CHILD=$!
for _ in $(seq 100); do
    [ -e "$WORK/result/ledger" ] && break
    sleep 0.1
done
kill -TERM "$CHILD"
wait "$CHILD"
RC=$?
CHILD=
[ "$RC" -eq 130 ] || fail "exit code $RC instead of 130"
if [ ! -s "$WORK/result/result.json" ]; then
    grep -q 'interrupted while the files were created' "$WORK/err" || fail "no reason given"
    [ -z "$(ls -A "$DIR")" ] || fail "files were left behind"
fi
