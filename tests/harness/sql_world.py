"""Random tables in a server, in a snapshot and in SQLite's own tables, and the statements that all of them execute."""

import json
import random
import re

from . import load, plain, snapshots, sql_reference, sql_statements, sql_tables

PREFIX, ENVIRONMENT = "e-", "e"
ALONE = 8  # statements of a world that are also executed one by one, each with its own bound
END = "statement "  # an extra statement behind each other one prints its number
MISSING = re.compile(r" needs (one of: )?")
INEXACT = ("write the number as a text", "write cast(… as text)")
IN_ANY_CASE = "does not match the request"  # dynoxide's begins_with ignores the case of letters


class Statement:
    def __init__(self, text, plain_text, ordered, needs):
        self.text, self.plain_text, self.ordered, self.needs = text, plain_text, ordered, needs
        self.is_answered = self.is_refused = False


class World:
    """The tables of one seed. Made in the server, if there is one; removed by `remove`."""

    def __init__(self, seed, server_url, folder):
        self.seed, self.folder = seed, folder
        self.boto = load.client(server_url) if server_url else None
        self.tables = sql_tables.random_tables(seed, several=not server_url)
        for table in self.tables[seed % 2 :]:
            table.attributes = sql_reference.Columns(table, True).attributes_beside()
        self.map = folder / f"map-{seed}.json"
        self.map.write_text(json.dumps(sql_tables.make_map(self.tables, PREFIX), indent=1), "utf-8")
        self.names = []
        for table in self.tables:
            description = table.description(PREFIX)
            if not self.boto:
                self.names.append(description["TableName"])
                continue
            self.names.append(load.create_table(self.boto, description))
            load.put_all(self.boto, self.names[-1], [{name: for_boto(value) for name, value in item.items()} for item in table.items])
            table.items = self.stored(self.names[-1])  # as the service writes numbers
        described = [table.description(PREFIX) for table in self.tables]
        items = {name: table.items for name, table in zip(self.names, self.tables)}
        self.snapshot = snapshots.write(folder / f"world-{seed}.ddb", described, [("2026-11-01T00:00:00Z", items)])
        self.sources = [each for table in self.tables for each in self.sources_of(table) if each.items]
        self.reference = sql_reference.Reference()
        for each in {each.plain_name: each for each in self.sources}.values():
            self.reference.add(each.plain_name, each.columns, each.items, each.hidden)

    def stored(self, name):
        found = self.boto.get_paginator("scan").paginate(TableName=name).build_full_result()["Items"]
        return [{name: as_json(value) for name, value in item.items()} for item in found]

    @staticmethod
    def sources_of(table):
        mapped = [sql_statements.Source(table, True, ENVIRONMENT, PREFIX)] if table.kinds else []
        named = [sql_statements.Source(table, False, ENVIRONMENT, PREFIX, index) for index in [None, *table.indexes, *table.local]]
        return [*mapped, *mapped, *named]

    def remove(self):
        for name in self.names if self.boto else []:
            self.boto.delete_table(TableName=name)

    def statements(self, count):
        maker = sql_statements.Maker(random.Random(self.seed), self.sources)
        found = []
        while len(found) < count:
            text, ordered, needs = maker.statement()
            texts = [text, text]
            for each in self.sources:
                texts = [texts[0].replace(f"{{{each.plain_name}}}", each.name), texts[1].replace(f"{{{each.plain_name}}}", each.plain_name)]
            found.append(Statement(*texts, ordered, needs))
        return found


def for_boto(typed):
    """A typed value with bytes in place of base64, at any depth."""
    kind, content = next(iter(typed.items()))
    if kind == "B":
        return {"B": sql_reference.sql_value(typed)}
    if kind == "BS":
        return {"BS": [sql_reference.sql_value({"B": each}) for each in content]}
    if kind == "L":
        return {"L": [for_boto(each) for each in content]}
    return {"M": {name: for_boto(each) for name, each in content.items()}} if kind == "M" else typed


def as_json(typed):
    kind, content = next(iter(typed.items()))
    if kind == "B":
        return {"B": sql_tables.encoded(content)}
    if kind == "BS":
        return {"BS": [sql_tables.encoded(each) for each in content]}
    if kind == "L":
        return {"L": [as_json(each) for each in content]}
    return {"M": {name: as_json(each) for name, each in content.items()}} if kind == "M" else typed


class Outcome:
    """The rows of one statement, or its message."""

    def __init__(self, rows, error=None):
        self.rows, self.error = rows, error

    def is_answered(self):
        return self.error is None

    def is_refused(self):
        return self.error is not None and MISSING.search(self.error) is not None


class Executor:
    """Runs statements by `ddbfs sql`: RUN takes the words of a command and standard input."""

    def __init__(self, run, *options):
        self.run, self.options = run, options

    def __call__(self, statements):
        """An outcome for each: a process ends at a statement that fails, and the next one goes on behind it."""
        outcomes = []
        while len(outcomes) < len(statements):
            outcomes += self.go_on(statements[len(outcomes) :])
        return outcomes

    def go_on(self, statements):
        text = "".join(f"{each};\nselect {at} as {sql_reference.quoted(END)};\n" for at, each in enumerate(statements))
        done = self.run(*self.options, "sql", "--json", "-", stdin=text.encode(), expect=None)
        outcomes, rows = [], []
        for line in done.text.splitlines():
            if line.startswith(f'{{"{END}":'):
                outcomes.append(Outcome(rows))
                rows = []
            else:
                rows.append(sql_reference.row_of_line(line))
        if done.code:
            said = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
            errors = [each["text"] for each in said if each.get("path") == f"statement {2 * len(outcomes) + 1}"]
            assert len(errors) == 1, done
            outcomes += [Outcome(None, error) for error in errors]
        assert done.code or len(outcomes) == len(statements), done
        return outcomes

    def explain(self, statements):
        """For each, the steps, each as an object, and the total."""
        text = ";\n".join(statements)
        done = self.run(*self.options, "sql", "--explain", "--json", "-", stdin=text.encode())
        explained, steps = [], []
        for each in plain.objects(done.text):
            if "total" in each:
                explained.append((steps, each["total"]))
                steps = []
            else:
                steps.append(each)
        assert len(explained) == len(statements), done
        return explained


def difference(statement, outcome, expected, scans_freely):
    """What is wrong with the outcome, in words; "" for nothing. EXPECTED: rows of the reference, or its error."""
    if outcome.error is not None:
        inexact = any(each in outcome.error for each in INEXACT)
        if isinstance(expected, Exception) or inexact or (not scans_freely and IN_ANY_CASE in outcome.error):
            return ""
        if scans_freely or not outcome.is_refused():
            return f"an error: {outcome.error}"
        return f"refused: {outcome.error}" if statement.needs == sql_statements.KEYED else ""
    if isinstance(expected, Exception):
        return f"no error, but SQLite has {expected}"
    if statement.needs == sql_statements.SCANS and not scans_freely:
        return "not refused"
    rows = [tuple(map(sql_reference.printed, row)) for row in expected]
    wanted = sql_reference.comparable_rows(rows, statement.ordered)
    if sql_reference.comparable_rows(outcome.rows, statement.ordered) == wanted:
        return ""
    return f"rows differ:\n  is     {outcome.rows[:8]}\n  should {rows[:8]}"
