#!/usr/bin/env bash
# test_foreign_file.sh - a file that is not ours is exit 2 and stays byte-identical.
. "$(dirname "$0")/common.sh"

head -c 100000 /dev/urandom >"$DIR/sqliosim.mdx"
refused "$DIR/sqliosim.mdx" -- run --dir "$DIR" "${QUICK[@]}"
