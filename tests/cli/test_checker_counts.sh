#!/usr/bin/env bash
# test_checker_counts.sh - an independent checker finds as many pages and log blocks as the
# result says.
. "$(dirname "$0")/common.sh"

checker=$(realpath -m "$2/../shared/tools/mdfcheck.py")
[ -f "$checker" ] || skip "$checker is not here"
command -v python3 >/dev/null || skip "python3 is not here"
exits 0 run --dir "$DIR" "${QUICK[@]}" --out "$WORK/result"
python3 "$checker" "$DIR/sqliosim.mdx" "$DIR/sqliosim.ldx" >"$WORK/out" || fail "not sound"
python3 "$checker" --pair "$DIR/sqliosim.mdx" "$DIR/sqliosim.ldx" >"$WORK/err" || fail "no pair"
pages=$(awk '$1 == "data:alloc_cksum_ok" { print $2 }' "$WORK/out")
blocks=$(awk '$1 == "log:blocks" { print $2 }' "$WORK/out")
grep -q "\"allocated_pages\": $pages,\$" "$WORK/result/result.json" || fail "$pages pages on disk"
grep -q "\"log_blocks_live\": $blocks\$" "$WORK/result/result.json" || fail "$blocks blocks on disk"
