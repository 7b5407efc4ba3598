#!/usr/bin/env bash
# test_several_dirs.sh - each --dir gets a database of its own, and all of them see load.
. "$(dirname "$0")/common.sh"

mkdir "$DIR/one" "$DIR/two"
exits 0 run --dir "$DIR/one" --dir "$DIR/two" "${QUICK[@]}" --out "$WORK/result"
for file in one/sqliosim.mdx one/sqliosim.ldx two/sqliosim.mdx two/sqliosim.ldx; do
    [ -s "$DIR/$file" ] || fail "$file is missing"
done
grep -q '"name": "pagestorm2"' "$WORK/result/result.json" || fail "no second database"
