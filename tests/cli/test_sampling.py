"""ddbfs check with records: what the map says of keys, dates, picks, secrets, filters and attributes,
compared with what records hold."""

import json

import pytest

from harness import places
from harness.rows import rows

SHOP = "/prod/shops/cool-store.myshopify.com"
TABLE = {
    "TableName": "own-Jobs",
    "AttributeDefinitions": [
        {"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk", "shop_id", "state")
    ],
    "KeySchema": [
        {"AttributeName": "pk", "KeyType": "HASH"},
        {"AttributeName": "sk", "KeyType": "RANGE"},
    ],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "ByShop",
            "KeySchema": [
                {"AttributeName": "shop_id", "KeyType": "HASH"},
                {"AttributeName": "state", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "KEYS_ONLY"},
        }
    ],
    "BillingMode": "PAY_PER_REQUEST",
}
MAP = """\
{
  "environments": { "own": { "prefix": "own-", "profile": "controller", "region": "us-east-1" } },
  "tables": {
    "jobs": {
      "table": "Jobs",
      "records": {
        "job": { "pk": "P#{part}", "sk": "JOB#{job_id}" },
        "note": { "pk": "P#{part}", "sk": "NOTE#{note_id}" }
      },
      "indexes": {
        "ByShop": { "partition": "shop_id", "sort": { "state": "S#{state}" }, "projects": "keys" }
      },
      "params": { "part": { "values": ["1", "2"], "only": true }, "state": { "values": ["new"], "only": true }, "shop_id": { "values": ["a"], "only": true } },
      "mtime": "created_at",
      "secret": ["token"],
      "paths": {
        "all/{part}/": { "list": ["job", "note"] },
        "done/{part}/": { "list": "job", "filter": { "done": "yes" } },
        "shop/{shop_id}/": { "list": "job", "index": "ByShop" },
        "last/{part}": { "record": "job", "pick": { "greatest": "created_at" } },
        "word/{part}": { "record": "note", "attribute": "word", "newest": 1 }
      }
    }
  }
}
"""
GOOD = {
    "created_at": {"S": "2026-01-02T03:04:05Z"},
    "token": {"S": "x"},
    "done": {"S": "yes"},
    "shop_id": {"S": "a"},
    "state": {"S": "S#new"},
    "word": {"S": "w"},
}


def line_of(part):
    found = [n for n, line in enumerate(MAP.splitlines(), 1) if part in line]
    assert len(found) == 1, (part, found)
    return found[0]


@pytest.fixture
def check(ddbfs, table, write_map):
    """check(changes by sort key, words…) -> what is said, its first and last line apart. A change of
    None takes an attribute away."""

    def run(changes, *words, expect=None, **how):
        items = []
        for sort in ("JOB#1", "NOTE#1", *[name for name in changes if name not in ("JOB#1", "NOTE#1")]):
            item = {"pk": {"S": "P#1"}, "sk": {"S": sort}, **GOOD, **changes.get(sort, {})}
            items.append({name: value for name, value in item.items() if value})
        table(TABLE, items)
        path = write_map(MAP)
        result = ddbfs("check", path, *(words or ["--sample"]), expect=expect, **how)
        assert result.stderr == "", result
        lines = [line.removeprefix(f"{path}:") for line in result.text.splitlines()]
        return lines

    return run


def findings(lines):
    return [line for line in lines if line[:1].isdigit() and "read: " not in line and ": not proven: " not in line]


def unproven(lines):
    return [line.split(": not proven: ")[1] for line in lines if ": not proven: " in line]


def test_records_that_fit(check, proxy):
    lines = check({}, expect=0)
    assert lines[0] == "reading up to 10 items of each of 9 paths: at most 18 requests"
    asked = [each for each in proxy.requests if each.op in ("Query", "GetItem", "BatchGetItem")]
    assert lines[1].endswith(" items were read: 9 requests, 4.5 RCU") or asked
    assert len(asked) <= 18 and lines[2:4] == ["jobs: job: 1 item seen", "jobs: note: 1 item seen"]
    assert lines[4].endswith("keys and indexes of 1 table fit the map, and so do the items that were read")


CHANGES = {
    "another value": (
        {"JOB#1": {"state": {"S": "S#gone"}}},
        '"params": {',
        '{state} of pk = "P#1" and sk = "JOB#1" is "gone", which is not one of its "values"; add it, or remove "only"',
    ),
    "another value of a whole key": (
        {"JOB#1": {"shop_id": {"S": "b"}}},
        '"params": {',
        '{shop_id} of pk = "P#1" and sk = "JOB#1" is "b", which is not one of its "values"; add it, or remove "only"',
    ),
    "of no kind": (
        {"THING#1": {}},
        '"job": {',
        'the item with pk = "P#1" and sk = "THING#1" fits no kind of the map\'s "records"',
    ),
    "date": (
        {"JOB#1": {"created_at": {"S": "yesterday"}}},
        '"jobs": {',
        '"mtime" is created_at, which is not a date in pk = "P#1" and sk = "JOB#1"',
    ),
    "pick": (
        {"JOB#1": {"created_at": None}},
        '"last/{part}"',
        'pk = "P#1" and sk = "JOB#1" has no created_at, by which "last/{part}" picks',
    ),
    "secret": (
        {"JOB#1": {"token": None}, "NOTE#1": {"token": None}},
        '"jobs": {',
        'token is declared as "secret", but is not in any of the items that were read',
    ),
    "filter": (
        {"JOB#1": {"done": None}, "JOB#2": {"done": None}},
        '"done/{part}/"',
        'the filter of "done/{part}/" tests done, which is not in any of the items of its kinds',
    ),
    "attribute": (
        {"NOTE#1": {"word": None}, "NOTE#2": {"word": None}},
        '"word/{part}"',
        '"word/{part}" shows word, which is not in any of the items that it could show',
    ),
    "index": (
        {"JOB#1": {"state": {"S": "new"}}},
        '"ByShop": {',
        'state of pk = "P#1" and sk = "JOB#1" is "new", which does not fit "S#{state}" of index ByShop',
    ),
}


@rows("what", CHANGES)
def test_what_does_not_fit_is_told_with_its_key(check, what):
    changes, line, text = CHANGES[what]
    found = findings(check(changes, expect=1))
    assert found == [f"{line_of(line)}: {text}"]


def test_a_secret_of_another_kind_is_not_proven(check):
    """Only jobs are read here; what they lack may be in notes."""
    words = ["--sample", "/own/jobs/done/1"]
    lines = check({"JOB#1": {"token": None}, "NOTE#1": {"token": None}}, *words, expect=1)
    assert findings(lines) == [] and unproven(lines) == [
        'token is declared as "secret", but is not in the one item that was read; it may be in note, whose '
        "items were not read"
    ]


def test_one_mistake_is_told_once_with_a_count_and_an_example(check):
    lines = check({f"JOB#{n}": {"created_at": {"S": "soon"}} for n in range(1, 8)}, expect=1)
    assert findings(lines) == [
        str(line_of('"jobs": {')) + ': "mtime" is created_at, which is not a date in pk = "P#1" and '
        'sk = "JOB#1"; 6 more items show the same'
    ]


def test_a_kind_that_is_written_otherwise_is_not_seen(ddbfs, table, write_map):
    """PROJ# for PROJECT# reads nothing, which proves nothing; nor is a misspelt secret missed."""
    items = [{"pk": {"S": "P#1"}, "sk": {"S": "JOB#1"}, **GOOD}]
    table(TABLE, items)
    path = write_map(
        MAP.replace('"NOTE#{note_id}" }', '"NOTE#{note_id}" }, "tag": { "pk": "TAGS#1", "sk": "{tag*}" }')
        .replace('"word/{part}"', '"tags/": { "list": "tag" },\n"word/{part}"')
        .replace('["token"]', '["tokn"]')
    )
    lines = ddbfs("check", "--sample", path, expect=1).text.splitlines()
    assert lines[2:5] == ["jobs: job: 1 item seen", "jobs: note: not seen", "jobs: tag: not seen"]
    assert [line.split(", so that")[0].split("; it may")[0] for line in unproven(lines)] == [
        "no item of note was read",
        "no item of tag was read",
        'tokn is declared as "secret", but is not in the one item that was read',
    ]
    assert not lines[-1].endswith("fit the map")


def test_attributes_that_look_like_secrets_are_warned_of(check):
    changes = {
        "JOB#1": {"password_hash": {"S": "x"}, "apiKeys": {"SS": ["a"]}, "tokenCount": {"N": "1"}},
        "NOTE#1": {"password_hash": {"S": "y"}, "other": {"S": "AKIA" + 16 * "X"}},
    }
    lines = check(changes, expect=0)
    warned = [line.split(": warning: ")[1] for line in lines if ": warning: " in line]
    assert [each.split(" looks like a secret by its ")[0] for each in warned] == [
        'apiKeys of pk = "P#1" and sk = "JOB#1"',
        'password_hash of pk = "P#1" and sk = "JOB#1"',
        'other of pk = "P#1" and sk = "NOTE#1"',
    ]
    assert warned[1].endswith("1 more item shows the same") and "its value and is not masked" in warned[2]


def test_paths_are_named(check, cost):
    lines = check({}, "/own/jobs/shop/a", "/own/jobs/all/1/JOB#1", expect=0)
    assert lines[0] == "reading up to 10 items of each of 2 paths: at most 4 requests"
    asked = [each for each in cost() if each != "DescribeTable"]
    assert sorted(asked) == ["BatchGetItem", "GetItem", "Query ByShop"] or sorted(asked) == [
        "GetItem", "GetItem", "Query ByShop",
    ]  # fmt: skip


def test_a_named_record_that_is_not_there_is_a_miss(ddbfs, proxy):
    """As for cat: 3 is proven absence, and says nothing against the map."""
    result = ddbfs("check", places.DEFAULT_MAP, f"{SHOP}/NOPE", expect=3)
    assert result.stderr == f"ddbfs: {SHOP}/NOPE: no such item\n"
    assert "0 items were read: 1 request" in result.text
    assert ddbfs("check", places.DEFAULT_MAP, "/prod/jobs/by-id/nobody", expect=3).stderr
    ddbfs("check", places.DEFAULT_MAP, "/prod/shops/nobody", expect=1)  # an empty listing proves nothing
    both = ddbfs("check", places.DEFAULT_MAP, f"{SHOP}/NOPE", f"{SHOP}/SETTINGS", expect=3)
    assert "1 item was read: 2 requests, 1 RCU\n" in both.text
    proxy.fault("denied", op="GetItem", times=None)
    ddbfs("check", places.DEFAULT_MAP, f"{SHOP}/NOPE", expect=1)


@rows("words", [["/prod/shops"], ["/prod/shops", f"{SHOP}/SETTINGS"]])
def test_a_map_that_was_forgotten(ddbfs, words):
    said = ddbfs("check", *words, expect=1).stderr
    assert "if that is a path, the map comes before it: ddbfs check MAP /prod/shops\n" in said


def test_so_many_records_and_no_more(check, proxy):
    lines = check({f"JOB#{n}": {} for n in range(2, 9)}, "--sample=3", "/own/jobs/all/1", expect=1)
    assert lines[3] == "jobs: note: not seen"
    assert "3 items were read: 1 request," in lines[1]
    assert [each.body["Limit"] for each in proxy.requests if each.op == "Query"] == [3]


def test_what_reads_nothing_is_told(ddbfs):
    result = ddbfs("check", places.DEFAULT_MAP, "/prod/shops", "/prod/nope", expect=1)
    first, second = result.stderr.splitlines()
    assert first == "ddbfs: /prod/shops: has no item to read; name an item or a listing"
    assert second.startswith("ddbfs: /prod/nope: the map has no table")


def test_the_example_fits_its_records(ddbfs):
    paths = [SHOP, "/prod/jobs/by-index/shopify/kl7a9h55-shopify-e513a8-4/latest",
             "/prod/index-settings/kl7a9h55"]  # fmt: skip
    ddbfs("check", "--sample=50", places.DEFAULT_MAP, *paths)


def test_findings_are_json(check):
    lines = check({"THING#1": {}}, "--sample", "--json", expect=1)
    each = [json.loads(line) for line in lines]
    assert each[0] == {"paths": 9, "records_a_path": 10, "requests_at_most": 18}
    assert set(each[1]) == {"records", "requests", "capacity"}
    assert each[2:4] == [{"table": "jobs", "kind": kind, "items": 1} for kind in ("job", "note")]
    assert [set(row) for row in each[4:]] == [{"file", "line", "text"}]


@rows("words", [["--sample"], ["--sample", "map.json", "/prod"]])
def test_offline_reads_no_records(ddbfs, words):
    assert "reads no items" in ddbfs("check", "--offline", *words, expect=2).stderr


@rows("value", ["0", "101", "x", ""])
def test_a_number_that_can_not_be(ddbfs, value):
    assert "--sample" in ddbfs("check", f"--sample={value}", expect=2).stderr
