#!/usr/bin/env bash
# One byte of each structure of a finished run is changed: the offline check and the independent one
# both see it, ours says what it is and where, and with the byte put back both are content again.
set -eu
. "$2/tests/cli/lib.sh"

mkdir "$work/d"
cat >"$work/run.ini" <<'INI'
[CONFIG]
TestCycleDuration=1
CheckpointInterval=1
[File1]
FileName=f:\damage.mdx
InitialSize=8
[File2]
FileName=f:\damage.ldx
InitialSize=4
LogFile=TRUE
INI
expect_exit 0 "the run" "$work/out" "$pagestorm" run "$work/run.ini" --dir "$work/d" \
    --out "$work/r" || conclude
data=$work/d/damage.mdx
log=$work/d/damage.ldx

byte_at() {
    od -An -tu1 -j "$2" -N 1 "$1" | tr -d ' '
}

put_byte() {
    printf '%b' "\\$(printf '%03o' "$3")" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

u16_at() {
    echo $(($(byte_at "$1" "$2") + 256 * $(byte_at "$1" $(($2 + 1)))))
}

u32_at() {
    echo $(($(u16_at "$1" "$2") + 65536 * $(u16_at "$1" $(($2 + 2)))))
}

in_log='LOG (TORN|LOST|OLD USE)'

# damage WHAT FILE OFFSET CLASSES PLACE: one bit of the byte; CLASSES and PLACE are patterns of what
# the finding must say.
damage() {
    local what=$1 file=$2 offset=$3 classes=$4 place=$5 before
    before=$(byte_at "$file" "$offset")
    put_byte "$file" "$offset" $((before ^ 0x10))
    [ "$(byte_at "$file" "$offset")" -ne "$before" ] || failed "$what: nothing was changed"
    if expect_exit 1 "$what: verify" "$work/verify" "$pagestorm" verify "$work/r"; then
        grep -E "^($classes) $file " "$work/verify" | grep -q "$place" ||
            failed "$what: no finding says $classes and $place" "$work/verify"
        grep -q '^FAIL: 1 integrity finding$' "$work/verify" ||
            failed "$what: not one finding" "$work/verify"
    fi
    [ -z "$mdfcheck" ] ||
        expect_exit 1 "$what: mdfcheck" "$work/mdfcheck" python3 "$mdfcheck" "$file" || true
    put_byte "$file" "$offset" "$before"
}

page=8192
damage "body of a data page" "$data" $((500 * page + 5000)) 'BIT FLIP' 'page 500 '
damage "header of a data page" "$data" $((501 * page + 0x20)) 'BIT FLIP|HEADER DAMAGE' 'page 501'
damage "stamp of a data page" "$data" $((502 * page + 0x70)) 'BIT FLIP|HEADER DAMAGE' 'page 502'
damage "slot array of a data page" "$data" $((503 * page + 8190)) 'BIT FLIP' 'page 503'
damage "checksum of a data page" "$data" $((504 * page + 0x3C)) 'BIT FLIP|HEADER DAMAGE' 'page 504'
damage "file header" "$data" 600 'BIT FLIP' 'page 0 '
damage "PFS page" "$data" $((1 * page + 1000)) 'BIT FLIP' 'page 1 '
damage "GAM page" "$data" $((2 * page + 200)) 'BIT FLIP' 'page 2 '
damage "boot page" "$data" $((9 * page + 0x1BC)) 'BIT FLIP' 'page 9 '

# The live block that begins a VLF whose use is not the newest, so that newer blocks follow.
vlf=$page
oldest=0
for _ in 1 2 3 4; do
    fseq=$(u32_at "$log" $((vlf + 4)))
    if [ "$fseq" -gt 0 ] && { [ $oldest -eq 0 ] || [ "$fseq" -lt "$oldest_fseq" ]; }; then
        oldest=$vlf
        oldest_fseq=$fseq
    fi
    vlf=$((vlf + $(u32_at "$log" $((vlf + 16)))))
done
block=$((oldest + page))
size=$(u16_at "$log" $((block + 6)))
used=$(u16_at "$log" $((block + 4)))
echo "oldest VLF at $oldest, first block at $block: $size bytes, $used used"
damage "VLF header" "$log" $oldest "$in_log" "offset $oldest)"
damage "header of a log block" "$log" $((block + 0x10)) "$in_log" "offset $block)"
damage "chain record of a log block" "$log" $((block + 0x30 + 0x1C)) "$in_log" "offset $block)"
damage "record array of a log block" "$log" $((block + used - 4)) "$in_log" "offset $block)"
damage "stamp of the last sector of a block" "$log" $((block + size - 512)) "$in_log" \
    "offset $block)"
damage "saved bytes at the end of a log block" "$log" $((block + size - 1)) "$in_log" \
    "offset $block)"

expect_exit 0 "all put back: verify" "$work/verify" "$pagestorm" verify "$work/r" || true
check_independently "all put back" "$data" "$log" "$work/r/result.json"
conclude
