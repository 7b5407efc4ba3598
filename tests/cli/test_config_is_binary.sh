#!/usr/bin/env bash
# test_config_is_binary.sh - a binary given as configuration is exit 2 and named.
. "$(dirname "$0")/common.sh"

head -c 4096 "$PAGESTORM" >binary.ini
refused binary.ini -- run binary.ini
