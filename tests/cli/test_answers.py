"""Answers that are not ones to the question: an error that says so, never a record, never an end."""

import pytest

from harness import tables
from harness.rows import rows

SHOP = "kl7a9h55-shopify-e513a8-4"
BY_INDEX = f"/prod/jobs/by-index/shopify/{SHOP}"
JOB_ID = "1f3c9a52-7b1e-4c57-9d0a-2e6f4b8c1d90"
SETTINGS = "/prod/shops/cool-store.myshopify.com/SETTINGS"
ALL = f"{BY_INDEX}/all"
BY_STATUS = f"{BY_INDEX}/status/COMPLETED"


def of_another_key(body):
    body["Item"]["sk"] = {"S": "USER#1"}


def without_its_key(body):
    del body["Item"]["pk"], body["Item"]["sk"]


def with_a_number_that_is_none(body):
    body["Item"]["deep"] = {"L": [{"M": {"n": {"N": "abc"}}}]}


def with_a_number_in_a_set(body):
    body["Item"]["set"] = {"NS": ["1", "abc"]}


ITEMS = [of_another_key, without_its_key, with_a_number_that_is_none, with_a_number_in_a_set]


@rows("change", ITEMS, ids=lambda change: change.__name__)
@rows("companion", ["", "@typed", "@info"])
def test_a_record_that_was_not_asked_for(ddbfs, proxy, change, companion):
    fault = proxy.fault("alter", op="GetItem", times=None, change=change)
    result = ddbfs("cat", SETTINGS + companion, expect=1)
    assert result.stdout == b"" and fault.met == 1
    assert "not requested" in result.stderr or "not understood" in result.stderr


def test_one_attribute_is_of_the_record_that_was_asked_for(ddbfs, proxy):
    proxy.fault("alter", op="GetItem", times=None, change=of_another_key)
    result = ddbfs("cat", f"{SETTINGS}@/active_index", expect=1)
    assert result.stdout == b"" and "not requested" in result.stderr


MISSES = {
    "of HTML's type": (b"{}", "text/html", False),
    "of a stranger": (b'{"status":"ok"}', "application/x-amz-json-1.0", False),
    "with more than it should": (
        b'{"ConsumedCapacity":{"CapacityUnits":1},"x":1}',
        "application/x-amz-json-1.0",
        False,
    ),
    "of DynamoDB": (b"{}", "application/x-amz-json-1.0", True),
    "of DynamoDB, with capacity": (
        b'{"ConsumedCapacity":{"CapacityUnits":1}}',
        "application/x-amz-json-1.0; charset=utf-8",
        True,
    ),
}


@rows("kind", MISSES)
def test_only_dynamodb_proves_a_miss(ddbfs, proxy, kind):
    body, content_type, is_miss = MISSES[kind]
    proxy.fault("raw", op="GetItem", times=None, body=body, content_type=content_type)
    result = ddbfs("cat", SETTINGS, expect=None)
    assert result.code != 0 and ("has no item" in result.stderr) == is_miss


# Queries


def of_another_partition(body):
    body["Items"][0]["pk"] = {"S": "PLATFORM#shopify#SHOP#another"}


def in_disorder(body):
    body["Items"].reverse()


def twice(body):
    body["Items"].append(body["Items"][-1])
    del body["Count"]


def of_another_number(body):
    body["Count"] += 1


def without_items(body):
    del body["Items"]


def with_a_last_key_of_another_type(body):
    body["LastEvaluatedKey"] = "next"


def with_a_negative_capacity(body):
    body["ConsumedCapacity"] = {"CapacityUnits": -1}


QUERIES = [
    of_another_partition,
    in_disorder,
    twice,
    of_another_number,
    without_items,
    with_a_last_key_of_another_type,
    with_a_negative_capacity,
]


@rows("change", QUERIES, ids=lambda change: change.__name__)
def test_a_page_that_is_no_answer(ddbfs, proxy, change):
    proxy.fault("alter", op="Query", times=None, change=change)
    result = ddbfs("ls", ALL, expect=1)
    assert result.stdout == b"" and "DynamoDB" in result.stderr


def test_the_index_says_which_record_it_is(ddbfs, proxy):
    def change(body):
        body["Items"][0]["job_id"] = {"S": "another"}

    proxy.fault("alter", op="Query", times=None, change=change)
    result = ddbfs("cat", f"/prod/jobs/by-id/{JOB_ID}", expect=1)
    assert result.stdout == b"" and "job_id" in result.stderr
    assert proxy.ops == ["Query"]


def repeated(body):
    body["LastEvaluatedKey"] = {name: body["Items"][-1][name] for name in ("pk", "sk")}


def test_a_position_that_comes_again_ends_the_listing(ddbfs, proxy):
    """The service says that there is more, and then gives the same page again and again."""
    first = {}

    def change(body):
        first.setdefault("body", dict(body))
        body.clear()
        body.update(first["body"])
        repeated(body)

    proxy.fault("alter", op="Query", times=None, change=change)
    result = ddbfs("ls", ALL, expect=1)
    assert "the response to Query of prod-EcomIndexerJobsTable is wrong" in result.stderr
    assert proxy.ops in (["Query"] * 2, ["Query"] * 3)  # the third leaves before the second page is parsed


def test_a_position_behind_the_last_item_passes_over_nothing(ddbfs, proxy):
    def change(body):
        del body["Items"][-1]
        body["Count"] -= 1
        body["ScannedCount"] = body["Count"]

    proxy.fault("alter", op="Query", times=None, change=lambda body: (repeated(body), change(body)))
    result = ddbfs("ls", ALL, expect=1)
    assert "a LastEvaluatedKey that is not the key of the last item" in result.stderr
    assert proxy.ops == ["Query"]


# Batches


def records(body):
    (found,) = body["Responses"].values()
    return found


def one_of_another_key(body):
    records(body)[0]["sk"] = {"S": "JOB#another"}


def one_twice(body):
    records(body).append(records(body)[0])


def of_another_table(body):
    body["Responses"] = {"another": records(body)}


def unprocessed_of_another(body):
    (table,) = body["Responses"]
    body["UnprocessedKeys"] = {table: {"Keys": [{"pk": {"S": "x"}, "sk": {"S": "y"}}]}}


def unprocessed_though_it_came(body):
    (table,) = body["Responses"]
    keys = [{name: records(body)[0][name] for name in ("pk", "sk")}]
    body["UnprocessedKeys"] = {table: {"Keys": keys}}


BATCHES = [
    one_of_another_key,
    one_twice,
    of_another_table,
    unprocessed_of_another,
    unprocessed_though_it_came,
]


@rows("change", BATCHES, ids=lambda change: change.__name__)
def test_a_batch_that_is_no_answer(ddbfs, proxy, change):
    proxy.fault("alter", op="BatchGetItem", times=None, change=change)
    result = ddbfs("ls", "-l", BY_STATUS, expect=1)
    assert "DynamoDB" in result.stderr
    assert proxy.ops == ["Query", "BatchGetItem"]


# Limits


CROWD = {
    "environments": {"any": {"prefix": "any-", "profile": "controller", "region": "us-east-1"}},
    "tables": {
        "crowd": {
            "table": "Crowd",
            "records": {
                "job": {"pk": "{box}", "sk": "JOB#{id}"},
                "line": {"pk": "{box}", "sk": "JOB#{id}#LINE#{n}"},
            },
            "paths": {"last/{box}/": {"list": "job", "newest": 1}},
        }
    },
}


@pytest.fixture
def crowd(table, write_map):
    """One record before a thousand of another kind, which the first page is full of."""
    lines = [{"pk": {"S": "box"}, "sk": {"S": f"JOB#1#LINE#{n:04d}"}} for n in range(1000)]
    table(tables.table("any-Crowd"), [{"pk": {"S": "box"}, "sk": {"S": "JOB#1"}}, *lines])
    return {"DDBFS_MAP": str(write_map(CROWD))}


def test_others_in_between_cost_one_request_more(ls, proxy, crowd):
    assert ls("/any/crowd/last/box", env=crowd) == ["1"]
    assert proxy.ops == ["Query", "Query"]
    assert [each.body.get("Limit") for each in proxy.requests] == [1, None]


# What is listed


def with_the_first_again(body):
    body["Items"].append(body["Items"][0])
    body["Count"] = len(body["Items"])


@rows("option", [(), ("-l",)])
def test_an_item_of_an_index_that_comes_twice(ddbfs, proxy, option):
    """Where the order does not tell: all have one sort key."""
    proxy.fault("alter", op="Query", times=None, change=with_the_first_again)
    result = ddbfs("ls", *option, BY_STATUS, expect=1)
    assert result.text == ""
    assert "had come before" in result.stderr or "backwards" in result.stderr


@rows("value", ["shpat_of_somebody_else"])
def test_a_token_that_the_filter_leaves_out(ddbfs, proxy, value):
    def change(body):
        for item in body["Items"]:
            item["entity_type"], item["access_token"] = {"S": "OTHER"}, {"S": value}

    proxy.fault("alter", op="Query", times=None, change=change)
    result = ddbfs("cat", "/prod/shops/cool-store.myshopify.com/access-token", expect=1)
    assert result.stdout == b"" and value not in result.stderr
    assert "an item that the filter leaves out" in result.stderr
