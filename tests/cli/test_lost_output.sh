#!/usr/bin/env bash
# test_lost_output.sh - output that cannot be written is exit 3; a run, whose result is in its
# folder, does not mind.
. "$(dirname "$0")/common.sh"

[ -c /dev/full ] || skip "no /dev/full"
for arguments in 'config --dump' 'config --list' '--version' \
    "run --dir $DIR --size 16M --dry-run"; do
    # shellcheck disable=SC2086
    "$PAGESTORM" $arguments >/dev/full 2>"$WORK/err"
    RC=$?
    [ "$RC" -eq 3 ] || fail "exit code $RC instead of 3: $arguments"
    grep -q '^error: standard output cannot be written' "$WORK/err" || fail "no reason: $arguments"
done
"$PAGESTORM" run --dir "$DIR" "${QUICK[@]}" --engine mem --out "$WORK/result" >/dev/full \
    2>"$WORK/err"
RC=$?
[ "$RC" -eq 0 ] || fail "exit code $RC instead of 0"
[ -s "$WORK/result/result.json" ] || fail "no result.json"
