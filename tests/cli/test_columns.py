"""ls --columns and --count, and --where and --limit of a listing's files: the same records, shown otherwise."""

import csv
import io
import json

from harness import plain, tables
from harness.rows import rows

SHOP = "kl7a9h55-shopify-e513a8-4"
BY_INDEX = f"/prod/jobs/by-index/shopify/{SHOP}"
BY_STATUS = f"/prod/jobs/by-status/{SHOP}/COMPLETED"
COOL = "/prod/shops/cool-store.myshopify.com"
FAILED = 'status = "FAILED"'


def records(ddbfs, path, *asked):
    return [json.loads(line) for line in ddbfs("cat", f"{path}@jsonl", *asked).text.splitlines()]


# Columns


@rows("path", [f"{BY_INDEX}/all", BY_STATUS])
def test_attributes_stand_before_the_name(ddbfs, ls, path):
    rows = [line.split() for line in ddbfs("ls", "--columns", "status,created_at", path).text.splitlines()]
    jobs = records(ddbfs, path)
    names = [name for name in ls(path) if not name.endswith("/") and name != "README"]
    assert rows == [[job["status"], job["created_at"], name] for job, name in zip(jobs, names)] != []


def test_columns_are_aligned(ddbfs):
    lines = ddbfs("ls", "--columns", "status,created_at", f"{BY_INDEX}/all").text.splitlines()
    jobs = records(ddbfs, f"{BY_INDEX}/all")
    assert len({line.index(job["created_at"]) for line, job in zip(lines, jobs)}) == 1
    assert len({job["status"] for job in jobs}) > 1


def test_a_page_is_no_narrower_than_the_one_before(ddbfs, table, proxy):
    """Nothing waits for the last page, and a column that has widened stays so."""
    widths = (1, 4, 1, 1, 8, 1)
    items = [{"pk": {"S": "p"}, "sk": {"S": str(i)}, "word": {"S": "x" * n}} for i, n in enumerate(widths)]
    name = table(tables.table("prod-Wide", sort="S"), items)
    proxy.fault("page_size", op="Query", times=None, items=2)
    lines = ddbfs("ls", "--columns", "word", f"/prod/tables/{name}/items/p").text.splitlines()
    assert [len(line) - 1 for line in lines] == [6, 6, 6, 6, 10, 10]


def test_nested_values_are_json_and_missing_ones_a_dash(ddbfs):
    lines = ddbfs("ls", "--columns", "labels,nothing", f"{BY_INDEX}/all").text.splitlines()
    jobs = records(ddbfs, f"{BY_INDEX}/all")
    shown = [line.split()[0] for line in lines]
    assert shown == [json.dumps(job["labels"], separators=(",", ":")) if "labels" in job else "-" for job in jobs]
    assert {line.split()[1] for line in lines} == {"-"} and any(each != "-" for each in shown)


def test_an_attribute_of_no_record_is_told(ddbfs):
    result = ddbfs("ls", "--columns", "status,staus", f"{BY_INDEX}/all")
    assert 'no item has an attribute "staus"' in result.stderr
    assert '"status"' not in result.stderr
    told = json.loads(ddbfs("ls", "--json", "--columns", "status,staus", f"{BY_INDEX}/all").stderr)
    message = 'no item has an attribute "staus"'
    assert told == {"path": f"{BY_INDEX}/all", "kind": "warning", "message": message}


def test_secrets_are_masked(ddbfs):
    asked = ("ls", "--columns", "access_token", "--where", "access_token exists", COOL)
    for more in ([], ["--json"]):
        text = ddbfs(*asked, *more).text
        assert plain.MASK in text and "shpat_" not in text
    assert "shpat_" in ddbfs("--show-secrets", *asked).text


def test_with_size_and_date(ddbfs):
    path = f"{BY_INDEX}/latest"
    long = [line for line in ddbfs("ls", "-l", path).text.splitlines() if not line.endswith("README")]
    both = ddbfs("ls", "-l", "--columns", "status", path).text.splitlines()
    assert [line.split() for line in both] == [
        [*line.split()[:-1], job["status"], line.split()[-1]] for line, job in zip(long, records(ddbfs, path))
    ]


def test_by_date_where_the_index_holds_the_columns_and_not_the_date(ddbfs, table, plain_map, write_map):
    keys = [{"AttributeName": "note", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}]
    made = tables.plain()
    made["AttributeDefinitions"].append({"AttributeName": "note", "AttributeType": "S"})
    index = {"IndexName": "by-note", "KeySchema": keys, "Projection": {"ProjectionType": "KEYS_ONLY"}}
    dates = {"a": "2026-01-02", "b": "2026-01-01", "c": "2026-01-03"}
    items = [tables.item(name, "x") | {"day": {"S": day}} for name, day in dates.items()]
    table(made | {"GlobalSecondaryIndexes": [index]}, items)
    things = plain_map["tables"]["things"]
    things["indexes"] = {"by-note": {"partition": "note", "sort": "sk", "projects": "keys"}}
    things["paths"]["noted/{note}/"] = {"index": "by-note", "mtime": "day"}
    text = ddbfs("ls", "-t", "--columns", "sk", "/any/things/noted/x", env={"DDBFS_MAP": str(write_map(plain_map))}).text
    assert [line.split()[0] for line in text.splitlines()] == ["c", "a", "b"]


def test_json_has_members(ddbfs):
    path = f"{BY_INDEX}/all"
    lines = ddbfs("ls", "--json", "--columns", "status,labels,nothing", path).text.splitlines()
    told, jobs = [json.loads(line) for line in lines], records(ddbfs, path)
    wanted = [{name: job[name] for name in ("status", "labels") if name in job} for job in jobs]
    assert [each["columns"] for each in told] == wanted
    assert json.loads(ddbfs("cat", told[0]["path"]).text) == jobs[0]


def test_columns_of_what_a_filter_lets_through(ddbfs):
    path = f"{BY_INDEX}/all"
    lines = ddbfs("ls", "--columns", "status", "--where", FAILED, "--limit", "2", path).text.splitlines()
    assert [line.split()[0] for line in lines] == ["FAILED", "FAILED"]


def test_a_name_may_hold_a_comma(ddbfs, table):
    item = {"pk": {"S": "p"}, "sk": {"S": "one"}, "a,b": {"S": "both"}}
    path = f"/prod/tables/{table(tables.table('prod-Comma', sort='S'), [item])}/items/p"
    assert ddbfs("ls", "--columns", "a%2Cb", path).text == "both  one\n"
    for wrong in ("a,,b", "", ",a", "%zz"):
        assert "--columns takes attributes" in ddbfs("ls", "--columns", wrong, path, expect=2).stderr


@rows("path", ["/prod", f"{COOL}/SETTINGS"])
def test_what_has_no_records_has_no_columns(ddbfs, proxy, path):
    for option in (["--columns", "status"], ["--count"]):
        assert "is no listing of items" in ddbfs("ls", *option, path, expect=1).stderr
    assert proxy.requests == []
    assert "is a file; --columns needs a directory" in ddbfs("ls", "--columns", "status", f"{COOL}@jsonl", expect=1).stderr


# Counts


@rows("asked", [[], ["--where", FAILED], ["--limit", "3"], ["--where", FAILED, "--limit", "1"]])
@rows("path", [f"{BY_INDEX}/all", BY_STATUS, f"{BY_INDEX}/latest"])
def test_the_count_is_that_of_the_records(ddbfs, path, asked):
    count = len(records(ddbfs, path, *asked))
    assert ddbfs("ls", "--count", *asked, path).text == f"{count}\n"
    assert ddbfs("cat", f"{path}@count", *asked).text == f"{count}\n"


def test_of_several_paths_each_says_whose_it_is(ddbfs):
    one, other = f"{BY_INDEX}/all", COOL
    counts = [len(records(ddbfs, path)) for path in (one, other)]
    assert ddbfs("ls", "--count", one, other).text == f"{counts[0]} {one}\n{counts[1]} {other}\n"
    told = [json.loads(line) for line in ddbfs("ls", "--json", "--count", one, other).text.splitlines()]
    assert told == [{"path": one, "count": counts[0]}, {"path": other, "count": counts[1]}]


def test_a_number_has_no_columns(ddbfs):
    for option in (["-l"], ["--columns", "status"]):
        assert "--count prints a number" in ddbfs("ls", "--count", *option, COOL, expect=2).stderr


# Files of some records


@rows("items", [2, 100])
def test_lines_of_what_a_filter_lets_through(ddbfs, proxy, items):
    proxy.fault("page_size", op="Query", times=None, items=items)
    every = records(ddbfs, f"{BY_INDEX}/all")
    failed = [job for job in every if job["status"] == "FAILED"]
    assert records(ddbfs, f"{BY_INDEX}/all", "--where", FAILED) == failed != []
    assert records(ddbfs, f"{BY_INDEX}/all", "--where", FAILED, "--limit", "1") == failed[:1]
    assert len(every) > len(failed)


@rows("asked", [["--where", FAILED], ["--limit", "3"], ["--where", FAILED, "--limit", "1"]])
@rows("path", [f"{BY_INDEX}/all", BY_STATUS.replace("COMPLETED", "FAILED")])
def test_every_form_has_what_answers(ddbfs, path, asked):
    jobs = records(ddbfs, path, *asked)
    rows = list(csv.DictReader(io.StringIO(ddbfs("cat", f"{path}@csv:status,job_id", *asked).text)))
    assert rows == [{"status": job["status"], "job_id": job["job_id"]} for job in jobs] != []
    lines = ddbfs("cat", f"{path}@table:job_id", *asked).text.splitlines()
    assert lines == ["job_id", *(job["job_id"] for job in jobs)]
    assert json.loads(ddbfs("cat", f"{path}@summary", *asked).text)["count"] == len(jobs)


def test_a_limit_reads_no_page_beyond(ddbfs, proxy):
    proxy.fault("page_size", op="Query", times=None, items=2)
    assert len(records(ddbfs, f"{BY_INDEX}/all", "--limit", "3")) == 3
    assert proxy.ops == ["Query", "Query"]


def test_long_list_tells_the_size_of_some(ddbfs):
    path = f"{BY_INDEX}/all@jsonl"
    size = len(ddbfs("cat", path, "--where", FAILED).stdout)
    assert int(ddbfs("ls", "-l", path, "--where", FAILED).text.split()[1]) == size > 0


@rows("path", [f"{COOL}/SETTINGS", f"{COOL}/README"])
def test_a_record_has_no_part_that_answers(ddbfs, proxy, path):
    assert "is no listing of items" in ddbfs("cat", path, "--where", FAILED, expect=1).stderr
    assert proxy.requests == []
