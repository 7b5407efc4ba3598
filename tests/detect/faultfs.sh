# shellcheck shell=bash
# faultfs.sh - sourced by the tests that run pagestorm on the faultfs mount.  Arguments of the
# script: the binary, the source root.
set -eu
. "$2/tests/own_mounts.sh"
pagestorm=$1
root=$2

skip() {
    echo "SKIP: $*"
    exit 77
}

# inject ENGINE [CASE ...]: all cases when none is named
inject() {
    command -v python3 >/dev/null || skip "python3 is not installed"
    if ldd "$pagestorm" | grep -q 'asan\|tsan'; then
        [ "$1" = uring ] || skip "a sanitizer build: one engine is enough"
        set -- uring data
    fi
    exec python3 -B "$root/tests/detect/faultfs_inject.py" "$pagestorm" \
        "$(dirname "$pagestorm")/tests/faultfs/faultfs" "$@"
}
