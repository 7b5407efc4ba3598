#!/usr/bin/env bash
# test_faultfs_uring.sh - runs on a mount that lies: every fault that could be seen is found and
# rightly named, and nothing else.  Data, log, tempdb, backup and snapshot files, io_uring.
. "$2/tests/detect/faultfs.sh"
inject uring
