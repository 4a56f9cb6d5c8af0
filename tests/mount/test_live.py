"""A mount that follows the streams of its tables (--live): results are used again until their items change,
and a change is visible within a moment."""

import json
import os
import time

import pytest

from harness import mounts, tables
from .conftest import job

pytestmark = pytest.mark.waits

STREAM = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
HELD_S = 0.6  # results are used for half a second, whatever changed
POLLS = {"GetRecords", "GetShardIterator", "DescribeStream"}



def reads_of(proxy):
    """The requests that read items."""
    return [each.op for each in proxy.requests if each.op in ("GetItem", "BatchGetItem", "Query")]


@pytest.fixture
def live(mount, branch, boto, make_map):
    """live("jobs", view=…): a mount with --live of a map whose results would be used for a second, and the
    name of a table of the branch whose stream is enabled."""

    def make(which, view="NEW_AND_OLD_IMAGES", options=("--live",), change=lambda text: text, env=None):
        table = branch.table(which)
        boto.update_table(TableName=table, StreamSpecification={**STREAM, "StreamViewType": view})
        text = make_map(lambda text: change(text.replace('"mtime"', '"ttl": 1, "mtime"')))
        return mount(*options, map_file=text, env=env), table

    return make


def state(m, path):
    return json.loads((m / f"{path}@info").read_text())["live"]


def names(m, path):
    return sorted(os.listdir(m / path))


def await_live(m, *paths):
    """Reads PATHS until no further read of them sends a request: the stream is followed, its replicas have
    settled, and what was read is stored."""

    def is_stored():
        for path in paths:
            mounts.wait_until(lambda: state(m, path)["state"] == "live", f"the stream of {path} is followed")
        m.proxy.clear()
        begin = time.monotonic()
        while time.monotonic() < begin + 2.5:  # longer than the map's ttl, and than readers use a result
            for path in paths:
                read_whole(m, path)
            time.sleep(0.05)
        return not reads_of(m.proxy)

    mounts.wait_until(is_stored, f"{paths} are stored")
    m.proxy.clear()


def read_whole(m, path):
    """The texts of the items of a directory, or of one item."""
    if not (m / path).is_dir():
        return (m / path).read_text()
    return {name: (m / path / name).read_text() for name in os.listdir(m / path) if name != "README"}


SETTINGS = {"pk": {"S": "SHOP#cool-store.myshopify.com"}, "sk": {"S": "SETTINGS"}}


def test_an_item_is_read_once_and_its_change_is_seen(live, branch, boto):
    m, table = live("shops")
    path = branch.put_settings(active_index="one")
    await_live(m, path)
    boto.put_item(TableName=table, Item={**SETTINGS, "active_index": {"S": "two"}})
    mounts.wait_until(lambda: '"two"' in (m / path).read_text(), "the change is visible")
    boto.delete_item(TableName=table, Key=SETTINGS)
    mounts.wait_until(lambda: not (m / path).exists(), "the item is gone")
    boto.put_item(TableName=table, Item={**SETTINGS, "active_index": {"S": "three"}})
    mounts.wait_until(lambda: (m / path).exists() and '"three"' in (m / path).read_text(), "the item is back")
    assert not reads_of(m.proxy)
    assert state(m, path)["lag_ms"] < 3000


def test_what_was_read_before_the_stream_was_followed_ends(live, branch, boto, kernel):
    """Names and results had an hour."""
    m, table = live("shops", change=lambda text: text.replace('"ttl": 1', '"ttl": 3600'), env=kernel)
    path = branch.put_settings(active_index="one")
    (m / path).read_text()
    mounts.wait_until(lambda: state(m, path)["state"] == "live", "the stream is followed")
    boto.put_item(TableName=table, Item={**SETTINGS, "active_index": {"S": "two"}})
    mounts.wait_until(lambda: '"two"' in (m / path).read_text(), "the change is visible")


def put_job(boto, table, number, status, **more):
    boto.put_item(TableName=table, Item={**job(number, "acct-index", status, 0), **more})


def test_listings_follow_their_items_without_a_request(live, branch, boto):
    m, table = live("jobs")
    listing, jobs = branch.put_jobs(5)
    shop = f"{branch.name}/jobs/by-index/shopify/acct-index"
    failed, pending = f"{shop}/status/FAILED", f"{shop}/status/PENDING"
    for each in (listing, f"{shop}/latest"):
        await_live(m, each)
    put_job(boto, table, 2, "PENDING")
    mounts.wait_until(lambda: "PENDING" in (m / listing / jobs[2]).read_text(), "the job is pending")
    mounts.wait_until(lambda: "PENDING" in (m / shop / "latest" / jobs[2]).read_text(), "also in latest")
    put_job(boto, table, 7, "FAILED")
    new = job(7, "acct-index", "FAILED", 0)["sk"]["S"][len("JOB#") :]
    mounts.wait_until(lambda: names(m, listing) == sorted([*jobs, new]), "the new job is listed")
    boto.delete_item(TableName=table, Key={name: job(0, "acct-index", "", 0)[name] for name in ("pk", "sk")})
    mounts.wait_until(lambda: names(m, listing) == sorted([*jobs[1:], new]), "the first job is gone")
    assert not reads_of(m.proxy)
    await_live(m, failed, pending)
    put_job(boto, table, 3, "PENDING")
    mounts.wait_until(lambda: len(names(m, pending)) == len(names(m, failed)) == 2 + 1 - 1 or
                      (len(names(m, pending)), len(names(m, failed))) == (2, 3), "the job has moved")
    assert '"PENDING"' in "".join(read_whole(m, pending).values())
    assert not reads_of(m.proxy)


def test_a_table_is_described_once(live, branch):
    """A path without a map needs the description, and so does the follower of the stream."""
    m, table = live("jobs")
    branch.put_jobs(1)
    path = f"prod/tables/{table}/items/{job(0, 'acct-index', '', 0)['pk']['S']}"
    m.proxy.clear()
    assert len(os.listdir(m / path)) == 1
    mounts.wait_until(lambda: "GetRecords" in m.proxy.ops, "the stream is followed")
    assert m.proxy.ops.count("DescribeTable") == 1


def test_an_item_that_an_index_finds(live, branch, boto):
    m, table = live("jobs")
    branch.put_jobs(3)
    path = f"{branch.name}/jobs/by-id/job-000001"
    await_live(m, path)
    put_job(boto, table, 1, "PENDING")
    mounts.wait_until(lambda: "PENDING" in (m / path).read_text(), "the change is visible")
    assert not reads_of(m.proxy)
    boto.delete_item(TableName=table, Key={name: job(1, "acct-index", "", 0)[name] for name in ("pk", "sk")})
    mounts.wait_until(lambda: not (m / path).exists(), "the item is gone")
    assert not reads_of(m.proxy)


@pytest.mark.parametrize("view", ["KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE"])
def test_a_stream_with_fewer_images_drops_what_may_have_changed(live, branch, boto, view):
    m, table = live("jobs", view=view)
    listing, jobs = branch.put_jobs(3)
    await_live(m, listing)
    put_job(boto, table, 1, "PENDING")
    mounts.wait_until(lambda: "PENDING" in (m / listing / jobs[1]).read_text(), "the change is visible")
    put_job(boto, table, 7, "FAILED")
    mounts.wait_until(lambda: len(names(m, listing)) == 4, "the new job is listed")


def test_a_table_without_a_stream_is_reported_and_read_as_ever(live, branch, boto):
    m, table = live("jobs")
    path = branch.put_settings(active_index="one")  # of another table
    (m / path).read_text()
    mounts.wait_until(lambda: state(m, path)["state"] == "lost", "the stream is missed")
    why = state(m, path)["why"]
    assert "has no stream" in why and "StreamViewType=NEW_AND_OLD_IMAGES --profile" in why
    assert "is not live" in m.log() or "is not live" in m.errors()
    boto.put_item(TableName=f"{branch.name}-ShopifyEntitiesTable", Item={**SETTINGS, "active_index": {"S": "two"}})
    mounts.wait_until(lambda: '"two"' in (m / path).read_text(), "the change is visible")


def test_a_lagging_stream_is_reported_and_not_believed(live, branch, boto):
    m, table = live("shops")
    path = branch.put_settings(active_index="one")
    await_live(m, path)
    m.proxy.fault("error", op="GetRecords", code="InternalServerError", status=500, times=None)
    mounts.wait_until(lambda: state(m, path)["state"] == "lags", "the lag is reported")
    boto.put_item(TableName=table, Item={**SETTINGS, "active_index": {"S": "two"}})
    mounts.wait_until(lambda: '"two"' in (m / path).read_text(), "the change is visible")
    assert "GetItem" in reads_of(m.proxy)
    mounts.wait_until(lambda: "lags by" in m.errors(), "the lag is among the errors")
    m.proxy.heal()
    mounts.wait_until(lambda: state(m, path)["state"] == "live", "the stream has caught up")


HOUR = lambda text: text.replace('"ttl": 1,', '"ttl": 3600,')


@pytest.mark.parametrize("seen", ["by its name", "in a listing", "as a miss"])
def test_results_from_before_the_table_was_live_are_not_used_for_their_ttl(live, branch, boto, seen):
    """Neither by the kernel nor by the mount."""
    m, table = live("shops", change=HOUR)
    path = branch.put_settings(active_index="one")
    m.proxy.fault("delay", op="GetRecords", seconds=60, times=1, until=lambda _: table == "")
    if seen == "as a miss":
        boto.delete_item(TableName=table, Key=SETTINGS)
        assert not (m / path).exists()
    elif seen == "in a listing":
        assert '"one"' in read_whole(m, os.path.dirname(path))["SETTINGS"]
    else:
        assert '"one"' in (m / path).read_text()
    table, name = "", table
    mounts.wait_until(lambda: live_of(m, branch) == "live", "the stream is followed")
    boto.put_item(TableName=name, Item={**SETTINGS, "active_index": {"S": "two"}})
    mounts.wait_until(lambda: (m / path).exists() and '"two"' in (m / path).read_text(), "the change is visible")


def test_a_listing_whose_table_becomes_live_while_it_is_read(live, branch, boto):
    m, table = live("shops", change=HOUR)
    path = branch.put_settings(active_index="one")
    seen = lambda op: [each for each in m.proxy.requests if each.op == op]
    m.proxy.fault("delay", op="GetRecords", seconds=60, times=1, until=lambda _: seen("Query"))
    m.proxy.fault("delay", op="Query", seconds=60, times=1, until=lambda _: len(seen("GetRecords")) > 1)
    assert names(m, os.path.dirname(path)) == ["SETTINGS"]
    boto.delete_item(TableName=table, Key=SETTINGS)
    mounts.wait_until(lambda: names(m, os.path.dirname(path)) == [], "the change is visible")


def live_of(m, branch):
    """The state of the table of shops, by the listing of a shop that has no items."""
    return state(m, f"{branch.name}/shops/another.test")["state"]


def test_a_denied_stream_names_its_permission(live, branch):
    m, _ = live("shops")
    m.proxy.fault("error", op="DescribeStream", code="AccessDeniedException", times=None,
                  message="User: arn:aws:iam::1:user/u is not authorized to perform: dynamodb:DescribeStream")  # fmt: skip
    path = branch.put_settings(active_index="one")
    (m / path).read_text()
    mounts.wait_until(lambda: state(m, path)["state"] == "lost", "the stream is denied")
    assert "dynamodb:DescribeStream" in state(m, path)["why"]


def test_an_entry_that_is_listed_late_is_as_it_is_now(mount, table, boto, tmp_path):
    """A program works on each entry of a directory before it reads the next one."""
    names = [f"{each:04}" + "-" * 200 for each in range(700)]  # few of them fit into one call of the kernel
    last = names[-3]
    schema = {**tables.plain(), "StreamSpecification": STREAM}
    items = [{"pk": {"S": "box"}, "sk": {"S": each}, "note": {"S": "x" * 1000}} for each in names]
    name = table(schema, items)
    map_file = tmp_path / "map.json"
    map_file.write_text(json.dumps(tables.plain_map()))
    m = mount("--live", map_file=map_file)
    folder, other = "any/things/box", f"any/tables/{name}/items/box/{last}"
    await_live(m, folder)
    time.sleep(1)  # so that the directory is listed anew
    begun = time.monotonic()
    entries = os.scandir(m / folder)
    assert [next(entries).name for _ in range(10)] == names[:10]
    boto.put_item(TableName=name, Item={**items[-3], "note": {"S": "new"}})
    mounts.wait_until(lambda: '"new"' in (m / other).read_text(), "the change is visible")
    time.sleep(max(0, begun + HELD_S - time.monotonic()))
    notes = {each.name: json.loads((m / folder / each.name).read_text())["note"] for each in entries if each.name >= last}
    assert notes.pop(last) == "new" and list(notes) == names[-2:]
    assert not reads_of(m.proxy)


def test_a_refresh_reads_everything_again(live, branch):
    m, _ = live("shops")
    path = branch.put_settings(active_index="one")
    await_live(m, path)
    m.refresh(path)
    (m / path).read_text()
    assert reads_of(m.proxy) == ["GetItem"]
    for _ in range(20):  # nothing can be stored at first, and that is no lack of room
        (m / path).read_text()
        assert state(m, path)["state"] in ("starts", "live")


def test_a_snapshot_is_not_live(ddbfs, tmp_path):
    told = ddbfs("mount", "--live", "--snapshot", tmp_path / "one.ddb", tmp_path, expect=2).stderr
    assert "--live does not go with --snapshot" in told


def test_the_map_names_environments_that_are_live(live, branch):
    change = lambda text: text.replace('"prefix": "dev-{branch}-"', '"live": true, "prefix": "dev-{branch}-"')
    m, _ = live("shops", options=(), change=change)
    path = branch.put_settings(active_index="one")
    await_live(m, path)
    other = json.loads((m / "prod/shops/cool-store.myshopify.com/SETTINGS@info").read_text())
    assert "live" not in other


def test_a_path_of_ttl_zero_is_always_read(live, branch):
    m, _ = live("shops", change=lambda text: text.replace('"ttl": 1', '"ttl": 0'))
    path = branch.put_settings(active_index="one")
    for _ in range(3):
        (m / path).read_text()
        time.sleep(0.2)  # longer than the kernel keeps a name
    assert reads_of(m.proxy) == ["GetItem"] * 3


def test_polls_are_in_the_ledger(live, branch):
    m, table = live("shops")
    path = branch.put_settings(active_index="one")
    await_live(m, path)
    told = m.stats()
    assert (told["live_tables"], told["live_tables_late"], told["live_gaps"]) == (1, 0, 0)
    assert told["live_reads"] > 0 and told["live_bytes"] > 0 and told["live_lag_seconds"] < 3
    operations = told["requests"]
    assert operations["GetRecords"] > 2 and operations["DescribeStream"] >= 1
    assert f'operation="GetRecords",table="{table}"' in m.metrics()
