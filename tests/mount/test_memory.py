"""Memory: whatever is read, the process stays below what docs/mount.md promises."""

import concurrent.futures
import errno
import os
import pathlib
import re
import subprocess

import pytest

from harness import places, tables

MB = 1 << 20
RECORD = 300_000
COUNT = 120  # 36 MB, of which a mount of --cache-size 8M keeps little


def promised_mb():
    """The constant that docs/mount.md states, beside --cache-size."""
    text = (places.REPO / "docs/mount.md").read_text("utf-8")
    return int(re.search(r"`--cache-size`\s+and (\d+) MB", text)[1])


def peak(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text("ascii")
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024


@pytest.fixture
def ddbfs(ddbfs_release):
    """The program that users have: sanitizers keep what was freed."""
    if b"__asan_init" in pathlib.Path(ddbfs_release.binary).read_bytes():
        pytest.skip("DDBFS_RELEASE has sanitizers")
    return ddbfs_release


@pytest.mark.parametrize("view", ["by-index", "by-status", "by-id"])
def test_big_records_do_not_fill_the_memory(mount, branch, view):
    path, _ = branch.put_jobs(COUNT, padding=RECORD)
    m = mount("--cache-size", "8M")
    if view == "by-status":
        path = f"{branch.name}/jobs/by-status/acct-index/FAILED"
    if view == "by-id":
        for number in range(COUNT):
            assert len((m / f"{branch.name}/jobs/by-id/job-{number:06d}").read_bytes()) > RECORD
    else:
        for _ in range(2):
            sizes = [entry.stat().st_size for entry in os.scandir(m / path)]
            assert len(sizes) == COUNT and min(sizes) > RECORD
        subprocess.run(["grep", "-rc", "job_id", m / path], check=True, capture_output=True)
    used = peak(m.pid)
    assert used < (8 + promised_mb()) * MB, f"{used / MB:.0f} MB"
    print(f"{view}: {used / MB:.0f} MB")


@pytest.mark.parametrize("spool", ["/var/tmp", pytest.param("no", marks=pytest.mark.long)])
def test_files_of_a_big_listing_do_not_fill_the_memory(mount, branch, spool):
    """Neither stored pages, nor a file that becomes too large for the memory, have more than their part."""
    path, _ = branch.put_jobs(COUNT, padding=RECORD)
    m = mount("--cache-size", "8M", "--spool", spool)
    for _ in range(2):
        for ending in ("@jsonl", "@csv", "@table:note,sk,pk", "@summary", "@sqlite", "@csv:sk", "@count"):
            too_large = ending in ("@csv", "@sqlite") or (ending == "@jsonl" and spool == "no")
            assert os.path.exists(m / f"{path}{ending}") != too_large
    used = peak(m.pid)
    assert used < (8 + promised_mb()) * MB, f"{used / MB:.0f} MB"
    print(f"files of a listing: {used / MB:.0f} MB")


def test_files_that_are_made_at_once_do_not_fill_the_memory(mount, branch):
    """60 files of 3 MB, each within its own limit, by 60 readers."""
    path, _ = branch.put_jobs(10, padding=RECORD)
    m = mount("--cache-size", "16M")

    def read(number):
        try:
            return len((m / f"{path}@csv:note,none{number}").read_bytes()) > 10 * RECORD
        except OSError as err:
            assert err.errno == errno.EAGAIN
            return False

    with concurrent.futures.ThreadPoolExecutor(60) as pool:
        assert any(pool.map(read, range(60)))
    used = peak(m.pid)
    assert used < (16 + promised_mb()) * MB, f"{used / MB:.0f} MB"
    print(f"files made at once: {used / MB:.0f} MB")


def test_answers_that_come_in_together_do_not_fill_the_memory(mount, branch, proxy):
    """36 batches of 3.8 MB at once, over three tables, each with connections of its own."""
    branches = [branch, type(branch)(branch.boto), type(branch)(branch.boto)]
    shops = [f"acct-{number}" for number in range(12)]
    try:
        for each in branches:
            for shop in shops:
                each.put_jobs(10, shop=shop, padding=380_000)
        m = mount("--cache-size", "1M", "--timeout", "60")
        proxy.fault("slow_body", op="BatchGetItem", times=None)
        listings = [m / f"{each.name}/jobs/by-status/{s}/FAILED" for each in branches for s in shops]
        readers = [subprocess.Popen(["ls", "-l", path], stdout=subprocess.PIPE) for path in listings]
        lines = [reader.communicate()[0].count(b"\n") for reader in readers]
        assert lines == [1 + 10] * len(readers)
        used = peak(m.pid)
        assert used < (1 + promised_mb()) * MB, f"{used / MB:.0f} MB"
        assert m.counts()["BatchGetItem"] == len(listings)
    finally:
        for each in branches[1:]:
            each.drop()


PARTITIONS = 10_000


def test_ten_thousand_partitions_do_not_fill_the_memory(mount, table):
    """Of a table without a map: each is a directory that the kernel knows."""
    items = f"tables/{table(tables.plain())}/items"
    m = mount("--cache-size", "8M", env={"DDBFS_MAP": None})
    for number in range(PARTITIONS):
        assert (m / items / f"partition-{number:05d}").is_dir()
        if number % 10 == 0:
            assert os.listdir(m / items / f"partition-{number:05d}") == []
    used = peak(m.pid)
    print(f"{PARTITIONS} partitions: {used / MB:.0f} MB, nodes {m.stats()['node_bytes'] / MB:.0f} MB")
    assert used < (8 + promised_mb()) * MB, f"{used / MB:.0f} MB"


FILES = 2_000
BYTES_A_FILE = 300


def test_a_file_of_a_listing_needs_little_beside_its_content(mount, branch):
    """The heap's growth from FILES to five times as many; stored pages have a gauge of their own."""
    few, _ = branch.put_jobs(FILES)
    many, _ = branch.put_jobs(5 * FILES, shop="acct-2")
    m = mount()

    def other_bytes(path):
        assert subprocess.run(["ls", "-l", m / path], stdout=subprocess.PIPE).returncode == 0
        stats = m.stats()
        return stats["heap_bytes"] - stats["content_bytes"] - stats["cache_bytes"]

    heap = [other_bytes(path) for path in (f"{branch.name}/jobs", few, many)]
    each = (heap[2] - heap[1]) / (5 * FILES)
    print(f"{each:.0f} bytes a file")
    assert each <= BYTES_A_FILE
