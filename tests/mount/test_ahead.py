"""Who reads the files of a listing in its order is given the next ones before he asks for them."""

import json
import random

import pytest

from harness import tables

COUNT = 400


def text_of(number):
    return f"page {number} " + "x" * (number * 37 % 6000)

@pytest.fixture
def book(mount, make_map, table):
    """A mounted listing of COUNT files, as names in the listing's order, with what each holds."""
    items = [
        {"pk": {"S": "b"}, "sk": {"S": f"{n:04}"}, "text": {"S": text_of(n)}}
        for n in range(COUNT)
    ]
    table(tables.plain(), items)
    text = json.dumps(tables.plain_map(secret=["note"]))
    mounted = mount(env={"DDBFS_MAP": str(make_map(lambda _: text))})
    folder = mounted / "any/things/b"
    return mounted, folder, [f"{n:04}" for n in range(COUNT)]


def check(folder, name):
    assert (folder / name).read_text() == (
        f'{{\n  "pk": "b",\n  "sk": "{name}",\n  "text": "{text_of(int(name))}"\n}}\n'
    )


@pytest.mark.parametrize("order", ["forward", "backward"])
def test_files_in_order_are_given_ahead_and_right(book, order):
    mounted, folder, names = book
    assert sorted(entry.name for entry in folder.iterdir()) == names
    for name in names if order == "forward" else reversed(names):
        check(folder, name)
    given = mounted.stats()["files_read_ahead"]
    assert 0 < given <= COUNT


def test_files_here_and_there_are_not(book):
    mounted, folder, names = book
    list(folder.iterdir())
    far = [names[i] for i in range(0, COUNT, 40)]
    random.Random(1).shuffle(far)
    for name in far:
        check(folder, name)
    assert mounted.stats()["files_read_ahead"] == 0
