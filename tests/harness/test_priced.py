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
