"""The mount under load: memory, single flight, many processes at once, a daemon that is killed."""

import errno
import os
import pathlib
import shutil
import signal
import subprocess
import threading
import uuid

import pytest

from harness import mounts, places, runner
from mount_model import things

BOX = "big"
MEGABYTE = 1 << 20


@pytest.fixture
def make_things(boto, table, tmp_path):
    """make_things(count, size): a table with so many records; their map's file."""

    def make(count, size=0, ttl_s=300):
        items = (things.typed(BOX, f"n{i:05d}", i, "p" * size) for i in range(count))
        name = table(things.description(), items)
        return things.write_map(tmp_path / f"{uuid.uuid4().hex}.json", name, ttl_s)

    return make


def paths(mount, count):
    return [mount / f"m/things/{BOX}/n{i:05d}" for i in range(count)]


def read_all_at_once(wanted):
    """Starts one process a path, all held until the last is there; their outputs."""
    script = 'read -r go; cat "$0"'
    made = [
        subprocess.Popen(
            ["sh", "-c", script, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for path in wanted
    ]
    for process in made:
        process.stdin.write("\n")
        process.stdin.close()
    outputs = [process.stdout.read() for process in made]
    assert all(process.wait(60) == 0 for process in made)
    return outputs


QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}

# Memory.

READ_MEGABYTES = 40
RECORD = 200_000


def bound(cache):
    """--cache-size, half as much again for what an allocator loses between large pieces, and a
    constant: the daemon at rest with its libraries, and pages of 1 MB on each of its connections
    as they are parsed and rendered. It does not grow with what is read."""
    return cache * 3 // 2 + 24 * MEGABYTE


def fresh_release(ddbfs_release):
    if ddbfs_release.binary == places.program("DDBFS", "build-asan/fs/ddbfs", "build/fs/ddbfs"):
        pytest.skip("memory is looked at without sanitizers: DDBFS_RELEASE names such a program")
    return ddbfs_release


@pytest.mark.parametrize("cache", [4, 16])
def test_memory_is_bounded_by_cache_size_however_much_is_read(
    mount, make_things, ddbfs_release, cache
):
    count = READ_MEGABYTES * MEGABYTE // RECORD
    map_file = make_things(count, RECORD)
    program = fresh_release(ddbfs_release)
    live = mount("--cache-size", f"{cache}M", map_file=map_file, program=program)
    for path in paths(live, count):
        things.read_plain(path.read_bytes())
    stats = live.stats()
    print(f"--cache-size {cache}M, {READ_MEGABYTES} MB read:", stats)
    assert stats["cache_bytes"] + stats["content_bytes"] <= cache * MEGABYTE
    assert stats["resident_bytes"] <= bound(cache * MEGABYTE)


def peak_bytes(mount):
    """The most that the daemon has ever had resident."""
    lines = pathlib.Path(f"/proc/{mount.pid}/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def test_memory_is_bounded_while_a_listing_brings_the_records(mount, make_things, ddbfs_release):
    """The listing comes in pages of 1 MB; never more than the bound is resident."""
    count = READ_MEGABYTES * MEGABYTE // RECORD
    map_file = make_things(count, RECORD)
    live = mount("--cache-size", "4M", map_file=map_file, program=fresh_release(ddbfs_release))
    assert len(os.listdir(live / f"m/things/{BOX}")) == count
    stats = live.stats()
    print("listed:", stats, "peak", peak_bytes(live))
    assert stats["cache_bytes"] + stats["content_bytes"] <= 4 * MEGABYTE
    assert peak_bytes(live) <= bound(4 * MEGABYTE)


def test_memory_is_bounded_while_a_listing_is_hydrated(mount, make_things, ddbfs_release):
    count = READ_MEGABYTES * MEGABYTE // RECORD
    map_file = make_things(count, RECORD)
    live = mount("--cache-size", "4M", map_file=map_file, program=fresh_release(ddbfs_release))
    assert len(os.listdir(live / f"m/things/by-tag/{BOX}")) == count
    stats = live.stats()
    print("hydrated:", stats, "peak", peak_bytes(live))
    # One answer of the service, of up to 16 MB, is in hand: as it came, and as files.
    assert peak_bytes(live) <= bound(4 * MEGABYTE) + 3 * 16 * MEGABYTE


def test_listings_that_are_kept_hold_no_pages(mount, boto, table, tmp_path, ddbfs_release):
    """200 partitions of one record of 100 kB: 20 MB have come, and none of them is held."""
    items = (things.typed(f"b{i:03d}", "x", i, "p" * 100_000) for i in range(200))
    map_file = things.write_map(tmp_path / "many.json", table(things.description(), items), 300)
    live = mount("--cache-size", "1M", map_file=map_file, program=fresh_release(ddbfs_release))
    for i in range(200):
        assert os.listdir(live / f"m/things/b{i:03d}") == ["x"]
    assert live.counts() == {"Query": 200}
    print("kept:", live.stats(), "peak", peak_bytes(live))
    assert peak_bytes(live) <= bound(MEGABYTE)


# Single flight.


def test_a_hundred_cats_of_one_cold_record_are_one_request(mount, make_things, proxy):
    live = mount(map_file=make_things(1, 1000))
    proxy.fault("delay", op="GetItem", seconds=1.0)
    outputs = read_all_at_once(paths(live, 1) * 100)
    assert live.counts() == {"GetItem": 1}
    assert len(set(outputs)) == 1 and things.read_plain(outputs[0]) == ("n00000", 0)


def test_sixty_four_readers_of_different_keys_get_each_their_own(mount, make_things):
    live = mount(map_file=make_things(64, 1000))
    outputs = read_all_at_once(paths(live, 64))
    assert [things.read_plain(text) for text in outputs] == [(f"n{i:05d}", i) for i in range(64)]
    counts = live.counts()
    assert set(counts) <= {"GetItem", "BatchGetItem"} and sum(counts.values()) <= 64


def test_many_who_list_one_directory_are_one_query(mount, make_things, proxy):
    live = mount(map_file=make_things(50))
    proxy.fault("delay", op="Query", seconds=1.0)
    folder = live / f"m/things/{BOX}"
    made = [subprocess.Popen(["ls", folder], stdout=subprocess.PIPE, text=True) for _ in range(30)]
    outputs = {process.communicate(timeout=60)[0] for process in made}
    assert len(outputs) == 1 and len(outputs.pop().split()) == 50
    assert live.counts() == {"Query": 1}


# Many processes.

KINDS = (
    'cat "{0}" >/dev/null',
    'stat "{0}" >/dev/null',
    'cat "{0}@typed" >/dev/null',
    'cat "{0}@/version" >/dev/null',
    'ls -l "{1}" >/dev/null',
    'ls -f "{1}" | head -n 3 >/dev/null',
    'ls "{2}" >/dev/null',
    'grep -rl nothing "{1}" >/dev/null; true',
    'cat "{0}-missing" 2>/dev/null && false; true',
    "echo 2 >/proc/sys/vm/drop_caches",
)


def stress_lines(mount, count, kinds=KINDS):
    """Shell lines, each of which succeeds on a mount that is well."""
    wanted = paths(mount, 40)
    folders = mount / f"m/things/{BOX}", mount / f"m/things/by-tag/{BOX}"
    return [kinds[i % len(kinds)].format(wanted[i % 40], *folders) for i in range(count)]


def run_stress(lines, processes=16, timeout_s=150):
    command = ["xargs", "-0", "-P", str(processes), "-n", "1", "sh", "-c"]
    given = "\0".join(lines).encode()
    return subprocess.run(command, input=given, capture_output=True, timeout=timeout_s)


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def forgotten(mount):
    """Whether the kernel has let go of all but the directories that the look itself needs."""
    pathlib.Path("/proc/sys/vm/drop_caches").write_text("2")
    stats = mount.stats()
    # Left are the root, /.ddbfs and stats.json, and what remembers the names opened in it:
    # by-tag/, things/ and their parents.
    return stats["files"] <= 2 and stats["directories"] <= 6 and stats


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="drop_caches is for root")


@needs_root
def test_sixteen_processes_at_once_leave_neither_nodes_nor_descriptors(mount, make_things):
    """The sanitizers look on; what they say fails the test when the mount is cleaned up."""
    live = mount("--cache-size", "1M", map_file=make_things(40, 20_000, ttl_s=1))
    os.listdir(live / f"m/things/{BOX}")
    before = descriptors(live.pid)
    done = run_stress(stress_lines(live, 300))
    assert done.returncode == 0, done.stderr[:3000]
    mounts.wait_until(lambda: forgotten(live), "the kernel to forget")
    # Connections that are kept alive come and go; there may be 16. Of the callers seen last, 16 files of /proc stay open.
    assert descriptors(live.pid) <= before + 16 + 16


@needs_root
@pytest.mark.skipif(not shutil.which("valgrind"), reason="there is no valgrind")
def test_valgrind_finds_nothing_under_a_small_load(
    mount, make_things, ddbfs_release, tmp_path, home
):
    program = fresh_release(ddbfs_release)
    wrapper = tmp_path / "under-valgrind"
    report = tmp_path / "valgrind.txt"
    wrapper.write_text(
        "#!/bin/sh\nexec valgrind --quiet --leak-check=full --show-leak-kinds=definite "
        f'--error-exitcode=98 --log-file={report} {program.binary} "$@"\n'
    )
    wrapper.chmod(0o755)
    under = runner.Ddbfs(home, wrapper)
    live = mount("--timeout", "60", map_file=make_things(40, 5_000), program=under)
    done = run_stress(stress_lines(live, 60), processes=4)
    assert done.returncode == 0, done.stderr[:3000]
    assert live.unmount() == 0, report.read_text()
    assert report.read_text() == ""


# A daemon that ends under load.


def readers_in_background(mount, stop, seen):
    """Threads that look until they are told to stop, and note each errno that they met."""

    def run(number):
        wanted = paths(mount, 40)
        while not stop.is_set():
            try:
                path = wanted[number % 40]
                number += 1
                os.listdir(path.parent) if number % 7 == 0 else path.read_bytes()
            except OSError as problem:
                seen.add(problem.errno)

    threads = [threading.Thread(target=run, args=(n * 5,)) for n in range(8)]
    for thread in threads:
        thread.start()
    return threads


def test_a_daemon_killed_under_load_leaves_a_mount_that_says_so(mount, make_things, proxy):
    map_file = make_things(40, 1000, ttl_s=0)
    live, stop, seen = mount(map_file=map_file), threading.Event(), set()
    threads = readers_in_background(live, stop, seen)
    mounts.wait_until(lambda: len(proxy.ops) > 100, "load")
    live.exit_code = None
    live.signal(signal.SIGKILL)
    live.wait()
    mounts.wait_until(lambda: errno.ENOTCONN in seen, "ENOTCONN")
    stop.set()
    for thread in threads:
        thread.join(20)
    assert not any(thread.is_alive() for thread in threads)
    # What was under way when it died is aborted; what comes later finds nobody.
    assert seen <= {errno.ENOTCONN, errno.ECONNABORTED}
    subprocess.run(["fusermount3", "-u", str(live.root)], check=True)
    again = mount(map_file=map_file)
    assert things.read_plain(paths(again, 1)[0].read_bytes()) == ("n00000", 0)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_daemon_that_is_asked_to_end_under_load_ends_well(mount, make_things, proxy, number):
    live, stop, seen = mount(map_file=make_things(40, 1000, ttl_s=0)), threading.Event(), set()
    threads = readers_in_background(live, stop, seen)
    mounts.wait_until(lambda: len(proxy.ops) > 100, "load")
    live.signal(number)
    code = live.wait()
    stop.set()
    for thread in threads:
        thread.join(20)
    assert code == 0 and not any(thread.is_alive() for thread in threads)


# Refresh, while others wait for what is to be refreshed.


def test_a_refresh_of_all_ends_though_a_part_was_refreshed_before(mount, make_things):
    live = mount(map_file=make_things(1))
    paths(live, 1)[0].read_bytes()
    live.refresh("m/things")
    live.refresh("m")
    live.refresh()
    live.refresh(f"m/things/{BOX}")
    assert live.unmount() == 0


def test_a_refresh_makes_a_missing_name_be_asked_for_again(mount, make_things, boto):
    map_file = make_things(1)
    live = mount(map_file=map_file)
    path = live / f"m/things/{BOX}/new"
    assert not path.exists()
    name = next(t for t in boto.list_tables()["TableNames"] if things_in(map_file, t))
    boto.put_item(TableName=name, Item=things.typed(BOX, "new", 7, ""))
    live.refresh(f"m/things/{BOX}/new")
    assert things.read_plain(path.read_bytes()) == ("new", 7)


def things_in(map_file, table):
    return f'"{table.removeprefix("model-")}"' in map_file.read_text()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_refresh_waits_for_no_look_up_that_nobody_answers(mount, make_things, proxy, number):
    """Look-ups of one directory wait for the server, a refresh waits for them, and the daemon is
    told to end, or to read its map again: it does."""
    live = mount(map_file=make_things(40))
    folder = live / f"m/things/{BOX}"
    folder.stat()
    paths(live, 1)[0].read_bytes()
    held = proxy.fault("delay", times=None, seconds=3)
    cats = [subprocess.Popen(["cat", path], **QUIET) for path in paths(live, 20)[1:]]
    mounts.wait_until(lambda: held.met, "a request")
    refresh = live.ddbfs.start("refresh", folder, **QUIET)
    live.signal(number)
    if number == signal.SIGHUP:
        mounts.wait_until(lambda: refresh.poll() is not None, "the refresh")
        live.signal(signal.SIGTERM)
    assert live.wait() == 0
    for process in [*cats, refresh]:
        process.wait(30)


def test_a_new_map_leaves_a_listing_under_way_alone(mount, make_things, proxy):
    """The directory's place is found anew by SIGHUP while its pages still come."""
    live = mount(map_file=make_things(30))
    proxy.fault("page_size", times=None, items=3)
    proxy.fault("delay", times=None, seconds=0.1)
    with os.scandir(live / f"m/things/{BOX}") as scan:
        names = [next(scan).name]
        live.signal(signal.SIGHUP)
        names += [entry.name for entry in scan]
    assert sorted(names) == [f"n{i:05d}" for i in range(30)]
    proxy.heal()
    assert things.read_plain(paths(live, 1)[0].read_bytes()) == ("n00000", 0)


def test_a_name_beyond_255_bytes_is_too_long(mount, make_things):
    live = mount(map_file=make_things(1))
    for folder in ("", "m", "m/things", f"m/things/{BOX}", ".ddbfs"):
        with pytest.raises(OSError) as caught:
            os.stat(live / folder / ("x" * 256))
        assert caught.value.errno == errno.ENAMETOOLONG
    os.listdir(live / "m")
    assert live.counts() == {}


def test_a_record_that_moves_while_it_is_listed_is_listed_once(mount, boto, table, tmp_path, proxy):
    """An index is read page by page; a record whose sort key grows comes on a later page again."""
    description = moving_description()
    items = [moving(i, f"a{i}") for i in range(10)]
    name = table(description, items)
    live = mount(map_file=moving_map(tmp_path / "moving.json", name))
    proxy.fault("page_size", times=None, items=2)
    with os.scandir(live / "m/moving/by-place") as scan:
        names = [next(scan).name]
        boto.put_item(TableName=name, Item=moving(0, "z"))
        names += [entry.name for entry in scan]
    assert sorted(n for n in names if n != "README") == [f"n{i}" for i in range(10)]


def moving(number, place):
    texts = {"pk": "B", "sk": f"T#n{number}", "tag": "B", "place": place}
    return {name: {"S": text} for name, text in texts.items()}


def moving_description():
    made = things.description()
    made["AttributeDefinitions"].append({"AttributeName": "place", "AttributeType": "S"})
    index = made["GlobalSecondaryIndexes"][0]
    index["IndexName"] = "by_place"
    index["KeySchema"][1]["AttributeName"] = "place"
    index["Projection"] = {"ProjectionType": "ALL"}
    return made


def moving_map(path, table):
    text = """{"environments": {"m": {"prefix": "model-", "profile": "controller",
        "region": "us-east-1"}}, "tables": {"moving": {"table": "%s", "records": {"thing":
        {"pk": "B", "sk": "T#{name}"}}, "indexes": {"by_place": {"partition": "tag", "sort":
        "place", "projects": "all"}}, "paths": {"by-place/": {"list": "thing", "index": "by_place",
        "where": {"tag": "B"}}}}}}"""
    path.write_text(text % table.removeprefix("model-"))
    return path
