"""The kinds of table that a team may have, for the view that needs no map: what each is made of, and
where it shows each record. What a partition or a window holds is worked out here from the items alone.
"""

import decimal
import re

from . import plain

EXACT = decimal.Context(prec=60)


def s(text):
    return {"S": text}


def n(text):
    return {"N": text}


def b(raw):
    return {"B": raw}


def schema(partition, sort):
    return [{"AttributeName": each, "KeyType": "HASH"} for each in partition] + [
        {"AttributeName": each, "KeyType": "RANGE"} for each in sort
    ]


def index(name, partition, sort=(), projection="ALL", includes=()):
    """Key attributes as one name, or a list of names."""
    sides = [[side] if isinstance(side, str) else list(side) for side in (partition, sort)]
    projects = {"ProjectionType": projection}
    if includes:
        projects["NonKeyAttributes"] = list(includes)
    return {"IndexName": name, "KeySchema": schema(*sides), "Projection": projects}


def hash_and_range(key_schema):
    """The attributes of both sides of a key."""
    return tuple(
        [each["AttributeName"] for each in key_schema if each["KeyType"] == kind]
        for kind in ("HASH", "RANGE")
    )


def number(text):
    return EXACT.create_decimal(text)


def order(value):
    """A key attribute's value, so that Python sorts as the service does."""
    kind, content = next(iter(value.items()))
    if kind == "N":
        return number(content)
    return content.encode() if kind == "S" else bytes(content)


def canonical(text):
    """A number as the service gives it back: no exponent, no needless zeros."""
    value = number(text)
    return format(value.normalize(EXACT), "f") if value else "0"


def segment(value):
    """The value as a step of a path: whatever could mean something is escaped."""
    kind, content = next(iter(value.items()))
    if kind == "N":
        return canonical(content)
    raw = content.encode() if kind == "S" else bytes(content)
    if content in ("README", "newest", "oldest"):  # which mean something else as they are
        return f"%{raw[0]:02X}{content[1:]}"
    plain_bytes = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_#"
    return "".join(chr(each) if each in plain_bytes else f"%{each:02X}" for each in raw) or "%"


class Table:
    """One of the zoo. ITEMS are typed, as boto3 takes them."""

    def __init__(self, name, partition, sort, types, items, indexes=(), local=(), only=None):
        self.name, self.partition, self.sort = name, partition, sort
        self.types, self.items = types, items
        self.indexes = list(indexes)
        self.local = list(local)
        self.only = only  # the one server that knows such a table; None: all do

    def __repr__(self):
        return self.name

    @property
    def keys(self):
        return [self.partition] + ([self.sort] if self.sort else [])

    def description(self):
        told = {
            "TableName": self.name,
            "AttributeDefinitions": [
                {"AttributeName": name, "AttributeType": kind} for name, kind in self.types.items()
            ],
            "KeySchema": schema([self.partition], [self.sort] if self.sort else []),
            "BillingMode": "PAY_PER_REQUEST",
        }
        if self.indexes:
            told["GlobalSecondaryIndexes"] = self.indexes
        if self.local:
            told["LocalSecondaryIndexes"] = self.local
        return told

    def record(self, item):
        """The bytes of the item's file."""
        return plain.render(item, first=self.keys)

    def partitions(self):
        """Each partition's value as a path has it -> its items in the order of the sort key."""
        return self.grouped(self.items, [self.partition], [self.sort] if self.sort else [])

    def grouped(self, items, partition, sort):
        groups = {}
        for item in items:
            if all(name in item for name in partition + sort):
                groups.setdefault("/".join(segment(item[name]) for name in partition), []).append(item)
        for members in groups.values():
            members.sort(key=lambda item: [order(item[name]) for name in sort])
        return groups

    def answer(self, body):
        """A Query of an index of several attributes, which no local server answers: its documented
        answer, in one page."""
        name = lambda word: body["ExpressionAttributeNames"].get(word, word)  # noqa: E731
        value = lambda word: order(body["ExpressionAttributeValues"][word])  # noqa: E731
        condition, found = body["KeyConditionExpression"], self.items
        for word, low, high in re.findall(r"(#\w+) BETWEEN (:\w+) AND (:\w+)", condition):
            found = [each for each in found if value(low) <= order(each[name(word)]) <= value(high)]
        for word, sign, given in re.findall(r"(#\w+) ([=>]) (:\w+)", condition):
            at = name(word)
            keep = {"=": lambda a, b: a == b, ">": lambda a, b: a > b}[sign]
            found = [each for each in found if keep(order(each[at]), value(given))]
        (asked,) = [each for each in self.indexes if each["IndexName"] == body["IndexName"]]
        _, sort = hash_and_range(asked["KeySchema"])
        found = sorted(found, key=lambda item: [order(item[each]) for each in sort])
        found = found[:: 1 if body.get("ScanIndexForward", True) else -1][: body.get("Limit")]
        if "ProjectionExpression" in body:
            wanted = [name(word.strip()) for word in body["ProjectionExpression"].split(",")]
            found = [{each: item[each] for each in wanted if each in item} for item in found]
        return {"Items": found, "Count": len(found), "ScannedCount": len(found)}

    def queries(self):
        """(index name, sort attributes, {partition as a path -> items in order}) of each index."""
        for each in self.indexes + self.local:
            partition, sort = hash_and_range(each["KeySchema"])
            yield each["IndexName"], sort, self.grouped(self.items, partition, sort)


def single_table():
    """USER, ORDER, CLINIC: several kinds of record under generic keys, an overloaded index."""
    def item(pk, sk, index_key=None, **more):
        keys = {"PK": s(pk), "SK": s(sk)}
        if index_key:
            keys["GSI1PK"], keys["GSI1SK"] = s(index_key[0]), s(index_key[1])
        return {**keys, **more}

    items = [item("USER#123", "PROFILE", name=s("Ada"), email=s("ada@example.org"))]
    for number_of in range(1, 13):
        state = "pending" if number_of % 3 else "shipped"
        items.append(
            item("USER#123", f"ORDER#2024-{number_of:03}",
                 (f"STATUS#{state}", f"2024-{number_of:02}-01"), total=n(str(number_of * 10)))
        )  # fmt: skip
    items.append(item("USER#9", "PROFILE", name=s("Grace")))
    for day in ("15", "16", "17"):
        items.append(item("CLINIC#CLN-001", f"APPT#2026-04-{day}#APT-{day}9", patient=s("P1")))
    items.append(item("PRODUCT#1", "META", ("FEATURED", "001"), title=s("Tea")))
    items.append(item("PRODUCT#2", "META", ("FEATURED", "002"), title=s("Milk")))
    return Table(
        "App", "PK", "SK", {"PK": "S", "SK": "S", "GSI1PK": "S", "GSI1SK": "S"}, items,
        indexes=[
            index("GSI1", "GSI1PK", "GSI1SK"),
            index("inverted", "SK", "PK", projection="KEYS_ONLY"),
        ],
    )  # fmt: skip


def users():
    items = [{"userId": s(name), "age": n(str(at))} for at, name in enumerate(["ann", "bob", "%", ".x", "a/b"])]
    return Table("Users", "userId", None, {"userId": "S"}, items)


def orders():
    """Two plain keys, an index with a dash in its name whose sort keys are not unique, local indexes."""
    items = [
        {
            "customerId": s(f"c{customer}"),
            "orderId": s(f"o-{at:03}"),
            "status": s("OPEN" if at % 2 else "DONE"),
            "createdAt": s(f"2026-01-{1 + at // 4:02}"),
            "amount": n(str(at % 5)),
        }
        for customer in range(3)
        for at in range(12)
    ]
    types = {"customerId": "S", "orderId": "S", "status": "S", "createdAt": "S", "amount": "N"}
    return Table(
        "Orders", "customerId", "orderId", types, items,
        indexes=[
            index("status-createdAt-index", "status", "createdAt", "INCLUDE", ["amount"]),
            index("by-status", "status"),
        ],
        local=[index("by-amount", "customerId", "amount", "KEYS_ONLY")],
    )  # fmt: skip


def numbers():
    values = ["42", "-1.5", "1000", "0", "0.000001", "99999999999999999999999999999999999999", "-7"]
    items = [
        {"sensor": n(sensor), "at": n(at), "note": s("x")} for sensor in ("1", "-2.5") for at in values
    ]
    return Table("Gauges", "sensor", "at", {"sensor": "N", "at": "N"}, items)


def binaries():
    keys = [b"\x00\x01\xff", b"plain", b"base64:AAEC", b"/%.", bytes(range(1, 40))]
    items = [{"id": b(key), "part": b(part)} for key in keys for part in (b"\x00", b"two", b"\xfe")]
    return Table("Blobs", "id", "part", {"id": "B", "part": "B"}, items)


def odd_names():
    """Attributes called by reserved words, with dots and blanks."""
    items = [
        {"order.id": s(f"{at}"), "the date": s("2026-01-01"), "status": s("select"), "a-b": n(str(at))}
        for at in range(4)
    ]
    types = {"order.id": "S", "the date": "S", "status": "S", "a-b": "N"}
    return Table(
        "Odd.Names_1", "order.id", "the date", types, items,
        indexes=[index("status.index", "status", "a-b"), index("by_date", "the date", "order.id")],
    )  # fmt: skip


def odd_keys():
    """Keys that look like windows, companions, escapes, or nothing at all."""
    keys = [
        "a*", "*", "a..b", "..", ".", "..b", "newest", "oldest", "newest:5", "newest:x", "oldest:",
        "after:a", "after:", "README", "x@", "x@info", "x@typed", "a,b", ",", "a/b", "%", "%41", "~",
        "a b", "tab\there", "é", "日本", "\u2028", "items", "by", "x" * 300, "x" * 299 + "y", "autorun.inf",
        ".git", "a~", "A", "a", "base64:AAEC", "-", "1e3", "#",
    ]  # fmt: skip
    items = [{"pk": s(pk), "sk": s(sk), "i": s("one"), "j": s(sk)} for pk in ("a*", "p,q") for sk in keys]
    return Table(
        "Keys", "pk", "sk", {"pk": "S", "sk": "S", "i": "S", "j": "S"}, items,
        indexes=[index("flat", "i", "j"), index("turned", "sk", "pk")],
    )  # fmt: skip


def many_attributes():
    """An index whose two sides have two and three attributes."""
    items = [
        {"id": s(f"m{at}"), "team": s(f"t{at % 2}"), "year": n("2026"), "round": s(f"r{at % 3}"),
         "score": n(str(at % 4)), "name": s(f"n{at}")}
        for at in range(24)
    ]  # fmt: skip
    types = {"id": "S", "team": "S", "year": "N", "round": "S", "score": "N", "name": "S"}
    return Table(
        "Matches", "id", None, types, items,
        indexes=[index("Standing", ["team", "year"], ["round", "score", "name"])],
        only="dynoxide",
    )  # fmt: skip


TABLES = [
    make()
    for make in (
        single_table, users, orders, numbers, binaries, odd_names, odd_keys, many_attributes,
    )
]  # fmt: skip
