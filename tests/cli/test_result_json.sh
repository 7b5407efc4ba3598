#!/usr/bin/env bash
# test_result_json.sh - result.json is valid JSON with the sums that an offline reader expects.
. "$(dirname "$0")/common.sh"

command -v python3 >/dev/null || skip "python3 is not here"
exits 0 run --dir "$DIR" "${QUICK[@]}" --out "$WORK/result" --label "a label"
python3 - "$WORK/result/result.json" "$DIR" <<'PYTHON' || fail "result.json is wrong"
import json, os, sys
result = json.load(open(sys.argv[1]))
assert result["schema"] == "pagestorm-result/1"
assert result["run"]["label"] == "a label"
assert "--label 'a label'" in result["run"]["command"], result["run"]["command"]
for file in result["files"]:
    assert os.path.getsize(file["path"]) == file["size_bytes"], file
    assert os.path.dirname(file["path"]) == os.path.realpath(sys.argv[2]), file
for stream in result["streams"]:
    for latency in stream["latency_us"], stream["response_us"]:
        assert sum(bucket[2] for bucket in latency["buckets"]) == stream["ops"], stream["name"]
        order = [latency[k] for k in
                 ("min", "p50", "p90", "p95", "p99", "p999", "p9999", "max")]
        assert order == sorted(order), order
total = {s["name"]: s for s in result["streams"] if s["phase"] == "total"}
for name in total:
    parts = [s["ops"] for s in result["streams"] if s["name"] == name and s["phase"] != "total"]
    assert sum(parts) == total[name]["ops"], name
PYTHON
