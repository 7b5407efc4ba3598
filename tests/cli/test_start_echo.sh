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
    grep -qxF -- "$line" "$WORK/out" || fail "the run does not print '$line' of the dry run"
done <"$WORK/plan"
exit 0
