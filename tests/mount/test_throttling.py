"""Requests that the service throttles, by its reason: in /.ddbfs/errors, @info, the sums, the metrics and
`ddbfs top`, also if a retry succeeds."""

import errno
import json
import subprocess

import pytest

from harness import iam

SHOP = "prod/shops/cool-store.myshopify.com"
SETTINGS = f"{SHOP}/SETTINGS"
ENTITIES, JOBS = "prod-ShopifyEntitiesTable", "prod-EcomIndexerJobsTable"
JOB = "prod/jobs/by-id/1f3c9a52-7b1e-4c57-9d0a-2e6f4b8c1d90"
HOT, SPENT = "TableReadKeyRangeThroughputExceeded", "TableReadMaxOnDemandThroughputExceeded"
HOT_INDEX = "IndexReadKeyRangeThroughputExceeded"
ONCE = {"AWS_MAX_ATTEMPTS": "1"}


def arn(table, index=None):
    return f"arn:aws:dynamodb:{iam.REGION}:{iam.ACCOUNT}:table/{table}" + (f"/index/{index}" if index else "")


def cat(path):
    return subprocess.run(["cat", path], capture_output=True)


def sums(m):
    keys = ("table", "index", "reason", "resource", "program")
    return {tuple(each[key] for key in keys): each["requests"] for each in m.stats()["throttles"]}


def samples(text, family):
    return [line for line in text.splitlines() if line.startswith(family)]


def test_a_failure_has_its_reason_in_words_and_in_fields(mount, proxy):
    m = mount(env=ONCE)
    proxy.fault("throttle", op="Query", times=None, reasons=[HOT_INDEX])
    with pytest.raises(OSError) as raised:
        (m / JOB).read_bytes()
    assert raised.value.errno == errno.EAGAIN
    line = next(each for each in m.errors().splitlines() if "errno=EAGAIN" in each)
    fields, _, why = line.partition(": ")
    assert f" reason={HOT_INDEX} resource={arn(JOBS, 'GSI_JobLookup_v2')} " in fields
    assert f"a partition of index GSI_JobLookup_v2 of table {JOBS} is hot" in why


def test_a_failure_without_a_stated_reason_has_no_field_for_it(mount, proxy):
    m = mount(env=ONCE)
    proxy.fault("throttle", times=None, code="ThrottlingException")
    assert cat(m / SETTINGS).returncode == 1
    assert "code=ThrottlingException" in m.errors() and "reason=" not in m.errors()
    assert sums(m) == {(ENTITIES, "", "ThrottlingException", "", "cat"): 1}


def test_retries_that_succeed_are_counted_by_reason_and_program(mount, proxy):
    m = mount()
    proxy.fault("throttle", op="GetItem", reasons=[HOT, SPENT])
    proxy.fault("throttle", op="GetItem", code="ThrottlingException", reasons=[HOT])
    proxy.fault("throttle", op="Query", code="ThrottlingException", reasons=["TableReadFullMoonExceeded"])
    assert cat(m / SETTINGS).returncode == 0
    subprocess.run(["ls", m / SHOP], capture_output=True, check=True)
    assert sums(m) == {
        (ENTITIES, "", HOT, arn(ENTITIES), "cat"): 2,
        (ENTITIES, "", SPENT, arn(ENTITIES), "cat"): 1,
        (ENTITIES, "", "TableReadFullMoonExceeded", arn(ENTITIES), "ls"): 1,
    }
    assert m.stats()["throttled_requests"] == 3
    assert all(each["last_minute"] == each["requests"] for each in m.stats()["throttles"])
    found = samples(m.metrics(), "ddbfs_throttles_total")
    assert (
        f'ddbfs_throttles_total{{table="{ENTITIES}",index="",reason="{HOT}",resource="{arn(ENTITIES)}",program="cat"}} 2'
        in found
    )
    assert samples(m.metrics(), "ddbfs_throttled_requests_total") == ["ddbfs_throttled_requests_total 3"]
    assert "errno=" not in m.errors()


def test_top_has_the_limit_and_the_program_that_meets_it(mount, proxy):
    m = mount()
    assert "THROTTLED" not in m.ddbfs("top", m.root).text
    proxy.fault("throttle", op="Query", times=2, reasons=[HOT_INDEX])
    proxy.fault("throttle", op="GetItem", reasons=["TableReadFullMoonExceeded"])
    proxy.fault("throttle", op="GetItem", code="ThrottlingException")
    assert cat(m / JOB).returncode == 0
    assert cat(m / SETTINGS).returncode == 0
    text = m.ddbfs("top", m.root).text.partition("THROTTLED  PROGRAM  WHY\n")[2]
    rows = [" ".join(line.split()) for line in text.partition("\n\n")[0].splitlines()]
    assert rows[0].startswith(f"2 2 cat a partition of index GSI_JobLookup_v2 of table {JOBS} is hot")
    assert any(row.startswith("1 1 cat TableReadFullMoonExceeded of arn:aws:dynamodb:") for row in rows)
    assert any(row.startswith("1 1 cat ThrottlingException of prod-") for row in rows)


def test_info_of_what_was_read_after_throttled_retries(mount, proxy):
    m = mount()
    proxy.fault("throttle", op="GetItem", times=2, reasons=[SPENT])
    info = json.loads((m / f"{SETTINGS}@info").read_bytes())
    assert info["throttled"] == [
        {
            "requests": 2,
            "reason": SPENT,
            "resource": arn(ENTITIES),
            "why": f"the on-demand maximum throughput for reads is reached by table {ENTITIES}",
        }
    ]
    m.refresh()
    assert "throttled" not in json.loads((m / f"{SETTINGS}@info").read_bytes())


def test_info_of_an_item_has_those_of_the_query_that_found_its_key(mount, proxy):
    m = mount()
    proxy.fault("throttle", op="Query", times=2, reasons=[HOT_INDEX])
    proxy.fault("throttle", op="GetItem", reasons=["TableReadFullMoonExceeded"])
    info = json.loads((m / f"{JOB}@info").read_bytes())
    assert info["throttled"] == [
        {
            "requests": 2,
            "reason": HOT_INDEX,
            "resource": arn(JOBS, "GSI_JobLookup_v2"),
            "why": f"a partition of index GSI_JobLookup_v2 of table {JOBS} is hot",
        },
        {"requests": 1, "reason": "TableReadFullMoonExceeded", "resource": arn(JOBS)},
    ]


def test_info_of_a_listing_that_is_replayed(mount, proxy):
    """The reader of @info sends no request: the listing was read, and throttled, for ls."""
    m = mount()
    proxy.fault("throttle", op="Query", reasons=[HOT])
    subprocess.run(["ls", m / SHOP], capture_output=True, check=True)
    proxy.clear()
    info = json.loads((m / f"{SHOP}@info").read_bytes())
    assert [(each["requests"], each["reason"]) for each in info["throttled"]] == [(1, HOT)]
    assert "Query" not in proxy.ops


def test_info_of_a_listing_whose_items_are_read_again(mount, proxy):
    m = mount()
    listing = "prod/jobs/by-status/kl7a9h55-shopify-e513a8-4/FAILED"
    proxy.fault("throttle", op="BatchGetItem", reasons=[HOT])
    proxy.fault("throttle", op="GetItem", reasons=[HOT])
    subprocess.run(["ls", "-l", m / listing], capture_output=True, check=True)
    met = sum(each.faults.count("throttle") for each in proxy.requests)
    info = json.loads((m / f"{listing}@info").read_bytes())
    assert met and sum(each["requests"] for each in info["throttled"]) == met


def test_requests_for_several_programs_are_counted_once(mount, proxy):
    """Items that leave together are throttled together: that is one request, of the first program."""
    m = mount()
    proxy.fault("throttle", times=4, reasons=[HOT])
    paths = "\n".join(str(m / SHOP / f"NOBODY-{n}") for n in range(24))
    subprocess.run(["xargs", "-P12", "-n1", "cat"], input=paths.encode(), capture_output=True)
    assert sum(sums(m).values()) == sum(each.faults.count("throttle") for each in proxy.requests) == 4
