"""Reads of a source by tests/unit/reads.c, and the results that the documentation of DynamoDB defines: what a Read
of a table gives is worked out here from its items alone."""

import base64
import json
import os
import random
import subprocess

from . import places, zoo

ENVIRONMENT = {"AWS_ACCESS_KEY_ID": "reads", "AWS_SECRET_ACCESS_KEY": "reads", "AWS_MAX_ATTEMPTS": "3"}


def program():
    return places.program("DDBFS_READS", "build-asan/tests/unit/reads", "build/tests/unit/reads")


def run(source, reads, at_ms=0, env=None):
    """The outcome of each Read. SOURCE is a URL or a snapshot file."""
    lines = "".join(json.dumps(each) + "\n" for each in reads)
    ran = subprocess.run(
        [program(), str(source), str(at_ms)],
        input=lines, capture_output=True, text=True, timeout=120,
        env={"PATH": os.environ["PATH"], "HOME": "/nowhere", **ENVIRONMENT, **(env or {})},
    )  # fmt: skip
    assert (ran.returncode, ran.stderr) == (0, ""), ran.stderr
    outcomes = [json.loads(line) for line in ran.stdout.splitlines()]
    assert len(outcomes) == len(reads)
    return outcomes


def for_boto(value):
    """A typed value with bytes in place of base64."""
    kind, content = next(iter(value.items()))
    return {kind: base64.b64decode(content)} if kind == "B" else value


def order(value):
    return zoo.order(for_boto(value))


# The documented result.


def find_index(description, name):
    """(the index or None, whether it is local)."""
    for local, group in ((False, "GlobalSecondaryIndexes"), (True, "LocalSecondaryIndexes")):
        for each in description.get(group, []):
            if each["IndexName"] == name:
                return each, local
    return None, False


def keys_of(description, index):
    partition, sort = zoo.hash_and_range((index or description)["KeySchema"])
    return partition, sort


def projected(description, index, item):
    """What the index has of the item."""
    kind = index["Projection"]["ProjectionType"] if index else "ALL"
    if kind == "ALL":
        return item
    names = {*sum(keys_of(description, None), []), *sum(keys_of(description, index), []),
             *index["Projection"].get("NonKeyAttributes", [])}  # fmt: skip
    return {name: value for name, value in item.items() if name in names}


def admits(condition, value):
    _, word, *operands = condition
    operands = [order(each) for each in operands]
    at = order(value)
    return {
        "=": lambda: at == operands[0],
        "<": lambda: at < operands[0],
        "<=": lambda: at <= operands[0],
        ">": lambda: at > operands[0],
        ">=": lambda: at >= operands[0],
        "between": lambda: operands[0] <= at <= operands[1],
        "begins with": lambda: at.startswith(operands[0]),
    }[word]()


FILTERS = {
    'x = "v1"': lambda item: item.get("x") == {"S": "v1"},
    "n > 3": lambda item: "n" in item and order(item["n"]) > 3,
    "x does not exist": lambda item: "x" not in item,
    "not (n exists)": lambda item: "n" not in item,
}


def query(description, items, read):
    """The result as groups of items, in order; items of one group come in any order."""
    index, local = find_index(description, read.get("index"))
    partition, sort = keys_of(description, index)
    found = [item for item in items if all(name in item for name in partition + sort)]
    for condition in read["where"]:
        found = [item for item in found if admits(condition, item[condition[0]])]
    found.sort(key=lambda item: [order(item[name]) for name in sort], reverse=read.get("descending", False))
    groups = []
    for item in found:
        key = [item[name] for name in sort]
        if not groups or groups[-1][0] != key:
            groups.append((key, []))
        wanted = read.get("attributes")
        entry = projected(description, index, item)
        if wanted and local and any(name not in entry for name in wanted):
            entry = item  # the service reads the rest from the table
        if "filter" in read and not FILTERS[read["filter"]](entry):
            continue
        groups[-1][1].append({name: entry[name] for name in wanted if name in entry} if wanted else entry)
    return [group for _, group in groups if group]


def lacks(description, read):
    """The attributes of the Read that its index does not have: (of the filter, of the result)."""
    index, _ = find_index(description, read.get("index"))
    own = projected(description, index, dict.fromkeys("abcdefxny"))
    filtered = {name for name in "xn" if "filter" in read and name in read["filter"].split("(")[-1].split()}
    return filtered - own.keys(), set(read.get("attributes", [])) - own.keys()


def text(item):
    return json.dumps(item, sort_keys=True, ensure_ascii=False)


def grouped_as(groups, items, wanted):
    """Whether ITEMS are those of GROUPS, in order. Other attributes than WANTED do not count."""
    at = 0
    for group in groups:
        own = items[at : at + len(group)]
        if wanted:
            own = [{name: item[name] for name in wanted if name in item} for item in own]
        if sorted(map(text, own)) != sorted(map(text, group)):
            return False
        at += len(group)
    return at == len(items)


# Random tables and Reads.

STRINGS = ["a", "a#", "a#b", "b", "é", "\U0001f600", "Z", "a\x7f", "0", "10", "9", "\uffff", "a'\""]
NUMBERS = ["0", "1", "-1", "10", "9", "1.5", "-1.5", "0.001", "-0.001", "123456789012345678901234567890.12345678",
           "99999999999999999999999999999999999999", "-100", "0.0000000000001"]  # fmt: skip
BYTES = [b"\x00", b"\x00\x01", b"\xff", b"\xff\xff", b"a", b"ab", b"\x80", b"\x7f"]


def scalar(kind, rng):
    content = {
        "S": lambda: rng.choice(STRINGS),
        "N": lambda: rng.choice(NUMBERS),
        "B": lambda: base64.b64encode(rng.choice(BYTES)).decode(),
    }[kind]()
    return {kind: content}


def random_table(name, rng):
    """A description with indexes of all projections, over the attributes a to f."""
    types = {each: rng.choice("SNB") for each in "abcdef"}
    projections = [("ALL", ()), ("KEYS_ONLY", ()), ("INCLUDE", ["x"])]
    description = {"TableName": name, "KeySchema": zoo.schema(["a"], ["b"]), "BillingMode": "PAY_PER_REQUEST"}
    description["GlobalSecondaryIndexes"] = [
        zoo.index("global-0", "c", "d", *rng.choice(projections)),
        zoo.index("global-1", "c", (), *rng.choice(projections)),
        zoo.index("global-2", "b", "a", *rng.choice(projections)),  # the table's own key, inverted
        zoo.index("global-3", "a", "e", *rng.choice(projections)),
    ]
    description["LocalSecondaryIndexes"] = [
        zoo.index("local-0", "a", "d", *rng.choice(projections)),
        zoo.index("local-1", "a", "f", *rng.choice(projections)),
    ]
    description["AttributeDefinitions"] = [
        {"AttributeName": each, "AttributeType": kind} for each, kind in types.items()
    ]
    return description, types


def random_items(types, rng, count=60):
    """Typed items with distinct keys; index keys are often missing."""
    items = {}
    few = {name: [scalar(types[name], rng) for _ in range(3)] for name in "ac"}  # partitions

    def value(name):
        return rng.choice(few[name]) if name in few else scalar(types[name], rng)

    for _ in range(count):
        item = {name: value(name) for name in "ab"}
        item |= {name: value(name) for name in "cdef" if rng.random() < 0.7}
        item |= {"x": {"S": rng.choice(["v1", "v2"])}} if rng.random() < 0.7 else {}
        item |= {"n": {"N": str(rng.randrange(8))}} if rng.random() < 0.7 else {}
        item |= {"y": {"M": {"l": {"L": [{"NULL": True}, {"SS": ["p", "q"]}]}}}} if rng.random() < 0.3 else {}
        items[text([item["a"], item["b"]])] = item
    return list(items.values())


def random_query(description, types, items, rng):
    """A query whose partition mostly exists."""
    names = [None] + [each["IndexName"] for group in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes")
                      for each in description[group]]  # fmt: skip
    index, local = find_index(description, rng.choice(names))
    partition, sort = keys_of(description, index)
    some = rng.choice([item for item in items if partition[0] in item] or [{partition[0]: scalar(types[partition[0]], rng)}])
    read = {"kind": "query", "table": description["TableName"], "where": [[partition[0], "=", some[partition[0]]]]}
    if index:
        read["index"] = index["IndexName"]
        read["own_key"] = ["a", "b"]
    if sort:
        read["sort"] = sort
        kind = types[sort[0]]
        word = rng.choice(["", "=", "<", "<=", ">", ">=", "between"] + (["begins with"] if kind != "N" else []))
        operands = sorted((scalar(kind, rng) for _ in range(2)), key=order)
        if word:
            read["where"].append([sort[0], word, *operands[: 2 if word == "between" else 1]])
    read["descending"] = rng.random() < 0.5
    if rng.random() < 0.3:
        read["limit"] = rng.randrange(1, 4)
    entry = projected(description, index, {name: 1 for name in "abcdefxny"})
    if rng.random() < 0.3:
        read["filter"] = rng.choice(list(FILTERS))
    if rng.random() < 0.2:
        read["counts"] = True
    elif rng.random() < 0.3:
        own = list(entry) if index and not local else list("abcdefxny")
        read["attributes"] = rng.sample(own, rng.randrange(1, min(3, len(own)) + 1))
    return read


def random_case(seed, name):
    """(description, items, Reads)."""
    rng = random.Random(seed)
    description, types = random_table(name, rng)
    items = random_items(types, rng)
    return description, items, [random_query(description, types, items, rng) for _ in range(60)]


