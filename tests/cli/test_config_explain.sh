#!/usr/bin/env bash
# test_config_explain.sh - config --explain says what a file asks for; a missing one is exit 2.
. "$(dirname "$0")/common.sh"

two_files
exits 0 config --explain c.ini
grep -q a.mdx "$WORK/out" || fail "the file is not mentioned"
refused nothere.ini -- config --explain nothere.ini

# A file has no rated phase unless it asks for one.
exits 0 config --explain c.ini
grep -q 'RatedDuration=0' "$WORK/out" || fail "a rated phase is told that there will not be"
printf '[CONFIG]\nRatedDuration=90\n' >>c.ini
exits 0 config --explain c.ini
grep -q 'RatedDuration = 90' "$WORK/out" || fail "the rated phase that was asked for is not told"
