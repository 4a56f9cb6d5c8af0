"""Scenarios of `ddbfs import`: the rate and the memory, beside sqlite3 and Python with the same lines."""

import gzip
import json

from bench.results import Row, scenario

MB = 1e6
COUNTS = {"some": 20_000, "many": 100_000}
PLAIN = """\
CREATE TABLE lines(line TEXT);
.mode ascii
.separator "\\037" "\\n"
.import {lines} lines
CREATE TABLE items AS SELECT json_extract(line, '$.Item.pk.S') AS pk, json_extract(line, '$.Item.sk.S') AS sk,
  json_extract(line, '$.Item') AS item FROM lines;
CREATE UNIQUE INDEX items_key ON items(pk, sk);
"""
PYTHON = """\
import gzip, json, sqlite3, sys
database = sqlite3.connect(sys.argv[2])
database.execute("PRAGMA synchronous = OFF")
database.execute("CREATE TABLE items(pk, sk, item)")
def rows():
    for line in gzip.open(sys.argv[1], "rb"):
        item = json.loads(line)["Item"]
        yield item["pk"]["S"], item["sk"]["S"], json.dumps(item)
database.executemany("INSERT INTO items VALUES(?, ?, ?)", rows())
database.execute("CREATE UNIQUE INDEX items_key ON items(pk, sk)")
database.commit()
"""


def write_lines(stand, name):
    """Items of 1 KB as the lines of an export, plain and compressed."""
    lines, packed = stand.scratch / f"{name}.jsonl", stand.scratch / f"{name}.jsonl.gz"
    if packed.exists():
        return lines, packed
    with open(lines, "w", encoding="ascii") as out:
        for number in range(COUNTS[name]):
            text = " ".join(f"word{number * step % 9973}" for step in range(1, 70))
            item = {"pk": {"S": f"SHOP#{number % 997}"}, "sk": {"S": f"JOB#{number:08}"}, "count": {"N": str(number)},
                    "state": {"M": {"ok": {"BOOL": True}, "tags": {"SS": ["a", "b"]}}}, "text": {"S": text}}  # fmt: skip
            item["pad"] = {"S": "z" * (990 - len(json.dumps(item, separators=(",", ":"))))}
            out.write(json.dumps({"Item": item}, separators=(",", ":")) + "\n")
    with open(lines, "rb") as source, gzip.open(packed, "wb", compresslevel=6) as out:
        out.write(source.read())
    return lines, packed


def imported(stand, packed):
    target = stand.scratch / "imported.ddb"
    return stand.time(stand.programs.ddbfs, "import", "--yes", "--keys", "pk:S,sk:S", "--table", "Jobs", packed, target)


def by_python(stand, packed):
    target = stand.scratch / "python.db"
    target.unlink(missing_ok=True)
    return stand.time("/usr/bin/python3", "-c", PYTHON, packed, target)


def by_sqlite(stand, lines):
    target, script = stand.scratch / "plain.db", stand.scratch / "plain.sql"
    target.unlink(missing_ok=True)
    script.write_text(PLAIN.format(lines=lines))
    return stand.time("/usr/bin/sqlite3", target, f".read {script}")


def per_item(timing, name):
    """Processor time in microseconds: a busy disk or machine does not change it."""
    return timing.cpu_s * 1e6 / COUNTS[name]


@scenario(
    Row("processor time to import an item of 1 KB, compressed, verified; 60,000 a second are 16.7 µs",
        "ddbfs import --keys pk:S,sk:S items.jsonl.gz x.ddb", unit="µs", most=16.7),
    Row("the same, beside sqlite3 without decompression", "ddbfs import items.jsonl.gz x.ddb", "sqlite3",
        ".import of the lines; json_extract of the keys; an index", unit="µs", ratio=1),
    Row("the same, beside Python", "ddbfs import items.jsonl.gz x.ddb", "Python", "gzip, json and sqlite3 of the library",
        unit="µs", ratio=0.5),
)  # fmt: skip
def rate_of_import(stand, _, alone, by_shell, by_library):
    lines, packed = write_lines(stand, "many")
    for _ in stand.rounds(5, 2):
        alone.ours.append(per_item(imported(stand, packed), "many"))
        by_shell.theirs.append(per_item(by_sqlite(stand, lines), "many"))
        by_library.theirs.append(per_item(by_python(stand, packed), "many"))
    by_shell.ours = by_library.ours = alone.ours
    alone.note = f"{1e6 / alone.value(alone.ours):,.0f} items/s"


@scenario(
    Row("most memory of an import of 100,000 items", "ddbfs import items.jsonl.gz x.ddb", unit="MB", most=64),
    Row("the same of 20,000 and of 100,000", "ddbfs import: 100,000 items", "ddbfs import", "20,000 items", unit="MB",
        ratio=1.5),
)  # fmt: skip
def memory_of_import(stand, _, alone, growth):
    packed = {name: write_lines(stand, name)[1] for name in COUNTS}
    for _ in stand.rounds(3, 1):
        alone.ours.append(imported(stand, packed["many"]).peak / MB)
        growth.theirs.append(imported(stand, packed["some"]).peak / MB)
    growth.ours = alone.ours
