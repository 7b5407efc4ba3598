#!/usr/bin/env bash
# test_initial_above_max.sh - InitialSize above MaxSize is exit 2.
. "$(dirname "$0")/common.sh"

two_files MaxSize=8
refused c.ini InitialSize MaxSize -- run c.ini
