#!/usr/bin/env bash
# test_size_overflow.sh - a file size that overflows in bytes is exit 2.
. "$(dirname "$0")/common.sh"

two_files
sed -i 's/^InitialSize=16$/InitialSize=17592186044417/' c.ini
refused InitialSize 17592186044417 -- run c.ini
