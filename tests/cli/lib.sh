# shellcheck shell=bash disable=SC2034
# lib.sh - what the scripts in tests/cli and tests/crash share; sourced, never run.
#
# Sets: pagestorm, root (the script's arguments), work (a folder of its own, removed at the end),
# scale (TEST_SCALE as a whole number, at least 1; 1 unless TEST_LONG is set), mdfcheck (the
# independent checker of page and log formats beside the repository, or empty).
#
# at_end COMMAND... is done before the folder is removed, last first: unmounting, detaching.

pagestorm=$1
root=$2
work=$(mktemp -d "$PWD/${0##*/}-XXXXXX")
# Only the long_*.sh, which have the time, scale up.
[ -n "${TEST_LONG:-}" ] || TEST_SCALE=1
scale=$(awk -v scale="${TEST_SCALE:-1}" 'BEGIN { scale = int(scale); print scale < 1 ? 1 : scale }')
mdfcheck=$root/../shared/tools/mdfcheck.py
failures=0
end_commands=()

# shellcheck disable=SC2317
finish() {
    local status=$? i
    set +e
    for ((i = ${#end_commands[@]} - 1; i >= 0; i--)); do
        eval "${end_commands[$i]}"
    done
    rm -rf --one-file-system "$work"
    exit $status
}
trap finish EXIT
trap 'exit 130' INT TERM HUP

at_end() {
    end_commands+=("$(printf '%q ' "$@")")
}

skip() {
    echo "SKIP: $*"
    exit 77
}

if ! command -v python3 >/dev/null; then
    echo "SKIP of a part: python3 is not installed: only pagestorm itself checks the files"
    mdfcheck=
elif [ ! -f "$mdfcheck" ]; then
    echo "SKIP of a part: there is no ../shared/tools/mdfcheck.py beside the repository"
    mdfcheck=
fi

# Count a failure, show what was printed, go on: one run of a script tells all that is wrong.
failed() {
    local output
    echo "FAILED: $1"
    shift
    for output in "$@"; do
        [ ! -s "$output" ] || tail -n 30 "$output" | sed 's/^/    /'
    done
    failures=$((failures + 1))
    [ $failures -lt 5 ] || conclude # what has one cause need not be shown a hundred times
}

# expect_exit WANTED WHAT OUTPUT_FILE COMMAND...
expect_exit() {
    local wanted=$1 what=$2 output=$3 status=0
    shift 3
    "$@" >"$output" 2>&1 || status=$?
    [ $status -eq "$wanted" ] && return 0
    failed "$what: exit $status, not $wanted" "$output"
    return 1
}

# One value of a result.json: result_value FILE '["integrity"]["pages_verified"]'
result_value() {
    python3 -c 'import json, sys
value = json.load(open(sys.argv[1]))'"$2"'
print(value if not isinstance(value, (dict, list)) else json.dumps(value))' "$1"
}

# Both modes of the independent checker; with a result.json its counts must be the same.
# check_independently WHAT DATA LOG [RESULT]
check_independently() {
    local what=$1 data=$2 log=$3 result=${4:-} out=$work/mdfcheck.out
    [ -n "$mdfcheck" ] || return 0
    expect_exit 0 "$what: mdfcheck --pair" "$out" python3 "$mdfcheck" --pair "$data" "$log" ||
        return 1
    [ -n "$result" ] || return 0
    expect_exit 0 "$what: mdfcheck" "$out" python3 "$mdfcheck" --json "$data" "$log" || return 1
    python3 - "$out" "$result" >"$out.counts" 2>&1 <<'PY' || failed "$what: counts" "$out.counts"
import json, sys
seen = {}
for line in open(sys.argv[1]):
    if line.startswith('{'):
        row = json.loads(line)
        seen[row['kind']] = row['counts']
files = json.load(open(sys.argv[2]))['files']
said = {'data': sum(f.get('allocated_pages', 0) for f in files if f['kind'] == 'data'),
        'log': sum(f.get('log_blocks_live', 0) for f in files if f['kind'] == 'log')}
counted = {'data': seen['data'].get('alloc_cksum_ok', 0), 'log': seen['log'].get('blocks', 0)}
print('result.json says', said, ', mdfcheck counts', counted)
sys.exit(said != counted or 0 in said.values())
PY
}

# A random number below $1, from RANDOM, so that a seed repeats it.
random_below() {
    drawn=$(((RANDOM * 32768 + RANDOM) % $1))
}

conclude() {
    [ $failures -eq 0 ] && exit 0
    echo "$failures failure(s)"
    exit 1
}

# ---- loop devices (root) ----

# Why there can be none, or nothing.
loop_missing() {
    local tool
    [ "$(id -u)" -eq 0 ] || {
        echo "not root: no loop device can be mounted"
        return
    }
    for tool in losetup "mkfs.$1" mount umount; do
        command -v "$tool" >/dev/null || {
            echo "$tool is not installed"
            return
        }
    done
    losetup -f >/dev/null 2>&1 || {
        echo "this system gives no loop device"
        return
    }
    [ "$1" = ext4 ] || modprobe -q "$1" 2>/dev/null || grep -qw "$1" /proc/filesystems ||
        echo "this kernel has no $1"
}

loop_unmount() {
    mountpoint -q "$1" && { umount "$1" 2>/dev/null || umount -l "$1"; }
    [ -z "$2" ] || losetup -d "$2" 2>/dev/null
    rm -f "$3"
    rmdir "$1" 2>/dev/null
}

# Held by this script until its end, also when that is SIGKILL, and gone then: an open descriptor
# makes the kernel put the detaching off until the last one is closed.
loop_let_go() {
    local held
    # shellcheck disable=SC2034 # held, not used
    exec {held}<"$1" && losetup -d "$1"
}

# loop_mount MOUNT_POINT FILE_SYSTEM MB SECTOR_BYTES: sets loop, the device.  False and a line about
# why if this machine cannot.
loop_mount() {
    local at=$1 type=$2 mb=$3 sector=$4 image=$work/${1##*/}.img direct
    loop=
    truncate -s "${mb}M" "$image"
    # Not every file below can do direct I/O in such sectors; a cache below matters little here.
    for direct in on off; do
        loop=$(losetup -f --show --direct-io=$direct --sector-size "$sector" "$image" \
            2>"$work/losetup") && break
    done
    if [ -z "$loop" ] || [ "$(blockdev --getss "$loop")" -ne "$sector" ]; then
        [ -z "$loop" ] || losetup -d "$loop"
        echo "SKIP of a part: no loop device with sectors of $sector bytes: $(cat "$work/losetup")"
        return 1
    fi
    mkdir -p "$at"
    at_end loop_unmount "$at" "$loop" "$image"
    loop_let_go "$loop"
    if ! "mkfs.$type" -q "$loop" >"$work/mkfs" 2>&1 || ! mount "$loop" "$at" 2>>"$work/mkfs"; then
        echo "SKIP of a part: $type with sectors of $sector bytes: $(tail -n 1 "$work/mkfs")"
        return 1
    fi
}
