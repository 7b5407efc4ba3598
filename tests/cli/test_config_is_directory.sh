#!/usr/bin/env bash
# test_config_is_directory.sh - a directory given as configuration is exit 2 and named.
. "$(dirname "$0")/common.sh"

refused "$DIR" -- run "$DIR"
