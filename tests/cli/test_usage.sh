#!/usr/bin/env bash
# test_usage.sh - no command, or one that does not exist, is exit 2 with the list of commands.
. "$(dirname "$0")/common.sh"

exits 2
grep -q 'pagestorm run' "$WORK/err" || fail "no list"
refused "'rum'" -- rum
