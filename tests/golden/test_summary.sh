#!/usr/bin/env bash
# test_summary.sh - what the Display Monitor says at the end of a run, figures masked.
set -eu
pagestorm=$1
root=$2
work=$(mktemp -d "$PWD/summary-XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/d"
"$pagestorm" run --dir "$work/d" --size 16M -d 1 --seed 11 --engine mem --set CONFIG.Reserve=1 \
    --out "$work/r" >"$work/out" || { cat "$work/out"; exit 1; }

# Descriptions of the Display Monitor, in order; numbers and the folder masked.
grep -A 1 "User='Display Monitor'" "$work/r/sqliosim.log.xml" |
    sed -n 's,^<EXTENDED_DESCRIPTION>\(.*\)</EXTENDED_DESCRIPTION>$,\1,p' |
    sed -E -e "s,$work,WORK,g" -e 's/[0-9]+([,.][0-9]+)*/N/g' >"$work/found"
diff -u "$root/tests/golden/summary.txt" "$work/found"

# The same rows stand on the screen.
sed -n '/Final Summary/,/^Closing/p' "$work/out" |
    sed -E -e "s,$work,WORK,g" -e 's/[0-9]+([,.][0-9]+)*/N/g' >"$work/screen"
grep -vE '^(INTEGRITY|DURABILITY|SPEED|RESULT): ' "$work/found" | diff -u - "$work/screen"
