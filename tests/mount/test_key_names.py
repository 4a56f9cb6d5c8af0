"""Names of keys that are typed in another spelling than they are listed, in a mount."""

import errno
import json
import os

import pytest

from harness import tables


@pytest.fixture
def scores(mount, table, tmp_path):
    """The mounted folder of a game's scores, whose sort key is a number with zeros in front."""
    items = [
        {"pk": {"S": "GAME#GO"}, "sk": {"S": f"SCORE#{score:05}#{email}"}, "n": {"N": str(score)}}
        for score, email in [(7, "ann"), (42, "bob"), (99999, "eve")]
    ]
    table(tables.plain(), items)
    records = {"score": {"pk": "GAME#{game:upper}", "sk": "SCORE#{score:05}#{email:lower}"}}
    file = tmp_path / "scores.map.json"
    file.write_text(json.dumps(tables.plain_map(records=records, paths={"{game}/": {}})))
    return mount(map_file=file) / "any/things"


def test_names_show_numbers_and_any_spelling_opens_them(scores):
    assert sorted(os.listdir(scores / "GO")) == ["42#bob", "7#ann", "99999#eve"]
    record = (scores / "GO/42#bob").read_bytes()
    assert json.loads(record)["n"] == 42
    for typed in ("go/42#bob", "GO/00042#bob", "Go/00042#BOB"):
        assert (scores / typed).read_bytes() == record
    with pytest.raises(OSError) as caught:
        (scores / "GO/123456#bob").stat()
    assert caught.value.errno == errno.EINVAL


def test_bytes_are_typed_in_base64(mount, table, tmp_path):
    keys = [b"\x00\x01\x02", b"base64:AAEC"]
    items = [{"pk": {"S": "box"}, "sk": {"B": key}, "size": {"N": str(len(key))}} for key in keys]
    table(tables.table("any-Things", "S", "B"), items)
    file = tmp_path / "bytes.map.json"
    records = {"thing": {"pk": "{box*}", "sk": "{name}"}}
    file.write_text(json.dumps(tables.plain_map(records=records, types={"sk": "B"})))
    box = mount(map_file=file) / "any/things/box"
    assert sorted(os.listdir(box)) == ["%00%01%02", "%62ase64:AAEC"]
    for typed, size in [("base64:AAEC", 3), ("%00%01%02", 3), ("%62ase64:AAEC", 11)]:
        assert json.loads((box / typed).read_bytes())["size"] == size
    with pytest.raises(OSError) as caught:
        (box / "base64:AAE").stat()
    assert caught.value.errno == errno.ENOENT  # which is another key
    with pytest.raises(OSError) as caught:
        (box / "base64:AAECA").stat()
    assert caught.value.errno == errno.EINVAL
