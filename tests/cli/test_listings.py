"""Directories: complete over any number of pages, bounded where they say so, lazy."""

import json
import os
import subprocess
import sys
import threading

import pytest

from harness import load, places, runner, servers
from harness.rows import rows

pytestmark = pytest.mark.wire

JOBS = "prod-EcomIndexerJobsTable"
SHOP = "kl7a9h55-shopify-e513a8-4"
BY_INDEX = f"/prod/jobs/by-index/shopify/{SHOP}"
JOB_ID = "1f3c9a52-7b1e-4c57-9d0a-2e6f4b8c1d90"
ACCOUNT = "/prod/index-settings/kl7a9h55"

# Pages

LISTINGS = {
    "all": f"{BY_INDEX}/all",
    "latest": f"{BY_INDEX}/latest",
    "by status": f"/prod/jobs/by-status/{SHOP}/COMPLETED",
    "status of a platform": f"{BY_INDEX}/status/COMPLETED",
    "indexes": ACCOUNT,
    "sub-records": f"{ACCOUNT}/shopify-e513a8-4.d",
    "shop": "/prod/shops/cool-store.myshopify.com",
}


@rows("items", [1, 2, 7])
@rows("kind", LISTINGS)
def test_pages_make_no_difference(ls, proxy, kind, items):
    whole = ls(LISTINGS[kind])
    proxy.fault("page_size", op="Query", times=None, items=items)
    assert ls(LISTINGS[kind]) == whole
    assert len(whole) == len(set(whole)) > 0


@rows("kind", LISTINGS)
def test_empty_pages_are_no_end(ls, proxy, kind):
    whole = ls(LISTINGS[kind])
    proxy.fault("page_size", op="Query", times=None, items=3)
    proxy.fault("empty_pages", op="Query", times=2)
    assert ls(LISTINGS[kind]) == whole != []


@rows("kind", ["all", "by status"])
def test_long_listing_over_pages_is_the_same(ddbfs, proxy, kind):
    whole = ddbfs("ls", "-l", LISTINGS[kind]).text
    proxy.fault("page_size", op="Query", times=None, items=3)
    proxy.fault("unprocessed", op="BatchGetItem", times=4)
    assert ddbfs("ls", "-l", LISTINGS[kind]).text == whole != ""


def test_token_is_the_latest_over_pages(ddbfs, proxy):
    proxy.fault("page_size", op="Query", times=None, items=1)
    proxy.fault("empty_pages", op="Query", times=1)
    path = "/prod/shops/cool-store.myshopify.com/access-token"
    assert ddbfs("cat", path).text == "shpat_demo_cool_two_latest\n"


def test_pages_that_fail_in_the_middle_end_in_an_error(ddbfs, proxy, ls):
    whole = ls(f"{BY_INDEX}/all")
    proxy.clear()
    proxy.fault("page_size", op="Query", times=None, items=5)
    meets_second = proxy.fault("denied", op="Query", times=None)
    meets_second.meets = lambda record: "ExclusiveStartKey" in record.body
    result = ddbfs("ls", f"{BY_INDEX}/all", expect=1)
    assert result.text.split("\n")[:-1] == whole[:5]
    assert "AccessDenied" in result.stderr


# How much is shown


@pytest.fixture
def map_with(write_map, example_map):
    """map_with(path, pattern): the example map with one more path of jobs, as environment."""

    def make(path, pattern):
        example_map["tables"]["jobs"]["paths"][path] = pattern
        return {"DDBFS_MAP": str(write_map(example_map))}

    return make


@rows("count", [1, 3, 10])
@rows("order", ["newest", "oldest"])
def test_n_entries_with_a_filter(ls, proxy, map_with, oracle, order, count):
    """The number counts what passes the filter, however many pages that takes."""
    env = map_with("failed/{platform}/{shop_id}/", {order: count, "filter": {"status": "FAILED"}})
    proxy.fault("page_size", op="Query", times=None, items=2)
    jobs = oracle.query(
        JOBS,
        "pk = :pk AND begins_with(sk, :job)",
        ScanIndexForward=order == "oldest",
        pk=f"PLATFORM#shopify#SHOP#{SHOP}",
        job="JOB#",
    )
    failed = [j["sk"]["S"].removeprefix("JOB#") for j in jobs if j["status"]["S"] == "FAILED"]
    assert ls(f"/prod/jobs/failed/shopify/{SHOP}", env=env) == failed[:count] != []


def test_no_more_pages_after_the_newest_n(ls, proxy, map_with):
    env = map_with("few/{platform}/{shop_id}/", {"newest": 4})
    proxy.fault("page_size", op="Query", times=None, items=2)
    assert len(ls(f"/prod/jobs/few/shopify/{SHOP}", env=env)) == 4
    assert proxy.ops == ["Query", "Query"]


@rows("window", ["2026-04-14..2026-04-16", "2026-04-16..2026-04-16"])
def test_window_includes_both_its_days(ls, oracle, window):
    first, last = window.split("..")
    rows = oracle.query(JOBS, "pk = :pk", pk=f"PLATFORM#shopify#SHOP#{SHOP}")
    names = [row["sk"]["S"].removeprefix("JOB#") for row in rows]
    expected = [name for name in names if first <= name[:10] <= last]
    assert ls(f"{BY_INDEX}/between/{window}") == expected
    assert {first, last} <= {name[:10] for name in expected}


def test_window_of_whole_times_includes_its_ends(ls):
    names = ls(f"{BY_INDEX}/all")
    first, last = (name.split("#")[0] for name in (names[3], names[6]))
    assert ls(f"{BY_INDEX}/between/{first}..{last}") == names[3:7]


def test_window_that_ends_before_it_begins(ddbfs, cost):
    path = f"{BY_INDEX}/between/2026-04-16..2026-04-14"
    result = ddbfs("ls", path, expect=1)
    assert result.stdout == b""
    assert result.stderr == f"ddbfs: {path}: the range of sk ends before it begins\n"
    assert cost() == []


# By status


def test_status_on_two_platforms(ls):
    names = ls(f"/prod/jobs/by-status/{SHOP}/IN_PROGRESS")
    assert {name.split("#")[0] for name in names} == {"shopify", "ecom"}
    dates = [name.split("#")[1] for name in names]
    assert dates == sorted(dates, reverse=True)


def test_platforms_share_the_status_out(ls):
    parts = [ls(f"/prod/jobs/by-index/{p}/{SHOP}/status/IN_PROGRESS") for p in ("shopify", "ecom")]
    whole = ls(f"/prod/jobs/by-status/{SHOP}/IN_PROGRESS")
    assert sorted(sum(parts, [])) == sorted(name.split("#", 1)[1] for name in whole)


def test_job_is_not_found_under_another_status(ddbfs, ls):
    name = ls(f"{BY_INDEX}/status/PENDING")[0]
    result = ddbfs("cat", f"{BY_INDEX}/status/FAILED/{name}", expect=3)
    assert result.stdout == b"" and "it is not (or no longer) in this directory" in result.stderr


def test_job_that_left_its_status(ddbfs, boto, ls):
    folder = f"/staging/jobs/by-status/{SHOP}"
    names = ls(f"{folder}/PENDING")
    platform, rest = names[-1].split("#", 1)
    key = {"pk": {"S": f"PLATFORM#{platform}#SHOP#{SHOP}"}, "sk": {"S": f"JOB#{rest}"}}
    table = "staging-EcomIndexerJobsTable"
    before = boto.get_item(TableName=table, Key=key)["Item"]
    failed = {"status": {"S": "FAILED"}, "status_created_at": {"S": f"FAILED#{rest.split('#')[0]}"}}
    try:
        boto.put_item(TableName=table, Item={**before, **failed})
        assert ls(f"{folder}/PENDING") == names[:-1]
        assert names[-1] in ls(f"{folder}/FAILED")
        ddbfs("cat", f"{folder}/PENDING/{names[-1]}", expect=3)
        ddbfs("cat", f"{folder}/FAILED/{names[-1]}")
    finally:
        boto.put_item(TableName=table, Item=before)


# The root


def test_root_shows_environments_and_branches(ls, cost):
    assert ls("/") == ["prod/", "staging/", "tables/", "dev-fix-7/", "dev-search-v2/"]
    assert cost() == ["ListTables"]


def test_named_environments_are_shown_when_branches_cannot_be_found(ddbfs, proxy):
    proxy.fault("denied", op="ListTables", times=None)
    result = ddbfs("ls", "/", expect=1)
    assert result.stdout == b"prod/\nstaging/\ntables/\n"
    assert result.stderr.startswith("ddbfs: /: ")


def test_a_branch_whose_name_has_hyphens(ls, table):
    description = next(t for t in load.tables() if t["TableName"] == "ShopifyEntitiesTable")
    table(description, name="dev-a-b-c-ShopifyEntitiesTable")
    assert "dev-a-b-c/" in ls("/")


def test_a_table_of_another_base_name_is_no_branch(ls, table):
    description = next(t for t in load.tables() if t["TableName"] == "ShopifyEntitiesTable")
    table(description, name="dev-other-Table")
    assert "dev-other/" not in ls("/")


# Forms


@rows("path", ["/", "/prod", BY_INDEX, ACCOUNT, f"{BY_INDEX}/latest"])
def test_json_listing_has_the_names_of_the_plain_one(ddbfs, ls, path):
    lines = [json.loads(line) for line in ddbfs("ls", "--json", path).text.splitlines()]
    slashes = [line["name"] + "/" * (line["type"] == "directory") for line in lines]
    assert slashes == ls(path)


def test_json_and_long_give_size_and_date(ddbfs):
    path = f"{BY_INDEX}/on/2026-04-16T09:41"
    (line,) = ddbfs("ls", "--json", "-l", path).text.splitlines()
    entry = json.loads(line)
    size = len(ddbfs("cat", f"{path}/{entry['name']}").stdout)
    assert (entry["type"], entry["size"]) == ("file", size)
    assert entry["mtime"] == "2026-04-16T09:41:07Z"


def test_long_listing_dates_records_in_local_time(ddbfs):
    path = f"{BY_INDEX}/on/2026-04-16T09:41"
    assert " 2026-04-16 09:41:07 " in ddbfs("ls", "-l", path, env={"TZ": "UTC"}).text
    assert " 2026-04-16 07:41:07 " in ddbfs("ls", "-l", path, env={"TZ": "XXX2"}).text


def test_long_listing_marks_directories(ddbfs):
    lines = ddbfs("ls", "-l", "/prod").text.splitlines()
    assert [line[:10] for line in lines] == ["dr-xr-xr-x"] * 4


def test_a_file_is_listed_as_itself(ddbfs):
    assert ddbfs("ls", f"/prod/jobs/by-id/{JOB_ID}").text == f"{JOB_ID}\n"


def test_a_missing_file_is_no_listing(ddbfs):
    result = ddbfs("ls", "/prod/jobs/by-id/none", expect=3)
    assert result.stdout == b"" and "has no item" in result.stderr


def test_slash_at_the_end_makes_no_difference(ls):
    assert ls(f"{BY_INDEX}/latest/") == ls(f"{BY_INDEX}/latest")


def test_slashes_in_between_make_no_difference(ls):
    assert ls("prod//jobs") == ls("/prod/jobs")


# 60,000 jobs in one partition

MANY = 60_000
BIG_JOBS = "prod-EcomIndexerJobsTable"
BIG_SHOP = "big0acct-shopify-many"
BIG_PARTITION = f"PLATFORM#shopify#SHOP#{BIG_SHOP}"
BIG_ALL = f"/prod/jobs/by-index/shopify/{BIG_SHOP}/all"
MEMORY_LIMIT_KB = 24 * 1024
PARTS_LIMIT_KB = 12 * 1024  # three pages that are stored or under way


def big_name(number):
    day, second = divmod(number, 86_400 // 2)
    hours, rest = divmod(second * 2, 3600)
    created = f"2026-04-{day + 1:02d}T{hours:02d}:{rest // 60:02d}:{rest % 60:02d}.000Z"
    return f"{created}#{number:08x}-0000-4000-8000-{number:012x}"


def big_job(number):
    created, job_id = big_name(number).split("#")
    texts = {
        "pk": BIG_PARTITION,
        "sk": f"JOB#{created}#{job_id}",
        "job_id": job_id,
        "created_at": created,
        "shop_id": BIG_SHOP,
        "platform": "shopify",
        "status": "COMPLETED",
        "status_created_at": f"COMPLETED#{created}",
        "job_type": "INCREMENTAL",
    }
    return {name: {"S": text} for name, text in texts.items()}


def big_database():
    """Made once and kept in the cache; a name of its own says what is in it."""
    folder = places.CACHE / f"jobs-{MANY}-1"
    database = folder / "big.db"
    done = folder / "done"
    folder.mkdir(parents=True, exist_ok=True)
    with load.packages.locked(folder):
        if not done.exists():
            make_big_database(folder)
            done.touch()
    return database


def make_big_database(folder):
    description = next(t for t in load.tables() if t["TableName"] == "EcomIndexerJobsTable")
    jobs = (big_job(number) for number in range(MANY))
    subprocess.run(["rm", "-rf", str(folder / "export")], check=True)
    load.dynoxide_database(folder, {**description, "TableName": BIG_JOBS}, jobs)


@pytest.fixture(scope="module")
def big_server(tmp_path_factory):
    """The big table in a dynoxide of its own; a copy, since serving writes to the file."""
    if "dynoxide" not in os.environ.get("DDBFS_SERVERS", "dynoxide").split():
        pytest.skip("only dynoxide loads so many items in reasonable time")
    copy = tmp_path_factory.mktemp("big") / "big.db"
    subprocess.run(["cp", str(big_database()), str(copy)], check=True)
    with servers.running("dynoxide", database=copy) as started:
        yield started


@pytest.fixture
def big_proxy(big_server, make_proxy):
    return make_proxy(big_server)


@pytest.fixture
def big_ddbfs(tmp_path, big_proxy, release_binary):
    return runner.Ddbfs(runner.Home(tmp_path / "home", big_proxy.url), release_binary)


# A child's peak counts that of the process it was forked from, so a small one stands in between.
MEASURE = """\
import os, sys
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(pid, 0)
print(usage.ru_maxrss, file=sys.stderr)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def test_many_jobs_are_all_listed_in_little_memory(big_ddbfs):
    for parallel, more_kb in (("no", 0), ("0", PARTS_LIMIT_KB)):
        command = [sys.executable, "-I", "-S", "-c", MEASURE, str(big_ddbfs.binary)]
        command += ["--parallel", parallel, "ls", BIG_ALL]
        done = runner.run(command, big_ddbfs.home.environment())
        assert done.code == 0, done
        assert done.text.splitlines() == [big_name(number) for number in range(MANY)]
        assert int(done.stderr) < MEMORY_LIMIT_KB + more_kb


def hold_back_second_page(proxy):
    """The second page does not come before the event that is given back is set."""
    released = threading.Event()
    held = proxy.fault("delay", op="Query", times=None)
    held.meets = lambda record: "ExclusiveStartKey" in record.body
    held.apply = lambda exchange, go_on: released.wait(60) and go_on()
    return released


def test_first_page_is_printed_before_the_second_comes(big_ddbfs, big_proxy):
    released = hold_back_second_page(big_proxy)
    process = big_ddbfs.start("ls", BIG_ALL, stdout=subprocess.PIPE)
    try:
        first = [process.stdout.readline().decode().rstrip("\n") for _ in range(1000)]
        assert not released.is_set() and len(big_proxy.requests) <= 2
        assert first == [big_name(number) for number in range(1000)]
    finally:
        process.kill()
        released.set()
        process.stdout.close()
        process.wait()


def test_head_reads_one_page(big_ddbfs, big_proxy):
    line = f"'{big_ddbfs.binary}' ls {BIG_ALL} | head -5"
    done = runner.run(["/bin/sh", "-c", line], big_ddbfs.home.environment())
    assert done.text.splitlines() == [big_name(number) for number in range(5)]
    assert big_proxy.ops == ["Query"]


def test_latest_of_many_reads_one_page(big_ddbfs, big_proxy):
    got = big_ddbfs("ls", BIG_ALL.replace("/all", "/latest")).text.splitlines()
    assert got == [big_name(number) for number in range(MANY - 1, MANY - 101, -1)]
    assert big_proxy.ops == ["Query"]


def test_one_of_many_is_one_get(big_ddbfs, big_proxy):
    name = big_name(MANY * 2 // 3)
    got = json.loads(big_ddbfs("cat", f"{BIG_ALL}/{name}").stdout)
    assert got["job_id"] == name.split("#")[1]
    assert big_proxy.ops == ["GetItem"]


# Files beside a listing

SESSIONS = {
    "session": {"pk": "SHOP#{shop}", "sk": "SESSION#{id}"},
    "note": {"pk": "SHOP#{shop}", "sk": "NOTE#{id}"},
}


@pytest.fixture
def sessions(things, write_map, plain_map):
    """sessions(paths, **of the table): SESSIONS in the table of things, with these paths."""

    def make(paths, **members):
        table = {"table": "Things", "records": SESSIONS, "paths": paths, **members}
        things.env = {"DDBFS_MAP": str(write_map({**plain_map, "tables": {"things": table}}))}
        return things

    return make


@rows("listed", ["newest", "oldest"])
def test_a_file_of_the_newest_record_is_proven_by_the_listing(ddbfs, proxy, sessions, listed):
    """Which end of the partition is meant is said by the file, whatever the listing's own order."""
    files = {"{shop}/last": {"record": "session", "newest": 1}}
    files["{shop}/first"] = {"record": "session", "oldest": 1}
    of = sessions({"{shop}/": {"list": "*", listed: "all"}, **files})
    for name, size in (("NOTE#0", 9), ("SESSION#1", 1), ("SESSION#2", 2), ("SESSION#3", 3)):
        of.put(name, box="SHOP#a", text={"S": "x" * size})
    lines = ddbfs("ls", "-l", "/any/things/a", env=of.env).text.splitlines()
    assert proxy.ops == ["Query"]
    sizes = {line.split()[-1]: line.split()[1] for line in lines}
    assert sizes["first"] == sizes["SESSION#1"] != sizes["last"] == sizes["SESSION#3"]
    for name in ("first", "last"):
        assert len(ddbfs("cat", f"/any/things/a/{name}", env=of.env).stdout) == int(sizes[name])


def test_a_file_that_its_filter_refuses_is_none(ddbfs, ls, sessions):
    """And the record that has its name is still an entry of the listing."""
    only = {"record": "note", "where": {"id": "0"}, "filter": {"text": "yes"}}
    of = sessions(
        {"{shop}/": {"list": "*"}, "{shop}/NOTE#0": only, "{shop}/bare": {**only, "attribute": "text"}}
    )
    of.put("NOTE#0", box="SHOP#a", text={"S": "no"})
    of.put("NOTE#0", box="SHOP#b", text={"S": "yes"})
    (refused,) = ls("/any/things/a", env=of.env)
    assert refused not in ("NOTE#0", "bare")
    assert json.loads(ddbfs("cat", f"/any/things/a/{refused}", env=of.env).text)["text"] == "no"
    assert ls("/any/things/b", env=of.env) == ["NOTE#0", "bare"]


def test_a_file_has_one_date(ddbfs, sessions):
    """However it is come by: with the listing, or alone, when little of the record is read."""
    bare = {"attribute": "text"}
    of = sessions(
        {
            "{shop}/": {"list": "*"},
            "{shop}/token": {"record": "session", "pick": {"greatest": "id"}, **bare},
            "{shop}/first": {"record": "session", "oldest": 1, **bare},
            "{shop}/note": {"record": "note", "where": {"id": "0"}, **bare},
        },
        mtime="when",
    )
    for name, day in (("NOTE#0", 4), ("SESSION#1", 1), ("SESSION#2", 2)):
        given = {"text": {"S": name}, "id": {"S": name}, "when": {"S": f"2026-01-0{day}"}}
        of.put(name, box="SHOP#a", **given)
    whole = ddbfs("ls", "-l", "/any/things/a", env=of.env).text.splitlines()
    whole += ddbfs("ls", "-l", "/any/things/a/NOTE#0@", env=of.env).text.splitlines()
    dates = {line.split()[-1]: line.split()[2] for line in whole}
    assert dates["token"] == "2026-01-02" and dates["first"] == "2026-01-01"
    assert dates["note"] == dates["NOTE#0"] == dates["text"] == "2026-01-04"
    for name in ("token", "first", "note", "NOTE#0@/text"):
        alone = ddbfs("ls", "-l", f"/any/things/a/{name}", env=of.env).text
        assert alone.split()[2] == dates[name.split("/")[-1]]


def test_the_newest_records_may_be_more_than_a_page(ddbfs, ls, proxy, sessions):
    of = sessions({"{shop}/": {"list": "session", "newest": 40}})
    for number in range(40):
        of.put(f"SESSION#{number}", box="SHOP#a", text={"S": "x" * 30000})
    assert len(ls("/any/things/a", env=of.env)) == 40
    assert proxy.ops == ["Query", "Query"]
    told = ddbfs("explain", "/any/things/a/", env=of.env).text
    assert "cost   1 request\n" in told and "do not fit one page" in told


def test_a_long_name_shows_what_its_listing_shows(ddbfs, proxy, boto, table, plain_table, plain_map, write_map):
    """An index that is not read again shows what it holds, under whole names and shortened ones."""
    keys = [{"AttributeName": name, "KeyType": kind} for name, kind in (("pk", "HASH"), ("st", "RANGE"))]
    index = {"IndexName": "by-state", "KeySchema": keys, "Projection": {"ProjectionType": "KEYS_ONLY"}}
    state = {"AttributeName": "st", "AttributeType": "S"}
    name = table(
        {
            **plain_table,
            "AttributeDefinitions": [*plain_table["AttributeDefinitions"], state],
            "GlobalSecondaryIndexes": [index],
        }
    )
    for sort in ("SESSION#" + "x" * 300, "SESSION#short"):
        key = {"pk": {"S": "SHOP#a"}, "sk": {"S": sort}}
        boto.put_item(TableName=name, Item={**key, "st": {"S": "open"}, "more": {"S": "not held"}})
    things = {
        "table": "Things",
        "records": SESSIONS,
        "indexes": {"by-state": {"partition": "pk", "sort": "st", "projects": "keys"}},
        "paths": {
            "{shop}/": {
                "list": "session", "index": "by-state", "hydrate": False, "where": {"st": "open"}
            }
        },
    }
    env = {"DDBFS_MAP": str(write_map({**plain_map, "tables": {"things": things}}))}
    lines = ddbfs("ls", "-l", "/any/things/a", env=env).text.splitlines()
    assert len(lines) == 2
    for line in lines:
        size, entry = line.split()[1], line.split()[-1]
        proxy.clear()
        assert len(ddbfs("cat", f"/any/things/a/{entry}", env=env).stdout) == int(size)
        assert proxy.ops == ["Query"]
