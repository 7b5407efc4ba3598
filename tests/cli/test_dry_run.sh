#!/usr/bin/env bash
# test_dry_run.sh - --dry-run prints the plan and creates nothing.
. "$(dirname "$0")/common.sh"

before=$(picture)
exits 0 run --dir "$DIR" "${QUICK[@]}" --dry-run --save saved.ini --out "$WORK/result"
[ "$before" = "$(picture)" ] || fail "something was created"
grep -qF "$DIR/sqliosim.mdx" "$WORK/out" || fail "the plan does not name the file"
