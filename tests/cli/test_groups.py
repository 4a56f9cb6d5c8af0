"""Listings of directories alone: the values of the next part of a key, each once."""

import json

import pytest

from harness import tables
from harness.rows import rows

INDEX = {
    "IndexName": "by-state",
    "KeySchema": [
        {"AttributeName": "state", "KeyType": "HASH"},
        {"AttributeName": "when", "KeyType": "RANGE"},
    ],
    "Projection": {"ProjectionType": "KEYS_ONLY"},
}
PATHS = {
    "by/{state}/": {"index": "by-state", "groups": True},
    "by/{state}/{when}/": {"index": "by-state"},
    "days/{box}/": {"groups": True},
    "days/{box}/{day}/": {},
    "days/{box}/TODAY/": {"where": {"day": "2026-01-01"}},
    "some/{box}/": {"groups": True, "where": {"day": "2026*"}},
    "some/{box}/{day}/": {},
}
DAYS = ["2026-01-01", "2026-01-02", "TODAY", "README", "a/b", "-", ".x", "%41", "é"]


@pytest.fixture
def events(boto, table, write_map):
    """events(items): puts them; `env` is the map."""
    plain = tables.table("any-Events")
    names = {"state": "S", "when": "N"}
    keys = [{"AttributeName": name, "AttributeType": each} for name, each in names.items()]
    attributes = [*plain["AttributeDefinitions"], *keys]
    name = table({**plain, "AttributeDefinitions": attributes, "GlobalSecondaryIndexes": [INDEX]})
    text = {
        "environments": {"any": {"prefix": "any-", "profile": "controller", "region": "us-east-1"}},
        "tables": {
            "events": {
                "table": "Events",
                "records": {"event": {"pk": "{box*}", "sk": "{day}#{id}"}},
                "types": {"when": "N"},
                "indexes": {"by-state": {"partition": "state", "sort": "when", "projects": "keys"}},
                "paths": PATHS,
            }
        },
    }

    def put(count=40, **more):
        for number in range(count):
            item = {
                "pk": {"S": "box"},
                "sk": {"S": f"{DAYS[number % len(DAYS)]}#{number:03d}"},
                "state": {"S": "open"},
                "when": {"N": str(number // 7 - 2)},
                **more,
            }
            boto.put_item(TableName=name, Item=item)

    put.env = {"DDBFS_MAP": str(write_map(text))}
    put.query = lambda condition, **values: [
        item
        for page in boto.get_paginator("query").paginate(
            TableName=name, KeyConditionExpression=condition, **values
        )
        for item in page["Items"]
    ]
    return put


def truth(events):
    """(when, sk) of all that the index has."""
    found = events.query(
        "#s = :s",
        IndexName="by-state",
        ExpressionAttributeNames={"#s": "state"},
        ExpressionAttributeValues={":s": {"S": "open"}},
    )
    return [(item["when"]["N"], item["sk"]["S"]) for item in found]


@rows("options", [(), ("-l",)])
@rows("items", [None, 1, 5])
def test_each_value_is_a_directory_once_in_order(ddbfs, events, proxy, options, items):
    events()
    if items:
        proxy.fault("page_size", op="Query", times=None, items=items)
    text = ddbfs("ls", *options, "/any/events/by/open", env=events.env).text
    names = [line.rsplit(" ", 1)[-1] for line in text.splitlines()]
    assert names == [f"{when}/" for when in dict.fromkeys(when for when, _ in truth(events))]


def test_each_record_is_in_one_of_them(records, ls, events):
    events()
    folders = [f"/any/events/by/open/{name}" for name in ls("/any/events/by/open", env=events.env)]
    found = [(path.rpartition("/")[2], each["sk"]) for path, each in records(folders, env=events.env)]
    assert sorted(found) == sorted(truth(events))


def test_a_part_of_the_table_s_own_key(records, ls, events):
    """Also where a value is called as a step of the map is, or a README."""
    events()
    names = ls("/any/events/days/box", env=events.env)
    assert len(names) == len(set(names)) == len(DAYS) + 1 and "TODAY/" in names
    folders = [f"/any/events/days/box/{name}" for name in names if name != "TODAY/"]
    found = [each["sk"] for _, each in records(folders, env=events.env)]
    assert sorted(found) == sorted(sk for _, sk in truth(events))


def test_a_condition_that_leaves_some_out_is_told(ddbfs, events):
    """Days that it does not let through open all the same: the listing does not pass for whole."""
    events()
    listed = ddbfs("ls", "/any/events/some/box", env=events.env)
    assert listed.text == "README\n{day}/\n2026-01-01/\n2026-01-02/\n"
    told = ddbfs("ls", "/any/events/some/box/{day}", env=events.env, expect=1).stderr
    assert "there may be others" in told
    assert ddbfs("ls", "/any/events/some/box/é", env=events.env).text


def test_it_costs_pages_and_no_contents(ddbfs, events, cost):
    events()
    cost()
    ddbfs("ls", "-l", "/any/events/by/open", env=events.env)
    assert cost() == ["Query by-state"]
    told = ddbfs("explain", "/any/events/by/open", env=events.env).text
    assert "1 request a page of up to 1 MB" in told and "contents" not in told


def test_a_record_that_is_of_no_kind_is_told(ddbfs, boto, events):
    events()
    item = {"pk": {"S": "box"}, "sk": {"S": "nothing"}, "state": {"S": "open"}, "when": {"N": "99"}}
    boto.put_item(TableName="any-Events", Item=item)
    listed = ddbfs("ls", "/any/events/by/open", env=events.env)
    assert "99/" not in listed.text
    assert "1 item of any-Events fits none of the map's kinds" in listed.stderr
