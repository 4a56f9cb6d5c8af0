"""A listing as an SQLite database: DIR@sqlite."""

import decimal
import json
import math
import random
import sqlite3

import pytest

from harness import plain, runner, tables, terminal
from harness.rows import rows

SHOP = "kl7a9h55-shopify-e513a8-4"
JOBS = f"/prod/jobs/by-index/shopify/{SHOP}"
SHOP_ITEMS = "/prod/shops/cool-store.myshopify.com"
BOX = "/any/things/box"


class Database:
    """The database of a path: .columns, and (select) rows."""

    def __init__(self, ddbfs, folder, path, columns="", options=(), **how):
        self.bytes = ddbfs(*options, "cat", f"{path}@sqlite{columns}", **how).stdout
        self.file = folder / "items.db"
        self.file.write_bytes(self.bytes)
        self.link = sqlite3.connect(f"file:{self.file}?mode=ro&immutable=1", uri=True)
        assert list(self("pragma integrity_check")) == [("ok",)]
        self.columns = [row[1] for row in self("pragma table_info(records)")]
        self.types = {row[1]: row[2] for row in self("pragma table_info(records)")}

    def __call__(self, statement, *values):
        return list(self.link.execute(statement, values))


@pytest.fixture
def database(ddbfs, tmp_path):
    return lambda path, *words, **how: Database(ddbfs, tmp_path, path, *words, **how)


@pytest.fixture
def things(table, write_map):
    """things(items, **members of the table) makes a table of boxes; the environment with its map."""

    def make(items, description=None, **members):
        table(description or tables.plain(), items)
        return {"DDBFS_MAP": str(write_map(tables.plain_map(**members)))}

    return make


def test_it_has_the_name_the_key_its_parts_and_all_attributes(database, ddbfs, ls):
    data = database(f"{JOBS}/all")
    lines = [json.loads(line) for line in ddbfs("cat", f"{JOBS}/all@jsonl").text.splitlines()]
    assert data.columns[:3] == ["name", "pk", "sk"]
    assert data.columns[3:5] == ["platform", "shop_id"]
    others = data.columns[data.columns.index("job_id") + 1 :]
    assert others == sorted(others)
    assert {name for line in lines for name in line} <= set(data.columns)
    assert data("select name from records order by rowid") == [(name,) for name in ls(f"{JOBS}/all")]
    assert data("select pk, created_at from records order by rowid") == [
        (line["pk"], line["created_at"]) for line in lines
    ]
    assert data("select distinct platform, shop_id from records") == [("shopify", SHOP)]


def expected(value):
    """What SQLite has of a typed value."""
    kind, content = next(iter(value.items()))
    if kind == "N":
        number = decimal.Decimal(content)
        if number == number.to_integral_value() and -(2**63) <= number < 2**63:
            return int(number)
        real = float(content)
        exact = math.isfinite(real) and decimal.Decimal(repr(real)) == number
        return real if exact else content
    if kind == "B":
        return content
    if kind in ("BOOL", "NULL"):
        return int(content) if kind == "BOOL" else None
    if kind == "S":
        return content
    return plain.render({"a": value}, compact=True).decode()[len('{"a":') : -len("}\n")]


def any_value(seed):
    number = lambda: seed.choice([  # noqa: E731
        str(seed.randint(-5, 5)), str(seed.randint(-(2**64), 2**64)), str(2**63), str(2**63 - 1), str(-(2**63)),
        f"{seed.randint(-999, 999)}.{seed.randint(1, 9)}", "0.1", "-0.5", "1E-20", "1E+25", "12345678901234567890.5",
        "0." + "".join(seed.choice("123456789") for _ in range(seed.randint(1, 36))), "1E+125", "1E-129",
        "9007199254740993", "9007199254740993.5", "123456789012345678901234567890",
    ])  # fmt: skip
    text = lambda: "".join(seed.choice('abÄ"\'\n,;%1€ 😀') for _ in range(seed.randint(1, 9)))  # noqa: E731
    blob = lambda: seed.randbytes(seed.randint(1, 9))  # noqa: E731
    return seed.choice([
        lambda: {"N": number()}, lambda: {"N": number()}, lambda: {"S": text()}, lambda: {"B": blob()},
        lambda: {"BOOL": seed.random() < 0.5}, lambda: {"NULL": True}, lambda: {"S": seed.choice(["1", "1.0", "1e3", "null"])},
        lambda: {"M": {text(): {"N": str(seed.randint(-99, 99))}}}, lambda: {"L": [{"S": text()}, {"BOOL": True}]},
        lambda: {"SS": sorted({text(), text()})}, lambda: {"BS": sorted({blob(), blob()})},
    ])()  # fmt: skip


def test_each_value_comes_back(database, things):
    seed = random.Random(20261119)
    names = ["mixed", "Mixed", "note", "a b", 'q"q', "text", "number"]
    items = []
    for at in range(150):
        item = {name: any_value(seed) for name in names if seed.random() < 0.7}
        if "text" in item:
            item["text"] = {"S": str(seed.randint(0, 9))}
        if "number" in item:
            item["number"] = {"N": seed.choice(["5", "0.5", "1e30"])}
        items.append({"pk": {"S": "box"}, "sk": {"S": f"{at:03}"}, **item})
    data = database(BOX, env=things(items))
    assert data.columns[:5] == ["name", "pk", "sk", "box", "name_2"]
    shown = {name: name for name in names} | {"mixed": "mixed_2"}
    for name in names:
        column = '"' + shown[name].replace('"', '""') + '"'
        got = [row[0] for row in data(f"select {column} from records order by rowid")]
        want = [expected(item[name]) if name in item else None for item in items]
        assert got == want and [type(each) for each in got] == [type(each) for each in want]
    assert (data.types["text"], data.types["number"], data.types["Mixed"]) == ("TEXT", "NUMERIC", "")


def test_the_type_of_a_column_is_that_of_all_its_values(database, things):
    values = {
        "i": [{"N": "1"}, {"BOOL": True}], "r": [{"N": "0.5"}], "n": [{"N": "1"}, {"N": "0.5"}],
        "t": [{"S": "x"}, {"L": []}], "b": [{"B": b"\x00\x01"}], "m": [{"S": "1"}, {"N": "1"}], "z": [{"NULL": True}],
        "d": [{"N": "1"}, {"N": "123456789012345678901234567890"}],
    }  # fmt: skip
    items = [
        {"pk": {"S": "box"}, "sk": {"S": str(at)}, **{k: v[at] for k, v in values.items() if at < len(v)}}
        for at in range(2)
    ]
    data = database(BOX, env=things(items))
    assert {name: data.types[name] for name in values} == {
        "i": "INTEGER", "r": "REAL", "n": "NUMERIC", "t": "TEXT", "b": "BLOB", "m": "", "z": "", "d": "",
    }  # fmt: skip
    assert data("select typeof(n), typeof(d), d from records order by rowid") == [
        ("integer", "integer", 1), ("real", "text", "123456789012345678901234567890"),
    ]  # fmt: skip


def test_columns_of_equal_names_get_a_number(database, things):
    items = [
        tables.item("x", "n") | {name: {"S": name} for name in ("name", "NAME", "a", "A", "a_2", "PK")},
    ]
    data = database(BOX, env=things(items))
    assert data.columns == ["name", "pk", "sk", "box", "name_2", "A", "NAME_3", "PK_2", "a_3", "a_2", "name_4", "note"]
    assert data("select NAME_3, name_4, a, a_3, a_2, PK_2, name, name_2 from records") == [
        ("NAME", "name", "A", "a", "a_2", "PK", "x", "x")
    ]


def test_an_attribute_of_a_parts_name_is_a_column_if_it_differs(database, things):
    same = [tables.item(each, "n") | {"box": {"S": "box"}} for each in "xy"]
    data = database(BOX, env=things(same))
    assert data.columns == ["name", "pk", "sk", "box", "name_2", "note"]
    other = [same[0], tables.item("y", "n") | {"box": {"N": "5"}}]
    data = database(BOX, env=things(other))
    assert data.columns == ["name", "pk", "sk", "box", "name_2", "box_2", "note"]
    assert data("select box, box_2 from records") == [("box", "box"), ("box", 5)]


def test_a_number_in_the_key_is_a_number(database, things):
    items = [{"pk": {"S": "box"}, "sk": {"N": number}} for number in ("-1", "0.5", "1E+30", "7")]
    env = things(
        items, tables.table("any-Things", sort="N"), types={"sk": "N"}, records={"thing": {"pk": "{box*}", "sk": "{size}"}}
    )
    data = database(BOX, env=env)
    assert data("select sk, size from records order by rowid") == [(-1, -1), (0.5, 0.5), (7, 7), (1e30, 1e30)]


def test_bytes_in_the_key_are_bytes(database, things):
    items = [{"pk": {"S": "box"}, "sk": {"B": b"\x00\xff"}}]
    env = things(
        items, tables.table("any-Things", sort="B"), types={"sk": "B"}, records={"thing": {"pk": "{box*}", "sk": "{hash}"}}
    )
    data = database(BOX, env=env)
    assert data("select sk, hash from records") == [(b"\x00\xff", b"\x00\xff")]


def test_only_the_given_columns_behind_the_key(database, ddbfs):
    data = database(f"{JOBS}/all", ":status,lacking,shop_id,sk")
    assert data.columns[:5] == ["name", "pk", "sk", "platform", "shop_id"]
    assert data.columns[-2:] == ["status", "lacking"] and data.types["lacking"] == ""
    assert data("select count(status), count(lacking), count(shop_id) from records") == [(40, 0, 40)]
    told = ddbfs("cat", f"{JOBS}/all@sqlite:status,lacking,shop_id,sk").stderr
    assert told.count("no item has") == 1 and 'no item has an attribute "lacking"' in told


def test_columns_that_an_index_has_are_not_read_again(database, proxy):
    data = database(f"/prod/jobs/by-status/{SHOP}/COMPLETED", ":status_created_at")
    assert proxy.ops == ["Query"] and data("select count(status_created_at), count(platform) from records") == [(27, 27)]


def test_equal_items_make_equal_bytes(ddbfs, proxy):
    first = ddbfs("cat", f"{JOBS}/all@sqlite").stdout
    proxy.fault("page_size", op="Query", times=None, items=2)
    assert ddbfs("cat", f"{JOBS}/all@sqlite").stdout == first
    assert first.startswith(b"SQLite format 3\0") and len(first) % 4096 == 0


def test_no_item_is_an_empty_table(database):
    data = database(f"/prod/jobs/by-status/{SHOP}/NONE")
    assert data.columns[:3] == ["name", "pk", "sk"] and data("select count(*) from records") == [(0,)]
    assert data.types["name"] == "TEXT"


def test_secrets_are_masked(database):
    data = database(SHOP_ITEMS)
    assert b"shpat_" not in data.bytes
    assert (plain.MASK,) in data("select access_token from records")
    shown = database(SHOP_ITEMS, options=["--show-secrets"])
    assert b"shpat_" in shown.bytes


def test_an_index_gives_its_parts_and_whole_items(database, ddbfs):
    path = f"/prod/jobs/by-status/{SHOP}/COMPLETED"
    data = database(path)
    lines = [json.loads(line) for line in ddbfs("cat", f"{path}@jsonl").text.splitlines()]
    assert data("select pk, status, created_at from records order by rowid") == [
        (line["pk"], line["status"], line["created_at"]) for line in lines
    ]
    assert "status_2" not in data.columns and lines


def test_selected_items_alone(ddbfs, tmp_path, database):
    words = ("--where", 'status = "COMPLETED"', "--limit", "2", f"{JOBS}/all@sqlite")
    file = tmp_path / "some.db"
    file.write_bytes(ddbfs("cat", *words).stdout)
    got = list(sqlite3.connect(file).execute("select name, pk from records"))
    all_of = database(f"{JOBS}/all")("select name, pk from records where status = 'COMPLETED' order by rowid limit 2")
    assert got == all_of and len(got) == 2


def test_it_costs_what_the_listing_costs(ddbfs, proxy):
    ddbfs("cat", f"{JOBS}/all@jsonl")
    lines = list(proxy.ops)
    proxy.clear()
    ddbfs("cat", f"{JOBS}/all@sqlite")
    assert proxy.ops == lines != []


def test_more_columns_than_sqlite_has_are_refused(ddbfs, things):
    many = [tables.item(f"{at}", "n") | {f"a{at}_{k}": {"N": "1"} for k in range(1000)} for at in range(2)]
    env = things(many)
    why = ddbfs("cat", f"{BOX}@sqlite", env=env, expect=1).stderr
    assert "the 2000 columns" in why and "@jsonl" in why
    fits = [tables.item("x", "n") | {f"a{k}": {"N": "1"} for k in range(1994)}]
    assert ddbfs("cat", f"{BOX}@sqlite", env=things(fits)).stdout.startswith(b"SQLite")


def test_a_terminal_does_not_get_it(home, proxy):
    ddbfs = runner.Ddbfs(home)
    with terminal.Terminal([ddbfs.binary, "cat", f"{JOBS}/all@sqlite"], home.environment(), rows=24) as shell:
        shell.process.wait(60)
        why = shell.process.stderr.read().decode()
    assert "a terminal can't show" in why and f"ddbfs cat {JOBS}/all@sqlite >items.db" in why
    assert shell.process.returncode == 1 and proxy.ops == []


@rows("name", ["all@sqlite-journal", "all@sqlite-wal", "all@sqlite-shm"])
def test_names_that_sqlite_tries_in_a_mount_are_keys_in_a_command(ddbfs, proxy, name):
    ddbfs("cat", f"{SHOP_ITEMS}/{name}", expect=3)
    assert proxy.ops == ["GetItem"]
