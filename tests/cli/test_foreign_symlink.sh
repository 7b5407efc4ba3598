#!/usr/bin/env bash
# test_foreign_symlink.sh - a symbolic link at the path is never followed: exit 2, target untouched.
. "$(dirname "$0")/common.sh"

head -c 100000 /dev/urandom >"$DIR/precious"
ln -s precious "$DIR/sqliosim.mdx"
refused "$DIR/sqliosim.mdx" -- run --dir "$DIR" "${QUICK[@]}"
