#!/usr/bin/env bash
# test_own_files_kept.sh - DeleteFilesAtStartup=FALSE refuses the files of an earlier run: exit 2.
. "$(dirname "$0")/common.sh"

exits 0 run --dir "$DIR" "${QUICK[@]}" --engine mem --out "$WORK/one"
refused DeleteFilesAtStartup -- run --dir "$DIR" "${QUICK[@]}" --engine mem --out "$WORK/two" \
    --set CONFIG.DeleteFilesAtStartup=FALSE
