#!/usr/bin/env bash
# mutants.sh PROGRAMS PAGESTORM CHECKS.DEF - without any single check the test that guards it fails.
#
# Names given behind these three are the only checks that are tried.
programs=$1
pagestorm=$2
checks=$3
shift 3
unset PAGESTORM_WITHOUT_CHECK
failed=0

fail() {
    echo "FAILED: $*"
    failed=1
}

# name<TAB>guard, a check a line
list() {
    tr '\n' ' ' <"$checks" | grep -o 'CHECK([a-z0-9_]*, "[^"]*", *[a-z0-9_]*)' |
        sed 's/^CHECK(\([a-z0-9_]*\),.*[ ,]\([a-z0-9_]*\))$/\1\t\2/'
}

# The tests of a program that are asked, where all of them take seconds.
tests_of() { # GUARD
    case $1 in
    detect_test_dbcc) echo 'a_lost_copy_is_a_lost_write' ;;
    *) echo '*' ;;
    esac
}

run_guard() { # GUARD
    PAGESTORM_ONLY_TEST=$(tests_of "$1") timeout 120 "$programs/mutant_$1" >"$log" 2>&1
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT

# With every check the tests pass: else their failures prove nothing.
for guard in $(list | cut -f 2 | sort -u); do
    run_guard "$guard" || {
        tail -n 20 "$log"
        fail "mutant_$guard fails with all checks on"
    }
done

count=0
while IFS=$'\t' read -r check guard; do
    [ $# -eq 0 ] || [[ " $* " == *" $check "* ]] || continue
    count=$((count + 1))
    PAGESTORM_WITHOUT_CHECK=$check run_guard "$guard"
    case $? in
    0) fail "without $check: $guard passes, nothing misses the check" ;;
    99 | 126 | 127) fail "without $check: $guard did not run: $(tail -n 1 "$log")" ;;
    124) fail "without $check: $guard hangs" ;;
    *) echo "without $check: $guard fails ($(grep -c 'error: Failure' "$log") failures)" ;;
    esac
done < <(list)

[ "$count" -eq "${#}" ] || [ "$count" -eq "$(grep -c '^CHECK(' "$checks")" ] ||
    fail "$count checks were tried, not all"
[ "$count" -gt 0 ] || fail "no check was tried"
grep -q PAGESTORM_WITHOUT_CHECK "$pagestorm" && fail "$pagestorm holds the switch"
echo "$count checks"
exit "$failed"
