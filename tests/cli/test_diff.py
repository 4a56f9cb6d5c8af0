"""ddbfs diff: in what records, directories and tables differ; beside diff(1) on what `ddbfs cat` prints."""

import json
import subprocess

import pytest

from harness import load, tables, terminal
from harness.rows import rows

COOL = "/prod/shops/cool-store.myshopify.com"
OTHER = "/prod/shops/e513a8-4.myshopify.com"
ACCOUNT = "index-settings/by-account/kl7a9h55"


@pytest.fixture
def diff(ddbfs):
    """diff(a, b, options..., expect=1) -> what is printed."""

    def run(a, b, *options, expect=1, **how):
        return ddbfs("diff", *options, a, b, expect=expect, **how).text

    return run


@pytest.fixture
def told(diff):
    """told(a, b, options...) -> the differences as objects."""

    def run(a, b, *options, **how):
        return [json.loads(line) for line in diff(a, b, "--json", *options, **how).splitlines()]

    return run


@pytest.fixture
def real_diff(tmp_path):
    """real_diff({label: text, label: text}) -> what `diff -u` prints of them."""

    def run(texts):
        command = ["diff", "-u"]
        for number, (label, text) in enumerate(texts.items()):
            (tmp_path / f"side-{number}").write_bytes(text)
            command += ["--label", label]
        command += [str(tmp_path / "side-0"), str(tmp_path / "side-1")]
        return subprocess.run(command, stdout=subprocess.PIPE, timeout=60).stdout.decode()

    return run


# Two records.


@rows(
    "a, b, options",
    [
        (f"{COOL}/SETTINGS", f"{OTHER}/SETTINGS", []),
        (f"{COOL}/SETTINGS@typed", f"{OTHER}/SETTINGS@typed", []),
        (f"{COOL}/SETTINGS", f"{OTHER}/SETTINGS", ["--format", "compact"]),
        (f"{COOL}/SETTINGS", "/prod/jobs/by-id/1f3c9a52-7b1e-4c57-9d0a-2e6f4b8c1d90", []),
        (f"{COOL}/SETTINGS@/active_index", f"{OTHER}/SETTINGS@/active_index", []),
        ("/prod/shops/README", "/prod/jobs/README", []),
        (f"{COOL}@jsonl", f"{OTHER}@jsonl", ["--show-secrets"]),
    ],
)
def test_two_files_are_shown_as_diff_shows_what_cat_prints(ddbfs, diff, real_diff, a, b, options):
    texts = {path: ddbfs(*options, "cat", path).stdout for path in (a, b)}
    wanted = real_diff(texts)
    assert wanted and diff(a, b, *options) == wanted


def test_a_file_is_the_same_as_itself(diff):
    for path in (f"{COOL}/SETTINGS", f"{COOL}/access-token", "/prod/shops/README", COOL):
        assert diff(path, path, expect=0) == ""


def test_a_database_has_no_lines(ddbfs, proxy):
    for a, b in ((f"{COOL}@sqlite", f"{OTHER}@jsonl"), (f"{COOL}@jsonl", f"{OTHER}@sqlite:sk")):
        why = ddbfs("diff", a, b, expect=2).stderr
        assert "@sqlite" in why and "compare …@jsonl" in why and proxy.ops == []


def test_two_records_are_read_once(diff, cost):
    diff(f"{COOL}/SETTINGS", f"{OTHER}/SETTINGS")
    assert cost() == ["BatchGetItem"]
    diff(f"{COOL}/SETTINGS", "/staging/shops/cool-store.myshopify.com/SETTINGS", expect=0)
    assert cost() == ["GetItem", "GetItem"]


def test_a_link_stands_for_what_it_leads_to(diff):
    job = "/prod/jobs/by-id/1f3c9a52-7b1e-4c57-9d0a-2e6f4b8c1d90"
    settings = "/prod/index-settings/kl7a9h55/shopify-e513a8-4"
    assert diff(f"{job}@links/settings", settings, expect=0) == ""


NUMBER = "12345678901234567890.123456789012345678"
PAIRS = {
    "same": ({"S": "x"}, {"S": "x"}),
    "number": ({"N": NUMBER}, {"N": NUMBER[:-1] + "9"}),
    "text-and-number": ({"S": "1"}, {"N": "1"}),
    "set": ({"SS": ["a", "b"]}, {"SS": ["b", "a"]}),
    "numbers": ({"NS": ["1", "2", "10"]}, {"NS": ["10", "2", "3"]}),
    "set-and-list": ({"SS": ["a"]}, {"L": [{"S": "a"}]}),
    "bytes-and-text": ({"B": b"\0\1"}, {"S": "AAE="}),
    "bytes": ({"BS": [b"\1", b"\2"]}, {"BS": [b"\2", b"\3"]}),
    "null": ({"NULL": True}, {"BOOL": False}),
    "map": (
        {"M": {"a": {"N": "1"}, "b": {"L": [{"S": "x"}, {"M": {"c.d": {"S": "y"}}}]}}},
        {"M": {"a": {"N": "1"}, "b": {"L": [{"S": "x"}, {"M": {"c.d": {"S": "z"}}}, {"S": "w"}]}}},
    ),
}


@pytest.fixture
def pair(things):
    """Two records of which each attribute is a pair of PAIRS."""
    first = {name: values[0] for name, values in PAIRS.items()}
    second = {name: values[1] for name, values in PAIRS.items()}
    things.put("one", gone={"S": "x"}, **first)
    things.put("two", come={"S": "y"}, **second)
    things.paths = ["/any/things/box/one", "/any/things/box/two"]
    return things


def test_programs_get_typed_values_by_attribute(told, pair):
    every = told(*pair.paths, "--ignore", "sk", env=pair.env)
    assert all([each["a"], each["b"]] == pair.paths for each in every)
    seen = {json.dumps(each["attribute"]): each for each in every}
    assert list(seen) == sorted(seen) and len(seen) == len(every)
    assert '["same"]' not in seen and '["set"]' not in seen
    number = seen['["number"]']
    assert number["kind"] == "changed"
    assert (number["old"], number["new"]) == PAIRS["number"]
    kinds = seen['["text-and-number"]']
    assert (kinds["old"], kinds["new"]) == PAIRS["text-and-number"]
    assert seen['["numbers"]']["new"] == {"NS": ["2", "3", "10"]}
    assert seen['["set-and-list"]']["new"] == {"L": [{"S": "a"}]}
    assert seen['["bytes-and-text"]']["old"] == {"B": "AAE="}
    nested = seen['["map", "b", 1, "c.d"]']
    assert (nested["old"], nested["new"]) == ({"S": "y"}, {"S": "z"})
    added = seen['["map", "b", 2]']
    assert added["kind"] == "added" and added["new"] == {"S": "w"} and "old" not in added
    assert seen['["gone"]']["kind"] == "removed" and seen['["come"]']["kind"] == "added"


def test_types_that_are_written_alike_are_told_apart(diff, pair):
    lines = diff(*pair.paths, env=pair.env).splitlines()
    one, two = pair.paths
    assert '-  "text-and-number": "1"' in lines and '+  "text-and-number": 1' in lines
    for name, types in {"set-and-list": "SS and L", "bytes-and-text": "B and S"}.items():
        assert f"Items {one} and {two} differ in {name}, of type {types}" in lines
    assert not any(line.startswith(("-", "+")) and "set-and-list" in line for line in lines)


@rows(
    "ignored, left",
    [
        (["at"], [["map", "at"], ["map", "list", 0, "at"], ["x.y"]]),
        (["map.at", "at"], [["map", "list", 0, "at"], ["x.y"]]),
        (["map.list.at"], [["at"], ["map", "at"], ["x.y"]]),
        (["x.y"], [["at"], ["map", "at"], ["map", "list", 0, "at"]]),
        (["map"], [["at"], ["x.y"]]),
    ],
)
def test_an_attribute_is_ignored_by_its_name(diff, told, things, ignored, left):
    for name, text in (("one", "1"), ("two", "2")):
        value = {"S": text}
        inner = {"L": [{"M": {"at": value, "n": {"S": "same"}}}]}
        things.put(name, **{"at": value, "x.y": value, "map": {"M": {"at": value, "list": inner}}})
    options = [word for name in ["sk", *ignored] for word in ("--ignore", name)]
    paths = ["/any/things/box/one", "/any/things/box/two"]
    assert [each["attribute"] for each in told(*paths, *options, env=things.env)] == left
    shown = diff(*paths, *options, env=things.env)
    assert sum(line[0] == "-" for line in shown.splitlines()[2:]) == len(left)


def test_records_that_differ_in_nothing_else_are_the_same(diff, things):
    for name in ("one", "two"):
        things.put(name, at={"S": name})
    paths = ["/any/things/box/one", "/any/things/box/two"]
    assert diff(*paths, "--ignore=at", "--ignore=sk", expect=0, env=things.env) == ""


# Secrets.


def test_secrets_are_told_to_differ_and_not_shown(diff, told, oracle):
    a, b = f"{COOL}/API_KEY", f"{OTHER}/API_KEY"
    tokens = [
        oracle.item("prod-ShopifyEntitiesTable", f"SHOP#{path.split('/')[3]}", "API_KEY")["api_key"]["S"]
        for path in (a, b)
    ]
    shown = diff(a, b)
    assert shown.splitlines()[-1] == f"Items {a} and {b} differ in api_key, a secret: --show-secrets shows it"
    secret = [each for each in told(a, b) if each["attribute"] == ["api_key"]]
    assert secret == [{"kind": "changed", "a": a, "b": b, "attribute": ["api_key"], "secret": True}]
    assert not any(token in shown + diff(a, b, "--json") for token in tokens)
    unmasked = diff(a, b, "--show-secrets")
    assert all(token in unmasked for token in tokens) and "a secret" not in unmasked


def test_a_file_made_for_a_secret_is_not_shown_either(ddbfs, diff, told):
    a, b = f"{COOL}/access-token", f"{OTHER}/access-token"
    assert diff(a, b) == f"Files {a} and {b} differ, and are secret: --show-secrets shows them\n"
    assert told(a, b) == [{"kind": "changed", "a": a, "b": b, "type": "file", "secret": True}]
    tokens = [ddbfs("cat", path).text for path in (a, b)]
    assert diff(a, b, "--show-secrets").splitlines()[3:] == [f"-{tokens[0][:-1]}", f"+{tokens[1][:-1]}"]
    in_listing = diff(COOL, OTHER)
    assert f"Files {a} and {b} differ, and are secret" in in_listing
    assert not any(token[:-1] in in_listing for token in tokens)


def test_what_a_secret_is_made_of_is_not_told(told, write_map, plain_map, things):
    plain_map["tables"]["things"]["secret"] = ["hush"]
    env = {"DDBFS_MAP": str(write_map(plain_map))}
    things.put("one", hush={"M": {"left": {"S": "x"}, "right": {"S": "x"}}})
    things.put("two", hush={"M": {"left": {"S": "y"}}})
    every = told("/any/things/box/one", "/any/things/box/two", "--ignore=sk", env=env)
    assert [(each["attribute"], each["secret"]) for each in every] == [(["hush"], True)]


@rows("path", ["API_KEY@/api_key", "API_KEY@"])
def test_a_masked_value_does_not_pass_for_the_same(ddbfs, path):
    told = ddbfs("diff", f"{COOL}/{path}", f"{OTHER}/{path}", expect=2)
    assert "api_key: is secret and masked; compare it with --show-secrets" in told.stderr


# Two directories.


def put_boxes(things, left, right):
    """Records of NAME: TEXT in the boxes left and right."""
    for box, records in (("left", left), ("right", right)):
        for name, text in records.items():
            things.put(name, box, note={"S": text})
    return ["/any/things/left", "/any/things/right"]


LEFT = {"a": "1", "b": "1", "d": "1", "e": "1"}
RIGHT = {"b": "1", "c": "1", "d": "2", "f": "1"}


@rows("page", [1, 2, 100])
def test_entries_are_matched_by_name_whatever_the_pages(told, things, proxy, page):
    paths = put_boxes(things, LEFT, RIGHT)
    proxy.fault("page_size", op="Query", times=None, items=page)
    found = [
        (each["kind"], (each.get("a") or each["b"])[-1], each.get("attribute"))
        for each in told(*paths, "--ignore", "pk", env=things.env)
    ]
    assert found == [
        ("removed", "a", None),
        ("added", "c", None),
        ("changed", "d", ["note"]),
        ("removed", "e", None),
        ("added", "f", None),
    ]


def test_each_difference_of_directories_is_a_diff_of_its_own(diff, things, ddbfs, real_diff):
    left, right = put_boxes(things, LEFT, RIGHT)
    shown = diff(f"{left}/", right, "--ignore=pk", env=things.env)
    before, changed = shown.split(f"ddbfs diff {left}/d {right}/d\n")
    assert before == f"Only in {left}/: a\nOnly in {right}: c\n"
    texts = {path: ddbfs("cat", path, env=things.env).stdout for path in (f"{left}/d", f"{right}/d")}
    texts = {path: text.replace(b'  "pk": "left",\n', b"").replace(b'  "pk": "right",\n', b"") for path, text in texts.items()}
    wanted = real_diff(texts)
    assert changed == wanted + f"Only in {left}/: e\nOnly in {right}: f\n"


def test_pages_of_two_directories_are_read_once(told, things, proxy):
    paths = put_boxes(things, LEFT, RIGHT)
    proxy.fault("page_size", op="Query", times=None, items=2)
    proxy.clear()
    told(*paths, env=things.env)
    asked = [json.dumps(each.body, sort_keys=True) for each in proxy.requests]
    assert len(asked) == len(set(asked)) <= 6
    assert {each.op for each in proxy.requests} == {"Query"}


def test_directories_whose_keys_begin_otherwise_are_matched_by_name(told, write_map, plain_map, things):
    """The path says a part of the sort key: what follows it is what names say."""
    table = plain_map["tables"]["things"]
    table["records"] = {"thing": {"pk": "{box}", "sk": "{shelf}#{place}#{name}"}}
    table["paths"] = {"{box}/{shelf}/": {}}
    env = {"DDBFS_MAP": str(write_map(plain_map))}
    for shelf in ("z", "production"):
        for number in range(9):
            things.put(f"{shelf}#{number}#x", note={"S": "same" if number else shelf})
    told_of = told("/any/things/box/z", "/any/things/box/production", "--ignore=sk", env=env)
    assert [(each["a"], each["attribute"]) for each in told_of] == [("/any/things/box/z/0#x", ["note"])]


def test_windows_that_begin_otherwise_are_matched_by_name(told):
    """on/2026-04 and on/2026-04-16 have jobs in common, whose names say the whole date."""
    where = "/prod/jobs/by-index/shopify/kl7a9h55-shopify-e513a8-4/on"
    every = told(f"{where}/2026-04-16", f"{where}/2026-04")
    assert every and {each["kind"] for each in every} == {"added"}
    assert not any("2026-04-16" in each["b"].rsplit("/", 1)[1] for each in every)


def test_a_listing_by_an_index_is_matched_by_name(told, ddbfs, proxy):
    """Its order says less than names do, and records are read by their keys."""
    by_status = "/prod/jobs/by-status/kl7a9h55-shopify-e513a8-4"
    by_index = "/prod/jobs/by-index/shopify/kl7a9h55-shopify-e513a8-4/status"
    one = ddbfs("ls", f"{by_status}/FAILED").text.split()
    proxy.clear()
    every = told(f"{by_status}/FAILED", f"{by_status}/COMPLETED")
    assert [each["a"].rsplit("/", 1)[1] for each in every if each["kind"] == "removed"] == one
    assert [each.op for each in proxy.requests] == ["Query", "Query", "BatchGetItem", "BatchGetItem"]
    assert told(f"{by_index}/FAILED", f"{by_index}/FAILED", expect=0) == []


def test_a_directory_is_no_file_of_the_same_name(diff, things):
    things.put("things")
    shown = diff("/any", "/any/things/box", env=things.env)
    assert shown == "Only in /any/things/box: things\nOnly in /any: things/\n"


def test_ranks_are_no_places(told, write_map, plain_map, things):
    plain_map["tables"]["things"]["paths"]["by-rank/{box}/"] = {"newest": "all", "name": "{rank}_{name}"}
    env = {"DDBFS_MAP": str(write_map(plain_map))}
    put_boxes(things, {"a": "1", "b": "1"}, {"b": "1"})
    every = told("/any/things/by-rank/left", "/any/things/by-rank/right", "--ignore=pk", env=env)
    assert [(each["kind"], (each.get("a") or each["b"])[-3:]) for each in every] == [("removed", "2_a")]


def test_any_two_tables_partitions_can_be_compared(told, table, boto, ddbfs):
    contents = {"left-Any": "ab", "right-Any": "bc"}
    names = [
        table(tables.plain(), [tables.item(each, each) for each in some], name=name)
        for name, some in contents.items()
    ]
    paths = [f"/prod/tables/{name}/items/box" for name in names]
    every = told(*paths)
    assert [(each["kind"], (each.get("a") or each["b"])[-1]) for each in every] == [
        ("removed", "a"),
        ("added", "c"),
    ]


def test_files_that_the_map_declares_are_records_too(diff, proxy, boto, request):
    """DEFAULT_CONFIGS is a record beside the listing, or one of it."""
    key = {"pk": {"S": "kl7a9h55"}, "sk": {"S": "INDEX#DEFAULT_CONFIGS"}}
    table = "staging-EcomIndexSettingsTable"
    item = boto.get_item(TableName=table, Key=key)["Item"]
    request.addfinalizer(lambda: boto.put_item(TableName=table, Item=item))
    boto.put_item(TableName=table, Item={**item, "made_by": {"S": "test"}})
    for path in ("index-settings/kl7a9h55", ACCOUNT):
        shown = diff(f"/prod/{path}", f"/staging/{path}")
        assert [line for line in shown.splitlines() if line[0] in "+-"][2:] == ['+  "made_by": "test",'], path
        assert shown.startswith(f"ddbfs diff /prod/{path}/DEFAULT_CONFIGS /staging/{path}/DEFAULT_CONFIGS")


def test_directories_below_are_compared_too(told, boto, request):
    key = {"pk": {"S": "kl7a9h55"}, "sk": {"S": "INDEX#products#PROFILE#SEARCH#default"}}
    table = "staging-EcomIndexSettingsTable"
    item = boto.get_item(TableName=table, Key=key)["Item"]
    request.addfinalizer(lambda: boto.put_item(TableName=table, Item=item))
    boto.delete_item(TableName=table, Key=key)
    every = told("/prod/index-settings/kl7a9h55", "/staging/index-settings/kl7a9h55")
    assert [(each["kind"], each["a"]) for each in every] == [
        ("removed", "/prod/index-settings/kl7a9h55/products.d/PROFILE#SEARCH#default")
    ]


# Tables and environments.


@pytest.fixture
def two_environments(boto, table, write_map):
    """two_environments(change) -> the environment for a map of one table in /one and in /two, which
    CHANGE has changed."""

    def make(change):
        description = {
            "BillingMode": "PAY_PER_REQUEST",
            "KeySchema": [
                {"AttributeName": "pk", "KeyType": "HASH"},
                {"AttributeName": "sk", "KeyType": "RANGE"},
            ],
            "AttributeDefinitions": [
                {"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk", "owner")
            ],
            "GlobalSecondaryIndexes": [
                {
                    "IndexName": "by-owner",
                    "KeySchema": [{"AttributeName": "owner", "KeyType": "HASH"}],
                    "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["note", "at"]},
                }
            ],
        }
        other = json.loads(json.dumps(description))
        change(other)
        table(description, name="one-Boxes")
        table(other, name="two-Boxes")
        path = write_map(
            {
                "environments": {name: {"prefix": f"{name}-"} for name in ("one", "two")},
                "tables": {
                    "boxes": {
                        "table": "Boxes",
                        "records": {"box": {"pk": "{owner}", "sk": "{name}"}},
                        "paths": {"of/{owner}/": {}, "all-of-ann/": {"where": {"owner": "ann"}}},
                    }
                },
            }
        )
        return {"DDBFS_MAP": str(path)}

    return make


def test_tables_are_compared_as_they_are_made(ddbfs, told, two_environments, cost):
    def change(description):
        index = description["GlobalSecondaryIndexes"][0]
        index["Projection"]["NonKeyAttributes"] = ["at", "size"]
        description["AttributeDefinitions"].reverse()

    env = two_environments(change)
    cost()
    for a, b in (("/one/boxes", "/two/boxes"), ("/one", "/two")):
        every = told(a, b, env=env, expect=2)
        assert len(every) == 1 and every[0]["of"] == "description"
        path = ["GlobalSecondaryIndexes", "by-owner", "Projection", "NonKeyAttributes"]
        assert every[0]["attribute"] == path
        assert [every[0]["old"], every[0]["new"]] == [{"SS": ["at", "note"]}, {"SS": ["at", "size"]}]
        assert (every[0]["a"], every[0]["b"]) == ("/one/boxes", "/two/boxes")
        assert sorted(cost()) == ["DescribeTable"] * 2 + ["Query"] * 2


def test_what_cannot_be_listed_is_said_not_to_be_compared(ddbfs, two_environments):
    env = two_environments(lambda description: None)
    run = ddbfs("diff", "/one", "/two", env=env, expect=2)
    assert run.stdout == b""
    assert run.stderr.splitlines() == [
        "ddbfs: /one/boxes/of/{owner}: is not compared: {owner}/ can't be listed, since no key leads to "
        "all of them; type one: …/{owner}/"
    ]
    assert ddbfs("diff", "/one/boxes/of/{owner}", "/two/boxes/of", env=env, expect=2).stdout == b""


def test_what_can_be_listed_without_a_parameter_is_compared(ddbfs, boto, two_environments):
    env = two_environments(lambda description: None)
    boto.put_item(TableName="two-Boxes", Item={"pk": {"S": "ann"}, "sk": {"S": "x"}})
    run = ddbfs("diff", "/one", "/two", env=env, expect=2)
    assert run.text == "Only in /two/boxes/all-of-ann: x\n"


def test_descriptions_are_compared_alone(ddbfs, diff, two_environments):
    def change(description):
        description["GlobalSecondaryIndexes"][0]["IndexName"] = "by-keeper"

    env = two_environments(change)
    paths = ["/one/tables/one-Boxes/schema.json", "/two/tables/two-Boxes/schema.json"]
    shown = diff(*paths, env=env)
    assert '-    "by-owner": {' in shown and '+    "by-keeper": {' in shown
    assert "Arn" not in shown and "Boxes" not in "".join(shown.splitlines()[2:])


def test_a_table_that_may_not_be_described_is_told(ddbfs, proxy):
    proxy.fault("denied", op="DescribeTable", times=None)
    run = ddbfs("diff", "/prod/jobs", "/staging/jobs", expect=2)
    assert run.stderr.splitlines()[0].startswith("ddbfs: /prod/jobs: ")
    assert "AccessDenied" in run.stderr


def test_whole_tables_are_compared_where_a_scan_is_allowed(ddbfs, table, proxy):
    """What else their directories list needs no scan."""
    proxy.allow_scan = True
    contents = {"left-Any": ["a", "b"], "right-Any": ["b"]}
    for name, boxes in contents.items():
        table(tables.plain(), [tables.item("x", "note", box) for box in boxes], name=name)
    paths = [f"/prod/tables/{name}/" for name in contents]
    run = ddbfs("diff", *paths, expect=2)
    assert run.text == "" and "items/{pk}: is not compared: {pk}/ can't be listed" in run.stderr
    assert ddbfs("diff", "--allow-scan", *paths, expect=1).text == f"Only in {paths[0]}items: a/\n"


# Trouble.


@rows(
    "a, b, word",
    [
        (f"{COOL}/SETTINGS", "/prod/shops/nobody.myshopify.com/SETTINGS", "nobody.myshopify.com/SETTINGS: "),
        ("/nowhere", "/prod", "/nowhere: "),
        (f"{COOL}/SETTINGS", COOL, "is a directory, and"),
        (COOL, f"{COOL}/SETTINGS", "is a directory, and"),
    ],
)
def test_what_is_not_there_is_trouble(ddbfs, a, b, word):
    run = ddbfs("diff", a, b, expect=2)
    assert run.stdout == b"" and word in run.stderr


@rows("words", [[], ["/prod"], ["/prod", "/staging", "/dev-x"]])
def test_two_paths_are_needed(ddbfs, words):
    assert ddbfs("diff", *words, expect=2).stderr == "ddbfs: diff needs two paths; see ddbfs diff --help\n"


@rows("failing, kind, ranked", [("left", "throttle", False), ("right", "throttle", True),
                               ("left", "server_error", True), ("right", "server_error", False)])  # fmt: skip
def test_a_directory_that_fails_half_way_claims_nothing_of_the_rest(
    ddbfs, things, proxy, write_map, failing, kind, ranked
):
    """Only what both have told is compared: that one side stopped is not that it has no more."""
    paths = put_boxes(things, LEFT, RIGHT)
    by_rank = {"newest": "all", "name": "{rank}_{name}"}  # names say nothing of where a record stands
    write_map(tables.plain_map(paths={"{box}/": by_rank if ranked else {}}))
    proxy.fault("page_size", op="Query", times=None, items=2)
    fault = proxy.fault(kind, op="Query", times=None)
    fault.meets = lambda seen: "ExclusiveStartKey" in seen.body and f'"{failing}"' in json.dumps(seen.body)
    run = ddbfs("diff", "--timeout", "4", "--ignore", "pk", *paths, env=things.env, expect=2)
    assert f"ddbfs: /any/things/{failing}: " in run.stderr and fault.met > 0
    only = [line for line in run.text.splitlines() if line.startswith("Only in ")]
    if ranked:
        assert only == ["Only in /any/things/left: 0000001_e"] * (failing == "left")
    else:
        assert only == ["Only in /any/things/left: a"] + ["Only in /any/things/right: c"] * (failing == "right")


def test_errors_are_objects_for_programs(ddbfs):
    run = ddbfs("diff", "--json", f"{COOL}/SETTINGS", f"{COOL}/NOTHING", expect=2)
    told = json.loads(run.stderr)
    assert (told["path"], told["kind"]) == (f"{COOL}/NOTHING", "not-found")


def test_a_name_cannot_speak_to_the_terminal(ddbfs, things):
    left, right = put_boxes(things, {"a\x1b[2J": "1"}, {})
    shown = ddbfs("diff", left, right, env=things.env, expect=1).text
    assert shown == "Only in /any/things/left: a%1B[2J\n"


def test_a_reader_that_goes_away_ends_it(ddbfs, home, things):
    paths = put_boxes(things, {f"{n:03}": "1" for n in range(50)}, {})
    command = f"'{ddbfs.binary}' diff {paths[0]} {paths[1]} | head -1"
    run = subprocess.run(
        ["/bin/sh", "-c", command], env=home.environment(things.env), capture_output=True, timeout=60
    )
    assert (run.stdout, run.stderr) == (b"Only in /any/things/left: 000\n", b"")


def test_a_full_disk_is_no_difference(ddbfs, home):
    command = [str(ddbfs.binary), "diff", f"{COOL}/SETTINGS", f"{OTHER}/SETTINGS"]
    with open("/dev/full", "w") as full:
        run = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, env=home.environment(), timeout=60
        )
    assert run.returncode == 2 and "not all could be written" in run.stderr


def test_a_directory_that_is_held_has_a_bound(ddbfs, things, write_map, plain_map):
    """The newest first is another order; of the second directory all records are held."""
    plain_map["tables"]["things"]["paths"]["newest-of/{box}/"] = {"newest": "all"}
    things.env = {"DDBFS_MAP": str(write_map(plain_map))}
    for number in range(9):
        things.put(f"{number}", note={"S": "x" * 40_000})
    few, many = "/any/things/newest-of/left", "/any/things/box"
    run = ddbfs("diff", "--cache-size=1M", few, many, env=things.env, expect=2)
    assert run.stdout == b"" and f"{many}: has more than 256 KB of items" in run.stderr
    for a, b, options in ((many, few, ["--cache-size=1M"]), (few, many, [])):
        assert ddbfs("diff", *options, a, b, env=things.env, expect=1).text.count("Only in") == 9


def test_the_help_says_its_exit_statuses(ddbfs):
    assert "0 no differences, 1 differences, 2 an incomplete comparison" in ddbfs("help", "diff").text


def test_two_directories_with_nothing_in_them_are_told(ddbfs):
    """A misspelt name would pass for two shops without a difference."""
    run = ddbfs("diff", "/prod/shops/by-acount", "/staging/shops/by-acount")
    assert run.stdout == b"" and "nothing was compared: neither /prod/shops/by-acount nor" in run.stderr


def test_a_terminal_obeys_no_record(ddbfs, home, things):
    """Values that move the cursor are escaped where somebody looks; a pipe gets each byte."""
    put_boxes(things, {"a": "one\x1b[2J\u202e"}, {"a": "two"})
    paths = ["/any/things/left/a@/note", "/any/things/right/a@/note"]
    assert "-one\x1b[2J\u202e" in ddbfs("diff", *paths, env=things.env, expect=1).text
    command = [str(ddbfs.binary), "diff", *paths]
    with terminal.Terminal(command, home.environment(things.env), rows=24) as t:
        t.wait_for("+two")
        t.end()
    assert "-one%1B[2J%E2%80%AE" in t.shown and "\x1b" not in t.shown
