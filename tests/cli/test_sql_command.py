"""ddbfs sql: one statement from the command line, or several from standard input; the forms of results,
explanations, limits and failures."""

import csv
import io
import json
import signal
import threading

import pytest

from harness import mounts, runner, terminal
from harness.rows import rows

SHOP = "kl7a9h55-shopify-e513a8-4"
JOBS = f"from prod.jobs where platform = 'shopify' and shop_id = '{SHOP}'"
PAGE = 178  # RCU, at most
JOB = "1f3c9a52-7b1e-4c57-9d0a-2e6f4b8c1d90"


def objects(text):
    return [json.loads(line) for line in text.splitlines()]


def words(text):
    return [line.split() for line in text.splitlines()]


# The session of the issue.


def test_rows_are_counted_by_group(ddbfs, oracle, cost):
    statement = f"select status, count(*) n, max(created_at) {JOBS} group by 1 order by n desc"
    found = words(ddbfs("sql", statement).text)
    sent = cost()
    tally = {}
    for line in ddbfs("cat", f"/prod/jobs/by-index/shopify/{SHOP}/all@jsonl").text.splitlines():
        status = json.loads(line).get("status")
        tally[status] = tally.get(status, 0) + 1
    assert found[0] == ["status", "n", "max(created_at)"]
    assert {row[0]: int(row[1]) for row in found[1:]} == tally
    assert [int(row[1]) for row in found[1:]] == sorted(tally.values(), reverse=True)
    assert set(each.split()[0] for each in sent) == {"Query"}


def test_two_tables_are_joined(ddbfs, proxy):
    statement = f"select j.job_id, s.active_index from prod.jobs j join prod.shops s on s.domain = j.domain where j.job_id in ('{JOB}', 'none')"
    ddbfs("sql", "--json", statement)
    assert not [each for each in proxy.requests if each.op == "Scan"]


def test_items_of_a_table_of_the_account(ddbfs, cost):
    statement = """select * from "prod-ShopifyEntitiesTable" where pk = 'SHOP#cool-store.myshopify.com' and sk between 'A' and 'T'"""
    found = objects(ddbfs("sql", "--json", statement).text)
    assert found and all("A" <= each["sk"] <= "T" for each in found)
    assert cost() == ["DescribeTable", "Query"]
    assert json.loads(found[0]["item"])["pk"] == "SHOP#cool-store.myshopify.com"


def test_explanation_sends_nothing(ddbfs, proxy, shell):
    text = ddbfs("sql", "--explain", f"select job_id {JOBS}").text
    assert proxy.requests == []
    assert text.startswith("1. prod.jobs\n") and "reads  1. Query" in text and "cost   " in text
    assert "aws    aws dynamodb query" in text and "\ntotal  1 request a page of up to 1 MB\n" in text
    assert f"0.5 RCU if nothing is found, at most {PAGE} a page" in text.partition("total")[2]
    assert text.endswith("the sum is not known before the rows are read; --max-rcu limits it\n")


def test_explanation_of_keys_has_a_total(ddbfs, proxy):
    told = ddbfs("sql", "--explain", "select status from prod.jobs where pk = 'a' and sk in ('b', 'c')").text
    assert "times  2 lookups\ntotal  at most 2 requests, 100 RCU: about $0.000013 on demand\n" in told
    assert proxy.requests == []


def test_explanation_of_a_join_names_the_steps_without_a_bound(ddbfs, proxy):
    statement = f"select s.plan from prod.jobs j join prod.shops s on s.domain = j.shop_domain where j.job_id in ('{JOB}', 'none')"
    told = ddbfs("sql", "--explain", statement).text
    assert "times  for each value that other steps find; equal lookups are sent once\n" in told
    total = told.partition("\ntotal  ")[2]
    assert total.startswith("1 request a page of up to 1 MB of each of 2 queries; contents: 1 more for every 100 items\n")
    assert "and the cost of step 2 for each value; the sum is not known" in total
    bound = objects(ddbfs("sql", "--explain", "--json", statement).text)[-1]["total"]
    assert bound["bound"]["paged_queries"] == 2 and bound["per_row"] and bound["requests"] is None
    assert proxy.requests == []


def test_explanation_of_a_scan_has_its_limit(ddbfs, proxy):
    told = ddbfs("sql", "--explain", "--allow-scan", "select count(*) from prod.jobs").text
    assert "reads  1. Scan prod-EcomIndexerJobsTable\n" in told and "aws    aws dynamodb scan " in told
    assert "0.5 RCU if nothing is found, at most 6603.5: about" in told.partition("\ntotal  ")[2]
    assert proxy.requests == []


def test_explanation_of_a_scan_as_objects(ddbfs):
    step, total = objects(ddbfs("sql", "--explain", "--json", "--allow-scan", "select count(*) from prod.jobs").text)
    assert step["read"] == "Scan prod-EcomIndexerJobsTable" and step["aws"].startswith("aws dynamodb scan ")
    assert total["total"]["bound"]["scans"] == 1


def test_explanation_without_a_table_computes_nothing(ddbfs):
    endless = "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n"
    assert ddbfs("sql", "--explain", endless).text == "total  no request\n"


def test_explanation_as_objects(ddbfs, proxy):
    statement = "select job_id from prod.jobs j where pk = 'a' and sk = 'b'"
    step, total = objects(ddbfs("sql", "--explain", "--json", statement).text)
    assert step["step"] == 1 and step["table"] == "prod.jobs" and step["alias"] == "j" and not step["per_row"]
    assert step["read"]["aws"].startswith("aws dynamodb get-item ")
    assert step["read"]["units"]["most"] == total["total"]["rcu"] and total["total"]["requests"] == 1
    assert proxy.requests == []


def test_verbose_has_the_steps_each_request_and_the_total(ddbfs):
    said = ddbfs("sql", "-v", f"select count(*) {JOBS}").stderr.splitlines()
    assert said[0].startswith("ddbfs: step 1, prod.jobs: Query prod-EcomIndexerJobsTable where pk = ")
    assert said[1].startswith("ddbfs: aws dynamodb query --table-name prod-EcomIndexerJobsTable ")
    assert said[2].startswith("ddbfs: Query table=prod-EcomIndexerJobsTable ") and len(said) == 4
    assert said[-1].startswith("ddbfs: total: ") and said[-1].endswith(" RCU")


# The forms of a result.

VALUES = """select 1 as a, 'x' b, null c, 2.0 d, '' e, 'NULL' f, x'0102' g, '5' h, 'it''s' i, '''' j
    union all select 23, 'ü漢' || char(27) || '[31m', 'q', 0.1, 'e', 'n', x'', 6, ',', '"'"""


def test_table_shows_null_and_empty_texts_apart(ddbfs):
    lines = ddbfs("sql", VALUES).text.splitlines()
    assert lines[0].split() == list("abcdefghij")
    assert lines[1].split() == ["1", "x", "NULL", "2.0", "''", "'NULL'", "AQI=", "5", "it's", "''''"]
    assert lines[2].split()[:4] == ["23", "ü漢%1B[31m", "q", "0.1"]
    assert lines[1].startswith(" 1  x") and lines[2].startswith("23  ")


def test_csv_shows_null_and_empty_texts_apart(ddbfs):
    text = ddbfs("sql", "--csv", VALUES).text
    assert text.splitlines()[:2] == ["a,b,c,d,e,f,g,h,i,j", """1,x,,2.0,"",NULL,AQI=,"5",it's,'"""]
    assert list(csv.reader(io.StringIO(text)))[2][1] == "ü漢\x1b[31m"


def test_json_has_exact_values_and_all_columns(ddbfs):
    text = ddbfs("sql", "--json", VALUES).text
    assert "\x1b" not in text
    first, second = objects(text)
    assert first == {"a": 1, "b": "x", "c": None, "d": 2.0, "e": "", "f": "NULL", "g": "AQI=", "h": "5", "i": "it's", "j": "'"}
    assert second["b"] == "ü漢\x1b[31m" and type(second["h"]) is int and type(first["d"]) is float


@rows(
    "expression, expected",
    [
        ("9223372036854775807", "9223372036854775807"),
        ("0.1 + 0.2", "0.30000000000000004"),
        ("1e300", "1e+300"),
        ("9e999", "9e999"),
        ("-1.0", "-1.0"),
        ("json_object('a', 1)", r'"{\"a\":1}"'),
        ("1 as x, 2 as x, 3 as \"x:2\"", '1,"x:2":2,"x:2:2":3'),
        ("cast(x'ff' as text)", r'"\ufffd"'),
    ],
)
def test_json_of_a_value(ddbfs, expression, expected):
    line = ddbfs("sql", "--json", f"select {expression}").text
    assert line.partition(":")[2] == f"{expected}}}\n" or line.endswith(f'"x":{expected}}}\n')


def test_result_without_rows(ddbfs):
    assert ddbfs("sql", "select 1 as a where 0").text == "a\n"
    assert ddbfs("sql", "--csv", "select 1 as a where 0").text == "a\n"
    assert ddbfs("sql", "--json", "select 1 as a where 0").text == ""


def test_cells_of_a_pipe_are_whole(ddbfs):
    found = ddbfs("sql", "select printf('%.*c', 500, 'x') a, 7 b union all select 'y', 8").text.splitlines()
    assert found[1] == "x" * 500 + "  7" and found[2] == "y" + " " * 59 + "  8"


def test_widths_come_from_the_first_rows(ddbfs):
    numbers = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 1000) select i, 'a' from n"
    lines = ddbfs("sql", numbers).text.splitlines()
    assert len(lines) == 1001 and lines[1] == "  1  a" and lines[-1] == "1000  a"


@pytest.fixture
def typed(home):
    """typed("sql", …) -> the command at a terminal of 80 columns."""

    def start(*options, rows=24, columns=80):
        command = [str(runner.Ddbfs(home).binary), *options]
        at = terminal.Terminal(command, home.environment({"TERM": "dumb"}), rows=rows, typed=True)
        at.resize(rows, columns)
        return at

    return start


def test_wide_table_becomes_lines_on_a_terminal(typed):
    columns = ", ".join(f"{n} as column_{n}" for n in range(200))
    with typed("sql", f"select {columns}") as at:
        assert at.end() == 0
    lines = at.shown.replace("\r", "").splitlines()
    assert lines[0] == "-[ 1 ]-" and lines[1] == "column_0    0" and lines[200] == "column_199  199"


def test_long_cell_is_cut_on_a_terminal(typed):
    with typed("sql", "select printf('%.*c', 100, 'x') a, char(7) b") as at:
        assert at.end() == 0
    assert "x" * 59 + "…  %07\r\n" in at.shown and "\x07" not in at.shown


def test_csv_has_no_control_character_on_a_terminal(typed):
    with typed("sql", "--csv", "select char(27) || ']0;x'") as at:
        assert at.end() == 0
    assert "%1B]0;x" in at.shown and "\x1b" not in at.shown


# Statements.


def test_statements_of_standard_input_stop_at_the_first_failure(ddbfs):
    found = ddbfs("sql", stdin=b"select 1 a; -- one\nselect 2 b;\nselect nowhere;\nselect 3", expect=1)
    assert found.text == "a\n1\n\nb\n2\n"
    assert found.stderr.startswith("ddbfs: statement 3: ") and "nowhere" in found.stderr
    assert ddbfs("sql", "-", stdin=b"select 4 c").text == "c\n4\n"


@rows("arguments", [["select", "1"], [""], [" -- nothing"], []])
def test_wrong_usage(ddbfs, arguments):
    found = ddbfs("sql", *arguments, expect=2)
    assert "see ddbfs sql --help" in found.stderr and found.text == ""


def test_forms_exclude_each_other(ddbfs):
    assert "does not go with --json" in ddbfs("sql", "--csv", "--json", "select 1", expect=2).stderr
    assert "does not go with --explain" in ddbfs("sql", "--csv", "--explain", "select 1", expect=2).stderr


@rows(
    "statement, words",
    [
        ("selec 1", ["syntax error"]),
        ("select 'a", ["unrecognized token"]),
        ("select job_id from prod.jobs", ["jobs needs one of: "]),
        ("delete from prod.jobs where job_id = 'x'", []),
        ("attach 'x' as y", []),
        ("pragma table_list", []),
        ("select load_extension('x')", []),
    ],
)
def test_refused_statement(ddbfs, proxy, statement, words):
    found = ddbfs("sql", statement, expect=1)
    assert found.text == "" and found.stderr.startswith("ddbfs: ") and all(word in found.stderr for word in words)
    assert proxy.requests == []
    error = json.loads(ddbfs("sql", "--json", statement, expect=1).stderr)
    assert error["kind"] and error["errno"] and error["fixable_by"]


def test_table_that_does_not_exist_is_not_found(ddbfs, proxy):
    assert "prod.nowhere" in ddbfs("sql", "select a from prod.nowhere where a = 1", expect=3).stderr
    assert ddbfs("sql", f"select job_id {JOBS} and status = 'NONE'").text == "job_id\n"


def test_failure_after_rows_is_no_success(ddbfs, proxy):
    proxy.fault("page_size", op="Query", times=None, items=2)
    whole = ddbfs("sql", "--json", f"select job_id {JOBS}").text
    found = ddbfs("sql", "--json", "--max-rcu", "1", f"select job_id {JOBS}", expect=1)
    assert whole.startswith(found.text) and 0 < len(found.text) < len(whole)
    assert json.loads(found.stderr.splitlines()[-1])["kind"] == "spent"


def test_most_rcu_of_a_statement(ddbfs, proxy):
    proxy.fault("page_size", op="Query", times=None, items=2)
    found = ddbfs("sql", "--max-rcu", "1.5", f"select count(*) {JOBS}", expect=1)
    assert "of its limit of 1.5 (--max-rcu)" in found.stderr and found.text == ""
    units = sum(each.units for each in proxy.requests)
    assert 0 < units <= 1.5 + max(each.units for each in proxy.requests)
    assert words(ddbfs("sql", "--max-rcu", "10000", f"select count(*) n {JOBS}").text) == [["n"], ["40"]]


def test_consent_is_required_at_a_terminal(home, proxy):
    proxy.fault("page_size", op="Query", times=None, items=2)
    program = str(runner.Ddbfs(home).binary)
    command = [program, "sql", "--confirm-above", str(PAGE + 1), f"select count(*) n {JOBS}"]
    for answer, status in (("y", 0), ("n", 1)):
        proxy.requests.clear()
        with terminal.Terminal(command, home.environment(), typed=True) as at:
            at.wait_for("Go on? [y/N] ")
            read = len(proxy.requests)
            assert read > 0 and "the statement: " in at.shown
            at.type(f"{answer}\n")
            assert at.end() == status
        assert (len(proxy.requests) > read) == (answer == "y") and bool(at.stdout) == (answer == "y")


def test_interrupt_ends_a_statement(home, proxy):
    released = threading.Event()
    proxy.fault("delay", times=None, seconds=60, until=lambda each: released.is_set())
    process = runner.Ddbfs(home).start("sql", f"select count(*) {JOBS}")
    try:
        mounts.wait_until(lambda: proxy.requests, "the request")
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == -signal.SIGINT
    finally:
        released.set()
        process.kill()


def test_closed_pipe_is_no_error(ddbfs, shell, home):
    program = runner.Ddbfs(home).binary
    many = "with recursive n(i) as (select 1 union all select i + 1 from n) select i from n"
    assert shell(f"{program} sql --csv '{many}' | head -2").text == "i\n1\n"
    with open("/dev/full", "wb") as full:
        assert runner.Ddbfs(home).start("sql", "select 1", stdout=full, stderr=-1).wait() == 1
