"""How many entries a listing shows, where its path says it."""

import json

import pytest

from harness.rows import rows

KEYS = [*"abcdefgh", "newest:3", "newest:abc", "newest:0"]
BOX = "/any/things/box"


@pytest.fixture
def boxes(things, plain_map, write_map):
    plain_map["tables"]["things"]["paths"] = {
        "{box}/": {},
        "{box}/newest:{count}/": {"newest": "{count}", "hidden": True},
        "{box}/oldest:{count}/": {"oldest": "{count}", "name": "{rank}_{name}", "hidden": True},
        "only/{box}/first:{count}/": {"oldest": "{count}"},
    }
    things.env = {"DDBFS_MAP": str(write_map(plain_map))}
    for key in KEYS:
        things.put(key, note={"S": key})
    return things


def truth(boxes, count, forward):
    found = boxes.boto.query(
        TableName=boxes.table,
        KeyConditionExpression="pk = :p",
        ExpressionAttributeValues={":p": {"S": "box"}},
        ScanIndexForward=forward,
        Limit=count,
    )
    return [item["sk"]["S"] for item in found["Items"]]


@rows("count", [1, 2, 10, 1000000, "007"])
def test_as_many_as_the_path_says(records, boxes, count):
    found = records([f"{BOX}/newest:{count}"], env=boxes.env)
    assert [each["note"] for _, each in found] == truth(boxes, int(count), False)


def test_ranks_have_room_for_the_greatest_number(ls, boxes):
    assert ls(f"{BOX}/oldest:2", env=boxes.env) == ["0000001_a", "0000002_b"]


@rows("count", ["0", "1000001", "99999999999999999999", "00"])
def test_a_number_that_no_listing_has_is_refused(ddbfs, boxes, count):
    for path in (f"{BOX}/newest:{count}", f"{BOX}/newest:{count}/a"):
        told = ddbfs("ls", path, env=boxes.env, expect=1).stderr
        assert f'{{count}} in "newest:{count}" is the number of entries' in told
        assert "a number from 1 to 1000000" in told


@rows("count", ["abc", "-1", "1.5", "1e3", "%FF", " 1"])
def test_what_is_no_number_is_refused_where_nothing_else_is_called_so(ddbfs, boxes, count):
    told = ddbfs("ls", f"/any/things/only/box/first:{count}", env=boxes.env, expect=1).stderr
    assert "a number from 1 to 1000000" in told


def test_keys_that_look_like_it_stay_reachable(ddbfs, ls, boxes):
    names = ls(BOX, env=boxes.env)
    assert "newest:abc" in names and "newest:3" not in names and "newest:0" not in names
    notes = [json.loads(ddbfs("cat", f"{BOX}/{name}", env=boxes.env).text)["note"] for name in names]
    assert sorted(notes) == sorted(KEYS)
    assert len(ls(f"{BOX}/newest:3", env=boxes.env)) == 3


def test_explain_and_the_readme_tell_it(ddbfs, boxes):
    assert "at most 7" in ddbfs("explain", f"{BOX}/newest:7", env=boxes.env).text
    assert "--max-items 7" in ddbfs("explain", f"{BOX}/newest:7", env=boxes.env).text
    readme = ddbfs("cat", "/any/things/README", env=boxes.env).text
    assert "    newest:{count}/\n        the last {count}\n" in readme
