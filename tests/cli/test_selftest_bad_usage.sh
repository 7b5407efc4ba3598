#!/usr/bin/env bash
# test_selftest_bad_usage.sh - a wrong argument of selftest is exit 2, and the message says which.
. "$(dirname "$0")/common.sh"

refused '--case must be 1 ..' -- selftest --case 9999
refused '--case must be 1 ..' -- selftest --case 0
refused '--seed must be' -- selftest --seed x
refused '--engine needs --dir' -- selftest --engine aio
refused '--engine must be' -- selftest --dir "$DIR" --engine libaio
refused 'takes options only' -- selftest "$DIR"
refused 'nowhere' 'must exist' -- selftest --dir nowhere
refused 'result folder' -- verify "$DIR/.."
