"""What a listing's files are made for: jq, SQLite, DuckDB, Miller, awk and Python's csv read them, from a
mount and from a pipe, and find what boto3 finds."""

import collections
import csv
import json
import subprocess

import pytest

from harness import packages, places

# Texts that would break a row, or pass for something else.
AWKWARD = [
    'a "quoted", text',
    "two\nlines",
    "crlf\r\nends",
    " blanks ",
    "null",
    "12345678901234567890123456789012345678",
    "",
    "#no comment",
    "日本, ünï\tcode",
    "=1+1",
]


@pytest.fixture(scope="session")
def duckdb():
    """duckdb(columns, table) -> its rows, as objects."""
    script = places.REPO / "tests/harness/duckdb.js"
    command = ["env", f"NODE_PATH={packages.duckdb_modules()}", "node", script, "-csv", "-c"]

    def select(columns, table, given):
        members = ", ".join(f"{name}: {name}" for name in columns.split(","))
        told = run([*command, f"select to_json(list({{{members}}})) as rows from {table}"], given)
        return json.loads(told.split("\n", 1)[1])

    return select


def run(command, given=None):
    done = subprocess.run(command, input=given, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b""), done.stderr
    return done.stdout.decode("utf-8")


@pytest.fixture
def awkward(branch, boto):
    """The path of a listing of jobs with awkward notes, and what boto3 has of them, in its order."""
    path, _ = branch.put_jobs(len(AWKWARD), padding=1)
    items = boto.query(
        TableName=branch.table("jobs"),
        KeyConditionExpression="pk = :p",
        ExpressionAttributeValues={":p": {"S": "PLATFORM#shopify#SHOP#acct-index"}},
    )["Items"]
    for number, (item, note) in enumerate(zip(items, AWKWARD, strict=True)):
        item["note"] = {"S": note}
        item["attempt"] = {"N": str(number)}
        item["nested"] = {"M": {"list": {"L": [{"S": note}, {"NULL": True}]}}}
    branch.put("jobs", items)
    return path, items


@pytest.fixture(params=["a mount", "a pipe"])
def given(request, mount, oracle):
    """given(path) -> a file's name, and what stands on standard input if that is it."""
    m = mount() if request.param == "a mount" else None

    def find(path):
        return (str(m / path), None) if m else ("/dev/stdin", oracle(f"/{path}"))

    return find


def notes_of(items):
    return [item["note"]["S"] for item in items]


def nested_of(items):
    return [{"list": [note, None]} for note in notes_of(items)]


def test_jq_reads_lines(given, awkward):
    path, items = awkward
    file, text = given(f"{path}@jsonl")
    told = json.loads(run(["jq", "-s", "map({note, nested, attempt})", file], text))
    assert [each["note"] for each in told] == notes_of(items)
    assert [each["nested"] for each in told] == nested_of(items)
    assert [each["attempt"] for each in told] == [int(item["attempt"]["N"]) for item in items]


def test_jq_reads_a_summary(given, awkward):
    path, items = awkward
    file, text = given(f"{path}@summary")
    told = run(["jq", "-r", ".count, .attributes.attempt.max, .newest.date", file], text)
    dates = [item["created_at"]["S"] for item in items]
    assert told.split() == [str(len(items)), str(len(items) - 1), max(dates)]


def test_sqlite_imports_rows(given, awkward):
    path, items = awkward
    file, text = given(f"{path}@csv")
    how = ["sqlite3", ":memory:", f".import --csv {file} jobs"]
    ask = "select json_group_array(note), json_group_array(json(nested)), sum(attempt) from jobs"
    notes, nested, attempts = json.loads(run([*how, ".mode json", ask], text))[0].values()
    assert json.loads(notes) == notes_of(items)
    assert json.loads(nested) == nested_of(items)
    assert attempts == sum(range(len(items)))


def test_sqlite_imports_from_a_command(ddbfs, shell, awkward):
    path, items = awkward
    line = f"""sqlite3 :memory: '.import --csv "|{ddbfs.binary} cat /{path}@csv" jobs' """
    assert shell(line + "'select sum(attempt) from jobs'").text == f"{sum(range(len(items)))}\n"


def test_duckdb_reads_lines(given, awkward, duckdb):
    path, items = awkward
    file, text = given(f"{path}@jsonl")
    rows = duckdb("note,attempt", f"read_ndjson('{file}')", text)
    assert [row["note"] for row in rows] == notes_of(items)
    assert [row["attempt"] for row in rows] == list(range(len(items)))


def test_duckdb_reads_rows(given, awkward, duckdb):
    path, items = awkward
    file, text = given(f"{path}@csv:note,attempt")
    rows = duckdb("note,attempt", f"read_csv('{file}', all_varchar = true, quote = '\"')", text)
    assert [row["note"] or "" for row in rows] == notes_of(items)
    assert [row["attempt"] for row in rows] == [item["attempt"]["N"] for item in items]


def test_miller_reads_rows(given, awkward):
    path, items = awkward
    file, text = given(f"{path}@csv")
    told = json.loads(run(["mlr", "-S", "--icsv", "--ojson", "cut", "-o", "-f", "note,nested,attempt", file], text))
    assert [each["note"] for each in told] == [note.replace("\r\n", "\n") for note in notes_of(items)]
    assert [json.loads(each["nested"]) for each in told] == nested_of(items)


def test_python_reads_rows(given, awkward):
    path, items = awkward
    file, text = given(f"{path}@csv")
    if text is None:
        with open(file, encoding="utf-8", newline="") as rows:
            told = list(csv.DictReader(rows))
    else:
        told = list(csv.DictReader(text.decode("utf-8").splitlines(keepends=True)))
    assert [each["note"] for each in told] == notes_of(items)
    assert [json.loads(each["nested"]) for each in told] == nested_of(items)


def test_awk_reads_a_table(given, awkward):
    path, items = awkward
    file, text = given(f"{path}@table:attempt,status")
    states = collections.Counter(item["status"]["S"] for item in items)
    lines = run(["awk", "NR > 1 { seen[$2]++ } END { for (s in seen) print s, seen[s] }", file], text)
    assert dict(line.split() for line in lines.splitlines()) == {
        state: str(count) for state, count in states.items()
    }
