"""A mount that follows the streams of its tables (--live): results are used again until their items change,
and a change is visible within a moment."""

import json
import time

import pytest

from harness import mounts

STREAM = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
POLLS = {"GetRecords", "GetShardIterator", "DescribeStream"}



def reads_of(proxy):
    """The requests that read items."""
    return [each.op for each in proxy.requests if each.op in ("GetItem", "BatchGetItem", "Query")]


@pytest.fixture
def live(mount, branch, boto):
    """live(which, view=…): a mount with --live, and a table of the branch whose stream is enabled."""

    def make(which="jobs", view="NEW_AND_OLD_IMAGES", **options):
        table = branch.table(which)
        boto.update_table(TableName=table, StreamSpecification={**STREAM, "StreamViewType": view})
        return mount("--live", **options), table

    return make


def state(m, path):
    return json.loads((m / f"{path}@info").read_text())["live"]


def await_live(m, path):
    """Reads PATH until its results are used again: the stream is followed, and its replicas have settled."""
    mounts.wait_until(lambda: state(m, path)["state"] == "live", f"the stream of {path} is followed")

    def is_stored():
        time.sleep(0.7)  # longer than a reader uses a result
        m.proxy.clear()
        (m / path).read_bytes()
        return not reads_of(m.proxy)

    time.sleep(10)  # until results from before have ended
    mounts.wait_until(is_stored, f"{path} is stored")
    m.proxy.clear()


def test_an_item_is_read_once_and_its_change_is_seen(live, branch, boto):
    m, table = live("shops")
    path = branch.put_settings(active_index="one")
    await_live(m, path)
    boto.put_item(TableName=table, Item={"pk": {"S": "SHOP#cool-store.myshopify.com"}, "sk": {"S": "SETTINGS"}, "active_index": {"S": "two"}})
    mounts.wait_until(lambda: json.loads((m / path).read_text())["active_index"] == "two", "the change is visible")
    assert not reads_of(m.proxy)
