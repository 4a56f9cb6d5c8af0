"""schema.json, ttl.json, backups.json and exports.json in a mount without a map, and partition keys with
--allow-scan."""

import errno
import json
import os
import subprocess

import pytest

from harness import tables

BARE = {"DDBFS_MAP": None}
CONTINUOUS = {"ContinuousBackupsStatus": "DISABLED"}


@pytest.fixture
def things(table):
    return table(tables.plain(), [{"pk": {"S": box}, "sk": {"S": "one"}} for box in ("a", "b/c")])


def can(proxy, op, answer):
    return proxy.fault("canned", op=op, times=None, answer=lambda _body: answer)


def test_they_are_there_with_exact_sizes(mount, proxy, things):
    can(proxy, "DescribeTimeToLive", {"TimeToLiveDescription": {"TimeToLiveStatus": "DISABLED"}})
    can(proxy, "ListBackups", {"BackupSummaries": []})
    can(proxy, "DescribeContinuousBackups", {"ContinuousBackupsDescription": CONTINUOUS})
    can(proxy, "ListExports", {"ExportSummaries": []})
    table = mount(env=BARE) / "tables" / things
    for name in ("schema.json", "ttl.json", "backups.json", "exports.json"):
        assert os.stat(table / name).st_size == len((table / name).read_bytes())
    assert json.loads((table / "schema.json").read_bytes())["TableName"] == things
    assert {"schema.json"} == {name for name in os.listdir(table) if name.endswith(".json")}
    counts = {op: proxy.ops.count(op) for op in set(proxy.ops)}
    assert counts == {
        "DescribeTable": 1,
        "DescribeTimeToLive": 1,
        "ListBackups": 1,
        "DescribeContinuousBackups": 1,
        "ListExports": 1,
    }, "once a minute, however often they are read"


def test_what_can_not_be_read_bothers_nobody_else(mount, proxy, things):
    """`ls -l` is well, and the reason stands in /.ddbfs/errors."""
    proxy.fault("error", op="ListBackups", code="UnknownOperationException", times=None)
    can(proxy, "DescribeContinuousBackups", {"ContinuousBackupsDescription": CONTINUOUS})
    can(proxy, "DescribeTimeToLive", {"TimeToLiveDescription": {"TimeToLiveStatus": "DISABLED"}})
    m = mount(env=BARE)
    table = m / "tables" / things
    done = subprocess.run(["ls", "-l", table], capture_output=True, text=True, check=True)
    assert "schema.json" in done.stdout and done.stderr == ""
    assert proxy.ops == ["DescribeTable"]
    with pytest.raises(OSError) as raised:
        (table / "backups.json").read_bytes()
    assert raised.value.errno == errno.EINVAL
    assert "does not know ListBackups" in m.errors()


def test_a_server_without_exports_bothers_no_program_that_walks(mount, proxy, things):
    """The local server's own answer: find, grep and ls never look the file up, because it is not listed."""
    m = mount(env=BARE)
    table = m / "tables" / things
    for command in (["ls", "-l", table], ["find", table, "-maxdepth", "1"]):
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert "schema.json" in done.stdout and "exports.json" not in done.stdout and done.stderr == ""
    subprocess.run(["grep", "-rs", "x", table], capture_output=True)
    assert "ListExports" not in proxy.ops
    with pytest.raises(OSError) as raised:
        (table / "exports.json").read_bytes()
    assert raised.value.errno == errno.EINVAL and "does not know ListExports" in m.errors()


def test_another_answer_is_another_file(mount, proxy, things):
    """A file that is open stays as it was; the name leads to the new one."""
    fault = can(proxy, "DescribeTimeToLive", {"TimeToLiveDescription": {"TimeToLiveStatus": "DISABLED"}})
    m = mount(env=BARE)
    path = m / "tables" / things / "ttl.json"
    with open(path, "rb") as before:
        fault.options["answer"] = lambda _body: {"TimeToLiveDescription": {"TimeToLiveStatus": "ENABLED"}}
        m.refresh()
        assert json.loads(path.read_bytes()) == {"TimeToLiveStatus": "ENABLED"}
        assert json.loads(before.read()) == {"TimeToLiveStatus": "DISABLED"}
        assert os.fstat(before.fileno()).st_ino != os.stat(path).st_ino


def test_partition_keys_need_the_option(mount, proxy, things):
    assert sorted(os.listdir(mount(env=BARE) / "tables" / things / "items")) == ["README", "{pk}"]


def test_partition_keys_are_scanned_once_a_minute(mount, proxy, things):
    proxy.allow_scan = True
    items = mount("--allow-scan", env=BARE) / "tables" / things / "items"
    for _ in range(3):
        assert sorted(os.listdir(items)) == ["README", "a", "b%2Fc"]
    assert proxy.ops.count("Scan") == 4
    assert os.listdir(items / "b%2Fc") == ["one"]
    assert subprocess.run(["grep", "-rl", "one", items], capture_output=True).stdout.count(b"one") == 2


def test_a_table_that_is_too_large_is_not_scanned(mount, proxy, things):
    m = mount("--allow-scan", "--scan-limit", "1", env=BARE)
    with pytest.raises(OSError) as raised:
        os.listdir(m / "tables" / things / "items")
    assert raised.value.errno == errno.EFBIG
    assert "--scan-limit 2,50M" in m.errors()
    assert "Scan" not in proxy.ops
