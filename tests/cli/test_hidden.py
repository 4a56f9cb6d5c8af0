"""Paths that open and that no listing shows."""

import json

import pytest

from harness.rows import rows

PATHS = {
    "{box}/": {},
    "{box}/{from}..{to}/": {"where": {"name": "{from}..{to}"}, "hidden": True},
    "{box}/first/": {"oldest": 2, "hidden": True},
    "{box}/last": {"newest": 1, "hidden": True},
    "{box}/after:{key}/": {"where": {"'sk'": {">": "{key}"}}, "hidden": True},
}
KEYS = ["a", "ab", "b", "first", "last", "z"]


@pytest.fixture
def boxes(things, plain_map, write_map):
    plain_map["tables"]["things"]["paths"] = PATHS
    things.env = {"DDBFS_MAP": str(write_map(plain_map))}
    things.listed = {key: things.put(key, note={"S": key}) for key in KEYS}
    return things


@rows(
    "path, keys",
    [("", KEYS), ("/a..b", ["a", "ab", "b"]), ("/first", ["a", "ab"]), ("/after:a", KEYS[1:])],
)
def test_each_listing_has_what_it_asks_and_nothing_hidden(ddbfs, ls, boxes, path, keys):
    names = ls(f"/any/things/box{path}", env=boxes.env)
    text = [ddbfs("cat", f"/any/things/box{path}/{name}", env=boxes.env).text for name in names]
    assert [json.loads(each)["note"] for each in text] == keys


def test_a_hidden_record_opens(ddbfs, boxes):
    assert json.loads(ddbfs("cat", "/any/things/box/last", env=boxes.env).text)["note"] == "z"


def test_a_directory_with_it_is_whole(ddbfs, boxes):
    listed = ddbfs("ls", "-l", "/any/things/box", env=boxes.env)
    assert listed.stderr == ""
    assert len(listed.text.splitlines()) == len(KEYS)


def test_readme_and_explain_tell_it(ddbfs, boxes):
    readme = ddbfs("cat", "/any/things/README", env=boxes.env).text
    shown = [line.strip() for line in readme.splitlines()]
    for path in PATHS:  # a window of a listing without the listing's own steps
        assert path in shown or path.removeprefix("{box}/") in shown
    assert json.loads(ddbfs("explain", "--json", "/any/things/box/a..b", env=boxes.env).text)
