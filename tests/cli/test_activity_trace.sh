#!/usr/bin/env bash
# test_activity_trace.sh - the I/O of each activity as it reaches the disk, against SQL Server's.
. "$2/tests/own_mounts.sh"
command -v python3 >/dev/null || {
    echo "SKIP: python3 is not installed"
    exit 77
}
exec python3 -B "$2/tests/cli/activity_trace.py" "$1" "$(dirname "$1")/tests/faultfs/faultfs"
