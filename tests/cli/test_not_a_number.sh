#!/usr/bin/env bash
# test_not_a_number.sh - UserCount=12abc is exit 2 with file, line, key and value.
. "$(dirname "$0")/common.sh"

two_files
printf '[RandomUser]\nUserCount=12abc\n' >>c.ini
line=$(grep -n 12abc c.ini | cut -d: -f1)
refused "c.ini:$line" RandomUser UserCount=12abc -- run c.ini
