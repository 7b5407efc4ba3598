#!/usr/bin/env bash
# test_missing_config.sh - a configuration that does not exist is exit 2 and named.
. "$(dirname "$0")/common.sh"

refused nothere.ini -- run nothere.ini
