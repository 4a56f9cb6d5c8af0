"""Files of listings that are too large for memory: in a temporary file, whole and exact, or an error that says why."""

import concurrent.futures
import errno
import hashlib
import os
import resource
import subprocess
import threading
import time

import pytest

from harness import mounts

COUNT, PADDING = 450, 10_000  # five pages, where 256 KB may be held

NEEDS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="mounts a tmpfs")


@pytest.fixture
def large(branch):
    """The path of a listing of 4.5 MB, and the names in it."""
    return branch.put_jobs(COUNT, padding=PADDING)


def spooling(mount, folder, *options, **more):
    folder.mkdir(exist_ok=True)
    return mount("--cache-size", "1M", "--spool", folder, *options, **more)


def refused(path):
    with pytest.raises(OSError) as caught:
        os.stat(path)
    return caught.value.errno


@pytest.mark.parametrize("ending", ["@jsonl", "@csv:sk,note"])
def test_a_large_file_is_whole_and_can_be_read_anywhere(mount, large, oracle, tmp_path, ending):
    path, _ = large
    m = spooling(mount, tmp_path / "spool")
    content = oracle(f"/{path}{ending}")
    assert (m / f"{path}{ending}").read_bytes() == content and len(content) > 4_500_000
    assert os.stat(m / f"{path}{ending}").st_size == len(content)
    with open(m / f"{path}{ending}", "rb", buffering=0) as file:
        for at in (0, 1, 4095, 2_234_567, len(content) - 3, len(content), len(content) + 9):
            assert os.pread(file.fileno(), 70_000, at) == content[at : at + 70_000]
    tail = subprocess.run(["tail", "-n1", m / f"{path}{ending}"], capture_output=True, check=True)
    assert tail.stdout == content.splitlines(True)[-1]


def test_its_bytes_are_on_disk_without_a_name_and_not_in_memory(mount, large, tmp_path):
    path, _ = large
    m = spooling(mount, tmp_path / "spool")
    size = (m / f"{path}@jsonl").stat().st_size
    stats = m.stats()
    assert stats["spooled_files"] == 1 and stats["spooled_bytes"] == size
    assert stats["content_bytes"] < 100_000
    assert os.listdir(tmp_path / "spool") == []
    assert "ddbfs_spooled_bytes" in m.metrics()


def test_all_together_take_no_more_than_the_limit(mount, large, tmp_path):
    path, _ = large
    m = spooling(mount, tmp_path / "spool", "--spool-size", "6M")
    size = (m / f"{path}@jsonl").stat().st_size
    assert refused(m / f"{path}@csv:sk,note") == errno.ENOSPC
    told = m.errors()
    assert "would be larger than 6 MB together" in told and "raise the limit: --spool-size" in told
    stats = m.stats()
    assert stats["spooled_bytes"] == size and stats["spooled_most_bytes"] == 6 << 20


def test_a_large_cache_does_not_keep_it_in_memory(mount, large):
    """A quarter of the default is 64 MB."""
    m = mount()
    (m / f"{large[0]}@jsonl").stat()
    assert m.stats()["spooled_files"] == 1


def test_it_was_read_page_by_page_once(mount, large, tmp_path):
    path, _ = large
    m = spooling(mount, tmp_path / "spool")
    first = (m / f"{path}@jsonl").read_bytes()
    asked = m.counts()["Query"]
    assert (m / f"{path}@jsonl").read_bytes() == first and m.counts()["Query"] == asked


def test_without_a_folder_it_says_how_to_get_it(mount, large):
    path, names = large
    m = mount("--cache-size", "1M", "--spool", "no")
    assert refused(m / f"{path}@jsonl") == errno.EFBIG
    told = m.errors()
    assert "ddbfs cat" in told and "--cache-size" in told and "--spool DIR" in told
    assert (m / f"{path}@count").read_text("utf-8") == f"{len(names)}\n"


def test_files_that_are_made_at_once_need_no_memory_for_all(mount, branch, proxy, tmp_path):
    """12 files of 3 MB, where 8 MB may be held for those that are being made."""
    path, _ = branch.put_jobs(10, padding=300_000)
    names = [f"{path}@csv:note,none{number}" for number in range(12)]
    all_asked = threading.Event()
    proxy.fault("delay", op="Query", seconds=60, until=lambda _: all_asked.is_set())
    m = mount("--cache-size", "16M", "--timeout", "90", "--spool", tmp_path)
    with concurrent.futures.ThreadPoolExecutor(len(names)) as pool:
        reads = [pool.submit((m / name).read_bytes) for name in names]
        mounts.wait_until(lambda: len(m.stats()["waiting"]) == len(names), "all readers")
        all_asked.set()
        assert all(read.result().count(b"\n") == 1 + 10 for read in reads)
    assert m.stats()["spooled_files"] > 0


def test_a_secret_is_masked_there(mount, branch, tmp_path):
    branch.put("shops", [{"pk": {"S": "SHOP#a.myshopify.com"}, "sk": {"S": f"USER#{number}"}, "access_token":
                {"S": "shpat_1"}, "note": {"S": "x" * PADDING}} for number in range(40)])  # fmt: skip
    path = f"{branch.name}/shops/a.myshopify.com@jsonl"
    m = spooling(mount, tmp_path / "spool")
    text = (m / path).read_text("utf-8")
    assert m.stats()["spooled_files"] == 1 and "shpat_" not in text and text.count("\n") == 40


def test_an_unmasked_secret_never_goes_there(mount, branch, tmp_path):
    branch.put("shops", [{"pk": {"S": "SHOP#a.myshopify.com"}, "sk": {"S": f"USER#{number}"}, "access_token":
                {"S": "shpat_1"}, "note": {"S": "x" * PADDING}} for number in range(40)])  # fmt: skip
    m = spooling(mount, tmp_path / "spool", "--show-secrets")
    assert refused(m / f"{branch.name}/shops/a.myshopify.com@jsonl") == errno.EFBIG
    assert "its secrets must not be written to a temporary file" in m.errors()


@NEEDS_ROOT
def test_a_full_disk_is_an_error_that_says_so(mount, large, tmp_path):
    path, _ = large
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "ddbfs-test", disk], check=True)
    try:
        m = spooling(mount, disk, "--spool-size", "1G")
        assert refused(m / f"{path}@jsonl") == errno.ENOSPC
        told = m.errors()
        assert str(disk) in told and "--spool" in told and "No space left" in told
        assert os.statvfs(disk).f_bfree == os.statvfs(disk).f_blocks, "what was written is gone"
        subprocess.run(["mount", "-o", "remount,size=8m", disk], check=True)
        assert (m / f"{path}@jsonl").read_bytes().count(b"\n") == COUNT
        m.unmount()
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


def test_a_limit_of_the_size_of_files_is_an_error_that_says_so(mount, large, tmp_path):
    path, _ = large
    m = spooling(mount, tmp_path / "spool")
    before = resource.prlimit(m.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(m.pid, resource.RLIMIT_FSIZE, (1_000_000, before[1]))
    assert refused(m / f"{path}@jsonl") == errno.ENOSPC
    assert "File too large" in m.errors() and "ulimit -f" in m.errors()
    resource.prlimit(m.pid, resource.RLIMIT_FSIZE, before)
    assert (m / f"{path}@jsonl").read_bytes().count(b"\n") == COUNT


def test_a_folder_that_cannot_be_used_ends_the_start(ddbfs, tmp_path):
    (tmp_path / "mnt").mkdir()
    done = ddbfs("mount", "--spool", tmp_path / "none", tmp_path / "mnt", expect=1)
    assert str(tmp_path / "none") in done.stderr and "No such file" in done.stderr and "free space" not in done.stderr


def test_the_default_is_the_cache_folder(mount, large, tmp_path):
    path, _ = large
    cache = tmp_path / "cache"
    cache.mkdir()
    m = mount("--cache-size", "1M", env={"XDG_CACHE_HOME": str(cache)})
    with open(m / f"{path}@jsonl", "rb"):
        held = [os.readlink(f"/proc/{m.pid}/fd/{each}") for each in os.listdir(f"/proc/{m.pid}/fd")]
        assert any(each.startswith(f"{cache}/") and each.endswith("(deleted)") for each in held)


def test_a_new_version_is_a_new_file_and_the_old_one_is_readable_while_it_is_open(mount, branch, tmp_path):
    path, names = branch.put_jobs(60, padding=PADDING)
    m = spooling(mount, tmp_path / "spool")
    with open(m / f"{path}@jsonl", "rb", buffering=0) as before:
        size = os.fstat(before.fileno()).st_size
        branch.put_jobs(61, padding=PADDING)
        m.refresh(f"{path}@jsonl")
        assert (m / f"{path}@jsonl").read_bytes().count(b"\n") == 61
        assert m.stats()["spooled_files"] == 2
        old = b"".join(os.pread(before.fileno(), 100_000, at) for at in range(0, size, 100_000))
        assert old.count(b"\n") == 60
    mounts.wait_until(lambda: m.stats()["spooled_files"] == 1, "the disk space of the old one")


def test_disk_space_is_free_when_the_time_of_a_name_is_over(mount, branch, make_map, tmp_path):
    path, _ = branch.put_jobs(60, padding=PADDING)
    brief = make_map(lambda text: text.replace('"mtime"', '"ttl": 1, "mtime"'))
    m = spooling(mount, tmp_path / "spool", map_file=brief)
    with open(m / f"{path}@jsonl", "rb", buffering=0) as file:
        digest = hashlib.sha256(file.read()).digest()
        time.sleep(8)  # two rounds
        assert m.stats()["spooled_files"] == 1, "it is open"
        assert hashlib.sha256(b"".join(os.pread(file.fileno(), 1 << 20, at) for at in (0, 1 << 20))).digest() == digest
    mounts.wait_until(lambda: m.stats()["spooled_files"] == 0, "the disk space")


def test_a_long_listing_has_a_deadline_for_each_page(mount, large, proxy, tmp_path):
    """All pages together take longer than a caller waits for one."""
    path, _ = large
    m = spooling(mount, tmp_path / "spool", "--timeout", "2")
    proxy.fault("delay", op="Query", seconds=1.3, times=99)
    began = time.monotonic()
    assert (m / f"{path}@jsonl").read_bytes().count(b"\n") == COUNT
    assert time.monotonic() - began > 6, "the test has not waited long enough to show anything"
