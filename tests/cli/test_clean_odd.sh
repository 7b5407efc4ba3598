#!/usr/bin/env bash
# test_clean_odd.sh - clean finds files whose path is not UTF-8, does not hang on a FIFO, and says
# when nothing of a run is left.
. "$(dirname "$0")/common.sh"

odd=$DIR/$'\xff\xfe'
if mkdir "$odd" 2>"$WORK/err"; then
    exits 0 run --dir "$odd" "${QUICK[@]}" --engine mem --out "$WORK/result"
    exits 0 clean "$WORK/result" --yes
    [ -z "$(ls -A "$odd")" ] || fail "left: $(ls "$odd")"
    [ ! -e "$WORK/result" ] || fail "the folder was left"
    rmdir "$odd"
else
    echo "SKIP of a part: this file system takes only UTF-8"
fi

mkdir pipes
mkfifo pipes/result.json
refused pipes -- clean pipes --yes
rm -r pipes

exits 0 run --dir "$DIR" "${QUICK[@]}" --engine mem --out "$WORK/result"
rm "$DIR"/sqliosim.*
exits 0 clean "$WORK/result" --yes
grep -q 'none of the 2 files' "$WORK/out" || fail "it does not say that the files are gone"
