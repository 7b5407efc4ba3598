#!/usr/bin/env bash
# test_evidence.sh - what a storage vendor gets of a page that somebody damaged on the disk: the
# sector, its place on the device as an independent tool finds it, the images, what was done to it.
#
# The damage is of a run's own file, by a write past the page cache while it goes: sector 3 of some
# pages.  The run must not see who did it (WatchFiles).
. "$2/tests/cli/common.sh"
command -v python3 >/dev/null || skip "python3 is not installed"
PAGES="1500 1501 1650 1750 1900 2020"

"$PAGESTORM" run --dir "$DIR" --size 16M -d 2 --set CONFIG.Reserve=1 --set CONFIG.WatchFiles=FALSE \
    --stop-on-error=no \
    --set BulkUpdateUser.UserCount=0 --set RandomUser.UserCount=1 \
    --out "$WORK/r" >"$WORK/out" 2>"$WORK/err" </dev/null &
CHILD=$!
for _ in $(seq 600); do
    grep -q "initial update: done" "$WORK/out" && break
    sleep 0.05
done
for page in $PAGES; do
    dd if=/dev/urandom of="$DIR/sqliosim.mdx" bs=512 seek=$((page * 16 + 3)) count=1 \
        conv=notrunc,nocreat oflag=direct status=none 2>>"$WORK/err" ||
        skip "no write past the page cache of 512 bytes here"
done
wait "$CHILD"
RC=$?
CHILD=
[ "$RC" -eq 1 ] || fail "exit code $RC instead of 1"

if command -v filefrag >/dev/null; then
    filefrag -e -b512 "$DIR/sqliosim.mdx" >"$WORK/frag" 2>/dev/null || rm -f "$WORK/frag"
fi
python3 - "$WORK" "$PAGES" <<'PY' || fail "the evidence is not as it should be"
import html, json, os, re, sys
work, pages = sys.argv[1], list(map(int, sys.argv[2].split()))
result = json.load(open(f"{work}/r/result.json"))
xml = html.unescape(open(f"{work}/r/sqliosim.log.xml").read())
found = [f for f in result["integrity"]["findings"] if f["severity"] == "integrity"]
assert found, "no finding"
frag = []
if os.path.exists(f"{work}/frag"):
    for line in open(f"{work}/frag"):
        m = re.match(r"\s*\d+:\s*(\d+)\.\.\s*(\d+):\s*(\d+)\.\.", line)
        if m:
            frag.append(tuple(map(int, m.groups())))
for f in found:
    assert f["page"] in pages, f
    stem = f"{work}/r/evidence/" + f["evidence"][:-len(".txt")]
    text = open(stem + ".txt").read()
    read, owed = open(stem + ".bin", "rb").read(), open(stem + "-expected.bin", "rb").read()
    assert len(read) == len(owed) == 8192
    wrong = [s for s in range(1, 16) if read[s * 512:s * 512 + 512] != owed[s * 512:s * 512 + 512]]
    assert wrong == [3], (wrong, f)
    last = open(stem + "-last.bin", "rb").read() if not f["healed"] else read
    assert last[3 * 512:4 * 512] == read[3 * 512:4 * 512], "the last wrong image"
    assert os.path.exists(stem + "-good.bin") == f["healed"]

    stored = int.from_bytes(read[0x3C:0x40], "little")
    sql = (f"SQL Server detected a logical consistency-based I/O error: incorrect checksum "
           f"(expected: 0x{stored:08x}; actual: 0x")
    where = (f"during a read of page (1:{f['page']}) in database ID {{}} at offset "
             f"0x{f['offset']:014x} in file '{f['file']}'.")
    for words in (f["sql_message"], text, xml):
        assert sql in words, words[:3000]
        assert any(where.format(n) in words for n in range(1, 33)), words[:3000]
    assert f["sql_message"].startswith("Error: 824, Severity: 24, State: 2.\n")

    rows = [line.split() for line in text.split("requests that touched these bytes")[1]
            .split("\n\n")[0].splitlines()[2:]]
    times = [row[0] + row[1] for row in rows]
    assert times == sorted(times), "in order of submission"
    spans = [(row[3], int(row[4]), int(row[5])) for row in rows]
    assert all(o < f["offset"] + 8192 and f["offset"] < o + n for _, o, n in spans), spans
    assert any(op == "write" for op, _, _ in spans), "somebody wrote the page"
    reads = [1 for op, o, n in spans if op == "read" and (o, n) == (f["offset"], 8192)]
    assert len(reads) >= f["retries"], (len(reads), f["retries"])

    if f["device"]:
        device = f["device"]
        assert device["offset"] // device["sector_bytes"] == device["lba"]
        bad = re.search(r"^sector 3  = .    /dev/(\S+), byte (\d+) \(LBA (\d+)\)$", text, re.M)
        assert bad and bad[1] == device["name"], text[:2000]
        sector = f["offset"] // 512 + 3
        for first, end, physical in frag:
            if first <= sector <= end:
                on_fs = re.search(r"^device +/dev/(\S+), byte (\d+) ", text, re.M)
                assert int(on_fs[2]) // 512 == physical + sector - 3 - first, (on_fs[0], physical)
                break
        else:
            assert not frag, "filefrag knows no extent of the sector"
    else:
        assert "device           not known: " in text, text[:600]
print(len(found), "findings, device", found[0]["device"], len(frag), "extents by filefrag")
PY
