"""Tables without a map, of every kind: each record by each path that leads to it, each once in each
directory, as boto3 has it; the windows on a partition; and no Scan."""

import itertools
import os

import pytest

from harness import load, zoo
from harness.rows import rows

NO_MAP = {"DDBFS_MAP": None}
NAME_MAX = 247
SERVERS = ["dynoxide", "dynamodb-local"]


def on_each(suits):
    """A test for each server, with a row for each of the tables that suit."""
    on_servers = pytest.mark.parametrize("server", SERVERS, indirect=True)
    of_kinds = rows("kind", [table for table in zoo.TABLES if suits(table)], ids=str)
    return lambda function: on_servers(of_kinds(function))


every_kind = on_each(lambda table: True)
with_sort_key = on_each(lambda table: table.sort)
with_short_keys = on_each(lambda table: table.sort and table.name != "Keys")
with_windows_on_an_index = on_each(lambda table: table.sort and table.indexes)


def can_be_typed(path):
    """A kernel takes no step that is longer; a program with paths of its own does."""
    return max(map(len, path.split("/"))) <= NAME_MAX


@pytest.fixture
def made(server, proxy):
    """made(kind): the table with its items, once for each server that runs."""
    dynamo = load.client(server.url)
    there = dynamo.list_tables()["TableNames"]

    def make(kind):
        if kind.only not in (None, server.name):
            pytest.skip(f"{server.name} knows no such table")
        if kind.name not in there:
            load.create_table(dynamo, kind.description())
            load.put_all(dynamo, kind.name, kind.items)
            there.append(kind.name)
        if kind.only:
            proxy.fault("canned", op="Query", table=kind.name, times=None, answer=kind.answer)
        return kind

    return make


@pytest.fixture
def top(mount, made):
    """top(kind): the table's directory in a mount without a map, the same for all rows of a test."""
    mounted = []

    def open_it(kind):
        made(kind)
        mounted or mounted.append(mount(env=NO_MAP))
        return mounted[0] / f"tables/{kind.name}"

    return open_it


@pytest.fixture
def two_mounts(mount):
    return mount(env=NO_MAP), mount(env=NO_MAP)


def files_below(folder):
    """The bytes of each file below FOLDER, in the order in which directories list them."""
    with os.scandir(folder) as found:
        entries = list(found)
    names = [each.name for each in entries]
    assert len(names) == len(set(names)), f"{folder} has a name twice"
    for each in entries:
        path = os.path.join(folder, each.name)
        if each.is_dir():
            yield from files_below(path)
        elif each.name != "README":
            with open(path, "rb") as file:
                yield file.read()


def records(kind, items):
    return [kind.record(item) for item in items]


@every_kind
def test_each_partition_lists_its_items_once_in_their_order(kind, top):
    at = top(kind)
    for path, items in kind.partitions().items():
        if kind.sort:
            assert list(files_below(at / "items" / path)) == records(kind, items), path
        else:
            assert (at / "items" / path).read_bytes() == kind.record(items[0])


@every_kind
def test_each_item_opens_by_its_key(kind, top):
    at = top(kind)
    for item in kind.items:
        path = "/".join(zoo.segment(item[name]) for name in kind.keys)
        if not can_be_typed(path):
            continue  # only a listing knows how such a name is shortened
        assert (at / "items" / path).read_bytes() == kind.record(item), path


@every_kind
def test_each_index_lists_its_items_once_in_their_order(kind, top):
    at = top(kind)
    if kind.indexes:
        assert sorted(os.listdir(at / "by")) == sorted(name for name, *_ in kind.queries())
    for name, sort, partitions in kind.queries():
        for path, items in partitions.items():
            if not can_be_typed(path):
                continue
            got = list(files_below(at / "by" / name / path))
            assert sorted(got) == sorted(records(kind, items)), (name, path)
            # Items that share the index's key come in an order that the service does not tell.
            keys = [[zoo.order(item[each]) for each in sort] for item in items]
            by_record = {kind.record(item): key for item, key in zip(items, keys)}
            assert [by_record[each] for each in got] == keys, (name, path)


@every_kind
def test_a_name_that_is_listed_opens_again_in_a_fresh_mount(kind, made, two_mounts):
    """Nothing that a listing has primed helps: a name alone leads back to its record."""
    made(kind)
    first, second = two_mounts
    folders = [f"items/{path}" for path in kind.partitions() if kind.sort]
    folders += [
        f"by/{name}/{path}"
        for name, sort, partitions in kind.queries()
        if len(sort) < 2
        for path in partitions
        if can_be_typed(path)
    ]
    for folder in folders:
        shown = first / f"tables/{kind.name}/{folder}"
        for name in os.listdir(shown):
            path = f"tables/{kind.name}/{folder}/{name}"
            assert (second / path).read_bytes() == (first / path).read_bytes(), path


def windows(kind, items):
    """Windows of a partition, by what their directory is called, and what each holds."""
    keys = [zoo.order(item[kind.sort]) for item in items]
    names = [zoo.segment(item[kind.sort]) for item in items]
    yield "last", items[::-1][:100]
    yield "first", items[:100]
    yield "last:2", items[::-1][:2]
    yield "first:3", items[:3]
    for at in (0, len(items) // 2, len(items) - 1):
        yield f"after:{names[at]}", items[at + 1 :]
    text = kind.types[kind.sort] == "S"
    for low, high in itertools.islice(itertools.combinations(range(len(items)), 2), 0, None, 7):
        inside = [
            item
            for item, key in zip(items, keys)
            if keys[low] <= key and (key <= keys[high] or (text and key.startswith(keys[high])))
        ]
        yield f"{names[low]}..{names[high]}", inside
    if text:
        for prefix in {key.decode()[:2] for key in keys}:
            inside = [item for item, key in zip(items, keys) if key.startswith(prefix.encode())]
            folded = [key for key in keys if key.decode().lower().startswith(prefix.lower())]
            if len(folded) > len(inside) or "%" in prefix:
                continue  # dynoxide finds those of the other case, too, DynamoDB Local takes % for any text
            yield zoo.segment(zoo.s(prefix)) + "*", inside


@with_sort_key
def test_windows_on_a_partition(kind, top):
    at = top(kind)
    for path, items in kind.partitions().items():
        for window, inside in windows(kind, items):
            if not can_be_typed(window):
                continue
            got = list(files_below(at / "items" / path / window))
            assert got == records(kind, inside), f"{path}/{window}"


def index_windows(kind, attribute, items):
    """The same of an index, whose sort keys need not be unique: windows that end between two keys."""
    keys = [zoo.order(item[attribute]) for item in items]
    names = [zoo.segment(item[attribute]) for item in items]
    yield "last", items[::-1]
    yield "first", items
    for at in range(0, len(items), 5):
        yield f"after:{names[at]}", [item for item, key in zip(items, keys) if key > keys[at]]
        inside = [item for item, key in zip(items, keys) if keys[0] <= key <= keys[at]]
        if not isinstance(keys[at], bytes) or not any(k.startswith(keys[at]) and k != keys[at] for k in keys):
            yield f"{names[0]}..{names[at]}", inside


@with_windows_on_an_index
def test_windows_on_an_index(kind, top):
    at = top(kind)
    for name, sort, partitions in kind.queries():
        for path, items in partitions.items() if len(sort) == 1 else ():
            for window, inside in index_windows(kind, sort[0], items):
                if not can_be_typed(f"{path}/{window}"):
                    continue
                got = files_below(at / "by" / name / path / window)
                assert sorted(got) == sorted(records(kind, inside)), f"{name}/{path}/{window}"


@with_short_keys
def test_a_partition_is_walked_in_pages(kind, top):
    """By the name of the last entry, as a script would."""
    at = top(kind)
    path, items = max(kind.partitions().items(), key=lambda each: len(each[1]))
    seen, last = [], None
    for _ in range(len(items) + 1):
        window = at / "items" / path / (f"after:{last}" if last else "first:1")
        with os.scandir(window) as found:
            names = [each.name for each in found]
        if not names:
            break
        seen.append((window / names[0]).read_bytes())
        last = names[0]
    assert seen == records(kind, items)


@every_kind
def test_the_command_line_gives_the_same(kind, made, ddbfs):
    made(kind)
    paths = ["/".join(zoo.segment(item[name]) for name in kind.keys) for item in kind.items]
    full = [f"/tables/{kind.name}/items/{path}" for path in paths]
    got = ddbfs("cat", *full, env=NO_MAP).stdout
    assert got == b"".join(records(kind, kind.items))


@every_kind
def test_nothing_is_asked_but_queries_and_keys(kind, top, proxy):
    at = top(kind)
    for path in kind.partitions():
        (at / "items" / path).exists()
        list(files_below(at / "items" / path)) if kind.sort else None
    assert set(proxy.ops) <= {"DescribeTable", "ListTables", "Query", "GetItem", "BatchGetItem"}
    assert proxy.ops.count("DescribeTable") == 1
