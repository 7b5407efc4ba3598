#!/usr/bin/env bash
# test_faultfs_aio.sh - runs on a mount that lies: every fault that could be seen is found and
# rightly named, and nothing else.  Data and log files, native AIO.
. "$2/tests/detect/faultfs.sh"
inject aio data reads log
