"""`ddbfs import`: snapshots of exports and of items in files, and each reason to refuse one."""

import base64
import gzip
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time

import pytest

from harness import buckets, exports, load, places, preloads, tables, terminal
from harness.rows import rows

KEYS = ["--keys", "id:S", "--table", "Notes"]


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
    ([LINES[0], LINES[1], LINES[0]], 'notes: id = "a"; a state of a table has each key once; if --keys was'),
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
    ([note("a"), note("b", x={"SS": []})], "line 2: the item is not valid: a part of it is an empty set (byte "),
    ([note("a", x={"L": [{"BS": []}]})], "line 1: the item is not valid: a part of it is an empty set"),
    ([note("a"), note("b", x={"M": {"y": {"NS": ["2", "1", "1.0"]}}})], "line 2: the item is not valid: a part of it is a set that has a value twice"),
    ([note("a", x={"NS": ["1E2", "100"]})], "is a set that has a value twice"),
    (b'{"id":{"S":"a"},"x":{"SS":["b","\\u0062"]}}\n', "is a set that has a value twice"),
    ([note("a", x={"BS": ["AQ==", "AR=="]})], "is "),
    ([note("a", x={"BS": ["AQI=", "AAE=", "AQI="]})], "is a set that has a value twice"),
], ids=range(33))  # fmt: skip
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


ITEM = {"pk": {"S": "p"}, "sk": {"N": "1"}, "status": {"S": "x"}}
OTHER = {**ITEM, "status": {"S": "y"}}
KEY = {name: ITEM[name] for name in ("pk", "sk")}
T0, T1, T2, T3 = (exports.START + number * DAY for number in range(4))


@pytest.fixture
def base(importer, described):
    """A snapshot base.ddb of one item at T0."""
    importer(*described, exports.full(importer.folder / "base", [ITEM], T0), "base.ddb")
    return "base.ddb"


def rewrite(folder, name, function):
    """Changes a JSON file of an export. Its checksums are removed."""
    path = folder / name
    path.write_text("\n".join(json.dumps(function(json.loads(line))) for line in path.read_text().splitlines()))
    for ending in (".md5", ".checksum"):
        path.with_suffix(ending).unlink(missing_ok=True)


def data_file(folder):
    """The data file with lines."""
    return max((folder / "data").iterdir(), key=lambda path: path.stat().st_size)


def with_member(name, value):
    return lambda folder: rewrite(folder, "manifest-summary.json", lambda old: {**old, name: value})


def with_file_member(name, value):
    return lambda folder: rewrite(folder, "manifest-files.json", lambda old: {**old, name: value})


def replace_data(folder, text):
    data_file(folder).write_bytes(gzip.compress(text.encode()))
    content = data_file(folder).read_bytes()
    rewrite(folder, "manifest-files.json", lambda old: {**old, "md5Checksum": exports.md5(content)})


def flip_list(folder):
    """One bit of manifest-files.json, which then is no JSON."""
    path = folder / "manifest-files.json"
    path.write_bytes(path.read_bytes().replace(b"{", b"[", 1))


def replace_by(make):
    """Puts something that is no file in the place of the data file."""

    def damage(folder):
        path = data_file(folder)
        path.unlink()
        make(path)

    return damage


DAMAGES = {
    "no manifest": (lambda folder: (folder / "manifest-summary.json").unlink(), "has no manifest-summary.json"),
    "no list of files": (lambda folder: (folder / "manifest-files.json").unlink(), "is not complete"),
    "no data": (lambda folder: data_file(folder).unlink(), "the copy of the export is not complete"),
    "changed data": (lambda folder: data_file(folder).write_bytes(gzip.compress(b"{}\n")), "has the MD5 checksum"),
    "changed summary": (lambda folder: (folder / "manifest-summary.json").write_bytes(
        (folder / "manifest-summary.json").read_bytes() + b" "), "manifest-summary.json has the MD5 checksum"),
    "changed list": (lambda folder: (folder / "manifest-files.json").write_bytes(
        (folder / "manifest-files.json").read_bytes() + b"\n"), "manifest-files.json has the MD5 checksum"),
    "changed byte of the list": (flip_list, "manifest-files.json has the MD5 checksum"),
    "no checksum of a file": (with_file_member("md5Checksum", None), "line 1: has no md5Checksum or no valid itemCount"),
    "no count of a file": (with_file_member("itemCount", None), "line 1: has no md5Checksum or no valid itemCount"),
    "no count of the export": (with_member("itemCount", None), "has no valid itemCount, so that missing items"),
    "pipe": (replace_by(os.mkfifo), "is a pipe or a device, and no regular file"),
    "socket": (replace_by(lambda path: os.mknod(path, stat.S_IFSOCK | 0o600)), "can't be opened: No such device or address"),
    "device": (replace_by(lambda path: path.symlink_to("/dev/zero")), "is a pipe or a device, and no regular file"),
    "directory": (replace_by(os.mkdir), "is a folder, and a file of an export; copy the export again"),
    "pipe as manifest": (lambda folder: ((folder / "manifest-summary.json").unlink(), os.mkfifo(folder / "manifest-summary.json")),
                         "manifest-summary.json is a pipe"),
    "wrong checksum": (with_file_member("md5Checksum", "nonsense"), "is no MD5 in base64: nonsense"),
    "count of a file": (with_file_member("itemCount", 7), "states 1 items, but the files of manifest-files.json have"),
    "counts": (lambda folder: (with_file_member("itemCount", 2)(folder), with_member("itemCount", 2)(folder)),
               "has 1 items, but the manifest states 2"),
    "ion": (with_member("outputFormat", "ION"), "export the table again with --export-format DYNAMODB_JSON"),
    "other format": (with_member("outputFormat", None), "has no outputFormat DYNAMODB_JSON"),
    "other type": (with_member("exportType", "PARTIAL_EXPORT"), "has an exportType that is not known"),
    "no time": (with_member("exportTime", "soon"), 'has no valid exportTime: "soon" is no time'),
    "no table": (with_member("tableArn", None), "has no tableArn"),
    "no count": (with_member("itemCount", "x"), "has no valid itemCount"),
    "another table": (with_member("tableArn", "arn:aws:dynamodb:x:1:table/Others"), "the table Orders, and the export"),
    "outside": (with_file_member("dataFileS3Key", "../../../etc/passwd"), "line 1: has no valid dataFileS3Key"),
    "absolute": (with_file_member("dataFileS3Key", "/etc/passwd"), "line 1: has no valid dataFileS3Key"),
    "no json": (lambda folder: (folder / "manifest-files.json").write_bytes(b"x\n"), "manifest-files.json"),
    "a line": (lambda folder: replace_data(folder, '{"Item":{"pk":{"S":"p"}}}\n'), "line 1: the item lacks the key attribute: sk"),
    "a scan": (lambda folder: replace_data(folder, '{"Items":[]}'), "line 1: the item is not valid"),
}  # fmt: skip


@rows("damage, why", DAMAGES.values(), ids=DAMAGES)
def test_damaged_export_is_refused(importer, described, damage, why):
    folder = exports.full(importer.folder / str(len(list(importer.folder.iterdir()))), [ITEM], T0, files=1, empty=0)
    damage(folder)
    assert why in importer.refuse(*described, folder, "x.ddb")


def window(importer, changes=(), since=T0, until=T1, **how):
    name = f"window-{len(list(importer.folder.iterdir()))}"
    return exports.incremental(importer.folder / name, changes, since, until, **how)


WINDOWS = {
    "gap": ([(T1, T2)], ["the window 2026-11-02T00:00:00Z to 2026-11-03T00:00:00Z", "the state before it is of 2026-11-01T00:00:00Z",
                         "the changes from 2026-11-01T00:00:00Z to 2026-11-02T00:00:00Z are missing"]),
    "gap between": ([(T0, T1), (T2, T3)], ["the changes from 2026-11-02T00:00:00Z to 2026-11-03T00:00:00Z are missing"]),
    "overlap": ([(T0 - 900, T1)], ["which overlaps the state of 2026-11-01T00:00:00Z"]),
    "overlap between": ([(T0, T2), (T1, T3)], ["the window 2026-11-02T00:00:00Z to 2026-11-04T00:00:00Z, which overlaps"]),
    "twice": ([(T0, T1), (T0, T1)], ["is a part of the state already: that is of 2026-11-02T00:00:00Z; omit this export"]),
    "backwards": ([(T1, T0)], ["has a window that ends before it begins"]),
}  # fmt: skip


@rows("windows, why", WINDOWS.values(), ids=WINDOWS)
def test_windows_that_do_not_follow_are_named(importer, base, windows, why):
    message = importer.refuse("--onto", base, *(window(importer, (), *each) for each in windows))
    assert all(each in message for each in why)


OTHER_ID = "87654321-aaaa-bbbb-cccc-1234567890ab"


def of_another_table(folder):
    with_member("tableId", OTHER_ID)(folder)
    return folder


def test_increments_of_a_table_that_was_made_again_are_refused(importer, base, described):
    other = of_another_table(window(importer, view="NEW_IMAGE"))
    message = importer.refuse("--onto", base, other)
    assert OTHER_ID in message and "was deleted and created again" in message
    assert OTHER_ID in importer.refuse("--onto", base, window(importer), other)
    (described_as,) = importer.read(base, "SELECT description FROM tables")[0]
    assert json.loads(described_as)["TableId"] == "12345678-aaaa-bbbb-cccc-1234567890ab"


def test_another_name_of_the_table_mixes_no_tables(importer, described):
    full = exports.full(importer.folder / "full", [ITEM], T0)
    words = [*described, "--table", "Renamed", full]
    others = window(importer, [(KEY, OTHER, None)], table="Others", view="NEW_IMAGE")
    message = importer.refuse(*words, others, "x.ddb")
    assert ":table/Others (" in message and ":table/Orders (" in message
    importer(*words, window(importer, [(KEY, OTHER, None)], view="NEW_IMAGE"), "x.ddb")
    assert importer.items("x.ddb", "Renamed") == [OTHER]


@rows("content", [b"", b"\n", gzip.compress(b"")], ids=["empty", "blank", "packed"])
def test_an_empty_input_is_no_empty_table(importer, content):
    """Such as the output of a command that failed."""
    message = importer.refuse(*KEYS, "--yes", "-", "x.ddb", stdin=content)
    assert "the command that wrote them may have failed" in message
    importer(*KEYS, "--yes", "-", "x.ddb", stdin=b'{"Items": []}')
    assert importer.items("x.ddb") == []
    lines = importer.write("lines", LINES)
    importer(*KEYS, "--yes", "-", lines, "y.ddb", stdin=content)
    assert len(importer.items("y.ddb")) == len(NOTES)


CHANGES = {
    "other old image": ([(KEY, OTHER, {**ITEM, "status": {"S": "z"}})], "the OldImage differs from the item in base.ddb"),
    "no old image": ([(KEY, OTHER, None)], "the change has no OldImage, but base.ddb has the item"),
    "item is missing": ([({**KEY, "sk": {"N": "2"}}, None, {**ITEM, "sk": {"N": "2"}})], "the change has an OldImage, but base.ddb does not have"),
    "twice": ([(KEY, OTHER, ITEM), (KEY, None, ITEM)], "line 2: the item was changed by an earlier line"),
    "other keys": ([(KEY, {**OTHER, "sk": {"N": "3"}}, ITEM)], "the NewImage has other keys than Keys"),
    "one key": ([({"pk": {"S": "p"}}, None, ITEM)], "line 1: the change lacks the key attribute: sk"),
    "more keys": ([(ITEM, None, ITEM)], "has Keys with attributes that are not the table's keys"),
    "wrong item": ([(KEY, {**OTHER, "x": {"N": "x"}}, ITEM)], "line 1: the NewImage is not valid"),
}  # fmt: skip


@rows("changes, why", CHANGES.values(), ids=CHANGES)
def test_change_that_does_not_fit_is_refused(importer, base, changes, why):
    message = importer.refuse("--onto", base, window(importer, changes, files=1))
    assert why in message and ".json.gz: line " in message


@pytest.mark.long
def test_a_reader_that_holds_the_file_is_named(importer, base):
    with sqlite3.connect(importer.folder / base) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM items_1").fetchall()
        process = importer.start("--onto", base, window(importer, [(KEY, OTHER, ITEM)]))
        told = process.communicate()[1].decode()
    assert process.returncode == 1 and "another program reads or writes it; wait until that has ended" in told


def test_deletion_of_a_missing_item_is_refused(importer, base):
    changes = [({**KEY, "sk": {"N": "2"}}, None, None)]
    message = importer.refuse("--onto", base, window(importer, changes, view="NEW_IMAGE"))
    assert "deletes an item that base.ddb does not have" in message


def test_changed_old_image_may_have_another_order(importer, base):
    old = {"sk": {"N": "1"}, "status": {"S": "x"}, "pk": {"S": "p"}}
    line = importer("--onto", base, window(importer, [(KEY, OTHER, old)]))
    assert line == "base.ddb: Orders as of 2026-11-02T00:00:00Z, 1 item, 1 KB, index ByStatus, 1 increment\n"


def test_an_increment_needs_its_base(importer, base, described):
    increment = window(importer)
    assert f"ddbfs import --onto FILE.ddb {increment}" in importer.refuse(*described, increment, "x.ddb")
    other = window(importer, table="Others")
    assert "base.ddb does not have the table Others" in importer.refuse("--onto", base, other)
    for words in ((), ("--table", "Orders")):
        message = importer.refuse("--onto", base, *words, increment, other)
        assert ":table/Others (" in message and ":table/Orders (" in message
    rewrite(increment, "manifest-summary.json", lambda old: {**old, "tableArn": old["tableArn"].replace("eu-", "us-")})
    message = importer.refuse("--onto", base, increment)
    assert "us-west-1:123456789012:table/Orders, and the state in base.ddb of the table arn:aws:dynamodb:eu-" in message


def test_one_full_state_of_a_table(importer, base, described):
    full = exports.full(importer.folder / "again", [ITEM], T1)
    assert "base.ddb already has the table Orders" in importer.refuse(*described, "--onto", base, full)
    lines = importer.write("lines", [ITEM])
    assert "several full states" in importer.refuse(*described, full, lines, "x.ddb")
    assert "--at has no effect on an export" in importer.refuse(*described, "--at", "2026-01-01", full, "x.ddb")


def test_onto_adds_another_table(importer, base):
    lines = importer.write("lines", [{"id": {"S": "a"}}])
    importer("--onto", base, *KEYS, lines)
    assert importer.read(base, "SELECT name FROM tables ORDER BY number") == [("Orders",), ("Notes",)]
    importer("--onto", base, window(importer, [(KEY, None, ITEM)]))
    assert importer.items(base, "Orders") == [] and importer.items(base) == [{"id": {"S": "a"}}]


def test_existing_file_is_replaced_only_with_yes(importer, base):
    lines = importer.write("lines", [{"id": {"S": "a"}}])
    message = importer.refuse(*KEYS, lines, base)
    assert "exists already, and was not changed" in message and "--onto" in message and "--yes" in message
    importer("--yes", *KEYS, lines, base)
    assert importer.items(base) == [{"id": {"S": "a"}}]
    assert "is no regular file" in importer.refuse("--yes", *KEYS, lines, importer.folder)


@rows("words, why", [
    (["none", "x.ddb"], "none can't be opened: No such file or directory"),
    ([*KEYS, "lines", "none/x.ddb"], "none/x.ddb can't be written: No such file or directory"),
    ([*KEYS, "--onto", "none.ddb", "lines"], "none.ddb cannot be opened: No such file or directory"),
    ([*KEYS, "--onto", "lines", "lines"], "lines is not a snapshot: it is no SQLite database"),
    (["--describe", "none", "lines", "x.ddb"], "none can't be opened"),
    (["--describe", "lines", "lines", "x.ddb"], "lines describes no table: it has no KeySchema"),
    (["--describe", "empty", "lines", "x.ddb"], "empty is no JSON"),
    (["--describe", "several.json", "lines", "x.ddb"], "several tables; name one: --table NAME; it has Things, Y"),
    (["--describe", "several.json", "--table", "Z", "lines", "x.ddb"], "does not describe the table Z; it has Things, Y"),
    (["--describe", "broken.json", "lines", "x.ddb"], "the description of the table Things is not valid"),
    (["--describe", "live", "lines", "x.ddb"], "the sources do not name their table; add --table NAME"),
    (["--keys", "id", "--table", "T", "lines", "x.ddb"], "--keys id names no key"),
    (["--keys", "id:S", "--table", "T", "lines", "x.ddb"], "no table can have the name T: names have 3 to 255 letters"),
    (["--keys", "id:X", "--table", "T", "lines", "x.ddb"], "the types are S, N and B"),
    (["--keys", "id:S,id:S", "--table", "T", "lines", "x.ddb"], "names no key"),
    (["--keys", "id:S,", "--table", "T", "lines", "x.ddb"], "names no key"),
    (["--keys", "id:S", "lines", "x.ddb"], "the sources do not name their table; add --table NAME"),
    ([*KEYS, "old.ddb", "x.ddb"], "old.ddb is a snapshot or another SQLite database, and no source"),
])  # fmt: skip
def test_wrong_words_have_a_reason(importer, words, why):
    table = {"TableName": "Things", "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}]}
    importer.write("lines", [{"id": {"S": "a"}}])
    importer.write("empty", "")
    importer(*KEYS, "--yes", "lines", "old.ddb")
    importer.write("broken.json", json.dumps(table))
    importer.write("several.json", json.dumps([table, {**table, "TableName": "Y"}]))
    assert why in importer.refuse(*words)


@rows("words, why", [
    (["x.ddb"], "name the sources, and the snapshot to write last"),
    (["--onto", "x.ddb"], "name the sources to add to the snapshot"),
    (["--keys", "id:S", "--describe", "x", "y", "x.ddb"], "--describe and --keys both state the keys"),
    (["--at", "noon", "y", "x.ddb"], "--at takes a date or a time"),
    (["--at", "2026-11-31", "y", "x.ddb"], '2026-11-01T06:00:00Z, and not "2026-11-31"'),
    (["--at", "2026-11-01T25:00:00Z", "y", "x.ddb"], 'and not "2026-11-01T25:00:00Z"'),
])  # fmt: skip
def test_wrong_usage(importer, words, why):
    assert why in importer.refuse(*words, expect=2)


def test_a_moment_in_the_future_is_a_warning(importer):
    lines = importer.write("lines", NOTES)
    process = importer.start(*KEYS, "--at", "2999-01-01", lines, "x.ddb")
    _, message = process.communicate()
    assert process.returncode == 0
    assert b"warning: --at 2999-01-01 is in the future: this machine's clock has " in message


def test_map_has_the_keys(importer):
    """Keys and indexes of the table are those that the map declares; the name has the environment's prefix."""
    lines = places.EXAMPLES / "ecommerce.EcomIndexerJobsTable.jsonl"
    importer("--map", places.EXAMPLES / "ecommerce.map.json", "--table", "prod-EcomIndexerJobsTable", lines, "x.ddb")
    description = json.loads(importer.read("x.ddb", "SELECT description FROM tables")[0][0])
    (table,) = [each for each in json.loads((places.EXAMPLES / "tables.json").read_text())
                if each["TableName"] == "EcomIndexerJobsTable"]  # fmt: skip
    assert description["TableName"] == "prod-EcomIndexerJobsTable"
    assert description["KeySchema"] == table["KeySchema"]
    by_name = lambda all: {each["IndexName"]: each["KeySchema"] for each in all}  # noqa: E731
    assert by_name(description["GlobalSecondaryIndexes"]) == by_name(table["GlobalSecondaryIndexes"])
    message = importer.refuse("--map", places.EXAMPLES / "ecommerce.map.json", "--table", "None", lines, "y.ddb")
    assert "the map does not have the table None; it has EcomIndexer" in message
    message = importer.refuse("--map", places.EXAMPLES / "ecommerce.map.json", lines, "y.ddb")
    assert "add --table NAME; the map has EcomIndexer" in message and "--describe" not in message


@rows("words", [[*KEYS, "-", "x.ddb"], [*KEYS, "--onto", "old.ddb", "-"]], ids=["new", "onto"])
@rows("number", [signal.SIGINT, signal.SIGTERM, signal.SIGQUIT])
def test_signal_leaves_the_file_as_it_was(importer, words, number):
    importer("--yes", "--keys", "id:S", "--table", "Old", importer.write("lines", [{"id": {"S": "a"}}]), "old.ddb")
    before = importer.files()
    process = importer.start(*words)
    process.stdin.write(b'{"id":{"S":"a"}}\n')
    process.stdin.flush()
    wait_until(lambda: importer.files() != before)
    process.send_signal(number)
    _, message = process.communicate()
    assert process.returncode == -number
    assert f"the import was interrupted; {'x' if '-' == words[-2] else 'old'}.ddb is as it was before" in message.decode()
    assert importer.files() == before


def temporary_files(importer):
    return sorted(path.name for path in importer.folder.glob(".*.ddb.import-??????"))


def start_import(importer, name, env=None):
    """An import whose temporary file exists, and that waits for its items."""
    before = len(temporary_files(importer))
    process = importer.start(*KEYS, "-", name, env=env)
    wait_until(lambda: len(temporary_files(importer)) > before)
    return process


def finish_import(process, item):
    _, message = process.communicate(json.dumps(item).encode())
    return process.returncode, message.decode()


@pytest.mark.parametrize("has_flags", [True, False], ids=["flags", "no flags"])
def test_two_imports_to_one_new_name(importer, has_flags):
    """The later one fails, also on a file system without RENAME_NOREPLACE."""
    env = None if has_flags else preloads.preload(importer.folder, "no_rename_flags")
    first, second = start_import(importer, "x.ddb", env), start_import(importer, "x.ddb", env)
    assert finish_import(second, note("second")) == (0, "")
    status, message = finish_import(first, note("first"))
    assert status == 1 and "x.ddb was made by another program meanwhile, and was not changed" in message
    assert importer.items("x.ddb") == [note("second")] and temporary_files(importer) == []


def test_file_of_a_killed_import_is_removed_by_the_next_one(importer):
    killed, other = start_import(importer, "x.ddb"), start_import(importer, "y.ddb")
    killed.kill()
    killed.communicate()
    assert len(temporary_files(importer)) == 2
    importer(*KEYS, importer.write("notes", NOTES), "z.ddb")
    assert [name[:6] for name in temporary_files(importer)] == [".y.ddb"]
    assert finish_import(other, note("other")) == (0, "")
    assert importer.items("y.ddb") == [note("other")] and temporary_files(importer) == []


def test_replaced_file_has_no_other_writer(importer, base):
    """An import that would replace the file waits for the end of --onto, and fails after five seconds."""
    lines = importer.write("notes", NOTES)
    process = importer.start(*KEYS, "--onto", base, "-")
    process.stdin.write(json.dumps(note("a")).encode() + b"\n")
    process.stdin.flush()
    wait_until((importer.folder / f"{base}-journal").exists)
    assert f"{base} is in use: another program reads or writes it" in importer(*KEYS, "--yes", lines, base, expect=1)
    assert finish_import(process, note("b")) == (0, "")
    assert importer.read(base, "SELECT count(*) FROM Notes") == [(2,)]


@rows("take_away", [
    lambda file: file.unlink(), lambda file: shutil.copy(file, f"{file}.new") and os.rename(f"{file}.new", file),
], ids=["removed", "replaced"])  # fmt: skip
@rows("is_early", [True, False])
def test_file_that_is_replaced_while_it_is_extended(importer, take_away, is_early):
    lines = importer.write("lines", [note("old")])
    importer("--yes", "--keys", "id:S", "--table", "Old", lines, "old.ddb")
    file = importer.folder / "old.ddb"
    with sqlite3.connect(file, isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        process = importer.start(*KEYS, "--onto", "old.ddb", "-")
        process.stdin.write(json.dumps(note("a")).encode() + b"\n")
        process.stdin.flush()
        if is_early:
            wait_until(lambda: opens(process, file))
            take_away(file)
        other.execute("ROLLBACK")
    other.close()
    if not is_early:
        wait_until((importer.folder / "old.ddb-journal").exists)
        take_away(file)
    status, message = finish_import(process, note("b"))
    assert status == 1 and "old.ddb was removed or replaced by another program while it was written" in message, message
    assert not file.exists() or importer.read("old.ddb", "SELECT name FROM tables") == [("Old",)]


def opens(process, file):
    """Whether PROCESS has FILE open."""
    folder = pathlib.Path(f"/proc/{process.pid}/fd")
    return str(file) in [os.readlink(each) for each in folder.iterdir() if each.is_symlink()]


def kill_import_onto(importer, base):
    """Changed pages are written before the kill, so that the file has a journal, which is returned."""
    process = importer.start(*KEYS, "--onto", base, "-")
    for number in range(300):
        process.stdin.write(json.dumps(note(f"{number}", x={"S": "x" * 100_000})).encode() + b"\n")
    process.stdin.flush()
    journal = importer.folder / f"{base}-journal"
    wait_until(lambda: journal.exists() and (importer.folder / base).stat().st_size > 1 << 20)
    process.kill()
    process.communicate()
    assert journal.exists()
    return journal


def test_killed_import_is_undone_by_a_repair(importer, base):
    before = importer.read(base, "SELECT * FROM items_1")
    journal = kill_import_onto(importer, base)
    assert f"roll the change back: ddbfs import --repair {base}" in check(importer, base, 1)
    assert importer("--repair", base) == f"{base}: the change of a killed writer was rolled back\n"
    assert "the counts of 1 moment are right" in check(importer, base)
    assert importer.read(base, "SELECT * FROM items_1") == before and not journal.exists()
    assert importer.read(base, "SELECT name FROM tables") == [("Orders",)]


def test_only_a_snapshot_is_replaced(importer, base):
    notes, text = importer.write("notes", NOTES), importer.write("text", "dear diary")
    for words in ((notes, text), (notes, notes)):
        before = words[1].read_bytes()
        assert "exists and is no snapshot, and was not changed" in importer.refuse(*KEYS, *words)
        assert "exists and is no snapshot, and was not changed" in importer.refuse(*KEYS, "--yes", *words)
        assert words[1].read_bytes() == before
    damaged = importer.write("damaged.ddb", (importer.folder / base).read_bytes()[:5000])
    assert "exists already, and was not changed" in importer.refuse(*KEYS, notes, damaged)
    importer(*KEYS, "--yes", notes, damaged)
    importer(*KEYS, "--yes", notes, importer.write("empty", b""))
    assert importer.items("damaged.ddb") == importer.items("empty") == NOTES


def test_recordings_are_not_extended(importer, base):
    with sqlite3.connect(importer.folder / base) as database:
        database.execute("UPDATE about SET value = 'recording' WHERE name = 'kind'")
    message = importer.refuse("--onto", base, *KEYS, importer.write("notes", NOTES))
    assert "is a recording, and --onto would change it" in message


def test_journal_of_a_killed_import_is_not_of_the_file_that_replaces_it(importer, base):
    journal = kill_import_onto(importer, base)
    importer(*KEYS, "--yes", importer.write("notes", NOTES), base)
    assert not journal.exists()
    assert importer.items(base) == NOTES


def test_write_ahead_log_of_a_replaced_file_is_not_of_the_file_that_replaces_it(importer, base):
    """Another program has changed its mode, and was killed."""
    change = "import os, sqlite3; c = sqlite3.connect('base.ddb'); c.executescript('PRAGMA journal_mode = WAL; CREATE TABLE t(a)')"
    subprocess.run([sys.executable, "-c", f"{change}; os._exit(0)"], cwd=importer.folder, check=True)
    assert (importer.folder / "base.ddb-wal").stat().st_size > 0
    importer(*KEYS, "--yes", importer.write("notes", NOTES), base)
    assert not list(importer.folder.glob("base.ddb-*"))
    assert importer.items(base) == NOTES


def wait_until(condition):
    for _ in range(1000):
        if condition():
            return
        time.sleep(0.01)
    pytest.fail("the condition does not hold")


@pytest.fixture
def small_disk(importer):
    disk = importer.folder / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300k", "ddbfs-test", disk], check=True)
    yield disk
    subprocess.run(["umount", disk], check=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a tmpfs")
def test_full_disk_leaves_nothing_behind(importer, small_disk):
    items = [note(str(number), x={"S": "x" * 1000}) for number in range(1000)]
    importer(*KEYS, importer.write("few", items[:100]), "disk/y.ddb")
    many = importer.write("many", items)
    words = ["--keys", "id:S", "--table", "Others", many]
    for message in (importer.refuse(*words, "disk/x.ddb"), importer.refuse("--onto", "disk/y.ddb", *words)):
        assert "cannot grow: the disk is full; free space there" in message
    assert [path.name for path in small_disk.iterdir()] == ["y.ddb"]
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    message = importer.refuse(*words, "disk/x.ddb")
    assert "disk/x.ddb can't be written: Read-only file system" in message
    assert "Read-only file system" in importer.refuse("--onto", "disk/y.ddb", *words)


def test_limit_of_file_sizes_leaves_nothing_behind(importer):
    lines = importer.write("lines", [note(str(number), x={"S": "x" * 1000}) for number in range(1000)])
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))  # noqa: E731
    assert "x.ddb cannot be read or written" in importer.refuse(*KEYS, lines, "x.ddb", preexec_fn=limit)


def test_target_in_the_current_folder_and_elsewhere(importer):
    lines = importer.write("lines", NOTES)
    (importer.folder / "deep").mkdir()
    importer(*KEYS, lines, "deep/x.ddb")
    assert [path.name for path in (importer.folder / "deep").iterdir()] == ["x.ddb"]
    assert (importer.folder / "deep/x.ddb").stat().st_mode & 0o777 == 0o600


# Checks


def check(importer, name, expect=0, *options):
    done = subprocess.run([importer.binary, "check", *options, name], cwd=importer.folder,
                          env=importer.environment, capture_output=True)  # fmt: skip
    assert done.returncode == expect, done.stderr.decode()
    return (done.stdout + done.stderr).decode()


def test_check_prints_what_it_proved(importer, base):
    importer("--onto", base, window(importer, [(KEY, OTHER, ITEM)]))
    assert check(importer, base) == (
        "base.ddb: the pages of the database are intact, and it is a snapshot\n"
        "base.ddb: Orders: 2 versions of items are valid, and have the keys that the table has\n"
        "base.ddb: Orders: the counts of 2 moments are right\n")  # fmt: skip
    lines = [json.loads(line) for line in check(importer, base, 0, "--json").splitlines()]
    assert [line["file"] for line in lines] == [base] * 3 and all(line["proven"] for line in lines)


FAULTS = {
    "a count": ("UPDATE moments SET items = 7", "7 items and", "but it has 1 and"),
    "an item": ("UPDATE items_1 SET item = '{}'", "row 1: the item lacks the key attribute: pk"),
    "no JSON": ("UPDATE items_1 SET item = 'x'", "row 1: the item is no JSON: a value expected (byte 1)"),
    "a key": ("UPDATE items_1 SET k2 = '6501.2'", "row 1: a key column differs from the item"),
    "a key of an index": ("UPDATE items_1 SET k3 = NULL", "row 1: a key column differs from the item"),
    "a time": ("UPDATE items_1 SET until_ms = 0", "row 1: the time of this version overlaps"),
    "an index": ("DROP INDEX items_1_by_1", "an index is missing"),
    "items": ("DROP VIEW Orders; DROP TABLE items_1", "the table of its items is missing"),
    "keys": ("UPDATE keys SET type = 'B' WHERE attribute = 'status'", "the table keys differs"),
    "a description": ("UPDATE tables SET description = '{}'", "the description of the table is not valid"),
    "another application": ("PRAGMA application_id = 1", "it is a database of another application"),
    "a newer version": ("PRAGMA user_version = 9", "was written by a newer ddbfs"),
    "a table": ("DROP TABLE moments", "tables of it are missing"),
}  # fmt: skip


@rows("sql, why", [(each[0], each[1:]) for each in FAULTS.values()], ids=FAULTS)
def test_check_finds_a_fault(importer, base, sql, why):
    shutil.copy(importer.folder / base, importer.folder / "fault.ddb")
    with sqlite3.connect(importer.folder / "fault.ddb") as database:
        database.executescript(sql)
    database.close()
    message = check(importer, "fault.ddb", 1)
    assert all(each in message for each in why)


def test_check_finds_damaged_pages(importer):
    importer(*KEYS, importer.write("lines", [note(f"{number:04}") for number in range(2000)]), "x.ddb")
    path = importer.folder / "x.ddb"
    content = bytearray(path.read_bytes())
    content[-8000:-7000] = bytes(1000)
    path.write_bytes(content)
    assert "the database is damaged: " in check(importer, "x.ddb", 1)
    (importer.folder / "half.ddb").write_bytes((importer.folder / "x.ddb").read_bytes()[:6000])
    told = check(importer, "half.ddb", 1)
    assert "is damaged or cut short; import it again" in told or "is cut short: " in told, told
    path.write_bytes(bytes(content[:-9000]))
    assert "x.ddb" in check(importer, "x.ddb", 1)


# The live service, and the AWS CLI


def many_types():
    """Items as boto3 has them."""
    number = "12345678901234567890123456789012345678"
    kinds = {"B": b"\0\1\2", "BOOL": False, "NULL": True, "S": "é\n\"\\ \U0001d11e", "N": number, "SS": ["x", "y"],
             "NS": ["1", "-2.5"], "BS": [b"\0", b"\1"], "L": [{"S": ""}, {"M": {}}], "M": {"a b": {"N": "0.001"}}}  # fmt: skip
    return [{"pk": {"S": f"p{at % 3}"}, "sk": {"S": f"s{at}"}, kind: {kind: value}}
            for at, (kind, value) in enumerate(kinds.items())]  # fmt: skip


def comparable(items):
    """Bytes as base64, and sets in an order of their own."""
    def tidy(value):
        if isinstance(value, bytes):
            return base64.b64encode(value).decode()
        if isinstance(value, list):
            return [tidy(each) for each in value]
        if isinstance(value, dict):
            return {name: sorted(tidy(each)) if name in ("SS", "NS", "BS") else tidy(each) for name, each in value.items()}
        return value

    return canonical(tidy(item) for item in items)


def test_output_of_the_aws_cli_is_the_table(importer, shell, server, table):
    name = table(tables.plain(), many_types())
    call = f"aws dynamodb {{}} --endpoint-url {server.url} --table-name {name} --output json"
    scan = importer.write("scan.json", shell(call.format("scan")).stdout)
    description = importer.write("description.json", shell(call.format("describe-table")).stdout)
    importer("--describe", description, scan, "x.ddb")
    items = load.client(server.url).scan(TableName=name)["Items"]
    assert len(items) == len(many_types()) and comparable(importer.items("x.ddb", name)) == comparable(items)
    assert importer.read("x.ddb", "SELECT json_extract(description, '$.TableName') FROM tables") == [(name,)]


def test_keys_of_the_live_table(ddbfs, importer, table, boto):
    name = table(tables.plain())
    boto.update_time_to_live(TableName=name, TimeToLiveSpecification={"Enabled": True, "AttributeName": "gone_at"})
    lines = importer.write("lines", [{"pk": {"S": "p"}, "sk": {"S": "s"}}])
    ddbfs("import", "--describe", "live", "--table", name, lines, importer.folder / "x.ddb")
    assert importer.items("x.ddb", name) == [{"pk": {"S": "p"}, "sk": {"S": "s"}}]
    ((description, expiry),) = importer.read("x.ddb", "SELECT description, expiry FROM tables")
    assert json.loads(description)["KeySchema"] == tables.plain()["KeySchema"]
    assert json.loads(expiry)["AttributeName"] == "gone_at"
    missing = ddbfs("import", "--describe", "live", "--table", "any-Missing", lines, importer.folder / "y.ddb", expect=1)
    assert "any-Missing" in missing.stderr and not (importer.folder / "y.ddb").exists()


# Progress


def test_terminal_shows_the_progress(importer, described):
    """The line comes after a second without output; with --json, lines come on standard output, too."""
    items = [{**ITEM, "sk": {"N": str(number)}} for number in range(6400)]
    folder = exports.full(importer.folder / "base", items, T0, files=100, empty=0)
    objects = {f"base/{path.relative_to(folder)}": path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    enough = threading.Event()
    with buckets.Bucket(objects) as bucket:
        bucket.before_each = lambda: enough.wait(0.03)
        words = [importer.binary, "import", "--json", *map(str, described), "s3://exports/base", importer.folder / "x.ddb"]
        environment = {**importer.environment, **bucket.environment(), "TERM": "xterm"}
        with terminal.Terminal(words, environment, typed=True) as shown:
            shown.wait_for(" s left")
            enough.set()
            assert shown.end() == 0
    assert re.search(r"ddbfs: [\d,]+ of 6,400 items, \d+ KB, [\d,]+ items/s, \d+ s left", shown.shown)
    assert shown.shown.endswith("\r\033[K")
    *steps, last = map(json.loads, shown.stdout.splitlines())
    assert last["done"] and last["items"] == 6400 and steps
    assert all(step["items_total"] == 6400 and 0 < step["items"] <= 6400 and not step["done"] for step in steps)
