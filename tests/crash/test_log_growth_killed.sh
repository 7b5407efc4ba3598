#!/usr/bin/env bash
# A run is killed while its log grows: a backup that comes late holds the log, so that it grows by
# 24 MB at a time, and the kill falls where the file is between two sizes.  What is left must verify
# with the ledger, without it, and by the independent check.
set -eu
. "$2/tests/cli/lib.sh"

kills=$((2 * scale))
increment=$((24 * 1048576))
initial=$((3 * 1048576))
mkdir "$work/d"
cat >"$work/c.ini" <<END
[CONFIG]
Reserve=1M
TestCycleDuration=30
[File1]
FileName=$work/d/a.mdx
InitialSize=24
[File2]
FileName=$work/d/a.ldx
InitialSize=3
MaxSize=99
Increment=24
LogFile=TRUE
[RandomUser]
MaxLogPerBuffer=32768
MaxIOChainLength=10
UserCount=8
SleepAfter=0
[BulkUpdateUser]
UserCount=0
[BackupUser]
UserCount=1
LogInterval=600
FullInterval=600
END

# Until the log is between two sizes, or the run is over.
wait_for_growth() {
    local size
    while kill -0 "$pid" 2>/dev/null; do
        size=$(stat -c %s "$work/d/a.ldx" 2>/dev/null || echo "$initial")
        [ "$size" -le "$initial" ] || [ $(((size - initial) % increment)) -eq 0 ] || return 0
    done
    return 1
}

hit=0
for ((i = 0; i < kills; i++)); do
    rm -rf "$work/r" "$work/d"
    mkdir "$work/d"
    "$pagestorm" run "$work/c.ini" --out "$work/r" >"$work/out" 2>&1 &
    pid=$!
    wait_for_growth && hit=$((hit + 1))
    kill -KILL "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
    expect_exit 0 "kill $i: verify" "$work/verify" "$pagestorm" verify "$work/r" || true
    expect_exit 0 "kill $i: verify of the files" "$work/verify" \
        "$pagestorm" verify "$work/d/a.mdx" "$work/d/a.ldx" || true
    [ -z "$mdfcheck" ] || expect_exit 0 "kill $i: mdfcheck" "$work/oracle" \
        python3 "$mdfcheck" "$work/d" || true
done
echo "$hit of $kills kills while the log grew"
[ "$hit" -gt 0 ] || failed "no kill fell into a growth" "$work/out"
conclude
