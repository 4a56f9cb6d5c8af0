"""Look-ups of different records that wait for each other leave as one request. Counted at the
proxy; what has to happen is waited for, and nothing is timed."""

import os
import subprocess
import threading

import pytest

from harness import mounts, tables

COUNT = 300
CALLERS = 64
MANY = 16  # requests that a table has under way at most


@pytest.fixture
def boxes(boto, table, mount, tmp_path):
    """A mount with COUNT records of one folder, whose proxy has forgotten the start."""
    name = table(tables.plain(), [tables.item(f"t-{i:03}", str(i)) for i in range(COUNT)])
    assert name == "any-Things"
    m = mount(map_file=tables.write_map(tmp_path / "plain.map.json"))
    return m


def names():
    return [f"t-{number:03}" for number in range(COUNT)]


def test_readers_side_by_side_share_requests(boxes, proxy):
    """As a shell does it. How many requests that are depends on who is when scheduled; that it is
    less than one each is bound to happen while each takes some time."""
    proxy.fault("delay", times=None, seconds=0.02)
    folder = boxes / "any/things/box"
    told = subprocess.run(
        ["xargs", "-P16", "-n", "1", "cat"], cwd=folder, input="\n".join(names()).encode(),
        capture_output=True, check=True,
    )  # fmt: skip
    assert told.stdout.count(b'"note"') == COUNT
    assert len(proxy.requests) < COUNT * 2 / 3, boxes.counts()
    assert set(boxes.counts()) <= {"GetItem", "BatchGetItem"}


def test_those_who_wait_leave_as_one(boxes, proxy):
    """MANY requests hang; whoever asks meanwhile is asked for by one more."""
    enough, found = threading.Event(), []
    proxy.fault("delay", times=None, seconds=90, until=lambda _: enough.is_set())
    look = lambda name: found.append(os.stat(boxes / "any/things/box" / name).st_size)  # noqa: E731
    callers = [threading.Thread(target=look, args=(name,)) for name in names()[:CALLERS]]
    for number, caller in enumerate(callers[:MANY]):
        caller.start()
        mounts.wait_until(lambda: len(proxy.requests) == number + 1, f"request {number + 1}")  # noqa: B023
    for caller in callers[MANY:]:
        caller.start()
    mounts.wait_until(lambda: boxes.stats()["cache_misses"] == CALLERS, "everybody's question")
    assert len(proxy.requests) == MANY
    enough.set()
    for caller in callers:
        caller.join()
    assert len(found) == CALLERS and len(proxy.requests) == MANY + 1
    assert boxes.counts() == {"GetItem": MANY, "BatchGetItem": 1}


def test_one_after_the_other_nothing_waits(boxes):
    """`cat` of many names asks for one when it has printed the one before."""
    folder = boxes / "any/things/box"
    subprocess.run(["cat", *names()[:20]], cwd=folder, stdout=subprocess.DEVNULL, check=True)
    assert boxes.counts() == {"GetItem": 20}
