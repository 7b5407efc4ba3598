#!/usr/bin/env bash
# test_phases.sh - phases of the main part and steps of the rated phase as a user meets them: the
# plan, the table at the end, result.json, series.csv, --set, what is refused, Ctrl-C in between.
. "$(dirname "$0")/common.sh"

command -v python3 >/dev/null || skip "python3 is not here"

RUN=(--dir "$DIR" --size 32M --engine mem --seed 3 --set CONFIG.Reserve=1M)

cat >day.ini <<'INI'
[CONFIG]
CacheHitRatio=0
[RandomUser]
UserCount=8
RatePerSecond=40
ReadsPerTransaction=3
UpdatesPerTransaction=1
MaxLogPerBuffer=512
[BulkUpdateUser]
UserCount=0
[Phase1]
Name=early, "quiet"
Duration=4
[Phase2]
Name=noon
Duration=36
Rated=TRUE
WarmUp=4
RandomUser.RatePerSecond=80
INI

# The plan says what will be run; --duration scales it.
exits 0 run day.ini "${RUN[@]}" --dry-run
grep -q '^  phases   early, "quiet" 4 s, noon 36 s (judged)$' "$WORK/out" || fail "no phases"
exits 0 run day.ini "${RUN[@]}" --dry-run -d 80
grep -q 'noon 1 min 12 s (judged)$' "$WORK/out" || fail "-d does not scale"

exits 0 run day.ini "${RUN[@]}" --out "$WORK/day"
grep -q '^phases of the main part ' "$WORK/out" || fail "no table of phases"
grep -Eq '^  noon +32 +320 +320 .* PASS$' "$WORK/out" || fail "no line of noon"
grep -Eq '^SPEED +PASS +noon: 320 IOPS \+ 80 log writes/s held' "$WORK/out" || fail "SPEED"
python3 - "$WORK/day" <<'PYTHON' || fail "result.json or series.csv is wrong"
import csv, json, sys
result = json.load(open(sys.argv[1] + "/result.json"))
early, noon = result["phases"]
assert (early["name"], early["part"], early["rated"], early["grade"]) == (
    'early, "quiet"', "main", False, "not judged"), early
assert noon["rated"] and noon["grade"] == "PASS" and noon["complete"], noon
assert abs(noon["seconds"] - 32) < 0.01 and noon["warm_up_seconds"] == 4
for phase, rate in ((early, 40), (noon, 80)):
    (of,) = phase["rates"]
    asked = rate * phase["seconds"]
    assert of["pattern"] == "RandomUser" and of["per_second"] == rate
    assert abs(of["asked"] - asked) < 5 * asked ** 0.5, of       # Poisson: five deviations
    assert abs(of["done"] - of["asked"]) <= 0.02 * of["asked"], of
    streams = {stream["name"]: stream for stream in phase["streams"]}
    assert streams["transaction"]["ops"] == of["done"], (streams["transaction"]["ops"], of)
config = result["config"]
assert config["Phase2"]["RandomUser.RatePerSecond"] == "80", config["Phase2"]
assert config["RandomUser"]["RatePerSecond"] == "40"
parts = {row["part"] for row in csv.DictReader(open(sys.argv[1] + "/series.csv"))}
assert parts == {"", 'early, "quiet"', "noon"}, parts
PYTHON

# The settings in effect load again to the same.
exits 0 run day.ini "${RUN[@]}" -d 1 --save "$WORK/saved.ini" --out "$WORK/save" \
    --set Phase1.RandomUser.UserCount=3
exits 0 config --dump "$WORK/saved.ini"
cmp "$WORK/saved.ini" "$WORK/out" || fail "--save does not load to the same"
grep -q '^RandomUser.UserCount=3$' "$WORK/out" || fail "--set did not reach a phase"
exits 0 config --list
grep -q '^\[PhaseN\]' "$WORK/out" || fail "config --list"
exits 0 config --explain day.ini
grep -q 'line 19 .*RatePerSecond = 80' "$WORK/out" || fail "config --explain"

# Mistakes, with their lines.
sed 's/^RandomUser\..*/CONFIG.MaxMemoryMB=64/' day.ini >wrong.ini
refused wrong.ini:19 '[Phase2] CONFIG.MaxMemoryMB: cannot change' -- run wrong.ini "${RUN[@]}"
refused '[Phase7] Duration is missing' -- run day.ini "${RUN[@]}" --set Phase7.Name=x
refused '[Phase1] [RandomUser] UserCuont: unknown key' -- run day.ini "${RUN[@]}" \
    --set Phase1.RandomUser.UserCuont=3 --strict
refused 'Load: a step is no percentage' -- run "${RUN[@]}" --rated 30 --load 40%,much

# A phase that waits for a backup, and one for CHECKDB: the plan says so, and each ends when it is
# done; --load scales all rates, and has no steps here.
cat >night.ini <<'INI'
[RandomUser]
UserCount=4
RatePerSecond=50
[BulkUpdateUser]
UserCount=0
[BackupUser]
UserCount=1
FullInterval=86400
[Phase1]
Name=backup
Duration=100
DurationMin=2
Until=BackupUser
[Phase2]
Name=check
Duration=100
Until=DbccUser
DbccUser.UserCount=2
INI
exits 0 run night.ini "${RUN[@]}" --dry-run -d 100 --load 40%
grep -q '^  phases   backup 1 s to 50 s, until BackupUser is done, check at most 50 s, until' \
    "$WORK/out" || fail "no word of Until"
grep -q '^           all rates at 40% of what is set' "$WORK/out" || fail "no word of --load"
grep -q '^  time     at most 1 min 40 s of load' "$WORK/out" || fail "no greatest length"
exits 0 run night.ini "${RUN[@]}" --load 40% --out "$WORK/night"
grep -q 'Phase 2 of 2 begins: check, at most 100 s, until DbccUser is done$' "$WORK/out" ||
    fail "the phase does not say for whom it waits"
python3 - "$WORK/night" <<'PYTHON' || fail "result.json of night.ini is wrong"
import json, sys
backup, check = json.load(open(sys.argv[1] + "/result.json"))["phases"]
assert (backup["ended_by"], backup["until"]) == ("users", "BackupUser"), backup
assert (check["ended_by"], check["until"]) == ("users", "DbccUser"), check
assert abs(backup["seconds"] - 2) < 0.01 and check["seconds"] < 50
assert abs(backup["load"] - 0.4) < 1e-9, backup["load"]
streams = {s["name"]: s for s in check["streams"]}
assert 0.99 <= streams["dbcc_read"]["bytes"] / (32 << 20) <= 1.05       # one pass over 32 MiB
PYTHON
sed 's/^Until=BackupUser/Until=Backup/' night.ini >wrong.ini
refused wrong.ini:13 '[Phase1] Until=Backup: there are no such users' -- run wrong.ini "${RUN[@]}"
refused 'one percentage scales all of them' -- run night.ini "${RUN[@]}" --load 40%,80%

# Steps of the rated phase: long enough to be judged; then with a step of all that goes, which is
# short because the modelled device does 40,000 a second.
STEPS=(--preset oltp "${RUN[@]}" --set CONFIG.RatedWarmUp=2)
exits 0 run "${STEPS[@]}" -d 30 --load 20%,40% --out "$WORK/load"
grep -Eq '^  load 20 % +30 +300 +300 +(9|1).* PASS$' "$WORK/out" || fail "no step of 20 %"
grep -Eq '^SPEED +PASS +load 40 % \(the hardest of 2 judged\): 600 IOPS' "$WORK/out" || fail "SPEED"
exits 0 run "${STEPS[@]}" -d 2 --load 20%,40%,max --out "$WORK/max"
grep -Eq '^  load max +2 +- .* not judged$' "$WORK/out" || fail "no step of max"
grep -q 'At load max latency is the number of requests in flight divided' "$WORK/out" ||
    fail "no sentence about latency"
grep -Eq '^SPEED .* \(the [a-z]* of 2 judged\)' "$WORK/out" || fail "max was judged"

# Ctrl-C in a phase: what there was is reported, what was not reached is named; nothing is wrong.
"$PAGESTORM" run day.ini --dir "$DIR" --size 32M --set CONFIG.Reserve=1M --out "$WORK/stopped" \
    >"$WORK/out" 2>"$WORK/err" &
CHILD=$!
for _ in $(seq 150); do
    grep -qs ',page_read,.*"early' "$WORK/stopped/series.csv" && break
    sleep 0.1
done
kill -INT "$CHILD"
wait "$CHILD"
RC=$?
CHILD=
[ "$RC" -eq 130 ] || fail "exit code $RC instead of 130"
grep -Eq '^  noon +not reached$' "$WORK/out" || fail "noon is not said to be missing"
exits 0 verify "$WORK/stopped"
