"""The tally counts every test once, and a program that dies as a failure."""

import json
import subprocess
import sys

import pytest

from harness import places


def run_tally(*arguments):
    command = [sys.executable, places.REPO / "tests" / "tally.py", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def tally(*arguments):
    done = run_tally(*arguments)
    return done.stdout.splitlines()[-1], done.returncode


def write_log(folder, *programs):
    path = folder / "testlog.json"
    lines = [{"name": "x", "result": result, "stdout": text} for result, text in programs]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


CASES = {
    "all pass": ([("OK", "1..2\nok 1 - a\nok 2 - b\n")], "2 passed, 0 failed", 0),
    "one fails": ([("ERROR", "1..2\nok 1 - a\n# why\nnot ok 2 - b\n")], "1 passed, 1 failed", 1),
    "a crash": ([("ERROR", "1..2\nok 1 - a\n")], "1 passed, 1 failed", 1),
    "a leak at the end": ([("ERROR", "1..1\nok 1 - a\n")], "1 passed, 1 failed", 1),
    "a skip": (
        [("OK", "1..2\nok 1 - a # SKIP no x\nok 2 - b\n")],
        "1 passed, 0 failed, 1 skipped",
        0,
    ),
    "no TAP": ([("OK", "hello\n"), ("FAIL", None)], "1 passed, 1 failed", 1),
    "a timeout": ([("TIMEOUT", "1..9\n")], "0 passed, 1 failed", 1),
    "nothing": ([], "0 passed, 1 failed", 1),
    "the name says ok": ([("OK", "1..1\nok 1 - not ok is # no skip\n")], "1 passed, 0 failed", 0),
}


@pytest.mark.parametrize("case", CASES)
def test_programs_are_counted(tmp_path, case):
    programs, line, code = CASES[case]
    assert tally("--meson", write_log(tmp_path, *programs)) == (line, code)


def test_a_failed_program_says_why(tmp_path):
    path = tmp_path / "testlog.json"
    program = {"name": "x", "result": "ERROR", "stdout": "1..2\nok 1 - a\n# b.c:7: why\nnot ok 2 - b\n"}
    path.write_text(json.dumps(program | {"stderr": "\n(exited with status code 1)\n"}) + "\n", "utf-8")
    assert run_tally("--meson", path).stdout.splitlines() == [
        "FAILED: x: ERROR",
        "   # b.c:7: why",
        "   not ok 2 - b",
        "   (exited with status code 1)",
        "1 passed, 1 failed",
    ]


def test_junit_is_counted(tmp_path):
    path = tmp_path / "junit.xml"
    cases = "<testcase/><testcase><failure/></testcase><testcase><error/></testcase>"
    path.write_text(f"<r><s>{cases}<testcase><skipped/></testcase></s></r>", "ascii")
    assert tally("--junit", path) == ("1 passed, 2 failed, 1 skipped", 1)


def test_missing_results_fail(tmp_path):
    good = write_log(tmp_path, ("OK", "1..1\nok 1 - a\n"))
    assert tally("--meson", good, "--meson", tmp_path / "none")[0] == "1 passed, 1 failed"
    assert tally("--meson", good, "--junit", tmp_path / "none")[0] == "1 passed, 1 failed"


def test_a_broken_step_fails(tmp_path):
    good = write_log(tmp_path, ("OK", "1..1\nok 1 - a\n"))
    assert tally("--meson", good, "--broken", "build") == ("1 passed, 1 failed", 1)
    assert tally("--meson", good, "--must-fail") == ("1 passed, 1 failed", 1)


def test_the_slowest_tests_are_printed(tmp_path):
    path = tmp_path / "junit.xml"
    cases = "".join(f'<testcase classname="a" name="t{each}" time="{each}.5"/>' for each in range(12))
    path.write_text(f"<r><s>{cases}</s></r>", "ascii")
    lines = run_tally("--junit", path).stdout.splitlines()
    assert len(lines) == 12 and lines[1].split() == ["11.5", "s", "a::t11"]
    assert lines[-2].split() == ["2.5", "s", "a::t2"]
