#!/usr/bin/env bash
# vs_fio.sh - how fast pagestorm is beside fio: same file system, same size, alternating pairs.
#
#   tests/bench/vs_fio.sh PAGESTORM [option=value ...] [CASE ...]
#
# Run by hand on an otherwise idle machine; never by ctest.  Each pair is one run of pagestorm with
# a configuration that anybody could write, and one of fio, first and second in turn.  Printed per
# case: every command, each pair's figures, and the median of the ratio with its 95 % interval by
# order statistics (of 9 pairs the 2nd and the 8th: 96.1 %), so no distribution is assumed.
#
#   pairs=9  seconds=4  size=128 (MB)  disk=DIR (/var/tmp)  tmpfs=DIR (/dev/shm)  engine=auto
#   verify_read=no: fio's reading with crc32c as well
#
# Cases, all of them when none is named:
#   read_disk    verified random reads of 8 KiB, 32 outstanding, one worker, against fio unverified
#                with registered buffers and files
#   read_tmpfs   the same in memory: what a read costs without a device
#   read_crc     the same on the disk against fio verifying crc32c, one job
#   read_crc_tmpfs
#   log          log writes of 4 KiB, one outstanding, write-through: median latency of both
#   log_small    the same with the smallest commit: 1 KiB on sectors of 512 bytes
#   gather       eager writes of up to 1 MiB with their log, against fio writing 1 MiB
#   gather256    the same in units of 256 KiB (32 pages, SQL Server to 2014)
#   prepare      the initial update against fio writing 1 MiB, four outstanding
set -euo pipefail

pagestorm=$(realpath "$1")
shift
pairs=9 seconds=4 size=128 disk=/var/tmp tmpfs=/dev/shm engine=auto
cases=()
for word; do
    case $word in
    pairs=* | seconds=* | size=* | disk=* | tmpfs=* | engine=*) declare "$word" ;;
    *) cases+=("$word") ;;
    esac
done
[ ${#cases[@]} -gt 0 ] || cases=(read_disk read_tmpfs read_crc read_crc_tmpfs log log_small
    gather gather256 prepare)
for tool in fio python3; do
    command -v $tool >/dev/null || {
        echo "SKIP: $tool is not installed"
        exit 77
    }
done
work=
trap '[ -z "$work" ] || rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# One value of pagestorm's result: of VALUE of STREAM in PHASE.
value_of() { # RESULT PHASE STREAM EXPRESSION
    python3 - "$@" <<'PY'
import json, sys
path, phase, name, what = sys.argv[1:]
result = json.load(open(path))
found = [s for s in result['streams'] if s['phase'] == phase and s['name'] == name]
s = found[0] if found else None
seconds = sum(p['seconds'] for p in result['run']['phases'] if p['name'] == phase)
print(eval(what, {'s': s, 'seconds': seconds}) if s else 0)
PY
}

fio_value() { # JSON EXPRESSION
    python3 - "$@" <<'PY'
import json, sys
text = open(sys.argv[1]).read()
job = json.loads(text[text.index('{'):])['jobs'][0]
print(eval(sys.argv[2], {'j': job}))
PY
}

# Users of one kind; everything else is off.
configuration() { # NAME LINES...
    cat <<INI
[CONFIG]
CPUCount=1
QueueDepth=$depth
MaxMemoryMB=$memory
CacheHitRatio=$hits
TestCycleDuration=$seconds
TargetIODuration=1000000
CheckpointInterval=3600
GatherPages=$gather
[AuditUser]
UserCount=0
[ReadAheadUser]
UserCount=0
[CpuIdleUser]
UserCount=0
[RandomUser]
UserCount=$random_users
RandomUserReadWriteRatio=$updates
MinIOChainLength=1
MaxIOChainLength=1
JumpToNewRegionPercentage=10000
MinLogPerBuffer=$log_bytes
MaxLogPerBuffer=$log_bytes
RollbackChance=0
SleepAfter=0
[BulkUpdateUser]
UserCount=$bulk_users
BuffersBUMin=$gather
BuffersBUMax=$gather
DelayAfterCycles=1000
BUDelay=0
[ShrinkUser]
MaxExtends=0
MinExtends=0
INI
}

# What a case sets; run_pagestorm and run_fio then know what to do.
settings() {
    depth=32 memory=4 hits=0 gather=128 random_users=0 updates=0 log_bytes=512 bulk_users=0
    folder=$disk phase=stress stream=page_read what='s["ops"] / seconds' unit=IOPS better=more
    fio_what='j["read"]["iops"]' fio_job=() fio_file=data
    local read=(--rw=randread --bs=8k --iodepth=32 --norandommap --randrepeat=0 --time_based
        --runtime="$seconds")
    local fixed=(--ioengine=io_uring --fixedbufs=1 --registerfiles=1)
    case $1 in
    read_disk) random_users=32 fio_job=("${read[@]}" "${fixed[@]}" --readonly) ;;
    read_tmpfs) random_users=32 folder=$tmpfs fio_job=("${read[@]}" "${fixed[@]}" --readonly) ;;
    read_crc | read_crc_tmpfs)
        random_users=32 fio_file=crc
        [ "$1" = read_crc ] || folder=$tmpfs
        fio_job=("${read[@]}" "${fixed[@]}" --verify=crc32c) ;;
    log | log_small)
        # Everything fits in memory: a commit is one log write, nothing else happens.
        depth=4 memory=$((2 * size)) hits=10000 random_users=1 updates=10000
        [ "$1" = log_small ] || log_bytes=3584 # with headers and marks 4,096 bytes
        stream=log_write what='s["latency_us"]["p50"]' unit=us better=less fio_file=log
        fio_what='j["write"]["clat_ns"]["percentile"]["50.000000"] / 1000'
        block=4k
        [ "$1" = log ] || [ "$sector" = 4096 ] || block=1k
        fio_job=(--rw=write --bs="$block" --iodepth=1
            --ioengine=psync --sync=dsync --time_based --runtime="$seconds") ;;
    gather | gather256)
        bulk_users=4 stream=eager_write what='s["bytes"] / seconds / 1048576' unit=MB/s
        memory=64 fio_what='j["write"]["bw_bytes"] / 1048576' fio_file=plain
        [ "$1" = gather ] || gather=32
        fio_job=(--rw=randwrite --bs=$((gather * 8))k --iodepth=4 "${fixed[@]}" --sync=dsync
            --norandommap --randrepeat=0 --time_based --runtime="$seconds") ;;
    prepare)
        random_users=0 phase=initial_update stream=prepare_write unit=MB/s
        what='s["bytes"] / seconds / 1048576' fio_what='j["write"]["bw_bytes"] / 1048576'
        fio_file=fresh
        fio_job=(--rw=write --bs=1m --iodepth=4 "${fixed[@]}" --sync=dsync) ;;
    *)
        echo "unknown case $1" >&2
        exit 2 ;;
    esac
}

run_pagestorm() {
    rm -rf "$work/out"
    "${pagestorm_command[@]}" >"$work/pagestorm.txt" 2>&1 || {
        cat "$work/pagestorm.txt" >&2
        return 1
    }
    ours=$(value_of "$work/out/result.json" "$phase" "$stream" "$what")
}

run_fio() {
    if [ "$fio_file" = fresh ]; then
        rm -f "$work/fresh"
        fallocate -l "${size}M" "$work/fresh"
    fi
    "${fio_command[@]}" --output-format=json >"$work/fio.json"
    theirs=$(fio_value "$work/fio.json" "$fio_what")
}

summary() {
    python3 - "$unit" "$better" "$work/pairs" <<'PY'
import math, sys
unit, better, path = sys.argv[1:]
pairs = [tuple(map(float, line.split())) for line in open(path)]
ratios = sorted(a / b for a, b in pairs)
n = len(ratios)
median = lambda v: (sorted(v)[(len(v) - 1) // 2] + sorted(v)[len(v) // 2]) / 2
# The widest k with P(the median lies between the k-th smallest and the k-th largest) >= 95 %.
k, tail = 0, 0.0
while k < n // 2 and 1 - 2 * (tail + math.comb(n, k) / 2 ** n) >= 0.95:
    tail += math.comb(n, k) / 2 ** n
    k += 1
interval = f'{ratios[k - 1]:.3f} to {ratios[n - k]:.3f}' if k else 'too few pairs'
print(f'  pagestorm {median([a for a, _ in pairs]):,.1f} {unit}, fio '
      f'{median([b for _, b in pairs]):,.1f} {unit} (medians of {n} pairs)')
print(f'  ratio {median(ratios):.3f}, 95 % interval {interval} ({better} is better)')
PY
}

prepare_fio_file() {
    case $fio_file in
    crc) # written by fio itself, which then knows what to expect
        fio --name=fill --filename="$work/crc" --size="${size}M" --rw=write --bs=8k --iodepth=32 \
            --direct=1 --ioengine=io_uring --verify=crc32c --do_verify=0 >/dev/null ;;
    log)
        fio --name=fill --filename="$work/log" --size=64M --rw=write --bs=1m --direct=1 \
            --ioengine=psync >/dev/null ;;
    plain) # not pagestorm's file: it would be foreign afterwards
        fio --name=fill --filename="$work/plain" --size="${size}M" --rw=write --bs=1m --direct=1 \
            --ioengine=psync >/dev/null ;;
    esac
}

run_case() {
    local name=$1 file i
    sector=512
    settings "$name"
    work=$(mktemp -d "$folder/pagestorm-vs-fio-XXXXXX")
    mkdir "$work/files"
    if [ "$(stat -f -c %T "$work")" != tmpfs ]; then
        dd if=/dev/zero of="$work/probe" bs=4k count=1 oflag=direct status=none
        dd if="$work/probe" of=/dev/null bs=512 iflag=direct status=none 2>/dev/null || sector=4096
        rm "$work/probe"
    fi
    settings "$name"
    configuration >"$work/pagestorm.ini"
    pagestorm_command=("$pagestorm" run "$work/pagestorm.ini" --dir "$work/files" --size "${size}M"
        --engine "$engine" --out "$work/out" --quiet --set CONFIG.Reserve=1)
    case $fio_file in
    data) file=$work/files/sqliosim.mdx ;;
    *) file=$work/$fio_file ;;
    esac
    fio_command=(fio --name="$name" --filename="$file" --size="$([ "$fio_file" = log ] &&
        echo 64 || echo "$size")M" --direct=1 "${fio_job[@]}")
    printf '%s\n' "== $name: $folder ($(stat -f -c %T "$work"))" "  pagestorm.ini:"
    sed 's/^/    /' "$work/pagestorm.ini"
    printf '  %s\n' "${pagestorm_command[*]}" "${fio_command[*]}"
    run_pagestorm # warms up, and creates the file that fio reads
    prepare_fio_file
    : >"$work/pairs"
    for ((i = 0; i < pairs; i++)); do
        if ((i % 2)); then
            run_fio
            run_pagestorm
        else
            run_pagestorm
            run_fio
        fi
        echo "$ours $theirs" >>"$work/pairs"
        printf '  pair %d: %.1f and %.1f %s\n' $((i + 1)) "$ours" "$theirs" "$unit"
    done
    summary
    rm -rf "$work"
    work=
}

echo "$(fio --version), $("$pagestorm" --version 2>/dev/null | head -1), $(uname -r)," \
    "$(nproc) CPUs, load $(cut -d' ' -f1 /proc/loadavg)"
for name in "${cases[@]}"; do
    run_case "$name"
done
