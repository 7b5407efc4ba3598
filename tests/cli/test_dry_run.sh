#!/usr/bin/env bash
# test_dry_run.sh - --dry-run prints the plan and creates nothing.
. "$(dirname "$0")/common.sh"

before=$(picture)
exits 0 run --dir "$DIR" "${QUICK[@]}" --dry-run --save saved.ini --out "$WORK/result"
[ "$before" = "$(picture)" ] || fail "something was created"
grep -qF "$DIR/sqliosim.mdx" "$WORK/out" || fail "the plan does not name the file"

# Relative names are shown whole; users of the configuration; cycles.
mkdir here
printf '[CONFIG]\nTestCycles=3\nTestCycleDuration=5\n[RandomUser]\nUserCount=3\n' >c.ini
printf '[BulkUpdateUser]\nUserCount=0\n[ReadAheadUser]\nUserCount=4\n' >>c.ini
printf '[CpuIdleUser]\nUserCount=5\n[ShrinkUser]\nMinExtends=2\n' >>c.ini
exits 0 run c.ini --dir here --size 16M --set CONFIG.Reserve=1M --dry-run
for line in "$WORK/cwd/here/sqliosim.mdx" 'time     3 cycles of 5 s of load' \
    'users    RandomUser 3, AuditUser 2, ReadAheadUser 4, CpuIdleUser 5'; do
    grep -qF "$line" "$WORK/out" || fail "the plan has no '$line'"
done
grep -q '^  users .*BulkUpdateUser' "$WORK/out" && fail "users of whom there are none are named"
exits 0 run --dir here --size 16M --set CONFIG.Reserve=1M --set CONFIG.TestCycles=0 -d 1h --dry-run
grep -qF 'cycles of 1 h until interrupted (Ctrl-C)' "$WORK/out" || fail "no end is not said"
