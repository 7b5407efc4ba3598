#!/usr/bin/env bash
# Devices and file systems that go away or have no space under a run with real threads (root, loop
# devices): the run ends in order with exit code 3 and a name for it, nothing is called damage, and
# what is proven until then is said.
set -eu
. "$2/tests/own_mounts.sh"
. "$2/tests/cli/lib.sh"
. "$2/tests/fault/real.sh"

places=$(mktemp -d /tmp/pagestorm-devices-XXXXXX)
at_end rmdir "$places"

# place TYPE MB: mounts $at, or says why not.
place() {
    local why
    why=$(loop_missing "$1")
    [ -z "$why" ] || {
        echo "SKIP of a part: $1: $why"
        return 1
    }
    at=$places/$1
    loop_mount "$at" "$1" "$2" 512
}

# away WHAT: the run has ended because of a device, whatever its name, and says what it knows.
away() {
    local what=$1 found allowed
    run_end 3 "$what"
    found=$(classes) || found=unreadable
    for allowed in ${found//,/ }; do
        case $allowed in
        device_gone | write_error | flush_error | no_space | read_retry | short_io) ;;
        *) failed "$what: the findings are '$found'" "$out" ;;
        esac
    done
    [ -n "$found" ] || failed "$what: no finding" "$out"
    grep -q '^INTEGRITY   INCOMPLETE  no damage in the [0-9]* % that was checked' "$out" ||
        failed "$what: what is proven is not said" "$out"
    echo "$what: $found"
}

if place ext4 64; then
    mkdir "$at/d"
    run_start "$at/d"
    umount -l "$at"
    away 'umount -l'
    expect_classes 'umount -l' device_gone
    expect_text 'umount -l' 'its file system was unmounted'
fi

# Data and log on it: the log is the first to know.  Data alone, and StopOnError=FALSE: every
# request fails, which is one event and not one a page.
for type in ext4 xfs; do
    command -v xfs_io >/dev/null || {
        echo "SKIP of a part: shutdown: xfs_io is not installed"
        break
    }
    mb=64
    [ $type = ext4 ] || mb=320 # mkfs.xfs makes none that is smaller than 300 MB
    place $type $mb || continue
    mkdir "$at/d" "$work/$type-log"
    run_start "$at/d"
    xfs_io -x -c shutdown "$at" || {
        echo "SKIP of a part: $type: no shutdown here"
        run_kill
        wait "$run_process" || true
        run_process=
        continue
    }
    away "shutdown of $type"
    umount "$at"
    mount "$loop" "$at"
    rm -rf "$at/d"
    mkdir "$at/d"
    # 4 MB of memory for 16 MB of data: reads and writes all the time
    run_start "$at/d" --log-dir "$work/$type-log" --data-dir "$at/d" \
        --set CONFIG.StopOnError=FALSE --set CONFIG.MaxMemoryMB=4
    xfs_io -x -c shutdown "$at"
    away "shutdown of $type below the data"
    classes | grep -q device_gone || failed "shutdown of $type: not device_gone" "$out"
    umount "$at" # mountpoint cannot look at it
done

# A sparse image on a file system that is full: space was promised, and is not there.
if [ -z "$(loop_missing ext4)" ]; then
    small=$places/small
    mkdir "$small"
    mount -t tmpfs -o size=30m tmpfs "$small"
    at_end rmdir "$small"
    at_end umount -l "$small"
    truncate -s 128M "$small/image"
    at=$places/thin
    mkdir "$at"
    at_end rmdir "$at"
    loop=$(losetup -f --show "$small/image")
    at_end losetup -d "$loop"
    loop_let_go "$loop"
    mkfs.ext4 -q -E lazy_itable_init=0,nodiscard "$loop"
    mount -o nodiscard "$loop" "$at"
    at_end umount -l "$at"
    mkdir "$at/d"
    mkdir "$work/thin-log"
    # 48 MB are promised, at most 30 are there: the first write of every page finds out.
    run_start "$at/d" --log-dir "$work/thin-log" --size 48M
    away 'a thin device'
    classes | grep -Eq 'no_space|write_error' || failed 'a thin device: no name' "$out"
    [ "$(classes)" != no_space ] || # some kernels' loop device makes EIO of it
        expect_text 'a thin device' 'this space was reserved when the file was made'
fi

# A quota that the file system learns of late.
quota() {
    local btrfs=$places/btrfs
    why=$(loop_missing btrfs)
    [ -z "$why" ] || {
        echo "SKIP of a part: quota: $why"
        return
    }
    loop_mount "$btrfs" btrfs 256 512 || return 0
    btrfs quota enable "$btrfs" 2>"$work/quota" && btrfs subvolume create "$btrfs/d" >/dev/null || {
        echo "SKIP of a part: quota: $(tail -n 1 "$work/quota")"
        return
    }
    run_start "$btrfs/d"
    btrfs qgroup limit 26M "$btrfs/d" # 24 MB are in use; each overwrite goes to a new place
    away 'a quota below a run'
    expect_classes 'a quota below a run' no_space
    expect_text 'a quota below a run' 'this space was reserved when the file was made'
}
quota

conclude
