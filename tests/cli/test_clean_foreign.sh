#!/usr/bin/env bash
# test_clean_foreign.sh - clean leaves a foreign file at the path of a run's file.
. "$(dirname "$0")/common.sh"

exits 0 run --dir "$DIR" "${QUICK[@]}" --engine mem --out "$WORK/result"
rm "$DIR/sqliosim.mdx"
echo precious >"$DIR/sqliosim.mdx"
exits 0 clean "$WORK/result" --yes
[ "$(cat "$DIR/sqliosim.mdx")" = precious ] || fail "a foreign file was touched"
