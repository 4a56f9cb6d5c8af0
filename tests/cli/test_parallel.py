"""Whole listings of which several parts are read at the same time: the same items, each once, in the same order."""

import json
import re

import pytest

from harness.rows import rows

SHOP = "kl7a9h55-shopify-e513a8-4"
BY_INDEX = f"/prod/jobs/by-index/shopify/{SHOP}"
ITEMS = 40

# Listings that can be divided: of the table itself.
LISTINGS = {
    "all": f"{BY_INDEX}/all",
    "window": f"{BY_INDEX}/between/2026-04-14..2026-04-16",
    "sub-records": "/prod/index-settings/kl7a9h55/shopify-e513a8-4.d",
    "shop": "/prod/shops/cool-store.myshopify.com",
}
# And some that cannot: items move in there, or share a place, or only some are wanted.
OTHERS = {
    "by account": "/prod/shops/by-account/kl7a9h55",
    "status": f"/prod/jobs/by-status/{SHOP}/COMPLETED",
    "latest": f"{BY_INDEX}/latest",
}


def is_probe(body):
    """The request for the last key."""
    return body.get("Limit") == 1


def is_part(body):
    """Its condition on the sort key is that of a part."""
    return "BETWEEN" in body["KeyConditionExpression"] or ">=" in body["KeyConditionExpression"]


@pytest.fixture
def asked(ddbfs, proxy):
    """asked(words...) -> the output, and the queries for it, whatever the time of a page."""

    def run(*words, parallel="0", **how):
        proxy.clear()
        text = ddbfs("--parallel", parallel, *words, **how).text
        return text, [record.body for record in proxy.requests if record.op == "Query"]

    return run


@pytest.fixture
def many(things):
    things.put_many((f"{number:03}", {"even": {"BOOL": number % 2 == 0}}) for number in range(ITEMS))
    return things


@pytest.fixture
def early(proxy):
    """The response of the probe comes before that of the third page, however busy the machine is."""

    def may_go_on(exchange):
        others = [each for each in proxy.requests if each is not exchange.record]
        pages = [each for each in others if not is_probe(each.body) and not is_part(each.body)]
        is_page = not is_probe(exchange.body) and not is_part(exchange.body)
        return not is_page or len(pages) < 2 or any(is_probe(each.body) and each.status for each in others)

    proxy.fault("delay", op="Query", times=None, seconds=20, until=may_go_on)


@rows("kind", LISTINGS)
@rows("items", [1, 2])
def test_a_listing_is_the_same_in_parts(asked, proxy, kind, items):
    proxy.fault("page_size", op="Query", times=None, items=items)
    for words in (("ls", LISTINGS[kind]), ("cat", f"{LISTINGS[kind]}@jsonl"), ("cat", f"{LISTINGS[kind]}@csv")):
        told, _ = asked(*words)
        assert told == asked(*words, parallel="no")[0] != ""


@rows("items", [1, 2, 3])
def test_all_items_come_in_order(asked, proxy, many, early, items):
    proxy.fault("page_size", op="Query", times=None, items=items)
    told, queries = asked("cat", "/any/things/box@jsonl", env=many.env)
    assert [json.loads(line)["sk"] for line in told.splitlines()] == [f"{each:03}" for each in range(ITEMS)]
    assert len(queries) <= 2 * -(-ITEMS // items) + 12
    assert any(map(is_part, queries)) and sum(map(is_probe, queries)) == 1


def test_it_begins_after_three_pages_if_six_are_left(asked, proxy, many, early):
    proxy.fault("page_size", op="Query", times=None, items=6)
    _, queries = asked("ls", "/any/things/box", env=many.env)
    assert not any(map(is_part, queries)) and len(queries) <= 8
    proxy.fault("page_size", op="Query", times=None, items=2)
    _, queries = asked("ls", "/any/things/box", env=many.env)
    assert any(map(is_part, queries)) and not any(map(is_part, queries[:4]))


@rows("kind", OTHERS)
def test_other_listings_are_not_divided(asked, proxy, kind):
    proxy.fault("page_size", op="Query", times=None, items=2)
    _, queries = asked("ls", OTHERS[kind])
    assert len({body["KeyConditionExpression"] for body in queries}) == 1


def test_a_count_is_not_divided(asked, proxy, many):
    proxy.fault("page_size", op="Query", times=None, items=2)
    told, queries = asked("cat", "/any/things/box@count", env=many.env)
    assert told == f"{ITEMS}\n" and not any(map(is_part, queries))


def test_a_reader_of_some_gets_page_by_page(asked, proxy, many):
    proxy.fault("page_size", op="Query", times=None, items=2)
    words = ("ls", "--where", "even = true", "--limit", "10", "/any/things/box")
    told, queries = asked(*words, env=many.env)
    assert len(told.splitlines()) == 10 and not any(map(is_part, queries))


def test_a_filter_that_leaves_out_all(asked, proxy, many):
    proxy.fault("page_size", op="Query", times=None, items=2)
    told, queries = asked("ls", "--where", "even = 1", "/any/things/box", env=many.env)
    assert told == "" and len(queries) <= ITEMS + 12


@rows("items", [2, 3, 7, 13])
def test_all_that_were_read_are_stated(ddbfs, proxy, many, items):
    """Where a filter is sent, items at the ends of parts may be read twice."""
    proxy.fault("page_size", op="Query", times=None, items=items)
    for where, sent in (('sk = "none"', False), ("even = 1", True)):
        told = ddbfs("--parallel", "0", "ls", "--where", where, "/any/things/box", env=many.env).stderr
        read, twice = re.search(r"and (\d+) were read(, some of them twice)?;", told).groups()
        assert int(read) == ITEMS or (sent and twice and ITEMS < int(read) <= 2 * ITEMS), told


def test_empty_pages(asked, proxy, many):
    proxy.fault("page_size", op="Query", times=None, items=3)
    proxy.fault("empty_pages", op="Query", times=8)
    told, queries = asked("ls", "/any/things/box", env=many.env)
    assert told.splitlines() == [f"{each:03}" for each in range(ITEMS)]
    assert len(queries) > ITEMS // 3


@rows("fault", ["denied", "throttle", "server_error", "html", "reset"])
def test_an_error_of_the_probe_fails_nothing(asked, proxy, many, fault):
    """It is tried once, and the query is read page by page."""
    proxy.fault("page_size", op="Query", times=None, items=2)
    wrong = proxy.fault(fault, op="Query", times=None)
    wrong.meets = lambda record: record.op == "Query" and is_probe(record.body)
    told, queries = asked("ls", "/any/things/box", env=many.env)
    assert told.splitlines() == [f"{each:03}" for each in range(ITEMS)]
    assert sum(map(is_probe, queries)) == 1 and not any(map(is_part, queries))


@rows("fault", ["throttle", "server_error", "reset"])
def test_an_error_of_a_part_fails_nothing(asked, proxy, many, fault):
    """The part is requested again when it is the first."""
    proxy.fault("page_size", op="Query", times=None, items=2)
    wrong = proxy.fault(fault, op="Query", times=None)
    left = iter(range(2))
    wrong.meets = lambda record: (
        record.op == "Query" and is_part(record.body) and next(left, None) is not None
    )
    told, _ = asked("ls", "/any/things/box", env=many.env)
    assert told.splitlines() == [f"{each:03}" for each in range(ITEMS)]


def test_a_wrong_response_of_the_probe_fails_nothing(asked, proxy, many):
    def turn(body):
        body["Items"] = body["Items"] * 2
        body["Count"] = 2

    proxy.fault("page_size", op="Query", times=None, items=4)
    wrong = proxy.fault("alter", op="Query", times=None, change=turn)
    wrong.meets = lambda record: record.op == "Query" and is_probe(record.body)
    told, _ = asked("ls", "/any/things/box", env=many.env)
    assert told.splitlines() == [f"{each:03}" for each in range(ITEMS)]


def test_an_error_of_wanted_pages_is_reported(asked, proxy, many):
    proxy.fault("page_size", op="Query", times=None, items=2)
    wrong = proxy.fault("denied", op="Query", times=None)
    wrong.meets = lambda record: (
        record.op == "Query" and len(proxy.requests) > 8
    )
    asked("cat", "/any/things/box@jsonl", env=many.env, expect=1)


def test_info_has_counted_all_requests(asked, proxy, many):
    wrong = []
    for items in (1, 2, 3, 4, 5, 7, 13, 40):
        proxy.fault("page_size", op="Query", times=None, items=items)
        told, queries = asked("cat", "/any/things/box@info", env=many.env)
        info = json.loads(told)
        consumed = sum(record.units for record in proxy.requests)
        if (info["requests"], info["capacity"], info["records"]) != (len(queries), consumed, ITEMS):
            wrong.append((items, len(queries), consumed, info))
    assert not wrong


def test_explain_states_the_bound(ddbfs):
    more = "at most twice as many requests and 12 more"
    for kinds, is_divided in ((LISTINGS, True), (OTHERS, False)):
        for kind, path in kinds.items():
            bound = json.loads(ddbfs("explain", "--json", path).text)["bound"]
            assert bound["reads_in_parallel"] is is_divided, kind
            assert (more in ddbfs("explain", path).text) is is_divided, kind
