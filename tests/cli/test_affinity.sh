#!/usr/bin/env bash
# Affinity and IOAffinity: the threads of a running process are where the masks say.
. "$2/tests/cli/common.sh"

allowed=$(taskset -p $$ 2>/dev/null | sed 's/.*: //') || true
[ -n "$allowed" ] || skip "taskset is missing or says nothing"
[ $((0x$allowed & 3)) -eq 3 ] || skip "CPU 0 and CPU 1 may not be used here (mask $allowed)"

# masks: how many threads of the child have which mask ("1" CPU 0, "2" CPU 1)
masks() {
    cat /proc/"$CHILD"/task/*/status 2>/dev/null |
        awk '/^Cpus_allowed:/ { gsub(",", ""); sub(/^0*/, "", $2); n[$2]++ }
             END { print n["1"] + 0, n["2"] + 0 }'
}

"$PAGESTORM" run --dir "$DIR" --engine sync "${QUICK[@]}" -d 30 --set CONFIG.CPUCount=1 \
    --set CONFIG.QueueDepth=3 --set CONFIG.Affinity=1-1 --set CONFIG.IOAffinity=1 \
    >"$WORK/out" 2>"$WORK/err" </dev/null &
CHILD=$!
# One worker on CPU 1; three helpers for it and three for the coordinator on CPU 0.
for _ in $(seq 300); do
    seen=$(masks)
    [ "$seen" = "6 1" ] && break
    kill -0 "$CHILD" 2>/dev/null || break
    sleep 0.1
done
kill -INT "$CHILD" 2>/dev/null
wait "$CHILD"
[ "$seen" = "6 1" ] || fail "threads on CPU 0 and CPU 1: $seen instead of 6 1"

# What would block io_uring goes to threads of the kernel, which are the process's too (iou-wrk-*);
# in memory that is every read.
kernel_masks() {
    grep -l '^Name:.iou-wrk' /proc/"$CHILD"/task/*/status 2>/dev/null | xargs -r cat 2>/dev/null |
        awk '/^Cpus_allowed:/ { gsub(",", ""); sub(/^0*/, "", $2); print $2 }' | sort -u
}

if [ -d /dev/shm ] && [ -w /dev/shm ]; then
    shm=$(mktemp -d /dev/shm/pagestorm-affinity-XXXXXX)
    trap 'rm -rf "$shm"; cleanup' EXIT
    "$PAGESTORM" run --dir "$shm" --engine uring "${QUICK[@]}" -d 30 --set CONFIG.IOAffinity=2 \
        --set CONFIG.Affinity=1 --out "$WORK/uring" >"$WORK/out" 2>"$WORK/err" </dev/null &
    CHILD=$!
    seen=
    for _ in $(seq 300); do
        seen=$(kernel_masks)
        [ -z "$seen" ] || break
        kill -0 "$CHILD" 2>/dev/null || break
        sleep 0.1
    done
    kill -INT "$CHILD" 2>/dev/null
    wait "$CHILD"
    # none: no io_uring here, or a kernel that reads memory at once
    [ -z "$seen" ] || [ "$seen" = 2 ] || fail "threads of io_uring have the masks $seen, not 2"
fi

refused Affinity 0x8000000000000000 "CPU 63" "allowed are CPU" -- \
    run --dir "$DIR" "${QUICK[@]}" --out "$WORK/refused" --set CONFIG.Affinity=0x8000000000000000
refused IOAffinity "CPU 63" -- \
    run --dir "$DIR" "${QUICK[@]}" --out "$WORK/refused" --set CONFIG.IOAffinity=0x8000000000000001
refused Affinity "0,8000-8191" "CPU 8000-8191" -- \
    run --dir "$DIR" "${QUICK[@]}" --out "$WORK/refused" --set CONFIG.Affinity=0,8000-8191
refused Affinity "out of range" "CPU 0 .. 8191" -- \
    run --dir "$DIR" "${QUICK[@]}" --out "$WORK/refused" --set CONFIG.Affinity=0-8192
