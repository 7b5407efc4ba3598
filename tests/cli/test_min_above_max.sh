#!/usr/bin/env bash
# test_min_above_max.sh - Min above Max is exit 2 and names both keys.
. "$(dirname "$0")/common.sh"

two_files
printf '[RandomUser]\nMinIOChainLength=50\nMaxIOChainLength=10\n' >>c.ini
refused c.ini MinIOChainLength MaxIOChainLength -- run c.ini
