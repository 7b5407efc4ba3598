#!/usr/bin/env bash
# test_dangling_symlink.sh - a symbolic link to nothing is never created through: exit 2.
. "$(dirname "$0")/common.sh"

ln -s "$WORK/elsewhere" "$DIR/sqliosim.mdx"
refused "$DIR/sqliosim.mdx" -- run --dir "$DIR" "${QUICK[@]}"
[ ! -e "$WORK/elsewhere" ] || fail "the target was created"
