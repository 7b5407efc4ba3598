#!/usr/bin/env bash
# test_result_name.sh - the default result folder is named by UTC date and time.
. "$(dirname "$0")/common.sh"

export XDG_STATE_HOME=$WORK/nowhere
exits 0 run --dir "$DIR" "${QUICK[@]}" --engine mem --quiet
folder=$(sed -n 's,^report  \(.*\)/result.json$,\1,p' "$WORK/out")
echo "$folder" | grep -qE '/pagestorm-[0-9]{8}-[0-9]{6}(-[0-9]+)?$' || fail "named $folder"
[ -s "$folder/result.json" ] || fail "nothing in $folder"
rm -r "$folder"
