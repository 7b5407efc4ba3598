#!/usr/bin/env python3
"""faultfs_inject.py PAGESTORM FAULTFS ENGINE [CASE ...] - whole runs on storage that lies.

Each case is one short run on a mount with rules.  What the run reports is compared with the
mount's truth log:

- A fault counts when its sectors were read before they were written again, and not while they were
  being written, when the program rightly drops what it read.  A request is under way from its
  submission to its completion as the program has them (--trace), which may be long after the mount
  has answered; for those that are not in that trace QUIET_NS is added.  The others may be found all
  the same.
- Behind a damaged log block the chain is broken: the rest of that virtual log file need not be
  told apart.  What a virtual log file holds of its earlier use is dead: it is read with the rest,
  and owed to nobody.
- Every fault that counts must be found, at its place, by a name that the evidence allows
  (NAMES, from the list of irreducible ambiguities).
- Nothing else may be found.
"""
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "faultfs"))
from faultfs import Mount, skip_unless_possible  # noqa: E402

PAGE = 8192
QUIET_NS = 50_000_000
SUBMIT_NS = 1_000_000  # from the ledger to the submission, from the completion to the ledger
VLF = 4 << 20  # of a log of 16 MiB
LOG_BYTES = 16 << 20
END = "end"

# What a fault may be called.  A write that went elsewhere is a lost one where only its home is
# seen; one that came again before the newer was ever read cannot be told from a lost one.
NAMES = {
    ("w", "bitflip"): {"bit_flip", "header_damage"},
    ("w", "zero"): {"zeroed"},
    ("w", "garbage"): {"garbage"},
    ("w", "torn"): {"torn_page"},
    ("w", "lost"): {"lost_write"},
    ("w", "misdir"): {"misdirected_write", "lost_write"},
    ("w", "misfile"): {"misdirected_write", "lost_write"},
    ("w", "dup"): {"misdirected_write", "replayed_write"},
    ("w", "neighbour"): {"garbage", "neighbour_damage"},
    ("w", "replay"): {"lost_write", "replayed_write"},
    ("w", "stale"): {"stale_read"},
    ("w", "old"): {"old_data"},
    ("r", "bitflip"): {"transient_damage"},
    ("r", "zero"): {"transient_damage"},
    ("r", "garbage"): {"transient_damage"},
    ("r", "misread"): {"misdirected_read"},
    ("r", "eio"): {"read_retry"},
    ("r", "short"): {"short_io"},
    ("w", "eio"): {"write_error"},
}
STICKY = {("r", "eio"): {"unreadable"}, ("r", "bitflip"): {"bit_flip", "header_damage"},
          ("r", "zero"): {"zeroed"}}
LOG = {
    "bitflip": {"log_torn"},
    "zero": {"zeroed", "log_torn", "log_lost"},
    "garbage": {"log_torn", "garbage"},
    "torn": {"log_torn", "log_lost", "log_old_use"},
    "lost": {"log_lost", "log_old_use"},
}


class Case:
    def __init__(self, name, options, rules, config=None, earlier=False):
        self.name, self.options, self.rules = name, options, rules
        self.config, self.earlier = config, earlier


def pages(glob, *rules, first=16):
    """Rules on pages: one page of a request each, behind the file's first system pages."""
    return [(ops, kind, glob, first * PAGE, END, nth, count, dict(keys, unit=PAGE, seed=seed))
            for seed, (ops, kind, nth, count, keys) in enumerate(rules, 1)]


def whole(glob, *rules, first=16):
    return [(ops, kind, glob, first * PAGE, END, nth, count, keys)
            for ops, kind, nth, count, keys in rules]


SPREAD = {"every": 7}
OVER = {"every": 7, "over": 1}
DATA = pages(
    "*.mdx",
    ("w", "bitflip", 20, 5, SPREAD), ("w", "zero", 22, 4, SPREAD), ("w", "garbage", 24, 4, SPREAD),
    ("w", "zero", 25, 2, dict(SPREAD, at=4096, length=4096)),
    ("w", "torn", 26, 3, OVER), ("w", "torn", 27, 3, dict(OVER, mask="f0f1")),
    ("w", "lost", 28, 5, OVER), ("w", "misdir", 30, 3, dict(OVER, d=160 * PAGE)),
    ("w", "dup", 32, 3, dict(OVER, d=-176 * PAGE)), ("w", "replay", 34, 3, OVER),
    ("w", "neighbour", 36, 2, dict(OVER, d=1, length=PAGE)), ("w", "stale", 38, 4, OVER),
    ("w", "lost", 40, 3, dict(OVER, overlay=1)), ("w", "bitflip", 41, 2, dict(OVER, overlay=1)))
APART = {"every": 7, "apart": 1}
READS = pages(
    "*.mdx",
    ("r", "bitflip", 30, 6, APART), ("r", "zero", 32, 5, APART), ("r", "garbage", 34, 5, APART),
    ("r", "misread", 36, 6, dict(APART, over=1, d=40 * PAGE))) + whole(
        "*.mdx", ("r", "eio", 50, 4, APART), ("r", "short", 55, 3, dict(APART, size_min=PAGE)))
STICKY_READS = pages(
    "*.mdx", ("r", "bitflip", 40, 4, dict(APART, overlay=1)),
    ("r", "zero", 42, 4, dict(APART, overlay=1)), ("r", "eio", 44, 4, dict(APART, sticky=1)))
LOGS = [("w", kind, "*.ldx", 32 * PAGE, END, nth, 3, dict(keys, every=260))
        for kind, nth, keys in (("garbage", 200, {"length": 100, "at": 100}),
                                ("torn", 250, {"size_min": 1024, "mask": "1"}),
                                ("lost", 300, {}), ("bitflip", 350, {}), ("zero", 400, {}))]
LOAD = ["--size", "32M", "-d", "2"]
TEMPDB_LOAD = ["--size", "16M", "-d", "2", "--set", "TempDbUser.Sorts=2", "--set",
               "TempDbUser.SortSize=8M", "--set", "TempDbUser.SortMemory=1M", "--set",
               "TempDbUser.Hashes=1", "--set", "TempDbUser.HashSize=8M", "--set",
               "TempDbUser.VersionStoreRate=200"]
TEMPDB = pages(
    "tempdb*.mdx",
    ("w", "bitflip", 5, 5, {"every": 9}), ("w", "zero", 6, 5, {"every": 9}),
    ("w", "garbage", 7, 5, {"every": 9}), ("w", "lost", 8, 5, {"every": 9, "over": 1}),
    ("w", "torn", 9, 5, {"every": 9, "over": 1}), ("r", "bitflip", 10, 4, APART),
    ("r", "misread", 12, 4, dict(APART, over=1, d=8 * PAGE)), first=64)
BACKUP_LOAD = ["--size", "16M", "-d", "2", "--set", "BackupUser.UserCount=1", "--set",
               "BackupUser.FullInterval=1h", "--set", "BackupUser.Keep=1", "--set",
               "BackupUser.MaxTransferSize=64K"]
BACKUP = pages("*.bak", ("w", "bitflip", 30, 3, {"every": 20}), ("w", "zero", 35, 3, {"every": 20}),
               ("w", "garbage", 40, 3, {"every": 20}), ("w", "lost", 45, 3, {"every": 20}),
               first=64)
SNAPSHOT_LOAD = ["--size", "32M", "-d", "3", "--set", "DbccUser.UserCount=1", "--set",
                 "DbccUser.Interval=1"]
SNAPSHOT = pages("*MSSQL_DBCC*", ("w", "bitflip", 5, 4, {"every": 9}),
                 ("w", "zero", 7, 4, {"every": 9}), ("w", "garbage", 9, 4, {"every": 9}),
                 ("r", "bitflip", 5, 3, APART))
# Two data files of one database, whose writes can meet; and the files of an earlier run.
TWO_FILES = """[File1]
FileName=a.mdx
InitialSize=16
[File2]
FileName=b.mdx
InitialSize=16
[File3]
FileName=a.ldx
InitialSize=16
LogFile=TRUE
"""
FILES = pages("a.mdx", ("w", "misfile", 30, 4, dict(OVER, file="b.mdx")),
              ("w", "misdir", 33, 3, dict(OVER, d=-96 * PAGE))) + pages(
                  "b.mdx", ("w", "misfile", 31, 4, dict(OVER, file="a.mdx")))
EARLIER = pages("*.mdx", ("w", "old", 30, 5, dict(OVER, snap="early")),
                ("w", "old", 33, 3, dict(OVER, snap="early", overlay=1)))
CASES = [
    Case("data", LOAD, DATA),
    Case("files", ["-d", "2"], FILES, config=TWO_FILES),
    Case("earlier", ["--size", "16M", "-d", "2"], EARLIER, earlier=True),
    Case("reads", LOAD, READS),
    Case("sticky", LOAD, STICKY_READS),
    Case("log", LOAD + ["--set", "CONFIG.LogReadBack=100%"], LOGS),
    Case("tempdb", TEMPDB_LOAD, TEMPDB),
    Case("backup", BACKUP_LOAD, BACKUP),
    Case("snapshot", SNAPSHOT_LOAD, SNAPSHOT),
]


def run(pagestorm, engine, mount, case, out="out"):
    """result.json of one run, and its exit code."""
    command = [pagestorm, "run", "--trace", f"{mount.work}/{out}.requests"]
    out = os.path.join(mount.work, out)
    if case.config:
        command.append(os.path.join(mount.work, "config.ini"))
        with open(command[-1], "w", encoding="utf-8") as file:
            file.write(case.config)
    command += ["--dir", mount.dir, "--engine", engine, "--quiet", "--out", out,
                "--set", "CONFIG.StopOnError=FALSE", "--set", "CONFIG.Reserve=1"]
    done = subprocess.run(command + case.options, capture_output=True, text=True, check=False,
                          timeout=900)
    try:
        with open(os.path.join(out, "result.json"), encoding="utf-8") as file:
            return json.load(file), done.returncode
    except OSError:
        print(done.stdout[-2000:], done.stderr[-2000:])
        raise


def run_with_faults(pagestorm, binary, engine, case):
    """What the run found, its exit code, what was done to it, and all it read and wrote."""
    with Mount(binary) as mount:
        if case.earlier:
            run(pagestorm, engine, mount, case, "earlier")
            mount.tell("snapshot early")
            for name in os.listdir(mount.dir):
                os.unlink(mount.path(name))
        for ops, kind, glob, low, high, nth, count, keys in case.rules:
            mount.add(ops, kind, glob, low, high, nth, count, **keys)
        mount.tell(f"trace on {mount.work}/trace")
        result, status = run(pagestorm, engine, mount, case)
        mount.tell("trace off")
        trace = Trace(f"{mount.work}/trace", f"{mount.work}/out.requests")
        return result, status, mount.truth(), trace


def nanoseconds(text):
    seconds, fraction = text.split(".")
    return int(seconds) * 1_000_000_000 + int(fraction)


def requests_of(path):
    """The program's own requests by operation, file and page: submitted, completed."""
    names, requests = {}, {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith("# file "):
                _, _, number, name = line.rstrip("\n").split(" ", 3)
                names[number] = os.path.basename(name)
            if line.startswith("#"):
                continue
            done, sent, _, _, _, _, op, number, offset, size, *_ = line.split("\t")
            for page in range(int(offset) // PAGE, (int(offset) + int(size) - 1) // PAGE + 1):
                requests.setdefault((op, names[number], page), []).append(
                    (nanoseconds(sent), nanoseconds(done)))
    return requests


class Trace:
    """All reads and writes of the run by page: as the mount answered them (begin, end, offset,
    size), and from when to when each was under way for the program."""

    def __init__(self, path, requests):
        self.reads, self.writes = {}, {}
        self.requests = requests_of(requests)
        with open(path, encoding="utf-8") as file:
            for line in file:
                begin, end, op, name, offset, size, *_ = line.split()
                kept = {"read": self.reads, "write": self.writes}.get(op)
                if kept is None:
                    continue
                first, last = int(offset) // PAGE, (int(offset) + int(size) - 1) // PAGE
                for page in range(first, last + 1):
                    kept.setdefault((name, page), []).append(
                        (int(begin), int(end), int(offset), int(size),
                         *self.under_way(op, name, page, int(begin), int(end))))

    def under_way(self, op, name, page, begin, end):
        for sent, done in self.requests.get((op[0].upper(), name, page), []):
            if sent <= begin and end <= done:
                return sent - SUBMIT_NS, done + SUBMIT_NS
        return begin - QUIET_NS, end + QUIET_NS

    def of(self, kept, place):
        """Those that meet the place."""
        first, last = place["offset"], place["offset"] + place["length"]
        found = set()
        for page in range(first // PAGE, (last - 1) // PAGE + 1):
            found |= {one for one in kept.get((place["file"], page), [])
                      if one[2] < last and first < one[2] + one[3]}
        return found

    def dead_since(self, event, place):
        """When the virtual log file of the place was begun anew: a write before it in the file."""
        def vlf(offset):
            return (offset - PAGE) * 4 // (LOG_BYTES - PAGE)
        begins = (one[0] for (name, _), ones in self.writes.items() if name == place["file"]
                  for one in ones if one[2] < place["offset"] and
                  vlf(one[2]) == vlf(place["offset"]) and one[0] > event["time"] + QUIET_NS)
        return min(begins, default=float("inf")) if place["file"].endswith(".ldx") else float("inf")

    def quiet_read(self, event, place):
        """Was what the fault left read while nobody wrote it?"""
        if place["state"] != "seen":
            return False
        writes = self.of(self.writes, place)
        gone = min(place["rewritten"] or float("inf"), self.dead_since(event, place))
        times = {tuple(pair) for pair in place["times"]}
        reads = {(sent, done) for begin, end, _, _, sent, done in self.of(self.reads, place)
                 if (event["time"] < begin and end < gone and not once(event, place)) or
                 (any(begin == seen for seen, _ in times) and end < gone)}
        return any(not any(sent < w_done and w_sent < done for *_, w_sent, w_done in writes)
                   for sent, done in reads)


def once(event, place):
    """A fault of one read, that left nothing behind."""
    return event["op"] == "r" and not place["left"] and not place["rewritten"]


def allowed(event, place):
    if place["file"].endswith(".ldx"):
        return LOG[event["class"]]
    key = event["op"], event["class"]
    if place["file"].endswith(".bak") and key == ("w", "lost"):
        return {"zeroed", "lost_write"}  # the file is new
    if "MSSQL_DBCC" in place["file"] and key == ("w", "zero"):
        return {"zeroed", "lost_write"}  # written once, over a hole
    sticky = event["op"] == "r" and event["mode"] == "overlay"
    sticky = sticky or (key == ("r", "eio") and place["sectors"])
    if sticky and place["rewritten"]:
        return STICKY[key] | NAMES[key]  # it healed while it was read again
    return STICKY[key] if sticky else NAMES[key]


def at_place(finding, place):
    """Is the finding, or its other end, at the place?  Short transfers are one finding a file."""
    if finding["class"] == "short_io":
        return os.path.basename(finding["file"]) == os.path.basename(place["file"])
    spans = [(finding["file"], finding["offset"], finding["size_bytes"])]
    if "other_end" in finding:
        other = finding["other_end"]
        spans.append((other["file"], other["page"] * PAGE, PAGE))
    return any(os.path.basename(path) == os.path.basename(place["file"]) and
               offset < place["offset"] + place["length"] and place["offset"] < offset + size
               for path, offset, size in spans)


def hidden(truth, findings, place):
    """Is it behind another fault of the same virtual log file that was found in its place?"""
    def before(other):
        return (other["file"] == place["file"] and other["reads"] and
                other["offset"] < place["offset"] < other["offset"] + VLF and
                other["times"][0][0] <= place["times"][-1][0] and
                (other["rewritten"] or float("inf")) > place["times"][0][0])
    return place["file"].endswith(".ldx") and any(
        before(other) and any(at_place(finding, other) for finding in findings)
        for event in truth for other in event["places"])


def shown(finding):
    other = finding.get("other_end")
    return (f"{finding['class']} {os.path.basename(finding['file'])} {finding['offset']}"
            f"+{finding['size_bytes']} sectors {finding['sectors']} "
            f"retries {finding['retries']} {finding['detail']!r}"
            f"{' other ' + str(other['page']) if other else ''}")


def compare(case, truth, trace, findings):
    """Complaints, and figures: faults injected and noticed, places that count, found, named."""
    complaints, explained = [], set()
    counts = dict.fromkeys(("injected", "noticed", "counted", "found", "named", "other"), 0)
    for event in truth:
        counts["injected"] += 1
        noticed = False
        for place in event["places"]:
            here = [f for f in findings if at_place(f, place) and
                    (f["class"] == "short_io") == (event["class"] == "short")]
            explained |= {f["number"] for f in here}
            counts["noticed"] += bool(here) and not noticed
            noticed = noticed or bool(here)
            if not trace.quiet_read(event, place) or (
                    not here and hidden(truth, findings, place)):
                continue
            counts["counted"] += 1
            counts["found"] += bool(here)
            named = [f for f in here if f["class"] in allowed(event, place)]
            counts["named"] += bool(named)
            if not named:
                what = "; ".join(map(shown, here)) or "not found"
                complaints.append(f"{event['op']} {event['class']} ({event['mode']}) "
                                  f"{place['file']} {place['offset']}+{place['length']}: {what}; "
                                  f"reads {place['reads']}, rewritten {place['rewritten']}")
    for finding in findings:
        if finding["number"] not in explained:
            complaints.append(f"nobody did this: {shown(finding)}")
    counts["other"] = len({f["number"] for f in findings} - explained)
    return complaints, counts


def check_status(result, status):
    """The exit code that the findings demand."""
    findings = result["integrity"]["findings"]
    wrong = any(f["severity"] == "integrity" for f in findings)
    if status == (1 if wrong else 0) and result["run"]["complete"]:
        return []
    return [f"exit {status}, complete {result['run']['complete']}, integrity findings: {wrong}"]


def main():
    pagestorm, binary, engine, *names = sys.argv[1:]
    skip_unless_possible(binary)
    failures, total = 0, {}
    for case in CASES:
        if names and case.name not in names:
            continue
        result, status, truth, trace = run_with_faults(pagestorm, binary, engine, case)
        complaints, counts = compare(case, truth, trace, result["integrity"]["findings"])
        complaints += check_status(result, status)
        print(f"{engine:5} {case.name:8}", *(f"{key} {value:3}" for key, value in counts.items()))
        for complaint in complaints:
            print("   ", complaint)
        for key, value in counts.items():
            total[key] = total.get(key, 0) + value
        failures += len(complaints)
    print(f"{engine:5} {'all':8}", *(f"{key} {value:3}" for key, value in total.items()))
    if total["counted"] == 0:
        print("    no fault counted: this run shows nothing")
        failures += 1
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
