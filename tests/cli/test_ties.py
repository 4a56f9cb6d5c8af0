"""Windows on an index whose sort keys are not unique: walking them steps over nothing."""

import json
import random

import pytest

from harness import tables
from harness.rows import rows

NAME = "{when}@{name}"


def described():
    """A table with an index by `state`, sorted by `when`."""
    plain = tables.table("any-Events")
    return {
        **plain,
        "AttributeDefinitions": [
            *plain["AttributeDefinitions"],
            {"AttributeName": "state", "AttributeType": "S"},
            {"AttributeName": "when", "AttributeType": "N"},
        ],
        "GlobalSecondaryIndexes": [
            {
                "IndexName": "by-state",
                "KeySchema": [
                    {"AttributeName": "state", "KeyType": "HASH"},
                    {"AttributeName": "when", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            }
        ],
    }


def window(**members):
    return {"index": "by-state", "name": "{when},{box},{name}", "ties": True, **members}


@pytest.fixture
def events(boto, table, write_map):
    """events(moments) -> writes one item each; `env`: the map; `all()`: what boto3 has, in order."""
    name = table(described())
    text = {
        "environments": {"any": {"prefix": "any-", "profile": "controller", "region": "us-east-1"}},
        "tables": {
            "events": {
                "table": "Events",
                "records": {"event": {"pk": "{box*}", "sk": "{name*}"}},
                "types": {"when": "N"},
                "indexes": {"by-state": {"partition": "state", "sort": "when", "projects": "keys"}},
                "paths": {
                    "{state}/oldest:{count}/": window(oldest="{count}"),
                    "{state}/newest:{count}/": window(newest="{count}"),
                    "{state}/after:{key}/": window(oldest=5, where={"'when'": {">": "{key}"}}),
                    "{state}/filtered/": {
                        **window(oldest=3, filter={"note": "yes"}),
                        "index": "by-state",
                    },
                },
            }
        },
    }
    text["tables"]["events"]["indexes"]["by-state"]["projects"] = ["note"]

    def put(moments):
        for number, moment in enumerate(moments):
            note = "yes" if number % 3 else "no"
            item = {
                "pk": {"S": f"box{number % 4}"},
                "sk": {"S": f"{number:04d}"},
                "state": {"S": "open"},
                "when": {"N": str(moment)},
                "note": {"S": note},
            }
            boto.put_item(TableName=name, Item=item)

    def found():
        pages = boto.get_paginator("query").paginate(
            TableName=name,
            IndexName="by-state",
            KeyConditionExpression="#s = :s",
            ExpressionAttributeNames={"#s": "state"},
            ExpressionAttributeValues={":s": {"S": "open"}},
        )
        return [item for page in pages for item in page["Items"]]

    put.env = {"DDBFS_MAP": str(write_map(text))}
    put.all = found
    return put


def with_ties(items, count):
    """The first COUNT, and those that share the last one's moment."""
    return [each for each in items if each["when"] in [one["when"] for one in items[:count]]]


def names_of(items):
    return sorted(f"{each['when']['N']},{each['pk']['S']},{each['sk']['S']}" for each in items)


def listed(ddbfs, events, paths, *options):
    paths = [paths] if isinstance(paths, str) else paths
    text = ddbfs("ls", *options, *[f"/any/events/open/{path}" for path in paths], env=events.env).text
    return [line.rsplit(" ", 1)[-1] for line in text.splitlines()]


MOMENTS = [1, 2, 2, 2, 3, 4, 4, 5, 6, 6, 6, 6, 6, 7]


@rows("options", [(), ("-l",)])
@rows("items", [None, 1, 3])
def test_it_goes_on_while_the_sort_key_is_the_same(ddbfs, events, proxy, options, items):
    events(MOMENTS)
    if items:
        proxy.fault("page_size", op="Query", times=None, items=items)
    truth = events.all()
    for end, ordered in (("oldest", truth), ("newest", truth[::-1])):
        wanted = {f"{end}:{count}": names_of(with_ties(ordered, count)) for count in (1, 2, 3, 4, 5, 6, 9, 13, 14, 20)}
        found = listed(ddbfs, events, wanted, *options)
        for path, names in wanted.items():  # the lists follow one another
            assert sorted(found[: len(names)]) == names, path
            del found[: len(names)]
        assert found == []


@rows("options", [(), ("-l",)])
def test_a_walk_in_windows_sees_each_record_once(ddbfs, events, options):
    dice = random.Random(8)
    events(sorted(dice.randrange(12) for _ in range(60)))
    walked, last = [], -1
    while window := listed(ddbfs, events, f"after:{last}", *options):
        walked += window
        last = window[-1].split(",")[0]
    assert sorted(walked) == names_of(events.all())


def test_where_nobody_shares_it_one_request_does(ddbfs, events, cost):
    events(MOMENTS)
    cost()
    assert len(listed(ddbfs, events, "oldest:4")) == 4
    assert cost() == ["Query by-state"]
    assert len(listed(ddbfs, events, "oldest:2")) == 4
    assert cost() == ["Query by-state", "Query by-state"]


def test_what_explain_prints_gives_what_the_path_gives(ddbfs, events, shell):
    events(MOMENTS)
    truth = events.all()
    for count in (1, 2, 4, 9, 20):
        path = f"/any/events/open/oldest:{count}"
        told = json.loads(ddbfs("explain", "--json", path, env=events.env).stdout)["aws"]
        found = [json.loads(line) for line in shell(told).text.splitlines() if line]
        found = [each.get("Item", each) for each in found]
        assert names_of(found) == names_of(with_ties(truth, count))
    words = ddbfs("explain", "/any/events/open/oldest:7", env=events.env).text
    assert "at most 7 and those that share the last one's sort key" in words
    assert "many items share the last one's sort key" in words
