#!/usr/bin/env bash
# test_config_bad_usage.sh - config with a wrong option is exit 2.
. "$(dirname "$0")/common.sh"

for arguments in "" "--lst" "--explain" "--list more" "--dump a b"; do
    exits 2 config $arguments
    grep -q '^usage: ' "$WORK/err" || fail "no usage for '$arguments'"
    [ -z "$arguments" ] || grep -q "^error: .*'${arguments%% *}'" "$WORK/err" ||
        fail "'$arguments' is not named"
done
