#!/usr/bin/env python3
"""minimise.py [--seconds N] [--runs N] FOLDER PROGRAM run ... - the smallest run that goes wrong.

The command is a `pagestorm run` over the modelled device (--engine mem, a --seed, --dir and --out
relative to FOLDER), so it does the same each time.  What went wrong is a class of finding, an exit
code, or no end; a smaller command counts only if the same goes wrong.  Tried, again and again until
nothing helps or no more may be tried: patterns left out, one worker, a shorter virtual time, fewer
users, settings of the command left out.  The last command is then run with --trace, and the
operations on what the first finding names (page, log block, file) are printed, up to the moment it
was found.  Without a finding they are the last operations of all.

Exit 0: printed; 1: the command as given does not fail.
"""
import argparse
import datetime
import json
import os
import shutil
import subprocess
import sys
import time

RUN_SECONDS_MAX = 120
LINES_MAX = 40
PAGE_BYTES = 8192


class Command:
    """Words before the options, options in order, and settings."""

    def __init__(self, words):
        self.head = words[:2]
        self.options = []
        self.sets = []
        rest = list(words[2:])
        while rest:
            name = rest.pop(0)
            if name == "--set":
                self.sets.append(rest.pop(0))
            elif name.startswith("-") and rest and not rest[0].startswith("-"):
                self.options.append((name, rest.pop(0)))
            else:
                self.options.append((name, None))

    def words(self):
        out = list(self.head)
        for name, value in self.options:
            out += [name] if value is None else [name, value]
        for one in self.sets:
            out += ["--set", one]
        return out

    def option(self, name):
        return next((value for key, value in self.options if key == name), None)

    def copy(self):
        return Command(self.words())

    def with_option(self, name, value):
        out = self.copy()
        out.options = [pair for pair in out.options if pair[0] != name] + [(name, value)]
        return out

    def with_set(self, key, value):
        out = self.copy()
        out.sets = [one for one in out.sets if one.split("=")[0] != key] + [key + "=" + value]
        return out

    def without_set(self, index):
        out = self.copy()
        del out.sets[index]
        return out


class Runs:
    def __init__(self, folder, seconds, runs_max, given):
        self.folder = folder
        self.end = time.monotonic() + seconds
        self.runs_max = runs_max
        self.given = list(given.sets)
        self.count = 0
        self.known = {}

    def is_over(self):
        return time.monotonic() > self.end or self.count >= self.runs_max

    def result(self, command):
        path = os.path.join(self.folder, command.option("--out"), "result.json")
        if not os.path.exists(path):
            return None
        with open(path, encoding="utf-8") as file:
            return json.load(file)

    def problem(self, command):
        """What goes wrong, as a word to compare; None: nothing."""
        words = command.words()
        key = " ".join(words)
        if key not in self.known:
            self.known[key] = self.try_one(command, words)
        return self.known[key]

    def try_one(self, command, words):
        self.count += 1
        for name in (command.option("--out"), command.option("--dir"), command.option("--trace")):
            path = os.path.join(self.folder, name) if name else None
            if path and os.path.isdir(path):
                shutil.rmtree(path)
            elif path and os.path.exists(path):
                os.remove(path)
        os.makedirs(os.path.join(self.folder, command.option("--dir")))
        try:
            run = subprocess.run(words, cwd=self.folder, capture_output=True,
                                 timeout=RUN_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            return "no end"
        result = self.result(command)
        if result and result["integrity"]["findings"]:
            return "found " + result["integrity"]["findings"][0]["class"]
        if result and run.returncode in (0, 4):
            return None if result["run"]["complete"] else "incomplete"
        # A command that is refused is another problem than a run that went wrong.
        return "exit %d" % run.returncode


# ---- smaller commands ----

def seconds_of(text):
    for unit, factor in (("ms", 0.001), ("min", 60), ("s", 1), ("h", 3600)):
        if text.endswith(unit):
            return float(text[:-len(unit)]) * factor
    return float(text)


def shorter(command, _):
    now = command.option("-d")
    ms = int(seconds_of(now) * 1000) if now else 0
    for part in (8, 4, 2):
        if ms // part >= 10:
            yield command.with_option("-d", "%dms" % (ms // part))


def patterns_of(runs, command):
    """Those that had users, by the names of the actors."""
    result = runs.result(command)
    names = sorted({row["name"].rsplit(" ", 1)[0] for row in result["actors"]}) if result else []
    return [name for name in names if name.endswith("User") or name == "LazyWriter"]


def fewer_patterns(command, runs):
    for name in patterns_of(runs, command):
        if name + ".UserCount=0" not in command.sets:
            yield command.with_set(name + ".UserCount", "0")


def fewer_users(command, runs):
    for name in patterns_of(runs, command):
        for count in ("1", "2", "4"):
            set_now = [one for one in command.sets if one.startswith(name + ".UserCount=")]
            if not set_now or int(set_now[0].split("=")[1]) > int(count):
                yield command.with_set(name + ".UserCount", count)


def fewer_workers(command, _):
    if "CONFIG.CPUCount=1" not in command.sets:
        yield command.with_set("CONFIG.CPUCount", "1")


def one_phase(command, _):
    for setting in ("CONFIG.RatedDuration=0", "CONFIG.TestCycles=1"):
        if setting not in command.sets:
            yield command.with_set(*setting.split("="))


def fewer_settings(command, runs):
    for index in reversed(range(len(command.sets))):
        if command.sets[index] in runs.given:
            yield command.without_set(index)


STEPS = (one_phase, fewer_patterns, shorter, fewer_workers, fewer_users, fewer_settings)


def minimise(runs, command, problem):
    changed = True
    while changed and not runs.is_over():
        changed = False
        for step in STEPS:
            again = True
            while again and not runs.is_over():
                again = False
                runs.problem(command)
                for smaller in step(command, runs):
                    if runs.is_over():
                        break
                    if runs.problem(smaller) == problem:
                        command, changed, again = smaller, True, True
                        runs.known.pop(" ".join(command.words()))
                        runs.problem(command)  # its result is what the next step looks at
                        break
    return command


# ---- operations ----

class Operation:
    def __init__(self, line):
        self.line = line.rstrip("\n")
        field = self.line.split("\t")
        self.completed = float(field[0])
        self.file = int(field[7])
        self.offset, self.bytes = int(field[8]), int(field[9])

    def touches(self, file, offset, size):
        end = self.offset + max(self.bytes, 1)
        return self.file == file and self.offset < offset + size and offset < end


def read_trace(path):
    with open(path, encoding="utf-8") as file:
        lines = [line for line in file if not line.startswith("#")]
    return sorted((Operation(line) for line in lines), key=lambda one: one.completed)


def moment_of(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def concerned(trace, finding):
    size = finding["size_bytes"] or PAGE_BYTES
    until = moment_of(finding["time"]) + 0.001
    return [one for one in trace
            if one.completed <= until and one.touches(finding["file_uid"], finding["offset"], size)]


def show(runs, command, out):
    traced = command.with_option("--trace", "minimal.trace")
    runs.problem(traced)
    path = os.path.join(runs.folder, "minimal.trace")
    trace = read_trace(path) if os.path.exists(path) else []
    result = runs.result(traced)
    findings = result["integrity"]["findings"] if result else []
    if findings:
        first = findings[0]
        out("first finding: %s, file %d, offset %d (page %s), at %s: %s" % (
            first["class"], first["file_uid"], first["offset"], first["page"], first["time"],
            first["detail"]))
        trace = concerned(trace, first)
    out("operations%s, %d, the last %d of them:" % (
        " on it" if findings else "", len(trace), min(len(trace), LINES_MAX)))
    out("completed\tsubmitted\tworker\tactor\tphase\tstream\top\tfile\toffset\tbytes\tresult\t"
        "generations")
    for one in trace[-LINES_MAX:]:
        out(one.line)


def report(folder, words, seconds, runs_max=1000, out=print):
    """Print the smallest command and its operations; False: it does not fail."""
    command = Command(words)
    runs = Runs(folder, seconds, runs_max, command)
    problem = runs.problem(command)
    if not problem:
        return False
    smallest = minimise(runs, command, problem)
    out("minimal command after %d runs%s (%s):" % (
        runs.count, ", no more may be" if runs.is_over() else "", problem))
    out("    mkdir %s; %s" % (smallest.option("--dir"), " ".join(smallest.words())))
    show(runs, smallest, out)
    return True


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("folder")
    parser.add_argument("words", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    if not report(given.folder, given.words, given.seconds, given.runs):
        print("the command as given does not fail")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
