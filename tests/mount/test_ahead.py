"""Who reads the files of a listing in its order is given the next ones before he asks for them."""

import json
import random

import pytest

COUNT = 400
TABLE = {
    "TableName": "any-Pages",
    "AttributeDefinitions": [
        {"AttributeName": "pk", "AttributeType": "S"},
        {"AttributeName": "sk", "AttributeType": "S"},
    ],
    "KeySchema": [
        {"AttributeName": "pk", "KeyType": "HASH"},
        {"AttributeName": "sk", "KeyType": "RANGE"},
    ],
    "BillingMode": "PAY_PER_REQUEST",
}
MAP = {
    "environments": {"any": {"prefix": "any-", "profile": "controller", "region": "us-east-1"}},
    "tables": {
        "pages": {
            "table": "Pages",
            "records": {"page": {"pk": "{book}", "sk": "{page}"}},
            "secret": ["note"],
            "paths": {"{book}/": {}},
        }
    },
}


@pytest.fixture
def book(mount, make_map, table):
    """A mounted listing of COUNT files, as names in the listing's order, with what each holds."""
    items = [
        {"pk": {"S": "b"}, "sk": {"S": f"{n:04}"}, "text": {"S": f"page {n} " + "x" * (n * 37 % 6000)}}  # fmt: skip
        for n in range(COUNT)
    ]
    table(TABLE, items)
    mounted = mount(env={"DDBFS_MAP": str(make_map(lambda _: json.dumps(MAP)))})
    folder = mounted / "any/pages/b"
    return mounted, folder, [f"{n:04}" for n in range(COUNT)]


def check(folder, name):
    n = int(name)
    text = f"page {n} " + "x" * (n * 37 % 6000)
    assert (folder / name).read_text() == (
        f'{{\n  "pk": "b",\n  "sk": "{name}",\n  "text": "{text}"\n}}\n'
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
