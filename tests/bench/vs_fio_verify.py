#!/usr/bin/env python3
"""vs_fio_verify.py PAGESTORM FAULTFS [FAULT ...] - see vs_fio_verify.sh."""
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "faultfs"))
from faultfs import Mount, skip_unless_possible  # noqa: E402

PAGE = 8192
# (operations, class, keys): one page, late in fio's file, so that nobody writes it again.
FAULTS = {
    "clean": None,
    "lost write": ("w", "lost", {}),
    "torn, 4096 kept": ("w", "torn", {"mask": "ff"}),
    "torn, 512 kept": ("w", "torn", {"mask": "1"}),
    "misdirected +2 pages": ("w", "misdir", {"d": 2 * PAGE}),
    "ghost copy": ("w", "dup", {"d": 2 * PAGE}),
    "bit in the body": ("w", "bitflip", {"at": 5000}),
    "bit in the header": ("w", "bitflip", {"at": 16}),
    "zeroed page": ("w", "zero", {}),
    "zeroed half": ("w", "zero", {"at": 4096, "length": 4096}),
    "garbage": ("w", "garbage", {}),
    "stale read": ("w", "stale", {}),
    "bit in a read, once": ("r", "bitflip", {"at": 5000}),
    "misdirected read": ("r", "misread", {"d": 2 * PAGE}),
    "EIO once": ("r", "eio", {"size_max": PAGE}),
    "short read": ("r", "short", {"size_min": PAGE, "size_max": PAGE}),
}
JOB = ["fio", "--name=job", "--filename=fio.dat", "--size=1M", "--bs=8k", "--direct=1",
       "--ioengine=io_uring", "--iodepth=8", "--verify=crc32c", "--verify_fatal=0"]
WRITE, SEED = ["--rw=randwrite"], ["--randseed=4711"]
SCENARIOS = {
    "S1": [WRITE],
    "S2": [WRITE + SEED],
    "S3": [WRITE + SEED + ["--do_verify=0"], ["--rw=randread"] + SEED],
    "S4": [WRITE + SEED + ["--do_verify=0"], WRITE + SEED + ["--verify_only"]],
    "S5": [WRITE + SEED + ["--time_based", "--runtime=2", "--verify_backlog=64"]],
}


def add(mount, fault, glob):
    if not fault:
        return
    ops, kind, keys = fault
    high = "end" if glob != "fio.dat" else PAGE * 126
    mount.add(ops, kind, glob, 16 * PAGE if glob != "fio.dat" else 0, high,
              nth=40 if glob != "fio.dat" else 115, unit=PAGE, over=1, **keys)


def silence(mount, fault):
    """What a run that says nothing means."""
    states = {place["state"] for event in mount.truth() for place in event["places"]}
    if not fault or "seen" in states:
        return "-"
    return "(not read)" if states & {"open", "masked"} else "(no fault)"


def fio(mount, fault, commands):
    first = subprocess.run(JOB + WRITE, cwd=mount.dir, capture_output=True, check=False)
    if first.returncode:
        return "fio does not run here"
    add(mount, fault, "fio.dat")
    said = ""
    for command in commands:
        done = subprocess.run(JOB + command, cwd=mount.dir, capture_output=True, text=True,
                              check=False)
        text = done.stdout + done.stderr
        match = re.search(r"(verify: bad [a-z_ ]+|crc32c: verify failed|bad header \w+|"
                          r"io_u error on file.*?: [A-Z][\w/ -]+)", text)
        if done.returncode or match:
            said = match.group(1).replace("verify: ", "") if match else f"exit {done.returncode}"
            break
    return said or silence(mount, fault)


def pagestorm_run(mount, binary, fault):
    add(mount, fault, "*.mdx")
    out = os.path.join(mount.work, "out")
    subprocess.run([binary, "run", "--dir", mount.dir, "--size", "16M", "-d", "2", "--quiet",
                    "--out", out, "--set", "CONFIG.StopOnError=FALSE",
                    "--set", "CONFIG.Reserve=1"], capture_output=True, check=False)
    with open(os.path.join(out, "result.json"), encoding="utf-8") as file:
        found = json.load(file)["integrity"]["findings_by_class"]
    said = ", ".join(sorted(found))
    return said or silence(mount, fault)


def main():
    pagestorm, binary, *names = sys.argv[1:]
    skip_unless_possible(binary)
    print(subprocess.run(["fio", "--version"], capture_output=True, text=True,
                         check=False).stdout.strip())
    print("fault", *SCENARIOS, "pagestorm", sep=" | ", flush=True)
    for name in names or FAULTS:
        row = []
        for commands in SCENARIOS.values():
            with Mount(binary) as mount:
                row.append(fio(mount, FAULTS[name], commands))
        with Mount(binary) as mount:
            row.append(pagestorm_run(mount, pagestorm, FAULTS[name]))
        print(name, *row, sep=" | ", flush=True)


if __name__ == "__main__":
    main()
