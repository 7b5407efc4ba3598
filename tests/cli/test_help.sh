#!/usr/bin/env bash
# test_help.sh - help and version of the program and of each command are exit 0 on standard output.
. "$(dirname "$0")/common.sh"

for arguments in --help -h help --version "run --help" "config --help" "clean --help" "help run" \
    "help config" "verify --help" "selftest --help"; do
    exits 0 $arguments
    [ -s "$WORK/out" ] || fail "$arguments prints nothing"
    [ ! -s "$WORK/err" ] || fail "$arguments prints to standard error"
done
