#!/usr/bin/env bash
# test_beside_others.sh - a SQL Server with files on the device under test keeps a run from
# beginning, a dry run as well; --beside-others lets it, and the report says who was there.
#
# On a file system of its own: other tests run at the same time, and would meet it, too.
. "$(dirname "$0")/../own_mounts.sh"
. "$(dirname "$0")/common.sh"

[ "$(id -u)" -eq 0 ] || skip "not root: no file system of its own can be mounted"
mkdir "$WORK/shm"
mount -t tmpfs -o size=256M pagestorm "$WORK/shm" 2>/dev/null || skip "tmpfs cannot be mounted"
tidy() {
    [ -n "$CHILD" ] && kill -KILL "$CHILD" 2>/dev/null && wait "$CHILD" 2>/dev/null
    umount "$WORK/shm"
    CHILD=
    cleanup
}
trap tidy EXIT
mkdir "$WORK/shm/d"

cp "$(command -v sleep)" "$WORK/sqlservr"
# Nothing that was inherited stays open: it may lie on the other device.
(
    for fd in /proc/self/fd/*; do
        fd=${fd##*/}
        [ "$fd" -le 2 ] || eval "exec $fd>&-"
    done
    exec "$WORK/sqlservr" 60 9>"$WORK/shm/Sales.mdf" </dev/null >/dev/null 2>&1
) &
CHILD=$!
for _ in $(seq 100); do
    [ "$(cat "/proc/$CHILD/comm")" = sqlservr ] && break
    sleep 0.1
done

here=(--dir "$WORK/shm/d" --size 16M --set CONFIG.Reserve=1M -d 1)
refused "pid $CHILD" "$WORK/shm/Sales.mdf" --beside-others -- run "${here[@]}"
refused "pid $CHILD" -- run "${here[@]}" --dry-run
exits 0 run "${here[@]}" --dry-run --engine mem # a model has no neighbours
exits 0 run "${here[@]}" --dry-run --beside-others
grep -q "note  *SQL Server (sqlservr, pid $CHILD) uses the device" "$WORK/out" || fail "no note"
exits 0 run --dir "$DIR" "${QUICK[@]}" --dry-run # another device

run preflight --sample 0 "$WORK/shm/d"
tr -s ' \n' ' ' <"$WORK/out" |
    grep -q "SQL Server (sqlservr, pid $CHILD): 1 file, $WORK/shm/Sales.mdf" ||
    fail "preflight does not see it"

exits 0 run "${here[@]}" --beside-others --out "$WORK/result"
command -v python3 >/dev/null || skip "python3 is not installed: nothing reads result.json"
python3 -c 'import json, sys
environment = json.load(open(sys.argv[1]))["environment"]
assert [u["what"] for u in environment["device_users"]] == ["SQL Server"]
assert environment["device_users"][0]["pid"] == int(sys.argv[2])
assert len(environment["devices_before"]) == 1' "$WORK/result/result.json" "$CHILD" ||
    fail "result.json does not say who was there"

kill -KILL "$CHILD"
wait "$CHILD" 2>/dev/null
CHILD=
exits 0 run "${here[@]}" --dry-run
