#!/usr/bin/env python3
"""activity_trace.py PAGESTORM FAULTFS [ACTIVITY ...] - the I/O of each activity as it reaches the
disk.

One activity at a time runs on a mount that writes down every operation.  Sizes, order, depth and
durability are compared with what SQL Server does (the table of activities in the reference): the
numbers in the checks are that table's.  Times only tell which phase an operation belongs to.
"""
import json
import os
import subprocess
import sys
from datetime import datetime

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "faultfs"))
from faultfs import Mount, skip_unless_possible  # noqa: E402

PAGE, KIB, MIB = 8192, 1 << 10, 1 << 20
EDGE_NS = 30_000_000  # of a phase, that may belong to the one before or after it
NOBODY = {"RandomUser.UserCount": 0, "AuditUser.UserCount": 0, "ReadAheadUser.UserCount": 0,
          "BulkUpdateUser.UserCount": 0}


class Op:
    def __init__(self, line):
        begin, end, self.name, self.file, offset, size, flags, result = line.split()
        self.begin, self.stop, self.offset, self.size = map(int, (begin, end, offset, size))
        self.end = self.offset + self.size
        self.flags, self.result = set(flags.split(",")), int(result)


class Ops(list):
    """Operations, in the order in which they came."""

    def of(self, name, suffix="", low=0):
        return Ops(op for op in self if op.name == name and op.file.endswith(suffix) and
                   op.offset >= low)

    def sizes(self):
        return {op.size for op in self}

    def depth(self):
        """The most that were in the storage at a time."""
        events = sorted([(op.begin, 1) for op in self] + [(op.stop, -1) for op in self])
        now = most = 0
        for _, step in events:
            now += step
            most = max(most, now)
        return most

    def follow_share(self):
        """Of operations that begin where one of the last 32 ended."""
        follows = sum(any(op.offset == before.end for before in self[max(0, i - 32):i])
                      for i, op in enumerate(self))
        return follows / max(1, len(self))


def check(condition, *what):
    if not condition:
        raise AssertionError(" ".join(map(str, what)))


def check_pages(ops, most):
    check(ops, "nothing was transferred")
    for op in ops:
        check(op.offset % PAGE == 0 and op.size % PAGE == 0 and 0 < op.size <= most,
              op.name, op.file, op.offset, op.size, "is not in pages up to", most)


def check_durable(ops, wanted=True):
    """Past the page cache, and each write durable by itself (write-through)."""
    for op in ops:
        check("direct" in op.flags, op.file, "through the page cache", op.flags)
        check(op.name != "write" or ("dsync" in op.flags) == wanted, op.file, op.flags)


def check_covers(ops, size, start=0):
    """In order, without a gap, from start to size."""
    at = start
    for op in sorted(ops, key=lambda op: op.offset):
        check(op.offset <= at, "a gap at", at)
        at = max(at, op.end)
    check(at >= size, "written to", at, "of", size)


# ---- activities ----

def create_log(ops, result, size):
    """Full stamp of the file, in sequence; never only reserved."""
    writes = ops["create"].of("write", ".ldx")
    check_covers(writes, 4 * MIB)
    large = Ops(op for op in writes if op.size >= 64 * KIB)
    check(sum(op.size for op in large) >= 3 * MIB, "the log was not stamped in large writes")
    check(large.follow_share() > 0.5, "not in sequence")


def create_data_instant(ops, result, size):
    """Instant file initialisation: space is reserved, not written."""
    made = ops["create"]
    check(sum(op.size for op in made.of("write", ".mdx")) < size // 2, "zeros were written")
    check(made.of("fallocate", ".mdx") or made.of("truncate", ".mdx"), "nothing was reserved")


def create_data_stamped(ops, result, size):
    """Zero writes, in sequence (8 MiB chunks; the kernel cuts them to 1 MiB)."""
    writes = ops["create"].of("write", ".mdx")
    check_covers(writes, size)
    check(max(writes.sizes()) >= MIB, "largest write", max(writes.sizes()))


def log_write(ops, result, size):
    """512 B to 60 KiB, in sequence within a virtual log file, each durable by itself."""
    writes = ops["stress"].of("write", ".ldx")
    check(len(writes) > 20, "only", len(writes), "log writes")
    for op in writes:
        check(op.size % 512 == 0 and 512 <= op.size <= 61440, "log write of", op.size)
    check_durable(writes)
    check(not ops["stress"].of("fsync") and not ops["stress"].of("fdatasync"), "a flush")
    check(writes.depth() <= 112, "outstanding", writes.depth())
    # Up to 112 are under way at once, and two workers' may overtake each other on the way here.
    jumps = sum(1 for i, op in enumerate(writes)
                if not any(op.offset == near.end for near in writes[max(0, i - 112):i + 112]))
    check(jumps <= len(writes) // 20 + 2, "the log jumped", jumps, "times in", len(writes))


def log_flush(ops, result, size):
    """Without write-through each log write is made durable by a flush: fdatasync."""
    stress = ops["stress"]
    check_durable(stress.of("write", ".ldx"), wanted=False)
    check(stress.of("fdatasync", ".ldx"), "no flush of the log")
    last = stress.of("write", ".ldx")[-1]
    check(any(op.begin >= last.stop for op in ops["all"].of("fdatasync", ".ldx")),
          "the last log write was not flushed")


def checkpoint(most):
    def judge(ops, result, size):
        """Gather writes of adjacent pages up to the cap, write-through, no flush."""
        # Users change pages in memory; what is written in the main part is the checkpoint's.
        writes = ops["final"].of("write", ".mdx", PAGE * 10)
        check_pages(writes, most)
        check_durable(writes)
        check(max(writes.sizes()) > PAGE, "no page was gathered with its neighbour")
        check(not ops["final"].of("fdatasync", ".mdx"), "a flush of the data file")
    return judge


def lazy_writer(ops, result, size):
    """Cold dirty pages, in the same gather sizes; no checkpoint is under way."""
    writes = ops["stress"].of("write", ".mdx", PAGE * 10)
    check_pages(writes, MIB)
    check_durable(writes)
    check(writes.follow_share() < 0.5, "the lazy writer went through the file in sequence")


def page_read(ops, result, size):
    """8 KiB, random; each user waits for its own."""
    reads = ops["stress"].of("read", ".mdx")
    check_pages(reads, PAGE)
    check(len({op.offset for op in reads}) > 10, "few pages were read")
    check(reads.follow_share() < 0.5, "page reads in sequence:", reads.follow_share())
    check(reads.depth() <= 4, "outstanding", reads.depth(), "of 4 users")


def read_ahead(ops, result, size):
    """Multiples of 8 KiB up to 512 KiB, by disk address."""
    reads = ops["stress"].of("read", ".mdx")
    check_pages(reads, 512 * KIB)
    check(sum(op.size for op in reads) > len(reads) * 4 * PAGE, "reads are short")


def bulk_load(ops, result, size):
    """Eager writes of newly loaded pages in sequence, up to 1 MiB, while the load goes on."""
    writes = ops["stress"].of("write", ".mdx", PAGE * 10)
    check_pages(writes, MIB)
    check_durable(writes)
    mean = sum(op.size for op in writes) / len(writes)
    check(mean >= 64 * KIB, "mean eager write", mean)


def backup(ops, result, size):
    """Transfers of 1 MiB through a ring: reader and writer in sequence."""
    writes = ops["all"].of("write", ".bak")
    check(max(writes.sizes()) == MIB, "largest write", max(writes.sizes()))
    reads = Ops(op for op in ops["stress"].of("read", ".mdx"))
    check_pages(reads, MIB)
    large = Ops(op for op in writes if op.size == MIB)
    check(large and large.follow_share() > 0.5, "the writer is not in sequence")
    check(reads.depth() <= 7, "ring of at most 7 buffers:", reads.depth(), "reads")


def dbcc(ops, result, size):
    """Reads of up to 512 KiB in allocation order, many at a time, past the pool."""
    reads = ops["stress"].of("read", ".mdx")
    check_pages(reads, 512 * KIB)
    check(max(reads.sizes()) == 512 * KIB, "largest read", max(reads.sizes()))
    check_durable(reads)
    check(reads.follow_share() > 0.5, "not in allocation order:", reads.follow_share())


def tempdb_sort(ops, result, size):
    """Runs of 64 KiB written in sequence past the pool, read back by the merge."""
    writes = Ops(op for op in ops["stress"].of("write", "tempdb.mdx") if op.size > PAGE)
    reads = Ops(op for op in ops["stress"].of("read", "tempdb.mdx") if op.size > PAGE)
    check(writes and writes.sizes() == {64 * KIB}, "sort writes", sorted(writes.sizes()))
    check(reads and reads.sizes() == {64 * KIB}, "sort reads", sorted(reads.sizes()))
    check(writes.follow_share() > 0.5, "runs are not in sequence:", writes.follow_share())
    check_durable(writes)


def growth(ops, result, size):
    """Zeros in sequence over the new space, before it is used."""
    zeros = ops["all"].of("write", ".mdx", size)
    check(zeros, "the file did not grow")
    check_covers(zeros, max(op.end for op in zeros), size)
    check(max(zeros.sizes()) == MIB, "largest write", max(zeros.sizes()))


ACTIVITIES = {
    "create, log": ({}, create_log),
    "create, data, instant": ({}, create_data_instant),
    "create, data, stamped": ({"CONFIG.StampFiles": "TRUE"}, create_data_stamped),
    "log write": ({"RandomUser.UserCount": 4, "CONFIG.LogReadBack": 0}, log_write),
    "log flush": ({"RandomUser.UserCount": 4, "CONFIG.WriteThrough": "FALSE"}, log_flush),
    "checkpoint, 2014": ({"RandomUser.UserCount": 4, "CONFIG.SqlServerVersion": 2014},
                         checkpoint(256 * KIB)),
    "checkpoint, 2022": ({"RandomUser.UserCount": 4, "CONFIG.SqlServerVersion": 2022},
                         checkpoint(MIB)),
    "lazy writer": ({"RandomUser.UserCount": 4, "CONFIG.MaxMemoryMB": 4, "--size": "32M",
                     "CONFIG.RecoveryInterval": 3600, "CONFIG.LogUsedCheckpoint": "100%"},
                    lazy_writer),
    "page read": ({"RandomUser.UserCount": 4, "RandomUser.MaxIOChainLength": 1,
                   "RandomUser.JumpToNewRegionPercentage": "100%",
                   "RandomUser.RandomUserReadWriteRatio": "100%", "CONFIG.MaxMemoryMB": 4},
                  page_read),
    "read-ahead": ({"ReadAheadUser.UserCount": 2, "ReadAheadUser.RADelay": 0,
                    "CONFIG.MaxMemoryMB": 4}, read_ahead),
    "bulk load": ({"BulkUpdateUser.UserCount": 1, "CONFIG.SqlServerVersion": 2022}, bulk_load),
    "backup": ({"BackupUser.UserCount": 1, "BackupUser.FullInterval": "1h",
                "BackupUser.Verify": "FALSE"}, backup),
    "DBCC": ({"DbccUser.UserCount": 2, "DbccUser.Snapshot": "FALSE"}, dbcc),
    "tempdb sort": ({"TempDbUser.Sorts": 1, "TempDbUser.SortSize": "4M",
                     "TempDbUser.SortMemory": "1M"}, tempdb_sort),
    "growth": ({"CONFIG.StampFiles": "TRUE", "File1": ("a.mdx", 16, 64, 8),
                "ShrinkUser.MinShrinkInterval": 0, "ShrinkUser.MaxShrinkInterval": 0}, growth),
}


def command_of(pagestorm, mount, settings):
    settings = dict(NOBODY, **settings)
    size = settings.pop("--size", "16M")
    command = [pagestorm, "run"]
    if "File1" in settings:
        name, initial, most, step = settings.pop("File1")
        command.append(os.path.join(mount.work, "c.ini"))
        with open(command[-1], "w", encoding="utf-8") as file:
            file.write(f"[File1]\nFileName={name}\nInitialSize={initial}\nMaxSize={most}\n"
                       f"Increment={step}\nShrinkable=TRUE\n[File2]\nFileName=a.ldx\n"
                       "InitialSize=8\nLogFile=TRUE\n")
    else:
        command += ["--size", size]
    command += ["--dir", mount.dir, "-d", "1", "--quiet", "--set", "CONFIG.Reserve=1",
                "--out", os.path.join(mount.work, "out"),
                "--trace", os.path.join(mount.work, "requests")]
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    return command, int(size[:-1]) * MIB


def nanoseconds(text):
    seconds, fraction = text.split(".")
    return int(seconds) * 1_000_000_000 + int(fraction)


class Requests:
    """The program's own list (--trace): in which phase it asked for a read or write."""

    def __init__(self, path):
        names, self.list = {}, {}
        with open(path, encoding="utf-8") as file:
            for line in file:
                if line.startswith("# file "):
                    _, _, number, name = line.rstrip("\n").split(" ", 3)
                    names[number] = os.path.basename(name)
                if line.startswith("#"):
                    continue
                done, sent, _, _, phase, _, op, number, offset, size, *_ = line.split("\t")
                if op in "RW":
                    self.list.setdefault((op, names[number]), []).append(
                        (nanoseconds(sent), nanoseconds(done), int(offset),
                         int(offset) + int(size), phase))

    def phase_of(self, op):
        """None: not in the list."""
        for sent, done, first, end, phase in self.list.get((op.name[0].upper(), op.file), []):
            if sent <= op.begin and op.stop <= done and first <= op.offset and op.end <= end:
                return phase
        return None


def phases_of(result, lines, requests):
    """{phase: operations within it}; the rest goes by time."""
    ops = Ops(sorted(map(Op, lines), key=lambda op: op.begin))
    asked = {id(op): requests.phase_of(op) for op in ops if op.name in ("read", "write")}
    at = datetime.fromisoformat(result["run"]["started"].replace("Z", "+00:00")).timestamp() * 1e9
    found = {"all": ops}
    for phase in result["run"]["phases"]:
        end, name = at + phase["seconds"] * 1e9, phase["name"]
        edge = EDGE_NS if name == "stress" else -EDGE_NS
        found[name] = Ops(op for op in ops if asked.get(id(op)) == name or (
            asked.get(id(op)) is None and at + edge <= op.begin < end - edge))
        if name == "stress":
            found["final"] = Ops(op for op in ops if op.begin >= at)
        at = end
    return found


def run(pagestorm, binary, name):
    settings, judge = ACTIVITIES[name]
    with Mount(binary) as mount:
        command, size = command_of(pagestorm, mount, settings)
        path = os.path.join(mount.work, "trace")
        mount.tell(f"trace on {path}")
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
        mount.tell("trace off")
        check(done.returncode == 0, "exit", done.returncode, done.stdout[-1500:], done.stderr)
        with open(os.path.join(mount.work, "out", "result.json"), encoding="utf-8") as file:
            result = json.load(file)
        with open(path, encoding="utf-8") as lines:
            requests = Requests(os.path.join(mount.work, "requests"))
            ops = phases_of(result, lines, requests)
        judge(ops, result, size)
        return f"{len(ops['all'])} operations"


def main():
    pagestorm, binary, *names = sys.argv[1:]
    skip_unless_possible(binary)
    failures = 0
    for name in names or ACTIVITIES:
        try:
            print(f"ok      {name}: {run(pagestorm, binary, name)}", flush=True)
        except AssertionError as error:
            print(f"FAILED  {name}: {error}", flush=True)
            failures += 1
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
