"""All sources have one contract: a Read of the same items has the same result on every server and in a snapshot. The
documentation decides (harness/reads.py works its results out)."""

import contextlib
import json

import pytest

from conftest import SERVERS
from harness import load, reads, snapshots, tables, zoo
from harness.rows import rows

SOURCES = [*SERVERS, "snapshot"]
MOMENT = "2026-11-01T00:00:00Z"


@pytest.fixture(scope="module")
def loaded(server_called, tmp_path_factory):
    """loaded(source, description, items): the URL or the file, with that table. Tables stay for the module."""
    folder = tmp_path_factory.mktemp("snapshots")
    made = {}

    def load_one(source, description, items):
        name = description["TableName"]
        if (source, name) in made:
            return made[source, name]
        if source == "snapshot":
            made[source, name] = snapshots.write(folder / f"{name}.ddb", [description], [(MOMENT, {name: items})])
        else:
            server = server_called(source)
            dynamo = load.client(server.url)
            stored = [{key: reads.for_boto(value) for key, value in item.items()} for item in items]
            load.create_table(dynamo, description)
            load.put_all(dynamo, name, stored)
            made[source, name] = server.url
        return made[source, name]

    yield load_one
    for source, name in made:
        if source != "snapshot":
            with contextlib.suppress(Exception):
                load.client(server_called(source).url).delete_table(TableName=name)


def check(server, description, items, read, outcome):
    filtered, wanted = reads.lacks(description, read)
    if server == "dynoxide" and (filtered or wanted):
        return  # it knows neither of the two rules for attributes that an index does not have
    if filtered:
        assert outcome.get("error") == "invalid", (read, outcome)
        return
    assert "error" not in outcome, (outcome["text"], read)
    groups = reads.query(description, items, read)
    count = sum(map(len, groups))
    if read.get("counts"):
        assert (outcome["counted"], outcome["items"]) == (count, []), (read, groups)
        return
    assert reads.grouped_as(groups, outcome["items"], read.get("attributes")), (read, groups, outcome["items"])
    if read.get("limit") and "filter" not in read:
        assert outcome["pages"][0] == min(read["limit"], count), (read, outcome["pages"])


@pytest.mark.parametrize("server", SOURCES)
@pytest.mark.parametrize("seed", range(4))
def test_random_tables(server, seed, loaded):
    description, items, asked = reads.random_case(seed, f"random-{seed}")
    place = loaded(server, description, items)
    for read, outcome in zip(asked, reads.run(place, asked)):
        check(server, description, items, read, outcome)
    assert sum(bool(reads.query(description, items, read)) for read in asked) > len(asked) / 3


@pytest.fixture(scope="module")
def things():
    """A table with a local and a global index, and items of three partitions."""
    description = tables.table("Things-of-sources")
    description["AttributeDefinitions"] += [{"AttributeName": "g", "AttributeType": "N"}]
    description["GlobalSecondaryIndexes"] = [zoo.index("by-g", "g", "sk")]
    description["LocalSecondaryIndexes"] = [zoo.index("local-g", "pk", "g")]
    items = [
        {"pk": {"S": f"p{at % 3}"}, "sk": {"S": f"{at:03}"}, "g": {"N": str(at % 5)}, "x": {"S": "v"}}
        for at in range(60)
    ]
    return description, items


def key(pk, sk):
    return {"pk": {"S": pk}, "sk": {"S": sk}}


def sorted_texts(items):
    return sorted(map(reads.text, items))


@pytest.mark.parametrize("server", SOURCES)
def test_items_by_their_keys(server, loaded, things):
    description, items = things
    name = description["TableName"]
    keys = [key(f"p{at % 3}", f"{at:03}") for at in range(100)]  # the last 40 do not exist
    one = {"kind": "items", "table": name}
    asked = [{**one, "keys": keys}, {**one, "keys": keys[7:8]}, {**one, "keys": keys[99:]},
             {**one, "keys": keys[:2], "attributes": ["x"]}]  # fmt: skip
    outcomes = reads.run(loaded(server, description, items), asked)
    assert sorted_texts(outcomes[0]["items"]) == sorted_texts(items)
    assert outcomes[1]["items"] == items[7:8] and outcomes[2]["items"] == []
    assert [set(item) for item in outcomes[3]["items"]] == [{"pk", "sk", "x"}] * 2
    assert not any("error" in outcome for outcome in outcomes)


@pytest.mark.parametrize("server", SOURCES)
def test_scans(server, loaded, things):
    description, items = things
    scan = {"kind": "scan", "table": description["TableName"]}
    segments = [{**scan, "segment": at, "segments": 3, "attributes": ["pk"]} for at in range(3)]
    outcomes = reads.run(loaded(server, description, items), [scan, {**scan, "limit": 7}, *segments])
    assert sorted_texts(outcomes[0]["items"]) == sorted_texts(items)
    assert sorted_texts(outcomes[1]["items"]) == sorted_texts(items) and max(outcomes[1]["pages"]) == 7
    found = [item for outcome in outcomes[2:] for item in outcome["items"]]
    assert sorted_texts(found) == sorted_texts([{"pk": item["pk"]} for item in items])
    if server == "snapshot":
        order = sorted(items, key=lambda item: (item["pk"]["S"], item["sk"]["S"]))
        assert outcomes[0]["items"] == outcomes[1]["items"] == order


@pytest.mark.parametrize("server", SOURCES)
def test_descriptions(server, loaded, things):
    description, items = things
    name = description["TableName"]
    listed, told = reads.run(loaded(server, description, items), [{"kind": "tables"}, {"kind": "table", "table": name}])
    assert name in listed["names"] and listed["names"] == sorted(listed["names"])
    for member in ("KeySchema", "TableName"):
        assert told["description"][member] == description[member]
    if server == "snapshot":
        assert told["description"]["ItemCount"] == len(items)


HERE = {"kind": "query", "table": "Things-of-sources", "where": [["pk", "=", {"S": "p0"}]]}
BY_G = {**HERE, "index": "by-g", "where": [["g", "=", {"N": "1"}]]}


@pytest.mark.parametrize("server", SOURCES)
@rows(
    "kind, read",
    [
        ("no-table", {**HERE, "table": "Thing-of-sources"}),
        ("no-table", {"kind": "items", "table": "Thing-of-sources", "keys": [key("a", "b")]}),
        ("no-table", {"kind": "table", "table": "Thing-of-sources"}),
        ("no-table", {**HERE, "index": "by-h"}),
        ("invalid", {**HERE, "where": [["sk", "=", {"S": "1"}]]}),
        ("invalid", {**HERE, "where": [*HERE["where"], ["x", "=", {"S": "1"}]]}),
        ("invalid", {**HERE, "where": [*HERE["where"], ["sk", "between", {"S": "b"}, {"S": "a"}]]}),
        ("invalid", {**BY_G, "consistent": True}),
        ("invalid", {"kind": "items", "table": "Things-of-sources", "keys": [{"pk": {"S": "a"}}]}),
        ("invalid", {"kind": "items", "table": "Things-of-sources", "keys": [{"pk": {"S": "a"}, "sk": {"N": "1"}}]}),
    ],
)
def test_errors(server, kind, read, loaded, things):
    (outcome,) = reads.run(loaded(server, *things), [read])
    assert outcome.get("error") == kind, outcome
    if kind == "no-table":
        assert "Things-of-sources" in outcome["text"] or "by-g" in outcome["text"], outcome


@pytest.mark.parametrize("server", [each for each in SOURCES if each != "dynoxide"])  # it checks no types
@rows(
    "where, index",
    [
        ([["pk", "=", {"N": "1"}]], None),
        ([*HERE["where"], ["sk", "<", {"N": "1"}]], None),
        ([*HERE["where"], ["g", "begins with", {"N": "1"}]], "local-g"),
    ],
)
def test_values_of_another_type_than_the_key_are_refused(server, where, index, loaded, things):
    read = {**HERE, "where": where, **({"index": index} if index else {})}
    (outcome,) = reads.run(loaded(server, *things), [read])
    assert outcome.get("error") == "invalid", outcome


@pytest.mark.parametrize("server", SOURCES)
def test_pages_are_bounded(server, loaded):
    description = tables.table("Large-of-sources")
    items = [{**key("p", f"{at:03}"), "x": {"S": f"{at % 10}" * 150_000}} for at in range(20)]
    asked = [{**HERE, "table": "Large-of-sources", "where": [["pk", "=", {"S": "p"}]], "sort": ["sk"], **more}
             for more in ({}, {"descending": True}, {"counts": True}, {"filter": 'x begins with "3"'})]  # fmt: skip
    up, down, counted, some = reads.run(loaded(server, description, items), asked)
    assert up["items"] == items and down["items"] == items[::-1] and counted["counted"] == 20
    assert max(up["pages"]) <= 8 and len(up["pages"]) >= 3
    last = json.loads(json.dumps(items[sum(up["pages"][:-1]) - 1]))
    assert up["position"] == {name: last[name] for name in ("pk", "sk")}
    assert some["items"] == [items[3], items[13]]
