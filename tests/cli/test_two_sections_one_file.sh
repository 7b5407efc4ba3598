#!/usr/bin/env bash
# test_two_sections_one_file.sh - two sections that name one file are exit 2.
. "$(dirname "$0")/common.sh"

two_files
printf '[File3]\nFileName=%s/./a.mdx\nInitialSize=16\n' "$DIR" >>c.ini
refused File1 File3 -- run c.ini
