#!/usr/bin/env bash
# A run that is interrupted at a random moment ends in order: exit 130, a complete result.json,
# files that verify, and as many pages and log blocks as result.json says.  So does a run that is
# left alone.
set -eu
. "$2/tests/cli/lib.sh"
command -v python3 >/dev/null || skip "python3 is not installed: nothing reads result.json"

rounds=$((5 * scale))
seed=${PAGESTORM_SEED:-$((RANDOM * 32768 + RANDOM))}
RANDOM=$seed
echo "seed $seed, $rounds signals"
mkdir "$work/d"
data=$work/d/sqliosim.mdx
log=$work/d/sqliosim.ldx
updated=0

run_begin() {
    rm -rf "$work/r"
    : >"$work/out" # else the last run's lines are read until this one has opened it
    "$pagestorm" run --dir "$work/d" --size 16M -d "$1" --set CONFIG.CheckpointInterval=1 \
        --set RandomUser.SleepAfter=0 --out "$work/r" >"$work/out" 2>&1 &
    pid=$!
}

wait_for() {
    while ! grep -q "$1" "$work/out" && kill -0 $pid 2>/dev/null; do
        sleep 0.002
    done
}

sleep_up_to_ms() {
    random_below "$1"
    sleep "$(printf '%d.%03d' $((drawn / 1000)) $((drawn % 1000)))"
}

exit_of_run() {
    status=0
    wait $pid 2>/dev/null || status=$?
}

# Nothing was measured before the files were there, and nothing is left.
check_not_created() {
    [ -z "$(ls -A "$work/d")" ] || failed "$1: files are left: $(ls -A "$work/d")" "$work/out"
    [ ! -e "$work/r" ] || failed "$1: a result folder is left" "$work/out"
}

# What every run that ends by itself leaves; complete: true or false
check_ended() {
    local what=$1 complete=$2
    if grep -q 'interrupted while the files were created; they were removed' "$work/out"; then
        check_not_created "$what"
        return
    fi
    [ -s "$work/r/result.json" ] || {
        failed "$what: no result.json" "$work/out"
        return
    }
    value=$(result_value "$work/r/result.json" '["integrity"]["findings"]') || value='not JSON'
    [ "$value" = '[]' ] || failed "$what: findings are $value"
    value=$(result_value "$work/r/result.json" '["run"]["complete"]') || value='not JSON'
    [ "$value" = "$complete" ] || failed "$what: run.complete is $value"
    expect_exit 0 "$what: verify" "$work/verify" "$pagestorm" verify "$work/r" || return 0
    if grep -q ' initial update: done' "$work/out"; then
        updated=$((updated + 1))
        check_independently "$what" "$data" "$log" "$work/r/result.json"
    fi
}

for ((round = 0; round < rounds; round++)); do
    name=$([ $((round % 2)) -eq 0 ] && echo INT || echo TERM)
    run_begin 30
    case $((round % 5)) in
    0) sleep_up_to_ms 300 ;; # while it creates its files
    1) wait_for ' creating files: done' && sleep_up_to_ms 100 ;;
    *) wait_for ' initial update: done' && sleep_up_to_ms 1500 ;;
    esac
    what="$name in round $round (seed $seed)"
    # Before the plan is printed there is nothing to end in order.
    wait_for '^  result '
    kill -"$name" $pid
    exit_of_run
    [ $status -eq 130 ] || failed "$what: exit $status, not 130" "$work/out"
    check_ended "$what" False
done

run_begin 1
exit_of_run
[ $status -eq 0 ] || failed "a run that nobody interrupts: exit $status" "$work/out"
check_ended "a run that nobody interrupts" True

# Two signals in a moment, as timeout and a closing terminal send them, are one wish.
run_begin 30
wait_for ' initial update: done'
kill -INT $pid
kill -TERM $pid
kill -HUP $pid
exit_of_run
[ $status -eq 130 ] || failed "three signals at once: exit $status, not 130" "$work/out"
check_ended "three signals at once" False

# The first signal asks for an orderly end; another one a second later does not wait for it.  The
# process is halted in between, since the orderly end may need less than that second.
run_begin 30
wait_for ' initial update: done'
kill -INT $pid
wait_for '^stopping; '
kill -STOP $pid
sleep 1.2
kill -TERM $pid
kill -CONT $pid
exit_of_run
[ $status -eq 130 ] || failed "second signal: exit $status, not 130" "$work/out"
[ ! -e "$work/r/result.json" ] || failed "second signal: the report was still made" "$work/out"
expect_exit 0 "after the second signal: verify" "$work/verify" "$pagestorm" verify "$work/r" || true

[ $updated -gt 0 ] || failed "no run got as far as its initial update"
conclude
