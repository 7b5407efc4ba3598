#!/usr/bin/env bash
# test_own_files_replaced.sh - files of an earlier run of ours are replaced.
. "$(dirname "$0")/common.sh"

exits 0 run --dir "$DIR" "${QUICK[@]}" --engine mem --out "$WORK/one"
exits 0 run --dir "$DIR" --size 32M -d 1 --set CONFIG.Reserve=1 --engine mem --out "$WORK/two"
[ "$(stat -c %s "$DIR/sqliosim.mdx")" -eq 33554432 ] || fail "the file is not the new one"
grep -qF "$DIR/sqliosim.mdx is of an earlier run and will be replaced" "$WORK/out" ||
    fail "the plan does not say what is replaced"
