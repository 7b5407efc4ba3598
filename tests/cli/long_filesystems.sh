#!/usr/bin/env bash
# Every sample on every file system, sector size and user, 5 seconds each, checked independently.
set -eu
TEST_LONG=1 exec bash "$2/tests/cli/test_filesystems.sh" "$@"
