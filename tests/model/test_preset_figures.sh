#!/usr/bin/env bash
# test_preset_figures.sh - rates, shares, sizes and depths of the presets, over the modelled device.
pagestorm=$1
root=$2
command -v python3 >/dev/null || {
    echo "SKIP: python3 is not here"
    exit 77
}
awk -v scale="${TEST_SCALE:-1}" 'BEGIN { exit !(scale < 1) }' && {
    echo "SKIP: figures do not depend on the build; TEST_SCALE below 1 wants less"
    exit 77
}
work=$(mktemp -d "$PWD/figures-XXXXXX")
trap 'rm -rf "$work"' EXIT
python3 -B "$root/tests/model/preset_figures.py" "$pagestorm" "$work/run"
