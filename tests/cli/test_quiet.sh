#!/usr/bin/env bash
# test_quiet.sh - --quiet prints the last lines and nothing else.
. "$(dirname "$0")/common.sh"

exits 0 run --dir "$DIR" "${QUICK[@]}" --out "$WORK/result" --quiet
[ "$(wc -l <"$WORK/out")" -eq 6 ] || fail "not six lines"
words=$(cut -d' ' -f1 "$WORK/out" | tr '\n' ' ')
[ "$words" = "INTEGRITY DURABILITY SPEED RESULT report files " ] || fail "other lines: $words"
