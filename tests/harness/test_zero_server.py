"""The server of the benchmarks returns what DynamoDB would: each page, from each position, in both directions."""

import collections
import concurrent.futures
import http.client
import json
import subprocess
import time
import zlib

import pytest

from harness import rows, servers

SHOPS = {"many": 4000, "few": 3, "large": 30}
PARTITION = {"#n0": "pk", "#n1": "sk"}
PAGE = 1 << 20


@pytest.fixture(scope="module")
def zero():
    shops = [f"{name}={count}" + (":100000" if name == "large" else "") for name, count in SHOPS.items()]
    with servers.running("zero", shops=shops) as server:
        yield server


def call(server, op, body):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    headers = {"X-Amz-Target": f"DynamoDB_20120810.{op}", "Content-Type": "application/x-amz-json-1.0"}
    connection.request("POST", "/", json.dumps(body), headers)
    response = connection.getresponse()
    text = response.read()
    connection.close()
    assert int(response.headers["x-amz-crc32"]) == zlib.crc32(text), (op, body)
    return response.status, json.loads(text)


def question(shop, condition="", values=(), **members):
    return {
        "TableName": "prod-BenchJobs",
        "KeyConditionExpression": "#n0 = :v0" + (f" AND {condition}" if condition else ""),
        "ExpressionAttributeNames": PARTITION,
        "ExpressionAttributeValues": {":v0": {"S": f"SHOP#{shop}"}, **dict(values)},
        "ReturnConsumedCapacity": "TOTAL",
        **members,
    }


def pages(server, body):
    found = []
    while True:
        status, page = call(server, "Query", body)
        assert status == 200, page
        found.append(page)
        if "LastEvaluatedKey" not in page:
            return found
        body = {**body, "ExclusiveStartKey": page["LastEvaluatedKey"]}


def items(server, body):
    return [item for page in pages(server, body) for item in page["Items"]]


@pytest.fixture(scope="module")
def many(zero):
    return items(zero, question("many"))


def key(item):
    return {name: item[name] for name in ("pk", "sk")}


def test_a_partition_is_pages_of_a_megabyte(zero, many):
    found = pages(zero, question("many"))
    assert len(many) == SHOPS["many"] and many == sorted(many, key=lambda item: item["sk"]["S"])
    assert [page["ConsumedCapacity"]["CapacityUnits"] for page in found[:-1]] == [128.0] * (len(found) - 1)
    assert all(page["Count"] == page["ScannedCount"] == len(page["Items"]) for page in found)
    assert len(items(zero, question("large"))) == SHOPS["large"] and len(pages(zero, question("large"))) == 3
    assert items(zero, question("nobody")) == []


def test_backwards_is_the_same_reversed(zero, many):
    body = question("many", ScanIndexForward=False)
    assert items(zero, body) == many[::-1]
    before = zero.counts()
    assert items(zero, question("few", ScanIndexForward=False)) == items(zero, question("few"))[::-1]
    assert zero.counts()["backwards"] == before["backwards"] + 1


@rows.rows("backwards", [False, True])
def test_a_page_begins_behind_any_sort_key(zero, many, backwards):
    """Also behind one that no item has."""
    order = many[::-1] if backwards else many
    for at in (0, 1, 777, 3999):
        body = question("many", ScanIndexForward=not backwards, ExclusiveStartKey=key(order[at]))
        assert items(zero, body) == order[at + 1 :]
    between = {"pk": many[0]["pk"], "sk": {"S": many[10]["sk"]["S"] + "x"}}
    body = question("many", ScanIndexForward=not backwards, ExclusiveStartKey=between)
    assert items(zero, body) == (many[10::-1] if backwards else many[11:])


@rows.rows(
    "condition, first, end",
    [
        ("#n1 BETWEEN :a AND :b", 50, 3001),
        ("#n1 >= :a", 50, 4000),
        ("#n1 > :a", 51, 4000),
        ("#n1 < :a", 0, 50),
        ("#n1 <= :a", 0, 51),
        ("#n1 = :a", 50, 51),
        ("begins_with(#n1, :c)", 1800, 3600),
        ("begins_with(#n1, :d)", 0, 0),
    ],
)
def test_conditions_on_the_sort_key(zero, many, condition, first, end):
    texts = {":a": many[50]["sk"]["S"], ":b": many[3000]["sk"]["S"], ":c": "JOB#2026-04-01T01", ":d": "JOB#2031"}
    values = [(name, {"S": text}) for name, text in texts.items()]
    assert items(zero, question("many", condition, values)) == many[first:end]
    body = question("many", condition, values, ScanIndexForward=False)
    assert items(zero, body) == many[first:end][::-1]


def test_limit_and_count(zero, many):
    _, page = call(zero, "Query", question("many", Limit=7))
    assert page["Items"] == many[:7] and page["LastEvaluatedKey"] == key(many[6])
    _, page = call(zero, "Query", question("few", Limit=3))
    assert "LastEvaluatedKey" in page, "as the service does"
    counted = pages(zero, question("many", Select="COUNT"))
    assert sum(page["Count"] for page in counted) == 4000 and not any("Items" in page for page in counted)


def test_items_by_their_keys(zero, many):
    asked = {"TableName": "prod-BenchJobs", "Key": key(many[99])}
    assert call(zero, "GetItem", asked)[1]["Item"] == many[99]
    missing = {"pk": many[0]["pk"], "sk": {"S": "JOB#"}}
    assert "Item" not in call(zero, "GetItem", {"TableName": "prod-BenchJobs", "Key": missing})[1]
    keys = [key(item) for item in many[:99]] + [missing]
    _, found = call(zero, "BatchGetItem", {"RequestItems": {"prod-BenchJobs": {"Keys": keys}}})
    assert found["Responses"]["prod-BenchJobs"] == many[:99] and found["UnprocessedKeys"] == {}
    assert found["ConsumedCapacity"][0]["CapacityUnits"] == 50


def test_the_index_has_keys_alone(zero, many):
    body = {
        "TableName": "prod-BenchJobs",
        "IndexName": "ByShop",
        "KeyConditionExpression": "shop = :s AND created_at >= :a",
        "ExpressionAttributeValues": {":s": {"S": "many"}, ":a": many[9]["created_at"]},
    }
    names = ("pk", "sk", "shop", "created_at")
    assert items(zero, body) == [{name: item[name] for name in names} for item in many[9:]]


def test_a_projection_returns_at_least_its_attributes(zero, many):
    found = items(zero, question("many", ProjectionExpression="#n0, #n1"))
    names = ("pk", "sk", "shop", "created_at")
    assert found == [{name: item[name] for name in names} for item in many]
    assert items(zero, question("many", ProjectionExpression="#n1, message")) == many
    assert items(zero, question("many", FilterExpression="pk = :v0")) == many


def test_the_table_is_described(zero):
    _, told = call(zero, "DescribeTable", {"TableName": "prod-BenchJobs"})
    assert told["Table"]["KeySchema"][1] == {"AttributeName": "sk", "KeyType": "RANGE"}
    assert call(zero, "ListTables", {})[1] == {"TableNames": ["prod-BenchJobs"]}


@rows.rows("op, members", [
    ("Scan", {}), ("Query", {"FilterExpression": "sk = :v0"}),
    ("Query", {"TableName": "Other"}), ("Query", {"KeyConditionExpression": "#n0 > :v0"}),
])  # fmt: skip
def test_what_it_can_not_do_is_refused(zero, op, members):
    status, body = call(zero, op, {**question("many"), **members})
    assert status == 400 and body["__type"].endswith("#ValidationException")


def at_once(server, count):
    """The seconds until COUNT requests that leave together are answered."""
    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        list(pool.map(lambda _: call(server, "Query", question("few")), range(count)))
    return time.monotonic() - began


def test_requests_wait_together_or_in_a_queue():
    with servers.running("zero", shops=["few=3"], delay_ms=300) as server:
        assert 0.3 <= at_once(server, 5) < 1.5
        assert server.counts()["at_once"] == 5 and server.counts()["Query"] == 5
    with servers.running("zero", shops=["few=3"], delay_ms=60, serial=True) as server:
        assert at_once(server, 5) >= 0.3


def test_a_client_that_leaves_harms_no_other():
    """While its response waits, and while its response is sent."""
    with servers.running("zero", shops=["many=4000"], delay_ms=20) as server:
        for number in range(20):
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
            headers = {"X-Amz-Target": "DynamoDB_20120810.Query"}
            connection.request("POST", "/", json.dumps(question("many")), headers)
            time.sleep(0.03 if number % 2 else 0)
            connection.close()
        assert len(items(server, question("many"))) == 4000
        assert collections.Counter(server.counts())["Query"] >= 20


def test_the_items_are_printed_for_another_server(zero):
    command = servers.zero_command(0, shops=["few=3"])
    printed = subprocess.run([*command, "--print", "items"], capture_output=True, check=True).stdout
    assert [json.loads(line)["Item"] for line in printed.splitlines()] == items(zero, question("few"))
