#!/usr/bin/env bash
# test_clean_asks.sh - clean without a terminal and without --yes is exit 2 and removes nothing.
. "$(dirname "$0")/common.sh"

exits 0 run --dir "$DIR" "${QUICK[@]}" --engine mem --out "$WORK/result"
refused --yes -- clean "$WORK/result"
