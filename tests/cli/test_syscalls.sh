#!/usr/bin/env bash
# test_syscalls.sh - what the kernel is really asked for, by strace: O_DIRECT and O_DSYNC as
# NoBuffering and WriteThrough say, fdatasync where writes are not durable by themselves, and no
# system call for each page where one request carries many.
. "$2/tests/cli/common.sh"

command -v python3 >/dev/null || skip "python3 is not installed"
command -v strace >/dev/null || skip "strace is not installed"
strace -qq -o /dev/null true 2>/dev/null || skip "strace may not trace here"
ldd "$PAGESTORM" | grep -q 'asan\|tsan' && skip "a sanitizer build cannot run under strace"

# Does this file system take O_DIRECT at all?
direct=yes
dd if=/dev/zero of="$DIR/probe" bs=4096 count=1 oflag=direct status=none 2>/dev/null || direct=no
case $(stat -f -c %T "$DIR") in tmpfs | ramfs) direct=no ;; esac
rm -f "$DIR/probe"

# traced WHAT ARGUMENTS...: a run of 16 MiB (2,048 pages) in $WORK/trace
traced() {
    local what=$1
    shift
    rm -rf "$WORK/out.dir"
    timeout 600 strace -f -qq -e "trace=$what" -o "$WORK/trace" "$PAGESTORM" run --dir "$DIR" \
        --size 16M --set CONFIG.Reserve=1 --set CONFIG.CPUCount=1 --set AuditUser.UserCount=0 \
        --quiet --out "$WORK/out.dir" "$@" >"$WORK/out" 2>"$WORK/err" </dev/null
    RC=$?
    [ "$RC" -eq 0 ] || fail "exit code $RC: $*"
}

# The run's own descriptors of data file and log: opened again for the run, read-write.
flags_of_files() {
    grep -o '"/proc/self/fd/[0-9]*", [A-Z_|]*' "$WORK/trace" | grep O_RDWR | sort | uniq
}

calls() { # NAME: how often
    grep -c "^[0-9]* *\(<\.\.\. \)\?$1\((\| resumed\)" "$WORK/trace" || true
}

for buffering in TRUE FALSE; do
    for through in TRUE FALSE; do
        what="NoBuffering=$buffering WriteThrough=$through"
        traced open,openat,fdatasync --engine sync -d 1 --set CONFIG.NoBuffering=$buffering \
            --set CONFIG.WriteThrough=$through --set RandomUser.UserCount=1
        flags=$(flags_of_files)
        [ -n "$flags" ] || fail "$what: no file was opened for the run"
        wanted_direct=no
        [ $buffering = FALSE ] || wanted_direct=$direct
        case $flags in *O_DIRECT*) seen=yes ;; *) seen=no ;; esac
        [ $seen = $wanted_direct ] || fail "$what: O_DIRECT $seen, not $wanted_direct: $flags"
        [ "$(echo "$flags" | grep -c O_DIRECT)" -eq 0 ] || [ $wanted_direct = yes ] ||
            fail "$what: O_DIRECT in some: $flags"
        syncs=$(calls fdatasync)
        if [ $through = TRUE ]; then
            echo "$flags" | grep -v O_DSYNC && fail "$what: a file without O_DSYNC"
            [ "$syncs" -eq 0 ] || fail "$what: $syncs calls of fdatasync"
        else
            echo "$flags" | grep O_DSYNC && fail "$what: a file with O_DSYNC"
            # each commit and each checkpoint waits for one
            [ "$syncs" -ge 3 ] || fail "$what: $syncs calls of fdatasync"
        fi
    done
done

# AlternateWriteThrough: durable by fdatasync after the write, not by O_DSYNC.
traced open,openat,fdatasync --engine sync -d 1 --set CONFIG.AlternateWriteThrough=TRUE \
    --set RandomUser.UserCount=1
flags_of_files | grep O_DSYNC && fail "AlternateWriteThrough: a file with O_DSYNC"
[ "$(calls fdatasync)" -ge 3 ] || fail "AlternateWriteThrough: $(calls fdatasync) fdatasync"

# ForcedFlush (trace flag 3982) beside write-through: both.
traced open,openat,fdatasync --engine sync -d 1 --set CONFIG.ForcedFlush=TRUE \
    --set RandomUser.UserCount=1
flags_of_files | grep -v O_DSYNC && fail "ForcedFlush: a file without O_DSYNC"
[ "$(calls fdatasync)" -ge 3 ] || fail "ForcedFlush: $(calls fdatasync) fdatasync"

# Nobody but the initial update and the audit: 2,048 pages written and read, each in requests of
# 64 to 128 pages.  A system call a page would be more than 4,096.
none=(--set RandomUser.UserCount=0 --set ReadAheadUser.UserCount=0 --set BulkUpdateUser.UserCount=0
    -d 1)
transfers=pread64,preadv,preadv2,pwrite64,pwritev,pwritev2,io_submit,io_getevents,io_uring_enter
few=400
for engine in sync aio uring; do
    "$PAGESTORM" run --dir "$DIR" --engine $engine --dry-run >"$WORK/out" 2>"$WORK/err" || {
        echo "SKIP of a part: the engine $engine is not available: $(head -1 "$WORK/err")"
        continue
    }
    traced $transfers --engine $engine "${none[@]}"
    count=$(wc -l <"$WORK/trace")
    echo "$engine: $count system calls for 4,096 pages"
    [ "$count" -lt $few ] || fail "$engine: $count system calls of I/O, wanted less than $few"
    # 32 readers of single pages: several go to the kernel with one call, and come back so.
    [ $engine != sync ] || continue
    traced $transfers --engine $engine -d 1 --set RandomUser.UserCount=32 \
        --set RandomUser.RandomUserReadWriteRatio=0 --set RandomUser.MaxIOChainLength=1 \
        --set RandomUser.SleepAfter=0 --set RandomUser.JumpToNewRegionPercentage=10000 \
        --set ReadAheadUser.UserCount=0 --set BulkUpdateUser.UserCount=0 \
        --set CONFIG.CacheHitRatio=0 --set CONFIG.QueueDepth=32
    calls=$(wc -l <"$WORK/trace")
    reads=$(python3 -c 'import json, sys
print(sum(s["ops"] for s in json.load(open(sys.argv[1]))["streams"]
          if s["phase"] == "stress" and s["name"] == "page_read"))' "$WORK/out.dir/result.json")
    echo "$engine: $calls system calls for $reads single pages"
    [ "$reads" -gt 100 ] || fail "$engine: only $reads pages were read"
    [ "$calls" -lt "$reads" ] || fail "$engine: $calls system calls for $reads reads"
done
exit 0
