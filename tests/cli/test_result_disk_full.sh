#!/usr/bin/env bash
# test_result_disk_full.sh - the disk of the result folder fills up while a run goes on: the run
# goes on, and the last lines name what is not whole, and only that.
. "$(dirname "$0")/common.sh"

unshare -rm true 2>/dev/null || skip "no user namespace for a small file system"
mkdir "$WORK/small"
export PAGESTORM DIR WORK
timeout 600 unshare -rm bash -c '
    mount -t tmpfs -o size=2m none "$WORK/small" || exit 77
    "$PAGESTORM" run --dir "$DIR" --size 16M -d 8 --set CONFIG.Reserve=1 \
        --out "$WORK/small/result" \
        >"$WORK/out" 2>"$WORK/err" &
    for i in $(seq 100); do
        grep -qs ",stress," "$WORK/small/result/series.csv" && break
        sleep 0.1
    done
    dd if=/dev/zero of="$WORK/small/full" bs=4096 2>/dev/null
    wait $!; code=$?
    cp "$WORK/small/result/series.csv" "$WORK/series.csv"
    ls "$WORK/small/result" >"$WORK/names"
    exit $code'
RC=$?
[ "$RC" -eq 77 ] && skip "no tmpfs can be mounted here"
[ "$RC" -eq 3 ] || fail "exit code $RC instead of 3: result.json could not be written"
grep -q '^stress (not judged), 8' "$WORK/out" || fail "the run did not go on for 8 s"
grep -q "^report  INCOMPLETE: .*/result.json could not be written: No space left" "$WORK/out" ||
    fail "result.json is not said to be missing"
grep -q "^report  INCOMPLETE: .*/series.csv ends after [0-9]* of the run's seconds: No space left" \
    "$WORK/out" || fail "series.csv is not said to be incomplete"
grep -q '^report  /.*result.json$' "$WORK/out" && fail "a report is named that is not there"
grep -q 'result.json' "$WORK/names" && fail "a part of result.json was left"
[ "$(tail -c 1 "$WORK/series.csv" | od -An -c | tr -d ' ')" = '\n' ] || fail "half a row was left"
