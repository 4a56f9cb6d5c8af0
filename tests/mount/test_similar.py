"""ITEM@similar in a mount: names, sizes and contents, errors, cost, limits and recordings."""

import errno
import itertools
import json
import os
import subprocess

import pytest

from harness import mounts, vectors

BARE = {"DDBFS_MAP": None}
NUMBERS = itertools.count()
COUNT = 12


@pytest.fixture
def create(server, boto):
    made = []

    def make(indexes, count=COUNT):
        items = [vectors.document(number) for number in range(count)]
        made.append(vectors.create(server.url, f"any-Near{next(NUMBERS)}", indexes, items))
        return made[-1]

    yield make
    for name in made:
        boto.delete_table(TableName=name)


@pytest.fixture
def docs(create):
    return create([vectors.index("by-meaning")])


def near(m, table, number=4, more="@similar"):
    return m / f"tables/{table}/items/p{number % 3}/s{number}{more}"


def error_of(action):
    with pytest.raises(OSError) as raised:
        action()
    return raised.value.errno


def names_of(server, table, count, digits):
    found = vectors.nearest(server.url, table, "by-meaning", vectors.document(4), count)
    keys = [f"{each['Item']['pk']['S']},{each['Item']['sk']['S']}" for each in found]
    return [f"{rank:0{digits}}_{key}" for rank, key in enumerate(keys, 1)]


def test_ls_shows_the_results_and_each_is_the_item(mount, server, docs, proxy):
    m = mount(env=BARE)
    assert sorted(os.listdir(near(m, docs))) == names_of(server, docs, 10, 2)
    assert proxy.ops.count("SearchVectors") == 1 and proxy.ops.count("BatchGetItem") <= 1
    for name in os.listdir(near(m, docs)):
        partition, sort = name[3:].split(",")
        entry, own = near(m, docs) / name, m / f"tables/{docs}/items/{partition}/{sort}"
        assert entry.read_bytes() == own.read_bytes() and entry.stat().st_size == len(own.read_bytes())
    assert proxy.ops.count("SearchVectors") == 1, "a search is reused like an item"


def test_an_entry_opens_without_a_listing(mount, server, docs, proxy):
    m = mount(env=BARE)
    name = names_of(server, docs, 5, 1)[2]
    told = json.loads((near(m, docs, more="@similar/5") / name).read_bytes())
    assert f"{told['pk']},{told['sk']}" == name[2:]
    assert sorted(set(proxy.ops)) == ["DescribeTable", "GetItem", "SearchVectors"]
    assert json.loads((near(m, docs, more="@similar/5") / f"{name}@info").read_bytes())["table"] == docs


def test_the_companion_is_hidden_and_a_walk_does_not_search(mount, docs, proxy):
    m = mount(env=BARE)
    subprocess.run(["grep", "-r", "nothing", m / f"tables/{docs}/items/p1"], check=False)
    assert "@" not in " ".join(os.listdir(m / f"tables/{docs}/items/p1"))
    assert "SearchVectors" not in proxy.ops
    walked = subprocess.run(["find", m / f"tables/{docs}/by"], capture_output=True, text=True, check=False)
    assert walked.returncode == 1 and "by-meaning/{vector}" in walked.stderr, "a walk sees that names are missing"
    assert error_of(lambda: os.listdir(m / f"tables/{docs}/by/by-meaning/{{vector}}")) == errno.EOPNOTSUPP


def test_files_of_all_results(mount, docs):
    m = mount(env=BARE)
    lines = near(m, docs, more="@similar@jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line)["@rank"] for line in lines] == list(range(1, 11))
    assert near(m, docs, more="@similar@csv").stat().st_size > 0
    assert near(m, docs, more="@similar/3@count").read_text() == "3\n"
    assert json.loads(near(m, docs, more="@similar/3@info").read_bytes())["search_bytes"] == 1024


def test_errors_have_their_errno_and_reason(mount, create, server, docs, proxy):
    two = create([vectors.index("by-meaning"), vectors.index("by-lang", "EUCLIDEAN", "lang")])
    none = create([], 5)
    stored = {"pk": {"S": "p0"}, "sk": {"S": "s99"}}
    vectors.send(server.url, "PutItem", {"TableName": docs, "Item": stored})
    m = mount(env=BARE)
    assert error_of(lambda: os.listdir(near(m, two))) == errno.EINVAL
    assert error_of(lambda: os.listdir(near(m, none))) == errno.ENODEV
    assert error_of(lambda: os.listdir(near(m, docs, 99))) == errno.EINVAL
    assert error_of(lambda: os.listdir(near(m, docs, more="@similar/101"))) == errno.EINVAL
    assert error_of(lambda: (near(m, docs) / "01_nothing").read_bytes()) == errno.ENOENT
    proxy.fault("error", op="SearchVectors", times=None, message="Cannot search backfilling vector index: x")
    assert error_of(lambda: os.listdir(near(m, docs, 5))) == errno.ENODEV
    proxy.heal()
    proxy.fault("error", op="SearchVectors", times=None, code="UnknownOperationException")
    assert error_of(lambda: os.listdir(near(m, docs, 6))) == errno.EINVAL
    told = m.errors()
    for part in ("several vector indexes", "has no vector index", "not ready for searches", "does not know SearchVectors"):
        assert part in told


def line_of(m, path):
    return next(each for each in m.ledger() if each["path"].endswith(path) and each["requests"])


def test_the_ledger_and_the_metrics_have_the_bytes(mount, docs):
    m = mount(env=BARE)
    near(m, docs, more="@similar/3@info").read_bytes()
    line = line_of(m, "@similar/3@info")
    assert line["search_bytes"] == 1024 and line["units"] == 0.5
    assert line["plan"] == "GetItem, SearchVectors" and line["index"] == "by-meaning"
    assert m.stats()["consumed_search_bytes"] == 1024
    assert "ddbfs_consumed_search_bytes_total 1024\n" in m.metrics()
    assert "ddbfs_use_search_bytes_total" in m.metrics()


def test_a_search_without_stated_bytes_is_counted_as_such(mount, docs, proxy):
    proxy.fault("alter", op="SearchVectors", change=lambda body: body.pop("ConsumedCapacity"))
    m = mount(env=BARE)
    told = json.loads(near(m, docs, more="@similar/3@info").read_bytes())
    assert told["unstated_searches"] == 1 and "search_bytes" not in told
    assert m.stats()["unstated_searches"] == 1 and line_of(m, "@similar/3@info")["unstated_searches"] == 1


def test_max_search_bytes_limits_a_second(mount, docs):
    """On a busy machine a search may take a second: then the next one is not refused."""
    m = mount("--max-search-bytes", "1K", env=BARE)
    numbers = iter(range(1, COUNT * 100))

    def search():
        try:
            os.listdir(near(m, docs, 4, f"@similar/{next(numbers) % 100 + 1}"))
        except OSError as error:
            return error.errno
        return 0

    assert search() == 0
    mounts.wait_until(lambda: search() == errno.EDQUOT, "a refusal")
    assert "--max-search-bytes" in m.errors() and m.stats()["max_search_bytes"] == 1024
    assert near(m, docs, 4, "").read_bytes(), "items are not limited by it"


def test_max_rcu_per_process_limits_searches_too(mount, docs):
    """4,096 bytes for each RCU."""
    m = mount("--max-rcu-per-process", "1", env=BARE)
    assert m.stats()["max_search_bytes"] == 0
    script = "; ".join(f"ls '{near(m, docs, 4, f'@similar/{top}@info')}'" for top in range(1, 7))
    done = subprocess.run(["setsid", "sh", "-c", script], capture_output=True, text=True, check=False)
    assert done.stderr.count("quota") == 2 and "--max-rcu-per-process" in m.errors()


def test_a_recording_has_the_search(mount, ddbfs, docs, tmp_path, proxy):
    file = tmp_path / "near.ddb"
    live = mount("--record", file, env=BARE)
    names = sorted(os.listdir(near(live, docs)))
    items = near(live, docs, more="@similar@jsonl").read_bytes()
    live.unmount()
    proxy.clear()
    replayed = mount("--snapshot", file, env=BARE)
    assert sorted(os.listdir(near(replayed, docs))) == names
    assert near(replayed, docs, more="@similar@jsonl").read_bytes() == items
    assert error_of(lambda: os.listdir(near(replayed, docs, 7))) != 0, "it was not recorded"
    assert not proxy.ops


def test_a_search_that_is_interrupted_ends(mount, docs, proxy):
    held = proxy.fault("delay", op="SearchVectors", seconds=30, times=None)
    m = mount(env=BARE)
    reader = subprocess.Popen(["ls", near(m, docs)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    mounts.wait_until(lambda: "SearchVectors" in proxy.ops, "a search")
    reader.terminate()
    assert reader.wait(timeout=20) != 0
    assert held
    proxy.heal()
