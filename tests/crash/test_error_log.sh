#!/usr/bin/env bash
# test_error_log.sh - whenever a run is killed, its XML log is whole: a parser reads it to the end.
set -eu
. "$2/tests/cli/lib.sh"

command -v python3 >/dev/null || skip "python3 is not installed"
kills=$((8 * scale))
seed=${PAGESTORM_SEED:-$((RANDOM * 32768 + RANDOM))}
RANDOM=$seed
echo "seed $seed, $kills kills"
mkdir "$work/d"
read_logs=0

check_log() {
    python3 - "$1" <<'PYTHON'
import sys
import xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
for entry in root:
    assert entry.tag == "ENTRY" and len(entry) == 1, entry.tag
    assert entry[0].tag == "EXTENDED_DESCRIPTION" and entry[0].text, "an entry without text"
assert not root.tail, "something after the end"
PYTHON
}

for ((kill = 0; kill < kills; kill++)); do
    rm -rf "$work/r"
    "$pagestorm" run --dir "$work/d" --size 16M -d 1 --set CONFIG.Reserve=1 --out "$work/r" \
        >"$work/out" 2>&1 &
    pid=$!
    if [ $((kill % 2)) -eq 0 ]; then
        random_below 60
    else
        random_below 1500
    fi
    sleep "$(printf '%d.%03d' $((drawn / 1000)) $((drawn % 1000)))"
    kill -KILL $pid 2>/dev/null || true
    wait $pid 2>/dev/null || true
    [ -s "$work/r/sqliosim.log.xml" ] || continue # killed before it was there
    log=$work/r/sqliosim.log.xml
    check_log "$log" || failed "kill $kill (seed $seed)" "$log"
    read_logs=$((read_logs + 1))
done
echo "$read_logs logs of $kills killed runs were read"
[ $read_logs -ge $((kills / 3)) ] || failed "only $read_logs logs were there to be read"
conclude
