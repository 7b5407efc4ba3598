#!/usr/bin/env bash
# test_faultfs_sync.sh - runs on a mount that lies: every fault that could be seen is found and
# rightly named, and nothing else.  Data, log and tempdb files, blocking calls of threads.
. "$2/tests/detect/faultfs.sh"
inject sync data reads log tempdb
