"""A record whose answer is late is asked for once more, and the first answer counts. What is late
hangs until the test is over; requests are counted."""

import threading

import pytest

from harness import tables

SEEN = 64  # answers, before any is called late; a slow machine may have late ones from then on
EACH = 50  # requests for each one that is sent twice


@pytest.fixture
def box(boto, table, mount, tmp_path):
    """A mount that asks twice, its folder, and names of records that nobody has read."""
    names = [f"t-{number:03}" for number in range(3 * EACH + SEEN)]
    table(tables.plain(), [tables.item(name, name) for name in names])
    m = mount("--hedge", "yes", map_file=tables.write_map(tmp_path / "plain.map.json"))
    return m, m / "any/things/box", iter(names)


@pytest.fixture
def hang(proxy):
    """hang(): the next request stays unanswered until the test is over."""
    over = threading.Event()
    yield lambda **how: proxy.fault("delay", seconds=100, until=lambda _: over.is_set(), **how)
    over.set()


def read(folder, names, count):
    for _, name in zip(range(count), names):
        assert name in (folder / name).read_text()


def test_the_first_answer_counts(box, proxy, hang):
    m, folder, names = box
    read(folder, names, SEEN)
    proxy.clear()
    hang()
    read(folder, names, 1)
    assert m.counts() == {"GetItem": 2}
    assert proxy.requests[0].body == proxy.requests[1].body
    assert proxy.connections() == 2, "over another connection"
    told = m.stats()
    assert (told["hedged_requests"], told["hedges_won"]) == (1, 1)
    assert "ddbfs_hedges_won" in (m / ".ddbfs/metrics").read_text()


def test_what_is_asked_again_is_bounded(box, proxy, hang):
    """Of so many requests one is sent twice, and no more where more are late: those wait."""
    m, folder, names = box
    read(folder, names, SEEN)
    proxy.clear()
    hang(times=1)
    read(folder, names, 1)
    assert m.counts() == {"GetItem": 2}
    proxy.fault("delay", times=1, seconds=1)
    read(folder, names, 1)
    assert m.counts() == {"GetItem": 3}


def test_queries_are_not_asked_again(box, proxy):
    m, folder, names = box
    read(folder, names, 2 * EACH)
    proxy.clear()
    proxy.fault("delay", op="Query", times=1, seconds=1)
    assert len(list(folder.iterdir())) == 3 * EACH + SEEN
    assert m.counts() == {"Query": 1}
