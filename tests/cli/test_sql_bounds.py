"""What `sql --explain` states is never below what the statement sends."""

import pytest

from harness import plain, tables

BINARY = tables.table("any-Blobs", partition="B", sort="S")
ITEMS = [{"pk": {"B": raw}, "sk": {"S": "x"}, "next": {"B": raw + b"1"}} for raw in (b"a", b"a1", b"a11", b"b")]
KEYED = """from "any-Blobs" a {} "any-Blobs" b on b.pk = {} and b.sk = 'x' where a.pk in (x'61', x'62') and a.sk = 'x'"""
STATEMENTS = {
    "a join by a binary key": f"select count(*) n {KEYED.format('join', 'a.next')}",
    "keys that no row has in a dry pass": f"select count(*) n {KEYED.format('left join', 'coalesce(a.next, a.pk)')}",
    "keys of an empty result": f"""select (select count(*) from "any-Blobs" b where b.pk = coalesce(w.k, x'00')) n
        from (select max(a.pk) k {KEYED.format('join', 'a.next')}) w""",
    "a recursion": """with recursive w(k) as (select x'61' union select t.next from w join "any-Blobs" t on t.pk = w.k and t.sk = 'x')
        select count(*) n from w""",
    "a range between two columns": f"select count(*) n {KEYED.format('join', 'a.next')} and b.sk > a.sk and b.sk < a.sk",
}  # fmt: skip


@pytest.mark.parametrize("statement", STATEMENTS.values(), ids=STATEMENTS)
def test_a_bound_of_lookups_that_depend_on_rows(statement, ddbfs, table, proxy):
    table(BINARY, ITEMS)
    explained = list(plain.objects(ddbfs("sql", "--explain", "--json", statement).text))
    steps, total = explained[:-1], explained[-1]["total"]
    proxy.clear()
    ddbfs("sql", statement)
    sent = [each for each in proxy.requests if each.op != "DescribeTable"]
    assert total["requests"] is None or len(sent) <= total["requests"]
    assert any(step["per_row"] for step in steps) and total["per_row"]
    assert not any(step["read"] == "nothing: no row can match" for step in steps)


@pytest.mark.parametrize("quote", ['"', "`"])
def test_a_table_with_dots_is_described_once(quote, ddbfs, table, proxy):
    name = table(tables.table("any.Num-bers.x"), [{"pk": {"S": "a"}, "sk": {"S": "1"}}])
    proxy.clear()
    found = ddbfs("sql", "--csv", f"select sk from {quote}{name}{quote} where pk = 'a'")
    assert found.text.split() == ["sk", '"1"']
    assert [(each.op, each.table) for each in proxy.requests] == [("DescribeTable", name), ("Query", name)]


def test_a_name_with_dots_is_taken_as_it_is_written(ddbfs, table, proxy):
    """The quotes decide which dot is in front of an index."""
    name = table(tables.table("any.Num-bers.x"), [])
    proxy.clear()
    done = ddbfs("sql", f'select * from "{name}".nope where pk = 1', expect=None)
    assert done.code != 0 and f"{name} has no index nope" in done.stderr
    assert [(each.op, each.table) for each in proxy.requests] == [("DescribeTable", name)]
