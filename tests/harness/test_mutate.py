"""tests/mutate finds places that are code, changes them so that it can put them back, and repeats
itself by its seed. What the tests notice is for whoever runs it."""

import importlib.machinery
import importlib.util
import subprocess
import sys

import pytest

from harness import mounts, places

PROGRAM = places.REPO / "tests" / "mutate"
CODE = """\
#include <stdio.h>
/* if (a < 1) */
static int next(int a, const char *text)
{
    int sum = a + 1;
    if (a < 3 && text)
        puts("a < b && 7");
    sum += 4;
    return sum;
}
"""


def load():
    loader = importlib.machinery.SourceFileLoader("mutate", str(PROGRAM))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("mutate", loader))
    loader.exec_module(module)
    return module


def test_code_is_found_and_text_is_not():
    found = [str(each) for each in load().mutations_of("x.c", CODE)]
    assert found == [
        "x.c:6: comparison: < -> <=",
        "x.c:6: logic: && -> ||",
        "x.c:5: arithmetic: + -> -",
        "x.c:5: constant: 1 -> 0",
        "x.c:6: constant: 3 -> 4",
        "x.c:8: constant: 4 -> 5",
        "x.c:6: condition: a < 3 && text -> !(a < 3 && text)",
        'x.c:7: dropped: puts("a < b && 7"); -> ;',
        "x.c:8: dropped: sum += 4; -> ;",
    ]


def test_only_the_place_changes(tmp_path):
    (tmp_path / "x.c").write_text(CODE)
    mutation = next(load().mutations_of("x.c", CODE))
    mutation.apply(tmp_path)
    assert (tmp_path / "x.c").read_text() == CODE.replace("a < 3", "a <= 3")


def listed(*words):
    command = [PROGRAM, "--list", "--count", "20", *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def test_a_seed_repeats_itself():
    assert listed("--seed", "5") == listed("--seed", "5") != listed("--seed", "6")


def test_files_can_be_chosen():
    assert all(line.startswith("fs/cli/") for line in listed("--only", "^fs/cli/"))


ORPHAN = """\
import os, subprocess, time
number = int(subprocess.check_output(["sh", "-c", "sleep 0 >&- 2>&- & echo $!"]))
end = time.monotonic() + 60
while os.path.exists(f"/proc/{number}") and time.monotonic() < end:
    time.sleep(0.01)
assert not os.path.exists(f"/proc/{number}"), open(f"/proc/{number}/status").read()
"""


NEEDS_A_MOUNTED_ROOT = pytest.mark.skipif(not mounts.is_mounted("/"), reason="/ is no mount (a chroot)")


@NEEDS_A_MOUNTED_ROOT
def test_orphans_are_waited_for(tmp_path):
    """A zombie would look as if a test's program had not been ended."""
    ended_well, said = load().run([sys.executable, "-c", ORPHAN], tmp_path, 90)
    assert ended_well, said


@NEEDS_A_MOUNTED_ROOT
def test_the_exit_code_is_the_command_s(tmp_path):
    assert load().run(["sh", "-c", "echo word; exit 3"], tmp_path, 90) == (False, "word\n")
