#!/usr/bin/env bash
# test_clean_without_result.sh - clean of a killed run works from its ledger.
. "$(dirname "$0")/common.sh"

exits 0 run --dir "$DIR" "${QUICK[@]}" --engine mem --out "$WORK/result"
rm "$WORK/result/result.json"
exits 0 clean "$WORK/result" --yes
[ -z "$(ls "$DIR")" ] || fail "left: $(ls "$DIR")"
