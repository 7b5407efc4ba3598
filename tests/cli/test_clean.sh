#!/usr/bin/env bash
# test_clean.sh - clean removes the run's files and its folder, and nothing else.
. "$(dirname "$0")/common.sh"

echo mine >"$DIR/notes"
exits 0 run --dir "$DIR" "${QUICK[@]}" --engine mem --out "$WORK/result"
exits 0 clean "$WORK/result" --yes
[ "$(ls "$DIR")" = notes ] || fail "left or lost: $(ls "$DIR")"
[ ! -e "$WORK/result" ] || fail "the folder is still there"
grep -qx 'removed 2 files and the folder with its report' "$WORK/out" || fail "no such last line"
