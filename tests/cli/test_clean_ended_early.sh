#!/usr/bin/env bash
# test_clean_ended_early.sh - a run that is killed before it has a ledger leaves a folder with logs
# alone: clean removes it, but not while the run that writes them lives, and no empty folder.
. "$(dirname "$0")/common.sh"

mkdir "$WORK/early"
echo '<?xml version="1.0"?>' >"$WORK/early/sqliosim.log.xml"
: >"$WORK/early/series.csv"

exec 9<"$WORK/early/sqliosim.log.xml"
flock 9
exits 2 clean "$WORK/early" --yes
[ -e "$WORK/early/series.csv" ] || fail "the folder of a run that lives was cleaned"
exec 9<&-
exits 0 clean "$WORK/early" --yes
[ ! -e "$WORK/early" ] || fail "left: $(ls "$WORK/early")"

mkdir "$WORK/empty"
exits 2 clean "$WORK/empty" --yes
[ -d "$WORK/empty" ] || fail "an empty folder of somebody is gone"
