"""Snapshot files, written by docs/snapshot.md with Python's own sqlite3: a table's items at one or more moments."""

import base64
import calendar
import decimal
import json
import sqlite3
import time

from . import load

APPLICATION = 0x64646266


def ms(text):
    """2026-11-02T06:00:00Z or 2026-11-02T06:00:00.500Z as milliseconds since 1970."""
    if "." in text:
        return ms(text[:19] + "Z") + int(text[20:23])
    return calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%SZ")) * 1000


def sort_text(number):
    """A number as the text that sorts by its value."""
    value = decimal.Decimal(number)
    if value == 0:
        return "5"
    _, digits, exponent = value.as_tuple()
    text = "".join(map(str, digits)).lstrip("0")
    exponent += len(text)
    text = text.rstrip("0")
    if value > 0:
        return f"6{500 + exponent:03d}.{text}"
    return f"4{999 - (500 + exponent):03d}." + "".join(str(9 - int(each)) for each in text) + "~"


def column(typed, kind):
    """A key attribute as a column has it."""
    if not typed or kind not in typed:
        return None
    value = typed[kind]
    return {"S": str, "N": sort_text, "B": base64.b64decode}[kind](value)


def describe(table, items):
    """The object Table of DescribeTable, for TABLE as CreateTable takes it."""
    described = {**table, "TableStatus": "ACTIVE", "ItemCount": len(items), "TableSizeBytes": 100 * len(items)}
    described.pop("BillingMode", None)
    for kind in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
        for index in described.get(kind, []):
            index.pop("ProvisionedThroughput", None)
    described["BillingModeSummary"] = {"BillingMode": "PAY_PER_REQUEST"}
    return described


def key_columns(table):
    """The key attributes in the order of their columns, and the number of those of the table itself."""
    indexes = table.get("GlobalSecondaryIndexes", []) + table.get("LocalSecondaryIndexes", [])
    names = []
    for each in [table, *indexes]:
        names += [key["AttributeName"] for key in each["KeySchema"] if key["AttributeName"] not in names]
    types = {each["AttributeName"]: each["AttributeType"] for each in table["AttributeDefinitions"]}
    return [(name, types[name]) for name in names], len(table["KeySchema"]), indexes


def versions(own, states):
    """Rows (item, from, until) of a table whose STATES are pairs of a moment and all items then."""
    rows, current = [], {}
    for at, items in states:
        now = {json.dumps([item[name] for name, _ in own]): item for item in items}
        for key, (since, item) in list(current.items()):
            if now.get(key) != item:
                rows.append((item, since, at))
                del current[key]
        for key, item in now.items():
            current.setdefault(key, (at, item))
    return rows + [(item, since, None) for since, item in current.values()]


def write(file, tables, states, origin="arn:aws:dynamodb:us-east-1:123456789012:table/{}/export/{}"):
    """TABLES are as CreateTable takes them. STATES are pairs of a time and {table's name: all its items}; the first
    is a full state, and each further one an increment. A table that a state lacks has no moment then."""
    file.unlink(missing_ok=True)
    base = sqlite3.connect(file)
    base.executescript(
        f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = 1;"
        "CREATE TABLE about(name TEXT PRIMARY KEY NOT NULL, value) WITHOUT ROWID;"
        "CREATE TABLE tables(number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,"
        " description TEXT NOT NULL, expiry TEXT);"
        "CREATE TABLE keys(table_number INTEGER NOT NULL, attribute TEXT NOT NULL, type TEXT NOT NULL,"
        " column TEXT NOT NULL, PRIMARY KEY(table_number, attribute)) WITHOUT ROWID;"
        "CREATE TABLE moments(table_number INTEGER NOT NULL, at_ms INTEGER NOT NULL, from_ms INTEGER,"
        " origin TEXT NOT NULL, items INTEGER NOT NULL, bytes INTEGER NOT NULL,"
        " PRIMARY KEY(table_number, at_ms)) WITHOUT ROWID;"
        "INSERT INTO about VALUES('kind', 'snapshot'), ('program', 'a test');"
    )
    for number, table in enumerate(tables, 1):
        write_table(base, number, table, states, origin)
    base.commit()
    base.close()
    return file


def write_table(base, number, table, states, origin):
    name = table["TableName"]
    own_states = [(ms(at), items[name]) for at, items in states if name in items]
    columns, own, indexes = key_columns(table)
    names = [f"k{i}" for i in range(1, len(columns) + 1)]
    description = json.dumps(describe(table, own_states[-1][1]))
    base.execute("INSERT INTO tables VALUES(?, ?, ?, NULL)", (number, name, description))
    for at, (attribute, kind) in zip(names, columns):
        base.execute("INSERT INTO keys VALUES(?, ?, ?, ?)", (number, attribute, kind, at))
    before = None
    for at, items in own_states:
        size = sum(len(json.dumps(item)) for item in items)
        base.execute(
            "INSERT INTO moments VALUES(?, ?, ?, ?, ?, ?)",
            (number, at, before, origin.format(name, at), len(items), size),
        )
        before = at
    base.execute(f"CREATE TABLE items_{number}({', '.join(names)}, from_ms INTEGER NOT NULL, until_ms INTEGER, item TEXT NOT NULL)")
    for item, since, until in versions(columns[:own], own_states):
        row = [column(item.get(attribute), kind) for attribute, kind in columns]
        marks = ", ".join("?" * (len(row) + 3))
        text = json.dumps(item, ensure_ascii=False, separators=(",", ":"))
        base.execute(f"INSERT INTO items_{number} VALUES({marks})", (*row, since, until, text))
    key = ", ".join(names[:own])
    base.execute(f"CREATE UNIQUE INDEX items_{number}_key ON items_{number}({key}, from_ms)")
    place = {attribute: at for at, (attribute, _) in zip(names, columns)}
    for which, index in enumerate(indexes, 1):
        keys = [place[each["AttributeName"]] for each in index["KeySchema"]]
        present = " AND ".join(f"{each} IS NOT NULL" for each in keys)
        base.execute(
            f"CREATE INDEX items_{number}_by_{which} ON items_{number}({', '.join(keys)}, {key}, from_ms) WHERE {present}"
        )


MOMENTS = ("2026-11-01T00:00:00Z", "2026-11-02T06:00:00Z", "2026-11-03T06:00:00Z")
JOB = "1f3c9a52-7b1e-4c57-9d0a-2e6f4b8c1d90"
SETTINGS = "shops/cool-store.myshopify.com/SETTINGS"


def sample_tables(environment="prod"):
    return [{**each, "TableName": f"{environment}-{each['TableName']}"} for each in load.tables()]


def sample_states(environment="prod"):
    """The sample data as the newest of three states. At the first, the shop had the plan starter and an invited user
    less; the job did not exist. At the second, the job ran, and one session existed that was deleted later."""
    names = [each["TableName"] for each in load.tables()]
    newest = {f"{environment}-{name}": load.items(name, environment) for name in names}
    jobs, shops = f"{environment}-EcomIndexerJobsTable", f"{environment}-ShopifyEntitiesTable"

    def changed(items, key, **texts):
        return [
            {**item, **{name: {"S": text} for name, text in texts.items()}} if key(item) else item for item in items
        ]

    is_job = lambda item: item["job_id"]["S"] == JOB  # noqa: E731
    is_plan = lambda item: item["sk"]["S"] == "SETTINGS" and "cool-store" in item["pk"]["S"]  # noqa: E731
    gone = {
        "pk": {"S": "SHOP#cool-store.myshopify.com"},
        "sk": {"S": "USER#1"},
        "entity_type": {"S": "INVITE"},
        "last_updated": {"S": "2026-10-31T00:00:00.000Z"},
    }
    running = changed(newest[jobs], is_job, status="IN_PROGRESS", status_created_at="IN_PROGRESS#2026-04-16T09:41:07.318Z")
    second = {**newest, jobs: running, shops: changed(newest[shops], is_plan, plan="growth-trial") + [gone]}
    first = {
        **newest,
        jobs: [item for item in newest[jobs] if not is_job(item)],
        shops: changed(newest[shops], is_plan, plan="starter"),
    }
    return list(zip(MOMENTS, (first, second, newest)))


def sample(file, environment="prod"):
    """A snapshot of the sample's tables at MOMENTS."""
    return write(file, sample_tables(environment), sample_states(environment))


def simple_table(name, *keys):
    """A table as CreateTable takes it: simple_table("Events", "at:N", "id")."""
    pairs = [(each.partition(":")[0], each.partition(":")[2] or "S") for each in keys]
    return {
        "TableName": name,
        "AttributeDefinitions": [{"AttributeName": key, "AttributeType": kind} for key, kind in pairs],
        "KeySchema": [
            {"AttributeName": key, "KeyType": kind} for (key, _), kind in zip(pairs, ("HASH", "RANGE"))
        ],
    }
