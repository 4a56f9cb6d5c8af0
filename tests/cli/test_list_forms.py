"""A listing as a file of rows, or as a summary: DIR@csv, DIR@table, DIR@summary."""

import csv
import io
import json

import pytest

from harness import plain
from harness.rows import rows

SHOP = "kl7a9h55-shopify-e513a8-4"
ALL = f"/prod/jobs/by-index/shopify/{SHOP}/all"
JOBS = "prod-EcomIndexerJobsTable"
SHOP_RECORDS = "/prod/shops/cool-store.myshopify.com"
KEYS = ["pk", "sk"]


@pytest.fixture
def jobs(oracle):
    return oracle.query(JOBS, "pk = :pk", pk=f"PLATFORM#shopify#SHOP#{SHOP}")


def rows_of(text):
    return list(csv.reader(io.StringIO(text, newline="")))


def cell(item, name):
    """What a reader of CSV has of an attribute: nested ones as JSON on one line."""
    if name not in item:
        return ""
    kind, content = next(iter(item[name].items()))
    if kind in "SN":
        return content
    # A record of this one attribute, without the brace, the name and what closes it.
    return plain.render({"a": item[name]}, compact=True).decode()[len('{"a":') : -len("}\n")]


def test_csv_has_each_attribute_of_each_record(ddbfs, jobs):
    header, *rows = rows_of(ddbfs("cat", f"{ALL}@csv").text)
    assert header == KEYS + sorted({name for item in jobs for name in item} - set(KEYS))
    assert rows == [[cell(item, name) for name in header] for item in jobs] != []


@rows("path", [f"{ALL}@csv/", f"{ALL}@csv:"])
def test_csv_has_the_columns_that_are_asked_for(ddbfs, jobs, path):
    header, *rows = rows_of(ddbfs("cat", f"{path}status,nothing,created_at").text)
    assert header == ["status", "nothing", "created_at"]
    assert rows == [[cell(item, name) for name in header] for item in jobs]


def test_a_table_is_aligned(ddbfs, jobs):
    lines = ddbfs("cat", f"{ALL}@table/status,created_at").text.splitlines()
    width = max(len(cell(item, "status")) for item in jobs)
    pairs = [("status", "created_at")] + [(cell(i, "status"), cell(i, "created_at")) for i in jobs]
    assert lines == [f"{status:{width}}  {date}" for status, date in pairs]
    assert ddbfs("cat", f"{ALL}@table:status,created_at").text.splitlines() == lines


def test_a_summary_counts_and_dates(ddbfs, jobs):
    told = json.loads(ddbfs("cat", f"{ALL}@summary").text)
    dates = sorted(item["created_at"]["S"] for item in jobs)
    key = {name: jobs[0][name]["S"] for name in KEYS}
    assert told["count"] == len(jobs) and told["first"] == key
    assert told["last"] == {name: jobs[-1][name]["S"] for name in KEYS}
    assert (told["oldest"]["date"], told["newest"]["date"]) == (dates[0], dates[-1])
    states = [item["status"]["S"] for item in jobs]
    values = {each["value"]: each["count"] for each in told["attributes"]["status"]["values"]}
    assert values == {state: states.count(state) for state in states}
    assert told["attributes"]["created_at"]["min"] == dates[0]
    assert list(told["attributes"])[:2] == KEYS


def test_a_summary_is_one_line_when_asked(ddbfs):
    text = ddbfs("--format", "compact", "cat", f"{ALL}@summary").text
    assert text.count("\n") == 1
    assert json.loads(text) == json.loads(ddbfs("cat", f"{ALL}@summary").text)


@rows("ending", ["@csv", "@csv/sk,access_token", "@table/sk,access_token"])
def test_secrets_are_masked(ddbfs, ending):
    masked = ddbfs("cat", f"{SHOP_RECORDS}{ending}").text
    assert "shpat_" not in masked and plain.MASK in masked
    assert "shpat_" in ddbfs("--show-secrets", "cat", f"{SHOP_RECORDS}{ending}").text


def test_a_summary_tells_of_secrets_that_they_are_there(ddbfs):
    text = ddbfs("cat", f"{SHOP_RECORDS}@summary").text
    told = json.loads(text)["attributes"]["access_token"]
    assert "shpat_" not in text and told["masked"] and "values" not in told
    assert "shpat_" in ddbfs("--show-secrets", "cat", f"{SHOP_RECORDS}@summary").text


FORMS = ["@csv", "@csv/status,created_at", "@table/status,created_at", "@summary"]


@rows("ending", FORMS)
def test_pages_make_no_difference(ddbfs, proxy, ending):
    whole = ddbfs("cat", f"{ALL}{ending}").text
    proxy.fault("page_size", op="Query", times=None, items=2)
    assert ddbfs("cat", f"{ALL}{ending}").text == whole != ""


@rows("ending", FORMS)
def test_records_that_the_index_lacks_are_read(ddbfs, ending):
    path = f"/prod/jobs/by-status/{SHOP}/COMPLETED"
    items = [json.loads(line) for line in ddbfs("cat", f"{path}@jsonl").text.splitlines()]
    text = ddbfs("cat", f"{path}{ending}").text
    if ending == "@summary":
        assert json.loads(text)["count"] == len(items) > 0
    else:
        lines = text.splitlines()[1:]
        assert all(item["created_at"] in line for item, line in zip(items, lines, strict=True)) and items


@rows("ending", FORMS)
def test_of_no_record_there_is_a_header_or_a_zero(ddbfs, ending):
    named = f"/prod/jobs/by-status/{SHOP}/NONE{ending}"
    empty = {
        "@csv": "pk,sk\n",
        "@csv/status,created_at": "status,created_at\n",
        "@table/status,created_at": "status  created_at\n",
    }
    text = ddbfs("cat", named).text
    assert text == empty[ending] if ending in empty else json.loads(text)["count"] == 0


def test_a_table_has_a_readme_of_its_columns(ddbfs):
    assert "cat status,created_at" in ddbfs("cat", f"{ALL}@table/README").text


def widths_of(lines):
    return [len(line.rstrip("\n")) for line in lines]


def test_a_table_without_columns_shows_those_that_fit(ddbfs):
    shown = ddbfs("cat", "--limit", "3", f"{ALL}@table")
    names = shown.text.splitlines()[0].split()
    header = ddbfs("cat", "--limit", "3", f"{ALL}@csv").text.splitlines()[0].split(",")
    assert names == [name for name in header if name in names] and names[0] == header[0]
    assert max(widths_of(shown.text.splitlines())) <= 80 and len(shown.text.splitlines()) == 4
    assert f"{len(header) - len(names)} more columns do not fit" in shown.stderr
    assert ddbfs("cat", "--limit", "3", f"{ALL}@table/{','.join(names)}").text == shown.text


@pytest.mark.parametrize("ending", ["@csv/", "@table/"])
def test_a_slash_behind_a_file_of_a_listing_is_told_so(ddbfs, ending):
    said = ddbfs("cat", f"{ALL}{ending}", expect=1).stderr
    assert said == (
        f"ddbfs: {ALL}{ending}: one file with all items of the listing; remove the final /, or type "
        "columns behind it: status,created_at\n"
    )


@rows("ending", ["@csv:a,,b", "@csv/,", "@table/%zz", "@table:,a"])
def test_what_names_no_column_is_refused(ddbfs, ending):
    assert "attribute" in ddbfs("cat", f"{ALL}{ending}", expect=1).stderr


@rows("ending", ["@csv", "@table", "@summary", "@csv:sk", "@table:sk"])
def test_a_record_or_a_plain_directory_has_none(ddbfs, ending):
    for path in (f"/prod/jobs/by-index/shopify/{SHOP}", f"{SHOP_RECORDS}/SETTINGS"):
        assert "only a listing of records has @" in ddbfs("cat", f"{path}{ending}", expect=3).stderr


def test_a_comma_in_a_name_is_escaped(ddbfs, things):
    things.put("ann", **{"a,b": {"S": "x"}, "%": {"N": "1"}, "quo\"te": {"S": "y\nz"}})
    text = ddbfs("cat", '/any/things/box@csv/a%2Cb,%25,quo"te', env=things.env).text
    assert text == '"a,b",%,"quo""te"\nx,1,"y\nz"\n'


@rows("ending", FORMS)
def test_what_fails_in_the_middle_ends_in_an_error(ddbfs, proxy, ending):
    proxy.fault("page_size", op="Query", times=None, items=5)
    meets_second = proxy.fault("denied", op="Query", times=None)
    meets_second.meets = lambda record: "ExclusiveStartKey" in record.body
    result = ddbfs("cat", f"{ALL}{ending}", expect=1)
    assert "AccessDenied" in result.stderr
    assert len(result.text.splitlines()) == (6 if ending.startswith("@csv/") else 0)
