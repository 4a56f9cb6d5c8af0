"""Conditions against servers: what a Query's filter lets through is what cond_holds lets through.

The binary made from tests/unit/holds.c stands beside the one that DDBFS_RENDER names.
DDBFS_TEST_SEED repeats a run.
"""

import base64
import decimal
import json
import os
import pathlib
import random
import subprocess

import pytest

from harness import load

SEED = int(os.environ.get("DDBFS_TEST_SEED", "20260201"))
RENDER = os.environ.get("DDBFS_RENDER")
HOLDS = RENDER and pathlib.Path(RENDER).with_name("holds")
ITEMS = 60
QUESTIONS = 300

pytestmark = pytest.mark.skipif(not RENDER, reason="DDBFS_RENDER is not set")

TABLE = {
    "TableName": "Conditions",
    "KeySchema": [
        {"AttributeName": "pk", "KeyType": "HASH"},
        {"AttributeName": "sk", "KeyType": "RANGE"},
    ],
    "AttributeDefinitions": [
        {"AttributeName": "pk", "AttributeType": "S"},
        {"AttributeName": "sk", "AttributeType": "N"},
    ],
    "BillingMode": "PAY_PER_REQUEST",
}

# Few values, so that many conditions hold of some item and not of another.


def binary(data):
    return {"B": base64.b64encode(data).decode()}


STRINGS = ["a", "ab", "abc", "b", "é", "\U0001f600", "\uffff", "1", "true", "A"]
NUMBERS = [
    "0", "1", "-1", "1.5", "10", "1E1", "100", "1e-130", "9.9e125", "12345678901234567890123456789012345678",
    "12345678901234567890123456789012345679", "9007199254740993", "9007199254740992", "0.1",
]  # fmt: skip
BYTES = [b"a", b"ab", b"\0", b"\0\xff", b"\xff", b"b"]


def scalar(rng):
    return rng.choice(
        [
            {"S": rng.choice(STRINGS)},
            {"S": rng.choice(STRINGS)},
            {"N": rng.choice(NUMBERS)},
            {"N": rng.choice(NUMBERS)},
            binary(rng.choice(BYTES)),
            {"BOOL": rng.random() < 0.5},
            {"NULL": True},
        ]
    )


def some(values, rng):
    return rng.sample(values, rng.randrange(1, 4))


def anything(rng, depth=2):
    kind = rng.random()
    if kind < 0.5 or depth == 0:
        return scalar(rng)
    if kind < 0.6:
        return {"SS": some(STRINGS, rng)}
    if kind < 0.68:
        return {"NS": some(["0", "1", "-1", "1.5", "10"], rng)}
    if kind < 0.75:
        return {"BS": [binary(data)["B"] for data in some(BYTES, rng)]}
    if kind < 0.87:
        return {"L": [anything(rng, depth - 1) for _ in range(rng.randrange(4))]}
    return {"M": {name: anything(rng, depth - 1) for name in some(NAMES, rng)}}


NAMES = ["a", "b", "a.b", "or", "x[0]", "size", "é"]


def item_of(number, rng):
    item = {name: anything(rng) for name in NAMES if rng.random() < 0.7}
    return {"pk": {"S": "p"}, "sk": {"N": str(number)}, **item}


# A condition, as holds.c reads it.


def path_of(rng):
    path = [rng.choice(NAMES)]
    while rng.random() < 0.35:
        path.append(rng.choice(NAMES + [0, 1, 2]))
    return path


def has_order(value):
    return not value.keys() & {"BOOL", "NULL"}


def ordered(rng):
    while True:
        value = scalar(rng)
        if has_order(value):
            return value


def two_ordered(rng):
    """Two ends of one type, in order, as the service insists."""
    while True:
        (tag, low), (high_tag, high) = (next(iter(ordered(rng).items())) for _ in range(2))
        if tag == high_tag and rank(tag, low) <= rank(tag, high):
            return [{tag: low}, {tag: high}]


def rank(tag, text):
    if tag == "N":
        return decimal.Decimal(text)
    return text.encode() if tag == "S" else base64.b64decode(text)


def condition_of(rng, depth=2):
    if depth and rng.random() < 0.3:
        op = rng.choice(["and", "or", "not"])
        count = 1 if op == "not" else rng.randrange(1, 4)
        return {"op": op, "children": [condition_of(rng, depth - 1) for _ in range(count)]}
    op = rng.choice(list(EXPRESSIONS))
    values = {
        "exists": lambda: [],
        "does not exist": lambda: [],
        "between": lambda: two_ordered(rng),
        "begins with": lambda: [rng.choice([{"S": rng.choice(STRINGS)}, binary(rng.choice(BYTES))])],
        "is one of": lambda: [scalar(rng) for _ in range(rng.randrange(1, 5))],
    }.get(op, lambda: [scalar(rng) if op in ("=", "!=", "contains") else ordered(rng)])
    return {"op": op, "path": path_of(rng), "values": values()}


def for_boto(value):
    """A typed value as boto3 takes it: bytes, which it encodes itself."""
    (tag, content), = value.items()
    if tag == "B":
        return {"B": base64.b64decode(content)}
    if tag == "BS":
        return {"BS": [base64.b64decode(text) for text in content]}
    if tag == "L":
        return {"L": [for_boto(each) for each in content]}
    if tag == "M":
        return {"M": {name: for_boto(each) for name, each in content.items()}}
    return value


# The same as the service reads it, written here by other hands than the product's.

EXPRESSIONS = {
    "=": "{0} = {1}",
    "!=": "{0} <> {1}",
    "<": "{0} < {1}",
    "<=": "{0} <= {1}",
    ">": "{0} > {1}",
    ">=": "{0} >= {1}",
    "between": "{0} BETWEEN {1} AND {2}",
    "begins with": "begins_with({0}, {1})",
    "contains": "contains({0}, {1})",
    "is one of": "{0} IN ({rest})",
    "exists": "attribute_exists({0})",
    "does not exist": "attribute_not_exists({0})",
}


def expression(condition, names, values):
    if "children" in condition:
        parts = [expression(child, names, values) for child in condition["children"]]
        if condition["op"] == "not":
            return f"NOT ({parts[0]})"
        if len(parts) == 1:  # the service refuses brackets within brackets
            return parts[0]
        return f" {condition['op'].upper()} ".join(f"({part})" for part in parts)
    path = ""
    for step in condition["path"]:
        if isinstance(step, int):
            path += f"[{step}]"
            continue
        alias = f"#p{len(names)}"
        names[alias] = step
        path += ("." if path else "") + alias
    said = []
    for value in condition["values"]:
        said.append(f":p{len(values)}")
        values[said[-1]] = for_boto(value)
    return EXPRESSIONS[condition["op"]].format(path, *said, rest=", ".join(said))


def request_of(conditions):
    """The Query that asks for what all of CONDITIONS let through."""
    names, values = {}, {":pk": {"S": "p"}}
    together = conditions[0] if len(conditions) == 1 else {"op": "and", "children": conditions}
    return {
        "KeyConditionExpression": "pk = :pk",
        "FilterExpression": expression(together, names, values),
        "ExpressionAttributeValues": values,
        **({"ExpressionAttributeNames": names} if names else {}),
    }


def ask(dynamo, name, request):
    """The sort keys that a Query gives."""
    found, more = set(), {}
    while True:
        page = dynamo.query(TableName=name, **request, **more)
        found |= {int(item["sk"]["N"]) for item in page["Items"]}
        if "LastEvaluatedKey" not in page:
            return found
        more = {"ExclusiveStartKey": page["LastEvaluatedKey"]}


def requested(body):
    """The body that the product wrote, as boto3 takes it."""
    values = {name: for_boto(value) for name, value in body["ExpressionAttributeValues"].items()}
    said = ("KeyConditionExpression", "FilterExpression", "ExpressionAttributeNames")
    return {name: body[name] for name in said} | {"ExpressionAttributeValues": values}


def decide(questions, items):
    """What cond_holds says: for each question the sort keys, and the body that asks the same."""
    lines = [json.dumps([conditions, *items]) for conditions in questions]
    run = subprocess.run(
        [HOLDS], input="\n".join(lines) + "\n", capture_output=True, text=True, timeout=300
    )
    assert (run.returncode, run.stderr) == (0, "")
    answers = run.stdout.splitlines()
    assert len(answers) == len(questions)
    for line in answers:
        bits, _, body = line.partition(" ")
        yield {number for number, bit in enumerate(bits) if bit == "1"}, json.loads(body)


@pytest.fixture
def generated(table):
    rng = random.Random(SEED)
    print("DDBFS_TEST_SEED", SEED)
    items = [item_of(number, rng) for number in range(ITEMS)]
    stored = [{name: for_boto(value) for name, value in item.items()} for item in items]
    questions = [
        [condition_of(rng) for _ in range(rng.choice([1, 1, 1, 2, 3]))] for _ in range(QUESTIONS)
    ]
    return table(TABLE, stored), items, questions


def test_the_service_and_we_agree(server, generated):
    name, items, questions = generated
    dynamo, wrong, held = load.client(server.url), [], 0
    for conditions, (ours, body) in zip(questions, decide(questions, items)):
        theirs = ask(dynamo, name, request_of(conditions))
        written = ask(dynamo, name, requested(body))
        held += bool(ours) and len(ours) < len(items)
        if not ours == theirs == written:
            wrong.append((conditions, ours ^ theirs, ours ^ written, body["FilterExpression"]))
    for conditions, by_hand, by_us, said in wrong[:20]:
        print(json.dumps(conditions), said, "by hand", sorted(by_hand), "by us", sorted(by_us))
        for number in sorted(by_hand | by_us)[:1]:
            print("   ", json.dumps(items[number]))
    assert wrong == []
    assert held > QUESTIONS / 4  # the generator makes conditions that tell items apart
