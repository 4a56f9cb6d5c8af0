"""`--allow-scan`: the partition keys of a small table that no map describes. Without it nothing scans:
the proxy fails whatever test makes a Scan."""

import json
import re

import pytest

from harness import tables
from harness.rows import rows

BARE = {"DDBFS_MAP": None}
KEYS = ["a", "b/c", "d#e", "é", "%"]


@pytest.fixture
def table_of(table):
    """Makes the table any-Things with COUNT items in each of these partitions."""

    def make(partitions, count=2, **how):
        items = [
            {"pk": {how.get("partition", "S"): key}, "sk": {"S": f"{number:03}"}}
            for key in partitions
            for number in range(count)
        ]
        return table(tables.table("any-Things", **how), items)

    return make


@pytest.fixture
def scans(ddbfs, proxy):
    """ddbfs without a map, which may scan."""
    proxy.allow_scan = True
    return lambda *arguments, **how: ddbfs("--allow-scan", *arguments, env=BARE, **how)


@pytest.fixture
def bare(ddbfs):
    return lambda *arguments, **how: ddbfs(*arguments, env=BARE, **how)


def counted(items, size):
    """What makes DescribeTable tell a table of that size."""

    def change(body):
        body["Table"].update(ItemCount=items, TableSizeBytes=size)

    return change


def names_of(result):
    return [name for name in result.text.split("\n")[:-1] if name != "README"]


def test_without_the_option_keys_have_to_be_typed(bare, table_of, proxy, cost):
    items = f"/tables/{table_of(KEYS)}/items"
    proxy.fault("alter", op="DescribeTable", times=None, change=counted(8, 100))
    assert bare("ls", items).text == "README\n{pk}/\n"
    result = bare("ls", f"{items}/{{pk}}", expect=1)
    assert "type one" in result.stderr
    lists = "--allow-scan lists them by reading the whole table (8 items)"
    assert f"; or {lists}" in result.stderr
    assert cost() == ["DescribeTable"] * 2
    assert f"\n{lists}.\n" in bare("cat", f"{items}/README").text
    assert bare("ls", f"{items}/a").text.split() == ["000", "001"]


def test_partition_keys_are_listed_each_once(scans, table_of, proxy, cost):
    items = f"/tables/{table_of(KEYS, count=3)}/items"
    assert names_of(scans("ls", items)) == ["%25/", "a/", "b%2Fc/", "d#e/", "é/"]
    asked = [each.body for each in proxy.requests if each.op == "Scan"]
    assert sorted(each["Segment"] for each in asked) == [0, 1, 2, 3]
    for each in asked:
        assert each["TotalSegments"] == 4 and each["ProjectionExpression"] == "#n0"
        assert each["ExpressionAttributeNames"] == {"#n0": "pk"}
    assert cost() == ["DescribeTable"] + ["Scan"] * 4


def test_numbers_are_in_their_order(scans, table_of):
    items = f"/tables/{table_of(['10', '9', '-1.5', '100'], partition='N')}/items"
    assert names_of(scans("ls", items)) == ["-1.5/", "9/", "10/", "100/"]


def test_binary_keys_open_as_they_are_listed(scans, table_of):
    items = f"/tables/{table_of([bytes([0, 255, 47]), b'plain'], partition='B')}/items"
    listed = names_of(scans("ls", items))
    assert len(listed) == 2 and "plain/" in listed
    for name in listed:
        assert scans("ls", f"{items}/{name}").text.split() == ["000", "001"]


def test_a_table_without_sort_keys_has_files(scans, table):
    schema = tables.table("any-Things")
    schema["KeySchema"] = schema["KeySchema"][:1]
    schema["AttributeDefinitions"] = schema["AttributeDefinitions"][:1]
    name = table(schema, [{"pk": {"S": "b"}, "x": {"S": "y"}}, {"pk": {"S": "a"}}])
    assert names_of(scans("ls", f"/tables/{name}/items")) == ["a", "b"]
    assert json.loads(scans("cat", f"/tables/{name}/items/b").text) == {"pk": "b", "x": "y"}


def test_an_empty_table(scans, table_of):
    assert names_of(scans("ls", f"/tables/{table_of([])}/items")) == []


def test_pages_and_throttling(scans, table_of, proxy):
    """Each segment goes on where it stopped; a page that is throttled is asked for again."""
    items = f"/tables/{table_of([f'key-{n:03}' for n in range(50)])}/items"
    proxy.fault("page_size", op="Scan", times=None, items=3)
    proxy.fault("throttle", op="Scan", times=2)
    assert names_of(scans("ls", items)) == [f"key-{n:03}/" for n in range(50)]
    asked = [each for each in proxy.requests if each.op == "Scan"]
    assert len(asked) > 30 and {each.body["Segment"] for each in asked} == {0, 1, 2, 3}


def test_more_items_than_allowed(scans, table_of, proxy, cost):
    items = f"/tables/{table_of(KEYS)}/items"
    proxy.fault("alter", op="DescribeTable", times=None, change=counted(10001, 5 << 20))
    result = scans("ls", items, expect=1)
    assert "the table has 10001 items of 5 MB" in result.stderr
    assert "type a partition key" in result.stderr and "--scan-limit 10001,50M" in result.stderr
    assert "Scan" not in cost()
    scans("--scan-limit", "10001,50M", "ls", items)
    assert "Scan" in cost()


def test_more_bytes_than_allowed(scans, table_of, proxy, cost):
    items = f"/tables/{table_of(KEYS)}/items"
    proxy.fault("alter", op="DescribeTable", times=None, change=counted(10, (50 << 20) + 1))
    result = scans("ls", items, expect=1)
    assert "10 items of 51 MB" in result.stderr and "--scan-limit 10000,51M" in result.stderr
    assert "Scan" not in cost()
    scans("--scan-limit", "10,1G", "ls", items)
    assert "Scan" in cost()


def test_counts_are_old_so_the_scan_counts_itself(scans, table_of, proxy, cost):
    items = f"/tables/{table_of([f'key-{n:03}' for n in range(40)], count=1)}/items"
    proxy.fault("alter", op="DescribeTable", times=None, change=counted(3, 100))
    proxy.fault("page_size", op="Scan", times=None, items=2)
    result = scans("--scan-limit", "10", "ls", items, expect=1)
    assert re.search(r"after 1[1-9] items.* \(limit 10 items, --scan-limit\)", result.stderr)
    assert result.text == "README\n"
    assert 4 < cost().count("Scan") < 12, "and stops when it knows"


def test_units_are_counted_as_bytes(scans, table_of, proxy):
    items = f"/tables/{table_of(KEYS)}/items"

    def change(body):
        body["ConsumedCapacity"] = {"TableName": "any-Things", "CapacityUnits": 128.0}

    proxy.fault("alter", op="Scan", times=None, change=change)
    result = scans("--scan-limit", "10000,2M", "ls", items, expect=1)
    assert " MB (limit 2 MB, --scan-limit): the table is larger" in result.stderr
    result = scans("--scan-limit", "10000,1K", "ls", items, expect=1)
    assert "(limit 1 KB, --scan-limit)" in result.stderr


def test_no_permission_to_scan(scans, table_of, proxy):
    items = f"/tables/{table_of(KEYS)}/items"
    proxy.fault("denied", op="Scan", times=None)
    result = scans("ls", items, expect=1)
    assert "dynamodb:Scan" in result.stderr and result.text == "README\n"


def test_only_the_partition_keys_are_listed_so(scans, table_of, cost):
    table = table_of(["a"])
    scans("ls", f"/tables/{table}")
    scans("ls", f"/tables/{table}/items/a")
    assert "Scan" not in cost()


def test_a_map_s_own_paths_never_scan(ddbfs, proxy, cost):
    proxy.allow_scan = True
    assert "{job_id}/" in ddbfs("--allow-scan", "ls", "/prod/jobs/by-id").text
    assert cost() == []


def test_explain(scans, bare, table_of):
    items = f"/tables/{table_of(KEYS)}/items"
    told = scans("explain", items).text
    assert "reads  1. Scan any-Things, only pk, in 4 segments at once" in told
    assert "cost   1 request a page of up to 1 MB of the whole table, 4 at the least" in told
    assert "aws dynamodb scan --table-name any-Things" in told
    assert "Scan" not in bare("explain", items).text
    assert "a Scan of the whole table" in scans("cat", f"{items}/README").text
    assert "Scan" not in bare("cat", f"{items}/README").text


def test_a_limit_alone_allows_nothing(bare, table_of):
    result = bare("--scan-limit", "5", "ls", f"/tables/{table_of(KEYS)}/items", expect=1)
    assert "no effect without --allow-scan" in result.stderr


@rows("limit", ["0", "x", "5,", "5,0", "5,x", "-1", "5,1T", "100000001"])
def test_limits_that_are_none(bare, limit):
    assert "takes N or N,BYTES" in bare(f"--scan-limit={limit}", "ls", "/", expect=2).stderr


def test_the_printed_command_gives_the_same_keys(scans, table_of, shell, proxy):
    """As one Scan that the tool pages by itself, with jq for what is wanted of it."""
    items = f"/tables/{table_of(['b', 'a'], count=3)}/items"
    said = json.loads(scans("explain", "--json", items).text)["aws"]
    proxy.clear()
    printed = [json.loads(line) for line in shell(said).text.splitlines()]
    assert printed == [{"pk": {"S": key}} for key in "ab"]
    assert proxy.ops == ["Scan"] and proxy.requests[0].body["ProjectionExpression"] == "#n0"
