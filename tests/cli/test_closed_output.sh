#!/usr/bin/env bash
# test_closed_output.sh - a reader that goes away does not change the run: the result is written.
. "$(dirname "$0")/common.sh"

set -o pipefail
"$PAGESTORM" run --dir "$DIR" "${QUICK[@]}" --out "$WORK/result" 2>"$WORK/err" | true
RC=${PIPESTATUS[0]}
[ "$RC" -eq 0 ] || fail "exit code $RC instead of 0"
[ -s "$WORK/result/result.json" ] || fail "no result.json"
