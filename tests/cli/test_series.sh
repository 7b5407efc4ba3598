#!/usr/bin/env bash
# test_series.sh - series.csv: the sums of its rows are the totals of result.json, also after
# Ctrl-C; a seed gives the same file again.
. "$(dirname "$0")/common.sh"

command -v python3 >/dev/null || skip "python3 is not here"

# sums_match FOLDER
sums_match() {
    python3 - "$1" <<'PYTHON' || fail "the sums of series.csv are not the totals of result.json"
import csv, json, sys
from collections import Counter
rows, totals = Counter(), Counter()
for row in csv.DictReader(open(sys.argv[1] + "/series.csv")):
    if row["stream"] == "all":
        assert row["ops"] == row["bytes"] == ""
        continue
    rows[row["phase"], row["stream"], "ops"] += int(row["ops"])
    rows[row["phase"], row["stream"], "bytes"] += int(row["bytes"])
for stream in json.load(open(sys.argv[1] + "/result.json"))["streams"]:
    if stream["phase"] != "total":
        totals[stream["phase"], stream["name"], "ops"] += stream["ops"]
        totals[stream["phase"], stream["name"], "bytes"] += stream["bytes"]
assert +rows == +totals, [(key, rows[key], totals[key]) for key in rows | totals
                          if rows[key] != totals[key]]
assert ("stress", "page_read", "ops") in rows, rows
PYTHON
}

for i in 1 2; do
    exits 0 run --dir "$DIR" --size 16M -d 5 --set CONFIG.Reserve=1 --engine mem --seed 7 \
        --out "$WORK/mem$i"
done
sums_match "$WORK/mem1"
cmp "$WORK/mem1/series.csv" "$WORK/mem2/series.csv" || fail "a seed did not give the same series"
[ "$(cut -d, -f1 "$WORK/mem1/series.csv" | sort -u | wc -l)" -ge 6 ] || fail "not a row per second"

"$PAGESTORM" run --dir "$DIR" --size 16M -d 50 --set CONFIG.Reserve=1 --out "$WORK/stopped" \
    >"$WORK/out" 2>"$WORK/err" &
CHILD=$!
for _ in $(seq 100); do
    grep -qs ',stress,page_read,' "$WORK/stopped/series.csv" && break # written during the run
    sleep 0.1
done
kill -INT "$CHILD"
wait "$CHILD"
RC=$?
CHILD=
[ "$RC" -eq 130 ] || fail "exit code $RC instead of 130"
sums_match "$WORK/stopped"

exits 0 clean "$WORK/stopped" --yes
[ ! -e "$WORK/stopped" ] || fail "clean left the folder"
