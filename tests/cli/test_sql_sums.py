"""Sums of numbers in SELECT are exact: of decimals, in groups, in windows, of any number of digits."""

import decimal
import json
import random

import pytest

from harness import snapshots

TABLE = "Orders"
EXACT = decimal.Context(prec=200)


def items_of(totals):
    return [{"pk": {"S": "p"}, "sk": {"S": f"{at:05}"}, "state": {"S": "abc"[at % 3]}, "total": total} for at, total in enumerate(totals)]


@pytest.fixture
def sums(ddbfs, tmp_path):
    """sums(totals, columns and the rest of the statement) -> its rows."""

    def run(totals, columns, rest="", **how):
        file = snapshots.write(tmp_path / "s.ddb", [snapshots.simple_table(TABLE, "pk", "sk")],
                               [("2026-11-01T00:00:00Z", {TABLE: items_of(totals)})])  # fmt: skip
        done = ddbfs("--snapshot", file, "sql", "--json", f"select {columns} from \"{TABLE}\" where pk = 'p' {rest}", **how)
        return done if how else [tuple(json.loads(line).values()) for line in done.text.splitlines()]

    return run


def exact(numbers):
    total = decimal.Decimal(0)
    for each in numbers:
        total = EXACT.add(total, decimal.Decimal(each))
    return total


def random_cents(count):
    rng = random.Random(3)
    return [f"{rng.randrange(10_000_000) / 100:.2f}" for _ in range(count)]


def test_sums_of_decimals_are_rounded_once(sums):
    cents = random_cents(600)
    groups = [cents[at::3] for at in range(3)]
    calls = "sum(total), total(total), avg(total), decimal_sum(total), sum(distinct total)"
    rows = sums([{"N": each} for each in cents], f"state, {calls}", "group by 1 order by 1")
    for (_, *row), group in zip(rows, groups):
        total = exact(group)
        distinct = exact({decimal.Decimal(each) for each in group})
        assert row == [float(total), float(total), float(EXACT.divide(total, len(group))), float(total), float(distinct)]
    assert sums([{"N": "0.1"}, {"N": "0.2"}, {"N": "0.3"}], "sum(total) a, avg(total) b, sum(total) = 0.6 c") == [(0.6, 0.2, 1)]


def test_a_window_leaves_no_error_of_values_that_left_it(sums):
    numbers = ["1e30", "0.1", "0.2", "1e-20", "-5", "1e30", "7"]
    window = "over (order by sk rows between 1 preceding and current row)"
    rows = sums([{"N": each} for each in numbers], f"sum(total) {window} a, avg(total) {window} b", "order by sk")
    expected = [numbers[max(0, at - 1) : at + 1] for at in range(len(numbers))]
    assert rows == [(float(exact(each)), float(exact(each) / len(each))) for each in expected]


def test_types_of_sums(sums):
    """An INTEGER of INTEGERs, else a REAL, which is compared as one; decimal_sum has the type of an attribute."""
    long = "99999999999999999999999999999999999999"
    types = "typeof(sum(total)) a, typeof(total(total)) b, typeof(avg(total)) c, typeof(decimal_sum(total)) d"
    assert sums([{"N": "1"}, {"N": "2"}], types) == [("integer", "real", "real", "integer")]
    assert sums([{"N": "1.5"}, {"N": "2.5"}], types) == [("real", "real", "real", "integer")]
    assert sums([{"N": "1.5"}, {"N": long}], types) == [("real", "real", "real", "text")]
    assert sums([], types) == [("null", "real", "null", "null")]
    assert sums([{"NULL": True}], types) == [("null", "real", "null", "null")]
    assert sums([{"N": long}, {"N": "0.5"}], "sum(total) a, decimal_sum(total) b") == [(1e38, long + ".5")]
    assert sums([{"N": "0.12345678901234567890"}], "sum(total) > 1 a") == [(0,)]


def test_texts_count_as_sqlite_takes_them(sums):
    assert sums([{"S": "5"}, {"S": "2.5x"}, {"S": "x"}, {"B": "eA=="}, {"BOOL": True}], "sum(total) a, count(total) b") == [(8.5, 5)]
    assert sums([{"S": "5"}, {"BOOL": True}], "sum(total) a") == [(6,)]


def test_sums_without_a_result_fail(sums):
    most = {"N": "9223372036854775807"}
    assert sums([most, {"N": "1"}], "decimal_sum(total) a") == [("9223372036854775808",)]
    assert "write decimal_sum()" in sums([most, {"N": "1"}], "sum(total) a", expect=1).stderr
    assert "no number" in sums([{"N": "1"}, {"S": "x"}], "decimal_sum(total) a", expect=1).stderr
    assert sums([{"N": "1"}, {"S": "x"}], "decimal_sum(total) filter (where total <> 'x') a") == [(1,)]
