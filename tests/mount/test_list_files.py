"""A listing as one file in a mount: an immutable snapshot of exact size, whole or an error."""

import concurrent.futures
import errno
import json
import os
import signal
import subprocess
import threading
import time

import pytest

from harness import mounts
from harness.rows import rows

SHOP = "prod/shops/cool-store.myshopify.com"
ALL = "prod/jobs/by-index/shopify/kl7a9h55-shopify-e513a8-4/all"


@rows("path", [ALL, SHOP, "prod/index-settings/kl7a9h55"])
@rows(
    "ending",
    ["@jsonl", "@count", "@csv", "@csv:sk,status", "@table:sk,status", "@table/sk,status", "@summary", "@sqlite"],
)
def test_it_is_what_cat_prints_and_has_its_size(shared_mount, oracle, path, ending):
    m = shared_mount
    content = (m / f"{path}{ending}").read_bytes()
    assert content == oracle(f"/{path}{ending}") != b""
    assert os.stat(m / f"{path}{ending}").st_size == len(content)


def test_no_listing_shows_it(shared_mount):
    m = shared_mount
    (m / f"{ALL}@jsonl").read_bytes()
    assert not [name for name in os.listdir((m / ALL).parent) if "@" in name]


def test_an_open_one_stays_as_it_was(mount, branch):
    path, _ = branch.put_jobs(2)
    m = mount()
    with open(m / f"{path}@count", encoding="utf-8") as before:
        branch.put_jobs(3)
        m.refresh(f"{path}@count")
        assert (m / f"{path}@count").read_text("utf-8") == "3\n"
        assert before.read() == "2\n"


@rows("ending", ["@jsonl", "@csv", "@table/access_token", "@summary"])
def test_secrets_are_masked(shared_mount, ending):
    m = shared_mount
    assert "shpat_" not in (m / f"{SHOP}{ending}").read_text("utf-8")


def test_a_table_is_a_directory_that_says_what_to_type(shared_mount):
    m = shared_mount
    assert os.path.isdir(m / f"{ALL}@table")
    assert "cat status,created_at" in (m / f"{ALL}@table/README").read_text("utf-8")
    assert sorted(os.listdir(m / f"{ALL}@table")) == ["README", "{columns}"]


def test_rows_are_a_file_and_so_have_their_columns_in_its_name(shared_mount, oracle):
    m = shared_mount
    with pytest.raises(NotADirectoryError):
        (m / f"{ALL}@csv/status").read_bytes()
    assert (m / f"{ALL}@csv:status").read_bytes() == oracle(f"/{ALL}@csv/status")


def test_what_names_no_column_is_refused(shared_mount):
    m = shared_mount
    with pytest.raises(OSError) as caught:
        (m / f"{ALL}@csv:a,,b").read_bytes()
    assert caught.value.errno == errno.EINVAL
    assert "@csv:status,created_at" in (m / ".ddbfs/errors").read_text("utf-8")


@pytest.mark.parametrize("ending", ["@csv", "@table/pk,sk,created_at", "@csv:note"])
def test_rows_that_would_be_too_large_say_how_to_get_them(mount, branch, oracle, ending):
    path, names = branch.put_jobs(40, padding=10_000)
    m = mount("--cache-size", "1M", "--spool", "no")
    if ending.startswith("@table"):
        path, names = branch.put_jobs(3000)
    with pytest.raises(OSError) as caught:
        os.stat(m / f"{path}{ending}")
    assert caught.value.errno == errno.EFBIG
    told = (m / ".ddbfs/errors").read_text("utf-8")
    assert "256 KB" in told and "ddbfs cat" in told and ("@csv:status" in told) == (ending != "@csv:note")
    assert len((m / f"{path}@csv:status").read_text("utf-8").splitlines()) == 1 + len(names)
    assert json.loads((m / f"{path}@summary").read_text("utf-8"))["count"] == len(names)
    assert len(oracle(f"/{path}{ending}").splitlines()) == 1 + len(names)


def test_an_empty_listing_of_a_misspelt_step_says_which_one_was_meant(shared_mount):
    m = shared_mount
    assert os.listdir(m / "prod/shops/by-acount") == []
    # The kernel may show the file for a tenth of a second as another test has read it.
    mounts.wait_until(lambda: '(did you mean "by-account"?)' in m.errors(), "the note")


def read_or_errno(path):
    try:
        return path.read_bytes()
    except OSError as err:
        return err.errno


def test_files_that_are_made_at_once_share_half_of_the_cache(mount, branch, proxy):
    """12 files of 3 MB: 16M have room for two of the largest, and who finds none is told to come again."""
    path, _ = branch.put_jobs(10, padding=300_000)
    names = [f"{path}@csv:note,none{number}" for number in range(12)]
    all_asked = threading.Event()
    proxy.fault("delay", op="Query", seconds=60, until=lambda _: all_asked.is_set())
    m = mount("--cache-size", "16M", "--timeout", "90", "--spool", "no")
    with concurrent.futures.ThreadPoolExecutor(len(names)) as pool:
        reads = [pool.submit(read_or_errno, m / name) for name in names]
        while len(m.stats()["waiting"]) < len(names):
            pass
        all_asked.set()
        told = [read.result() for read in reads]
    whole = [content for content in told if isinstance(content, bytes)]
    assert whole and all(content.count(b"\n") == 1 + 10 for content in whole)
    assert len(whole) < len(told) and set(told) - set(whole) == {errno.EAGAIN}
    assert "other files are being made" in m.errors()
    for name in names:
        assert (m / name).read_bytes().count(b"\n") == 1 + 10


def test_a_summary_that_would_be_too_large_says_what_else_there_is(mount, branch):
    path, _ = branch.put_jobs(1)
    wide = {f"{number:03d}{'n' * 250}": {"S": "x" * 100} for number in range(900)}
    key = {"pk": "PLATFORM#shopify#SHOP#acct-index", "sk": "JOB#2026-03-02T00:00:00.000Z#wide"}
    branch.put("jobs", [{name: {"S": text} for name, text in key.items()} | wide])
    m = mount("--cache-size", "1M")
    with pytest.raises(OSError) as caught:
        (m / f"{path}@summary").read_bytes()
    assert caught.value.errno == errno.EFBIG
    assert "the summary of the attributes would need more than" in m.errors()


def asked_together(m, proxy, path, readers):
    """READERS of PATH, whose name the kernel knows, all of them waiting for the same Query; and an event that answers it.
    For a new name the kernel would send one look-up; other tests make it drop all names that nobody holds."""
    held = os.open(m / path, os.O_PATH)
    time.sleep(4.2)  # the time of the name
    m.proxy.clear()
    go_on = threading.Event()
    proxy.fault("delay", op="Query", seconds=60, times=99, until=lambda _: go_on.is_set())
    started = []
    for number in range(readers):
        started.append(subprocess.Popen(["cat", m / path], stdout=subprocess.PIPE))
        mounts.wait_until(lambda: len(m.stats()["waiting"]) == number + 1, "the reader")  # noqa: B023
    os.close(held)
    return started, go_on


@pytest.fixture
def brief(make_map):
    """A caller follows another one for as long."""
    return make_map(lambda text: text.replace('"mtime"', '"ttl": 4, "mtime"'))


@pytest.mark.parametrize("kept", ["in memory", "on disk"])
def test_readers_at_once_share_one_reading(mount, branch, proxy, brief, kept):
    path, names = branch.put_jobs(40 if kept == "in memory" else 250, padding=0 if kept == "in memory" else 10_000)
    m = mount("--cache-size", "1M", "--timeout", "60", map_file=brief)
    readers, go_on = asked_together(m, proxy, f"{path}@jsonl", 4)
    go_on.set()
    assert all(each.communicate()[0].count(b"\n") == len(names) for each in readers)
    assert m.counts()["Query"] == (1 if kept == "in memory" else 3)
    mine = [line for line in m.ledger() if line["program"] == "cat"]
    assert sorted(line["requests"] for line in mine) == [0, 0, 0, m.counts()["Query"]]


def test_the_others_still_get_it_when_the_first_goes_away(mount, branch, proxy, brief):
    path, names = branch.put_jobs(250, padding=10_000)
    m = mount("--cache-size", "1M", "--timeout", "60", map_file=brief)
    (first, *others), go_on = asked_together(m, proxy, f"{path}@jsonl", 3)
    first.send_signal(signal.SIGINT)
    assert first.wait(10) == -signal.SIGINT
    time.sleep(2.5)  # longer than work without any reader goes on
    go_on.set()
    assert all(each.communicate()[0].count(b"\n") == len(names) for each in others)
    assert m.counts()["Query"] == 3


def test_a_reader_after_a_refresh_does_not_get_what_was_asked_before(mount, branch, proxy, brief):
    path, names = branch.put_jobs(40)
    m = mount("--cache-size", "1M", "--timeout", "60", map_file=brief)
    (first,), go_on = asked_together(m, proxy, f"{path}@jsonl", 1)
    m.refresh(f"{path}@count")
    later = subprocess.Popen(["cat", m / f"{path}@jsonl"], stdout=subprocess.PIPE)
    mounts.wait_until(lambda: len(m.stats()["waiting"]) == 2, "the second reader")
    go_on.set()
    assert all(each.communicate()[0].count(b"\n") == len(names) for each in (first, later))
    assert m.counts()["Query"] == 2
