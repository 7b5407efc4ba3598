#!/usr/bin/env bash
# test_address_space.sh - the helper threads of --engine sync fit where address space is limited:
# 64 of them with the usual 8 MiB of stack would be 512 MiB.
. "$(dirname "$0")/common.sh"

(ulimit -s 8192 && ulimit -v 400000) 2>/dev/null || skip "no such limits here"
ldd "$PAGESTORM" | grep -q 'lib[at]san' && skip "a sanitizer needs all address space"
nm "$PAGESTORM" 2>/dev/null | grep -q '__[at]san_init' && skip "a sanitizer needs all address space"
(
    ulimit -s 8192
    ulimit -v 400000
    exec "$PAGESTORM" run --dir "$DIR" "${QUICK[@]}" --memory 16M --engine sync \
        --set CONFIG.CPUCount=2 --set CONFIG.QueueDepth=32 --out "$WORK/result" --quiet
) >"$WORK/out" 2>"$WORK/err"
RC=$?
[ "$RC" -eq 0 ] || fail "exit code $RC"
