#!/usr/bin/env bash
# test_missing_directory.sh - a directory that does not exist is exit 2, and is not created.
. "$(dirname "$0")/common.sh"

refused "$WORK/missing" -- run --dir "$WORK/missing" "${QUICK[@]}"
