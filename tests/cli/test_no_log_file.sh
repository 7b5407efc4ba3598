#!/usr/bin/env bash
# test_no_log_file.sh - data files without a log file are exit 2.
. "$(dirname "$0")/common.sh"

printf '[File1]\nFileName=%s/a.mdx\nInitialSize=16\n' "$DIR" >c.ini
refused c.ini LogFile=TRUE -- run c.ini
