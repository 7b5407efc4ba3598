#!/usr/bin/env bash
# Backups on a real file system: restored files pass the independent checker, each damaged part of a
# backup file is named and refused, a kill in the middle leaves nothing that looks like damage, a
# full disk and foreign files are told.
#
# The parts of a backup file are found by reading it as verify/backup.h describes it.
set -eu
. "$2/tests/cli/lib.sh"
command -v python3 >/dev/null || skip "python3 is not installed"

mkdir "$work/d" "$work/b" "$work/to"
bak=$work/b/pagestorm1-backup1.bak
trn=$work/b/pagestorm1-backup1.trn
quick=(--dir "$work/d" --backup-dir "$work/b" --size 16M -d 2 --set CONFIG.Reserve=1M
    --set BackupUser.UserCount=1 --set BackupUser.FullInterval=1h --set BackupUser.LogInterval=400ms
    --set BackupUser.Keep=1 --set BackupUser.Restore=TRUE --set RandomUser.UserCount=2)

# part FILE WHICH: its offset
part() {
    python3 - "$1" "$2" <<'PY'
import struct, sys
f = open(sys.argv[1], "rb")
def page(at):
    f.seek(at)
    return f.read(8192)
header_at, number = 8192, 0 # the last one in the file
while True:
    following = page(header_at)
    if following[:8] != b"PSTPCKP1" or struct.unpack_from("<I", following, 12)[0] <= number:
        break
    header, at = following, header_at
    number = struct.unpack_from("<I", header, 12)[0]
    assert struct.unpack_from("<I", header, 68)[0] == 1, "incomplete"
    trailer_at = struct.unpack_from("<Q", header, 128)[0]
    header_at = trailer_at + 8192
trailer = page(trailer_at)
assert trailer[:8] == b"PSTPCKP1" and struct.unpack_from("<H", trailer, 10)[0] == 3
directory_at = struct.unpack_from("<Q", trailer, 64)[0]
directory = page(directory_at)
rows = [struct.unpack_from("<QQIHHII", directory, 128 + 64 * i)
        for i in range(struct.unpack_from("<I", directory, 52)[0])]
pages = [r for r in rows if r[3] == 1]
log = [r for r in rows if r[3] == 2]
print({"header": at, "trailer": trailer_at, "directory": directory_at,
       "pages": pages[len(pages) // 2][0] if pages else 0,
       "log": log[-1][0] if log else 0}[sys.argv[2]])
PY
}

# change FILE OFFSET KIND: flip a bit, or zero 8 KiB
change() {
    python3 - "$1" "$2" "$3" <<'PY'
import sys
with open(sys.argv[1], "r+b") as f:
    at = int(sys.argv[2])
    f.seek(at + 1000 if sys.argv[3] == "flip" else at)
    if sys.argv[3] == "flip":
        byte = f.read(1)[0] ^ 0x10
        f.seek(at + 1000)
        f.write(bytes([byte]))
    else:
        f.write(bytes(8192))
PY
}

restore_to() { # EXIT WHAT SOURCES...
    local wanted=$1 what=$2
    shift 2
    rm -rf "$work/to"
    mkdir "$work/to"
    expect_exit "$wanted" "$what: restore" "$work/restored" \
        "$pagestorm" restore "$@" --to "$work/to" || true
    [ "$wanted" -eq 0 ] || [ -z "$(ls "$work/to")" ] || failed "$what: left $(ls "$work/to")"
}

# ---- a sound one ----

expect_exit 0 "run" "$work/out" "$pagestorm" run "${quick[@]}" --out "$work/r" || conclude
grep -q 'was restored from its backup and [1-9][0-9]* log backups' "$work/out" ||
    failed "the run did not restore" "$work/out"
expect_exit 0 "verify" "$work/verify" "$pagestorm" verify "$work/r" || true
grep -q 'complete backups' "$work/verify" || failed "verify says nothing of backups" "$work/verify"
restore_to 0 "sound" "$bak" "$trn"
expect_exit 0 "restored" "$work/verify" "$pagestorm" verify "$work/to/sqliosim.mdx" || true
if [ -n "$mdfcheck" ]; then
    expect_exit 0 "mdfcheck" "$work/check" python3 "$mdfcheck" "$work/to/sqliosim.mdx" || true
fi
restore_to 2 "without the full backup" "$trn"
grep -q 'no complete full backup' "$work/restored" || failed "no reason" "$work/restored"
restore_to 2 "a data file" "$work/d/sqliosim.mdx"
cp "$bak" "$work/keep.bak"
cp "$trn" "$work/keep.trn"

echo mine >"$work/to/sqliosim.mdx"
expect_exit 2 "foreign file in the way" "$work/restored" \
    "$pagestorm" restore "$bak" "$trn" --to "$work/to" || true
[ "$(cat "$work/to/sqliosim.mdx")" = mine ] || failed "a foreign file was changed"

# ---- damage ----

for file in "$bak" "$trn"; do
    for which in header trailer directory pages log; do
        [ "$file" = "$bak" ] || [ "$which" != pages ] || continue
        at=$(part "$file" $which)
        for kind in flip zero; do
            [ "$which $kind" != "header zero" ] || continue # then there is no backup
            change "$file" "$at" $kind
            what="$which of ${file##*.}, $kind"
            expect_exit 1 "$what: verify" "$work/verify" "$pagestorm" verify "$bak" "$trn" || true
            case $which-$kind in
            *-zero) class=ZEROED ;;
            log-flip) class='LOG TORN' ;;
            *) class='BIT FLIP' ;;
            esac
            grep -q "^$class .*${file##*/}" "$work/verify" || failed "$what: class" "$work/verify"
            [ "$(grep -c 'SQL Server: 8\|SQL Server: 9' "$work/verify")" -eq 1 ] ||
                failed "$what: not one finding" "$work/verify"
            restore_to 1 "$what" "$bak" "$trn"
            cp "$work/keep.bak" "$bak"
            cp "$work/keep.trn" "$trn"
        done
    done
done

truncate -s $(($(part "$bak" trailer) - 100000)) "$bak"
expect_exit 1 "cut: verify" "$work/verify" "$pagestorm" verify "$bak" || true
grep -q '^TRUNCATED FILE' "$work/verify" || failed "cut: class" "$work/verify"
restore_to 1 "cut" "$bak"

# ---- whose files ----

expect_exit 0 "clean" "$work/out" "$pagestorm" clean "$work/r" --yes || true
[ -z "$(ls "$work/b")" ] || failed "clean left $(ls "$work/b")" "$work/out"
echo mine >"$bak"
expect_exit 2 "foreign backup file" "$work/out" "$pagestorm" run "${quick[@]}" --out "$work/r" ||
    true
[ "$(cat "$bak")" = mine ] || failed "a foreign file was changed"
rm "$bak"

# ---- kills ----

seed=${PAGESTORM_SEED:-$((RANDOM * 32768 + RANDOM))}
RANDOM=$seed
echo "seed $seed"
for ((i = 0; i < 4 * scale; i++)); do
    rm -rf "$work/r"
    : >"$work/out" # else the last run's lines are read until this one has opened it
    "$pagestorm" run "${quick[@]}" --set BackupUser.FullInterval=0 --set BackupUser.LogInterval=0 \
        --out "$work/r" >"$work/out" 2>&1 &
    pid=$!
    while ! grep -q ' Backup 1 of database 1' "$work/out" && kill -0 $pid 2>/dev/null; do
        sleep 0.01
    done
    random_below 1000
    sleep "$(printf '0.%03d' "$drawn")"
    kill -KILL $pid 2>/dev/null || true
    wait $pid 2>/dev/null || true
    expect_exit 0 "kill $i: verify" "$work/verify" "$pagestorm" verify "$work/r" || true
done

conclude
