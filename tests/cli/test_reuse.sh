#!/usr/bin/env bash
# test_reuse.sh - --reuse RUN_DIR takes over what a run left: the same files and run id, verified
# first, nothing created; what changed since is named and exit 1; what is not whole or not the same
# is refused with exit 2 and stays as it is.
. "$(dirname "$0")/common.sh"

here=(--dir "$DIR" --size 16M -d 1 --set CONFIG.Reserve=1M)
data=$DIR/sqliosim.mdx
log=$DIR/sqliosim.ldx
mdfcheck=$2/../shared/tools/mdfcheck.py

value() { # FILE EXPRESSION
    python3 -c 'import json, sys
print(eval("r" + sys.argv[2], {"r": json.load(open(sys.argv[1]))}))' "$1" "$2"
}

exits 0 run "${here[@]}" --out "$WORK/r1"
inodes=$(stat -c %i "$data" "$log")
cp "$data" "$WORK/data.of.r1"
exits 0 run "${here[@]}" --out "$WORK/r2" --reuse "$WORK/r1" --dry-run
[ -e "$WORK/r1/ledger" ] || fail "a dry run took the files over"
exits 0 run "${here[@]}" --out "$WORK/r2" --reuse "$WORK/r1"
[ "$inodes" = "$(stat -c %i "$data" "$log")" ] || fail "the files were created anew"
[ ! -e "$WORK/r1/ledger" ] || fail "two folders know the same files"
grep -q '^INTEGRITY   PASS' "$WORK/out" || fail "not PASS"
grep -q 'prepare_write' "$WORK/out" && fail "pages were formatted again"
exits 0 verify "$WORK/r2"
if command -v python3 >/dev/null; then
    [ "$(value "$WORK/r1/result.json" '["run"]["id"]')" = \
        "$(value "$WORK/r2/result.json" '["run"]["id"]')" ] || fail "another run id"
    if [ -f "$mdfcheck" ]; then
        python3 "$mdfcheck" --pair "$data" "$log" >"$WORK/out" 2>&1 || fail "mdfcheck --pair"
    fi
fi

# The first folder has nothing left to give; the last one has.
refused 'took its files over' -- run "${here[@]}" --out "$WORK/r3" --reuse "$WORK/r1"
exits 0 run "${here[@]}" --out "$WORK/r3" --reuse "$WORK/r2"
exits 0 verify "$WORK/r3"

# Not the same: named, and left alone.
refused 'no ledger' -- run "${here[@]}" --out "$WORK/r4" --reuse "$WORK/absent"
refused 'sqliosim.mdx' bytes --size -- run --dir "$DIR" --size 32M -d 1 \
    --set CONFIG.Reserve=1M --out "$WORK/r4" --reuse "$WORK/r3"
refused Compressibility -- run "${here[@]}" --set CONFIG.Compressibility=20% \
    --out "$WORK/r4" --reuse "$WORK/r3"
mkdir "$WORK/other"
refused 'file 1 is' -- run --dir "$WORK/other" --size 16M -d 1 --set CONFIG.Reserve=1M \
    --out "$WORK/r4" --reuse "$WORK/r3"
cp "$data" "$WORK/copy" && mv "$data" "$WORK/own" && mv "$WORK/copy" "$data"
refused 'replaced or copied' -- run "${here[@]}" --out "$WORK/r4" --reuse "$WORK/r3"
mv "$WORK/own" "$data"
truncate -s -8192 "$data"
refused 'bytes now' -- run "${here[@]}" --out "$WORK/r4" --reuse "$WORK/r3"
truncate -s +8192 "$data"

# The end of the file was cut off and is zero now: the storage, or somebody, lost a page.
exits 1 run "${here[@]}" --out "$WORK/r4" --reuse "$WORK/r3"
grep -q '^ZEROED .*page 2047 ' "$WORK/out" || fail "the zeroed page is not named"
[ ! -e "$WORK/r4" ] || fail "a result folder stays"
[ -e "$WORK/r3/ledger" ] || fail "the ledger of the run is gone"
exits 0 run "${here[@]}" --out "$WORK/r5" # without --reuse they are made anew

# A lost write between the runs: a page (behind the system pages) is again what it was.
cp "$data" "$WORK/data.of.r5"
exits 0 run "${here[@]}" --out "$WORK/r6" --reuse "$WORK/r5"
first=$(cmp -i 262144 "$WORK/data.of.r5" "$data" | sed 's/.* byte \([0-9]*\),.*/\1/')
[ -n "$first" ] || fail "the second run changed nothing"
page=$(((first - 1 + 262144) / 8192))
dd if="$WORK/data.of.r5" of="$data" bs=8192 skip=$page seek=$page count=1 conv=notrunc status=none
exits 1 run "${here[@]}" --out "$WORK/r7" --reuse "$WORK/r6"
# lost, or, when it was written more than once meanwhile, one that came back
grep -qE "^(LOST|REPLAYED) WRITE .*page $page " "$WORK/out" ||
    fail "the lost write of page $page is not named"

# A run ended by Ctrl-C has made its last checkpoint, and is taken over; one that was killed
# has changes in its log alone.
exits 0 run "${here[@]}" --out "$WORK/r8"
ended_by() { # SIGNAL OUT REUSE
    : >"$WORK/out" # else the last run's lines are read until this one has opened it
    timeout 600 "$PAGESTORM" run "${here[@]}" -d 60 --out "$2" --reuse "$3" \
        >"$WORK/out" 2>"$WORK/err" </dev/null &
    CHILD=$!
    for _ in $(seq 300); do
        grep -q 'initial update: done' "$WORK/out" && break
        sleep 0.1
    done
    sleep 0.5
    pkill "-$1" -P "$CHILD"
    wait "$CHILD"
    RC=$?
    CHILD=
}
ended_by INT "$WORK/r9" "$WORK/r8"
[ "$RC" -eq 130 ] || fail "exit code $RC of an interrupted run"
exits 0 verify "$WORK/r9"
exits 0 run "${here[@]}" --out "$WORK/r10" --reuse "$WORK/r9"
exits 0 verify "$WORK/r10"
ended_by KILL "$WORK/r11" "$WORK/r10"
refused 'did not end in order' 'pagestorm verify' -- run "${here[@]}" --out "$WORK/r12" \
    --reuse "$WORK/r11"

# Backups of a session are never overwritten by a later one; tempdb is made anew in its files.
rm -rf "$WORK"/r* "$DIR"/*
more=("${here[@]}" --tempdb-dir "$DIR" --set BackupUser.UserCount=1 --set TempDbUser.Sorts=1)
exits 0 run "${more[@]}" --out "$WORK/r1"
before=$(cd "$DIR" && cksum ./*.bak)
[ -n "$before" ] || fail "no backup file"
inodes=$(cd "$DIR" && stat -c %i tempdb*.mdx)
exits 0 run "${more[@]}" --out "$WORK/r2" --reuse "$WORK/r1"
while read -r sum bytes name; do
    [ "$(cd "$DIR" && cksum "$name")" = "$sum $bytes $name" ] || fail "$name was overwritten"
done <<<"$before"
[ "$inodes" = "$(cd "$DIR" && stat -c %i tempdb*.mdx)" ] || fail "tempdb is in other files"
ls "$DIR"/session2-*.bak >/dev/null || fail "the second session has no backup files"
exits 0 verify "$WORK/r2"
for file in "$DIR"/*.bak; do
    exits 0 verify "$file"
done
exits 0 clean "$WORK/r1" --yes
exits 0 clean "$WORK/r2" --yes
[ -z "$(ls "$DIR")" ] || fail "files stay: $(ls "$DIR")"
