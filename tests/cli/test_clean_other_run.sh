#!/usr/bin/env bash
# test_clean_other_run.sh - clean leaves the files of a later run at the same paths.
. "$(dirname "$0")/common.sh"

exits 0 run --dir "$DIR" "${QUICK[@]}" --engine mem --seed 1 --out "$WORK/one"
exits 0 run --dir "$DIR" "${QUICK[@]}" --engine mem --seed 2 --out "$WORK/two"
before=$(cksum "$DIR"/*)
exits 0 clean "$WORK/one" --yes
[ "$before" = "$(cksum "$DIR"/*)" ] || fail "the files of the second run were touched"
[ -s "$WORK/two/result.json" ] || fail "the second result is gone"
