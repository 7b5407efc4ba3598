#!/usr/bin/env bash
# test_no_space.sh - files that do not fit are exit 3 with the sum, and nothing is created.
. "$(dirname "$0")/common.sh"

before=$(picture)
exits 3 run --dir "$DIR" --size 16M --set CONFIG.Reserve=16777216
[ "$before" = "$(picture)" ] || fail "something was changed"
grep -qF '24 MiB' "$WORK/err" || fail "the sum of 16 and 8 MiB is not named"
