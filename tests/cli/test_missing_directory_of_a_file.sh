#!/usr/bin/env bash
# test_missing_directory_of_a_file.sh - a [FileN] in a missing directory is exit 2 and named.
. "$(dirname "$0")/common.sh"

two_files
sed -i "s,^FileName=.*mdx,FileName=$WORK/missing/a.mdx," c.ini
refused "$WORK/missing" -- run c.ini
