#!/usr/bin/env bash
# test_reuse_presets.sh - every preset, run again over the files that it left.
pagestorm=$1
root=$2
command -v python3 >/dev/null || {
    echo "SKIP: python3 is not here"
    exit 77
}
work=$(mktemp -d "$PWD/reuse-XXXXXX")
trap 'rm -rf "$work"' EXIT
python3 -B "$root/tests/model/reuse_presets.py" "$pagestorm" "$work/run" \
    "$root/../shared/tools/mdfcheck.py"
