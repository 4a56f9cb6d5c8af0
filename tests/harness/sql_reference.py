"""What SELECT has to return: the rules of docs/sql.md for columns and values, written in Python, and the statements
executed by Python's sqlite3 over ordinary tables."""

import base64
import decimal
import json
import math
import sqlite3

from . import plain, zoo
from .sql_tables import parts_of, taken_apart

TEXT, NUMERIC, NONE = "TEXT", "NUMERIC", ""
INTEGERS = range(-(2**63), 2**63)


def sql_number(text):
    value = zoo.EXACT.create_decimal(text)
    if value == value.to_integral_value(context=zoo.EXACT) and int(value) in INTEGERS:
        return int(value)
    as_double = float(text)
    if math.isfinite(as_double) and decimal.Decimal(repr(as_double)) == value:
        return as_double
    return text


def sql_value(typed):
    """An attribute's value in SQLite; None if it is absent."""
    if typed is None:
        return None
    kind, content = next(iter(typed.items()))
    if kind == "N":
        return sql_number(content)
    if kind == "B":
        return base64.b64decode(content)
    if kind in ("S", "BOOL", "NULL"):
        return {"S": content, "BOOL": int(content is True), "NULL": None}[kind]
    text = plain.render({"a": typed}, compact=True).decode()
    return text[len('{"a":') : -len("}\n")]


class Columns:
    """The columns of TABLE: as the map declares it, or as a table of the account."""

    def __init__(self, table, mapped):
        self.table, self.mapped = table, mapped
        self.parts = {}  # name -> affinity
        kinds = table.kinds if mapped else []
        for kind in kinds:
            for key, pieces in zip(table.keys, kind.formats):
                self.add_parts(key, pieces)
        for each in table.indexes + table.local if mapped else []:
            for key in sum(zoo.hash_and_range(each["KeySchema"]), []):
                if key not in table.keys:
                    pieces = table.index_formats.get(key) or []
                    self.add_parts(key, [] if set(parts_of(pieces)) & set(table.types) else pieces)
        self.keys = {}
        for name in [*table.keys, *(name for name in table.types if name not in table.keys)]:
            if name not in self.parts:
                self.keys[name] = {"S": TEXT, "N": NUMERIC, "B": NONE}[table.types[name]]
        self.declared = {**self.parts, **self.keys, "item": NONE}

    def add_parts(self, key, pieces):
        for name in parts_of(pieces):
            if pieces != [(name, False)] or name != key:
                affinity = {"S": TEXT, "N": NUMERIC, "B": NONE}[self.table.types[key]]
                self.parts.setdefault(name, affinity)

    def key_parts(self, item):
        """The kind of one item, or None, and the values of its parts, typed."""
        best, found = None, {}
        for kind in self.table.kinds:
            taken = {}
            for key, pieces in zip(self.table.keys, kind.formats):
                if self.table.types[key] != "S":
                    taken |= {name: item[key] for name in parts_of(pieces)}
                    continue
                more = taken_apart(pieces, item[key]["S"], self.table.separator)
                if more is None or any(taken.get(name, {"S": text}) != {"S": text} for name, text in more.items()):
                    break
                taken |= {name: {"S": text} for name, text in more.items()}
            else:
                if not best or kind.literal_bytes() > best.literal_bytes():
                    best, found = kind, taken
        for each in self.table.indexes + self.table.local if best else []:
            for key in sum(zoo.hash_and_range(each["KeySchema"]), []):
                pieces = self.table.index_formats.get(key)
                if pieces and key in item:
                    parts = taken_apart(pieces, item[key]["S"], self.table.separator)
                    found = {**{name: {"S": text} for name, text in (parts or {}).items()}, **found}
        return best, found

    def attributes_beside(self):
        """For each part of the table's keys: the kinds with an item that has the attribute, and no such part."""
        of_table = [name for kind in self.table.kinds for pieces in kind.formats for name in parts_of(pieces)]
        found = {name: [] for name in of_table}
        for item in self.table.items:
            kind, parts = self.key_parts(item)
            for name in set(found) & set(item) - set(parts) if kind else ():
                if kind.name not in found[name]:
                    found[name].append(kind.name)
        return found

    def row(self, item, names):
        kind, parts = self.key_parts(item) if self.mapped else (None, {})
        row = []
        for name in names:
            if name == "item":
                row.append(plain.render(item, compact=True, first=self.table.keys).decode().removesuffix("\n"))
            else:
                is_attribute = name not in self.parts or (kind and name not in parts)
                row.append(sql_value(item.get(name) if is_attribute else parts.get(name)))
        return row


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def begins_with(value, beginning, no_texts):
    """As in DynamoDB: of two texts, or of two binaries. NO_TEXTS: texts that are JSON, or long numbers."""
    same = type(value) is type(beginning) and isinstance(value, (str, bytes))
    return int(same and not {value, beginning} & no_texts and value.startswith(beginning))


class Reference:
    """A database with ordinary tables. A column has its affinity, but its values are stored as they are."""

    def __init__(self):
        self.base = sqlite3.connect(":memory:", isolation_level=None)
        self.base.execute("PRAGMA case_sensitive_like = ON")
        self.base.execute("PRAGMA automatic_index = OFF")  # its values would get the column's affinity
        self.no_texts = set()
        self.base.create_function("begins_with", 2, lambda *values: begins_with(*values, self.no_texts))

    def add(self, name, columns, items, more):
        """A table with the declared columns and those of the attributes MORE."""
        names = [*columns.declared, *(each for each in more if each not in columns.declared)]
        quoted_names = ", ".join(map(quoted, names))
        self.base.execute(f"CREATE TABLE {name}({quoted_names})")
        marks = ", ".join("?" * len(names))
        typed = [value for item in items for value in item.values() if not {"S", "B"} & set(value)]
        self.no_texts |= {text for text in map(sql_value, typed) if isinstance(text, str)}
        self.base.executemany(f"INSERT INTO {name} VALUES({marks})", [columns.row(item, names) for item in items])
        declared = ", ".join(f"{quoted(each)} {columns.declared.get(each, NONE)}" for each in names)
        self.base.execute("PRAGMA writable_schema = ON")
        self.base.execute("UPDATE sqlite_schema SET sql = ? WHERE name = ?", (f"CREATE TABLE {name}({declared})", name))
        self.base.execute("PRAGMA writable_schema = RESET")

    def run(self, statement):
        """The rows, or the sqlite3.Error."""
        try:
            return self.base.execute(statement).fetchall()
        except sqlite3.Error as error:
            return error


# Comparing.


def printed(value):
    """A value of a row as `ddbfs sql --json` prints it."""
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def comparable(value):
    """Sums of REALs may differ in their last digits, since rows come in another order."""
    if isinstance(value, float):
        return ("real", float(f"{value:.12g}"))
    return (type(value).__name__, value)


def comparable_rows(rows, ordered):
    rows = [tuple(comparable(each) for each in row) for row in rows]
    return rows if ordered else sorted(rows, key=repr)


def row_of_line(line):
    return list(json.loads(line).values())
