#!/usr/bin/env bash
# test_nohup.sh - a run under nohup survives SIGHUP.
. "$(dirname "$0")/common.sh"

(trap '' HUP; exec "$PAGESTORM" run --dir "$DIR" --size 16M -d 3 --set CONFIG.Reserve=1 \
    --out "$WORK/result" >"$WORK/out" 2>"$WORK/err") &
CHILD=$!
for _ in $(seq 100); do
    [ -e "$WORK/result/ledger" ] && break
    sleep 0.1
done
kill -HUP "$CHILD"
wait "$CHILD"
RC=$?
CHILD=
[ "$RC" -eq 0 ] || fail "exit code $RC instead of 0"
