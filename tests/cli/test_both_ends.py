"""Whole listings that are read from both ends until they meet: the same records, each once, in the same
order, for two pages more at most."""

import json
import re

import pytest

from harness.rows import rows

SHOP = "kl7a9h55-shopify-e513a8-4"
BY_INDEX = f"/prod/jobs/by-index/shopify/{SHOP}"
ITEMS = 40

# Listings that have two ends: of the table itself.
LISTINGS = {
    "all": f"{BY_INDEX}/all",
    "window": f"{BY_INDEX}/between/2026-04-14..2026-04-16",
    "sub-records": "/prod/index-settings/kl7a9h55/shopify-e513a8-4.d",
    "shop": "/prod/shops/cool-store.myshopify.com",
}
# And some that have not: records move in there, or share a place, or only so many are wanted.
OTHERS = {
    "by account": "/prod/shops/by-account/kl7a9h55",
    "status": f"/prod/jobs/by-status/{SHOP}/COMPLETED",
    "latest": f"{BY_INDEX}/latest",
}


def backwards(body):
    """Asked from the end of what is listed in the order of its keys."""
    return body.get("ScanIndexForward", True) is False


@pytest.fixture
def asked(ddbfs, proxy):
    """asked(words...) -> what is printed, and the queries for it, where every page is worth it."""

    def run(*words, ends="0", **how):
        proxy.clear()
        text = ddbfs("--both-ends", ends, *words, **how).text
        return text, [record.body for record in proxy.requests if record.op == "Query"]

    return run


@pytest.fixture
def many(things):
    for number in range(ITEMS):
        things.put(f"{number:03}", even={"BOOL": number % 2 == 0})
    return things


@rows("kind", LISTINGS)
@rows("items", [1, 2])
def test_a_listing_is_the_same_from_both_ends(asked, proxy, kind, items):
    proxy.fault("page_size", op="Query", times=None, items=items)
    for words in (("ls", LISTINGS[kind]), ("cat", f"{LISTINGS[kind]}@jsonl"), ("cat", f"{LISTINGS[kind]}@csv")):
        told, _ = asked(*words)
        assert told == asked(*words, ends="no")[0] != ""


@rows("items", [1, 2, 3, 5])
def test_two_pages_more_at_most(asked, proxy, many, items):
    proxy.fault("page_size", op="Query", times=None, items=items)
    told, queries = asked("cat", "/any/things/box@jsonl", env=many.env)
    assert [json.loads(line)["sk"] for line in told.splitlines()] == [f"{each:03}" for each in range(ITEMS)]
    assert len(queries) <= -(-ITEMS // items) + 3  # a last page may be empty
    assert any(map(backwards, queries))


def test_half_of_the_pages_come_from_behind(asked, proxy, many):
    proxy.fault("page_size", op="Query", times=None, items=2)
    _, queries = asked("ls", "/any/things/box", env=many.env)
    behind = [body for body in queries if backwards(body)]
    assert 5 <= len(behind) <= 9  # of 20 pages, six before them
    assert "ExclusiveStartKey" not in behind[0] and all("ExclusiveStartKey" in body for body in behind[1:])


def test_it_begins_after_six_pages(asked, proxy, many):
    proxy.fault("page_size", op="Query", times=None, items=8)
    _, queries = asked("ls", "/any/things/box", env=many.env)
    assert len(queries) <= 6 and not any(map(backwards, queries))
    proxy.fault("page_size", op="Query", times=None, items=2)
    _, queries = asked("ls", "/any/things/box", env=many.env)
    assert any(map(backwards, queries)) and not any(map(backwards, queries[:6]))


@rows("kind", OTHERS)
def test_what_has_one_end_is_read_from_it(asked, proxy, kind):
    proxy.fault("page_size", op="Query", times=None, items=2)
    _, queries = asked("ls", OTHERS[kind])
    assert len({body.get("ScanIndexForward", True) for body in queries}) == 1


def test_what_the_service_counts_has_one_end(asked, proxy, many):
    proxy.fault("page_size", op="Query", times=None, items=2)
    told, queries = asked("cat", "/any/things/box@count", env=many.env)
    assert told == f"{ITEMS}\n" and not any(map(backwards, queries))


def test_who_wants_only_some_gets_page_by_page(asked, proxy, many):
    proxy.fault("page_size", op="Query", times=None, items=2)
    words = ("ls", "--where", "even = true", "--limit", "10", "/any/things/box")
    told, queries = asked(*words, env=many.env)
    assert len(told.splitlines()) == 10 and not any(map(backwards, queries))


def test_a_filter_that_leaves_out_all(asked, proxy, many):
    proxy.fault("page_size", op="Query", times=None, items=2)
    told, queries = asked("ls", "--where", "even = 1", "/any/things/box", env=many.env)
    assert told == "" and len(queries) <= ITEMS // 2 + 3


@rows("items", [2, 3, 7, 13])
def test_all_that_were_read_are_stated(ddbfs, proxy, many, items):
    """Where a filter is sent, the items between the ends are read twice."""
    proxy.fault("page_size", op="Query", times=None, items=items)
    for where, sent in (('sk = "none"', False), ("even = 1", True)):
        told = ddbfs("--both-ends", "0", "ls", "--where", where, "/any/things/box", env=many.env).stderr
        read, twice = re.search(r"and (\d+) were read(, some of them twice, from both ends)?;", told).groups()
        assert int(read) == ITEMS or (sent and twice and ITEMS < int(read) <= ITEMS + 2 * items), told


def test_empty_pages_at_both_ends(asked, proxy, many):
    proxy.fault("page_size", op="Query", times=None, items=3)
    proxy.fault("empty_pages", op="Query", times=8)
    told, queries = asked("ls", "/any/things/box", env=many.env)
    assert told.splitlines() == [f"{each:03}" for each in range(ITEMS)]
    assert any(map(backwards, queries))


@rows("fault", ["denied", "throttle", "server_error", "html", "reset"])
@rows("from_page", [1, 2])
def test_an_error_from_behind_harms_nobody(asked, proxy, many, fault, from_page):
    """It is tried once, and the front tells what is left."""
    proxy.fault("page_size", op="Query", times=None, items=2)
    wrong = proxy.fault(fault, op="Query", times=None)
    wrong.meets = lambda record: (
        record.op == "Query"
        and backwards(record.body)
        and ("ExclusiveStartKey" in record.body) == (from_page == 2)
    )
    told, queries = asked("ls", "/any/things/box", env=many.env)
    assert told.splitlines() == [f"{each:03}" for each in range(ITEMS)]
    assert sum(map(backwards, queries)) == from_page


def test_an_answer_from_behind_that_is_no_answer_harms_nobody(asked, proxy, many):
    def turn(body):
        body["Items"].reverse()

    proxy.fault("page_size", op="Query", times=None, items=4)
    wrong = proxy.fault("alter", op="Query", times=None, change=turn)
    wrong.meets = lambda record: record.op == "Query" and backwards(record.body)
    told, _ = asked("ls", "/any/things/box", env=many.env)
    assert told.splitlines() == [f"{each:03}" for each in range(ITEMS)]


def test_an_error_from_the_front_is_told(asked, proxy, many):
    proxy.fault("page_size", op="Query", times=None, items=2)
    wrong = proxy.fault("denied", op="Query", times=None)
    wrong.meets = lambda record: (
        record.op == "Query" and not backwards(record.body) and len(proxy.requests) > 8
    )
    asked("cat", "/any/things/box@jsonl", env=many.env, expect=1)


def test_info_has_counted_both_ends(asked, proxy, many):
    wrong = []
    for items in (1, 2, 3, 4, 5, 7, 13, 40):
        proxy.fault("page_size", op="Query", times=None, items=items)
        told, queries = asked("cat", "/any/things/box@info", env=many.env)
        info = json.loads(told)
        consumed = sum(record.units for record in proxy.requests)
        if (info["requests"], info["capacity"], info["records"]) != (len(queries), consumed, ITEMS):
            wrong.append((items, len(queries), consumed, info))
    assert not wrong


def test_explain_tells_two_pages_more(ddbfs):
    more = "at most 2 more pages"
    for kind, path in LISTINGS.items():
        told = json.loads(ddbfs("explain", "--json", path).text)["bound"]
        assert told["pages_of_both_ends"] == 2, kind
        assert more in ddbfs("explain", path).text
    for kind, path in OTHERS.items():
        told = json.loads(ddbfs("explain", "--json", path).text)["bound"]
        assert told["pages_of_both_ends"] == 0, kind
        assert more not in ddbfs("explain", path).text
