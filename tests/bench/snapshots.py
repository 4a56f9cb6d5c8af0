"""Scenarios of snapshot files: queries beside dynoxide and plain SQLite, a large file, and grep of a mount."""

import json
import shutil
import subprocess

from bench import imports
from bench.results import Row, scenario
from harness import load, reads, servers, snapshots, tables, zoo

ITEMS = 20_000
NAME = "Things"
LARGE_ITEMS = 400_000  # of 5 KB: 2 GB
QUERY = {"kind": "query", "table": NAME, "sort": ["sk"]}
OF_200 = {**QUERY, "where": [["pk", "=", {"S": "p7"}]]}
OF_INDEX = {**QUERY, "index": "by-g", "where": [["g", "=", {"S": "g7"}]]}
ONE = {"kind": "items", "table": NAME, "keys": [{"pk": {"S": "p7"}, "sk": {"S": "000107"}}]}
PLAIN = "SELECT item FROM items_1 INDEXED BY items_1_key WHERE k1 = 'p7' AND until_ms IS NULL ORDER BY k2"
FILL = """
PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; BEGIN;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count})
INSERT INTO items_1 SELECT 'p' || (i % 1000), printf('%08d', i), 0, NULL,
 '{{"pk":{{"S":"p' || (i % 1000) || '"}},"sk":{{"S":"' || printf('%08d', i) || '"}},"text":{{"S":"' || hex(zeroblob(2450)) || '"}}}}' FROM n;
UPDATE moments SET items = {count}; COMMIT;
"""


def table():
    description = tables.table(NAME)
    description["AttributeDefinitions"] += [{"AttributeName": "g", "AttributeType": "S"}]
    description["GlobalSecondaryIndexes"] = [zoo.index("by-g", "g", "sk")]
    return description


def items():
    for at in range(ITEMS):
        numbers = {f"a{step}": {"N": str(step * at)} for step in range(10)}
        yield {"pk": {"S": f"p{at % 100}"}, "sk": {"S": f"{at:06}"}, "g": {"S": f"g{at % 500}"},
               "text": {"S": "x" * 700}, **numbers}  # fmt: skip


def snapshot(stand):
    file = stand.scratch / "things.ddb"
    return file if file.exists() else snapshots.write(file, [table()], [("2026-11-01T00:00:00Z", {NAME: list(items())})])


def read_us(stand, place, read, times):
    """The wall time of one Read of many, in microseconds."""
    command = [str(stand.programs.peer("source_reads")), str(place), "0", str(times)]
    done = subprocess.run(command, input=json.dumps(read) + "\n", capture_output=True, text=True, check=True,
                          env=reads.ENVIRONMENT)  # fmt: skip
    return int(done.stdout) / 1000


SNAPSHOT, DYNOXIDE = "source_reads things.ddb", "source_reads URL"


@scenario(
    Row("warm query of 200 items of a snapshot", SNAPSHOT, "dynoxide", DYNOXIDE, "dynoxide", unit="µs", ratio=0.05),
    Row("warm query of 40 items of a snapshot's index", SNAPSHOT, "dynoxide", DYNOXIDE, "dynoxide", unit="µs", ratio=0.05),
    Row("warm read of one item of a snapshot", SNAPSHOT, "dynoxide", DYNOXIDE, "dynoxide", unit="µs", ratio=0.5),
    Row("warm query of 200 items, beside rows that nothing parses", SNAPSHOT, "SQLite", f"plain_rows things.ddb '{PLAIN}'",
        unit="µs"),
)  # fmt: skip
def warm_reads(stand, _, many, by_index, one, plain):
    file = snapshot(stand)
    folder = stand.scratch / "things"
    folder.mkdir(exist_ok=True)
    database = load.dynoxide_database(folder, table(), items())
    with servers.running("dynoxide", database=database) as server:
        for _ in stand.rounds(9, 3):
            for row, read, times in ((many, OF_200, 300), (by_index, OF_INDEX, 1000), (one, ONE, 3000)):
                row.ours.append(read_us(stand, file, read, times))
                row.theirs.append(read_us(stand, server.url, read, 50))
            plain.theirs.append(stand.programs.run("plain_rows", file, PLAIN, 1000)[0][0] / 1000)
    plain.ours = many.ours


@scenario(
    Row("processor time of a cat from a snapshot of 2 GB", "ddbfs cat --snapshot large.ddb ITEM", "snapshot of 23 MB",
        "ddbfs cat --snapshot things.ddb ITEM", unit="ms", ratio=1.2),
    Row("most memory of the same", "ddbfs cat --snapshot large.ddb ITEM", "snapshot of 23 MB",
        "ddbfs cat --snapshot things.ddb ITEM", unit="MB", ratio=1.1),
)  # fmt: skip
def large_file(stand, _, processor, memory):
    small, large = snapshot(stand), stand.scratch / "large.ddb"
    snapshots.write(large, [tables.table(NAME)], [("2026-11-01T00:00:00Z", {NAME: []})])
    subprocess.run(["sqlite3", large], input=FILL.format(count=LARGE_ITEMS), text=True, check=True, capture_output=True)
    for _ in stand.rounds(15, 3):
        for file, item, to in ((large, "p7/00123007", "ours"), (small, "p7/000107", "theirs")):
            took = stand.time(stand.programs.ddbfs, "cat", "--no-map", "--snapshot", file, f"/tables/{NAME}/items/{item}")
            getattr(processor, to).append(took.cpu_s * 1000)
            getattr(memory, to).append(took.peak / 1e6)
    large.unlink()


@scenario(
    Row("`grep -r` of 100,000 items of a mounted snapshot, first time", "grep -r -c -m1 zzz MNT/tables/Jobs/items", "tmpfs",
        "grep -r of a copy", unit="ms"),
    Row("the same, again", "grep -r -c -m1 zzz MNT/tables/Jobs/items", "tmpfs", "grep -r of a copy", unit="ms"),
)  # fmt: skip
def grep_of_a_snapshot(stand, _, first, again):
    _, packed = imports.write_lines(stand, "many")
    imports.imported(stand, packed)
    copy = stand.tmpfs / "items"
    for at in stand.rounds(3, 1):
        with stand.mount("http://127.0.0.1:9", "--no-map", "--snapshot", str(stand.scratch / "imported.ddb")) as mounted:
            folder = mounted.folder / "tables" / "Jobs" / "items"
            first.ours.append(grep_ms(stand, folder))
            again.ours.append(grep_ms(stand, folder))
            if at == 0:
                shutil.copytree(folder, copy)
        again.theirs.append(grep_ms(stand, copy))
    first.theirs = again.theirs
    shutil.rmtree(copy)


def grep_ms(stand, folder):
    return stand.time("/bin/grep", "-r", "-c", "-m1", "zzz", folder).wall_s * 1000
