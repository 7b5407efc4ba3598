#!/usr/bin/env bash
# test_delete_at_shutdown.sh - DeleteFilesAtShutdown removes the files and says so.
. "$(dirname "$0")/common.sh"

exits 0 run --dir "$DIR" "${QUICK[@]}" --out "$WORK/one" --set CONFIG.DeleteFilesAtShutdown=TRUE
[ -z "$(ls "$DIR")" ] || fail "files are left: $(ls "$DIR")"
grep -q DeleteFilesAtShutdown "$WORK/out" || fail "the report does not say it"
