# shellcheck shell=bash disable=SC2034,SC2154
# real.sh - what the tests under real conditions share: a run in the background to which something
# is done while it is under load.  Sourced, never run; after tests/cli/lib.sh.
#
# The load is held at a few hundred I/Os a second: what is looked for needs no more.

command -v python3 >/dev/null || skip "python3 is not installed: nothing reads result.json"
run_process=

# shellcheck disable=SC2317
run_kill() {
    [ -z "$run_process" ] || kill -KILL "$run_process" 2>/dev/null || true
}
at_end run_kill

# run_start DIRECTORY [OPTION]...: returns when it is under load; sets out and result.
run_start() {
    local dir=$1 i
    shift
    out=$work/out
    result=$work/r/result.json
    rm -rf "$work/r"
    "$pagestorm" run --dir "$dir" --size 16M -d 60 --set CONFIG.MaxIops=400 \
        --set CONFIG.Reserve=1 --out "$work/r" "$@" >"$out" 2>&1 &
    run_process=$!
    for ((i = 0; i < 600; i++)); do
        ! grep -q 'initial update: done' "$out" || break
        kill -0 "$run_process" 2>/dev/null || break
        sleep 0.1
    done
    sleep 1
}

# run_end EXIT_CODE WHAT: waits for it.
run_end() {
    local status=0
    wait "$run_process" || status=$?
    run_process=
    [ $status -eq "$1" ] || failed "$2: exit $status, not $1" "$out"
}

# The classes of the findings, in order, each once: "foreign_write,read_retry".
classes() {
    python3 -c 'import json, sys
findings = json.load(open(sys.argv[1]))["integrity"]["findings"]
print(",".join(sorted(set(f["class"] for f in findings))))' "$result"
}

# expect_classes WHAT CLASSES: these and no other.
expect_classes() {
    local found
    found=$(classes) || found=unreadable
    [ "$found" = "$2" ] || failed "$1: the findings are '$found', not '$2'" "$out"
}

expect_text() {
    grep -q -- "$2" "$out" || failed "$1: nothing says '$2'" "$out"
}
