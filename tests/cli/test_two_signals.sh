#!/usr/bin/env bash
# test_two_signals.sh - signals in a moment, as timeout and a closing terminal send them, end a run
# in order; the notice comes once, and not with --quiet.
. "$(dirname "$0")/common.sh"

for quiet in '' --quiet; do
    "$PAGESTORM" run --dir "$DIR" --size 16M -d 60 --set CONFIG.Reserve=1 --out "$WORK/result" \
        $quiet >"$WORK/out" 2>"$WORK/err" &
    CHILD=$!
    for _ in $(seq 100); do
        [ -e "$WORK/result/ledger" ] && break
        sleep 0.1
    done
    sleep 0.5
    kill -INT "$CHILD"
    kill -TERM "$CHILD"
    kill -HUP "$CHILD"
    wait "$CHILD"
    RC=$?
    CHILD=
    [ "$RC" -eq 130 ] || fail "exit code $RC instead of 130"
    [ -s "$WORK/result/result.json" ] || fail "no result.json"
    notices=$(grep -c '^stopping; ' "$WORK/err")
    [ "$notices" -eq "$([ -n "$quiet" ] && echo 0 || echo 1)" ] || fail "$notices notices $quiet"
    rm -r "$WORK/result"
done
