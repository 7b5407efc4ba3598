#!/usr/bin/env bash
# test_sqliosim_name.sh - called as sqliosim the program takes SQLIOSim's command line.
. "$(dirname "$0")/common.sh"

ln -s "$PAGESTORM" sqliosim
./sqliosim -dir "$DIR" -size 16 -d 1 -set CONFIG.Reserve=1 -out "$WORK/result" \
    >"$WORK/out" 2>"$WORK/err" || fail "exit code $?"
grep -q '^RESULT      PASS\|^RESULT      WARN' "$WORK/out" || fail "no verdict"
