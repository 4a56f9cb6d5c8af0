"""A listing as one file: DIR@jsonl and DIR@count have what the directory has, and no more."""

import json

import pytest

from harness import load, plain, tables, zoo
from harness.rows import rows

SHOP = "kl7a9h55-shopify-e513a8-4"
BY_INDEX = f"/prod/jobs/by-index/shopify/{SHOP}"
JOBS = "prod-EcomIndexerJobsTable"
ACCOUNT = "/prod/index-settings/kl7a9h55"
SHOP_RECORDS = "/prod/shops/cool-store.myshopify.com"

# All that the example lists.
PATHS = [
    f"{BY_INDEX}/latest",
    f"{BY_INDEX}/all",
    f"{BY_INDEX}/on/2026-04-16",
    f"{BY_INDEX}/between/2026-04-14..2026-04-16",
    f"{BY_INDEX}/status/COMPLETED",
    f"/prod/jobs/by-index/ecom/{SHOP}/status/FAILED",
    "/prod/jobs/by-status/kl7a9h55-products/FAILED",
    ACCOUNT,
    f"{ACCOUNT}/shopify-e513a8-4.d",
    "/prod/index-settings/by-account/kl7a9h55",
    "/prod/index-settings/by-domain/e513a8-4.myshopify.com",
    SHOP_RECORDS,
    "/prod/shops/by-account/kl7a9h55",
]
LISTINGS = {
    "all": f"{BY_INDEX}/all",
    "latest": f"{BY_INDEX}/latest",
    "read again": f"/prod/jobs/by-status/{SHOP}/COMPLETED",
    "among directories": ACCOUNT,
    "sub-records": f"{ACCOUNT}/shopify-e513a8-4.d",
    "with a name of its own": SHOP_RECORDS,
    "without a record": f"/prod/jobs/by-status/{SHOP}/NONE",
}


@pytest.fixture
def records_of(ddbfs, ls):
    """records_of(listing) -> each record that it shows, in its order, as one line."""

    def read(path):
        names = [name for name in ls(path) if not name.endswith("/") and name != "README"]
        # A value of one of the records, and a record of another kind than those that are listed.
        names = [name for name in names if name not in ("access-token", "DEFAULT_CONFIGS")]
        if not names:
            return []
        paths = [f"{path}/{name}" for name in names]
        return ddbfs("--format", "compact", "cat", *paths).text.splitlines()

    return read


@rows("kind", LISTINGS)
def test_lines_are_the_records_in_the_listings_order(ddbfs, records_of, kind):
    lines = ddbfs("cat", f"{LISTINGS[kind]}@jsonl").text
    assert lines.splitlines() == records_of(LISTINGS[kind])
    assert lines == "" or lines.endswith("}\n")


@rows("kind", LISTINGS)
def test_the_count_is_that_of_the_lines(ddbfs, kind):
    lines = ddbfs("cat", f"{LISTINGS[kind]}@jsonl").text.splitlines()
    assert ddbfs("cat", f"{LISTINGS[kind]}@count").text == f"{len(lines)}\n"


# Only how many


@rows("path", PATHS)
def test_every_path_of_the_example_is_counted_as_it_is_told(ddbfs, path):
    lines = ddbfs("cat", f"{path}@jsonl").text.splitlines()
    assert ddbfs("cat", f"{path}@count").text == f"{len(lines)}\n" != "0\n"


COMMANDS = [
    f"{BY_INDEX}/all",
    f"{BY_INDEX}/latest",
    f"/prod/jobs/by-index/ecom/{SHOP}/status/FAILED",  # records that are read again
    ACCOUNT,
    SHOP_RECORDS,
]


@rows("path", COMMANDS)
def test_the_command_that_is_printed_gives_the_number(ddbfs, shell, path):
    told = json.loads(ddbfs("explain", "--json", f"{path}@count").text)["aws"]
    assert shell(told).text.strip() == ddbfs("cat", f"{path}@count").text.strip()


def counted(ddbfs, proxy, path, **how):
    """The number, and the requests for it."""
    proxy.clear()
    number = ddbfs("cat", f"{path}@count", **how).text
    return int(number), [record.body for record in proxy.requests if record.op != "DescribeTable"]


def attributes_of(body):
    names = body.get("ExpressionAttributeNames", {})
    return {names[each] for each in body["ProjectionExpression"].split(", ")}


def test_where_every_item_counts_the_service_counts(ddbfs, proxy, shell, things):
    for name in "abc":
        things.put(name, note={"S": "long"})
    number, (asked,) = counted(ddbfs, proxy, "/any/things/box", env=things.env)
    assert number == 3
    assert asked["Select"] == "COUNT" and "ProjectionExpression" not in asked
    told = json.loads(ddbfs("explain", "--json", "/any/things/box@count", env=things.env).text)["aws"]
    assert shell(told).text == "3\n"


def test_pages_of_a_count_are_summed(ddbfs, proxy, things):
    for name in "abcde":
        things.put(name)
    proxy.fault("page_size", op="Query", times=None, items=2)
    proxy.fault("empty_pages", op="Query", times=1)
    number, asked = counted(ddbfs, proxy, "/any/things/box", env=things.env)
    assert number == 5 and len(asked) >= 4
    assert {each["Select"] for each in asked} == {"COUNT"}


def test_pages_of_a_megabyte_are_counted(ddbfs, proxy, things):
    """dynoxide states one item more as scanned than it counts, wherever a further page follows."""
    load.put_all(things.boto, things.table, [tables.item(f"{n:02}", "x" * 300_000) for n in range(8)])
    number, asked = counted(ddbfs, proxy, "/any/things/box", env=things.env)
    assert number == 8 and len(asked) == 3


def test_where_items_have_to_be_looked_at_keys_alone_travel(ddbfs, proxy):
    number, (asked,) = counted(ddbfs, proxy, f"{BY_INDEX}/all")
    assert number > 0
    assert "Select" not in asked and attributes_of(asked) == {"pk", "sk"}


BY_STATUS = f"/prod/jobs/by-status/{SHOP}/COMPLETED"


def test_an_index_is_counted_by_the_keys_that_it_holds(ddbfs, ls, proxy):
    names = ls(BY_STATUS)
    number, (asked,) = counted(ddbfs, proxy, BY_STATUS)
    assert number == len(names) > 0
    assert attributes_of(asked) == {"pk", "sk", "shop_id", "status_created_at"}
    assert json.loads(ddbfs("cat", f"{BY_STATUS}@info").text)["count"] == "counted in the index"
    told = json.loads(ddbfs("explain", "--json", f"{BY_STATUS}@count").text)
    assert told["reads"][0].endswith(", counted in the index") and len(told["reads"]) == 1
    assert not told["bound"]["per_100_records"] and "most_a_record" not in told["units"]
    assert "count" not in json.loads(ddbfs("cat", f"{BY_INDEX}/all@info").text)


def test_an_index_of_which_every_item_counts_is_counted_by_the_service(ddbfs, proxy, boto, table, plain_map, write_map):
    keys = [{"AttributeName": "note", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}]
    made = tables.plain()
    made["AttributeDefinitions"].append({"AttributeName": "note", "AttributeType": "S"})
    index = {"IndexName": "by-note", "KeySchema": keys, "Projection": {"ProjectionType": "KEYS_ONLY"}}
    table(made | {"GlobalSecondaryIndexes": [index]}, [tables.item(name, "x") for name in "abc"])
    things = plain_map["tables"]["things"]
    things["indexes"] = {"by-note": {"partition": "note", "sort": "sk", "projects": "keys"}}
    things["paths"]["noted/{note}/"] = {"index": "by-note"}
    number, (asked,) = counted(ddbfs, proxy, "/any/things/noted/x", env={"DDBFS_MAP": str(write_map(plain_map))})
    assert number == 3 and asked["Select"] == "COUNT" and asked["IndexName"] == "by-note"


def test_a_filter_on_what_the_index_lacks_is_counted_of_the_records_that_are_there(ddbfs, proxy):
    def lose_one(body):
        (items,) = body["Responses"].values()
        items.pop()

    count = lambda: int(ddbfs("ls", "--count", "--where", "job_id exists", BY_STATUS).text)  # noqa: E731
    number = count()
    (again,) = [record.body for record in proxy.requests if record.op == "BatchGetItem"]
    (of_table,) = again["RequestItems"].values()
    assert attributes_of(of_table) == {"pk", "sk", "shop_id", "status_created_at", "job_id"}
    proxy.fault("alter", op="BatchGetItem", change=lose_one)
    assert count() == number - 1


@rows("words, reads_again", [
    (("cat", f"{BY_STATUS}@csv:shop_id,sk"), False),
    (("cat", f"{BY_STATUS}@csv/shop_id,status_created_at"), False),
    (("cat", f"{BY_STATUS}@table/sk"), False),
    (("ls", "--columns", "sk,shop_id", BY_STATUS), False),
    (("ls", "--json", "--columns", "sk,shop_id", BY_STATUS), False),
    (("cat", "--where", 'job_id exists', f"{BY_STATUS}@csv:sk"), True),
    (("ls", "-l", "--columns", "sk", BY_STATUS), True),
    (("cat", f"{BY_STATUS}@csv:sk,status"), True),
    (("cat", f"{BY_STATUS}@csv"), True),
    (("ls", "--columns", "status", BY_STATUS), True),
])  # fmt: skip
def test_columns_that_the_index_holds_are_not_read_again(ddbfs, proxy, words, reads_again):
    records = [json.loads(line) for line in ddbfs("cat", f"{BY_STATUS}@jsonl").text.splitlines()]
    proxy.clear()
    told = ddbfs(*words).text
    assert ("BatchGetItem" in [record.op for record in proxy.requests]) == reads_again
    assert len(records) > 1 and [line for line in told.splitlines() if "JOB#" in line or "COMPLETED" in line]
    if words[1].endswith("@csv:shop_id,sk"):
        assert told.splitlines() == ["shop_id,sk", *[f"{each['shop_id']},{each['sk']}" for each in records]]
    if words[1] == "--json":
        columns = [json.loads(line)["columns"] for line in told.splitlines()]
        assert columns == [{name: each[name] for name in ("sk", "shop_id")} for each in records]


@rows(
    "wrong",
    [
        lambda body: body.pop("Count"),
        lambda body: body.update(Count=-1),
        lambda body: body.update(Count=2, ScannedCount=9),
        lambda body: body.update(Count=10**7, ScannedCount=10**7),
        lambda body: body.update(Count=1.5),
        lambda body: body.update(Items=[{"pk": {"S": "box"}, "sk": {"S": "a"}}]),
        lambda body: body.update(LastEvaluatedKey={"pk": {"S": "other"}, "sk": {"S": "a"}}),
    ],
)
def test_a_count_that_can_not_be_is_an_error(ddbfs, proxy, things, wrong):
    things.put("a")
    proxy.fault("alter", op="Query", times=None, change=wrong)
    result = ddbfs("cat", "/any/things/box@count", env=things.env, expect=1)
    assert result.text == "" and "DynamoDB" in result.stderr


def test_explain_says_that_only_the_number_comes(ddbfs, things):
    told = json.loads(ddbfs("explain", "--json", "/any/things/box@count", env=things.env).text)
    assert told["reads"] == ['Query any-Things where pk = "box", only how many']
    assert "--select COUNT" in told["aws"] and told["bound"]["paged_queries"] == 1


def zoo_tables():
    return [table for table in zoo.TABLES if table.only in (None, "dynoxide") and table.sort]


@rows("kind", zoo_tables(), ids=repr)
def test_any_table_is_counted_by_the_service(ddbfs, proxy, boto, kind):
    if kind.name not in boto.list_tables()["TableNames"]:
        load.create_table(boto, kind.description())
        load.put_all(boto, kind.name, kind.items)
    how = {"env": {"DDBFS_MAP": None}}
    for name, items in kind.partitions().items():
        number, asked = counted(ddbfs, proxy, f"/tables/{kind.name}/items/{name}", **how)
        assert number == len(items)
        assert {each["Select"] for each in asked} == {"COUNT"}


@rows("kind", LISTINGS)
def test_pages_make_no_difference(ddbfs, proxy, kind):
    whole = ddbfs("cat", f"{LISTINGS[kind]}@jsonl").text
    count = ddbfs("cat", f"{LISTINGS[kind]}@count").text
    proxy.fault("page_size", op="Query", times=None, items=2)
    proxy.fault("empty_pages", op="Query", times=1)
    proxy.fault("unprocessed", op="BatchGetItem", times=2)
    assert ddbfs("cat", f"{LISTINGS[kind]}@jsonl").text == whole
    assert ddbfs("cat", f"{LISTINGS[kind]}@count").text == count


def test_lines_are_what_boto3_gives(ddbfs, oracle):
    items = oracle.query(JOBS, "pk = :pk", pk=f"PLATFORM#shopify#SHOP#{SHOP}")
    lines = ddbfs("cat", f"{BY_INDEX}/all@jsonl").stdout
    assert lines == b"".join(plain.render(item, compact=True) for item in items) != b""


def test_secrets_are_masked(ddbfs):
    path = f"{SHOP_RECORDS}@jsonl"
    masked = ddbfs("cat", path).text
    assert "shpat_" not in masked and f'"access_token":"{plain.MASK}"' in masked
    assert "shpat_" in ddbfs("--show-secrets", "cat", path).text


def test_long_list_tells_the_size(ddbfs):
    path = f"{BY_INDEX}/all@jsonl"
    size = len(ddbfs("cat", path).stdout)
    told = json.loads(ddbfs("--json", "ls", path).text)
    assert told == {"name": "all@jsonl", "path": path, "type": "file", "size": size} | (
        {"mtime": told["mtime"]} if "mtime" in told else {}
    )


def test_the_date_is_that_of_the_youngest(ddbfs):
    path = f"{BY_INDEX}/all"
    dates = [json.loads(line)["created_at"] for line in ddbfs("cat", f"{path}@jsonl").text.splitlines()]
    told = json.loads(ddbfs("--json", "ls", f"{path}@jsonl").text)["mtime"]
    assert told[:19] == max(dates)[:19]


def test_several_come_in_the_order_they_are_named(ddbfs, proxy):
    paths = [f"{BY_INDEX}/all@jsonl", f"{SHOP_RECORDS}@count", f"{ACCOUNT}@jsonl"]
    alone = [ddbfs("cat", path).text for path in paths]
    proxy.fault("page_size", op="Query", times=None, items=2)
    assert ddbfs("cat", *paths).text == "".join(alone)


def test_what_fails_in_the_middle_ends_in_an_error(ddbfs, proxy):
    whole = ddbfs("cat", f"{BY_INDEX}/all@jsonl").text
    proxy.fault("page_size", op="Query", times=None, items=5)
    meets_second = proxy.fault("denied", op="Query", times=None)
    meets_second.meets = lambda record: "ExclusiveStartKey" in record.body
    result = ddbfs("cat", f"{BY_INDEX}/all@jsonl", expect=1)
    assert result.text == "".join(whole.splitlines(keepends=True)[:5])
    assert "AccessDenied" in result.stderr
    counted = ddbfs("cat", f"{BY_INDEX}/all@count", expect=1)
    assert counted.text == "" and "AccessDenied" in counted.stderr


def test_a_record_or_a_plain_directory_has_none(ddbfs):
    for path in (f"{BY_INDEX}@jsonl", f"{SHOP_RECORDS}/SETTINGS@jsonl", f"{BY_INDEX}@count"):
        result = ddbfs("cat", path, expect=3)
        assert "only a listing of records has @" in result.stderr, result.stderr
    assert "has no companions" in ddbfs("cat", f"{SHOP_RECORDS}/access-token@jsonl", expect=3).stderr


def test_nothing_is_below_it_and_no_listing_shows_it(ddbfs, ls):
    assert "nothing is below it" in ddbfs("cat", f"{BY_INDEX}/all@jsonl/x", expect=1).stderr
    assert not [name for name in ls(BY_INDEX) + ls(f"{BY_INDEX}/all") if "@" in name]


ENDINGS = ["@jsonl", "@csv", "@table", "@count", "@summary", "@sqlite", "@csv:a", "@table:b,c"]


@rows("ending", ENDINGS)
def test_a_key_that_ends_so_is_escaped(ddbfs, things, ls, ending):
    box = f"box of {ending[1:]}"
    things.put(f"ann{ending}", box, s={"S": "that one"})
    things.put("ann", box, s={"S": "another"})
    names = ls(f"/any/things/{box}", env=things.env)
    assert sorted(names)[1] != f"ann{ending}" and len(names) == 2
    for name, text in zip(sorted(names, key=len), ("another", "that one")):
        assert json.loads(ddbfs("cat", f"/any/things/{box}/{name}", env=things.env).text)["s"] == text


@rows("ending", ENDINGS)
def test_a_partition_that_ends_so_is_typed_with_an_escape(ddbfs, things, ending):
    things.put("one", box=f"box{ending}")
    typed = f"/any/things/box{ending.replace('@', '%40')}"
    assert ddbfs("cat", f"{typed}@count", env=things.env).text == "1\n"
    assert json.loads(ddbfs("cat", f"{typed}/one", env=things.env).text)["pk"] == f"box{ending}"


def test_explain_tells_the_listings_cost(ddbfs):
    told = json.loads(ddbfs("explain", "--json", f"{BY_INDEX}/all@jsonl").text)
    listing = json.loads(ddbfs("explain", "--json", f"{BY_INDEX}/all").text)
    assert told["bound"] == listing["bound"] and told["aws"] == listing["aws"]


@rows("ending", ["@csv:status,creatd_at", "@csv/status,creatd_at", "@table/status,creatd_at"])
def test_a_column_that_no_record_has_is_told(ddbfs, ending):
    run = ddbfs("cat", f"{BY_INDEX}/latest{ending}")
    assert run.stdout and run.stderr.count("\n") == 1
    assert run.stderr.startswith("ddbfs: warning: ")
    assert 'no item has an attribute "creatd_at"' in run.stderr


def test_a_column_is_no_part_of_an_attribute(ddbfs):
    assert "a column is a whole attribute" in ddbfs("cat", f"{BY_INDEX}/latest@csv:progress.processed").stderr
    assert ddbfs("cat", f"{BY_INDEX}/latest@csv:status,progress").stderr == ""
