#!/usr/bin/env python3
"""presets.py PAGESTORM SEEDS FOLDER [PRESET...] - presets from many seeds over the modelled device.

Small files, short virtual times, odd seeds on the model of a disk, even ones on that of an SSD.
Each run must reach its end, find nothing, and read back every page that it wrote.  What fails is
printed with the command that repeats it, a smaller one that fails in the same way, and the
operations on what was found wrong (minimise.py); exit 1.
"""
import json
import os
import shutil
import subprocess
import sys

import minimise

MINIMISE_SECONDS = 60

# Data of 16 MB and logs in which the largest transaction of each preset fits.
SIZES = ["CONFIG.Reserve=1M", "Sizes.Data=16", "Sizes.DataMin=8", "Sizes.LogMin=12",
         "Sizes.LogMax=12"]
LARGE_LOG = ["Sizes.LogMax=40", "Sizes.LogMin=40"]
TEMPDB = ["TempDbUser.SortSize=2M", "TempDbUser.SortMemory=256K", "TempDbUser.HashSize=2M"]
BULK = LARGE_LOG + ["Sizes.DataStart=8", "Sizes.Increment=4"]
SMALL_LOADS = ["BulkUpdateUser.BuffersBUMin=60", "BulkUpdateUser.BuffersBUMax=100"]
DAY = LARGE_LOG + TEMPDB + SMALL_LOADS + ["BackupUser.Start=100ms", "BackupUser.LogInterval=300ms"]
FILES = ["File1.InitialSize=16", "File1.MaxSize=16", "File2.InitialSize=24", "File2.MaxSize=24"]
REPLICA = ["File3.InitialSize=16", "File3.MaxSize=16", "CONFIG.TestCycles=2"]
# Virtual time of each, and what it needs to be small.
PRESETS = {
    "oltp": ("1", ["CONFIG.RatedWarmUp=1"]),
    "dss": ("400ms", TEMPDB),
    "tempdb-heavy": ("300ms", TEMPDB + ["CONFIG.RatedWarmUp=200ms"]),
    "bulk-load": ("300ms", BULK),
    "backup-window": ("1", ["Phase2.DurationMin=100ms", "Phase3.DurationMin=0"]),
    "mixed-day": ("2", DAY),
    "quick": ("1", []),
    "soak": ("1", DAY + ["CONFIG.TestCycles=2"]),
    "sqliosim-default": ("400ms", []),
    "sqliosim-hwcache": ("400ms", FILES),
    "sqliosim-nothrottle": ("400ms", []),
    "sqliosim-seqwrites": ("300ms", SMALL_LOADS),
    "sqliosim-sparse": ("300ms", FILES + REPLICA),
}


def command_of(pagestorm, preset, seed):
    duration, settings = PRESETS[preset]
    words = [pagestorm, "run", "--engine", "mem", "--preset", preset, "--dir", "d", "-d", duration,
             "--memory", "12M", "--seed", str(seed), "--out", "o"]
    device = ["CONFIG.DeviceModel=" + ("hdd" if seed % 2 else "ssd")]
    sizes = SIZES[:1] if "File1.InitialSize=16" in settings else SIZES
    for setting in sizes + settings + device:
        words += ["--set", setting]
    return words


def problem_of(result):
    if not result["run"]["complete"]:
        return "did not reach its end"
    if result["integrity"]["findings"]:
        return "found " + result["integrity"]["findings"][0]["class"]
    if result["verdict"]["integrity"]["grade"] != "PASS":
        return "integrity: " + result["verdict"]["integrity"]["reasons"][0]
    return None


def try_one(pagestorm, preset, seed, folder):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(os.path.join(folder, "d"))
    words = command_of(pagestorm, preset, seed)
    try:
        run = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=900)
    except subprocess.TimeoutExpired:
        return words, "goes on for ever: a deadlock, or nothing that makes time pass"
    path = os.path.join(folder, "o", "result.json")
    if run.returncode not in (0, 4) or not os.path.exists(path):
        return words, "exit %d\n%s%s" % (run.returncode, run.stdout[-1500:], run.stderr[-1500:])
    with open(path, encoding="utf-8") as file:
        return words, problem_of(json.load(file))


def main():
    pagestorm, seeds, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    failed = 0
    for preset in sys.argv[4:] or PRESETS:
        for seed in range(1, seeds + 1):
            words, problem = try_one(pagestorm, preset, seed, folder)
            if problem:
                print("FAILED: %s, seed %d: %s" % (preset, seed, problem))
                print("    mkdir d; " + " ".join(words), flush=True)
                if not failed:
                    minimise.report(folder, words, MINIMISE_SECONDS)
                failed += 1
                if failed >= 5:
                    return 1
        print("%s: %d seeds" % (preset, seeds), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
