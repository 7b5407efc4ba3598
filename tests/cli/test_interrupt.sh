#!/usr/bin/env bash
# test_interrupt.sh - Ctrl-C ends a run in order: exit 130 and a complete result.json.
. "$(dirname "$0")/common.sh"

command -v python3 >/dev/null || skip "python3 is not here"
"$PAGESTORM" run --dir "$DIR" --size 16M -d 60 --rated 0 --set CONFIG.Reserve=1 \
    --out "$WORK/result" >"$WORK/out" 2>"$WORK/err" &
CHILD=$!
for _ in $(seq 100); do
    grep -qs ',stress,page_read,' "$WORK/result/series.csv" && break # written during the run
    sleep 0.1
done
kill -INT "$CHILD"
wait "$CHILD"
RC=$?
CHILD=
[ "$RC" -eq 130 ] || fail "exit code $RC instead of 130"
python3 - "$WORK/result/result.json" <<'PYTHON' || fail "the result is not complete"
import json, sys
result = json.load(open(sys.argv[1]))
assert result["verdict"]["overall"]["grade"] == "INCOMPLETE", result["verdict"]
assert result["verdict"]["exit_code"] == 130
assert result["run"]["complete"] is False
assert result["run"]["interrupted_by_signal"] == 2
assert any(stream["phase"] == "stress" for stream in result["streams"])
PYTHON
