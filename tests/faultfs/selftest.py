#!/usr/bin/env python3
"""selftest.py FAULTFS COPY OPERATIONS - does the file system do what the rules say, and no more?

Expected bytes are worked out here, from what the test wrote itself.
"""
import errno
import mmap
import os
import random
import subprocess
import sys
import threading

from faultfs import Mount, Refused, skip_unless_possible

PAGE = 8192
SECTOR = 512
PAGES = 64


def page(number, version=1):
    """Position-dependent content that differs in every sector."""
    word = b"".join((number * 1000003 + version * 7919 + i).to_bytes(8, "little")
                    for i in range(SECTOR // 8))
    return b"".join((i + 1).to_bytes(8, "little") + word[8:] for i in range(PAGE // SECTOR))


class File:
    """O_DIRECT, through an aligned buffer."""

    def __init__(self, path, flags=0, size=PAGES * PAGE):
        self.fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_DIRECT | flags, 0o600)
        self.buffer = mmap.mmap(-1, 1 << 20)
        if size and os.fstat(self.fd).st_size < size:
            os.ftruncate(self.fd, size)

    def write(self, offset, data, flags=0):
        self.buffer[:len(data)] = data
        with memoryview(self.buffer) as whole, whole[:len(data)] as view:
            return os.pwritev(self.fd, [view], offset, flags)

    def read(self, offset, length=PAGE):
        with memoryview(self.buffer) as whole, whole[:length] as view:
            n = os.preadv(self.fd, [view], offset)
            return bytes(view[:n])

    def fill(self, version=1):
        for number in range(PAGES):
            assert self.write(number * PAGE, page(number, version)) == PAGE

    def wrong(self, version=1):
        """{page: content} of those that are not as written."""
        found = ((number, self.read(number * PAGE)) for number in range(PAGES))
        return {number: data for number, data in found if data != page(number, version)}

    def close(self):
        os.close(self.fd)


def errno_of(function, *arguments):
    try:
        function(*arguments)
    except OSError as error:
        return error.errno
    return 0


def flipped(data, offset, mask):
    return data[:offset] + bytes([data[offset] ^ mask]) + data[offset + 1:]


def check(condition, *what):
    if not condition:
        raise AssertionError(" ".join(map(str, what)))


def check_event(mount, kind, states, count=1):
    events = [e for e in mount.truth() if e["class"] == kind]
    check(len(events) == count, kind, "events", len(events), "not", count)
    for event in events:
        found = [place["state"] for place in event["places"]]
        check(found == states, kind, "places are", found, "not", states)
    return events


# ---- classes on write: the third write of page 5 is hit; what is read afterwards ----

def written_cases():
    """(class, keys, {page: expected content}, states of its places)"""
    old, new = page(5, 2), page(5, 3)
    half = PAGE // 2
    torn = b"".join((new if i in (0, 3) else old)[i * SECTOR:(i + 1) * SECTOR]
                    for i in range(PAGE // SECTOR))
    seen = ["seen"]
    yield "zero", {}, {5: bytes(PAGE)}, seen
    yield "zero", {"at": half, "length": half}, {5: new[:half] + bytes(half)}, seen
    yield "torn", {}, {5: new[:half] + old[half:]}, seen
    yield "torn", {"mask": "9"}, {5: torn}, seen
    yield "lost", {}, {5: old}, seen
    yield "misdir", {"d": 2 * PAGE}, {5: old, 7: new}, seen * 2
    yield "misdir", {"d": -2 * PAGE}, {5: old, 3: new}, seen * 2
    yield "dup", {"d": 3 * PAGE}, {8: new}, seen
    yield "stale", {}, {5: old}, seen
    yield "old", {"snap": "early"}, {5: page(5, 1)}, seen


def expect(file, expected, latest):
    for number in range(PAGES):
        right = expected.get(number, page(number, 3 if number == 5 else latest))
        data = file.read(number * PAGE)
        check(data == right, "page", number, "is not as expected")


def test_writes(binary):
    for mode in (0, 1):
        for kind, keys, expected, states in written_cases():
            with Mount(binary) as mount:
                file = File(mount.path("a"))
                file.fill(1)
                mount.tell("snapshot early")
                rule = mount.add("w", kind, "a", 5 * PAGE, 6 * PAGE, nth=2, overlay=mode, **keys)
                file.fill(2)
                check(not file.wrong(2), kind, "fired too early")
                file.write(5 * PAGE, page(5, 3))
                expect(file, expected, 2)
                check(mount.rules()[rule] == (1, 2), kind, "fired/matched", mount.rules()[rule])
                check_event(mount, kind, states)
                if mode:
                    mount.tell("overlay off")
                    expect(file, {}, 2)
                    mount.tell("overlay on")
                    expect(file, {} if kind == "stale" else expected, 2)
                file.write(5 * PAGE, page(5, 3))
                check(file.read(5 * PAGE) == page(5, 3), kind, "after the next write")
                file.close()


def test_drawn(binary):
    """Bits and garbage: as many bits as said, at the place that is said."""
    with Mount(binary) as mount:
        file = File(mount.path("a"))
        mount.add("w", "bitflip", "a", 0, PAGE, at=100)
        mount.add("w", "bitflip", "a", PAGE, 2 * PAGE, bits=3, at=200)
        mount.add("w", "garbage", "a", 2 * PAGE, 3 * PAGE, at=512, length=1024)
        mount.add("w", "neighbour", "a", 3 * PAGE, 4 * PAGE, d=1, length=512)
        mount.add("w", "neighbour", "a", 8 * PAGE, 9 * PAGE, d=-1, length=1024, nth=2)
        for number in (4, 7, 0, 1, 2, 3, 8, 8):
            file.write(number * PAGE, page(number))
        for number, bits, span in ((0, 1, 1), (1, 3, 2)):
            data, good = file.read(number * PAGE), page(number)
            changed = [i for i in range(PAGE) if data[i] != good[i]]
            at = 100 * (number + 1)
            check(changed and set(changed) <= set(range(at, at + span)), "changed", changed)
            check(sum(bin(data[i] ^ good[i]).count("1") for i in changed) == bits, "bits")
        for number, low, high in ((2, 512, 1536), (4, 0, 512), (7, PAGE - 1024, PAGE)):
            data, good = file.read(number * PAGE), page(number)
            check(data[:low] == good[:low] and data[high:] == good[high:], number, "outside")
            check(data[low:high] != good[low:high], number, "inside")
        check(file.read(3 * PAGE) == page(3) and file.read(8 * PAGE) == page(8), "neighbours")
        file.close()


def test_counts(binary):
    """A rule fires COUNT times, from the NTH match on, each EVERYth; and for each file alone."""
    with Mount(binary) as mount:
        for count, nth, every in ((1, 1, 1), (7, 3, 1), (5, 2, 4), (3, 10, 7)):
            file = File(mount.path("a"))
            other = File(mount.path("b"))
            rule = mount.add("w", "zero", "a", nth=nth, count=count, every=every)
            for number in range(PAGES):
                other.write(number * PAGE, page(number))
                file.write(number * PAGE, page(number))
            wrong = sorted(file.wrong())
            check(wrong == [nth - 1 + i * every for i in range(count)], "hit", wrong)
            check(mount.rules()[rule][0] == count, "fired", mount.rules()[rule])
            check(not other.wrong(), "another file was hit")
            mount.tell(f"clear {rule}")
            file.close()
            other.close()
            os.unlink(mount.path("a"))
            os.unlink(mount.path("b"))


def test_units(binary):
    """A large request: one unit of it; a second fault never over the first."""
    with Mount(binary) as mount:
        file = File(mount.path("a"))
        rule = mount.add("w", "zero", "a", count=1000, unit=PAGE, seed=7)
        for _ in range(3):
            for number in range(0, PAGES, 16):
                file.write(number * PAGE, b"".join(page(number + i) for i in range(16)))
        wrong = file.wrong()
        check(all(data == bytes(PAGE) for data in wrong.values()), "more or less than zeros")
        events = check_event(mount, "zero", ["seen"], 12) if len(wrong) == 12 else mount.truth()
        seen = [e["places"][0]["offset"] // PAGE for e in events
                if e["places"][0]["state"] == "seen"]
        check(sorted(seen) == sorted(wrong), "the log says", seen, "and the file", sorted(wrong))
        check(mount.rules()[rule][0] == len(events) == 12, "fired", mount.rules())
        masked = [e for e in events if e["places"][0]["state"] == "masked"]
        check(len(masked) + len(seen) == 12, "neither seen nor masked")
        file.close()


def test_apart(binary):
    """A read that is repeated is left alone; the next place is hit."""
    with Mount(binary) as mount:
        file = File(mount.path("a"))
        file.fill()
        rule = mount.add("r", "zero", "a", count=3, apart=1)
        found = [file.read(number * PAGE) for number in (0, 0, 1, 0, 1, 2, 2, 3)]
        hit = [i for i, data in enumerate(found) if data == bytes(PAGE)]
        check(hit == [0, 2, 5] and mount.rules()[rule][0] == 3, "hit", hit)
        file.close()


def test_replay(binary):
    with Mount(binary) as mount:
        file = File(mount.path("a"))
        file.fill(1)
        mount.add("w", "replay", "a", 5 * PAGE, 6 * PAGE)
        file.write(5 * PAGE, page(5, 2))
        check(file.read(5 * PAGE) == page(5, 2), "too early")
        file.write(5 * PAGE, page(5, 3))
        check(file.read(5 * PAGE) == page(5, 2), "not written again")
        check_event(mount, "replay", ["seen"])
        file.close()


def test_files(binary):
    """A write, and a read, that end in another file."""
    with Mount(binary) as mount:
        file, other = File(mount.path("a")), File(mount.path("b"))
        file.fill(1)
        other.fill(2)
        mount.add("w", "misfile", "a", 5 * PAGE, 6 * PAGE, file="b")
        mount.add("r", "misreadfile", "a", 9 * PAGE, 10 * PAGE, file="b")
        mount.add("r", "misread", "a", 11 * PAGE, 12 * PAGE, d=PAGE)
        file.write(5 * PAGE, page(5, 3))
        check(file.read(5 * PAGE) == page(5, 1) and other.read(5 * PAGE) == page(5, 3), "misfile")
        for number, first in ((9, page(9, 2)), (11, page(12, 1))):
            check(file.read(number * PAGE) == first, "once", number)
            check(file.read(number * PAGE) == page(number, 1), "the next time", number)
        check_event(mount, "misfile", ["seen", "seen"])
        file.close()
        other.close()


def test_reads(binary):
    with Mount(binary) as mount:
        file = File(mount.path("a"))
        file.fill()
        mount.add("r", "bitflip", "a", 0, PAGE, count=2, at=5)
        mount.add("r", "zero", "a", PAGE, 2 * PAGE, overlay=1)
        mount.add("r", "short", "a", 2 * PAGE, 3 * PAGE, keep=1024)
        for _ in range(2):
            data, good = file.read(0), page(0)
            check(data[:5] + data[6:] == good[:5] + good[6:] and data[5] != good[5], "flip")
        check(file.read(0) == page(0), "the third read")
        check(file.read(PAGE) == file.read(PAGE) == bytes(PAGE), "overlay stays")
        mount.tell("overlay off")
        check(file.read(PAGE) == page(1), "overlay off")
        check(file.read(2 * PAGE) == page(2)[:1024], "short read")
        check(file.read(2 * PAGE) == page(2), "after the short read")
        file.close()


def test_errors(binary):
    with Mount(binary, volatile=True) as mount:
        file = File(mount.path("a"))
        file.fill(1)
        os.fsync(file.fd)
        mount.add("r", "eio", "a", 0, PAGE, count=2)
        mount.add("r", "eio", "a", 3 * PAGE, 4 * PAGE, sticky=1)
        mount.add("w", "enospc", "a", PAGE, 2 * PAGE)
        mount.add("w", "edquot", "a", 2 * PAGE, 3 * PAGE)
        found = [errno_of(file.read, 0) for _ in range(3)]
        check(found == [errno.EIO, errno.EIO, 0], "reads", found)
        found = [errno_of(file.read, 3 * PAGE) for _ in range(3)]
        check(found == [errno.EIO] * 3, "sticky", found)
        check(errno_of(file.write, 3 * PAGE, page(3)) == 0, "write over a bad sector")
        check(file.read(3 * PAGE) == page(3), "a bad sector heals when it is written")
        check(errno_of(file.write, PAGE, page(1, 9)) == errno.ENOSPC, "ENOSPC")
        check(errno_of(file.write, 2 * PAGE, page(2, 9)) == errno.EDQUOT, "EDQUOT")
        check(not file.wrong(1), "a write that failed changed something")
        # A flush that fails once loses what it held, and the next one is well.
        mount.add("s", "eio", "a")
        file.write(0, page(0, 2))
        check(errno_of(os.fsync, file.fd) == errno.EIO, "flush")
        check(errno_of(os.fsync, file.fd) == 0, "flush again")
        check(file.read(0) == page(0, 1), "what the failed flush held")
        file.close()


def test_wrap_truncate_rollback(binary):
    with Mount(binary) as mount:
        file = File(mount.path("a"))
        mount.add("w", "wrap", "a", modulus=16 * PAGE)
        file.fill(1)
        for number in range(PAGES):
            last = PAGES - 16 + number % 16
            check(file.read(number * PAGE) == page(last), "wrapped page", number)
        check(mount.truth()[0]["places"][0]["reads"] == PAGES - 16, "reads of another's content")
        file.close()
        file = File(mount.path("b"))
        file.fill(1)
        check(mount.tell("snapshot one") == "2", "files of the snapshot")
        file.fill(2)
        check(mount.tell("rollback one b") == "1", "files that went back")
        check(not file.wrong(1), "not as in the snapshot")
        mount.tell(f"truncate b {10 * PAGE}")
        check(os.fstat(file.fd).st_size == 10 * PAGE, "size")
        check(file.read(10 * PAGE) == b"", "beyond the end")
        file.close()


def test_masked(binary):
    """Written again, cut off or removed before anybody read it."""
    with Mount(binary) as mount:
        file = File(mount.path("a"))
        mount.add("w", "zero", "a", count=4)
        for number in range(4):
            file.write(number * PAGE, page(number))
        file.write(0, page(0, 2))
        os.ftruncate(file.fd, 2 * PAGE)
        states = [e["places"][0]["state"] for e in mount.truth()]
        check(states == ["masked", "open", "masked", "masked"], states)
        # The bytes that stood there are no damage.
        mount.tell("clear")
        os.ftruncate(file.fd, PAGES * PAGE)
        mount.add("w", "zero", "a", 10 * PAGE, 11 * PAGE)
        file.write(10 * PAGE, bytes(PAGE))
        check(mount.truth()[-1]["places"][0]["state"] == "none", mount.truth()[-1])
        file.close()
        os.unlink(mount.path("a"))
        check(mount.truth()[1]["places"][0]["state"] == "masked", "removed")


def test_alignment(binary):
    for align in (512, 4096):
        with Mount(binary, align=align) as mount:
            file = File(mount.path("a"))
            check(errno_of(file.write, align, bytes(align)) == 0, "aligned", align)
            check(errno_of(file.write, align // 2, bytes(align)) == errno.EINVAL, "offset", align)
            check(errno_of(file.write, 0, bytes(align // 2)) == errno.EINVAL, "length", align)
            check(errno_of(file.read, align // 2, align) == errno.EINVAL, "read", align)
            cached = os.open(mount.path("a"), os.O_RDWR)
            check(os.pwrite(cached, b"xyz", 7) == 3, "cached writes need none")
            os.close(cached)
            file.close()


def test_freeze(binary):
    """64 requests of one file wait at the same time: reads, and writes of threads."""
    with Mount(binary) as mount:
        File(mount.path("a")).close()
        for write in (False, True):
            mount.tell("freeze a")

            def one(number, write=write):
                file = File(mount.path("a"), size=0)
                if write:
                    file.write(number * PAGE, page(number))
                else:
                    file.read(number * PAGE)
                file.close()

            threads = [threading.Thread(target=one, args=(i,)) for i in range(64)]
            for thread in threads:
                thread.start()
            while mount.stat()["waiting"] < 64:
                pass  # the time limit of the test ends it
            mount.tell("thaw")
            for thread in threads:
                thread.join()
        file = File(mount.path("a"))
        check(not file.wrong(), "writes after the thaw")
        mount.add("rw", "delay", "a", ms=1, count=3)
        file.fill()
        check(len(mount.truth()) == 3, "delays")
        file.close()


def test_daemon_gone(binary):
    with Mount(binary) as mount:
        file = File(mount.path("a"))
        mount.kill()
        found = errno_of(file.read, 0)
        check(found in (errno.ENOTCONN, errno.ECONNABORTED), "errno", found)


def test_refusals(binary):
    with Mount(binary) as mount:
        for words in ("w nothing * 0 end 1 1", "r lost * 0 end 1 1", "w lost * 0 end 0 1",
                      "w lost * 8 8 1 1", "w lost * 0 end 1", "w misdir * 0 end 1 1",
                      "w zero * 0 end 1 1 at=x", "w zero * 0 end 1 1 colour=2",
                      "w old * 0 end 1 1", "w zero * 0 end 1 1 unit=100", "x lost * 0 end 1 1"):
            try:
                mount.tell("add " + words)
            except Refused:
                continue
            raise AssertionError(f"taken: {words}")
        check(mount.rules() == {}, "rules")


# ---- power ----

def cut(mount, mode, seed):
    answer = mount.tell(f"cut {mode} {seed}")
    return {key: int(value) for key, value in (word.split("=") for word in answer.split())}


def sectors_of(data):
    return [data[i:i + SECTOR] for i in range(0, len(data), SECTOR)]


def test_fua(binary):
    """O_DSYNC and RWF_DSYNC writes are durable alone; a plain one is not."""
    with Mount(binary, volatile=True) as mount:
        plain = File(mount.path("a"))
        plain.fill(1)
        os.fdatasync(plain.fd)
        durable = File(mount.path("a"), os.O_DSYNC)
        before = mount.stat()["fua"]
        plain.write(0, page(0, 2))
        durable.write(PAGE, page(1, 2))
        plain.write(2 * PAGE, page(2, 2), os.RWF_DSYNC)
        plain.write(3 * PAGE, page(3, 2))
        durable.write(3 * PAGE, page(3, 3))  # over one that is not
        check(mount.stat()["fua"] - before == 3, "FUA writes", mount.stat())
        cut(mount, "all", 1)
        check(errno_of(plain.read, 0) == errno.EIO, "without power")
        mount.tell("on")
        found = [plain.read(i * PAGE) for i in range(4)]
        check(found == [page(0, 1), page(1, 2), page(2, 2), page(3, 3)], "after the cut")
        check(not set(plain.wrong(1)) - {1, 2, 3}, "more was lost")
        plain.close()
        durable.close()


def test_cuts(binary):
    """Each mode against the set of contents that it may leave."""
    rng = random.Random(11)
    dropped = torn = 0
    for mode in ("all", "prefix", "random", "torn", "keepall"):
        with Mount(binary, volatile=True) as mount:
            file = File(mount.path("a"))
            file.fill(1)
            os.fsync(file.fd)
            held = [page(i, 1) for i in range(PAGES)]
            for seed in range(20):
                versions, order = {i: [held[i]] for i in range(PAGES)}, []
                for version in range(rng.randrange(1, 30)):
                    number = rng.randrange(PAGES)
                    data = page(number, 100 * seed + version + 2)
                    file.write(number * PAGE, data)
                    versions[number].append(data)
                    order.append((number, data))
                counts = cut(mount, mode, seed)
                check(counts["pending"] == len(order), counts)
                mount.tell("on")
                now = [file.read(i * PAGE) for i in range(PAGES)]
                check_cut(mode, counts, now, held, versions, order)
                dropped += counts["dropped"]
                torn += counts["torn"]
                held = now
            file.close()
    check(dropped and torn, "no write was dropped or torn: the test shows nothing")


def check_cut(mode, counts, now, held, versions, order):
    if mode == "all":
        check(now == held, "something survived")
    elif mode == "keepall":
        check(now == [versions[i][-1] for i in range(PAGES)], "something was lost")
    elif mode == "prefix":
        expected = list(held)
        for number, data in order[:counts["kept"]]:
            expected[number] = data
        check(now == expected, "not the first", counts["kept"])
    elif mode == "random":
        check(all(now[i] in versions[i] for i in range(PAGES)), "never written so")
    else:
        for i in range(PAGES):
            for s, sector in enumerate(sectors_of(now[i])):
                check(sector in [sectors_of(v)[s] for v in versions[i]], "sector", i, s)


def test_lies(binary):
    """A flush that lies, and a device that keeps what came behind it."""
    for mode, kept in (("all", []), ("reorder", [1]), ("keepall", [0, 1])):
        with Mount(binary, volatile=True) as mount:
            file = File(mount.path("a"))
            file.fill(1)
            os.fsync(file.fd)
            mount.tell("liefsync 1")
            file.write(0, page(0, 2))
            check(errno_of(os.fsync, file.fd) == 0, "the lie")
            file.write(PAGE, page(1, 2))
            cut(mount, mode, 1)
            mount.tell("on")
            found = [i for i in (0, 1) if file.read(i * PAGE) == page(i, 2)]
            check(found == kept, mode, "kept", found)
            check(not set(file.wrong(1)) - {0, 1}, "flushed before the lie")
            file.close()


def test_trace(binary):
    with Mount(binary) as mount:
        path = os.path.join(mount.work, "trace")
        file = File(mount.path("a"), os.O_DSYNC)
        mount.tell("trace on " + path)
        file.write(PAGE, page(1))
        file.read(0, 2 * PAGE)
        os.fsync(file.fd)
        os.fdatasync(file.fd)
        mount.tell("trace off")
        with open(path, encoding="utf-8") as lines:
            found = [line.split()[2:] for line in lines]
        expected = [["write", "a", "8192", "8192", "direct,dsync", "8192"],
                    ["read", "a", "0", "16384", "direct,dsync", "16384"],
                    ["fsync", "a", "0", "0"], ["fdatasync", "a", "0", "0"]]
        check([line[:len(wanted)] for line, wanted in zip(found, expected)] == expected, found)
        check(len(found) == 4, found)
        file.close()


def test_copy(binary, copy, operations):
    for volatile in (False, True):
        with Mount(binary, volatile=volatile) as mount:
            share = operations // 2
            done = subprocess.run([copy, mount.dir, str(share), "42", "4", mount.backing],
                                  capture_output=True, text=True, check=False)
            check(done.returncode == 0, done.stderr)
            check(mount.stat()["events"] == 0, "a fault without a rule")
            print(f"  volatile cache {'on' if volatile else 'off'}: {done.stdout.strip()}")


def main():
    binary, copy, operations = sys.argv[1], sys.argv[2], int(sys.argv[3])
    skip_unless_possible(binary)
    tests = [value for name, value in globals().items()
             if name.startswith("test_") and value is not test_copy]
    failures = 0
    for test in tests + [test_copy]:
        try:
            test(*([binary, copy, operations] if test is test_copy else [binary]))
            print(f"ok      {test.__name__}")
        except (AssertionError, OSError, RuntimeError, Refused) as error:
            print(f"FAILED  {test.__name__}: {error!r}")
            failures += 1
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
