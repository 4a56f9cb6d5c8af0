"""A service whose pages never end: each read ends in an error, after --timeout without progress or at --max-entries."""

import itertools
import signal
import subprocess

from harness import tables
from harness.rows import rows

SHOP = "kl7a9h55-shopify-e513a8-4"
ALL = f"/prod/jobs/by-index/shopify/{SHOP}/all"
MOST = ("--max-entries", "300")
PATIENCE = ("--timeout", "1")


class Endless:
    """Answers to Query, ListTables and Scan whose position always advances. EACH items in a page, each of
    which SCANNED items were read for."""

    def __init__(self, each, scanned=0):
        self.each, self.scanned = each, scanned
        self.number = itertools.count()

    def __call__(self, request):
        return self.items(request) if "KeyConditionExpression" in request else self.names()

    def names(self):
        names = [f"prod-{next(self.number):09d}" for _ in range(self.each)]
        return {"TableNames": names, "LastEvaluatedTableName": f"prod-{next(self.number):09d}"}

    def items(self, request):
        counts = request.get("Select") == "COUNT"
        items = [self.item(request) for _ in range(self.each)]
        last = items[-1] if items else self.item(request)
        position = {name: last[name] for name in ("pk", "sk")}
        found = {"Count": len(items), "ScannedCount": max(len(items), self.scanned), "LastEvaluatedKey": position}
        return found if counts else {**found, "Items": items}

    def item(self, request):
        values = request["ExpressionAttributeValues"]
        pk = next(each for each in values.values() if each["S"].startswith("PLATFORM#"))
        number = next(self.number)
        if request.get("ScanIndexForward") is False:
            number = 10**9 - number
        return {"pk": pk, "sk": {"S": f"JOB#2026-04-16T10:15:00Z#{number:012d}"}, "status": {"S": "FAILED"}}


SELECT = f"select job_id from prod.jobs where platform = 'shopify' and shop_id = '{SHOP}'"
READERS = [
    ("ls", ALL),
    ("cat", f"{ALL}@jsonl"),
    ("cat", f"{ALL}@count"),
    ("cat", f"{ALL}@summary"),
    ("diff", ALL, ALL.replace("prod", "staging", 1)),
    ("sql", "--parallel", "no", SELECT),
]


@rows("words", READERS[::2])
def test_pages_without_items_end(ddbfs, proxy, words):
    proxy.fault("canned", op="Query", times=None, answer=Endless(0))
    result = ddbfs(*PATIENCE, *words, expect=None)
    assert result.code not in (0, 3) and "responses in a row brought nothing" in result.stderr + result.text, result


@rows("words", READERS)
def test_full_pages_end(ddbfs, proxy, words):
    proxy.fault("canned", op="Query", times=None, answer=Endless(40))
    result = ddbfs(*MOST, *words, expect=None)
    assert result.code not in (0, 3) and "more than 300 items" in result.stderr, result
    assert len(proxy.requests) < 30


@rows("each, words", [(0, "brought nothing"), (40, "more than 300 items")])
def test_names_of_tables_end(ddbfs, proxy, each, words):
    proxy.fault("canned", op="ListTables", times=None, answer=Endless(each))
    result = ddbfs(*PATIENCE, *MOST, "ls", "/prod/tables", expect=None)
    assert result.code not in (0, 3) and words in result.stderr, result


def test_items_that_a_filter_leaves_out_count_as_read(ddbfs, proxy):
    """Pages without items are progress if the service has read items for them."""
    proxy.fault("canned", op="Query", times=None, answer=Endless(0, scanned=50))
    result = ddbfs(*PATIENCE, *MOST, "ls", "--where", 'status = "X"', ALL, expect=None)
    assert result.code not in (0, 3) and "more than 300 items" in result.stderr, result


def test_an_honest_service_may_send_empty_pages(ddbfs, proxy):
    """Each of its pages is empty or has one item; all items come."""
    whole = ddbfs("ls", ALL).text
    proxy.fault("empty_pages", op="Query", times=10)
    assert ddbfs("ls", ALL).text == whole
    proxy.heal()
    proxy.fault("page_size", op="Query", times=None, items=1)
    found = ddbfs(*PATIENCE, "ls", "--where", 'status = "FAILED"', ALL).text.splitlines()
    assert 0 < len(found) < len(whole.splitlines())


def test_shards_end(ddbfs, proxy, boto, table, tmp_path):
    schema = tables.plain()
    schema["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
    name = table(schema, name=f"any-Endless-{tmp_path.name}")
    numbers = itertools.count()

    def endless(_exchange, go_on):
        response = go_on()
        described = response.json()["StreamDescription"]
        more = {"Shards": [], "LastEvaluatedShardId": f"shardId-{next(numbers):020d}"}
        response.replace_json({"StreamDescription": {**described, **more}})
        return response

    proxy.fault("handled", op="DescribeStream", times=None, handler=endless)
    words = [*PATIENCE, "tail", f"/tables/{name}"]
    tail = ddbfs.start(*words, env={"DDBFS_MAP": None}, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        assert "brought nothing" in tail.stderr.readline()
    finally:
        tail.send_signal(signal.SIGTERM)
        tail.communicate(timeout=60)


def test_exports_end(ddbfs, proxy, boto):
    """They are one file, whose size has a bound."""
    arn = boto.describe_table(TableName="prod-EcomIndexerJobsTable")["Table"]["TableArn"]
    numbers = itertools.count()

    def endless(_body):
        export = {"ExportArn": f"{arn}/export/{next(numbers):09d}", "ExportStatus": "x" * 900_000}
        return {"ExportSummaries": [export], "NextToken": f"{next(numbers):09d}"}

    proxy.fault("canned", op="ListExports", times=None, answer=endless)
    result = ddbfs("cat", "/prod/tables/prod-EcomIndexerJobsTable/exports.json", expect=1)
    assert result.text == "" and "more than 16 MB" in result.stderr and len(proxy.requests) < 40
