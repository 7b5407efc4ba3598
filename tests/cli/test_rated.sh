#!/usr/bin/env bash
# test_rated.sh - the rated phase as a user meets it: a fast device passes, a disk of one actuator
# holds a part of what was asked and ends with 4, a rate that it carries is no FAIL; when
# there is no such phase, and that a configuration has none unless asked.
. "$(dirname "$0")/common.sh"

RUN=(--dir "$DIR" --size 64M --engine mem --seed 3 --set CONFIG.Reserve=1M -d 1)
HDD=(--set CONFIG.DeviceModel=hdd)

last() { grep -E "^$1 " "$WORK/out" | tail -1; }

exits 0 run "${RUN[@]}" --rated 30 --out "$WORK/fast"
[[ $(last SPEED) =~ PASS.*"1,500 IOPS + 300 log writes/s held" ]] || fail "$(last SPEED)"
[[ $(last RESULT) == *"PASS (integrity, speed); durability not tested;"* ]] || fail "$(last RESULT)"
grep -q '^response times of the rated phase' "$WORK/out" || fail "no table of response times"

# A disk of 5,400 rpm carries some hundred I/Os a second (the model's figures): far from 10,000.
exits 4 run "${RUN[@]}" "${HDD[@]}" --rated 30 --need 10000 --out "$WORK/slow"
[[ $(last SPEED) =~ FAIL.*"held about "[0-9,]+" of 10,000 IOPS" ]] || fail "$(last SPEED)"
[[ $(last RESULT) == *"FAIL (speed): your data was safe here, but it carries "* ]] ||
    fail "$(last RESULT)"

# 40 data I/Os a second: 1,200 in 30 s; all is held, and no mean is beyond its FAIL bound.
exits 0 run "${RUN[@]}" "${HDD[@]}" --rated 30 --need 40 --out "$WORK/need"
[[ $(last SPEED) =~ (PASS|WARN).*"40 IOPS + 8 log writes/s held" ]] || fail "$(last SPEED)"

# A limit of the user.
exits 4 run "${RUN[@]}" --rated 30 --set Thresholds.LogWriteMean=1us --out "$WORK/yours"
[[ $(last SPEED) == *yours* ]] || fail "$(last SPEED)"

# Ten seconds are too few.
exits 0 run "${RUN[@]}" --rated 10 --out "$WORK/short"
[[ $(last SPEED) == *"NOT TESTED"*"at least 30 s"* ]] || fail "$(last SPEED)"

# A short main part and a configuration have no rated phase; a long main part has one.
exits 0 run "${RUN[@]}" --out "$WORK/none"
[[ $(last SPEED) == *"NOT TESTED"*"no rated phase"* ]] || fail "$(last SPEED)"
exits 0 run --dir "$DIR" --size 64M --dry-run
grep -q '  rated    oltp: 1,500 data IOPS arrive for 1 min, after 10 s' "$WORK/out" ||
    fail "plan"
exits 0 run --dir "$DIR" --size 64M --dry-run --preset oltp --need 3000
grep -q '  rated    oltp: 3,000 data IOPS arrive for 5 min, after 1 min' "$WORK/out" ||
    fail "preset"
printf '[RandomUser]\nUserCount=1\n' >"$WORK/x.ini"
exits 0 run "$WORK/x.ini" --dir "$DIR" --size 64M --dry-run
grep -q '  rated    no;' "$WORK/out" || fail "a configuration brought a rated phase"
exits 0 config --presets
grep -q 'Rates    300 transactions' "$WORK/out" || fail "config --presets"
exits 0 config --presets dss
[ "$(head -c 6 "$WORK/out")" = "dss - " ] || fail "config --presets dss"
exits 2 config --presets dsss
grep -q 'did you mean dss' "$WORK/err" || fail "config --presets dsss"

command -v python3 >/dev/null || skip "python3 is not here: result.json was not looked at"
python3 - "$WORK/slow/result.json" <<'PYTHON' || fail "result.json is wrong"
import json, sys
result = json.load(open(sys.argv[1]))
assert [p["name"] for p in result["run"]["phases"] if p["rated"]] == ["rated"]
assert result["verdict"]["speed"]["grade"] == "FAIL" and result["verdict"]["exit_code"] == 4
rated = result["rated"]
assert rated["asked_data_iops"] == 10000 and 0 < rated["held"] < 0.5, rated
assert rated["lines"][0]["key"] == "RateHeld" and rated["lines"][0]["grade"] == "FAIL"
# What waited for a slot counts: the mean response is far above the mean latency.
reads = [s for s in result["streams"] if s["phase"] == "rated" and s["name"] == "page_read"][0]
assert reads["response_us"]["mean"] > 5 * reads["latency_us"]["mean"]
PYTHON
