#!/usr/bin/env bash
# 20 kills for each unit of TEST_SCALE.
set -eu
TEST_LONG=1 exec bash "$2/tests/crash/test_sigkill.sh" "$@"
