#!/usr/bin/env bash
# test_many_files.sh - 10,000 [FileN] sections are exit 2 with few lines of message.
. "$(dirname "$0")/common.sh"

for i in $(seq 10000); do
    printf '[File%d]\nFileName=%s/%d.mdx\nInitialSize=1\n' "$i" "$DIR" "$i"
done >c.ini
refused c.ini -- run c.ini
[ "$(wc -l <"$WORK/err")" -lt 300 ] || fail "the messages are a flood"
