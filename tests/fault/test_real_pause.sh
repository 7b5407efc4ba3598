#!/usr/bin/env bash
# A process that is stopped and goes on: host_pause with its length, and no request is called slow
# for it.  Short here; long_real_pause.sh stops it for longer than the 15 s of a stall.
set -eu
. "$2/tests/cli/lib.sh"
. "$2/tests/fault/real.sh"

seconds=${PAUSE_SECONDS:-4}
mkdir "$work/d"
run_start "$work/d" -d 6
kill -STOP "$run_process"
sleep "$seconds"
kill -CONT "$run_process"
run_end 0 'a pause'
expect_classes 'a pause' host_pause
python3 - "$result" "$seconds" >"$work/length" <<'PY' || failed 'a pause: its length' "$work/length"
import json, sys
details = [f['detail'] for f in json.load(open(sys.argv[1]))['integrity']['findings']]
lengths = [float(detail.split()[0]) for detail in details]
print(details)
# Told is what a beat of a quarter of a second was late; a busy machine may add to it.
sys.exit(not float(sys.argv[2]) - 0.3 <= max(lengths) <= float(sys.argv[2]) + 10)
PY
grep -q '^INTEGRITY   PASS' "$out" || failed 'a pause: not PASS' "$out"
conclude
