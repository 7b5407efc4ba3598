#!/usr/bin/env bash
# test_on_finding.sh - --on-finding starts the user's command when a page came back wrong: with the
# facts in its environment, before the page is read again, once per class or for each event; it
# cannot delay or fail the run, and none is left when the run has ended.
#
# One user reads past the pool, which holds every page: nobody else reads a page that he reads
# again.  The damage is of a run's own file, by a write past the page cache while it goes: sector 3
# of some pages; the run must not see who did it (WatchFiles).
. "$2/tests/cli/common.sh"
command -v python3 >/dev/null || skip "python3 is not installed"
PAGES="1500 1650 1900 2020"

# damaged_run NAME ARGUMENTS...: exit code in $RC, its output in $WORK/NAME.out
damaged_run() {
    local name=$1
    shift
    rm -rf "$DIR"
    mkdir "$DIR"
    "$PAGESTORM" run --dir "$DIR" --size 16M -d 2 --set CONFIG.Reserve=1 \
        --engine sync --set CONFIG.WatchFiles=FALSE --set BulkUpdateUser.UserCount=0 \
        --set RandomUser.UserCount=1 \
        --set ReadAheadUser.UserCount=0 --set AuditUser.UserCount=1 \
        --out "$WORK/$name" "$@" >"$WORK/out" 2>"$WORK/err" </dev/null &
    CHILD=$!
    for _ in $(seq 600); do
        grep -q "initial update: done" "$WORK/out" && break
        sleep 0.05
    done
    for page in $PAGES; do
        dd if=/dev/urandom of="$DIR/sqliosim.mdx" bs=512 seek=$((page * 16 + 3)) count=1 \
            conv=notrunc,nocreat oflag=direct status=none 2>>"$WORK/err" ||
            skip "no write past the page cache of 512 bytes here"
    done
    wait "$CHILD"
    RC=$?
    CHILD=
}

# ---- once per class: facts, order ----
damaged_run one --stop-on-error --on-finding '
    env | grep ^PAGESTORM_ | sort >"$PAGESTORM_RESULT_DIR/../env.$PAGESTORM_CLASS"
    echo "a word of the command"; exit 7'
[ "$RC" -eq 1 ] || fail "exit code $RC instead of 1"
[ "$(grep -c -- '--on-finding . started' "$WORK/one/hooks.log")" = 1 ] || fail "not started once"
grep -q "^a word of the command" "$WORK/one/hooks.log" || fail "the command's output is not kept"
grep -q "ended with exit code 7" "$WORK/one/hooks.log" || fail "its exit code is not told"
python3 - "$WORK" "$DIR" <<'PY' || fail "facts or order"
import json, re, sys, glob
work, folder = sys.argv[1:]
result = json.load(open(f"{work}/one/result.json"))
(name,) = glob.glob(f"{work}/env.*")
env = dict(line.rstrip("\n").split("=", 1) for line in open(name) if "=" in line)
env = {key[len("PAGESTORM_"):]: value for key, value in env.items()}
(f,) = [f for f in result["integrity"]["findings"]
        if f["severity"] == "integrity" and str(f["page"]) == env["PAGE"]]
assert env["EVENT"] == "finding" and env["CLASS"] == f["class"] and env["FIRST_SIGHT"] == "1", env
assert env["SQL_ERROR"] == "824" and env["FILE"] == folder + "/sqliosim.mdx", env
assert int(env["OFFSET"]) == f["page"] * 8192 and env["SIZE_BYTES"] == "8192", env
assert env["RUN_ID"] == result["run"]["id"].replace("-", ""), (env["RUN_ID"], result["run"]["id"])
if f["device"]:
    assert env["DEVICE"] == "/dev/" + f["device"]["name"], env
    assert int(env["LBA"]) == f["device"]["lba"], env
    assert int(env["DEVICE_OFFSET"]) == f["device"]["offset"], env
# The command was running before the page was read a second time.
started = re.search(r"^\S+T(\S+)Z pagestorm: --on-finding 1 started",
                    open(f"{work}/one/hooks.log").read(), re.M)[1]
text = open(f"{work}/one/evidence/" + f["evidence"]).read()
rows = [line.split() for line in text.split("requests that touched these bytes")[1]
        .split("\n\n")[0].splitlines()[2:]]
seen = env["TIME"].split("T")[1].rstrip("Z")
single = [row[1] for row in rows if row[3] == "read" and row[5] == "8192" and row[1] > seen]
assert single, "no re-read"
assert len(single) >= f["retries"], (single, f["retries"])
print("seen", seen, "started", started, "first re-read", single[0])
def seconds(text):
    hours, minutes, rest = text.split(":")
    return int(hours) * 3600 + int(minutes) * 60 + float(rest)


# The re-read waits for the start, but not longer than 100 ms: a machine that takes more time to
# start a process proves nothing.
assert seen < started, (seen, started)
assert started < single[0] or seconds(started) - seconds(seen) > 0.1, (seen, started, single)
PY

# ---- StopOnError or not: every report is whole ----
whole() {
    grep -q "^RESULT" "$WORK/out" || fail "$1: no verdict"
    python3 - "$WORK/$1" "$2" <<'PY' || fail "$1: a report is not whole"
import csv, json, os, sys, xml.dom.minidom
folder, complete = sys.argv[1], sys.argv[2] == "complete"
result = json.load(open(folder + "/result.json"))
assert result["run"]["complete"] == complete, result["run"]
assert result["verdict"]["integrity"]["grade"] == "FAIL"
for key in "run environment config verdict integrity streams files databases actors cpu".split():
    assert result[key], key
coverage = result["integrity"]["coverage"]
assert coverage["pages_written"] > 1900 and coverage["first_checks"] > 0, coverage
assert (coverage["percent_read_back"] > 99) == complete, coverage
assert 0 < coverage["first_check_mean_ms"] <= coverage["first_check_longest_ms"], coverage
for f in result["integrity"]["findings"]:
    assert os.path.getsize(f"{folder}/evidence/" + f["evidence"]) > 8192
log = xml.dom.minidom.parse(folder + "/sqliosim.log.xml").toxml()
assert "Buffer validation failed" in log and "RESULT" in log
assert len(list(csv.reader(open(folder + "/series.csv")))) > 2
PY
}
whole one stopped

# ---- each event; a command that fails or stays on; nothing is left of it ----
damaged_run all --stop-on-error=no --on-every --on-finding 'trap "echo asked to end; exit 3" TERM
    echo $$ >>"$PAGESTORM_RESULT_DIR/pids"; sleep 1000 & wait'
[ "$RC" -eq 1 ] || fail "exit code $RC instead of 1"
events=$(python3 -c 'import json, sys
print(sum(f["severity"] == "integrity"
          for f in json.load(open(sys.argv[1]))["integrity"]["findings"]))' "$WORK/all/result.json")
[ "$events" -eq 4 ] || fail "$events events instead of 4"
[ "$(grep -c -- '--on-finding . started' "$WORK/all/hooks.log")" = 4 ] || fail "not one for each"
[ "$(grep -c "asked to end" "$WORK/all/hooks.log")" = 4 ] || fail "they were not asked to end"
whole all complete
[ "$(wc -l <"$WORK/all/pids")" -eq 4 ] || fail "not four commands"
while read -r group; do # a zombie is the business of this machine's init
    left=$(cat /proc/[0-9]*/stat 2>/dev/null | sed 's/.*) //' |
        awk -v group="$group" '$3 == group && $1 != "Z"' | wc -l)
    [ "$left" -eq 0 ] || fail "$left processes of the command's group $group are left"
done <"$WORK/all/pids"

# ---- the log belongs to the folder that clean removes ----
rm -f "$WORK/one/pids"
exits 0 clean "$WORK/one" --yes
[ ! -e "$WORK/one" ] || fail "clean left $(ls "$WORK/one")"
