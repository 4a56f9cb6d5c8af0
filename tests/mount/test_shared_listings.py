"""A listing and its files in a mount share what they read: while it is fresh, no page is read twice."""

import errno
import itertools
import json
import os
import subprocess
import threading

import pytest

from harness import load, rows, tables

SHOP = "kl7a9h55-shopify-e513a8-4"
ALL = f"prod/jobs/by-index/shopify/{SHOP}/all"
BY_STATUS = f"prod/jobs/by-status/{SHOP}/COMPLETED"
LATEST = f"prod/jobs/by-index/shopify/{SHOP}/latest"
SHOP_RECORDS = "prod/shops/cool-store.myshopify.com"

FILES = ["@jsonl", "@csv", "@csv:sk", "@table/sk,status", "@summary", "@sqlite"]


def look(m, path, way):
    """One of the ways in which a listing is looked at."""
    if way == "ls":
        return sorted(os.listdir(m / path))
    if way == "ls -l":
        return {name: os.lstat(m / path / name).st_size for name in os.listdir(m / path)}
    return (m / f"{path}{way}").read_bytes()


def sent(proxy):
    """What was asked since the last call."""
    seen = [each.op for each in proxy.requests]
    proxy.clear()
    return seen


@pytest.mark.parametrize("first", ["ls", "ls -l", *FILES])
def test_whoever_reads_first_reads_for_all(mount, proxy, oracle, first):
    m = mount()
    proxy.fault("page_size", op="Query", times=None, items=7)
    seen = {first: look(m, ALL, first)}
    pages = sent(proxy)
    assert set(pages) == {"Query"} and len(pages) > 2
    seen |= {way: look(m, ALL, way) for way in ["ls", "ls -l", *FILES, "@count"]}
    assert sent(proxy) == []
    for ending in [*FILES, "@count"]:
        assert seen[ending] == oracle(f"/{ALL}{ending}")
    assert len(seen["ls"]) == int(seen["@count"])
    for name, size in seen["ls -l"].items():
        assert len((m / ALL / name).read_bytes()) == size
    assert sent(proxy) == []


@pytest.mark.parametrize("first", ["ls -l", "@jsonl"])
@pytest.mark.parametrize("path", [BY_STATUS, LATEST, SHOP_RECORDS])
def test_records_that_were_read_again_are_shared_too(mount, proxy, oracle, path, first):
    m = mount()
    proxy.fault("page_size", op="Query", times=None, items=3)
    look(m, path, first)
    before = sent(proxy)
    assert ("BatchGetItem" in before) == (path == BY_STATUS) and before.count("Query") > 1
    seen = {way: look(m, path, way) for way in ["ls -l", *FILES, "@count"]}
    assert sent(proxy) == []
    for ending in [*FILES, "@count"]:
        assert seen[ending] == oracle(f"/{path}{ending}")


def test_keys_that_info_has_read_are_not_read_again(mount, proxy, oracle):
    m = mount()
    proxy.fault("page_size", op="Query", times=None, items=3)
    look(m, BY_STATUS, "@info")
    assert set(sent(proxy)) == {"Query"}
    assert look(m, BY_STATUS, "@jsonl") == oracle(f"/{BY_STATUS}@jsonl")
    assert set(sent(proxy)) == {"BatchGetItem"}
    look(m, BY_STATUS, "@csv")
    assert sent(proxy) == []


def test_a_count_and_columns_agree_with_what_was_listed(mount, proxy):
    """The index tells of one record more than there is."""

    def lose_one(body):
        (items,) = body["Responses"].values()
        items.pop()

    m = mount()
    look(m, BY_STATUS, "@info")
    sent(proxy)
    told = int(look(m, BY_STATUS, "@count"))
    rows_of_index = look(m, BY_STATUS, "@csv:sk").splitlines()[1:]
    assert sent(proxy) == [] and told == len(rows_of_index) > 1
    proxy.fault("alter", op="BatchGetItem", change=lose_one)
    there = look(m, BY_STATUS, "ls")
    assert sent(proxy) == ["BatchGetItem"] and len(there) == told - 1
    assert look(m, BY_STATUS, "@table/sk").count(b"JOB#") == len(there)


def test_info_tells_of_what_was_read_and_how_old_it_is(mount, proxy):
    m = mount()
    proxy.fault("page_size", op="Query", times=None, items=7)
    look(m, ALL, "@jsonl")
    pages = sent(proxy)
    info = json.loads(look(m, ALL, "@info"))
    assert sent(proxy) == []
    assert info["pages"] == info["requests"] == len(pages)
    assert info["records"] == len(look(m, ALL, "@jsonl").splitlines())
    assert info["capacity"] > 0 and info["age_ms"] >= info["took_ms"] >= 0


def test_who_shares_is_told_as_cached(mount):
    m = mount()
    look(m, ALL, "@jsonl")
    look(m, ALL, "@summary")
    lines = [json.loads(line) for line in (m / ".ddbfs/ledger.jsonl").read_text("utf-8").splitlines()]
    told = {line["path"]: line for line in lines}
    assert told[f"/{ALL}@jsonl"]["requests"] > 0 and not told[f"/{ALL}@jsonl"]["cached"]
    assert told[f"/{ALL}@summary"]["requests"] == 0 and told[f"/{ALL}@summary"]["cached"]


def test_those_who_ask_at_once_wait_for_one(mount, proxy, oracle):
    m = mount()
    proxy.fault("page_size", op="Query", times=None, items=7)
    proxy.fault("delay", op="Query", times=None, seconds=0.05)
    found = {}
    threads = [
        threading.Thread(target=lambda e=ending: found.update({e: look(m, ALL, e)}))
        for ending in ["@jsonl", "@csv", "@summary", "ls"]
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    bodies = [each.body for each in proxy.requests]
    for ending in ["@jsonl", "@csv", "@summary"]:
        assert found[ending] == oracle(f"/{ALL}{ending}")
    # Whoever lists a directory may pause, so nobody waits for it; it may have come first.
    assert max(map(bodies.count, bodies)) <= 2


def test_one_of_them_that_fails_leaves_the_others_to_ask_themselves(mount, proxy, oracle):
    m = mount()
    proxy.fault("page_size", op="Query", times=None, items=7)
    proxy.fault("delay", op="Query", times=None, seconds=0.05)
    first = subprocess.Popen(["cat", m / f"{ALL}@jsonl"], stdout=subprocess.DEVNULL)
    while not proxy.requests:
        pass
    second = threading.Thread(target=look, args=(m, ALL, "@csv"))
    second.start()
    first.kill()
    first.wait()
    second.join()
    assert look(m, ALL, "@csv") == oracle(f"/{ALL}@csv")


def test_a_refresh_forgets_it(mount, branch, proxy):
    path, _ = branch.put_jobs(2)
    m = mount()
    assert look(m, path, "@csv:job_id").count(b"\n") == 3
    branch.put_jobs(3)
    assert len(look(m, path, "ls")) == 2
    m.refresh(path)
    assert len(look(m, path, "ls")) == 3
    assert look(m, path, "@jsonl").count(b"\n") == 3


def test_what_is_too_old_is_read_anew(mount, branch, clock, proxy):
    path, _ = branch.put_jobs(2)
    m = mount(env=clock.env)
    look(m, path, "@jsonl")
    branch.put_jobs(3)
    clock.passes(6)
    assert look(m, path, "@summary").startswith(b'{\n  "count": 2,')
    assert len(look(m, path, "ls")) == 2
    clock.passes(6)
    assert sorted(look(m, path, "ls")) == sorted(look(m, path, "ls -l")) != []
    assert len(look(m, path, "ls")) == 3
    assert look(m, path, "@csv").count(b"\n") == 4


def test_a_ttl_of_nothing_shares_nothing(mount, short, proxy):
    m = mount(map_file=short)
    look(m, ALL, "@jsonl")
    pages = sent(proxy)
    look(m, ALL, "@csv")
    assert sent(proxy) == pages != []


def test_what_would_fill_the_cache_is_not_kept(mount, branch, proxy, oracle):
    path, names = branch.put_jobs(40, padding=10_000)
    m = mount("--cache-size", "1M")
    proxy.fault("page_size", op="Query", times=None, items=10)
    assert look(m, path, "@csv:sk").count(b"\n") == 1 + len(names)
    pages = sent(proxy)
    assert look(m, path, "@summary") == oracle(f"/{path}@summary")
    assert sent(proxy) == pages


def test_half_a_listing_is_none(mount, proxy):
    m = mount()
    proxy.fault("page_size", op="Query", times=None, items=7)
    with os.scandir(m / ALL) as entries:
        next(entries)
        sent(proxy)
        whole = look(m, ALL, "@jsonl")
    assert len(sent(proxy)) > 2 and whole.count(b"\n") == len(look(m, ALL, "ls"))


def test_what_failed_is_not_shared(mount, proxy, oracle):
    m = mount()
    proxy.fault("page_size", op="Query", times=None, items=7)
    fault = proxy.fault("denied", op="Query", times=1)
    fault.meets = lambda record: "ExclusiveStartKey" in record.body
    with pytest.raises(OSError) as caught:
        look(m, ALL, "@jsonl")
    assert caught.value.errno == errno.EACCES
    proxy.heal()
    assert look(m, ALL, "@csv") == oracle(f"/{ALL}@csv")


BY_G = {
    "TableName": "any-Things",
    "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk", "g", "at")],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "ByG",
            "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}, {"AttributeName": "at", "KeyType": "RANGE"}],
            "Projection": {"ProjectionType": "KEYS_ONLY"},
        }
    ],
    "BillingMode": "PAY_PER_REQUEST",
}
KINDS = {
    "records": {"note": {"pk": "{box}", "sk": "NOTE#{id}"}, "task": {"pk": "{box}", "sk": "TASK#{id}"}},
    "paths": {
        "notes/{g}/": {"list": "note", "index": "ByG", "where": {"g": "{g}"}},
        "tasks/{g}/": {"list": "task", "index": "ByG", "where": {"g": "{g}"}},
    },
}
PLATFORMS = {
    "records": {"task": {"pk": "{shop}#{platform}", "sk": "TASK#{id}"}},
    "paths": {"by/{platform}/{g}/": {"index": "ByG", "where": {"g": "{g}"}}},
}


@pytest.mark.parametrize("first", ["ls -l", "@jsonl"])
@pytest.mark.parametrize(
    "declared, keys, one, other",
    [
        (KINDS, [("b", "NOTE#1"), ("b", "TASK#2"), ("b", "TASK#3")], "notes/x", "tasks/x"),
        (PLATFORMS, [("a#red", "TASK#1"), ("a#blue", "TASK#2"), ("c#blue", "TASK#3")], "by/red/x", "by/blue/x"),
    ],
)
def test_paths_that_ask_the_same_have_records_of_their_own(mount, table, tmp_path, declared, keys, one, other, first):
    """What one of them lists is not all that the other does, though their Query is the same."""
    items = [{"pk": {"S": pk}, "sk": {"S": sk}, "g": {"S": "x"}, "at": {"S": sk[-1]}} for pk, sk in keys]
    table(BY_G, items)
    (tmp_path / "map.json").write_text(
        json.dumps(
            {
                "environments": {"any": {"prefix": "any-", "profile": "controller", "region": "us-east-1"}},
                "tables": {
                    "things": {
                        "table": "Things",
                        "indexes": {"ByG": {"partition": "g", "sort": "at", "projects": "keys"}},
                        **declared,
                    }
                },
            }
        )
    )
    m = mount(map_file=tmp_path / "map.json")
    assert len(look(m, f"any/things/{one}", first)) > 0
    lines = look(m, f"any/things/{other}", "@jsonl").splitlines()
    assert [json.loads(line)["sk"] for line in lines] == ["TASK#2", "TASK#3"]
    assert look(m, f"any/things/{other}", "@count") == b"2\n"
    assert len(look(m, f"any/things/{other}", "ls")) == 2


# Listings of one partition, by those that send the same Query.
NEWEST = {"newest": 2}
BY_INDEX = {"index": "by-pk", **NEWEST}
SAME_QUERY = [
    {
        "all": {"list": ["day", "week"], **NEWEST},
        "turned": {"list": ["week", "day"], **NEWEST},
        "days": {"list": "day", **NEWEST},
        "weeks": {"list": "week", **NEWEST},
        "ranked": {"list": "day", "name": "{rank}_{day}", **NEWEST},
        "counted/{count}": {"list": "day", "newest": "{count}"},
        "beside": {"list": ["day", "week"], **NEWEST},
    },
    {
        "index": {"list": ["day", "week"], **BY_INDEX},
        "index-days": {"list": "day", **BY_INDEX},
        "index-keys": {"list": "day", "hydrate": False, **BY_INDEX},
    },
    {
        "up-to/{end}": {"list": "day", "where": {"day": {"<=": "{end}"}}, **NEWEST},
        "below/{end}": {"list": "day", "where": {"day": {"<": "{end}"}}, **NEWEST},
    },
]
KEYS = ["D#1", "D#2", "D#3", "W#1", "W#2"]


@pytest.fixture
def sharing(boto, table, tmp_path):
    """A table of boxes with the same keys, and a map of SAME_QUERY."""
    kinds = {"day": {"pk": "{box}", "sk": "D#{day}"}, "week": {"pk": "{box}", "sk": "W#{week}"}}
    paths = {f"{{box}}/{name}/": path for group in SAME_QUERY for name, path in group.items()}
    paths["{box}/beside/last"] = {"record": "week", "where": {"week": "2"}}
    index = {"by-pk": {"partition": "pk", "sort": "sk", "projects": "keys"}}
    keys = [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}]
    made = tables.plain() | {"GlobalSecondaryIndexes": [
        {"IndexName": "by-pk", "KeySchema": keys, "Projection": {"ProjectionType": "KEYS_ONLY"}}]}  # fmt: skip
    name = table(made)
    map_file = tables.write_map(tmp_path / "map.json", records=kinds, paths=paths, indexes=index)

    def fill(boxes):
        load.put_all(boto, name, [tables.item(key, "x", box) for box in boxes for key in KEYS])

    return map_file, fill


def test_listings_that_share_a_query_do_not_cut_each_other_short(mount, sharing):
    """Each of them is first listed alone, and then after each other, in a box of its own."""
    map_file, fill = sharing
    names = [[name.format(count=2, end=3) for name in group] for group in SAME_QUERY]
    pairs = [pair for group in names for pair in itertools.product(group, repeat=2)]
    turns = list(itertools.product(["ls", "@info"], ["ls", "@jsonl"], pairs))
    boxes = [f"box-{at}" for at in range(len(turns))]
    fill([*boxes, *{name.split("/")[0] for group in names for name in group}])
    m = mount(map_file=map_file)

    def listed(box, name, way):
        found = look(m, f"any/things/{box}/{name}", way)
        return [json.loads(line)["sk"] for line in found.splitlines()] if way == "@jsonl" else found

    alone = {(name, way): listed(name.split("/")[0], name, way)
             for group in names for name in group for way in ("ls", "@jsonl")}  # fmt: skip
    assert alone["all", "@jsonl"] == ["W#2", "W#1"] and alone["days", "@jsonl"] == ["D#3", "D#2"]
    every = rows.Rows()
    for box, (first_way, way, (first, then)) in zip(boxes, turns):
        with every.row(f"{first} by {first_way}, {then} by {way}"):
            listed(box, first, first_way)
            assert listed(box, then, way) == alone[then, way]
    every.check()
