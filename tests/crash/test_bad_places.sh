#!/usr/bin/env bash
# Places where a run cannot start, or cannot go on: too small, read-only, gone in the middle.  Each
# ends with its exit code and a sentence that says why, and leaves nothing where there was nothing.
set -eu
. "$2/tests/own_mounts.sh"
. "$2/tests/cli/lib.sh"

why=$(loop_missing ext4)
[ -z "$why" ] || skip "$why"
command -v python3 >/dev/null || skip "python3 is not installed: nothing reads result.json"
places=$(mktemp -d /tmp/pagestorm-places-XXXXXX)
at_end rmdir "$places"

nothing_left() {
    local left
    left=$(find "$1" -mindepth 1 ! -name 'lost+found' -printf '%P ')
    [ -z "$left" ] || failed "$2: left behind: $left"
}

# ---- too small ----

small=$places/small
loop_mount "$small" ext4 64 512 || skip "ext4 on a loop device cannot be had"
free_mb=$(($(stat -f -c '%a * %S' "$small" | sed 's/ //g') / 1048576))
for reserve in default none; do
    # Without a reserve the plan itself finds it too large, too.
    what="200 MB on a file system of 64 MB, $reserve reserve"
    set -- run --dir "$small" --size 200M -d 2 --out "$work/r"
    [ $reserve = default ] || set -- "$@" --set CONFIG.Reserve=1
    expect_exit 3 "$what" "$work/out" "$pagestorm" "$@" || continue
    grep -Eq '\b(250|300) MiB' "$work/out" || failed "$what: needed bytes are not named" "$work/out"
    grep -Eq "\b$free_mb(\.[0-9]+)? MiB" "$work/out" ||
        failed "$what: $free_mb MiB that are available are not named" "$work/out"
    nothing_left "$small" "$what"
    [ ! -e "$work/r" ] || failed "$what: there is a result folder"
done

# The file system has the room, but this process may not use it: found when the files are made.
what="a limit on the size of files"
if (
    ulimit -f 8192 # KiB
    expect_exit 3 "$what" "$work/out" "$pagestorm" run --dir "$small" --size 16M -d 2 \
        --out "$work/r" --set CONFIG.Reserve=1
    exit $failures
); then
    grep -q 'ulimit -f' "$work/out" || failed "$what: not said" "$work/out"
    nothing_left "$small" "$what"
    [ ! -e "$work/r" ] || failed "$what: there is a result folder"
else
    failures=$((failures + 1))
fi
rm -rf "$work/r" # of a run that the limit has killed

# ---- read-only ----

what="a read-only mount"
mount -o remount,ro "$small"
if expect_exit 2 "$what" "$work/out" "$pagestorm" run --dir "$small" --size 16M -d 2 \
    --out "$work/r" --set CONFIG.Reserve=1; then
    grep -qi 'read-only\|writable\|write' "$work/out" || failed "$what: not said" "$work/out"
    [ ! -e "$work/r" ] || failed "$what: there is a result folder"
fi

# ---- gone in the middle ----

gone() {
    local what=$1 place=$2 status=0
    shift 2
    rm -rf "$work/r"
    : >"$work/out" # else the last run's lines are read until this one has opened it
    "$pagestorm" run --dir "$place" --size 32M -d 4 --out "$work/r" --set CONFIG.Reserve=1 \
        >"$work/out" 2>&1 &
    pid=$!
    while ! grep -q ' initial update: done' "$work/out" && kill -0 $pid 2>/dev/null; do
        sleep 0.01
    done
    sleep 0.3
    "$@"
    wait $pid || status=$?
    case $status in
    1 | 3 | 130) ;; # 1: what was acknowledged is not there any more
    *) failed "$what: exit $status" "$work/out" ;;
    esac
    [ -s "$work/r/result.json" ] || failed "$what: no result.json" "$work/out"
    grade=$(result_value "$work/r/result.json" '["verdict"]["overall"]["grade"]') ||
        grade='not JSON'
    [ "$grade" != PASS ] || failed "$what: PASS" "$work/out"
    echo "$what: exit $status, $grade, $(result_value "$work/r/result.json" \
        '["integrity"]["findings_by_class"]')"
}

lazy=$places/lazy
if loop_mount "$lazy" ext4 128 512; then
    gone "umount -l in the middle" "$lazy" umount -l "$lazy"
fi

# The files lose their names: the descriptors go on, and what is under the names is not ours.
unlinked=$places/unlinked
if loop_mount "$unlinked" ext4 128 512; then
    gone "files removed in the middle" "$unlinked" rm "$unlinked/sqliosim.mdx"
    # What ext4 does when its journal cannot be written.
    gone "the file system shuts down in the middle" "$unlinked" mount -o remount,abort "$unlinked"
fi
conclude
