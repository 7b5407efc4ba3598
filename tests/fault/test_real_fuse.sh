#!/usr/bin/env bash
# A file system whose server dies, or that answers every request with an error (root, FUSE), below a
# run with real threads: the run ends in order, and the name is that of a device that is gone.  A
# flush that fails once and then succeeds is never taken for proof.
set -eu
. "$2/tests/own_mounts.sh"
. "$2/tests/cli/lib.sh"
. "$2/tests/fault/real.sh"

faultfs=${FAULTFS:-$(dirname "$pagestorm")/tests/faultfs/faultfs}
why=$(python3 -B - "$root/tests/faultfs" "$faultfs" <<'PY'
import sys
sys.path.insert(0, sys.argv[1])
import faultfs
print(faultfs.reason_to_skip(sys.argv[2]) or '')
PY
)
[ -z "$why" ] || skip "$why"

daemon=
# shellcheck disable=SC2317
unmount_all() {
    [ -z "$daemon" ] || kill -KILL "$daemon" 2>/dev/null || true
    umount -l "$work/m" 2>/dev/null || true
}
at_end unmount_all

fuse_mount() {
    local i
    rm -rf "$work/below" "$work/s"
    mkdir -p "$work/m" "$work/below"
    "$faultfs" --socket "$work/s" "$work/below" "$work/m" >"$work/faultfs" 2>&1 &
    daemon=$!
    for ((i = 0; i < 100; i++)); do
        ! mountpoint -q "$work/m" || break
        sleep 0.1
    done
    mkdir "$work/m/d"
}

fuse_unmount() {
    umount -l "$work/m" 2>/dev/null || true
    kill -KILL "$daemon" 2>/dev/null || true
    wait "$daemon" 2>/dev/null || true
    daemon=
}

# One command, one answer.
fuse() {
    python3 - "$work/s" "$*" <<'PY'
import socket, sys
line = socket.socket(socket.AF_UNIX)
line.connect(sys.argv[1])
line.sendall((sys.argv[2] + '\n').encode())
answer = line.makefile().readline()
if not answer.startswith('ok'):
    sys.exit(f'{sys.argv[2]}: {answer}')
PY
}

for engine in uring aio sync; do
    fuse_mount
    run_start "$work/m/d" --engine $engine
    kill -KILL "$daemon"
    run_end 3 "server dies, $engine"
    expect_classes "server dies, $engine" device_gone
    fuse_unmount
done

fuse_mount
run_start "$work/m/d" --set CONFIG.StopOnError=FALSE
fuse cut keepall 1
run_end 3 'every request fails'
expect_classes 'every request fails' device_gone
grep -q '^INTEGRITY   INCOMPLETE  no damage in the [0-9]* % that was checked' "$out" ||
    failed 'every request fails: what is proven is not said' "$out"
fuse_unmount

# All that was written since the last good flush is written again; the success of the next flush
# proves nothing of it.
fuse_mount
run_start "$work/m/d" -d 6 --set CONFIG.StopOnError=FALSE --set CONFIG.WriteThrough=FALSE \
    --set CONFIG.CheckpointInterval=2
fuse add s eio '*.mdx' 0 end 1 1
run_end 0 'a flush fails once'
expect_classes 'a flush fails once' flush_error
expect_text 'a flush fails once' 'goes on as degraded'
fuse_unmount

conclude
