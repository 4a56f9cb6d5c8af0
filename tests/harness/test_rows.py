"""One test for a matrix runs every row, and names each that failed."""

import pytest

from harness.rows import Rows, rows

SEEN = []


@rows("left", [1, 2])
@rows("right, tmp", [(3, "a"), (4, "b")])
def test_decorators_multiply_beside_fixtures(left, right, tmp, tmp_path):
    assert tmp_path.is_dir()
    SEEN.append((left, right, tmp))
    if len(SEEN) == 4:
        assert SEEN == [(1, 3, "a"), (1, 4, "b"), (2, 3, "a"), (2, 4, "b")]


def test_every_row_that_fails_is_named():
    every = Rows()
    for number in range(4):
        with every.row(f"number {number}"):
            assert number % 2 == 0
    with every.row("an exception"):
        raise ValueError("of its own")
    with pytest.raises(pytest.fail.Exception) as told:
        every.check()
    text = str(told.value)
    assert "3 of 5 rows failed" in text
    assert [name for name in ("number 1", "number 3", "an exception") if name not in text] == []
    assert "number 0" not in text and "test_rows.py:" in text and "of its own" in text


def test_a_matrix_without_rows_fails():
    with pytest.raises(AssertionError):
        Rows().check()


def test_a_matrix_that_skips_all_rows_is_skipped():
    every = Rows()
    with every.row("one"):
        pytest.skip("no tool")
    with pytest.raises(pytest.skip.Exception):
        every.check()


@rows("wrong", [1, 2, 3])
def matrix(wrong):
    assert wrong == 2


def test_the_decorator_reports_its_rows():
    class Request:
        fixturenames = ()

    with pytest.raises(pytest.fail.Exception) as told:
        matrix(request=Request)
    assert "ROW 1\n" in str(told.value) and "ROW 3\n" in str(told.value)
    assert "2 of 3 rows failed" in str(told.value)
