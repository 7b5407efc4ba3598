#!/usr/bin/env bash
# test_save.sh - --save writes a configuration that loads again without a warning.
. "$(dirname "$0")/common.sh"

exits 0 run --dir "$DIR" "${QUICK[@]}" --engine mem --seed 7 --out "$WORK/result" --save saved.ini
exits 0 config --dump saved.ini
[ ! -s "$WORK/err" ] || fail "there are warnings"
cmp "$WORK/out" saved.ini || fail "the dump differs from what was saved"
