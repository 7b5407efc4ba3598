#!/usr/bin/env bash
# A run whose users allocate the extents of a sparse file, which grows and shrinks, too, is killed
# at a random moment.  What it leaves must verify, with its ledger and without one, and by an
# independent check; space must not be taken by what nobody changed.
#
# PAGESTORM_SEED repeats the moments as far as a real machine allows.
set -eu
. "$2/tests/cli/lib.sh"

kills=$((3 * scale))
seed=${PAGESTORM_SEED:-$((RANDOM * 32768 + RANDOM))}
RANDOM=$seed
echo "seed $seed, $kills kills"
cat >"$work/c.ini" <<'INI'
[CONFIG]
Reserve=1M
MaxMemoryMB=32
TestCycleDuration=60
CheckpointInterval=1
[RandomUser]
UserCount=2
MaxIOChainLength=20
[BulkUpdateUser]
UserCount=1
BuffersBUMin=8
BuffersBUMax=64
BUDelay=200
[ShrinkUser]
MinShrinkInterval=100
MaxShrinkInterval=300
MaxExtends=2
[File1]
FileName=t1.mdx
InitialSize=64
MaxSize=80
Increment=4
Shrinkable=TRUE
Sparse=TRUE
[File2]
FileName=t1.ldx
InitialSize=16
LogFile=TRUE
INI

kib_of() { # FILE: taken on the disk; 0: there is none
    if [ -e "$1" ]; then du -k "$1" | cut -f1; else echo 0; fi
}

for ((i = 0; i < kills; i++)); do
    rm -rf "$work/d" "$work/r"
    mkdir "$work/d"
    sector=$((i % 2 ? 4096 : 512))
    "$pagestorm" run "$work/c.ini" --dir "$work/d" --out "$work/r" \
        --set CONFIG.SectorSize=$sector >"$work/out" 2>&1 &
    pid=$!
    # 1 MiB is more than the system pages are: extents come
    while [ "$(kib_of "$work/d/t1.mdx")" -lt 1024 ] && kill -0 $pid 2>/dev/null; do
        sleep 0.01
    done
    sleep "$((i % 2)).$((RANDOM % 900 + 100))"
    kill -KILL $pid
    wait $pid 2>/dev/null || true
    what="kill $i, sectors of $sector bytes"
    echo "$what: $(kib_of "$work/d/t1.mdx") KiB of $(($(stat -c %s "$work/d/t1.mdx") / 1024))"
    expect_exit 0 "$what: verify" "$work/verify" "$pagestorm" verify "$work/r" || true
    expect_exit 0 "$what: verify without ledger" "$work/verify" \
        "$pagestorm" verify "$work/d/t1.mdx" "$work/d/t1.ldx" || true
    if [ -n "$mdfcheck" ]; then
        expect_exit 0 "$what: pair" "$work/verify" \
            python3 -B "$mdfcheck" --pair "$work/d/t1.mdx" "$work/d/t1.ldx" || true
    fi
done

# Of a run that ends in order: as many pages and log blocks as the checker counts were written.
rm -rf "$work/d" "$work/r"
mkdir "$work/d"
expect_exit 0 "to the end" "$work/out" "$pagestorm" run "$work/c.ini" --dir "$work/d" -d 2 \
    --out "$work/r" || true
expect_exit 0 "to the end: verify" "$work/verify" "$pagestorm" verify "$work/r" || true
[ "$(kib_of "$work/d/t1.mdx")" -lt 65536 ] || failed "the file is not sparse any more" "$work/out"
ln "$work/d/t1.mdx" "$work/d/t1.mdf" # the checker goes by names
ln "$work/d/t1.ldx" "$work/d/t1.ldf"
check_independently "to the end" "$work/d/t1.mdf" "$work/d/t1.ldf" "$work/r/result.json" || true
conclude
