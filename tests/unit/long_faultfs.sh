#!/usr/bin/env bash
# long_faultfs.sh - a million random operations without rules, half of them over the volatile cache.
set -eu
bin=$(dirname "$1")/tests/faultfs
command -v python3 >/dev/null || {
    echo "SKIP: python3 is not installed"
    exit 77
}
exec python3 -B "$2/tests/faultfs/selftest.py" "$bin/faultfs" "$bin/faultfs_copy" 1000000
