"""ddbfs refresh and SIGHUP, on this kernel and on one that knows no epochs; what they cost others,
and the end in the midst of one."""

import os
import re
import signal
import subprocess
import sys

import pytest

from harness import mounts

SHOP = "prod/shops/cool-store.myshopify.com"
SETTINGS = f"{SHOP}/SETTINGS"
API_KEY = f"{SHOP}/API_KEY"
NEEDS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root may")
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def long_lived(text):
    """A map whose records are good for an hour: no test is a matter of time."""
    return re.sub(r'("table":\s*"\w+",)', r'\1 "ttl": 3600,', text)


def know_directories(m, count):
    """Makes the kernel know so many names; no request is needed for them."""
    for number in range(count):
        os.stat(m / f"prod/shops/s{number}.example")


def start_refresh(m, path=""):
    return m.ddbfs.start("refresh", m.root / path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


# What is forgotten, and what is not.


def test_many_names_are_forgotten(mount, branch, kernel):
    paths = [branch.put_settings(f"s{n}.example", text="old") for n in range(100)]
    m = mount(env=kernel)
    assert all(b"old" in (m / path).read_bytes() for path in paths)
    for n in range(100):
        branch.put_settings(f"s{n}.example", text="new")
    m.refresh(f"{branch.name}/shops")
    assert all(b"new" in (m / path).read_bytes() for path in paths)


# What there is not.


@pytest.mark.parametrize("path", ["prodd", "prod/jobz/x", "prod/jobs/by-id/x/y", "prod/jobs/by-it"])
def test_a_path_that_the_map_does_not_have_is_told(mount, path):
    m = mount()
    result = m.refresh(path, expect=3)
    assert result.stderr == (
        f"ddbfs: {m.root / path}: the map has no such path; nothing was dropped\n"
    )
    assert m.counts() == {}


def test_a_value_that_the_map_refuses_is_told(mount):
    said = mount().refresh("prod/jobs/by-index/shopify/cool-store.myshopify.com", expect=1).stderr
    assert "the map refuses a name in it" in said


@pytest.mark.parametrize("path", ["", ".ddbfs", ".ddbfs/errors", f"{SHOP}/NOPE", f"{SETTINGS}@info"])
def test_whether_a_record_is_there_is_not_asked(mount, path):
    m = mount()
    assert m.refresh(path).stderr == ""
    assert m.counts() == {}


def test_a_miss_is_no_worse_than_a_failure(mount, tmp_path):
    m = mount()
    m.ddbfs("refresh", m / "nope", tmp_path, expect=1)
    m.ddbfs("refresh", tmp_path, m / "nope", expect=1)
    m.ddbfs("refresh", m / "nope", m / "prod", expect=3)


def test_a_refresh_of_one_record_costs_the_others_nothing(mount, branch, make_map, kernel):
    paths = [branch.put_settings(f"s{n}.example", text="old") for n in range(10)]
    own = make_map(long_lived)
    m = mount(env=kernel, map_file=own)
    for path in paths:
        (m / path).read_bytes()
    m.proxy.clear()
    branch.put_settings("s0.example", text="new")
    m.refresh(paths[0])
    m.proxy.clear()
    assert all(b"old" in (m / path).read_bytes() for path in paths[1:])
    assert m.counts() == {}
    assert b"new" in (m / paths[0]).read_bytes()


# What the command itself costs.


def ways_to(m, path, tmp_path):
    """PATH of the mount as people may name it, and the folder where they stand."""
    link = tmp_path / "link"
    (tmp_path / "to-mount").symlink_to(m.root)
    (tmp_path / "relative").symlink_to("to-mount")
    link.symlink_to(m / path)
    above, name = os.path.split(path)
    yield m / path, None
    yield f"{m.root}/prod/../{path}//", None
    yield f"{m.root}/../{m.root.name}/./{path}", None
    yield link, None
    yield f"relative/{path}", tmp_path
    yield name, m / above
    yield f"../{os.path.basename(above)}/{name}", m / above


def test_a_refresh_asks_for_nothing(mount, ddbfs, tmp_path):
    m = mount()
    for path, folder in ways_to(m, SETTINGS, tmp_path):
        assert ddbfs("refresh", path, cwd=folder).code == 0
    assert m.counts() == {}


def test_each_way_leads_to_the_record(mount, ddbfs, branch, tmp_path):
    path = branch.put_settings(text="0")
    m = mount()
    for number, (way, folder) in enumerate(ways_to(m, path, tmp_path)):
        os.stat(m / path)
        branch.put_settings(text=f"number {number}")
        ddbfs("refresh", way, cwd=folder)
        assert f"number {number}".encode() in (m / path).read_bytes(), way


def test_a_refresh_of_a_record_needs_no_service(mount, proxy):
    m = mount("--timeout", "60")
    proxy.fault("delay", times=None, seconds=60)
    m.refresh(SETTINGS)
    assert not proxy.requests


@pytest.mark.parametrize("path", ["", "loop"])
def test_a_path_that_leads_into_no_mount(ddbfs, tmp_path, path):
    (tmp_path / "loop").symlink_to("loop")
    assert "not in a live mount" in ddbfs("refresh", tmp_path / path, expect=1).stderr


def test_a_path_of_the_tree_is_one_of_the_only_mount(mount, ddbfs, branch):
    """With a slash in front and without; of two mounts one has to be named, or stood in."""
    path = branch.put_settings(text="old")
    said = ddbfs("refresh", f"/{path}", expect=1).stderr
    assert said == "ddbfs: there is no mount of ddbfs; make one: ddbfs mount MOUNTPOINT\n"
    m = mount()
    for number, spelt in enumerate([f"/{path}", path, f"/{os.path.dirname(path)}/"]):
        (m / path).read_bytes()
        branch.put_settings(text=f"new {number}")
        ddbfs("refresh", spelt)
        assert f"new {number}".encode() in (m / path).read_bytes()
    assert "the map has no such path" in ddbfs("refresh", "/nope", expect=3).stderr
    mount()
    assert "there are several mounts" in ddbfs("refresh", f"/{path}", expect=1).stderr
    ddbfs("refresh", f"/{path}", cwd=m.root)


def test_no_path_at_all_is_not_where_one_stands(mount, ddbfs):
    assert "not in a live mount" in ddbfs("refresh", "", cwd=mount().root, expect=1).stderr


# Others.


def test_a_slow_lookup_and_a_refresh_keep_nobody_out(mount, proxy, kernel):
    """The kernel holds a directory while it waits for one of its names."""
    m = mount("--timeout", "60", env=kernel)
    os.stat(m / SETTINGS)
    proxy.fault("delay", times=1, seconds=60)
    slow = subprocess.Popen(["cat", m / API_KEY], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    mounts.wait_until(lambda: len(proxy.requests) == 2, "the slow look-up")
    m.refresh(SETTINGS)
    assert not (m / SHOP / ".git").exists() and (m / SETTINGS).read_bytes()
    if kernel:
        said = slow.communicate()
        assert b"API_KEY" in said[0], (said, proxy.ops, m.log())
    slow.kill()
    slow.communicate()


def test_a_slow_listing_does_not_keep_a_refresh(mount, proxy):
    """On older kernels it does, until the listing's page has come."""
    m = mount("--timeout", "60")
    os.stat(m / SETTINGS)
    proxy.fault("delay", times=1, seconds=60)
    slow = subprocess.Popen(["ls", m / SHOP], **QUIET)
    mounts.wait_until(lambda: len(proxy.requests) == 2, "the slow listing")
    m.refresh(SETTINGS)
    assert slow.poll() is None and (m / SETTINGS).read_bytes()
    slow.kill()
    slow.wait()


# Bounds.


def test_a_refresh_is_broken_off_at_the_deadline(mount, old_kernel):
    m = mount("--timeout", "1", env=old_kernel(name_ms=100))
    know_directories(m, 300)
    assert "timed out" in m.refresh(expect=1).stderr
    mounts.wait_until(lambda: "took too long and was cancelled" in m.log(), "the reason")
    assert (m / SETTINGS).read_bytes()


LOOK_UP = """
import itertools, os, sys
for n in itertools.count():
    try: os.stat(f"{sys.argv[1]}/prod/shops/{os.getpid()}-{n}")
    except OSError: break
"""


def test_the_end_does_not_wait_for_a_refresh(mount, kernel):
    """It was 79 s: each of the names waited for a directory that others look into."""
    m = mount(env=kernel)
    know_directories(m, 20000)
    loops = [subprocess.Popen([sys.executable, "-c", LOOK_UP, m.root]) for _ in range(4)]
    refresh = start_refresh(m)
    ended = lambda: mounts.has_ended(refresh.pid)  # noqa: E731
    mounts.wait_until(lambda: ended() or "asked to forget" in m.log(), "the refresh")
    m.signal(signal.SIGTERM)
    assert m.wait() == 0 and not mounts.is_mounted(m.root)
    refresh.communicate()
    assert [loop.wait() for loop in loops] == [0] * 4


def test_the_end_gives_up_a_thread_that_does_not_return(mount, old_kernel):
    m = mount(env=old_kernel(stuck="for ever"))
    m.exit_code = 1
    know_directories(m, 1)
    refresh = start_refresh(m)
    mounts.wait_until(lambda: "asked to forget" in m.log(), "the refresh")
    m.signal(signal.SIGTERM)
    assert m.wait() == 1 and not mounts.is_mounted(m.root)
    refresh.communicate()


@NEEDS_ROOT
def test_the_end_aborts_the_connection_when_nothing_else_helps(mount, old_kernel):
    m = mount(env=old_kernel(stuck="until it is aborted"))
    know_directories(m, 1)
    refresh = start_refresh(m)
    mounts.wait_until(lambda: "asked to forget" in m.log(), "the refresh")
    m.signal(signal.SIGTERM)
    assert m.wait() == 0 and not mounts.is_mounted(m.root)
    refresh.communicate()
