#!/usr/bin/env bash
# test_log_too_small.sh - a log that cannot hold the largest transaction is exit 2
# with the size needed.
. "$(dirname "$0")/common.sh"

two_files
sed -i 's/^InitialSize=8$/InitialSize=1/' c.ini
refused "$DIR/a.ldx" RandomUser MiB -- run c.ini
