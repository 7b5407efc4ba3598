#!/usr/bin/env bash
# test_foreign_empty_file.sh - an empty file at the path is foreign too: exit 2, untouched.
. "$(dirname "$0")/common.sh"

: >"$DIR/sqliosim.ldx"
refused "$DIR/sqliosim.ldx" -- run --dir "$DIR" "${QUICK[@]}"
