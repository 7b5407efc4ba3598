#!/usr/bin/env bash
# test_error_log_harness.sh - a harness for SQLIOSim reads PASS and FAIL out of the XML log, and the
# Final Summary's figures, which are those of result.json.
. "$(dirname "$0")/common.sh"
root=$2

command -v python3 >/dev/null || skip "python3 is not installed"

# reads WANTED: the harness' exit code of the run's log; what it says in $WORK/read
reads() {
    local rc=0
    python3 "$root/tests/cli/read_log.py" "$WORK/result/sqliosim.log.xml" >"$WORK/read" || rc=$?
    [ $rc -eq "$1" ] || fail "the harness says $rc, not $1: $(cat "$WORK/read")"
}

exits 0 run --dir "$DIR" "${QUICK[@]}" --out "$WORK/result"
reads 0
grep -qx 'files 2' "$WORK/read" || fail "not a summary for each of two files"
python3 - "$WORK/result/result.json" "$WORK/read" "$WORK/out" <<'PYTHON' || fail "figures"
import json, sys
result = json.load(open(sys.argv[1]))
read = [line.split() for line in open(sys.argv[2])]
counts = [list(map(int, line[1:])) for line in read if line[0] == "counts"]
summaries = [list(map(int, line[1:])) for line in read if line[0] == "summary"]
screen = open(sys.argv[3]).read()
for file, count, summary in zip(result["files"], counts, summaries):
    io = file["io"]
    names = ["reads", "scatter_reads", "writes", "gather_writes"]
    assert count[:4] == [io[name] for name in names], (file["path"], count, io)
    assert count[4] == int(io["total_io_ms"]), (count, io)
    assert summary == [io["target_io_duration_ms"], io["running_average_ms"], io["throttled"],
                       io["request_blocks"]], (summary, io)
    assert summary[0] == 100, "SQLIOSim's default target"
    ops = sum(count[:4])
    assert abs(io["latency_us"]["mean"] - io["total_io_ms"] * 1000 / ops) < 0.01
    assert f"Final Summary for file {file['path']} **" in screen
data, log = counts
assert data[0] and data[3], "a run has single reads and gather writes"
assert log[2] and not log[1] and not log[3], "a log never scatters"
# Every transfer of a stream is a request of one file, and the other way round.
waits = ("commit", "log_flush", "data_flush")
ops = sum(s["ops"] for s in result["streams"]
          if s["phase"] == "total" and s["name"] not in waits)
assert ops == sum(sum(count[:4]) for count in counts), (ops, counts)
PYTHON
rm -r "$WORK/result"

# A page is damaged in the middle of the load; nobody else writes it again.  Through a mapping: a
# plain write by another process is told by the kernel, and no longer taken for the storage's.
"$PAGESTORM" run --dir "$DIR" "${QUICK[@]}" -d 3 --set RandomUser.UserCount=0 \
    --set BulkUpdateUser.UserCount=0 --out "$WORK/result" >"$WORK/out" 2>"$WORK/err" &
CHILD=$!
python3 - "$DIR/sqliosim.mdx" $((1000 * 8192 + 4000)) "$WORK/result/sqliosim.log.xml" $CHILD \
    <<'PYTHON' || fail "no damage could be done"
import mmap, os, sys, time
path, at, log, child = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
while not os.path.exists(log) or b"Phase begins: stress" not in open(log, "rb").read():
    os.kill(child, 0)
    time.sleep(0.01)
with open(path, "r+b") as file, mmap.mmap(file.fileno(), 0) as data:
    data[at:at + 6] = b"damage"
    data.flush(at // mmap.PAGESIZE * mmap.PAGESIZE, mmap.PAGESIZE)
PYTHON
wait $CHILD
RC=$?
CHILD=
[ $RC -eq 1 ] || fail "exit code $RC instead of 1"
reads 1
grep -qx "validation 0x80070467 $DIR/sqliosim.mdx 1000" "$WORK/read" || fail "$(cat "$WORK/read")"
grep -qx 'files 2' "$WORK/read" || fail "no summary after a fault"
