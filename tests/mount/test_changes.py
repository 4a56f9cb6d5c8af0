"""tables/T/changes.jsonl in a mount: it grows while a program has it open, and the stream is released when
the last one closes it."""

import errno
import json
import os
import signal
import subprocess
import threading
import uuid

import pytest

from harness import mounts, runner, tables

pytestmark = pytest.mark.waits

BARE = {"DDBFS_MAP": None}
LARGE = 300_000
MOST_BYTES = 8 << 20


class Things:
    """A table with a stream, and its changes.jsonl in a mount without a map."""

    def __init__(self, boto, name):
        self.boto = boto
        self.name = name

    def put(self, name, note="n"):
        self.boto.put_item(TableName=self.name, Item=tables.item(name, note))

    def file(self, m):
        return m / "tables" / self.name / "changes.jsonl"


@pytest.fixture
def make_things(boto, table):
    def make(view="NEW_AND_OLD_IMAGES"):
        schema = tables.plain()
        if view:
            schema["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": view}
        return Things(boto, table(schema, name=f"any-Things-{uuid.uuid4().hex[:12]}"))

    return make


@pytest.fixture
def things(make_things):
    made = make_things()
    made.put("zero")  # DynamoDB Local reports a gap at the first change of an empty stream
    return made


class Reader:
    """A program that has the file open, and reads on."""

    def __init__(self, path):
        self.fd = os.open(path, os.O_RDONLY)
        self.rest = b""

    def size(self):
        return os.fstat(self.fd).st_size

    def lines(self, count):
        """The next COUNT lines as objects."""

        def more():
            self.rest += os.read(self.fd, 1 << 20)
            return self.rest.count(b"\n") >= count

        mounts.wait_until(more, f"{count} lines")
        *lines, self.rest = self.rest.split(b"\n", count)
        return [json.loads(line) for line in lines]

    def close(self):
        os.close(self.fd)


def is_released(m, things):
    """Whether the ledger has the line of the follower, which is written at its end."""
    path = f"/tables/{things.name}/changes.jsonl"
    return any(json.loads(line)["path"] == path for line in (m / ".ddbfs/ledger.jsonl").read_text().splitlines())


def wait_for_release(m, things):
    mounts.wait_until(lambda: is_released(m, things), "the release of the stream")


@pytest.mark.parametrize("server", ["dynoxide", "dynamodb-local"], indirect=True)
def test_tail_f_prints_each_change(mount, things):
    m = mount(env=BARE)
    tail = subprocess.Popen(["tail", "-n", "+1", "-f", things.file(m)], stdout=subprocess.PIPE, text=True)
    mounts.wait_until(lambda: "GetRecords" in m.proxy.ops, "the first poll")
    notes = ["first", "second", "third"]
    for note in notes:
        things.put("one", note)
    lines = [json.loads(tail.stdout.readline()) for _ in notes]
    assert [line["new"]["note"] for line in lines] == notes
    assert [line["kind"] for line in lines] == ["INSERT", "MODIFY", "MODIFY"]
    assert json.loads((m / lines[0]["path"][1:]).read_bytes())["note"] == "third"
    tail.kill()
    tail.communicate()
    wait_for_release(m, things)


def test_it_grows_below_a_listing_of_tables(mount, things):
    """The listing makes the table's directory without its description, and the daemon crashed."""
    m = mount(env=BARE)
    assert things.name in [entry.name for entry in os.scandir(m / "tables")]
    reader = Reader(things.file(m))
    things.put("one", "first")
    assert reader.lines(1)[0]["new"]["note"] == "first"
    reader.close()


def test_it_is_released_after_a_kernel_without_memory(mount, things, old_kernel):
    m = mount(env=BARE | old_kernel(refuses=1))
    Reader(things.file(m)).close()
    wait_for_release(m, things)


def test_it_is_not_listed_and_opens(mount, things):
    m = mount(env=BARE)
    assert "changes.jsonl" not in os.listdir(things.file(m).parent)
    assert m.proxy.ops == ["DescribeTable"]
    reader = Reader(things.file(m))
    assert reader.size() == 0 and os.read(reader.fd, 10) == b""
    reader.close()


def test_a_reader_that_stays_sees_all_sizes(mount, things):
    """Lines of any length, over the borders of pages, and read in pieces as the file grows."""
    m = mount(env=BARE)
    reader = Reader(things.file(m))
    for number in range(40):
        things.put("one", "x" * (number * 397 % 5000))
        [line] = reader.lines(1)
        assert line["new"]["note"] == "x" * (number * 397 % 5000)
    assert reader.size() == os.lseek(reader.fd, 0, os.SEEK_CUR)
    whole = os.pread(reader.fd, reader.size(), 0)
    assert len(whole) == reader.size() and whole.count(b"\n") == 40
    reader.close()


def test_the_stream_is_released_with_the_last_reader(mount, things):
    m = mount(env=BARE)
    first, second = Reader(things.file(m)), Reader(things.file(m))
    assert m.proxy.ops.count("GetShardIterator") == 1
    things.put("one")
    assert first.lines(1) == second.lines(1)
    first.close()
    things.put("two")
    assert second.lines(1)[0]["keys"]["sk"] == "two"
    assert not is_released(m, things)
    second.close()
    wait_for_release(m, things)
    m.proxy.clear()
    again = Reader(things.file(m))
    assert again.size() == 0 and "DescribeStream" in m.proxy.ops
    again.close()


def test_a_look_without_a_reader_releases_it_too(mount, things):
    m = mount(env=BARE)
    assert os.stat(things.file(m)).st_size == 0
    wait_for_release(m, things)


def test_a_later_reader_sees_what_the_first_one_sees(mount, things):
    m = mount(env=BARE)
    first = Reader(things.file(m))
    things.put("one")
    lines = first.lines(1)
    second = Reader(things.file(m))
    assert os.fstat(second.fd).st_ino == os.fstat(first.fd).st_ino
    assert second.lines(1) == lines
    first.close()
    second.close()


def test_the_oldest_lines_are_dropped_and_no_offset_moves(mount, things):
    m = mount(env=BARE)
    slow, quick = Reader(things.file(m)), Reader(things.file(m))
    for number in range(20):
        things.put("one", f"{number:02d}" + "x" * LARGE)
        assert quick.lines(1)[0]["new"]["note"][:2] == f"{number:02d}"
    assert slow.size() > MOST_BYTES
    with pytest.raises(OSError) as raised:
        os.pread(slow.fd, 100, 0)
    assert raised.value.errno == errno.ESTALE
    assert "MB behind" in m.errors()
    late = Reader(things.file(m))
    assert 0 < late.size() <= MOST_BYTES
    first = late.lines(1)[0]
    assert first["kind"] == "MODIFY" and int(first["new"]["note"][:2]) > 1
    things.put("two")
    assert quick.lines(1)[0]["keys"]["sk"] == "two"
    assert json.loads(things.file(m).read_bytes().splitlines()[-1])["keys"]["sk"] == "two"
    for each in (slow, quick, late):
        each.close()
    wait_for_release(m, things)


def test_without_memory_older_lines_make_room(mount, things):
    """No line is missing for a reader that keeps up; one that does not gets an error, and not zero bytes."""
    least = f"{runner.SANITIZERS['ASAN_OPTIONS']}:allocator_may_return_null=1:max_allocation_size_mb=2"
    m = mount(env=BARE | {"ASAN_OPTIONS": least})
    slow, quick = Reader(things.file(m)), Reader(things.file(m))
    for number in range(10):
        things.put("one", f"{number:02d}" + "x" * LARGE)
        assert quick.lines(1)[0]["new"]["note"][:2] == f"{number:02d}"
    with pytest.raises(OSError) as raised:
        os.pread(slow.fd, 100, 0)
    assert raised.value.errno == errno.ESTALE and "no longer in memory" in m.errors()
    slow.close()
    quick.close()


def test_a_table_without_a_stream_is_an_error_with_its_reason(mount, make_things):
    m = mount(env=BARE)
    things = make_things(view=None)
    with pytest.raises(OSError) as raised:
        os.open(things.file(m), os.O_RDONLY)
    assert raised.value.errno == errno.ENODEV
    command = f"aws dynamodb update-table --table-name {things.name} --stream-specification"
    assert command in m.errors() and "--region us-east-1" in m.errors()


def test_a_denied_stream_is_an_error(mount, things, proxy):
    m = mount(env=BARE)
    for op in ("DescribeStream", "GetShardIterator"):
        proxy.fault("denied", op=op)
        with pytest.raises(PermissionError):
            os.open(things.file(m), os.O_RDONLY)
        assert f"dynamodb:{op}" in m.errors()


def test_a_stream_that_is_denied_later_ends_in_a_line(mount, things, proxy):
    m = mount(env=BARE)
    reader = Reader(things.file(m))
    fault = proxy.fault("denied", op="GetRecords", times=None)
    [line] = reader.lines(1)
    assert line["kind"] == "end" and "dynamodb:GetRecords" in line["text"]
    assert "dynamodb:GetRecords" in m.errors()
    proxy.heal()
    again = Reader(things.file(m))
    things.put("one")
    assert fault and again.lines(1)[0]["kind"] == "INSERT"
    reader.close()
    again.close()


def test_lost_changes_are_a_line(mount, things, proxy):
    m = mount(env=BARE)
    reader = Reader(things.file(m))
    things.put("one")
    reader.lines(1)
    proxy.fault("error", op="GetRecords", code="TrimmedDataAccessException", message="the data was trimmed")
    line = reader.lines(1)[-1]
    assert line["kind"] == "gap" and line["path"] == f"/tables/{things.name}"
    reader.close()


def test_trouble_is_recorded_and_nothing_is_lost(mount, things, proxy):
    m = mount("--timeout", "1", env=BARE)
    reader = Reader(things.file(m))
    proxy.fault("server_error", op="GetRecords", times=None)
    things.put("one")
    mounts.wait_until(lambda: "changes.jsonl" in m.errors(), "the failure")
    proxy.heal()
    assert reader.lines(1)[0]["keys"]["sk"] == "one"
    reader.close()


def test_an_open_that_waits_can_be_interrupted(mount, things, proxy):
    m = mount(env=BARE)
    os.listdir(things.file(m).parent)
    go_on = threading.Event()
    proxy.fault("delay", op="DescribeStream", seconds=60, until=lambda _: go_on.is_set())
    cat = subprocess.Popen(["cat", things.file(m)], stderr=subprocess.PIPE)
    mounts.wait_until(lambda: "DescribeStream" in proxy.ops, "the description")
    cat.send_signal(signal.SIGINT)
    assert cat.wait(30) == -signal.SIGINT
    go_on.set()
    cat.stderr.close()
    reader = Reader(things.file(m))
    things.put("one")
    assert reader.lines(1)[0]["kind"] == "INSERT"
    reader.close()


def test_a_snapshot_has_none(mount, ddbfs, things, tmp_path):
    snapshot = tmp_path / "one.ddb"
    ddbfs("ls", "--record", snapshot, f"/tables/{things.name}/items/box", env=BARE)
    m = mount("--snapshot", str(snapshot), env=BARE)
    with pytest.raises(FileNotFoundError):
        os.open(things.file(m), os.O_RDONLY)


def test_it_is_priced_by_requests_in_the_ledger(mount, things):
    m = mount(env=BARE)
    reader = Reader(things.file(m))
    things.put("one")
    reader.lines(1)
    reader.close()
    wait_for_release(m, things)
    lines = [json.loads(line) for line in (m / ".ddbfs/ledger.jsonl").read_text().splitlines()]
    [line] = [line for line in lines if line["path"].endswith("changes.jsonl")]
    assert line["requests"] >= 4 and line["units"] == 0 and line["program"]


def test_other_files_are_opened_without_a_request(mount, things):
    """The kernel still opens files by itself, also after a file that grows."""
    m = mount(env=BARE)
    reader = Reader(things.file(m))
    path = m / "tables" / things.name / "items/box/zero"
    assert json.loads(path.read_bytes())["note"] == "n"
    m.proxy.clear()
    for _ in range(3):
        assert json.loads(path.read_bytes())["note"] == "n"
    assert set(m.proxy.ops) <= {"GetRecords"}
    reader.close()


def test_a_live_mount_has_it_too(mount, things):
    m = mount("--live", env=BARE)
    reader = Reader(things.file(m))
    path = m / "tables" / things.name / "items/box/one"
    things.put("one", "m")
    assert reader.lines(1)[0]["new"]["note"] == "m"
    assert json.loads(path.read_bytes())["note"] == "m"
    reader.close()
    wait_for_release(m, things)


def test_tail_takes_paths_below_the_mount(mount, ddbfs, things):
    m = mount(env=BARE)
    things.put("one", "m")
    done = ddbfs("tail", "--oldest", "--limit", "2", things.file(m).parent)
    assert [line.partition(" ")[2] for line in done.text.splitlines()] == [
        'INSERT items/box/zero   +note: "n"',
        'INSERT items/box/one   +note: "m"',
    ]
