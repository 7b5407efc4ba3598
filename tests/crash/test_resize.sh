#!/usr/bin/env bash
# A run whose files grow, shrink and are loaded is killed at a random moment.  What it leaves must
# verify, with its ledger and without one, and by an independent check.
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
TestCycleDuration=30
[RandomUser]
UserCount=2
[BulkUpdateUser]
UserCount=2
NewExtents=TRUE
FullyLogged=1
[ShrinkUser]
MinShrinkInterval=0
MaxShrinkInterval=0
MaxExtends=4
[File1]
FileName=t1.mdx
InitialSize=8
MaxSize=32
Increment=2
Shrinkable=TRUE
[File2]
FileName=t1.ldx
InitialSize=16
LogFile=TRUE
INI

for ((i = 0; i < kills; i++)); do
    rm -rf "$work/d" "$work/r"
    mkdir "$work/d"
    sector=$((i % 2 ? 4096 : 512))
    "$pagestorm" run "$work/c.ini" --dir "$work/d" --out "$work/r" \
        --set CONFIG.SectorSize=$sector >"$work/out" 2>&1 &
    pid=$!
    while ! grep -q 'shrank from' "$work/r/sqliosim.log.xml" 2>/dev/null &&
        kill -0 $pid 2>/dev/null; do
        sleep 0.01
    done
    sleep "0.$((RANDOM % 900 + 100))"
    kill -KILL $pid
    wait $pid 2>/dev/null || true
    what="kill $i, sectors of $sector bytes"
    expect_exit 0 "$what: verify" "$work/verify" "$pagestorm" verify "$work/r" || true
    expect_exit 0 "$what: verify without ledger" "$work/verify" \
        "$pagestorm" verify "$work/d/t1.mdx" "$work/d/t1.ldx" || true
    if [ -n "$mdfcheck" ]; then
        expect_exit 0 "$what: pair" "$work/verify" \
            python3 -B "$mdfcheck" --pair "$work/d/t1.mdx" "$work/d/t1.ldx" || true
    fi
done
conclude
