#!/usr/bin/env bash
# test_unwritable_directory.sh - a directory that an ordinary user may not write is exit 2.
. "$(dirname "$0")/common.sh"

chmod 555 "$DIR"
if [ "$(id -u)" -ne 0 ]; then
    refused "$DIR" -- run --dir "$DIR" "${QUICK[@]}"
    exit 0
fi
command -v setpriv >/dev/null || skip "setpriv is not here, and root may write everywhere"
chmod 755 "$WORK"
chmod 777 "$WORK/cwd"
as_nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
"${as_nobody[@]}" "$PAGESTORM" --version >/dev/null 2>&1 ||
    skip "an ordinary user cannot run $PAGESTORM"
before=$(picture)
"${as_nobody[@]}" "$PAGESTORM" run --dir "$DIR" "${QUICK[@]}" >"$WORK/out" 2>"$WORK/err"
RC=$?
[ "$RC" -eq 2 ] || fail "exit code $RC instead of 2"
[ "$before" = "$(picture)" ] || fail "something was changed"
grep -qF "$DIR" "$WORK/err" || fail "the directory is not named"
