"""A matrix as one test: it checks every row, and fails with each row that failed.

@rows("name, expected", CASES) stands where @pytest.mark.parametrize would make one test for each row.
All rows share the fixtures of the one test. Between two rows, the proxy forgets the requests and faults of
the row before. A test that closes the proxy, or needs a fresh home, stays with parametrize.
"""

import functools
import inspect
import itertools
import signal
import traceback

import pytest

ROW_LIMIT_S = 120
TOLD = 4000  # characters of a failure, which a compiler may fill


def named(names, values, ids):
    """The rows of one decorator: (what a failure calls it, {argument: value})."""
    names = names.split(",") if isinstance(names, str) else names
    names = [name.strip() for name in names]
    values = list(values)
    if callable(ids):
        ids = [ids(value) for value in values]
    for at, value in enumerate(values):
        row = (value,) if len(names) == 1 else tuple(value)
        assert len(row) == len(names), f"a row of {names} is {row}"
        label = list(ids)[at] if ids is not None else ", ".join(map(repr, row))
        yield label, dict(zip(names, row))


def product(tables):
    """Each row of the first table with each row of the next, and so on."""
    for row in itertools.product(*tables):
        arguments = {}
        for _, given in row:
            arguments.update(given)
        yield "; ".join(str(label)[:300] for label, _ in row), arguments


def place_of(failure):
    """The lines of tests on the way to a failure, the innermost last."""
    frames = traceback.extract_tb(failure.__traceback__)
    own = [frame for frame in frames if "/tests/" in frame.filename and frame.filename != __file__]
    return ", ".join(f"{frame.filename.rpartition('/')[2]}:{frame.lineno}" for frame in own)


class Rows:
    """with every.row("its name"): …, for each row; then every.check()."""

    def __init__(self):
        self.count = 0
        self.failures = []
        self.skipped = []

    def row(self, name):
        return Row(self, name)

    def check(self):
        if self.failures:
            told = "\n\n".join(f"ROW {name}\n  at {place_of(failure)}\n{type(failure).__name__}: {str(failure)[:TOLD]}"
                               for name, failure in self.failures)  # fmt: skip
            pytest.fail(f"{len(self.failures)} of {self.count} rows failed\n\n{told}", pytrace=False)
        assert self.count, "a matrix without a row"
        if len(self.skipped) == self.count:
            pytest.skip(self.skipped[0])


class Row:
    def __init__(self, rows, name):
        self.rows = rows
        self.name = name

    def __enter__(self):
        self.rows.count += 1
        if signal.getitimer(signal.ITIMER_REAL)[0]:
            signal.alarm(ROW_LIMIT_S)  # a limit for a test is one for each row

    def __exit__(self, kind, failure, _):
        if isinstance(failure, pytest.skip.Exception):
            self.rows.skipped.append(str(failure))
            return True
        if not isinstance(failure, (Exception, pytest.fail.Exception)):
            return False
        self.rows.failures.append((self.name, failure))
        return True


SWITCHES = ("clock_offset_s", "allow_scan", "allow_refusals")


class Scene:
    """The proxy of a test, if it has one, as its fixtures have set it up for the first row."""

    def __init__(self, request):
        self.proxy = request.getfixturevalue("proxy") if "proxy" in request.fixturenames else None
        if self.proxy:
            self.faults = list(self.proxy.faults)
            self.switches = {name: getattr(self.proxy, name) for name in SWITCHES}

    def restore(self):
        if self.proxy:
            self.proxy.faults[:] = self.faults
            vars(self.proxy).update(self.switches)
            self.proxy.clear()


def rows(names, values, ids=None):
    """In place of parametrize(names, values, ids=ids); several multiply."""
    table = list(named(names, values, ids))

    def decorate(function):
        inner = getattr(function, "row_function", function)
        tables = [table, *getattr(function, "row_tables", [])]
        given = {name for rows_of in tables for _, arguments in rows_of[:1] for name in arguments}

        @functools.wraps(inner)
        def test(request, **fixtures):
            if "request" in fixtures_of_inner:
                fixtures["request"] = request
            every, scene = Rows(), Scene(request)
            for label, arguments in product(tables):
                if every.count:
                    scene.restore()
                with every.row(label):
                    inner(**fixtures, **arguments)
            every.check()

        fixtures_of_inner = [name for name in inspect.signature(inner).parameters if name not in given]
        wanted = [*dict.fromkeys([*fixtures_of_inner, "request"])]
        kind = inspect.Parameter.KEYWORD_ONLY
        test.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in wanted])
        test.row_function, test.row_tables = inner, tables
        return test

    return decorate
