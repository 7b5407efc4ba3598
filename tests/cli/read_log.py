#!/usr/bin/env python3
"""read_log.py LOG: read an XML log as test harnesses for SQLIOSim do.

A harness looks at nothing but this: entries of TYPE ERROR whose description is on no list of
forgiven ones are failures; descriptions that begin with "Target IO Duration (ms) = " are split at
commas, in this order.  Prints one line a finding of its own; the exit code is 1 when there is an
error, 2 when the log is not what such a harness reads.
"""
import re
import sys
import xml.dom.minidom

FORGIVEN = [r"Unable to get disk cache info for "]
ATTRIBUTES = ["TYPE", "TIME", "DATE", "TID", "User", "File", "Line", "Func", "HRESULT", "SYSTEXT"]
SUMMARY = re.compile(
    r"Target IO Duration \(ms\) = (\d+), Running Average IO Duration \(ms\) = (\d+), "
    r"Number of times IO throttled = (\d+), IO request blocks = (\d+)$")
COUNTS = re.compile(
    r"Reads = (\d+), Scatter Reads = (\d+), Writes = (\d+), Gather Writes = (\d+), "
    r"Total IO Time \(ms\) = (\d+)$")
VALIDATION = re.compile(r"Buffer validation failed on (.+) Page: (\d+)(, offset 0x[0-9a-f]+)?$",
                        re.M)
OPENING = re.compile("<ENTRY" + "".join(f" {name}='([^']*)'" for name in ATTRIBUTES) + ">$")


def wrong(text):
    print("wrong:", text)
    sys.exit(2)


def entries(path):
    document = xml.dom.minidom.parse(path)
    with open(path, encoding="utf-8") as log:
        openings = [line for line in log.read().split("\n") if line.startswith("<ENTRY")]
    found = document.getElementsByTagName("ENTRY")
    if len(openings) != len(found):
        wrong("an entry does not begin its line")
    for line, entry in zip(openings, found):
        if not OPENING.match(line):
            wrong(f"attributes or their order: {line}")
        children = entry.getElementsByTagName("EXTENDED_DESCRIPTION")
        if len(children) != 1:
            wrong("not one description")
        text = "".join(node.data for node in children[0].childNodes)
        yield entry, text


def main():
    errors, files = 0, 0
    for entry, text in entries(sys.argv[1]):
        if not re.match(r"\d\d:\d\d:\d\d$", entry.getAttribute("TIME")):
            wrong("time")
        if not re.match(r"\d\d/\d\d/\d\d$", entry.getAttribute("DATE")):
            wrong("date")
        if entry.getAttribute("TYPE") not in ("INFO", "WARNING", "ERROR"):
            wrong("type")
        if text.startswith("Target IO Duration (ms) = "):
            match = SUMMARY.match(text)
            if not match:
                wrong(f"summary: {text}")
            print("summary", *match.groups())
            files += 1
        elif text.startswith("Reads = "):
            match = COUNTS.match(text)
            if not match:
                wrong(f"counts: {text}")
            print("counts", *match.groups())
        if entry.getAttribute("TYPE") != "ERROR":
            continue
        if any(re.match(pattern, text) for pattern in FORGIVEN):
            continue
        errors += 1
        match = VALIDATION.match(text)
        if match:
            print("validation", entry.getAttribute("HRESULT"), match.group(1), match.group(2))
        else:
            print("error", entry.getAttribute("HRESULT"), text.split("\n")[0])
    print("files", files)
    print("errors", errors)
    sys.exit(1 if errors else 0)


main()
