"""The printed `aws` command of every kind of path costs what the path costs: its requests have the same limits, consume no more
units, and keep to the bound that `explain` states."""

import json
import re

import pytest

from harness import priced, tables
from harness.rows import rows

SHOP = "kl7a9h55-shopify-e513a8-4"
BY_INDEX = f"/prod/jobs/by-index/shopify/{SHOP}"
JOB_ID = "1f3c9a52-7b1e-4c57-9d0a-2e6f4b8c1d90"
RAW = "/prod/tables/prod-EcomIndexerJobsTable"
ITEMS = f"{RAW}/items/PLATFORM#shopify#SHOP#{SHOP}"
BY_STATUS = f"{RAW}/by/GSI_JobsByStatus_v2/{SHOP}"
EXAMPLE = {
    "a key": f"{ITEMS}/JOB#2026-04-16T09:41:07.318Z#{JOB_ID}",
    "an item behind an index": f"/prod/jobs/by-id/{JOB_ID}",
    "an attribute": f"/prod/jobs/by-id/{JOB_ID}@/status",
    "latest": f"{BY_INDEX}/latest",
    "a count of latest": f"{BY_INDEX}/latest@count",
    "all": f"{BY_INDEX}/all",
    "a count": f"{BY_INDEX}/all@count",
    "a day": f"{BY_INDEX}/on/2026-04-16",
    "a range": f"{BY_INDEX}/between/2026-04-14..2026-04-16",
    "an index": f"/prod/jobs/by-status/{SHOP}/COMPLETED",
    "a partition": ITEMS,
    "last:": f"{ITEMS}/last:3",
    "first:": f"{ITEMS}/first:3",
    "last": f"{ITEMS}/last",
    "a count of last:": f"{ITEMS}/last:3@count",
    "behind a key": f"{ITEMS}/after:JOB#2026-04-16",
    "last: of an index": f"{BY_STATUS}/last:3",
    "first: of an index": f"{BY_STATUS}/first:3",
}


def asked(path):
    """What reads all that the command prints."""
    is_file = any(each in path for each in ("@", "/by-id/", "/JOB#", "/last/", "/best/"))
    return path if is_file else f"{path}@jsonl"


def shapes(sent):
    return [(each.body.get("Limit"), each.body.get("Select")) for each in sent if each.op == "Query" and "ExclusiveStartKey" not in each.body]


def check(path, ddbfs, shell, proxy, env=None, passes_over=False):
    told = json.loads(ddbfs("explain", "--json", path, env=env).stdout)
    proxy.clear()
    ddbfs("cat", asked(path), env=env)
    own = [each for each in proxy.requests if each.op != "DescribeTable"]
    proxy.clear()
    shell(re.sub(r"aws dynamodb (query|get-item|batch-get-item) ", r"aws dynamodb \1 --return-consumed-capacity TOTAL ", told["aws"]))
    sent = list(proxy.requests)
    assert sent and shapes(sent)[:1] == shapes(own)[:1], path
    if passes_over:  # the whole query follows a page that is not enough
        told["bound"]["requests"] += told["bound"]["queries_that_may_pass_over"]
        told["units"]["most"] += told["units"]["most_a_page"]
    else:
        assert len(shapes(sent)) == len(shapes(own)) <= 1, path
        assert 0 < sum(each.units for each in sent) <= sum(each.units for each in own), path
    assert not (priced.beyond(told["bound"], sent) or priced.dearer(told, sent)), path


@rows("kind", EXAMPLE)
def test_of_the_example(kind, ddbfs, shell, proxy):
    check(EXAMPLE[kind], ddbfs, shell, proxy)


def described():
    """Boxes of events, with an index by `state` whose sort keys are not unique."""
    plain = tables.table("any-Things")
    more = [{"AttributeName": "state", "AttributeType": "S"}, {"AttributeName": "day", "AttributeType": "S"}]
    index = {
        "IndexName": "by-state",
        "KeySchema": [{"AttributeName": "state", "KeyType": "HASH"}, {"AttributeName": "day", "KeyType": "RANGE"}],
        "Projection": {"ProjectionType": "ALL"},
    }
    return {**plain, "AttributeDefinitions": plain["AttributeDefinitions"] + more, "GlobalSecondaryIndexes": [index]}


MAP = tables.plain_map(
    records={"job": {"pk": "{box}", "sk": "JOB#{n}"}, "line": {"pk": "{box}", "sk": "JOB#{n}#LINE#{l}"}},
    indexes={"by-state": {"partition": "state", "sort": "day", "projects": "all"}},
    paths={
        "newest/{box}/": {"list": "job", "newest": 2},
        "last/{box}": {"record": "job", "newest": 1},
        "best/{box}": {"record": "job", "pick": {"greatest": "score"}},
        "noted/{box}/": {"list": "job", "newest": 2, "filter": {"note": "yes"}},
        "open/{state}/newest:{count}/": {"list": "job", "index": "by-state", "name": "{box}#{n}", "newest": "{count}", "ties": True},
    },
)


@pytest.fixture
def jobs(table, write_map):
    """Large jobs, so that a limit shows in the units. Box "a" ends with lines, box "b" has none; states have days in pairs."""
    text = "x" * 5000
    sorts = [f"JOB#{n}" for n in range(10, 30)]
    items = [{"pk": {"S": box}, "sk": {"S": sort}, "state": {"S": f"s-{box}"}, "day": {"S": f"2026-11-{10 + at // (1 + (box == 'a')):02}"},
              "score": {"N": str(at)}, "note": {"S": "yes"}, "text": {"S": text}} for box in "ab" for at, sort in enumerate(sorts)]  # fmt: skip
    items += [{"pk": {"S": "a"}, "sk": {"S": f"JOB#29#LINE#{at}"}, "text": {"S": text}} for at in range(3)]
    table(described(), items)
    return {"DDBFS_MAP": str(write_map(MAP))}


JOBS = {
    "newest": "/any/things/newest/b",
    "newest, and others in between": "/any/things/newest/a",
    "the last one": "/any/things/last/b",
    "the last one behind others": "/any/things/last/a",
    "a pick": "/any/things/best/b",
    "a filter": "/any/things/noted/b",
    "newest: with ties": "/any/things/open/s-b/newest:2",
    "newest: within ties": "/any/things/open/s-a/newest:1",
    "last: of a raw index": "/any/tables/any-Things/by/by-state/s-b/last:2",
    "first: of a raw index within ties": "/any/tables/any-Things/by/by-state/s-a/first:1",
    "last: of a raw partition": "/any/tables/any-Things/items/b/last:2",
}


@rows("kind", JOBS)
def test_of_windows_and_kinds(kind, jobs, ddbfs, shell, proxy):
    path = JOBS[kind]
    check(path, ddbfs, shell, proxy, env=jobs, passes_over="others" in kind or "within" in kind)
