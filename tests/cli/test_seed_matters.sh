#!/usr/bin/env bash
# test_seed_matters.sh - another seed gives another run.
. "$(dirname "$0")/common.sh"

for seed in 7 8; do
    exits 0 run --dir "$DIR" --engine mem --seed "$seed" "${QUICK[@]}" --out "$WORK/r$seed" --quiet
    cp "$DIR/sqliosim.mdx" "$WORK/$seed.mdx"
done
! cmp -s "$WORK/7.mdx" "$WORK/8.mdx" || fail "the data files are equal"
