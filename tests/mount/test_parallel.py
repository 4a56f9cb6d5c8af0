"""Several parts of a mount's directory are read at the same time if all of it is read, and not if only its beginning is."""

import itertools
import json
import os
import pathlib
import re
import subprocess

import pytest

from harness import mounts, tables

ITEMS = 3000
PAGE = 100


@pytest.fixture
def big(mount, table, tmp_path, proxy):
    """A mount that reads parts whatever the time of a page, and a directory of 30 pages."""
    table(tables.plain(), [{"pk": {"S": "box"}, "sk": {"S": f"{each:04}"}} for each in range(ITEMS)])
    map_file = tmp_path / "map.json"
    map_file.write_text(json.dumps(tables.plain_map()))
    proxy.fault("page_size", op="Query", times=None, items=PAGE)
    made = mount("--parallel", "0", map_file=map_file)
    proxy.clear()
    return made


def test_a_directory_that_is_read_whole(big, proxy):
    names = os.listdir(big / "any/things/box")
    assert names == [f"{each:04}" for each in range(ITEMS)]
    conditions = {record.body["KeyConditionExpression"] for record in proxy.requests}
    assert len(conditions) > 1 and len(proxy.requests) <= 2 * ITEMS // PAGE + 12
    assert big.stats()["parallel_listings"] == 1


def consumed(m):
    """What each book says was consumed: by the readers, and by all."""
    stats = m.stats()
    mine = [each for each in stats["programs"] if each["program"] != "ddbfs"]
    uses = re.findall(r"^ddbfs_use_read_units_total\{.*program=\"(?!ddbfs\")[^\"]*\"\} (\S+)$", (m / ".ddbfs/metrics").read_text(), re.M)
    ledger = map(json.loads, (m / ".ddbfs/ledger.jsonl").read_text().splitlines())
    return {
        "ledger": sum(line["units"] or 0 for line in ledger if line["program"] != "ddbfs"),
        "programs": sum(each["units"] or 0 for each in mine),
        "uses": sum(each["units"] or 0 for each in stats["uses"] if each["program"] != "ddbfs"),
        "metrics": sum(map(float, uses)),
        "all": stats["consumed_capacity"],
    }


def test_the_books_have_all_that_was_consumed(mount, table, tmp_path, proxy):
    """Of listings of 8 and 30 pages, read whole or left by their reader at some page: each book has what
    the proxy has counted, the pages of which nothing was told included."""
    table(tables.plain(), [{"pk": {"S": "box"}, "sk": {"S": f"{each:04}"}} for each in range(30)])
    map_file = tmp_path / "map.json"
    map_file.write_text(json.dumps(tables.plain_map()))
    m = mount("--parallel", "0", map_file=map_file)
    proxy.clear()
    before = m.stats()["consumed_capacity"]
    path, wrong = str(m / "any/things/box"), []

    def check(*what):
        # A request that was under way when its reader left is booked when its response comes.
        def agree():
            sums = consumed(m)
            sums["all"] -= before
            return set(sums.values()) == {sum(record.units for record in proxy.requests)}

        try:
            mounts.wait_until(agree, "books that agree", 5)
        except AssertionError:
            wrong.append((*what, consumed(m), sum(record.units for record in proxy.requests)))

    for items in (1, 4):
        proxy.heal()
        proxy.fault("page_size", op="Query", times=None, items=items)
        os.listdir(path)
        m.refresh("any/things/box")
        check("whole", items)
        info = json.loads(pathlib.Path(path + "@info").read_text())
        m.refresh("any/things/box")
        check("info", items, info)
    proxy.heal()
    proxy.fault("page_size", op="Query", times=None, items=1)
    proxy.fault("delay", op="Query", times=None, seconds=0.03)
    for seen in (3, 9):
        m.refresh("any/things/box")
        reader = subprocess.Popen(["cat", path + "@jsonl"], stdout=subprocess.DEVNULL)
        mounts.wait_until(lambda: sum(record.op == "Query" for record in proxy.requests) % 30 >= seen, "pages")
        reader.kill()
        reader.wait()
        check("interrupted", seen)
    assert not wrong


def test_a_directory_that_is_looked_into(big, proxy):
    with os.scandir(big / "any/things/box") as entries:
        assert len(list(itertools.islice(entries, 10))) == 10
    assert len(proxy.requests) == 1
