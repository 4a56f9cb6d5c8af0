"""Conditions of all shapes over items of all shapes, made by chance; and how they are said to the
service and in a map, by other hands than the product's."""

import base64
import decimal
import json

from . import tables

TABLE = tables.table("Conditions", sort="N")

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


def attribute_in_map(path):
    """The path as a map writes it, every name in quotes."""
    steps = (f"[{step}]" if isinstance(step, int) else "." + quoted(step) for step in path)
    return "".join(steps)[1:]


def quoted(name):
    return "'" + name.replace("'", "''") + "'"


def value_in_map(value):
    """JSON text: a number keeps its spelling."""
    (tag, content), = value.items()
    return {"S": json.dumps, "N": str, "BOOL": json.dumps, "NULL": lambda _: "null"}[tag](content)


OPERATIONS = {
    "between": lambda low, high: f'{{ "between": [{low}, {high}] }}',
    "begins with": lambda value: f'{{ "begins_with": {value} }}',
    "is one of": lambda *values: f'{{ "in": [{", ".join(values)}] }}',
    "exists": lambda: '{ "exists": true }',
    "does not exist": lambda: '{ "exists": false }',
}


def in_map(condition):
    """The condition as a filter of a map, JSON text."""
    if condition["op"] == "not":
        return f'{{ "not": {in_map(condition["children"][0])} }}'
    if "children" in condition:
        alternatives = ", ".join(map(in_map, condition["children"]))
        return f'{{ "{condition["op"]}": [{alternatives}] }}'
    op, values = condition["op"], map(value_in_map, condition["values"])
    said = OPERATIONS.get(op, lambda value: f'{{ "{op}": {value} }}')(*values)
    return f'{{ {json.dumps(attribute_in_map(condition["path"]))}: {said} }}'


def can_be_in_map(condition):
    """A map's text is no binary."""
    return all(map(can_be_in_map, condition.get("children", []))) and not any(
        "B" in value for value in condition.get("values", [])
    )


# The same as people type it behind --where.

TYPED = {
    "between": "{0} between {1} and {2}",
    "begins with": "{0} begins with {1}",
    "contains": "{0} contains {1}",
    "is one of": "{0} in ({rest})",
    "exists": "{0} exists",
    "does not exist": "{0} does not exist",
}


def value_typed(value):
    """Bytes have no form of their own."""
    return json.dumps(value) if "B" in value else value_in_map(value)


def typed(condition):
    """The condition as text, every name in quotes and each of several in brackets."""
    if condition["op"] == "not":
        return f"not ({typed(condition['children'][0])})"
    if "children" in condition:
        return f" {condition['op']} ".join(f"({typed(child)})" for child in condition["children"])
    path, values = attribute_in_map(condition["path"]), [*map(value_typed, condition["values"])]
    form = TYPED.get(condition["op"], f"{{0}} {condition['op']} {{1}}")
    return form.format(path, *values, rest=", ".join(values))
