#!/usr/bin/env bash
# test_interrupt_stamping.sh - a signal while files are written in full (StampFiles) ends the run at
# once: exit 130, a reason, no file left behind.
. "$(dirname "$0")/common.sh"

"$PAGESTORM" run --dir "$DIR" --size 96M -d 60 --set CONFIG.Reserve=1 --set CONFIG.StampFiles=TRUE \
    --out "$WORK/result" >"$WORK/out" 2>"$WORK/err" &
CHILD=$!
for _ in $(seq 200); do # until the file is open that has no name yet
    [ "$(find "/proc/$CHILD/fd" -lname "$DIR/*deleted*" -printf x 2>/dev/null)" ] && break
    sleep 0.01
done
kill -INT "$CHILD"
wait "$CHILD"
RC=$?
CHILD=
[ "$RC" -eq 130 ] || fail "exit code $RC instead of 130"
if [ ! -s "$WORK/result/result.json" ]; then # else it was too fast for us
    grep -q 'interrupted while the files were created' "$WORK/err" || fail "no reason given"
    [ -z "$(ls -A "$DIR")" ] || fail "files were left behind"
fi
