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

# Backups: one row each, the log without a gap, the newest full one read back and restored.
exits 0 run --dir "$DIR" --size 32M --engine mem --seed 5 -d 5 --set CONFIG.Reserve=1M \
    --set BackupUser.UserCount=1 --set BackupUser.FullInterval=2 \
    --set BackupUser.LogInterval=500ms --set BackupUser.Restore=TRUE \
    --set BulkUpdateUser.UserCount=0 --set RandomUser.SleepAfter=50 --out "$WORK/backups"
grep -Eq '^  full +1 +3 +12288 .* 1 +1$' "$WORK/out" || fail "no line of full backups"
grep -Eq '^  log +1 ' "$WORK/out" || fail "no line of log backups"
python3 - "$WORK/backups/result.json" <<'PYTHON' || fail "backups of result.json are wrong"
import json, sys
result = json.load(open(sys.argv[1]))
backups = result["backups"]
assert len(backups) == result["counters"]["backups"] and len(backups) > 6, len(backups)
for backup in backups:
    assert set(backup) == {
        "database", "number", "kind", "file", "in_file", "complete", "reason", "pages", "log_bytes",
        "bytes", "first_lsn", "last_lsn", "seconds", "mb_per_s", "verified", "restored",
        "pages_compared"}, backup
    assert backup["complete"] and backup["reason"] == "" and backup["file"], backup
    assert backup["first_lsn"] <= backup["last_lsn"], backup
    assert abs(backup["mb_per_s"] * backup["seconds"] * (1 << 20) / backup["bytes"] - 1) < 1e-6
assert [b["number"] for b in backups] == list(range(1, len(backups) + 1))
fulls = [b for b in backups if b["kind"] == "full"]
logs = [b for b in backups if b["kind"] == "log"]
assert [b["pages"] for b in fulls] == 3 * [4096], fulls                    # 32 MiB, at 0, 2, 4 s
assert [b["verified"] for b in fulls] == [None, None, True], fulls         # two files: used in turn
assert [b["in_file"] for b in fulls] == [False, True, True], fulls
assert [b["restored"] for b in fulls] == [None, None, True] and fulls[2]["pages_compared"] == 4096
for before, after in zip(logs, logs[1:]):
    assert before["last_lsn"] == after["first_lsn"], (before, after)
after = [b for b in logs if b["number"] > fulls[2]["number"]]
assert after and all(b["verified"] and b["restored"] for b in after), after
assert all(b["pages"] == 0 and b["log_bytes"] > 0 for b in logs), logs
PYTHON
