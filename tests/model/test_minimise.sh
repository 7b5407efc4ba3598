#!/usr/bin/env bash
# test_minimise.sh - of a run in which writes of one page are lost, minimise.py comes by itself to a
# shorter run and to a short list of operations that has the write which was lost.
pagestorm=$1
root=$2
planted=$(dirname "$pagestorm")/tests/planted_run
command -v python3 >/dev/null || {
    echo "SKIP: python3 is not here"
    exit 77
}
[ -x "$planted" ] || {
    echo "SKIP: planted_run was not built: a sanitizer build shows nothing of a script"
    exit 77
}
work=$(mktemp -d "$PWD/minimise-XXXXXX")
trap 'rm -rf "$work"' EXIT

python3 -B "$root/tests/model/minimise.py" --seconds 250 --runs 60 "$work" \
    "$planted" run --engine mem --dir d -d 1 --size 16M --memory 8M --seed 3 --out o \
    --set CONFIG.Reserve=1M --set CONFIG.StopOnError=FALSE >"$work/out" || {
    cat "$work/out"
    echo "FAIL: minimise.py: exit code $?"
    exit 1
}
cat "$work/out"
python3 - "$work/out" <<'END'
import re
import sys

text = open(sys.argv[1], encoding="utf-8").read()
command = re.search(r"^    mkdir d; (.*)$", text, re.M).group(1)
time = re.search(r" -d (\d+)ms", command)
assert time and int(time.group(1)) <= 500, "the time was not reduced: " + command
assert command.count("UserCount=0") >= 3, "no pattern was left out: " + command
assert re.search(r"first finding: \w+, file 1, offset %d " % (400 * 8192), text), "another page"
expected = [line.split("\t") for line in text.splitlines() if re.match(r"\d+\.\d+\t", line)]
assert 2 <= len(expected) <= 40, "%d operations" % len(expected)


def generation(row):
    """Of page 400, from a list like 17,4*3."""
    each = []
    for part in row[11].split(","):
        value, _, times = part.partition("*")
        each += [int(value)] * int(times or 1)
    return each[400 - int(row[8]) // 8192]


writes = [generation(row) for row in expected if row[6] == "W"]
reads = [generation(row) for row in expected if row[6] == "R"]
# The first write came to the device, a later one is acknowledged in the list, and what was read
# after it is the first.
assert writes[0] == 1 and max(writes) > 1, writes
assert reads and reads[-1] == 1, reads
END
