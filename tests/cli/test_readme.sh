#!/usr/bin/env bash
# What README.md says of the command line exists: each long option in --help, each Section.Key in
# config --list; and its table of packages names every package that is installed.
set -eu

pagestorm=$1
root=$2
failed=0

{
    "$pagestorm" --help
    for command in run verify selftest preflight clean config; do
        "$pagestorm" $command --help
    done
} >help.$$ 2>&1
"$pagestorm" config --list >list.$$
trap 'rm -f help.$$ list.$$' EXIT

# Lines about other programs are not ours.
ours=$(grep -vE 'cmake|ctest|tests/run\.sh|apt-get|git ' "$root/README.md")

options=$(printf '%s\n' "$ours" | grep -oE '(^|[^-[:alnum:]])--[a-z][a-z-]*' | grep -oE -- '--.*' |
    sort -u)
[ -n "$options" ] || {
    echo "README.md names no option: this test looks at the wrong place"
    exit 1
}
for option in $options; do
    grep -qE -- "(^|[^-[:alnum:]])$option([^-a-z]|\$)" help.$$ || {
        echo "README.md names $option, which no --help knows"
        failed=1
    }
done

keys=$(printf '%s\n' "$ours" |
    grep -oE '\b(CONFIG|RandomUser|AuditUser|File[0-9N])\.[A-Z][A-Za-z]+' | sort -u)
for key in $keys; do
    grep -qE "(^|[^A-Za-z])${key#*.}([^A-Za-z]|\$)" list.$$ || {
        echo "README.md names $key, which config --list does not know"
        failed=1
    }
done

# The package table repeats tests/packages.sh for readers: neither may know more than the other.
. "$root/tests/packages.sh"
for name in $(packages_list | cut -d'|' -f3); do
    grep -qE "^\\|.*\`$name\`" "$root/README.md" || {
        echo "README.md has no row for the package $name of tests/packages.sh"
        failed=1
    }
done
exit $failed
