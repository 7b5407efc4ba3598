#!/usr/bin/env bash
# test_out_without_parent.sh - --out below a directory that does not exist is exit 2.
. "$(dirname "$0")/common.sh"

refused nowhere/result -- run --dir "$DIR" "${QUICK[@]}" --out nowhere/result
