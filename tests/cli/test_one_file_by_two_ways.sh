#!/usr/bin/env bash
# test_one_file_by_two_ways.sh - two names that reach one file by a symbolic link are exit 2.
. "$(dirname "$0")/common.sh"

ln -s "$DIR" "$WORK/link"
two_files
printf '[File3]\nFileName=%s/link/a.mdx\nInitialSize=16\n' "$WORK" >>c.ini
refused "$DIR/a.mdx" "$WORK/link/a.mdx" -- run c.ini
