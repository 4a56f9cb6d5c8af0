"""Directories of a live mount: complete, each name once, at the cost that they say."""

import errno
import json
import os
import pathlib
import subprocess
import threading
import time

import pytest

from harness import mounts
from harness.rows import rows

INDEX = "kl7a9h55-shopify-e513a8-4"
LATEST = f"prod/jobs/by-index/shopify/{INDEX}/latest"
SHOP = "prod/shops/cool-store.myshopify.com"
BY_STATUS = f"prod/jobs/by-status/{INDEX}/COMPLETED"


def quick_jobs(text):
    """The map, where jobs are good for one second."""
    return text.replace('"mtime": "created_at",', '"mtime": "created_at", "ttl": 1,')


def listed(m, path):
    return sorted(os.listdir(m / path))


@pytest.fixture(scope="session")
def reader(tmp_path_factory):
    """readdir.c: calls of libc that Python has not."""
    program = tmp_path_factory.mktemp("readdir") / "readdir"
    source = pathlib.Path(__file__).with_name("readdir.c")
    subprocess.run(["cc", "-O1", "-Wall", "-Werror", "-o", program, source], check=True)

    def run(how, folder, *more):
        done = subprocess.run([program, how, folder, *more], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return [name for name in done.stdout.splitlines() if name not in (".", "..")]

    return run


def truth(boto, **query):
    """The items that boto3 finds, over all pages."""
    pages = boto.get_paginator("query").paginate(**query)
    return [item for page in pages for item in page["Items"]]


def jobs_of(boto, index=INDEX):
    values = {":p": {"S": f"PLATFORM#shopify#SHOP#{index}"}}
    return truth(
        boto,
        TableName="prod-EcomIndexerJobsTable",
        KeyConditionExpression="pk = :p",
        ExpressionAttributeValues=values,
    )


# Complete.


@pytest.mark.parametrize(
    "server", ["dynoxide", "dynamodb-local"], indirect=True, scope="session"
)
@pytest.mark.parametrize("page_size", [1, 2, 7, None])
def test_a_partition_is_listed_whole(mount, boto, proxy, page_size):
    m = mount()
    if page_size:
        proxy.fault("page_size", op="Query", times=None, items=page_size)
    names = os.listdir(m / f"prod/jobs/by-index/shopify/{INDEX}/all")
    assert sorted(names) == sorted(job["sk"]["S"][len("JOB#") :] for job in jobs_of(boto))


def test_empty_pages_end_nothing(mount, boto, proxy):
    m = mount()
    proxy.fault("page_size", op="Query", times=None, items=5)
    proxy.fault("empty_pages", op="Query", times=4)
    names = os.listdir(m / f"prod/jobs/by-index/shopify/{INDEX}/all")
    assert sorted(names) == sorted(job["sk"]["S"][len("JOB#") :] for job in jobs_of(boto))


def test_latest_is_the_newest_first(shared_mount, boto):
    names = [entry.name for entry in os.scandir(shared_mount / LATEST)]
    assert names == sorted(names, reverse=True)
    assert set(names) <= {job["sk"]["S"][len("JOB#") :] for job in jobs_of(boto)}


def test_who_wants_the_newest_is_told_how_to_list(mount):
    """ls sorts by name, which puts the oldest first."""
    m = mount()
    assert "ls -U keeps the order" in (m / "prod/jobs/README").read_text("utf-8")
    unsorted = subprocess.run(["ls", "-U", m / LATEST], capture_output=True, text=True).stdout
    assert unsorted.splitlines() == sorted(os.listdir(m / LATEST), reverse=True)


def test_names_with_a_rank_sort_as_the_listing_is_ordered(mount, branch, make_map):
    """Whatever sorts by name has the newest first, and a name of before goes on to open."""
    path, names = branch.put_jobs(12)
    ranked = '"by-index/{platform}/{shop_id}/latest/": { "newest": 10, "name": "{rank}_{job_id}@{created_at}" },'
    latest = '"by-index/{platform}/{shop_id}/latest/":               { "newest": 100 },'
    m = mount(map_file=make_map(lambda text: quick_jobs(text).replace(latest, ranked)))
    latest = m / path.replace("/all", "/latest")
    run = lambda *words: subprocess.run(words, capture_output=True, text=True).stdout  # noqa: E731
    shown = run("ls", latest).splitlines()
    assert [name[:13] for name in shown] == [f"{i:02d}_job-{12 - i:06d}" for i in range(1, 11)]
    before = (latest / shown[0]).read_bytes()
    branch.put_jobs(14)
    mounts.wait_until(lambda: "01_job-000013" in run("ls", latest), "the new listing")
    assert (latest / shown[0]).read_bytes() == before
    assert (latest / ("03" + shown[0][2:])).read_bytes() == before
    assert not m.errors()


def test_records_of_kinds_that_are_not_declared_leave_a_note(mount, branch):
    """The listing is whole but for them, and says how many they are."""
    path = f"{branch.name}/index-settings/by-account/acct"
    items = [{"pk": {"S": "acct"}, "sk": {"S": sk}} for sk in ("INDEX#a", "INDEX#a#UNHEARD-OF#1")]
    branch.put("index-settings", items)
    m = mount()
    assert os.listdir(m / path) == ["a"]
    line = m.errors().splitlines()[-1]
    assert f"note path=/{path}: 1 item" in line and '"list": "*"' in line


def test_an_empty_listing_by_a_value_that_the_map_does_not_know_leaves_a_note(mount):
    m, path = mount(), LATEST.replace("/shopify/", "/shopfy/")
    assert os.listdir(m / path) == []
    line = m.errors().splitlines()[-1]
    assert f"note path=/{path}: " in line and 'did you mean "shopify"?' in line
    told = [line for line in m.lines().splitlines() if "shopfy" in line]
    assert len(told) == 1 and f"pid={os.getpid()} note path=/{path}: " in told[0]


def test_so_does_a_file_of_such_a_listing(mount):
    m, path = mount(), LATEST.replace("/shopify/", "/shopfy/") + "@jsonl"
    assert (m / path).read_bytes() == b""
    told = [line for line in m.lines().splitlines() if "shopfy" in line]
    assert len(told) == 1 and f"pid={os.getpid()} note path=/{path}: " in told[0]


def test_a_thousand_names_are_each_there_once(mount, branch):
    path, names = branch.put_jobs(1000)
    assert os.listdir(mount() / path) == names


def test_a_listing_says_what_each_entry_is(shared_mount):
    kinds = {entry.name: entry.is_dir() for entry in os.scandir(shared_mount / "prod/jobs")}
    assert kinds == {"README": False, "by-id": True, "by-index": True, "by-status": True}


def test_the_root_shows_environments_whose_tables_exist(mount, branch):
    m = mount()
    branch.table("jobs")
    assert {"prod", "staging", "dev-search-v2", branch.name} <= set(listed(m, ""))
    assert m.counts() == {"ListTables": 1} and ".ddbfs" not in listed(m, "")


def test_directories_above_records_cost_nothing(mount):
    m = mount()
    for path in ("prod", "prod/jobs", "prod/jobs/by-index", f"prod/jobs/by-index/shopify/{INDEX}"):
        assert listed(m, path)
        os.stat(m / path)
    assert m.counts() == {}


# As libc reads.


def test_rewinddir_begins_again(mount, branch, reader):
    path, names = branch.put_jobs(500)
    assert reader("rewind", mount() / path) == names


def test_seekdir_finds_each_position_again(mount, branch, reader):
    path, names = branch.put_jobs(500)
    assert reader("seek", mount() / path) == names[::-1]


def test_signals_every_five_milliseconds_lose_nothing(mount, branch, proxy, reader):
    path, names = branch.put_jobs(300)
    m = mount()
    proxy.fault("page_size", op="Query", times=None, items=20)
    proxy.fault("delay", op="Query", times=None, seconds=0.02)
    assert reader("alarms", m / path) == names


def test_what_comes_while_a_directory_is_open_moves_nothing(mount, branch, reader):
    """The listing is pinned: forgetting all that is known meanwhile neither loses nor doubles."""
    path, names = branch.put_jobs(400, padding=300)
    m = mount()
    command = f"{m.ddbfs.binary} refresh {m.root}"
    assert reader("slow", m / path, command) == names


def test_reading_goes_on_after_the_map_was_read_again(mount, branch, proxy, reader):
    path, names = branch.put_jobs(300)
    m = mount()
    proxy.fault("page_size", op="Query", times=None, items=50)
    command = f"kill -HUP {m.pid}; ls {m.root} >/dev/null; ls {m.root}/.ddbfs/log >/dev/null"
    assert reader("slow", m / path, command) == names


def test_concurrent_listings_are_each_complete(mount, branch, proxy):
    path, names = branch.put_jobs(300)
    m, results = mount(), []
    proxy.fault("page_size", op="Query", times=None, items=25)
    threads = [
        threading.Thread(target=lambda: results.append(os.listdir(m / path))) for _ in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [names] * 16
    assert m.counts() == {"Query": 13} or m.counts() == {"Query": 12}


# Failures.


@pytest.mark.parametrize("kind, expected", [("denied", errno.EACCES), ("html", errno.EBADMSG)])
def test_a_page_that_fails_half_way_is_an_error(mount, branch, proxy, kind, expected):
    path, names = branch.put_jobs(100)
    m = mount("--timeout", "2")
    proxy.fault("page_size", op="Query", times=None, items=10)
    fault = proxy.fault(kind, op="Query", times=None)
    proxy.faults.remove(fault)
    with os.scandir(m / path) as entries:
        next(entries)
        proxy.faults.append(fault)
        with pytest.raises(OSError) as caught:
            list(entries)
    assert caught.value.errno == expected and f"/{path}" in m.errors()


# Cost.


def test_a_fresh_listing_is_shared(mount):
    m = mount()
    first = os.listdir(m / LATEST)
    for _ in range(10):
        assert os.listdir(m / LATEST) == first
    assert m.counts() == {"Query": 1}


def test_refresh_of_a_directory_asks_again(mount, branch):
    path, names = branch.put_jobs(3)
    m = mount()
    assert os.listdir(m / path) == names
    _, more = branch.put_jobs(5)
    assert os.listdir(m / path) == names
    m.refresh(path)
    assert os.listdir(m / path) == more


def test_a_listing_primes_sizes_and_contents(mount):
    m = mount()
    for entry in os.scandir(m / LATEST):
        assert entry.stat().st_size == len(pathlib.Path(entry.path).read_bytes())
    assert m.counts() == {"Query": 1}


def test_the_first_names_of_a_big_partition_read_one_page(mount, branch, proxy):
    path, _ = branch.put_jobs(2000)
    m = mount()
    proxy.fault("page_size", op="Query", times=None, items=500)
    command = f"ls -f '{m / path}' | head -n 5"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    assert len(done.stdout.splitlines()) == 5
    assert m.counts()["Query"] < 4, "ls reads ahead by its own buffer, and no more"


def test_names_of_an_index_are_hydrated_by_hundreds(mount, branch):
    branch.put_jobs(250)
    m = mount()
    path = f"{branch.name}/jobs/by-status/acct-index/FAILED"
    entries = list(os.scandir(m / path))
    sizes = [entry.stat().st_size for entry in entries]
    assert len(entries) == 250 and min(sizes) > 0
    assert m.counts() == {"Query": 1, "BatchGetItem": 3}
    for entry in entries:
        pathlib.Path(entry.path).read_bytes()
    assert m.counts() == {"Query": 1, "BatchGetItem": 3}


# What cannot be listed.


def test_find_counts_the_same_on_every_visit(mount):
    """What a directory shows does not depend on who looked."""
    m = mount()
    job = "1f3c9a52-7b1e-4c57-9d0a-2e6f4b8c1d90"

    def count():
        done = subprocess.run(["find", m / "prod/jobs", m / "prod/shops"], capture_output=True)
        return len(done.stdout.splitlines())

    before = count()
    (m / "prod/jobs/by-id" / job).read_bytes()
    os.listdir(m / SHOP)
    assert count() == before


def test_what_was_opened_lately_is_told_in_the_control_folder_the_newest_first(mount):
    m = mount()
    job = "1f3c9a52-7b1e-4c57-9d0a-2e6f4b8c1d90"
    assert m.recent() == []
    (m / "prod/jobs/by-id" / job).read_bytes()
    os.listdir(m / SHOP)
    assert not (m / "prod/jobs/by-id/nobody").exists()
    assert m.recent() == [f"/{SHOP}", f"/prod/jobs/by-id/{job}"]
    mounts.wait_until(lambda: (m / "prod/jobs/by-id" / job).read_bytes(), "once more")
    m.refresh()
    (m / "prod/jobs/by-id" / job).read_bytes()
    assert m.recent() == [f"/prod/jobs/by-id/{job}", f"/{SHOP}"]


def test_no_more_than_some_paths_are_kept(mount, branch):
    branch.put_jobs(300)
    m = mount()
    for number in range(300):
        os.stat(m / f"{branch.name}/jobs/by-id/job-{number:06d}")
    paths = m.recent()
    assert len(paths) == 256 and paths[0].endswith("job-000299") and paths[-1].endswith("044")


def test_a_listing_goes_on_behind_a_slow_page(mount, branch, proxy):
    path, names = branch.put_jobs(100)
    m = mount()
    proxy.fault("page_size", op="Query", times=None, items=10)
    proxy.fault("delay", op="Query", times=3, seconds=0.3)
    assert os.listdir(m / path) == names


def test_entries_change_when_the_listing_is_no_longer_fresh(mount, branch, make_map):
    short = make_map(quick_jobs)
    path, names = branch.put_jobs(2)
    m = mount(map_file=short)
    assert os.listdir(m / path) == names
    _, more = branch.put_jobs(4)
    mounts.wait_until(lambda: os.listdir(m / path) == more, "the new entries")


def test_a_pinned_listing_gives_no_content_that_is_too_old(mount, branch, make_map):
    """A directory that stays open for longer than the TTL, and is read once more."""
    short = make_map(quick_jobs)
    path, names = branch.put_jobs(1)
    m = mount(map_file=short)
    fd = os.open(m / path, os.O_RDONLY | os.O_DIRECTORY)
    assert os.listdir(fd) == names
    first = (m / path / names[0]).read_bytes()
    branch.put_jobs(1, padding=10)
    mounts.wait_until(lambda: (m / path / names[0]).read_bytes() != first, "the new version")
    time.sleep(0.25)  # twice the least for which the kernel is told anything
    assert os.listdir(fd) == names  # rewinds the pinned listing
    assert (m / path / names[0]).read_bytes() != first
    os.close(fd)


def test_listed_attributes_are_no_older_than_their_record_may_be(mount, branch, make_map):
    texts = ('"secret": ["access_token", "api_key"],', '"secret": ["access_token"], "ttl": 1,')
    path = branch.put_settings(plan="old")
    m = mount(map_file=make_map(lambda text: text.replace(*texts)))
    for entry in os.scandir(m / f"{path}@"):
        entry.stat()
    branch.put_settings(plan="new", added="x")
    plan = m / f"{path}@/plan"
    mounts.wait_until(lambda: plan.read_text() == "new\n", "the new attribute")
    mounts.wait_until(lambda: "added" in os.listdir(m / f"{path}@"), "the added attribute")


@pytest.mark.parametrize("beside", ['"list": "api_key", "ttl": 3600', None])
def test_a_listed_file_is_no_older_than_its_own_path_says(mount, branch, make_map, beside):
    """Whatever the listing's own time is, or the map's where the directory has no listing."""
    listing = f'"own/{{domain}}/": {{ {beside} }},' if beside else ""
    paths = f'''{listing} "own/{{domain}}/SETTINGS": {{ "record": "settings", "ttl": 0 }},
                "own/{{domain}}/plan": {{ "record": "settings", "attribute": "plan", "ttl": 0 }},
                "{{domain}}/": '''
    path = branch.put_settings(plan="old").replace("/shops/", "/shops/own/")
    m = mount(map_file=make_map(lambda text: text.replace('"{domain}/": ', paths)))
    folder = (m / path).parent
    assert {"SETTINGS", "plan"} <= {entry.name for entry in os.scandir(folder) if entry.stat()}
    branch.put_settings(plan="new")
    time.sleep(0.25)  # twice the least for which the kernel is told anything
    assert (folder / "plan").read_text() == "new\n"
    assert json.loads((folder / "SETTINGS").read_text())["plan"] == "new"


def test_the_attributes_of_a_record_that_is_not_there_are_an_error(mount):
    """From opendir: readdir would take ENOENT for the end of the directory, which then looks empty."""
    m = mount()
    with pytest.raises(OSError) as caught:
        os.listdir(m / "prod/shops/cool-store.myshopify.com/NOPE@")
    assert caught.value.errno == errno.ENOENT and "has no item" in m.errors()


def test_names_that_tell_of_the_index(mount, branch, make_map):
    """Each opens its record, with and without a listing; one that the record has no more is gone."""
    _, jobs = branch.put_jobs(3)
    by_status = '"by-status/{shop_id}/{status}/":'
    how = '{ "index": "GSI_JobsByStatus_v2", "ttl": 0, "name": "{status}@{created_at},{platform},{job_id}" },'
    m = mount(map_file=make_map(lambda text: text.replace(by_status, f'"of/{{shop_id}}/": {how}\n{by_status}')))
    folder = m / branch.name / "jobs/of/acct-index"
    old, new = [
        [f"{status}@{job.replace('#', ',shopify,')}" for job in jobs] for status in ("FAILED", "DONE")
    ]
    assert json.loads((folder / old[0]).read_bytes())["status"] == "FAILED"
    assert sorted(os.listdir(folder)) == old
    for name in old:
        assert json.loads((folder / name).read_bytes())["status"] == "FAILED"
    branch.put_jobs(3, status="DONE")
    mounts.wait_until(lambda: sorted(os.listdir(folder)) == new, "the new names")
    mounts.wait_until(lambda: not (folder / old[1]).exists(), "the old name to go")
    assert json.loads((folder / new[1]).read_bytes())["status"] == "DONE"


@pytest.mark.parametrize("path", ["", "prod", LATEST, SHOP])
def test_a_readme_opens_also_where_nothing_shows_it(mount, oracle, path):
    m = mount()
    assert (m / path / "README").read_bytes() == oracle(f"/{path}/README") != b""
    assert m.counts() == {} and "README" not in os.listdir(m / path)
