#!/usr/bin/env bash
# test_config_explain.sh - config --explain says what a file asks for; a missing one is exit 2.
. "$(dirname "$0")/common.sh"

two_files
exits 0 config --explain c.ini
grep -q a.mdx "$WORK/out" || fail "the file is not mentioned"
refused nothere.ini -- config --explain nothere.ini
