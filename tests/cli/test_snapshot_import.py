"""`ddbfs import`: snapshots of exports and of items in files, and each reason to refuse one."""

import gzip
import json
import os
import random
import sqlite3
import subprocess

import pytest

from harness import exports, places, runner
from harness.rows import rows

KEYS = ["--keys", "id:S", "--table", "Notes"]


class Importer:
    """ddbfs import, in a folder of its own, without the network."""

    def __init__(self, folder):
        self.folder = folder
        self.binary = places.program("DDBFS", "build-asan/fs/ddbfs", "build/fs/ddbfs")
        self.environment = {**runner.SANITIZERS, "LANG": "C.UTF-8", "XDG_CONFIG_HOME": str(folder),
                            "AWS_EC2_METADATA_DISABLED": "true", "PATH": os.environ["PATH"]}  # fmt: skip

    def write(self, name, content):
        """A file with CONTENT: bytes, a text, or objects, one a line."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not isinstance(content, (bytes, str)):
            content = "".join(json.dumps(each) + "\n" for each in content)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def __call__(self, *words, expect=0, stdin=b"", **environment):
        done = subprocess.run([self.binary, "import", *map(str, words)], cwd=self.folder, input=stdin,
                              env={**self.environment, **environment}, capture_output=True)  # fmt: skip
        assert done.returncode == expect, done.stderr.decode()
        return done.stdout.decode() if expect == 0 else done.stderr.decode()

    def refuse(self, *words, **how):
        """The message of an import that changes nothing."""
        before = self.files()
        message = self(*words, **{"expect": 1, **how})
        assert self.files() == before and message.count("\n") == 1
        return message

    def files(self):
        paths = [path for path in self.folder.rglob("*") if path.is_file()]
        return {path: path.read_bytes() for path in paths if ".ddb" in path.name}

    def read(self, name, sql):
        with sqlite3.connect(self.folder / name) as database:
            return database.execute(sql).fetchall()

    def items(self, name, table="Notes"):
        return [json.loads(item) for (item,) in self.read(name, f'SELECT item FROM "{table}"')]


@pytest.fixture
def importer(tmp_path):
    return Importer(tmp_path)


def note(name, **attributes):
    return {"id": {"S": name}, **attributes}


NOTES = [note("a", n={"N": "1.50"}), note("b", b={"B": "AAE="}), note("ü", s={"SS": ["x", "y"]})]
LINES = [{"Item": each} for each in NOTES]
SCAN = {"Items": NOTES, "Count": 3, "ScannedCount": 3, "ConsumedCapacity": None}


@rows("content", [
    LINES,
    NOTES,
    json.dumps(LINES[0]) + "\n\n" + json.dumps(LINES[1]) + "\r\n" + json.dumps(LINES[2]),
    "\ufeff" + "".join(json.dumps(each) + "\n" for each in NOTES),
    json.dumps(SCAN),
    json.dumps(SCAN, indent=4) + "\n",
    json.dumps({"Count": 3, "Items": NOTES, "LastEvaluatedKey": None}, indent=1),
    json.dumps(NOTES, indent=2),
], ids=["wrapped", "bare", "blank lines", "mark", "scan", "pretty", "count first", "array"])  # fmt: skip
def test_forms_of_items_are_one_snapshot(importer, content):
    file = importer.write("notes", content)
    packed = importer.write("notes.gz", gzip.compress(file.read_bytes()))
    importer(*KEYS, "--yes", file, "plain.ddb")
    importer(*KEYS, "--yes", packed, "packed.ddb")
    importer(*KEYS, "--yes", "-", "standard.ddb", stdin=packed.read_bytes())
    for name in ("plain.ddb", "packed.ddb", "standard.ddb"):
        assert importer.items(name) == NOTES
    assert {" " in text for (text,) in importer.read("plain.ddb", "SELECT item FROM items_1")} == {False}


def test_last_line_has_the_moment_and_the_counts(importer):
    file = importer.write("notes.jsonl", LINES)
    os.utime(file, (86400.75, 86400.75))
    assert importer(*KEYS, file, "x.ddb") == "x.ddb: Notes as of 1970-01-02T00:00:00Z, 3 items, 1 KB\n"
    line = json.loads(importer(*KEYS, "--json", "--at", "2026-11-01", file, "y.ddb"))
    size = importer.read("y.ddb", "SELECT sum(length(CAST(item AS BLOB))) FROM items_1")[0][0]
    assert line == {"done": True, "file": "y.ddb", "table": "Notes", "at": "2026-11-01T00:00:00Z",
                    "items": 3, "bytes": size, "indexes": [], "increments": 0}  # fmt: skip
    assert importer.read("y.ddb", "SELECT * FROM moments") == [(1, 1793491200000, None, str(file), 3, size)]


def test_without_keys_the_options_are_listed(importer):
    file = importer.write("notes.jsonl", LINES)
    message = importer.refuse(file, "x.ddb")
    assert all(each in message for each in ("--describe FILE", "--describe live", "--keys", "--map"))


@rows("content, why", [
    ([LINES[0], {"Item": {"name": {"S": "x"}}}], "line 2: the item lacks the key attribute: id"),
    ([LINES[0], note("b"), {"id": {"N": "1"}}], "line 3: the item has a key attribute of type N instead of S: id"),
    ([note("")], "line 1: the item has an empty key attribute: id"),
    ([note("a", x={"N": "1e999"})], "line 1: the item is not valid: a part of it is larger than"),
    ([note("a", x={"N": "1" * 39})], "has more than 38 digits"),
    ([note("a", x={"B": "***"})], "is no base64"),
    ([note("a", x={"L": [{"M": {"y": {"X": "1"}}}]})], "is no typed value"),
    ([note("a", x={"S": "1", "N": "1"})], "is no typed value"),
    ([note("a", x="1")], "is no typed value"),
    ('{"id":{"S":"a"},"x":{"S":"1"},"x":{"S":"2"}}\n', "a part of it comes twice (byte 31)"),
    ([LINES[0], LINES[1], LINES[0]], "item 3 has the same key as item 1 of"),
    (b'{"id":{"S":"a"}}\n{"id":{"S":"b"}\n', "line 2: is no JSON: the text ends too early"),
    (b'{"id":{"S":"a"}}\n\x00\n', "line 2: is no JSON"),
    (b'{"id":{"S":"\xff"}}\n', "line 1: is no JSON: a byte that is not UTF-8"),
    (b'[{"id":{"S":"a"}}', "line 1: the text ends too early"),
    (b'[{"id":{"S":"a"}}] x', "line 1: more text is behind the value"),
    (b'{"Items":[{"id":{"S":"a"}}],"Count":2}', "Count is 2, but there are 1 Items"),
    (b'{"Items":[{"id":{"S":"a"}}]', "the text ends too early"),
    (b'{"Items":[{"id":{"S":"a"}} {"id":{"S":"b"}}]}', ", expected"),
    (b'{"Items":[],"NextToken":"x"}', "it has a NextToken, so further items were not read"),
    (b'{"Items":[],"LastEvaluatedKey":{"id":{"S":"a"}}}', "it has a LastEvaluatedKey"),
    (b'{"Count":7,"ScannedCount":7}', "the document has no Items"),
    ([{"Metadata": {}, "Keys": {"id": {"S": "a"}}}], "is a change of an incremental export"),
    (gzip.compress(b'{"id":{"S":"a"}}\n')[:-9], "the compressed data is cut off"),
    (gzip.compress(b'{"id":{"S":"a"}}\n') + b"x", "other bytes behind its compressed data"),
    ([note("a", x={"S": "x" * (17 << 20)})], "line 1: a value is longer than 16 MB"),
], ids=range(26))  # fmt: skip
def test_first_fault_ends_the_import(importer, content, why):
    file = importer.write("notes", content)
    message = importer.refuse(*KEYS, file, "x.ddb")
    assert message.startswith(f"ddbfs: {file}: ") or message.startswith(f"ddbfs: {file} ")
    assert why in message


# Exports

ORDERS = {"Table": {
    "TableName": "Orders", "CreationDateTime": "2023-06-01T12:00:00.123000+02:00", "TableStatus": "ACTIVE",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"},
                             {"AttributeName": "sk", "AttributeType": "N"},
                             {"AttributeName": "status", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
    "GlobalSecondaryIndexes": [{"IndexName": "ByStatus", "Projection": {"ProjectionType": "ALL"},
                                "KeySchema": [{"AttributeName": "status", "KeyType": "HASH"}]}]}}  # fmt: skip
DAY = 86400


@pytest.fixture
def described(importer):
    return ["--describe", importer.write("orders.json", json.dumps(ORDERS))]


def canonical(items):
    return sorted(json.dumps(item, sort_keys=True) for item in items)


def state_of(importer, name, moment):
    """The items of a snapshot at a moment, in seconds."""
    sql = f"SELECT item FROM items_1 WHERE from_ms <= {moment}000 AND (until_ms IS NULL OR until_ms > {moment}000)"
    return canonical(json.loads(item) for (item,) in importer.read(name, sql))


def check_history(importer, described, seed):
    """A base and increments, in one run or in two, are the table replayed to each of their moments."""
    chance = random.Random(seed)
    history = exports.History(chance, keys=chance.choice([1, 4, 12]))
    moments = sorted(chance.sample(range(1, 60), chance.randrange(1, 5)))
    moments = [exports.START + number * 900 for number in moments]
    for number in sorted(chance.sample(range(60 * 900), chance.randrange(80))):
        history.write(exports.START + number + 0.5)
    folder = importer.folder / str(seed)
    how = {"prefix": chance.choice(["", "one/two", "data"]), "keys_with_prefix": chance.random() < 0.5,
           "checksum": chance.choice([".md5", ".checksum", None]), "members": chance.choice([1, 3]),
           "files": chance.choice([1, 3]), "empty": chance.choice([0, 2])}  # fmt: skip
    base = exports.full(folder / "base", history.state(moments[0]).values(), moments[0], chance=chance, **how)
    view = chance.choice(["NEW_IMAGE", "NEW_IMAGES", "NEW_AND_OLD_IMAGES"])
    windows = [exports.incremental(folder / f"window-{number}", history.changes(since, until), since, until,
                                   number=number, view=view, chance=chance, **how)
               for number, (since, until) in enumerate(zip(moments, moments[1:]), 1)]  # fmt: skip
    chance.shuffle(windows)
    name = f"{seed}.ddb"
    if chance.random() < 0.5 or not windows:
        importer(*described, *windows, base, name)
    else:
        importer(*described, base, name)
        importer("--onto", name, *windows)
    for moment in moments:
        want = canonical(history.state(moment).values())
        assert state_of(importer, name, moment) == want
        (row,) = importer.read(name, f"SELECT items FROM moments WHERE at_ms = {moment}000")
        assert row == (len(want),)
    assert importer.read(name, "PRAGMA integrity_check") == [("ok",)]
    check_columns(importer, name)


def check_columns(importer, name):
    """Key columns are those that docs/snapshot.md describes, for each version."""
    for pk, sk, status, text in importer.read(name, "SELECT k1, k2, k3, item FROM items_1"):
        item = json.loads(text)
        assert (pk, status) == (item["pk"]["S"], item.get("status", {}).get("S"))
        assert sk == sorting_text(item["sk"]["N"])


def sorting_text(number):
    """The key column of an integer, by docs/snapshot.md."""
    digits = number.lstrip("-")
    if digits == "0":
        return "5"
    mantissa, exponent = digits.rstrip("0"), 500 + len(digits)
    if number[0] != "-":
        return f"6{exponent}.{mantissa}"
    return f"4{999 - exponent}." + "".join(str(9 - int(digit)) for digit in mantissa) + "~"


@rows("seed", range(6))
def test_exports_of_a_history_are_the_table_at_their_moments(importer, described, seed):
    check_history(importer, described, seed)


@pytest.mark.long
@rows("seed", range(100, 250))
def test_exports_of_many_histories(importer, described, seed):
    check_history(importer, described, seed)
