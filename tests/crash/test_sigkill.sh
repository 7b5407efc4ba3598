#!/usr/bin/env bash
# A run is killed at a random moment, from the creation of its files to the final audit.  What it
# leaves must verify: by our own offline check, and by an independent one.
#
# Each kill goes into one quarter of the run in turn: creation, initial update, load, the end.
# PAGESTORM_SEED repeats the moments as far as a real machine allows.
set -eu
. "$2/tests/cli/lib.sh"

kills=$((20 * scale))
seed=${PAGESTORM_SEED:-$((RANDOM * 32768 + RANDOM))}
RANDOM=$seed
echo "seed $seed, $kills kills"
mkdir "$work/d"
data=$work/d/sqliosim.mdx
log=$work/d/sqliosim.ldx
created=0
updated=0
ended=0
phases=()

run_begin() {
    rm -rf "$work/r"
    : >"$work/out" # else the last run's lines are read until this one has opened it
    "$pagestorm" run --dir "$work/d" --size 32M -d 1 --set CONFIG.CheckpointInterval=1 \
        --set RandomUser.SleepAfter=0 --out "$work/r" >"$work/out" 2>&1 &
    pid=$!
}

# Sleep until the output names the end of a phase, or the run ended.
wait_for() {
    while ! grep -q "$1" "$work/out" && kill -0 $pid 2>/dev/null; do
        sleep 0.002
    done
}

sleep_up_to_ms() {
    random_below "$1"
    sleep "$(printf '%d.%03d' $((drawn / 1000)) $((drawn % 1000)))"
}

# quarter -> go to a random moment of it
go_to_moment() {
    case $1 in
    0) sleep_up_to_ms 200 ;;
    1) wait_for ' creating files: done' && sleep_up_to_ms 80 ;;
    2) wait_for ' initial update: done' && sleep_up_to_ms 1000 ;;
    3) wait_for ' stress.*: done' && sleep_up_to_ms 150 ;;
    esac
}

# Nothing is promised before every page was written once, which must be said in so many words.
check_killed_in_creation() {
    local what=$1
    created=$((created + 1))
    [ -d "$work/r" ] || return 0 # not even its folder was there
    if expect_exit 3 "$what: verify" "$work/verify" "$pagestorm" verify "$work/r"; then
        grep -q 'while it was creating its files.*nothing to verify' "$work/verify" ||
            failed "$what: verify does not say why" "$work/verify"
        ! grep -q '^no integrity finding' "$work/verify" ||
            failed "$what: verify says that it checked" "$work/verify"
    fi
}

# Which phase the output says that it was in; $1: what verify returned
phase_of_kill() {
    if [ "$1" -ne 0 ]; then
        grep -q ' creating files: done' "$work/out" && echo update || echo creation
    elif grep -q ' final checkpoint: done' "$work/out"; then
        echo audit
    elif grep -q ' stress.*: done' "$work/out"; then
        echo checkpoint
    elif grep -q ' initial update: done' "$work/out"; then
        echo load
    else
        echo update
    fi
}

check_killed() {
    local what=$1 status=0
    "$pagestorm" verify "$work/r" >"$work/verify" 2>&1 || status=$?
    phases+=("$(phase_of_kill $status)")
    # 2: not even the folder was there
    if [ $status -eq 3 ] || { [ $status -eq 2 ] && [ ! -e "$work/r" ]; }; then
        check_killed_in_creation "$what"
        return
    fi
    [ $status -eq 0 ] || failed "$what: verify: exit $status" "$work/verify"
    grep -q '^no integrity finding' "$work/verify" || failed "$what: no conclusion" "$work/verify"
    if grep -q ' initial update: done' "$work/out"; then
        updated=$((updated + 1))
        check_independently "$what" "$data" "$log"
    fi
}

# A folder and a ledger that the kill left half-made: too short a time to be met by chance.
half_made() {
    rm -rf "$work/r"
    mkdir "$work/r"
    check_killed_in_creation "an empty folder"
    echo "<sqliosim/>" >"$work/r/sqliosim.log.xml"
    check_killed_in_creation "a folder with a log alone"
    rm "$work/r/sqliosim.log.xml"
    : >"$work/r/ledger"
    check_killed_in_creation "an empty ledger"
    truncate -s 128K "$work/r/ledger"
    check_killed_in_creation "a ledger without its header"
    created=0
}

half_made
for ((kill = 0; kill < kills; kill++)); do
    run_begin
    go_to_moment $((kill % 4))
    if kill -KILL $pid 2>/dev/null; then
        what="kill $kill (seed $seed)"
    else
        what="run $kill, which ended before its kill (seed $seed)"
        ended=$((ended + 1))
    fi
    status=0
    wait $pid 2>/dev/null || status=$?
    # What a killed run left never keeps the next one from starting: it is ours and is replaced.
    [ $status -eq 137 ] || [ $status -eq 0 ] || failed "$what: exit $status" "$work/out"
    check_killed "$what"
done

run_begin
expect_exit 0 "the run after the last kill" "$work/wait" wait $pid || sed 's/^/    /' "$work/out"
expect_exit 0 "the run after the last kill: verify" "$work/verify" "$pagestorm" verify "$work/r"
echo "$kills runs: $created killed before every page was written once, $updated after the" \
    "initial update, $ended had ended before; killed in:" \
    "$(printf '%s\n' "${phases[@]}" | sort | uniq -c | tr -s ' \n' ' ')"
# A test that kills nothing of interest proves nothing.
[ $updated -ge $((kills / 4)) ] || failed "only $updated kills after the initial update"
conclude
