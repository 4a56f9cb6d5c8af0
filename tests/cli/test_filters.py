"""What a map says of filters, keys that are no text, and indexes, against both servers: the map of
docs/map.md among them."""

import base64
import json
import os
import random
import re
import urllib.parse

import pytest

from harness import conditions, load, places
from harness.rows import rows

pytestmark = pytest.mark.wire

SEED = int(os.environ.get("DDBFS_TEST_SEED", "20260301"))


def description(name, keys, types=(), indexes=(), local=()):
    """A table: KEYS and each index's keys are attribute names; TYPES says which are no strings."""
    schema = lambda names: [
        {"AttributeName": each, "KeyType": kind} for each, kind in zip(names, ("HASH", "RANGE"))
    ]
    secondary = lambda named: [
        {
            "IndexName": index,
            "KeySchema": schema(names),
            "Projection": {"ProjectionType": "ALL"},
        }
        for index, names in dict(named).items()
    ]
    used = {*keys, *(n for names in dict(indexes).values() for n in names)}
    used |= {n for names in dict(local).values() for n in names}
    table = {
        "TableName": name,
        "KeySchema": schema(keys),
        "AttributeDefinitions": [
            {"AttributeName": each, "AttributeType": dict(types).get(each, "S")}
            for each in sorted(used)
        ],
        "BillingMode": "PAY_PER_REQUEST",
    }
    if indexes:
        table["GlobalSecondaryIndexes"] = secondary(indexes)
    if local:
        table["LocalSecondaryIndexes"] = secondary(local)
    return table


def map_of(name, table):
    return {"environments": {"prod": {"prefix": "prod-"}}, "tables": {name: table}}


@pytest.fixture
def own(table, write_map, ddbfs):
    """own(description, items, map) -> run(*arguments): ddbfs with that map, over that table."""

    def make(described, items, content):
        table(described, items)
        file = write_map(content)

        def run(*arguments, expect=0):
            return ddbfs("--map", file, *arguments, expect=expect)

        return run

    return make


def names(result):
    """The records that are listed, without directories."""
    return [name for name in result.text.split("\n")[:-1] if not name.endswith("/")]


# Filters.


def map_of_the_reference():
    """The one whole map that stands in docs/map.md."""
    text = (places.REPO / "docs/map.md").read_text()
    (block,) = [each for each in re.findall(r"^```jsonc\n(.*?)^```", text, re.M | re.S) if each[0] == "{"]
    return block


def order(number, **attributes):
    return {"pk": {"S": "SHOP#s"}, "sk": {"S": number}, **attributes}


ORDERS = [
    order("a", total={"N": "5"}, open={"BOOL": True}, tags={"SS": ["urgent", "x"]}),
    order("b", total={"N": "50.0"}, open={"BOOL": False}, tags={"L": [{"S": "urgent"}]}, state={"S": "LATE"}),
    order("c", total={"N": "500"}, open={"BOOL": True}, state={"S": "PAID-IN-PART"}),
    order("d", total={"S": "5000"}, open={"S": "true"}, tags={"S": "not urgent"}, cancelled={"NULL": True}),
    order("e", total={"N": "5000"}, state={"S": "LOST"}, **{"eta.days": {"N": "4"}}),
    order("f", address={"M": {"city": {"S": "Ulm"}}}, items={"L": [{"M": {"sku": {"S": "k-1"}}}]}),
    order("g", **{"address.city": {"S": "Ulm"}}, state={"S": "LOST"}, eta={"M": {"days": {"N": "9"}}}),
]  # fmt: skip

LISTED = {
    "": "abcdefg",
    "over/50/": "bce",
    "over/5e1/": "bce",
    "over/050/": None,
    "total/5..500/": "abc",
    "open/true/": "ac",
    "open/false/": "b",
    "urgent/": "ab",
    "to/Ulm/": "f",
    "first-item/k-1/": "f",
    "late/": "e",
    "look-at/": "ae",
}


@pytest.fixture
def orders(own):
    described = description("prod-Orders", ["pk", "sk"])
    return own(described, ORDERS, map_of_the_reference())


@rows("path", [path for path, found in LISTED.items() if found is not None])
def test_the_reference_s_map_lists(orders, path):
    assert "".join(names(orders("ls", f"/prod/orders/s/{path}"))) == LISTED[path]


def test_a_record_outside_of_the_filter_is_not_there(orders):
    assert orders("cat", "/prod/orders/s/urgent/a").code == 0
    assert orders("cat", "/prod/orders/s/urgent/c", expect=None).code != 0


@rows(
    "path, why",
    [
        ("over/much/", "total is a number, which \"much\" is not"),
        ("over/1e126/", "total is a number, but 1e126 is larger than the numbers of DynamoDB"),
        (f"over/{'1' * 39}/", "has more than 38 digits"),
        ("open/yes/", "open is true or false, not \"yes\""),
        ("total/9..1/", "the range of total ends before it begins"),
    ],
)
def test_a_value_that_is_none_of_its_type_is_refused_in_a_sentence(orders, path, why):
    answer = orders("ls", f"/prod/orders/s/{path}", expect=None)
    assert answer.code != 0 and why in answer.stderr, answer


def test_explain_says_the_filter(orders):
    text = orders("explain", "/prod/orders/s/look-at/").text
    assert 'total > 1000 or (open = true and not (state begins with "PAID"))' in text


LARGE = {
    "many names": [{f"attribute {n}": {"exists": False}} for n in range(77)],
    "many alternatives": [{"or": [{f"a{n}": {"begins_with": "x"}}, {f"b{n}": 1}]} for n in range(36)],
    "many denials": [{"not": {f"a{n}": {"between": [1, 2]}}} for n in range(70)],
    "long paths": [{".".join(f"s{n}" for n in range(31)): {"!=": n}} for n in range(15)],
    "long lists": [{"a": {"in": list(range(90))}}, {"b": {"in": list(range(100, 190))}}] * 3,
}


@rows("kind", LARGE)
def test_a_filter_that_is_taken_is_one_that_the_service_takes(own, kind):
    content = json.loads(map_of_the_reference())
    del content["tables"]["orders"]["types"]
    content["tables"]["orders"]["paths"] = {"{shop}/": {"filter": {"and": LARGE[kind]}}}
    run = own(description("prod-Orders", ["pk", "sk"]), ORDERS, content)
    run("ls", "/prod/orders/s/")


COMMANDS = ["over/50/", "open/true/", "urgent/", "to/Ulm/", "first-item/k-1/", "late/", "look-at/"]


@rows("path", COMMANDS)
def test_the_printed_command_filters_alike(orders, shell, path):
    said = json.loads(orders("explain", "--json", f"/prod/orders/s/{path}").stdout)
    keys = re.findall(r'"sk":\s*{\s*"S":\s*"(.*?)"', shell(said["aws"]).text)
    assert "".join(keys) == LISTED[path]


@pytest.fixture
def generated(own):
    """Many filters, each a listing of its own: run, and the sort keys that each should give."""
    rng = random.Random(SEED)
    print("DDBFS_TEST_SEED", SEED)
    items = [conditions.item_of(number, rng) for number in range(40)]
    filters = [conditions.condition_of(rng) for _ in range(60)]
    filters = [each for each in filters if conditions.can_be_in_map(each)][:25]
    paths = ",\n".join(
        f'"{{p}}/{n}/": {{ "filter": {conditions.in_map(each)} }}' for n, each in enumerate(filters)
    )
    content = (
        '{ "environments": { "prod": {} }, "tables": { "t": { "table": "Conditions",\n'
        '"types": { "sk": "N" }, "records": { "r": { "pk": "{p}", "sk": "{n}" } },\n'
        f'"paths": {{ {paths} }} }} }} }}'
    )
    stored = [{name: conditions.for_boto(value) for name, value in each.items()} for each in items]
    return own(conditions.TABLE, stored, content), filters


def test_filters_of_a_map_give_what_the_service_gives(server, generated):
    run, filters = generated
    dynamo = load.client(server.url)
    for n, condition in enumerate(filters):
        want = conditions.ask(dynamo, "Conditions", conditions.request_of([condition]))
        got = {int(name) for name in names(run("ls", f"/prod/t/p/{n}/"))}
        assert got == want, conditions.in_map(condition)
        # A record that is read by its key is judged by ddbfs itself.
        for number in sorted(want)[:1] + sorted(set(range(40)) - want)[:1]:
            answer = run("cat", f"/prod/t/p/{n}/{number}", expect=None)
            assert (answer.code == 0) == (number in want), (conditions.in_map(condition), answer)


# Keys that are numbers.

NUMBERS = map_of(
    "things",
    {
        "table": "Things",
        "types": {"pk": "N", "seq": "N", "rank": "N"},
        "records": {"thing": {"pk": "{group}", "seq": "{n}"}},
        "indexes": {"ByRank": {"partition": "rank", "sort": {"seq": "{n}"}, "projects": "all"}},
        "paths": {
            "{group}/": {},
            "{group}/over/{least}/": {"where": {"seq": {">": "{least}"}}},
            "ranked/{rank}/": {"index": "ByRank"},
        },
    },
)


@pytest.fixture
def numbers(own):
    described = description(
        "prod-Things", ["pk", "seq"], {"pk": "N", "seq": "N", "rank": "N"}, {"ByRank": ["rank", "seq"]}
    )
    items = [
        {"pk": {"N": "100"}, "seq": {"N": n}, "rank": {"N": "1.50"}} for n in ("-3", "0", "2.5", "1000")
    ]
    return own(described, items, NUMBERS)


@rows("written", ["100", "1E2", "1e+2", "100.0", "1000e-1"])
def test_one_number_is_one_key_however_it_is_written(numbers, written):
    assert names(numbers("ls", f"/prod/things/{written}/")) == ["-3", "0", "2.5", "1000"]
    record = json.loads(numbers("cat", f"/prod/things/{written}/2.50").stdout)
    assert record["seq"] == 2.5
    assert names(numbers("ls", f"/prod/things/{written}/over/2.50/")) == ["1000"]


def test_one_key_is_asked_once_however_it_is_written(numbers, proxy):
    answer = numbers("cat", "/prod/things/100/2.5", "/prod/things/1E2/2.50", "/prod/things/1e2/25e-1")
    assert answer.text.count('"seq": 2.5') == 3
    assert [each.op for each in proxy.requests] == ["GetItem"]


def test_an_index_of_numbers(numbers):
    assert len(names(numbers("ls", "/prod/things/ranked/15e-1/"))) == 4


@rows("written", ["1e126", "-1e126", "1e-131", "9" * 39, "1." + "0" * 37 + "1"])
def test_a_number_that_is_none_of_dynamodb_s_is_refused(numbers, written):
    answer = numbers("cat", f"/prod/things/100/{written}", expect=None)
    assert answer.code != 0 and "seq is a number, but" in answer.stderr


# Keys that are bytes.

BINARY = map_of(
    "blobs",
    {
        "table": "Blobs",
        "types": {"pk": "B", "sk": "B"},
        "records": {"blob": {"pk": "{a}", "sk": "{b}"}},
        "paths": {"{a}/": {}},
    },
)


def test_binary_keys_of_any_bytes_are_listed_and_open(own, boto):
    rng = random.Random(SEED)
    print("DDBFS_TEST_SEED", SEED)
    keys = {bytes(rng.choice(b"#/%.\x00\xff ab") for _ in range(rng.randrange(1, 8))) for _ in range(60)}
    keys |= {rng.randbytes(rng.randrange(1, 12)) for _ in range(340)}
    items = [{"pk": {"B": b"#\x00/"}, "sk": {"B": key}} for key in sorted(keys)]
    blobs = own(description("prod-Blobs", ["pk", "sk"], {"pk": "B", "sk": "B"}), items, BINARY)
    listed = names(blobs("ls", "/prod/blobs/%23%00%2F/"))
    assert len(listed) == len(keys)
    paths = [f"/prod/blobs/%23%00%2F/{name}" for name in listed]
    assert blobs("--format", "compact", "cat", *paths).text.count("\n") == len(keys)
    one = sorted(keys)[7]
    assert blobs("cat", f"/prod/blobs/%23%00%2F/{urllib.parse.quote(one, safe='')}").code == 0


def test_bytes_may_be_typed_in_base64(own):
    keys = [b"\x00\x01\x02", b"???", b"base64:AAEC"]
    items = [{"pk": {"B": b"\xff"}, "sk": {"B": key}} for key in keys]
    blobs = own(description("prod-Blobs", ["pk", "sk"], {"pk": "B", "sk": "B"}), items, BINARY)
    assert names(blobs("ls", "/prod/blobs/base64:_w/")) == ["%00%01%02", "???", "%62ase64:AAEC"]
    for typed, key in [
        ("%00%01%02", keys[0]),
        ("base64:AAEC", keys[0]),
        ("base64:Pz8_", keys[1]),
        ("base64:Pz8%2F", keys[1]),
        ("%62ase64:AAEC", keys[2]),
        ("base64:" + base64.b64encode(keys[2]).decode(), keys[2]),
    ]:
        record = blobs("cat", f"/prod/blobs/base64:%2Fw==/{typed}@typed").stdout
        assert json.loads(record)["sk"] == {"B": base64.b64encode(key).decode()}
        told = json.loads(blobs("explain", "--json", f"/prod/blobs/base64:_w/{typed}").stdout)
        assert base64.b64encode(key).decode() in told["aws"]
    wrong = blobs("cat", "/prod/blobs/base64:_w/base64:AAECA", expect=None)
    assert wrong.code != 0 and "is not base64: a character is missing or too many" in wrong.stderr


# Indexes.

SHARED = map_of(
    "mall",
    {
        "table": "Mall",
        "records": {
            "order": {"pk": "ORDER#{order_id}", "sk": "META"},
            "item": {"pk": "ORDER#{order_id}", "sk": "ITEM#{item_id}"},
            "product": {"pk": "PRODUCT#{product_id}", "sk": "META"},
        },
        "indexes": {
            "GSI1": {
                "partition": {
                    "g1pk": {"order": "SHOP#{shop}", "item": "SHOP#{shop}", "product": "FEATURED"}
                },
                "sort": {
                    "g1sk": {
                        "order": "STATE#{state}#{day}",
                        "item": "ITEM#{day}",
                        "product": "{rank}",
                    }
                },
                "projects": "all",
            },
            "ByDay": {"partition": "pk", "sort": "day", "local": True, "projects": "all"},
        },
        "paths": {
            "featured/": {"list": "product", "index": "GSI1"},
            "featured/to/{rank}/": {
                "list": "product", "index": "GSI1", "where": {"g1sk": {"<=": "{rank}"}}
            },
            "{shop}/orders/": {"list": "order", "index": "GSI1"},
            "{shop}/late/": {"list": "order", "index": "GSI1", "where": {"state": "LATE"}},
            "{shop}/late/since/{since}/": {
                "list": "order", "index": "GSI1", "where": {"state": "LATE", "day": {">=": "{since}"}}
            },
            "{shop}/all/": {"list": ["order", "item"], "index": "GSI1"},
            "of/{order_id}/on/{day}/": {
                "list": ["order", "item"], "index": "ByDay", "where": {"day": "{day}"}, "consistent": True
            },
            "of/{order_id}/from/{since}/": {
                "list": "item", "index": "ByDay", "where": {"day": {">=": "{since}"}}, "consistent": True
            },
        },
    },
)  # fmt: skip


def mall_item(pk, sk, g1pk, g1sk, day="1"):
    texts = {"pk": pk, "sk": sk, "g1pk": g1pk, "g1sk": g1sk, "day": day}
    return {name: {"S": text} for name, text in texts.items()}


MALL = [
    mall_item("ORDER#1", "META", "SHOP#s", "STATE#LATE#2026-01", "2026-01"),
    mall_item("ORDER#2", "META", "SHOP#s", "STATE#LATE#2026-02", "2026-02"),
    mall_item("ORDER#3", "META", "SHOP#s", "STATE#PAID#2026-01", "2026-01"),
    mall_item("ORDER#1", "ITEM#a", "SHOP#s", "ITEM#2026-01", "2026-01"),
    mall_item("ORDER#1", "ITEM#b", "SHOP#s", "ITEM#2026-03", "2026-03"),
    mall_item("PRODUCT#p", "META", "FEATURED", "10"),
    mall_item("PRODUCT#q", "META", "FEATURED", "20"),
]

MALL_LISTS = {
    "featured/": ["p", "q"],
    "featured/to/15/": ["p"],
    "s/orders/": ["1", "2", "3"],
    "s/late/": ["1", "2"],
    "s/late/since/2026-02/": ["2"],
    "s/all/": ["1#ITEM#a", "1#ITEM#b", "1#META", "2#META", "3#META"],
    "of/1/on/2026-01/": ["ITEM#a", "META"],
    "of/1/from/2026-02/": ["b"],
}


@pytest.fixture
def mall(own):
    described = description(
        "prod-Mall", ["pk", "sk"], {}, {"GSI1": ["g1pk", "g1sk"]}, {"ByDay": ["pk", "day"]}
    )
    return own(described, MALL, SHARED)


@rows("path", MALL_LISTS)
def test_an_index_that_kinds_write_each_in_their_way(mall, path, proxy):
    assert sorted(names(mall("ls", f"/prod/mall/{path}"))) == MALL_LISTS[path]
    consistent = ["ConsistentRead" in each.body for each in proxy.requests]
    assert any(consistent) == path.startswith("of/")


def test_check_finds_a_local_index_that_is_a_global_one(own):
    described = description("prod-Mall", ["pk", "sk"], {}, {"GSI1": ["g1pk", "g1sk"], "ByDay": ["pk", "day"]})
    mall = own(described, MALL, SHARED)
    answer = mall("check", expect=None)
    assert "index ByDay of prod-Mall is a global index; remove \"local\"" in answer.stdout.decode() + answer.stderr

