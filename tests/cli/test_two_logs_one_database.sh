#!/usr/bin/env bash
# test_two_logs_one_database.sh - two log files of a database are used one after the other; verify
# follows the log through both, and damage is named with the file in which it stands.
. "$(dirname "$0")/common.sh"

cat >c.ini <<END
[CONFIG]
Seed=1
Reserve=1M
TestCycleDuration=3
[File1]
FileName=$DIR/a.mdx
InitialSize=32
[File2]
FileName=$DIR/a.ldx
InitialSize=3
LogFile=TRUE
[File3]
FileName=$DIR/b.ldx
InitialSize=4
LogFile=TRUE
[RandomUser]
MaxLogPerBuffer=8192
MaxIOChainLength=20
[BulkUpdateUser]
UserCount=0
END
exits 0 run c.ini --engine mem --out o
used=$(grep -c '"log_blocks_live": [1-9]' o/result.json)
[ "$used" = 2 ] || fail "$used log files of 2 hold live blocks"
exits 0 verify o
exits 0 verify "$DIR"/a.mdx "$DIR"/a.ldx "$DIR"/b.ldx
# One of two: what stands in the other is not missed.
exits 0 verify "$DIR"/a.mdx "$DIR"/b.ldx
exits 0 verify "$DIR"/a.ldx

oracle=$2/../shared/tools/mdfcheck.py
if [ -f "$oracle" ]; then
    python3 "$oracle" "$DIR" >"$WORK/out" || fail "mdfcheck refuses the files"
fi

# In the first block of the second file.
printf '\377' | dd of="$DIR/b.ldx" bs=1 seek=$((0x4000 + 0x60)) conv=notrunc status=none
exits 1 verify o
grep -q '^LOG TORN .*b\.ldx (byte offset 16384)' "$WORK/out" || fail "the damage is not named"
