"""Names of an index's listing that hold parts of the index's own key: `{createdAt},{customerId},{orderId}`."""

import json

import pytest

from harness.rows import rows

pytestmark = pytest.mark.wire

KEYS = {"customerId": "S", "orderId": "S", "status": "S", "createdAt": "S", "total": "N", "digest": "B"}


def index(name, partition, sort, projection):
    """What CreateTable is told of an index."""
    return {
        "IndexName": name,
        "KeySchema": [
            {"AttributeName": partition, "KeyType": "HASH"},
            {"AttributeName": sort, "KeyType": "RANGE"},
        ],
        "Projection": projection,
    }


ORDERS = {
    "TableName": "any-Orders",
    "AttributeDefinitions": [{"AttributeName": name, "AttributeType": each} for name, each in KEYS.items()],
    "KeySchema": [
        {"AttributeName": "customerId", "KeyType": "HASH"},
        {"AttributeName": "orderId", "KeyType": "RANGE"},
    ],
    "GlobalSecondaryIndexes": [
        index("by-date", "status", "createdAt", {"ProjectionType": "KEYS_ONLY"}),
        index("by-total", "status", "total", {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["note"]}),
        index("by-digest", "status", "digest", {"ProjectionType": "ALL"}),
    ],
    "BillingMode": "PAY_PER_REQUEST",
}

MAP = {
    "environments": {"any": {"prefix": "any-", "profile": "controller", "region": "us-east-1"}},
    "tables": {
        "orders": {
            "table": "Orders",
            "records": {"order": {"customerId": "{customerId*}", "orderId": "{orderId*}"}},
            "types": {"total": "N", "digest": "B"},
            "indexes": {
                "by-date": {"partition": "status", "sort": {"createdAt": "{createdAt*}"}, "projects": "keys"},
                "by-total": {"partition": "status", "sort": "total", "projects": ["note"]},
                "by-digest": {"partition": "status", "sort": "digest", "projects": "all"},
            },
            "paths": {
                "items/{customerId}/": {},
                "date/{status}/": {"index": "by-date", "name": "{createdAt},{customerId},{orderId}"},
                "bare/{status}/": {
                    "index": "by-total",
                    "hydrate": False,
                    "name": "{total} {customerId},{orderId}",
                },
                "digest/{status}/": {"index": "by-digest", "name": "{digest},{customerId},{orderId}"},
                "month/{status}/{month}/": {
                    "index": "by-date",
                    "where": {"'createdAt'": {"begins_with": "{month}"}},
                    "name": "{createdAt},{customerId},{orderId}",
                },
                "plain/{status}/": {"index": "by-date"},
                "last/{status}/": {
                    "index": "by-date",
                    "newest": 5,
                    "name": "{rank}_{createdAt},{customerId},{orderId}",
                },
            },
        }
    },
}


@pytest.fixture
def orders(boto, table, write_map):
    """put(customer, order, created, total, digest, **more), and as `env` the map."""
    table(ORDERS)

    def put(customer, order, created="2026-01-01", total="5", digest=b"\x00", **more):
        item = {
            "customerId": {"S": customer},
            "orderId": {"S": order},
            "status": {"S": "open"},
            "createdAt": {"S": created},
            "total": {"N": total},
            "digest": {"B": digest},
            **more,
        }
        boto.put_item(TableName="any-Orders", Item={name: each for name, each in item.items() if each})
        return item

    put.env = {"DDBFS_MAP": str(write_map(MAP))}
    return put


def record(ddbfs, orders, path):
    return json.loads(ddbfs("cat", f"/any/orders/{path}", env=orders.env).text)


@rows("options", [(), ("-l",)])
def test_names_are_in_the_order_of_the_index(ddbfs, orders, cost, options):
    for customer, order, created in [("ann", "2", "2026-03-01"), ("bob", "1", "2026-01-01"), ("ann", "1", "2026-02-01")]:
        orders(customer, order, created)
    text = ddbfs("ls", *options, "/any/orders/date/open", env=orders.env).text
    names = [line.rsplit(" ", 1)[-1] for line in text.splitlines()]
    assert names == ["2026-01-01,bob,1", "2026-02-01,ann,1", "2026-03-01,ann,2"]
    cost()
    assert record(ddbfs, orders, "date/open/2026-02-01,ann,1")["orderId"] == "1"
    assert cost() == ["GetItem"]


def test_a_name_opens_as_long_as_the_record_has_that_key(ddbfs, orders, boto):
    orders("ann", "1", "2026-02-01")
    old, new = "/any/orders/date/open/2026-02-01,ann,1", "/any/orders/date/open/2026-02-02,ann,1"
    ddbfs("cat", old, env=orders.env)
    missed = ddbfs("cat", new, env=orders.env, expect=3)
    assert "by-date does not (or no longer) have it" in missed.stderr
    orders("ann", "1", "2026-02-02")
    ddbfs("cat", old, env=orders.env, expect=3)
    ddbfs("cat", new, env=orders.env)
    orders("ann", "1", createdAt=None)
    ddbfs("cat", new, env=orders.env, expect=3)
    ddbfs("cat", "/any/orders/items/ann/1", env=orders.env)


def test_an_index_that_is_behind(ddbfs, orders, proxy, oracle):
    """The index returns the former key. The listing has the item's new contents under that name, which is a name no more."""
    orders("ann", "1", "2026-02-01")
    orders("bob", "1", "2026-02-01")
    before = oracle.query(
        "any-Orders",
        "#s = :open",
        open="open",
        IndexName="by-date",
        ExpressionAttributeNames={"#s": "status"},
    )
    orders("ann", "1", "2026-02-09")
    body = json.dumps({"Items": before, "Count": 2, "ScannedCount": 2}).encode()
    proxy.fault("raw", op="Query", times=None, body=body)
    names = ddbfs("ls", "/any/orders/date/open", env=orders.env).text.splitlines()
    assert names == ["2026-02-01,ann,1", "2026-02-01,bob,1"]
    long = ddbfs("ls", "-l", "/any/orders/date/open", env=orders.env).text.splitlines()
    assert [line.rsplit(" ", 1)[-1] for line in long] == names
    missed = ddbfs("cat", "/any/orders/date/open/2026-02-01,ann,1", env=orders.env, expect=3)
    assert "list the directory again" in missed.stderr


def change_before(proxy, change):
    """Calls CHANGE when the query has been answered, and before items are read by their keys."""

    def handle(_exchange, go_on):
        change()
        return go_on()

    proxy.fault("handled", op="BatchGetItem", handler=handle)


def lines_of(text):
    """The item's total in each line of @jsonl, by customer."""
    return {item["customerId"]: item["total"] for item in map(json.loads, text.splitlines())}


@pytest.fixture
def moving(orders, boto, proxy):
    """moving(): five orders that are open. When the query has found them: ann's moves to another date, bob's is closed,
    cyn's has no date, dan's is deleted; eve's stays as it is."""

    def change():
        orders("ann", "1", "2026-03-09", total="7")
        orders("bob", "1", "2026-02-01", status={"S": "closed"})
        orders("cyn", "1", createdAt=None)
        boto.delete_item(TableName="any-Orders", Key={"customerId": {"S": "dan"}, "orderId": {"S": "1"}})

    def begin():
        for customer in ("ann", "bob", "cyn", "dan", "eve"):
            orders(customer, "1", "2026-02-01")
        change_before(proxy, change)

    begin.env = orders.env
    return begin


@rows("path", ["date/open", "plain/open", "last/open"])
def test_a_listing_has_an_item_that_moves_inside_of_its_partition(ddbfs, moving, path):
    moving()
    assert lines_of(ddbfs("cat", f"/any/orders/{path}@jsonl", env=moving.env).text) == {"ann": 7, "eve": 5}


@rows("form", ["@csv", "@table", "@summary"])
def test_forms_of_a_listing_have_an_item_that_moves(ddbfs, moving, form):
    moving()
    text = ddbfs("cat", f"/any/orders/date/open{form}", env=moving.env).text
    assert "2026-03-09" in text and "bob" not in text and "cyn" not in text


def test_an_item_that_moves_keeps_the_name_that_the_query_returned(ddbfs, moving):
    moving()
    text = ddbfs("ls", "-l", "/any/orders/date/open", env=moving.env).text
    assert [line.rsplit(" ", 1)[-1] for line in text.splitlines()] == ["2026-02-01,ann,1", "2026-02-01,eve,1"]


def test_a_window_has_no_item_that_has_left_it(ddbfs, moving):
    """As `cat` of its name: the directory is of another month."""
    moving()
    assert lines_of(ddbfs("cat", "/any/orders/month/open/2026-02@jsonl", env=moving.env).text) == {"eve": 5}


def test_rows_of_sql_have_an_item_that_moves(ddbfs, moving, write_map):
    """By the one index that the map has here, which has keys alone."""
    orders = MAP["tables"]["orders"]
    by_date = {"indexes": {"by-date": orders["indexes"]["by-date"]}, "paths": {"date/{status}/": orders["paths"]["date/{status}/"]}}
    env = {"DDBFS_MAP": str(write_map({**MAP, "tables": {"orders": {**orders, **by_date, "types": {}}}}))}
    moving()
    statement = "select customerId, total from any.orders where status = 'open' and createdAt >= '2026'"
    assert ddbfs("sql", "--csv", statement, env=env).text.splitlines()[1:] == ["ann,7", "eve,5"]


def test_a_count_by_items_that_are_read_has_an_item_that_moves(ddbfs, moving):
    """The index has no `total`, so that the items decide."""
    moving()
    assert ddbfs("cat", "--where", "total > 0", "/any/orders/date/open@count", env=moving.env).text == "2\n"


def test_a_count_is_that_of_the_names_in_the_index(ddbfs, orders, proxy, boto):
    """An index that is behind still has an item that was deleted. `ls -l` and forms with contents leave it out."""
    for customer in ("ann", "bob"):
        orders(customer, "1")
    folder = "/any/orders/date/open"

    def forget(body):
        items = body["Responses"]["any-Orders"]
        items[:] = [item for item in items if item["customerId"]["S"] != "ann"]

    proxy.fault("alter", op="BatchGetItem", times=None, change=forget)
    counts = [ddbfs("cat", f"{folder}@count", env=orders.env).text, ddbfs("ls", "--count", folder, env=orders.env).text]
    assert counts == ["2\n", "2\n"] and len(ddbfs("ls", folder, env=orders.env).text.splitlines()) == 2
    assert len(ddbfs("ls", "-l", folder, env=orders.env).text.splitlines()) == 1
    assert lines_of(ddbfs("cat", f"{folder}@jsonl", env=orders.env).text) == {"bob": 5}
    assert ddbfs("cat", "--where", "total > 0", f"{folder}@count", env=orders.env).text == "1\n"


def test_an_item_that_moves_ahead_of_the_query_is_listed_once(ddbfs, orders, proxy):
    for number in range(4):
        orders("ann", str(number), f"2026-02-0{number + 1}")
    change_before(proxy, lambda: orders("ann", "0", "2026-02-09", total="7"))
    proxy.fault("page_size", op="Query", times=None, items=2)
    text = ddbfs("cat", "/any/orders/date/open@jsonl", env=orders.env).text
    assert [json.loads(line)["orderId"] for line in text.splitlines()] == ["0", "1", "2", "3"]


@rows("typed", ["7", "7.0", "07", "0.7e1"])
def test_a_number_of_the_index(ddbfs, orders, cost, typed):
    """Shown as the index holds it, which then is asked: one query of one record."""
    for n in range(30):
        orders("ann", str(n), total=str(n), note={"S": f"note {n}"})
    names = ddbfs("ls", "/any/orders/bare/open", env=orders.env).text.splitlines()
    assert names == [f"{n} ann,{n}" for n in range(30)]
    cost()
    assert record(ddbfs, orders, f"bare/open/{typed} ann,7") == {
        "customerId": "ann",
        "note": "note 7",
        "orderId": "7",
        "status": "open",
        "total": 7,
    }
    assert cost() == ["Query by-total"]
    ddbfs("cat", "/any/orders/bare/open/8 ann,7", env=orders.env, expect=3)


def test_bytes_of_the_index(ddbfs, orders):
    digests = [b"\x00\x01", b"a,b", b"\xff%", b"plain", b"base64:AA"]
    for n, digest in enumerate(digests):
        orders("ann", str(n), digest=digest)
    names = ddbfs("ls", "/any/orders/digest/open", env=orders.env).text.splitlines()
    assert len(names) == len(digests)
    for name in names:
        found = record(ddbfs, orders, f"digest/open/{name}")
        assert found["orderId"] == name.rsplit(",", 1)[1]
    ddbfs("cat", "/any/orders/digest/open/%00%02,ann,0", env=orders.env, expect=3)


def test_ranks_stand_before(ddbfs, orders):
    for n in range(3):
        orders("ann", str(n), f"2026-01-0{n + 1}")
    names = ddbfs("ls", "/any/orders/last/open", env=orders.env).text.splitlines()
    assert names == ["1_2026-01-03,ann,2", "2_2026-01-02,ann,1", "3_2026-01-01,ann,0"]
    assert record(ddbfs, orders, "last/open/3_2026-01-03,ann,2")["createdAt"] == "2026-01-03"


def test_a_shortened_name_tells_the_index_as_well(ddbfs, orders):
    """The digest is of the whole name, so a record whose index key has changed is called otherwise."""
    long = "x" * 300
    orders("ann", "1", "2026" + long)
    orders("ann", "2", "2027" + long)
    names = ddbfs("ls", "/any/orders/date/open", env=orders.env).text.splitlines()
    assert len(names) == 2 and all("%~" in name for name in names)
    assert [record(ddbfs, orders, f"date/open/{name}")["orderId"] for name in names] == ["1", "2"]
    orders("ann", "1", "2028" + long)
    ddbfs("cat", f"/any/orders/date/open/{names[0]}", env=orders.env, expect=3)


def test_what_explain_prints_gives_what_the_path_gives(ddbfs, orders, shell):
    orders("ann", "1", "2026-02-01")
    orders("bob", "2", "2026-02-02", total="7")
    for path, want in [
        ("date/open/2026-02-01,ann,1", ["1"]),
        ("date/open/2026-02-02,ann,1", []),
        ("bare/open/7 bob,2", ["2"]),
        ("bare/open/5 bob,2", []),
        ("digest/open/%00,bob,2", ["2"]),
        ("digest/open/%01,bob,2", []),
        ("date/open", ["1", "2"]),
    ]:
        told = json.loads(ddbfs("explain", "--json", f"/any/orders/{path}", env=orders.env).stdout)["aws"]
        found = [json.loads(line)["orderId"]["S"] for line in shell(told).text.splitlines() if line]
        assert found == want, path
