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

run_begin() {
    rm -rf "$work/r"
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
    0) sleep_up_to_ms 250 ;;
    1) wait_for '^creating files: done' && sleep_up_to_ms 150 ;;
    2) wait_for '^initial update: done' && sleep_up_to_ms 1000 ;;
    3) wait_for '^stress.*: done' && sleep_up_to_ms 120 ;;
    esac
}

check_killed() {
    local what=$1 status=0
    if [ ! -e "$work/r/ledger" ] || grep -q 'nothing to verify' <("$pagestorm" verify "$work/r" 2>&1); then
        # Nothing was promised yet, and it must be said in so many words.
        "$pagestorm" verify "$work/r" >"$work/verify" 2>&1 || status=$?
        if [ -d "$work/r" ] && { [ $status -ne 3 ] || ! grep -q 'creating' "$work/verify"; }; then
            failed "$what: killed while it created files: verify exits $status" "$work/verify"
        fi
        created=$((created + 1))
        return
    fi
    if expect_exit 0 "$what: verify" "$work/verify" "$pagestorm" verify "$work/r"; then
        grep -q '^no integrity finding' "$work/verify" || failed "$what: no conclusion" "$work/verify"
    fi
    if grep -q '^initial update: done' "$work/out"; then
        updated=$((updated + 1))
        check_independently "$what" "$data" "$log"
    fi
}

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
echo "$kills runs: $created killed before there was anything to verify, $updated after the initial" \
    "update, $ended had ended before"
# A test that kills nothing of interest proves nothing.
[ $updated -ge $((kills / 4)) ] || failed "only $updated of $kills kills came after the initial update"
conclude
