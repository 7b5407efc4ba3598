#!/usr/bin/env python3
"""reuse_presets.py PAGESTORM FOLDER MDFCHECK [PRESET...] - each preset, twice over the same files.

The second run takes over what the first left (--reuse), over the modelled device; with sectors of
4,096 bytes there is one run.  Each must find nothing and read back every page; `verify` must find
sound what the last one left, and so must mdfcheck.py, if it is there.  What fails is printed with
its command; exit 1.
"""
import glob
import json
import os
import shutil
import subprocess
import sys

import presets

SESSIONS = {512: 2, 4096: 1}  # by sector size


def sessions_of(pagestorm, preset, seed, sector):
    words = presets.command_of(pagestorm, preset, seed)
    words += ["--set", "CONFIG.SectorSize=%d" % sector]
    for number in range(1, SESSIONS[sector] + 1):
        one = list(words)
        one[one.index("--out") + 1] = "o%d" % number
        if number > 1:
            one += ["--reuse", "o%d" % (number - 1)]
        yield number, one


def call(words, folder):
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=900)


def pairs(folder, out):
    """Primary data file and log of each database, as result.json names them."""
    with open(os.path.join(folder, out, "result.json"), encoding="utf-8") as file:
        rows = json.load(file)["files"]
    logs = {row["database"]: row["path"] for row in rows if row["kind"] == "log"}
    seen = set()
    for row in rows:
        if row["kind"] == "data" and row["database"] not in seen:
            seen.add(row["database"])
            yield row["path"], logs[row["database"]]


def problem_of(pagestorm, preset, sector, folder, mdfcheck):
    backups = {}
    for number, words in sessions_of(pagestorm, preset, 1, sector):
        run = call(words, folder)
        path = os.path.join(folder, "o%d" % number, "result.json")
        if run.returncode not in (0, 4) or not os.path.exists(path):
            return words, "exit %d\n%s%s" % (run.returncode, run.stdout[-1500:], run.stderr[-1500:])
        with open(path, encoding="utf-8") as file:
            result = json.load(file)
        problem = presets.problem_of(result)
        if not problem and number > 1 and "prepare_write" in result["streams"]:
            problem = "pages were formatted again"
        if not problem and number > 1 and result["run"]["id"] != run_id:
            problem = "another run id"
        run_id = result["run"]["id"]
        for name, content in backups.items():
            with open(name, "rb") as file:
                if file.read() != content:
                    problem = "%s, a backup of an earlier run, changed" % name
        for name in glob.glob(os.path.join(folder, "d", "*backup*")):
            with open(name, "rb") as file:
                backups[name] = file.read()
        if problem:
            return words, problem
    last = "o%d" % SESSIONS[sector]
    words = [pagestorm, "verify", last]
    run = call(words, folder)
    if run.returncode:
        return words, "exit %d\n%s%s" % (run.returncode, run.stdout, run.stderr)
    for data, log in pairs(folder, last) if mdfcheck else ():
        words = [sys.executable, mdfcheck, "--pair", data, log]
        run = call(words, folder)
        if run.returncode:
            return words, run.stdout[-2000:] + run.stderr
    return None, None


def main():
    pagestorm, folder, mdfcheck = sys.argv[1:4]
    oracle = mdfcheck if os.path.exists(mdfcheck) else None
    for preset in sys.argv[4:] or presets.PRESETS:
        for sector, sessions in SESSIONS.items():
            shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(os.path.join(folder, "d"))
            words, problem = problem_of(pagestorm, preset, sector, folder, oracle)
            if problem:
                print("FAILED: %s: %s" % (preset, problem))
                print("    in %s: %s" % (folder, " ".join(words)))
                return 1
            print("%s: %d sessions, sectors of %d" % (preset, sessions, sector), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
