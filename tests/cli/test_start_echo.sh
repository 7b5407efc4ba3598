#!/usr/bin/env bash
# test_start_echo.sh - what is printed before a run: volumes, how files are opened, what was set,
# the phases with their bytes; the dry run prints the same.
. "$(dirname "$0")/common.sh"

type=$(df --output=fstype "$DIR" | tail -n 1)
exits 0 run --dir "$DIR" "${QUICK[@]}" --set RandomUser.UserCount=3 \
    --set CONFIG.NoBuffering=FALSE \
    --out "$WORK/result" --dry-run
grep -v 'seed \|^  result\|^dry run\| free' "$WORK/out" >"$WORK/plan"
grep -q "^  volume .*: $type on " "$WORK/out" || fail "the file system $type is not named"
for line in 'through the page cache (NoBuffering=FALSE)' 'with O_DSYNC (WriteThrough)' \
    'CONFIG.NoBuffering=FALSE' 'RandomUser.UserCount=3' \
    'phase    initial update: 16 MiB' 'phase    stress (not judged): 1 s' \
    'phase    audit of every page and the live log: 24 MiB' \
    "result   $WORK/result would be created"; do
    grep -qF -- "$line" "$WORK/out" || fail "there is no '$line'"
done
exits 0 run --dir "$DIR" "${QUICK[@]}" --set RandomUser.UserCount=3 \
    --set CONFIG.NoBuffering=FALSE \
    --out "$WORK/result"
while IFS= read -r line; do
    case $line in # who else is on the device changes from run to run
    *' uses the device under test as well: '* | *' busy before the load '*) continue ;;
    esac
    grep -qxF -- "$line" "$WORK/out" || fail "the run does not print '$line' of the dry run"
done <"$WORK/plan"

# Of SQLIOSim's file, which names every key, only what is not the default.
printf '[CONFIG]\nTestCycles=1\nWriteThrough=TRUE\nCacheHitRatio=10000\n' >c.ini
exits 0 run c.ini --dir "$DIR" "${QUICK[@]}" --dry-run
grep -qF 'CONFIG.CacheHitRatio=10000' "$WORK/out" || fail "what was set is not shown"
grep -q 'CONFIG.TestCycles\|CONFIG.WriteThrough' "$WORK/out" && fail "defaults are shown as set"
grep -qF 'and 2 named with their defaults' "$WORK/out" || fail "the number of the others is not"

# A rated phase that is too short to be judged says so before it begins.
exits 0 run --dir "$DIR" "${QUICK[@]}" --rated 29 --dry-run
grep -q '^  rated .*too short to be judged' "$WORK/out" || fail "29 s are said to be judged"
exits 0 run --dir "$DIR" "${QUICK[@]}" --rated 30 --dry-run
grep -q 'too short to be judged' "$WORK/out" && fail "30 s are said not to be judged"
exit 0
