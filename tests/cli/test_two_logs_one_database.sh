#!/usr/bin/env bash
# test_two_logs_one_database.sh - two logs of a database are exit 2 and the remedy is named.
. "$(dirname "$0")/common.sh"

two_files
printf '[File3]\nFileName=%s/b.ldx\nInitialSize=8\nLogFile=TRUE\n' "$DIR" >>c.ini
refused Database= -- run c.ini
