#!/usr/bin/env bash
# test_reuse_sigkill.sh - killed at any moment while it takes files over, formats the log and works
# on: what the folders say afterwards is never a false finding.
. "$2/tests/cli/common.sh"

seed=${TEST_SEED:-$RANDOM}
echo "seed $seed (TEST_SEED)"
RANDOM=$seed
here=(--dir "$DIR" --size 16M -d 1 --set CONFIG.Reserve=1M --quiet)

for round in 1 2 3 4; do
    rm -rf "$WORK"/r*
    exits 0 run "${here[@]}" --out "$WORK/r1"
    "$PAGESTORM" run "${here[@]}" -d 30 --out "$WORK/r2" --reuse "$WORK/r1" >"$WORK/out" \
        2>"$WORK/err" </dev/null &
    CHILD=$!
    # the look takes 0.2 s; then verification, log and load
    sleep "$((RANDOM % 2)).$((2 + RANDOM % 8))$((RANDOM % 10))"
    kill -KILL "$CHILD"
    wait "$CHILD" 2>/dev/null
    CHILD=
    old=none new=none
    if [ -e "$WORK/r1/ledger" ]; then
        run verify "$WORK/r1"
        old=$RC
        [ "$old" -eq 0 ] || fail "round $round: the first run's folder: exit $old"
    fi
    if [ -e "$WORK/r2/ledger" ] && [ $old = none ]; then
        run verify "$WORK/r2"
        new=$RC
        [ "$new" -eq 0 ] || [ "$new" -eq 3 ] || fail "round $round: the second's: exit $new"
        # nothing to go on with, but everything to begin anew with
        refused 'did not end in order' -- run "${here[@]}" --out "$WORK/r3" --reuse "$WORK/r2"
    fi
    [ $old != none ] || [ $new != none ] || fail "round $round: nobody knows the files"
    echo "round $round: first $old, second $new"
done
