#!/usr/bin/env bash
# 5 signals for each unit of TEST_SCALE.
set -eu
TEST_LONG=1 exec bash "$2/tests/crash/test_signals.sh" "$@"
