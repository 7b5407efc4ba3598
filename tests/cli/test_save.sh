#!/usr/bin/env bash
# test_save.sh - --save writes a configuration that loads again without a warning.
. "$(dirname "$0")/common.sh"

exits 0 run --dir "$DIR" "${QUICK[@]}" --engine mem --seed 7 --out "$WORK/result" --save saved.ini
exits 0 config --dump saved.ini
[ ! -s "$WORK/err" ] || fail "there are warnings"
cmp "$WORK/out" saved.ini || fail "the dump differs from what was saved"

# Again over what was saved, also through a link, and over the configuration itself: all well.
ln -s saved.ini link.ini
exits 0 run --dir "$DIR" "${QUICK[@]}" --engine mem --seed 8 --out "$WORK/again" --save link.ini
[ -L link.ini ] || fail "the link was replaced"
exits 0 config --dump saved.ini
cmp "$WORK/out" saved.ini || fail "what the link leads to was not saved"
two_files
printf '\n[CONFIG]\nReserve=1\nTestCycleDuration=1\n' >>c.ini
exits 0 run --cfg c.ini --engine mem --out "$WORK/own" --save c.ini
exits 0 config --dump c.ini
cmp "$WORK/out" c.ini || fail "the configuration was not replaced by what was in effect"
[ -z "$(find . -name '*.part')" ] || fail "a temporary file was left"

# What merely begins like a configuration is not ours.
for text in '# Title' '; notes' '[section]' '#!/bin/sh' '; pagestorm configuration'; do
    printf '%s\n' "$text" >foreign
    refused foreign -- run --dir "$DIR" "${QUICK[@]}" --engine mem --out "$WORK/no" --save foreign
done
: >empty
exits 0 run --dir "$DIR" "${QUICK[@]}" --engine mem --out "$WORK/empty" --save empty
[ -s empty ] || fail "an empty file was not filled"

# A dry run says beforehand what could not be saved.
refused nowhere -- run --dir "$DIR" "${QUICK[@]}" --dry-run --save nowhere/x.ini
refused foreign -- run --dir "$DIR" "${QUICK[@]}" --dry-run --save foreign

# A file that says nothing of a rated phase has none, in `run` as in the dump; without a file there
# is one of a minute.
printf '[CONFIG]\nTestCycles=1\n' >old.ini
exits 0 config --dump old.ini
grep -qx 'RatedDuration=0' "$WORK/out" || fail "the dump of a file asks for a rated phase"
exits 0 config --dump
grep -qx 'RatedDuration=60' "$WORK/out" || fail "the dump of the defaults has no rated phase"
