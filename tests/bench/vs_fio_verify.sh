#!/usr/bin/env bash
# vs_fio_verify.sh - who notices what: fio's verify in five ways of running it, and pagestorm, on
# the same mount with the same rule.
#
#   tests/bench/vs_fio_verify.sh PAGESTORM [FAULT ...]
#
# By hand, never by ctest; needs root, /dev/fuse, fio and python3.  Each cell is one run with one
# fault (`clean`: none) on a file that was written before.  fio: 1 MiB, blocks of 8 KiB, io_uring,
# depth 8, crc32c.
#
#   S1  the same job once more over its own file (default seed)
#   S2  one job, write and verify, with a seed that was never used on the file
#   S3  a job that writes, then rw=randread with verify
#   S4  a job that writes, then --verify_only
#   S5  time_based with verify_backlog
#
# A cell says what was reported, `-` when nothing was, `(not read)` when the page was written again
# before anybody read it, `(no fault)` when the rule did not fire or hit nothing.
set -euo pipefail
pagestorm=$(realpath "$1")
shift
for tool in fio python3; do
    command -v $tool >/dev/null || {
        echo "SKIP: $tool is not installed"
        exit 77
    }
done
root=$(cd "$(dirname "$0")/../.." && pwd -P)
exec python3 -B "$root/tests/bench/vs_fio_verify.py" "$pagestorm" \
    "$(dirname "$pagestorm")/tests/faultfs/faultfs" "$@"
