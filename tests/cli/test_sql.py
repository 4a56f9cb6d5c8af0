"""SELECT over tables: what it prints, compared with SQLite over the same items in ordinary tables, and
what it sends. The statements of the guides are in test_sql_statements.py."""

import json
import sqlite3

import pytest

from harness import load, snapshots, tables

JOBS = "prod-EcomIndexerJobsTable"
SHOP = "kl7a9h55-shopify-e513a8-4"
BY_KEY = f"platform = 'shopify' and shop_id = '{SHOP}'"


def plain(typed):
    """The value of a column."""
    (kind, value), = typed.items()
    if kind == "N":
        number = float(value)
        return int(value) if number == int(number) and "." not in value else number
    if kind in ("S", "BOOL"):
        return value if kind == "S" else int(value)
    return None if kind == "NULL" else json.dumps(value)


def part(text, number):
    return text.split("#")[number] if text.count("#") >= number else None


@pytest.fixture(scope="session")
def truth(server):
    """The items of prod in ordinary tables of SQLite: jobs and shops."""
    database = sqlite3.connect(":memory:", check_same_thread=False)
    boto = load.client(server.url)
    parts = {
        "jobs": lambda pk, sk: {"platform": part(pk, 1), "shop_id": part(pk, 3), "created_at": part(sk, 1), "job_id": part(sk, 2)},
        "shops": lambda pk, sk: {"domain": part(pk, 1)},
    }  # fmt: skip
    names = {"jobs": JOBS, "shops": "prod-ShopifyEntitiesTable"}
    for name, table in names.items():
        rows = []
        for page in boto.get_paginator("scan").paginate(TableName=table):
            for item in page["Items"]:
                row = {key: plain(value) for key, value in item.items()}
                rows.append({**row, **parts[name](row["pk"], row["sk"])})
        columns = sorted({column for row in rows for column in row})
        database.execute(f"create table {name} ({', '.join(columns)})")
        for row in rows:
            values = [row.get(column) for column in columns]
            database.execute(f"insert into {name} values ({', '.join('?' * len(columns))})", values)
    database.execute("pragma case_sensitive_like = 1")
    return database


@pytest.fixture
def sql(ddbfs):
    """sql(statement) -> its rows, as objects."""

    def run(statement, *options, **how):
        return [json.loads(line) for line in ddbfs(*options, "sql", "--json", statement, **how).text.splitlines()]

    return run


@pytest.fixture
def refused(ddbfs):
    """refused(statement) -> the message."""

    def run(statement, *options, **how):
        result = ddbfs(*options, "sql", statement, expect=None, **how)
        assert result.code in (1, 3) and result.text == ""
        return result.stderr

    return run


def rows_of(truth, statement):
    found = truth.execute(statement.replace("prod.", ""))
    names = [column[0] for column in found.description]
    return [dict(zip(names, row)) for row in found]


def test_a_table_is_counted_by_its_partition(sql, truth, cost):
    statement = f"""select status, count(*) n, max(created_at) last from prod.jobs
                    where {BY_KEY} group by 1 order by n desc, 1"""
    found = sql(statement)
    assert found == rows_of(truth, statement) and len(found) > 2
    assert cost() == ["Query"]


def ids_of(truth, count):
    return [row[0] for row in truth.execute(f"select job_id from jobs order by job_id limit {count}")]


def listed(ids):
    return ", ".join(f"'{each}'" for each in ids)


def test_a_join_sends_the_requests_of_a_list_of_ids_together(sql, truth, cost):
    """One Query for each id, one BatchGetItem for all of their items, then the shops."""
    ids = ids_of(truth, 5)
    statement = f"""select j.job_id, j.status, s.entity_type from prod.jobs j
                    join prod.shops s on s.domain = j.shop_domain
                    where j.job_id in ({listed(ids)}) order by 1, 3, s.sk"""
    found = sql(statement)
    assert found == rows_of(truth, statement) and found
    sent = cost()
    domains = {row[0] for row in truth.execute(f"select shop_domain from jobs where job_id in ({listed(ids)})") if row[0]}
    assert sent.count("Query GSI_JobLookup_v2") == 5
    assert sent.count("Query") == len(domains)
    assert sent.count("BatchGetItem") == 1 and len(sent) == 6 + len(domains), sent


def test_a_thousand_keys_are_ten_requests(sql, things, proxy, cost):
    others = [{"S": f"t-{(number * 7) % 1000:04}"} for number in range(1000)]
    things.put_many((f"t-{number:04}", {"number": {"N": str(number)}, "other": other}) for number, other in enumerate(others))
    found = sql(
        """select count(*) n, sum(b.number) total from any.things a
           join any.things b on b.box = a.box and b.name = a.other where a.box = 'box'""",
        env=things.env,
    )
    assert found == [{"n": 1000, "total": sum(range(1000))}]
    sent = cost()
    assert sent.count("BatchGetItem") == 10 and set(sent) <= {"BatchGetItem", "Query"} and len(sent) < 14


def test_rows_of_a_table_without_a_map(sql, truth, cost):
    found = sql(f'select job_id, status from "{JOBS}" where pk = \'PLATFORM#shopify#SHOP#{SHOP}\' order by sk limit 3')
    assert found == rows_of(truth, f"select job_id, status from jobs where {BY_KEY} order by sk limit 3")
    assert cost() == ["DescribeTable", "Query"]


def test_an_index_by_its_name(sql, cost):
    """As PartiQL writes it; of a table of the map, too."""
    statement = "select count(*) n, min(status_created_at) first from %s.GSI_JobsByStatus_v2 where shop_id = '%s'"
    found = [sql(statement % (table, SHOP)) for table in (f'"{JOBS}"', '"prod.jobs"')]
    assert found[0] == found[1] and found[0][0]["n"] > 0
    assert cost() == ["DescribeTable", "Query GSI_JobsByStatus_v2", "Query GSI_JobsByStatus_v2"]


def test_a_limit_reads_no_more_than_it_needs(sql, truth, proxy):
    for statement in (
        f"select created_at from prod.jobs where {BY_KEY} order by created_at desc limit 3",
        f"select created_at from prod.jobs where {BY_KEY} order by created_at limit 2 offset 1",
    ):
        proxy.clear()
        assert sql(statement) == rows_of(truth, statement)
        request, = proxy.requests
        assert request.op == "Query" and request.body["Limit"] <= 4


def test_a_limit_of_a_join_stops_it(sql, things, proxy, cost):
    things.put_many((f"t-{number:04}", {"other": {"S": f"t-{number:04}"}}) for number in range(400))
    statement = """select a.name from any.things a join any.things b on b.box = a.box and b.name = a.other
                   where a.box = 'box' limit 5"""
    assert [row["name"] for row in sql(statement, env=things.env)] == [f"t-{number:04}" for number in range(5)]
    assert cost().count("BatchGetItem") == 1


def test_long_lists_are_read_in_passes(sql, things, cost):
    """Each pass wants more lookups than the one before; the rows are the same."""
    for number in range(30):
        things.put(f"t-{number:04}", number={"N": str(number)})
    names = ", ".join(f"'t-{number:04}'" for number in range(520))
    found = sql(f"select name, number from any.things where box = 'box' and name in ({names})", env=things.env)
    assert found == [{"name": f"t-{number:04}", "number": number} for number in range(30)]
    assert cost() == ["BatchGetItem"] * 6


def test_pages_are_read_one_after_the_other(sql, truth, proxy, cost):
    """Alone, in a join, and as the inner table."""
    proxy.fault("page_size", op="Query", times=None, items=7)
    for statement in (
        f"select job_id, status from prod.jobs where {BY_KEY} order by created_at",
        f"select count(*) n from prod.jobs a join prod.jobs b on b.job_id = a.job_id where a.{BY_KEY.replace('and ', 'and a.')}",
        f"select count(*) n from prod.jobs a, prod.jobs b where a.{BY_KEY.replace('and ', 'and a.')} and "
        f"b.platform = a.platform and b.shop_id = a.shop_id",
    ):  # fmt: skip
        assert sql(statement) == rows_of(truth, statement)


def test_undeclared_items_are_rows(sql, things):
    """The map's kinds have no say in which items a table has."""
    env = things.env
    things.put("plain", note={"S": "a"})
    path = env["DDBFS_MAP"]
    text = json.loads(open(path).read())
    text["tables"]["things"]["records"] = {"thing": {"pk": "{box*}", "sk": "A#{name}"}}
    with open(path, "w") as out:
        json.dump(text, out)
    found = sql("select sk, name, note from any.things where pk = 'box'", env=env)
    assert found == [{"sk": "plain", "name": None, "note": "a"}]


def test_subqueries_and_expressions_of_keys_are_read_together(sql, truth, cost):
    ids = ids_of(truth, 3)
    statement = f"""with ids(x) as (values {", ".join(f"('{each}')" for each in ids)})
                    select x, (select status from prod.jobs where job_id = x) status from ids"""
    assert sql(statement) == rows_of(truth, statement)
    assert cost() == ["Query GSI_JobLookup_v2"] * 3 + ["BatchGetItem"]


def test_alternatives_have_each_row_once(sql, truth):
    one, two = ids_of(truth, 2)
    statement = f"select count(*) n from prod.jobs where job_id = '{one}' or job_id = '{two}' or ({BY_KEY})"
    assert sql(statement) == rows_of(truth, statement)


def test_a_recursive_statement(sql, things, cost):
    for name, parent in (("a", "b"), ("b", "c"), ("c", "")):
        things.put(name, parent={"S": parent})
    found = sql(
        """with recursive up(name) as (select 'a' union all
             select t.parent from up join any.things t on t.box = 'box' and t.name = up.name where t.parent <> '')
           select name from up""",
        env=things.env,
    )
    assert [row["name"] for row in found] == ["a", "b", "c"]
    assert cost() == ["GetItem"] * 3


def test_values_that_differ_from_pass_to_pass(sql, truth):
    one, two = ids_of(truth, 2)
    found = sql(f"select random() r, job_id from prod.jobs where job_id in ('{one}', '{two}') order by 2")
    assert [row["job_id"] for row in found] == [one, two] and found[0]["r"] != found[1]["r"]


def test_no_request_for_a_value_that_no_key_has(sql, cost):
    for value in ("null", "''", "(select 'x' where 0)"):
        assert sql(f"select count(*) n from prod.jobs where job_id = {value}") == [{"n": 0}]
    assert cost() == []


def test_a_bare_name_is_the_accounts_also_beside_a_table_of_that_name(sql, table):
    name = table({**tables.plain(), "TableName": "jobs"}, [{"pk": {"S": "a"}, "sk": {"S": "b"}, "n": {"N": "7"}}])
    statement = f"select n, (select count(*) from prod.jobs where job_id = 'x') none from {name} where pk = 'a'"
    assert sql(statement) == [{"n": 7, "none": 0}]


@pytest.mark.parametrize(
    "statement, words",
    [
        ("select * from jobs", "there is no table jobs; the map's is written prod.jobs"),
        ("select * from prod.jobs a join jobs b using (job_id) where job_id = 'x'", "there is no table jobs; the map's"),
        ("select * from prod.jbos", 'did you mean "prod.jobs"?'),
        ("select * from prd.jobs where job_id = 'x'", 'did you mean "prod.jobs"?'),
        (f'select * from "{JOBS}".nosuch', "it has GSI_JobLookup_v2, GSI_JobsByStatus_v2"),
        ("select x.status from prod.jobs j where job_id = 'x'", "there is no column x.status"),
        ("select progress.done from prod.jobs where job_id = 'x'", "a member of a map is written progress ->> '$.done'"),
        ("select job_id from prod.jobs where platform = \"shopify\"", '"shopify" is a name: a text is written in single quotes'),
        ("select * from prod-Orders", 'a name such as "prod-Orders" is in double quotes'),
        ("select * from prod@at/2026-04-16.jobs", 'a name such as "prod-Orders" is in double quotes'),
        ("select * from prod.x", "there is no table prod.x: names have 3 to 255 letters"),
        ('select * from "a/b"', "there is no table a/b: names have 3 to 255 letters"),
        (".tables", "commands with a dot are typed at the prompt"),
        ("select status from prod.jobs a, prod.jobs b", "write the table's alias in front of it: alias.status"),
        ("select * from sqlite_schema", "sqlite_master is no table of DynamoDB"),
        ("select * from pragma_table_list", "only SELECT runs"),
        ("create table x(y)", "only SELECT runs"),
        ("with x as (select 1) delete from prod.jobs", "only SELECT runs"),
        ("explain select 1", "only SELECT runs"),
        ("select labels[0] from prod.jobs where job_id = 'x'", "[ is not accepted: write a list as (…)"),
        ("select status from prod.jobs where job_id in ['x']", "[ is not accepted: write a list as (…)"),
        ("select * from \"'Ords'\"", "there is no table 'Ords': names have 3 to 255 letters"),
        ("vacuum", "only SELECT runs"),
        ("select fts3_tokenizer('simple')", "only SELECT runs"),
        ("select * from prod.jobs where job_id = ?", "? is a parameter, and nothing gives it a value"),
        ("select $id", "$id is a parameter"),
        ("begin", "only SELECT runs"),
    ],
)
def test_a_statement_is_refused_with_a_reason(refused, statement, words):
    assert words in refused(statement)


def test_brackets_in_texts_and_comments_are_texts(ddbfs):
    statement = "select '[0' as \"a[0]\", /* [ */ '[5]' ->> '$[0]' b -- ["
    assert json.loads(ddbfs("sql", "--json", statement).text) == {"a[0]": "[0", "b": 5}


def test_only_a_name_in_double_quotes_may_be_meant_as_a_text(refused):
    assert "a text is written in single quotes" in refused('select "hello"')
    assert "single quotes" not in refused("select x.status from prod.jobs j where job_id = 'x'")


@pytest.mark.parametrize("name", ["prod-Orders", "jobs"])
def test_a_table_that_is_not_described_is_not_called_missing(refused, proxy, name):
    proxy.fault("denied", op="DescribeTable", times=None)
    message = refused(f'select * from "{name}" where id = 1')
    assert message.startswith(f"ddbfs: {name}: ") and "there is no table" not in message and "DescribeTable" in message
    assert ("the map's is written prod.jobs" in message) == (name == "jobs")


def test_no_region_is_not_a_missing_table(refused):
    missing = {"AWS_REGION": None, "AWS_DEFAULT_REGION": None, "AWS_CONFIG_FILE": "/dev/null", "AWS_EC2_METADATA_DISABLED": "true"}
    message = refused('select * from "somebodys-Orders"', env=missing)
    assert message.startswith("ddbfs: somebodys-Orders: no region: pass --region")


def test_more_environments_than_sqlite_attaches(refused):
    tables = ", ".join(f'"dev-{name}".jobs' for name in "abcdefghijkl")
    assert "is one too many" in refused(f"select * from {tables}")


def test_rows_have_no_numbers_of_sqlite(ddbfs, truth):
    one, = ids_of(truth, 1)
    for name in ("rowid", "oid", "_ROWID_"):
        result = ddbfs("sql", "--json", f"select {name} r from prod.jobs where job_id = '{one}'")
        assert json.loads(result.text) == {"r": None}
        assert f"no item of prod.jobs that was read has the attribute {name.lower()}" in result.stderr


def test_attributes_that_no_item_has(ddbfs):
    def warnings(column):
        return ddbfs("sql", f"select {column} c from prod.jobs where {BY_KEY} limit 5").stderr

    assert 'has the attribute statuss (did you mean "status"?)' in warnings("statuss")
    assert "a text is written in single quotes" in warnings('"COMPLETED"')
    assert warnings("status") == ""


def test_conditions_that_no_item_satisfies_are_one_warning(ddbfs):
    join = f"select count(*) from prod.jobs j join prod.shops s on s.domain = j.shop_domain || j.job_id and s.plan = 'x' where j.{BY_KEY}"
    assert ddbfs("sql", join).stderr == ""
    told = ddbfs("sql", f"select count(*) n from prod.jobs where {BY_KEY} and statuss = 'FAILED'").stderr
    assert told.startswith("ddbfs: warning: no item of prod.jobs satisfies the conditions, and 40 were tested; ")
    assert told.count("\n") == 1


def test_a_failed_read_is_the_failure_of_the_statement(ddbfs, proxy):
    proxy.fault("throttle", op="Query", times=None)
    result = ddbfs("sql", "--json", f"select count(*) n from prod.jobs where {BY_KEY}", expect=1)
    failure = json.loads(result.stderr.splitlines()[-1])
    assert failure["kind"] == "throttled" and "prod.jobs: " in failure["text"] and result.text == ""


def test_no_more_memory_than_the_limit(ddbfs, things):
    things.put_many((f"t-{number:04}", {"text": {"S": "x" * 100_000}}) for number in range(100))
    limited = lambda what: ddbfs(  # noqa: E731
        "--cache-size", "4M", "sql", "--json", f"select {what} n from any.things where box = 'box'", env=things.env, expect=None
    )
    assert json.loads(limited("sum(length(text))").text) == {"n": 10_000_000}
    result = limited("count(distinct text || name)")
    assert result.code == 1 and result.text == "" and "--cache-size" in result.stderr, result


def test_now_and_then(ddbfs, tmp_path):
    file = snapshots.sample(tmp_path / "past.ddb")
    statement = """select n.plan now, t.plan was from prod.shops n join "prod@at/2026-11-01".shops t
                   on t.domain = n.domain and t.sk = n.sk
                   where n.domain = 'cool-store.myshopify.com' and n.sk = 'SETTINGS'"""
    result = ddbfs("--snapshot", str(file), "sql", "--json", statement)
    assert json.loads(result.text) == {"now": "growth", "was": "starter"}


def test_a_snapshot_is_read_without_a_key(ddbfs, tmp_path, truth, proxy):
    file = snapshots.sample(tmp_path / "past.ddb")
    statement = "select status, count(*) n from prod.jobs group by 1 order by 1"
    result = ddbfs("--snapshot", str(file), "sql", "--json", statement)
    assert [json.loads(line) for line in result.text.splitlines()] == rows_of(truth, statement)
    assert not proxy.requests


def test_a_scan_has_to_be_allowed(sql, refused, proxy, cost, truth):
    statement = "select status, count(*) n from prod.jobs group by 1 order by 1"
    assert "prod.jobs needs one of: " in refused(statement) and cost() == []
    proxy.allow_scan = True
    assert sql(statement, "--allow-scan") == rows_of(truth, statement)
    assert cost() == ["DescribeTable", "Scan"]
    assert "--scan-limit" in refused(statement, "--allow-scan", "--scan-limit", "5,1G")
    assert cost() == ["DescribeTable"]


@pytest.mark.parametrize("test", ["1", "a.plan is not b.plan", "a.plan = b.plan collate nocase"])
@pytest.mark.parametrize("options", [(), ("--allow-scan",)])
def test_keys_in_a_list_are_read_in_a_join(sql, cost, options, test):
    """SQLite offers the list without the column of the other table only if no other plan is without it."""
    table = "prod-ShopifyEntitiesTable"
    statement = f"""select a.pk from "{table}" a join "{table}" b on b.pk = a.sk and {test}
                    where a.pk in ('SHOP#cool-store.myshopify.com', 'SHOP#x')"""
    sql(statement, *options)
    assert not {"Scan"} & set(cost())


def test_functions_of_dynamodb(sql, truth, cost):
    found = sql("select begins_with('abc', 'ab') a, begins_with('abc', 'b') b, begins_with(null, 'b') c, "
                "contains('abc', 'b') d, contains('[\"x\",1]', 'x') e, contains(json_array('x', 1), 1) f, contains(5, 5) g")  # fmt: skip
    assert found == [{"a": 1, "b": 0, "c": 0, "d": 1, "e": 1, "f": 1, "g": 0}]
    statement = f"select count(*) n from prod.jobs where {BY_KEY} and begins_with(created_at, '2026-04-16')"
    assert sql(statement) == rows_of(truth, statement.replace("begins_with(created_at, '2026-04-16')", "created_at like '2026-04-16%'"))  # fmt: skip
    assert cost() == ["Query"]


@pytest.fixture
def parted(things, write_map, plain_map):
    """Sort keys of two parts: "a!" is behind "a" as a text, but "a!#" in front of "a#" as a key."""
    plain_map["tables"]["things"]["records"] = {"thing": {"pk": "{box}", "sk": "{name}#{number}"}}
    plain_map["tables"]["things"]["paths"] = {"{box}/": {}}
    things.env = {"DDBFS_MAP": str(write_map(plain_map))}
    for key in ("a#1", "a!#1", "a#2", "b#1", "a!!#1"):
        item = {"pk": {"S": "box"}, "sk": {"S": key}, "name": {"S": "other"}}
        things.boto.put_item(TableName=things.table, Item=item)
    return things


def test_an_order_of_keys_that_is_not_the_column_s_is_noticed(sql, parted):
    for tail in ("", " limit 1", " limit 2", " limit 3 offset 1"):
        for way in ("", " desc"):
            found = sql(f"select name from any.things where box = 'box' order by name{way}{tail}", env=parted.env)
            names = sorted(("a", "a!", "a", "b", "a!!"), reverse=bool(way))
            start = 1 if "offset" in tail else 0
            count = int(tail.split()[1]) if tail else len(names)
            assert [row["name"] for row in found] == names[start : start + count]
    assert sql("select min(name) a, max(name) b from any.things where box = 'box'", env=parted.env) == [{"a": "a", "b": "b"}]


def test_a_part_hides_an_attribute(ddbfs, parted):
    result = ddbfs("sql", "select name from any.things where box = 'box' and number = '2'", env=parted.env)
    assert "any.things.name is the value in the key" in result.stderr and "item ->> '$.name'" in result.stderr


def test_a_limit_counts_rows_that_sqlite_keeps(ddbfs, things):
    """A condition that no request can have drops the first rows."""
    for number in range(20):
        things.put(f"t-{number:04}", number={"N": str(number)})
    statement = "select name from any.things where box = 'box' and name || '' > 't-0005' limit 3"
    result = ddbfs("sql", "--json", statement, env=things.env)
    assert [json.loads(line)["name"] for line in result.text.splitlines()] == ["t-0006", "t-0007", "t-0008"]


def test_tables_and_subqueries_that_are_only_counted(sql, cost):
    """SQLite names them without a schema and a column."""
    assert sql("with w as (select 1 a union select 2) select count(*) n from w") == [{"n": 2}]
    assert sql("select count(*) n from json_each('[1, 2, 3]')") == [{"n": 3}]
    assert cost() == []


def test_a_join_behind_a_list_has_a_plan(sql, truth):
    """SQLite 3.40 would try no plan of a join with a list of keys if another one were impossible."""
    statement = ("select count(*) n from {0}shops a join {0}shops b on b.domain = a.note where a.domain in "
                 "('cool-store.myshopify.com', 'x')")  # fmt: skip
    assert sql(statement.format("prod.")) == [{"n": 0}]


def test_texts_are_not_compared_with_numbers_of_columns(sql, refused, things):
    things.put("1", n={"N": "1"})
    words = "any.things.name is a text, and is compared with a number; write cast(… as text)"
    join = "select b.name from any.things a join any.things b on b.box = a.box and b.name = {} where a.box = 'box'"
    assert words in refused(join.format("a.n"), env=things.env)
    assert sql(join.format("cast(a.n as text)"), env=things.env) == [{"name": "1"}]
    assert sql("select name from any.things where box = 'box' and name = 1", env=things.env) == [{"name": "1"}]


def test_numbers_of_a_list_that_lost_digits_are_an_error(ddbfs, table, refused):
    number = "99999999999999999999999999999999999999"
    name = table({**tables.table("any-Numbers", sort="N")}, [{"pk": {"S": "a"}, "sk": {"N": number}}])
    statement = f"""select sk from "{name}" where pk = 'a' and sk {{}}"""
    assert "behind =" in refused(statement.format(f"in (5, '{number}')"))
    found = ddbfs("sql", "--json", statement.format(f"= '{number}'"))
    assert json.loads(found.text) == {"sk": number}


def test_numbers_of_a_subquery_that_lost_digits_are_an_error(ddbfs, table, refused):
    """SQLite converts the texts of a list to the INTEGER 5 or the REAL 0.1, which are other keys."""
    longs = ["5.00000000000000000001", "0.1000000000000000000001"]
    items = [{"pk": {"S": "a"}, "sk": {"N": each}} for each in [*longs, "5", "0.1", "2.5"]]
    name = table({**tables.table("any-Numbers", sort="N")}, [*items, {"pk": {"S": "b"}, "sk": {"N": "1"}, "n": {"N": "2.5"}},
        *({"pk": {"S": "b"}, "sk": {"N": str(at)}, "n": {"N": each}} for at, each in enumerate(longs, 2))])  # fmt: skip
    statement = f"""select a.sk from "{name}" a where a.pk = 'a' and a.sk in ({{}})"""
    listed = f"""select n from "{name}" b where b.pk = 'b' and b.sk {{}}"""
    for at, long in enumerate(longs, 2):
        assert "behind =" in refused(statement.format(listed.format(f"= {at}")))
        assert "behind =" in refused(statement.format(f"'{long}', 7"))
    assert json.loads(ddbfs("sql", "--json", statement.format(listed.format("< 2"))).text) == {"sk": 2.5}


def test_a_long_number_elsewhere_refuses_no_list(ddbfs, table, refused):
    name = table({**tables.table("any-Numbers", sort="N")}, [{"pk": {"S": "a"}, "sk": {"N": each}} for each in ("2.5", "7.25")])
    statement = f"""select sk from "{name}" where pk = 'a' and sk in ({{}}) and '12345678901234567890' <> pk"""
    for listed, expected in (("2.5, 7", [2.5]), (".25e1, '7.2500000000000000'", [2.5, 7.25])):
        found = ddbfs("sql", "--json", statement.format(listed))
        assert sorted(json.loads(line)["sk"] for line in found.text.splitlines()) == expected
    assert "behind =" in refused(statement.format("2.5, 12345678901234567890.0"))


def test_more_names_than_a_statement_has(refused):
    names = ", ".join(f"a{number}" for number in range(501))
    assert "more than 500 tables and columns" in refused(f"select {names} from prod.jobs where job_id = 'x'")

def test_a_recording_answers_what_it_has(ddbfs, tmp_path, truth, proxy):
    file = str(tmp_path / "session.ddb")
    statement = f"""select j.job_id, s.entity_type from prod.jobs j join prod.shops s on s.domain = j.shop_domain
                    where j.job_id in ({listed(ids_of(truth, 3))}) order by 1, s.sk"""
    first = ddbfs("--record", file, "sql", "--json", statement).text
    proxy.clear()
    assert ddbfs("--snapshot", file, "sql", "--json", statement).text == first and first
    result = ddbfs("--snapshot", file, "sql", "--json", "select count(*) n from prod.jobs", expect=1)
    assert json.loads(result.stderr)["kind"] == "not-stored" and result.text == "" and not proxy.requests
