#!/usr/bin/env python3
"""preset_figures.py PAGESTORM FOLDER - do presets load as they say?  Over the modelled device.

Rates to 2 %, shares to 2 points, sizes and depths of each activity, from the streams of
result.json.  Work arrives in equal steps (Arrivals=fixed), so that the figures of a minute are
those asked for.
"""
import copy
import json
import os
import shutil
import subprocess
import sys

MIB = 1 << 20
KIB = 1 << 10
SMALL = ["CONFIG.Reserve=1M", "CONFIG.Arrivals=fixed", "Sizes.Data=64", "Sizes.DataMin=8",
         "Sizes.LogMin=48", "Sizes.LogMax=48", "CONFIG.RatedWarmUp=1"]
SPILLS = ["TempDbUser.SortSize=8M", "TempDbUser.SortMemory=512K", "TempDbUser.HashSize=8M"]


class Streams:
    """What one run did in one phase."""

    def __init__(self, pagestorm, folder, preset, phase, duration, settings=()):
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(os.path.join(folder, "d"))
        words = [pagestorm, "run", "--engine", "mem", "--preset", preset, "--dir", "d", "-d",
                 duration, "--memory", "24M", "--seed", "1", "--out", "o"]
        for setting in SMALL + list(settings):
            words += ["--set", setting]
        run = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=900)
        if run.returncode not in (0, 4):
            sys.exit("%s: exit %d\n%s%s" % (preset, run.returncode, run.stdout, run.stderr))
        with open(os.path.join(folder, "o", "result.json"), encoding="utf-8") as file:
            result = json.load(file)
        self.preset = preset
        self.phases = {p["name"]: p for p in result["phases"]}
        self.rows = {s["name"]: s for s in result["streams"] if s["phase"] == phase}

    def of_phase(self, name):
        """The same, of one [PhaseN]."""
        part = copy.copy(self)
        part.preset += ", " + name
        part.rows = {s["name"]: s for s in self.phases[name]["streams"]}
        return part

    def ops(self, *names):
        return sum(self.rows[n]["ops"] for n in names if n in self.rows)

    def per_second(self, name):
        return self.rows[name]["iops"]

    def mean_bytes(self, name):
        return self.rows[name]["bytes"] / self.rows[name]["ops"]

    def in_flight(self, *names):
        return sum(self.rows[n]["in_flight"] for n in names if n in self.rows)


failures = 0


def expect(streams, what, value, low, high):
    global failures
    right = low <= value <= high
    failures += not right
    print("%s  %-14s %-44s %12.2f  (%g to %g)" % ("ok    " if right else "FAILED", streams.preset,
                                                  what, value, low, high), flush=True)


def rate(streams, name, asked):
    expect(streams, name + " a second", streams.per_second(name), asked * 0.98, asked * 1.02)


def share(streams, what, part, whole, percent):
    expect(streams, what + ", % of requests", 100 * part / whole, percent - 2, percent + 2)


def oltp_part(streams, transactions):
    """3.5 page reads; one in a hundred rolls back and logs nothing; 32 KiB of log on average."""
    rate(streams, "page_read", 3.5 * transactions)
    rate(streams, "read_ahead", transactions / 20)
    rate(streams, "log_write", transactions * 0.99)
    expect(streams, "bytes of a log write", streams.mean_bytes("log_write"), 30 * KIB, 34 * KIB)
    expect(streams, "bytes of a page read", streams.mean_bytes("page_read"), 8 * KIB, 8.5 * KIB)
    expect(streams, "bytes of a read-ahead", streams.mean_bytes("read_ahead"), 60 * KIB, 64 * KIB)


def oltp(pagestorm, folder):
    oltp_part(Streams(pagestorm, folder, "oltp", "rated", "60",
                      ["Sizes.Data=256"]), 300)


def dss(pagestorm, folder):
    s = Streams(pagestorm, folder, "dss", "stress", "6", SPILLS)
    whole = s.ops("read_ahead", "sort_write") + s.ops("page_read") * 4 / 3
    share(s, "read-aheads", s.ops("read_ahead"), whole, 70)
    share(s, "page reads", s.ops("page_read"), whole, 15)
    share(s, "spill writes", s.ops("sort_write"), whole, 10)
    expect(s, "bytes of a read-ahead", s.mean_bytes("read_ahead"), 384 * KIB, 512 * KIB)
    expect(s, "bytes of a spill write", s.mean_bytes("sort_write"), 60 * KIB, 64 * KIB)


def tempdb_heavy(pagestorm, folder):
    s = Streams(pagestorm, folder, "tempdb-heavy", "rated", "6",
                SPILLS + ["Sizes.Data=256", "Sizes.TempDbShare=25%"])
    reads, writes = s.ops("tempdb_read", "sort_read"), s.ops("tempdb_write", "sort_write")
    oltp_part(s, 150)
    share(s, "tempdb reads", reads, reads + writes, 50)
    expect(s, "outstanding in tempdb",
           s.in_flight("tempdb_read", "tempdb_write", "sort_read", "sort_write"), 28, 34)
    expect(s, "bytes of a sort write", s.mean_bytes("sort_write"), 60 * KIB, 64 * KIB)
    expect(s, "bytes of a tempdb log write", s.mean_bytes("tempdb_log_write"), 48 * KIB, 60 * KIB)


def bulk_load(pagestorm, folder):
    s = Streams(pagestorm, folder, "bulk-load", "stress", "2",
                ["Sizes.DataStart=16", "Sizes.Increment=8"])
    expect(s, "bytes of an eager write", s.mean_bytes("eager_write"), 0.75 * MIB, MIB)
    expect(s, "page reads", s.ops("page_read", "read_ahead"), 0, 0)
    expect(s, "growths' writes", s.ops("growth_write"), 1, 1e9)


def backup_window(pagestorm, folder):
    """One whole backup while 10 s are measured, then one whole CHECKDB and no more."""
    size = 128
    run = Streams(pagestorm, folder, "backup-window", "stress", "3660",
                  ["Sizes.Data=%d" % size, "Phase2.DurationMin=10", "Phase3.DurationMin=0"])
    backup, check = run.of_phase("backup"), run.of_phase("CHECKDB")
    for phase in ("backup", "CHECKDB"):
        expect(run, phase + " ended by its users", run.phases[phase]["ended_by"] == "users", 1, 1)
    expect(run, "seconds of backup", run.phases["backup"]["seconds"], 10, 10.01)
    expect(backup, "MiB of the backup's reads", backup.rows["backup_read"]["bytes"] / MIB, size,
           size * 1.01)
    expect(backup, "bytes of a backup read", backup.mean_bytes("backup_read"), 0.95 * MIB, MIB)
    expect(backup, "outstanding of the backup", backup.in_flight("backup_read"), 0, 7)
    rate(backup, "page_read", 525)
    rate(backup, "log_write", 150 * 0.99)
    expect(check, "MiB of CHECKDB's reads", check.rows["dbcc_read"]["bytes"] / MIB, size * 0.99,
           size * 1.01)
    expect(check, "bytes of a CHECKDB read", check.mean_bytes("dbcc_read"), 480 * KIB, 512 * KIB)
    expect(check, "outstanding of CHECKDB", check.in_flight("dbcc_read"), 32, 64)


def main():
    pagestorm, folder = sys.argv[1:3]
    presets = {f.__name__: f for f in (oltp, dss, tempdb_heavy, bulk_load, backup_window)}
    for name in sys.argv[3:] or presets:
        presets[name](pagestorm, folder)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
