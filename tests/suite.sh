#!/usr/bin/env bash
# suite.sh asan|tsan - build a sanitizer preset and run its suites; an entry of ctest in build/.
# suite.sh fuzz NAME - build tests/fuzz/NAME.c with clang and run it from its corpus.
#
# Exit 77 (skipped) where the machine lacks the sanitizer; the reason is printed.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd -P)
. "$root/tests/packages.sh"
. "$root/tests/build.sh"

# Sanitizers place their shadow at fixed addresses; with many bits of address randomisation the old
# ones collide with it.  Turned off where the kernel lets us.
plain_addresses=()
if setarch -R true 2>/dev/null; then
    plain_addresses=(setarch -R)
fi

skip() {
    echo "SKIP: $*"
    exit 77
}

# A program built with the sanitizer starts at all (seccomp and kernels differ).
demand_sanitizer() { # COMPILER -fsanitize=...
    local program
    program=$(mktemp)
    # shellcheck disable=SC2064 # the name is known now
    trap "rm -f '$program'" EXIT
    echo 'int main(void) { return 0; }' | "$1" "$2" -x c -o "$program" - 2>/dev/null ||
        skip "$1 $2 does not link on this machine"
    "${plain_addresses[@]}" "$program" 2>/dev/null ||
        skip "a program built with $1 $2 does not start on this machine"
}

# The TEST_SCALE of the environment, made smaller: instrumented code is 5 to 15 times slower.
scaled() { # FACTOR
    awk -v scale="${TEST_SCALE:-1}" -v factor="$1" 'BEGIN { print scale * factor }'
}

build_quietly() { # PRESET BUILD-FOLDER [-- TARGET]
    local output
    output=$(build_preset "$root" "$@" 2>&1) || {
        printf '%s\n' "$output"
        exit 1
    }
}

# What other tests run, over and over: the same code, and minutes under a sanitizer.
ALREADY_SHOWN='^model_test_(determinism|reuse_presets|slots)$'

sanitizer_suite() { # PRESET COMPILER FLAG FACTOR LABELS...
    local preset=$1 folder=$root/build-$1 log=$root/build-$1/Testing/Temporary/LastTest.log labels
    demand_sanitizer "$2" "$3"
    TEST_SCALE=$(scaled "$4")
    shift 4
    labels=$(IFS='|' && echo "^($*)\$")
    build_quietly "$preset" "$folder" -- "${@/#/tests_}"
    export TEST_SCALE
    export ASAN_OPTIONS="${ASAN_OPTIONS:-detect_stack_use_after_return=1}"
    export UBSAN_OPTIONS="${UBSAN_OPTIONS:-print_stacktrace=1}"
    export TSAN_OPTIONS="${TSAN_OPTIONS:-second_deadlock_stack=1}"
    cd "$folder"
    {
        "${plain_addresses[@]}" ctest --output-on-failure --no-tests=error -j "$(build_jobs)" \
            -L "$labels" -LE '^long$' -E "$ALREADY_SHOWN" 2>&1 || echo "ctest-status $?"
    } | awk -v log_file="$log" -v status_file=ctest-status -v prefix="SKIP in $preset: " \
        -f "$root/tests/summary.awk"
    return "$(cat ctest-status)"
}

fuzz_suite() { # NAME
    local name=$1 folder=$root/build-fuzz work corpus=$root/tests/fuzz/corpus/${1#fuzz_}
    packages_compiles clang -fsanitize=fuzzer,address -DFUZZER ||
        skip "clang with libFuzzer is not here (packages clang, libclang-rt-dev)"
    build_quietly fuzz "$folder" -- "$name"
    [ -d "$corpus" ] || corpus=$root/tests/fuzz/corpus/$name
    [ -d "$corpus" ] || {
        echo "The corpus of $name is missing: $corpus" >&2
        return 1
    }
    work=$(mktemp -d)
    # shellcheck disable=SC2064 # the name is known now
    trap "rm -rf '$work'" EXIT
    mkdir "$work/corpus"
    cp -r "$corpus/." "$work/corpus/"
    cd "$work"
    "${plain_addresses[@]}" "$folder/tests/fuzz/$name" -max_total_time="${FUZZ_SECONDS:-10}" \
        -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 "$work/corpus" 2>"$work/output" || {
        tail -n 60 "$work/output"
        for crash in "$work"/crash-* "$work"/timeout-* "$work"/oom-*; do
            [ -e "$crash" ] || continue
            echo "Input that failed (base64, add it to the corpus): ${crash##*/}"
            base64 "$crash"
        done
        return 1
    }
    grep -E '^(stat::|Done )' "$work/output"
}

case "${1:-}" in
asan) sanitizer_suite asan cc -fsanitize=address,undefined 0.25 unit model detect ;;
tsan) sanitizer_suite tsan cc -fsanitize=thread 0.1 unit model ;;
fuzz) fuzz_suite "${2:?name of the fuzz target}" ;;
*)
    echo "usage: tests/suite.sh asan|tsan|fuzz NAME" >&2
    exit 2
    ;;
esac
