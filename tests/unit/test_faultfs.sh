#!/usr/bin/env bash
# test_faultfs.sh - the file system that the fault tests mount does what its rules say, and is a
# plain copy without any.
set -eu
. "$2/tests/own_mounts.sh"
bin=$(dirname "$1")/tests/faultfs
operations=$(awk -v scale="${TEST_SCALE:-1}" 'BEGIN { print int(40000 * scale) }')
command -v python3 >/dev/null || {
    echo "SKIP: python3 is not installed"
    exit 77
}
exec python3 -B "$2/tests/faultfs/selftest.py" "$bin/faultfs" "$bin/faultfs_copy" "$operations"
