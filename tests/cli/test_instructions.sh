#!/usr/bin/env bash
# test_instructions.sh - what a verified page read costs in instructions, by callgrind over the
# modelled device: a number that depends on neither the machine's load nor its speed.
#
# Two runs of one seed that differ in the length of the main part only; the difference of
# instructions over the difference of verified pages leaves creation, initial update, audit and
# reports out.
. "$2/tests/cli/common.sh"

# About 1.3 times the 13,300 measured (gcc 12, -O2, libxxhash and zlib of Debian 12): generation
# check, ledger, sector stamps, header CRC-32, XXH3 and SQL Server's checksum over 8 KiB, and the
# modelled device's own work.
BOUND=17500

command -v valgrind >/dev/null || skip "valgrind is not installed"
"$PAGESTORM" --version >/dev/null 2>&1
ldd "$PAGESTORM" | grep -q 'asan\|tsan' && skip "a sanitizer build cannot run under valgrind"

cat >c.ini <<INI
[CONFIG]
Engine=mem
CPUCount=1
QueueDepth=32
MaxMemoryMB=4
CacheHitRatio=0
TargetIODuration=1000000
CheckpointInterval=3600
Reserve=1
Seed=7
[AuditUser]
UserCount=0
[ReadAheadUser]
UserCount=0
[BulkUpdateUser]
UserCount=0
[RandomUser]
UserCount=32
RandomUserReadWriteRatio=0
MinIOChainLength=1
MaxIOChainLength=1
JumpToNewRegionPercentage=10000
RollbackChance=0
SleepAfter=0
INI

# measure MILLISECONDS: instructions and verified pages
measure() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$PAGESTORM" run c.ini --dir "$DIR" \
        --size 8M -d "$1ms" --quiet --out "$WORK/out$1" >"$WORK/out" 2>"$WORK/err" || true
    grep -q '^RESULT' "$WORK/out" || fail "the run of $1 ms has no result"
    sed -n 's/.*Collected : //p' "$WORK/err"
    python3 -c 'import json, sys
print(json.load(open(sys.argv[1]))["integrity"]["pages_verified"])' "$WORK/out$1/result.json"
}
command -v python3 >/dev/null || skip "python3 is not installed"

short=($(measure 10))
long=($(measure 50))
pages=$((long[1] - short[1]))
[ "$pages" -gt 1000 ] || fail "only $pages pages were read in the main part"
cost=$(((long[0] - short[0]) / pages))
echo "$cost instructions a verified page read ($pages pages), bound $BOUND"
[ "$cost" -gt 2000 ] || fail "8 KiB cannot be verified in $cost instructions"
[ "$cost" -le "$BOUND" ] || fail "a verified page read costs $cost instructions, more than $BOUND"
