#!/usr/bin/env bash
# test_config_list.sh - config --list names every section and key of the dump.
. "$(dirname "$0")/common.sh"

exits 0 config --dump
sed -n 's/^;\{0,1\}\([A-Za-z]*\)=.*/\1/p' "$WORK/out" | sort -u >keys
[ "$(wc -l <keys)" -gt 50 ] || fail "too few keys"
exits 0 config --list
while read -r key; do
    grep -qw "$key" "$WORK/out" || fail "$key is not listed"
done <keys
