#!/usr/bin/env bash
# test_presets.sh - every preset from 20 seeds (times TEST_SCALE) over the modelled device: no
# finding, no deadlock.
pagestorm=$1
root=$2
command -v python3 >/dev/null || {
    echo "SKIP: python3 is not here"
    exit 77
}
work=$(mktemp -d "$PWD/presets-XXXXXX")
trap 'rm -rf "$work"' EXIT
seeds=$(awk -v scale="${TEST_SCALE:-1}" 'BEGIN { n = int(20 * scale); print n < 1 ? 1 : n }')
python3 -B "$root/tests/model/presets.py" "$pagestorm" "${PRESET_SEEDS:-$seeds}" "$work/run"
