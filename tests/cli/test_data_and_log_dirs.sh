#!/usr/bin/env bash
# test_data_and_log_dirs.sh - --data-dir and --log-dir part data from log.
. "$(dirname "$0")/common.sh"

mkdir "$DIR/data" "$DIR/log"
exits 0 run --data-dir "$DIR/data" --log-dir "$DIR/log" "${QUICK[@]}" --out "$WORK/result"
[ "$(ls "$DIR/data")" = sqliosim.mdx ] || fail "data: $(ls "$DIR/data")"
[ "$(ls "$DIR/log")" = sqliosim.ldx ] || fail "log: $(ls "$DIR/log")"
