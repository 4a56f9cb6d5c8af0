"""The eye on the price sees what is too much."""

from types import SimpleNamespace as Sent

import pytest

from harness import priced

NOTHING = {
    "requests": 0,
    "paged_queries": 0,
    "queries_that_may_pass_over": 0,
    "per_100_records": 0,
    "per_100_tables": 0,
    "descriptions": 0,
    "scans": 0,
}
GET = Sent(op="GetItem", body={})
QUERY = Sent(op="Query", body={})
LATER = Sent(op="Query", body={"ExclusiveStartKey": {}})
BATCH = Sent(op="BatchGetItem", body={})
TABLES = Sent(op="ListTables", body={})
TABLE = Sent(op="DescribeTable", table="Users", body={})


@pytest.mark.parametrize(
    "bound, sent",
    [
        ({}, []),
        ({"requests": 1}, [GET]),
        ({"requests": 2}, [QUERY, GET]),
        ({"paged_queries": 1}, [QUERY, LATER, LATER]),
        ({"requests": 1, "queries_that_may_pass_over": 1}, [QUERY, LATER]),
        ({"paged_queries": 1, "per_100_records": 1}, [QUERY, BATCH, BATCH]),
        ({"requests": 1, "per_100_records": 1}, [QUERY, GET]),
        ({"per_100_tables": 1}, [TABLES]),
        ({"descriptions": 1, "requests": 1}, [TABLE, GET]),
    ],
)
def test_what_was_told_is_within(bound, sent):
    assert priced.beyond({**NOTHING, **bound}, sent) == ""


@pytest.mark.parametrize(
    "bound, sent",
    [
        ({}, [GET]),
        ({"requests": 1}, [QUERY, GET]),
        ({"requests": 1}, [QUERY, LATER]),
        ({"paged_queries": 1}, [QUERY, QUERY]),
        ({"paged_queries": 1}, [QUERY, BATCH]),
        ({"requests": 1}, [TABLES]),
    ],
)
def test_more_is_beyond(bound, sent):
    assert priced.beyond({**NOTHING, **bound}, sent) != ""


ONE = {"bound": NOTHING, "units": {"least": 0.5, "most": 50}}
PAGED = {"bound": {**NOTHING, "paged_queries": 1}, "units": {"least": 0.5, "most_a_page": 178}}
FURTHER = {"bound": NOTHING, "units": {"least": 0.5, "most": 1, "most_a_page": 2}}
CONTENTS = {"bound": {**NOTHING, "paged_queries": 1}, "units": {"most_a_page": 2, "most_a_record": 3}}
SCAN = {"bound": NOTHING, "units": {"least": 2, "most_of_scan": 10}}
KEYS = {"RequestItems": {"T": {"Keys": [{}, {}]}}}


def paid(op, units, **body):
    return Sent(op=op, units=units, body=body)


@pytest.mark.parametrize(
    "told, sent",
    [
        (ONE, []),
        (ONE, [paid("GetItem", 50)]),
        (PAGED, [paid("Query", 178), paid("Query", 178, ExclusiveStartKey={})]),
        (FURTHER, [paid("Query", 1), paid("Query", 2, ExclusiveStartKey={})]),
        (CONTENTS, [paid("Query", 2), paid("BatchGetItem", 6, **KEYS)]),
        (SCAN, [paid("Scan", 6), paid("Scan", 4)]),
    ],
)
def test_what_was_paid_was_told(told, sent):
    assert priced.dearer(told, sent) == ""


@pytest.mark.parametrize(
    "told, sent",
    [
        (ONE, [paid("GetItem", 50.5)]),
        (PAGED, [paid("Query", 178.5)]),
        (PAGED, [paid("Query", 1), paid("Query", 200, ExclusiveStartKey={})]),
        (FURTHER, [paid("Query", 2), paid("Query", 2, ExclusiveStartKey={})]),
        (CONTENTS, [paid("Query", 2), paid("BatchGetItem", 6.5, **KEYS)]),
        (SCAN, [paid("Scan", 10.5)]),
    ],
)
def test_a_higher_price_is_seen(told, sent):
    assert priced.dearer(told, sent) != ""


def test_several_paths_may_cost_their_sum():
    told = priced.summed([ONE, ONE, PAGED])
    assert told["bound"]["paged_queries"] == 1 and told["bound"]["requests"] == 0
    assert told["units"] == {"least": 1.5, "most": 100, "most_a_page": 178}
