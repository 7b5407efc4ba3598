#!/usr/bin/env bash
# test_passes.sh - [PassN]: runs in a row, each with a result of its own and the user's options on
# top; one that finds a fault or a wrong command line ends the series, one that is slow does not;
# mistakes name file and line.
. "$(dirname "$0")/common.sh"

RUN=(--dir "$DIR" --size 16M --set CONFIG.Reserve=1M --seed 7)

cat >"$WORK/two.ini" <<'EOF'
[Pass1]
Name=first one
Options=-d 1 --engine mem
[Pass2]
Name=second
Preset=sqliosim-seqwrites
Options=-d 1 --engine mem
EOF
exits 0 run "$WORK/two.ini" "${RUN[@]}" --out "$WORK/series"
for pass in 01-first-one 02-second; do
    [ -s "$WORK/series/$pass/result.json" ] || fail "$pass has no result"
    grep -q '"seed": 7' "$WORK/series/$pass/result.json" || fail "$pass: not the user's seed"
done
grep -q '==== pass 2 of 2: second' "$WORK/out" || fail "no heading"
tail -4 "$WORK/out" | grep -q ' 2  second  *PASS' || fail "no table at the end"
tail -1 "$WORK/out" | grep -qF "pagestorm clean $WORK/series" || fail "no word of how to clean"

# The series' folder goes as a whole, with the files of every pass; what is not ours stays.
echo mine >"$WORK/series/notes"
exits 0 clean "$WORK/series" --yes
[ "$(ls "$WORK/series")" = notes ] || fail "clean left or lost: $(ls "$WORK/series")"
[ -z "$(ls "$DIR")" ] || fail "clean left $(ls "$DIR")"
exits 2 clean "$WORK/series" --yes
exits 0 run "$WORK/two.ini" "${RUN[@]}" --out "$WORK/again"
exits 0 clean "$WORK/again" --yes
[ ! -e "$WORK/again" ] || fail "the folder of all passes is still there"

# Slow is 4 and goes on; a mistake in a pass is 2 and ends it.
cat >"$WORK/slow.ini" <<'EOF'
[Pass1]
Name=slow
Options=-d 0 --rated 30 --need 10000 --engine mem --set CONFIG.DeviceModel=hdd
[Pass2]
Name=after
Options=-d 1 --engine mem
[Pass3]
Name=wrong
Options=-d 1 --set RandomUser.UserCuont=1
[Pass4]
Name=never
EOF
exits 2 run "$WORK/slow.ini" "${RUN[@]}" --out "$WORK/slow"
[ -s "$WORK/slow/02-after/result.json" ] || fail "a slow pass ended the series"
[ ! -e "$WORK/slow/04-never" ] || fail "a wrong pass did not end the series"
grep -q 'never  *not run' "$WORK/out" || fail "what was not run is not named"
head -6 "$WORK/slow.ini" >"$WORK/slow2.ini"
exits 4 run "$WORK/slow2.ini" "${RUN[@]}" --out "$WORK/slow2"

exits 0 run "$WORK/two.ini" "${RUN[@]}" --out "$WORK/none" --dry-run
[ ! -e "$WORK/none" ] || fail "a dry run made a folder"
exits 2 run "$WORK/two.ini" "${RUN[@]}" -d 5
grep -q 'Options' "$WORK/err" || fail "-d: no remedy"

cat >"$WORK/bad.ini" <<'EOF'
[CONFIG]
StopOnError=TRUE
[Pass0]
Name=x
[Pass2]
Name=a
Preset=nowhere
[Pass3]
Preset=oltp
EOF
exits 2 run "$WORK/bad.ini" "${RUN[@]}"
grep -q 'bad.ini:2: \[CONFIG\].*nothing else' "$WORK/err" || fail "another section"
grep -q 'bad.ini:4: \[Pass0\]' "$WORK/err" || fail "Pass0"
grep -q 'Pass2.*Preset=nowhere' "$WORK/err" || fail "an unknown preset"
grep -q 'Pass3.*Name is missing' "$WORK/err" || fail "no name"

# preflight looks at every directory that is named, also where --dir is not among them.
printf '[Pass1]\nName=look\nCommand=preflight\nOptions=--sample 1\n' >"$WORK/look.ini"
mkdir "$WORK/log"
run run "$WORK/look.ini" --data-dir "$DIR" --log-dir "$WORK/log" --out "$WORK/looked"
grep -q "^$DIR: " "$WORK/out" || fail "the data directory was not looked at"
grep -q "^$WORK/log: " "$WORK/out" || fail "the log directory was not looked at"
