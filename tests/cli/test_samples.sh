#!/usr/bin/env bash
# Every configuration in samples/ loads: a dry run of it gets as far as the plan.
set -eu

pagestorm=$1
root=$2
work=$(mktemp -d "$PWD/samples-XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/data"
failed=0

samples=("$root"/samples/*.ini)
[ -e "${samples[0]}" ] || {
    echo "there is no samples/*.ini"
    exit 1
}
for sample in "${samples[@]}"; do
    cd "$work"
    status=0
    "$pagestorm" run "$sample" --dir "$work/data" --map d:="$work/data" --map l:="$work/data" \
        --dry-run >"$work/output" 2>&1 || status=$?
    # 3: this disk is too small for it; the file was understood.
    if { [ $status -ne 0 ] && [ $status -ne 3 ]; } || [ ! -s "$work/output" ]; then
        echo "${sample##*/}: exit $status"
        cat "$work/output"
        failed=1
    fi
    if [ -n "$(ls -A "$work/data")" ]; then
        echo "${sample##*/}: a dry run left files: $(ls -A "$work/data")"
        failed=1
    fi
done
exit $failed
