"""The hot paths of a mount need no more instructions than tests/harness/instructions.json has, and 5 %."""

import os
import pathlib
import shutil
import signal
import warnings

import pytest

from harness import instructions

GROWTH = 1.05
GROWTH_ELSEWHERE = 1.25  # with other libraries, another compiler or processor than where they were recorded
FALL = 0.9
LIMIT_S = 900  # on a busy machine
RECORD = "tests/harness/instructions.py --record"


def judge(found, recorded, growth):
    """What grew, and what fell and should be recorded."""
    grown = [f"{name}: {found[name]:,} instructions, {recorded[name]:,} recorded ({RECORD}, if it is intended)"
             for name in recorded if found[name] > growth * recorded[name]]  # fmt: skip
    fallen = [f"{name}: {found[name]:,} instructions, {recorded[name]:,} recorded; please record it: {RECORD}"
              for name in recorded if found[name] < FALL * recorded[name]]  # fmt: skip
    return grown, fallen


def test_growth_and_fall_are_seen():
    recorded = {"a": 1000, "b": 1000, "c": 1000}
    grown, fallen = judge({"a": 1051, "b": 1050, "c": 899}, recorded, GROWTH)
    assert [line[0] for line in grown] == ["a"] and [line[0] for line in fallen] == ["c"]


@pytest.mark.skipif(not shutil.which("valgrind"), reason="there is no valgrind")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may make the kernel drop names")
def test_hot_paths_need_no_more_instructions(release_binary):
    signal.alarm(LIMIT_S)
    if b"__asan_init" in pathlib.Path(release_binary).read_bytes():
        pytest.skip("DDBFS_RELEASE has sanitizers")
    known = instructions.recorded()
    assert set(known["instructions"]) == set(instructions.PATHS)
    here = instructions.system() == known["system"]
    found = instructions.measure(release_binary)
    grown, fallen = judge(found, known["instructions"], GROWTH if here else GROWTH_ELSEWHERE)
    for line in fallen:
        warnings.warn(line)
    assert not grown, "\n".join(grown)
