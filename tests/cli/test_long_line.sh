#!/usr/bin/env bash
# test_long_line.sh - a line of 10 MB in a configuration is exit 2, soon.
. "$(dirname "$0")/common.sh"

two_files
head -c 10000000 /dev/zero | tr '\0' 'x' >>c.ini
refused c.ini -- run c.ini
