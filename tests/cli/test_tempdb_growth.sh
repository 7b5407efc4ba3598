#!/usr/bin/env bash
# test_tempdb_growth.sh - TempDbUser.Size smaller than its users need: the plan says how far the
# files grow, they do, and result.json, verify and the next session agree.
. "$(dirname "$0")/common.sh"

# A sort of 40 MB in 8 MB: one increment (64 MB, cut to what is needed) for each file.
ARGS=(--dir "$DIR" --size 32M -d 3 --set TempDbUser.Sorts=1 --set TempDbUser.SortSize=40M
    --set TempDbUser.SortMemory=1M --set TempDbUser.Size=8M --set CONFIG.Reserve=1M
    --set CONFIG.CPUCount=2)

exits 0 run "${ARGS[@]}" --dry-run
grep -q 'tempdb\.mdx .*tempdb, grows to [0-9.]* MiB$' "$WORK/out" || fail "the plan names no growth"
exits 0 run "${ARGS[@]}" --out "$WORK/first"
files=$(find "$DIR" -name 'tempdb*.mdx' | wc -l)
grew=$(sed -n 's/^ *"file_growths": \([0-9]*\),$/\1/p' "$WORK/first/result.json" | head -n 1)
[ "$grew" = "$files" ] || fail "$grew growths of $files files"
bytes=$(find "$DIR" -name 'tempdb*.mdx' -printf '%s\n' | awk '{ sum += $1 } END { print sum }')
[ "$bytes" -ge $((40 << 20)) ] || fail "$bytes bytes of tempdb for a sort of 40 MB"
exits 0 verify "$WORK/first"
exits 0 run "${ARGS[@]}" --reuse "$WORK/first" --out "$WORK/second"
grew=$(sed -n 's/^ *"file_growths": \([0-9]*\),$/\1/p' "$WORK/second/result.json" | head -n 1)
[ "$grew" = "$files" ] || fail "$grew growths of $files files in the second session"
exits 0 verify "$WORK/second"
exit 0
