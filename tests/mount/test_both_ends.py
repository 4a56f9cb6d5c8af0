"""A mount's directory that is read whole is read from both ends; one that is looked into is not."""

import itertools
import json
import os

import pytest

from harness import tables

ITEMS = 1500
PAGE = 100


@pytest.fixture
def big(mount, table, tmp_path, proxy):
    """A mount whose every page is worth a second request, and a directory of ten pages."""
    table(tables.plain(), [{"pk": {"S": "box"}, "sk": {"S": f"{each:04}"}} for each in range(ITEMS)])
    map_file = tmp_path / "map.json"
    map_file.write_text(json.dumps(tables.plain_map()))
    proxy.fault("page_size", op="Query", times=None, items=PAGE)
    made = mount("--both-ends", "0", map_file=map_file)
    proxy.clear()
    return made


def backwards(proxy):
    return [record for record in proxy.requests if record.op == "Query" and record.body.get("ScanIndexForward") is False]


def test_a_directory_that_is_read_whole(big, proxy):
    names = os.listdir(big / "any/things/box")
    assert names == [f"{each:04}" for each in range(ITEMS)]
    assert backwards(proxy) and len(proxy.requests) <= ITEMS // PAGE + 3
    assert big.stats()["listings_from_both_ends"] == 1


def test_a_directory_that_is_looked_into(big, proxy):
    with os.scandir(big / "any/things/box") as entries:
        assert len(list(itertools.islice(entries, 10))) == 10
    assert len(proxy.requests) == 1
