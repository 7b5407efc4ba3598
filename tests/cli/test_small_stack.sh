#!/usr/bin/env bash
# A stack of 64 KiB (ulimit -s): nothing of the program is that deep.
. "$2/tests/cli/common.sh"

ldd "$PAGESTORM" | grep -q 'asan\|tsan' && skip "sanitizers need more stack than that"
(
    ulimit -s 64 || exit 77
    "$PAGESTORM" run --dir "$DIR" "${QUICK[@]}" --out "$WORK/small" >"$WORK/out" 2>"$WORK/err"
) </dev/null
RC=$?
[ $RC -ne 77 ] || skip "this shell cannot lower the limit of its stack"
[ $RC -eq 0 ] || fail "exit code $RC with a stack of 64 KiB"
exit 0
