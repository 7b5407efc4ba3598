#!/usr/bin/env bash
# test_error_log_full.sh - a full disk under the XML log does not stop the run: said once, and what
# is there stays whole.
. "$(dirname "$0")/../own_mounts.sh"
. "$(dirname "$0")/common.sh"

[ "$(id -u)" -eq 0 ] || skip "only root can mount a small file system"
mkdir small
mount -t tmpfs -o size=16k none small 2>/dev/null || skip "mounting is not allowed here"
trap 'umount "$WORK/cwd/small"; cleanup' EXIT

head -c 4096 /dev/zero >small/other # room for little more than the start rows
exits 0 run --dir "$DIR" "${QUICK[@]}" --engine mem --out "$WORK/result" -log small/x.xml
[ "$(grep -c 'the XML log cannot be written: No space left' "$WORK/out")" -eq 1 ] ||
    fail "a full disk was not said, or not once"
grep -q '^RESULT  *PASS' "$WORK/out" || fail "no result"
grep -q '^report  INCOMPLETE: small/x.xml lacks entries' "$WORK/out" ||
    fail "the last lines do not name the log that lacks entries"
[ "$(tail -n 1 small/x.xml)" = '</SQLIOSIM>' ] || fail "the log does not end with its root"
[ "$(tail -n 2 small/x.xml | head -n 1)" = '</ENTRY>' ] || fail "half an entry"
