#!/usr/bin/env bash
# test_trace.sh - --trace FILE has a line for each I/O, whose sums are those of result.json; actors
# and files are named; an existing file is left alone.
. "$(dirname "$0")/common.sh"
command -v python3 >/dev/null || skip "python3 is not here"

check() { # TRACE RESULT_DIR
    python3 - "$1" "$2/result.json" <<'END' || fail "the trace of $2"
import collections
import json
import sys

lines = open(sys.argv[1], encoding="utf-8").read().splitlines()
result = json.load(open(sys.argv[2], encoding="utf-8"))
assert lines[0] == "# pagestorm trace 1"
paths = {int(line.split()[2]): line.split()[3] for line in lines if line.startswith("# file")}
for row in result["files"]:
    assert paths[row["uid"]] == row["path"], row["path"]
columns = lines[1][2:].split("\t")
rows = [dict(zip(columns, line.split("\t"))) for line in lines if line[0] != "#"]
ops, moved = collections.Counter(), collections.Counter()
for row in rows:
    assert len(row) == 12, row
    assert float(row["submitted"]) <= float(row["completed"]), row
    assert row["result"] == "0", row
    key = (row["phase"], row["stream"])
    ops[key] += 1
    moved[key] += int(row["bytes"])
# Commits and transactions are waits, and no I/O.
streams = {(row["phase"], row["name"]): row for row in result["streams"]
           if row["name"] not in ("commit", "transaction") and row["phase"] != "total"}
for key, row in streams.items():
    assert (ops[key], moved[key]) == (row["ops"], row["bytes"]), (
        key, ops[key], moved[key], row["ops"], row["bytes"])
assert set(ops) == set(streams), set(ops) ^ set(streams)
actors = {row["name"] for row in result["actors"]}
named = {row["actor"] for row in rows if row["stream"] == "page_read"}
assert named and named <= actors, named - actors
# Every page of the initial update is generation 1.
first = [row for row in rows if row["stream"] == "prepare_write"]
for row in first:
    assert row["generations"] == "1*%d" % (int(row["bytes"]) // 8192), row
data = sum(row["size_bytes"] for row in result["files"] if row["kind"] == "data")
assert 0.9 * data < sum(int(row["bytes"]) for row in first) <= data
END
}

exits 0 run --engine mem --dir "$DIR" "${QUICK[@]}" --seed 5 --out "$WORK/r1" --trace "$WORK/t1"
grep -q 'trace .*bytes an I/O' "$WORK/out" || fail "its size is not told"
check "$WORK/t1" "$WORK/r1"
sort -sn "$WORK/t1" >"$WORK/sorted"
cmp -s <(grep -v '^#' "$WORK/t1") <(grep -v '^#' "$WORK/sorted") ||
    fail "over the model lines are not in order"
exits 0 run --dir "$DIR" "${QUICK[@]}" --out "$WORK/r2" --trace "$WORK/t2"
check "$WORK/t2" "$WORK/r2"

# The same run without it: nothing else is different.
exits 0 run --engine mem --dir "$DIR" "${QUICK[@]}" --seed 5 --out "$WORK/r3"
python3 - "$WORK/r1/result.json" "$WORK/r3/result.json" <<'END' || fail "the trace changes the run"
import json
import sys

a, b = (json.load(open(name, encoding="utf-8")) for name in sys.argv[1:])
assert a["streams"] == b["streams"] and a["counters"] == b["counters"]
END

refused 'never written over' -- run --dir "$DIR" "${QUICK[@]}" --out "$WORK/r4" --trace "$WORK/t1"
refused 'file under test' -- run --dir "$DIR" "${QUICK[@]}" --out "$WORK/r4" \
    --trace "$DIR/sqliosim.mdx"
refused /nowhere/t3 'cannot be created' -- run --dir "$DIR" "${QUICK[@]}" --out "$WORK/r4" \
    --trace /nowhere/t3
for name in result.json ledger; do # a name that the result folder needs
    refused "r4/$name" -- run --dir "$DIR" "${QUICK[@]}" --out "$WORK/r4" --trace "$WORK/r4/$name"
done
