#!/usr/bin/python3
"""Counts every TAP test and every pytest test of a run, and prints the one line that says it.

A program that dies, or ends with an error though its tests said ok (a leak, say), is one failure
more; so is a step that left no results. Nothing passed is a failure too.
"""

import argparse
import collections
import json
import pathlib
import re
import sys
import xml.etree.ElementTree

TAP_PLAN = re.compile(r"^1\.\.\d+", re.MULTILINE)
TAP_LINE = re.compile(r"^(not )?ok\b[^#\n]*(# *skip)?", re.MULTILINE | re.IGNORECASE)
TAP_REASON = re.compile(r"^(?:not ok\b|#).*", re.MULTILINE)
REASONS = 10
SLOWEST = 10
GOOD = ("OK", "EXPECTEDFAIL")


def count_tap(text, count):
    for failed, skipped in TAP_LINE.findall(text):
        count["skipped" if skipped else "failed" if failed else "passed"] += 1


def print_reasons(result):
    """The failed tests of a program with their reasons, and how it died."""
    lines = TAP_REASON.findall(result.get("stdout") or "")[-REASONS:]
    summary = [line for line in (result.get("stderr") or "").splitlines() if line.strip()][-REASONS:]
    for line in lines + summary:
        print(f"   {line}")


def count_program(result, count):
    """One program of a unit suite, as a line of meson's testlog.json tells it."""
    own, text = collections.Counter(), result.get("stdout") or ""
    good = result["result"] in GOOD
    if TAP_PLAN.search(text):
        count_tap(text, own)
    elif result["result"] == "SKIP":
        own["skipped"] += 1
    elif good:
        own["passed"] += 1
    if not good and result["result"] != "SKIP" and not own["failed"]:
        own["failed"] += 1
    if own["failed"]:
        print(f"FAILED: {result['name']}: {result['result']}")
        print_reasons(result)
    count.update(own)


def count_meson(path, count):
    if not path.exists():
        print(f"FAILED: no results in {path}")
        count["failed"] += 1
        return
    for line in path.read_text("utf-8").splitlines():
        count_program(json.loads(line), count)


def verdict(case):
    tags = {child.tag for child in case}
    if tags & {"failure", "error"}:
        return "failed"
    return "skipped" if "skipped" in tags else "passed"


def count_junit(path, count):
    """Counts the cases of PATH; returns their durations with their names."""
    if not path.exists():
        print(f"FAILED: no results in {path}")
        count["failed"] += 1
        return []
    cases = list(xml.etree.ElementTree.parse(path).iter("testcase"))
    for case in cases:
        count[verdict(case)] += 1
    return [(float(case.get("time", 0)), f"{case.get('classname')}::{case.get('name')}") for case in cases]


def print_slowest(durations):
    if durations:
        print(f"== the {SLOWEST} slowest tests")
    for seconds, name in sorted(durations, reverse=True)[:SLOWEST]:
        print(f"{seconds:8.1f} s  {name}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--meson", action="append", default=[], type=pathlib.Path)
    parser.add_argument("--junit", action="append", default=[], type=pathlib.Path)
    parser.add_argument("--broken", action="append", default=[], help="a step that failed")
    parser.add_argument("--must-fail", action="store_true", help="pytest said that it failed")
    return parser.parse_args()


def main():
    given, count, durations = arguments(), collections.Counter(), []
    for path in given.junit:
        durations += count_junit(path, count)
    print_slowest(durations)
    count["failed"] += given.must_fail and not count["failed"]
    for path in given.meson:
        count_meson(path, count)
    count["failed"] += len(given.broken)
    count["failed"] += not count["failed"] and not count["passed"]
    line = f"{count['passed']} passed, {count['failed']} failed"
    print(line + (f", {count['skipped']} skipped" if count["skipped"] else ""))
    return 1 if count["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
