#!/usr/bin/env bash
# test_out_not_empty.sh - --out with something in it is exit 2, and what is there stays.
. "$(dirname "$0")/common.sh"

mkdir full
echo mine >full/notes
refused full -- run --dir "$DIR" "${QUICK[@]}" --out full
