#!/usr/bin/env bash
# SQLIOSim's own sample configurations, unmodified, on ext4 and XFS with sectors of 512 and 4,096
# bytes, as root and as an ordinary user with 8 MiB of locked memory; and on tmpfs, which has no
# storage behind it and must be told apart.
#
# Four combinations that have every value in them; all of them in long_filesystems.sh.
set -eu
. "$2/tests/own_mounts.sh"
. "$2/tests/cli/lib.sh"

user=65534
samples=$root/../shared/data/sqliosim
places=$(mktemp -d /tmp/pagestorm-filesystems-XXXXXX)
at_end rmdir "$places"
chmod 755 "$places"
duration=2
runs=0
command -v python3 >/dev/null || skip "python3 is not installed: nothing reads result.json"

# as_who root|user COMMAND...
# shellcheck disable=SC2317
as_who() {
    local who=$1
    shift
    case $who in
    root) "$@" ;;
    user) setpriv --reuid="$user" --regid="$user" --clear-groups prlimit --memlock=8388608 "$@" ;;
    esac
}

# Files with O_DIRECT, of how many.
direct_files() {
    python3 -c 'import json, sys
files = json.load(open(sys.argv[1]))["files"]
print(sum(f["direct"] for f in files), "of", len(files))' "$1"
}

# run_sample WHAT WHO SAMPLE PLACE: in a folder of its own there, which is removed again
run_sample() {
    local what="$1, $2, $3" who=$2 config=$samples/sqliosim.$3.cfg.ini place=$4 direct
    local d=$4/d r=$4/r
    mkdir "$d"
    [ "$who" = root ] || chown -R $user "$place"
    # A copy: the build folder may be closed to others.
    cp "$pagestorm" "$place/pagestorm"
    cp "$config" "$place/config.ini"
    chmod 755 "$place/pagestorm"
    chmod 644 "$place/config.ini"
    runs=$((runs + 1))
    if expect_exit 0 "$what" "$work/out" as_who "$who" "$place/pagestorm" run "$place/config.ini" \
        --dir "$d" --size 64M -d $duration --out "$r"; then
        direct=$(direct_files "$r/result.json")
        [ "$direct" = '2 of 2' ] || failed "$what: O_DIRECT for $direct files" "$work/out"
        grep -q '^INTEGRITY   PASS' "$work/out" || failed "$what: not PASS" "$work/out"
        expect_exit 0 "$what: verify" "$work/verify" as_who "$who" "$place/pagestorm" verify "$r" ||
            true
        # The quick tier checks one of them twice: it takes longer than the run itself.
        { [ "$full" -eq 0 ] && [ "$1 $who" != 'xfs, sectors of 4096 root' ]; } ||
            check_independently "$what" "$d/sqliosim.mdx" "$d/sqliosim.ldx" "$r/result.json"
    fi
    rm -rf "$d" "$r" "$place/pagestorm" "$place/config.ini"
}

# one_place FILE_SYSTEM SECTOR [WHO SAMPLE]...
one_place() {
    local type=$1 sector=$2 place=$places/$1-$2 why
    shift 2
    why=$(loop_missing "$type")
    [ -z "$why" ] || {
        echo "SKIP of a part: $type: $why"
        return
    }
    # 2 GiB, most of it a hole: 1 GiB of every file system is never used (CONFIG.Reserve)
    loop_mount "$place" "$type" 2048 "$sector" || return 0
    while [ $# -gt 0 ]; do
        run_sample "$type, sectors of $sector" "$1" "$2" "$place"
        shift 2
    done
}

# In memory: everything works and nothing was tested of storage, which the verdict must say.
on_tmpfs() {
    local place
    place=$(mktemp -d /dev/shm/pagestorm-tmpfs-XXXXXX 2>/dev/null) || {
        echo "SKIP of a part: /dev/shm is not writable"
        return
    }
    at_end rm -rf "$place"
    [ "$(stat -f -c %T "$place")" = tmpfs ] || {
        echo "SKIP of a part: /dev/shm is not tmpfs"
        return
    }
    runs=$((runs + 1))
    expect_exit 0 "tmpfs" "$work/out" "$pagestorm" run --dir "$place" --size 32M -d 1 \
        --out "$work/r" || return 0
    # tmpfs took O_DIRECT on for show in Linux 6.6; before that it refuses it.
    grep -q 'O_DIRECT' "$work/out" || failed "tmpfs: no word about O_DIRECT" "$work/out"
    grep -q '^INTEGRITY   WARN' "$work/out" || failed "tmpfs: integrity is not WARN" "$work/out"
    [ "$(direct_files "$work/r/result.json")" = '0 of 2' ] || failed "tmpfs: direct" "$work/out"
    expect_exit 0 "tmpfs: verify" "$work/verify" "$pagestorm" verify "$work/r" || true
}

full=${TEST_LONG:-0}
on_tmpfs
if [ ! -d "$samples" ]; then
    echo "SKIP of a part: there is no ../shared/data/sqliosim beside the repository"
elif [ "$full" -eq 1 ]; then
    duration=5
    for type in ext4 xfs; do
        for sector in 512 4096; do
            one_place $type $sector root default root hwcache root nothrottle \
                user default user hwcache user nothrottle
        done
    done
else
    one_place ext4 512 root default
    one_place ext4 4096 user nothrottle
    one_place xfs 512 user hwcache
    one_place xfs 4096 root default
fi
echo "$runs runs"
[ $runs -gt 0 ] || skip "nothing could be run on this machine"
conclude
