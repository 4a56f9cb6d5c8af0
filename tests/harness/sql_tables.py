"""Random tables for SELECT: descriptions, items, and the tables of a map with kinds, formats and indexes."""

import base64
import copy
import random

from . import zoo

TEXTS = ["a", "b", "A", "Z", "é", "\U0001f600", "0", "5", "10", "9", "05", "1.0", "1e1", "x y", "a!b", "a'b", 'say "hi"',
         "50%", "a_b", "ab", "abc", "a\\b", "null", "true", '{"k": 1}', "[1, 2]", "\uffff", "a\x7f", "a\x01", "~",
         "2026-04-16", "2026-04-17T10:00:00Z", "aa", "a;b", "--", "/*"]  # fmt: skip
NUMBERS = ["0", "1", "-1", "5", "10", "9", "1.5", "-1.5", "0.1", "0.001", "1e10", "-100", "9007199254740993",
           "9223372036854775807", "9223372036854775808", "-9223372036854775808", "123456789012345678901234567890.12345678",
           "99999999999999999999999999999999999999", "1e40", "1.7e-20", "0.30000000000000004", "100.0", "-0"]  # fmt: skip
KEY_NUMBERS = ["0", "1", "-1", "5", "10", "9", "1.5", "-1.5", "0.001", "-100", "1e10", "1000000", "0.1",
               "123456789012345678901234567890.12345678", "99999999999999999999999999999999999999"]  # fmt: skip
BYTES = [b"\x00", b"\x00\x01", b"\xff", b"a", b"ab", b"5", b"\x80", b"{}"]
SEPARATORS = ["#", "#", "#", "/", ":", "|"]
PARTS = ["shop", "day", "state", "rank", "a0", "a1", "region", "Order_id"]
ATTRIBUTES = ["a0", "a1", "a2", "a3", "flag", "odd name", "select"]
PREFIXES = ["JOB", "ORDER", "U", "item", "A", "Z9"]


def encoded(raw):
    return base64.b64encode(raw).decode()


def random_value(rng, depth=0):
    """A typed value of any type."""
    kind = rng.choices(["S", "N", "BOOL", "NULL", "B", "L", "M", "SS", "NS", "BS"], [9, 9, 3, 2, 2, 2, 3, 1, 1, 1])[0]
    if depth > 1 and kind in ("L", "M"):
        kind = "S"
    some = lambda values: rng.sample(values, rng.randrange(1, 4))  # noqa: E731
    content = {
        "S": lambda: rng.choice([*TEXTS, ""]),
        "N": lambda: rng.choice(NUMBERS),
        "BOOL": lambda: rng.random() < 0.5,
        "NULL": lambda: True,
        "B": lambda: encoded(rng.choice(BYTES)),
        "L": lambda: [random_value(rng, depth + 1) for _ in range(rng.randrange(3))],
        "M": lambda: {name: random_value(rng, depth + 1) for name in rng.sample(["k", "n", "a b"], rng.randrange(3))},
        "SS": lambda: some(TEXTS),
        "NS": lambda: some(["1", "2.5", "-7", "10"]),
        "BS": lambda: [encoded(each) for each in some(BYTES)],
    }[kind]()
    return {kind: content}


# Formats: lists of pieces, each a text, or a part as (name, whether it is open).


def written(pieces):
    return "".join(each if isinstance(each, str) else f"{{{each[0]}{'*' * each[1]}}}" for each in pieces)


def expanded(pieces, values):
    return "".join(each if isinstance(each, str) else values[each[0]] for each in pieces)


def parts_of(pieces):
    return [each[0] for each in pieces if not isinstance(each, str)]


def taken_apart(pieces, text, separator):
    """The parts of a key, or None: a part ends at the first occurrence of the text behind it."""
    found = {}
    for at, piece in enumerate(pieces):
        behind = pieces[at + 1] if at + 1 < len(pieces) else None
        if isinstance(piece, str):
            if not text.startswith(piece):
                return None
            text = text[len(piece) :]
            continue
        if behind is None:
            value = text
        elif at + 2 == len(pieces):
            if not text.endswith(behind):
                return None
            value = text[: len(text) - len(behind)]
        elif behind in text:
            value = text[: text.index(behind)]
        else:
            return None
        if (not piece[1] and separator in value) or found.get(piece[0], value) != value:
            return None
        found[piece[0]] = value
        text = text[len(value) :]
    return found if text == "" else None


def random_format(rng, names, separator, prefix):
    """A format of the parts NAMES; the last one may be open."""
    pieces = [f"{prefix}{separator}"] if prefix else []
    for at, name in enumerate(names):
        if at:
            pieces.append(separator if rng.random() < 0.8 else f"{separator}{rng.choice(PREFIXES)}{separator}")
        pieces.append((name, at + 1 == len(names) and bool(prefix) and rng.random() < 0.15))
    if not names:
        pieces = [prefix or "FIXED"]
    elif rng.random() < 0.1:
        pieces.append(f"{separator}END")
    return pieces


class Kind:
    """A kind of item: its name and the formats of its key attributes."""

    def __init__(self, name, formats):
        self.name, self.formats = name, formats

    def literal_bytes(self):
        return sum(len(piece.encode()) for pieces in self.formats for piece in pieces if isinstance(piece, str))


class Table:
    """A table of an account, and of a map if KINDS are not empty. An index's formats are by attribute: pieces, or
    None for an attribute without parts. SEVERAL: keys of indexes have several attributes, which no local server has."""

    def __init__(self, rng, number, mapped=True, several=False):
        self.rng = rng
        self.name = f"T{number}"
        self.separator = rng.choice(SEPARATORS)
        # Keys are texts where the map has formats.
        kinds = ["S", "S"] if mapped and rng.random() < 0.8 else [rng.choice("SNB"), rng.choice("SSNB")]
        self.keys = ["pk", "sk"][: 1 if rng.random() < 0.15 else 2]
        self.types = dict(zip(self.keys, kinds))
        self.kinds = self.random_kinds() if mapped else []
        self.index_formats = {}
        self.attributes = {}  # by part: the kinds with an attribute of its name; the map's, which may be empty
        self.indexes, self.local = [], []
        for at in range(rng.choice([0, 1, 1, 2])):
            self.add_index(f"ix{at}")
        if several:
            self.add_wide_index("ix2")
        self.few = self.random_pool()
        self.items = self.random_items(rng.choice([8, 25, 60]))
        self.mapped = bool(self.kinds)

    # The map.

    def random_kinds(self):
        rng, found = self.rng, []
        if any(self.types[key] != "S" for key in self.keys):
            formats = [[(rng.choice([key, f"the_{key}"]), False)] if self.types[key] != "S" else
                       random_format(rng, ["shop"], self.separator, "P") for key in self.keys]  # fmt: skip
            return [Kind("only", formats)]
        prefixes = rng.sample(PREFIXES, 4)
        shared = random_format(rng, rng.sample(PARTS, rng.choice([1, 1, 2])), self.separator, rng.choice(["", "SHOP", "P"]))
        for at in range(rng.choice([1, 1, 2, 3])):
            partition = shared
            if len(self.keys) == 1 or rng.random() < 0.25:
                partition = random_format(rng, rng.sample(PARTS, rng.choice([1, 2])), self.separator, f"K{at}")
            others = [name for name in PARTS if name not in parts_of(partition)]
            sort = random_format(rng, rng.sample(others, rng.choice([0, 1, 2, 2, 3])), self.separator, prefixes[at])
            found.append(Kind(f"kind{at}", [partition, sort][: len(self.keys)]))
        return found

    def may_have(self, kind, names):
        """Whether items of the kind may have a value of each name, by what the map states."""
        parts = set(sum(map(parts_of, kind.formats), []))
        return all(name in parts or kind.name in self.attributes.get(name, [kind.name]) for name in names)

    def declaration(self):
        """The table in a map."""
        paths, indexes = {}, {}
        for kind in self.kinds:
            steps = "/".join(f"{{{name}}}" for name in parts_of(kind.formats[0])) or "all"
            paths[f"{kind.name}/{steps}/"] = {"list": kind.name}
        for each in self.indexes + self.local:
            sides = zoo.hash_and_range(each["KeySchema"])
            keys = [{name: written(self.index_formats[name]) if self.index_formats.get(name) else f"{{{name}}}"
                     for name in side} for side in sides]  # fmt: skip
            for side in keys:  # a key attribute of the table has the format of its kind
                for name in list(side):
                    if name in self.keys:
                        side[name] = None
            keys = [[name for name in side] if None in side.values() else side for side in keys]
            projects = each["Projection"]
            declared = {"ALL": "all", "KEYS_ONLY": "keys", "INCLUDE": projects.get("NonKeyAttributes")}
            own = {"partition": keys[0], "projects": declared[projects["ProjectionType"]]}
            own |= {"sort": keys[1]} if keys[1] else {}
            own |= {"local": True} if each in self.local else {}
            indexes[each["IndexName"]] = own
        types = {name: kind for name, kind in self.types.items() if kind != "S"}
        return {
            "table": self.name,
            "records": {kind.name: {key: written(pieces) for key, pieces in zip(self.keys, kind.formats)} for kind in self.kinds},
            **({"indexes": indexes} if indexes else {}),
            **({"types": types} if types else {}),
            "separator": self.separator,
            **({"attributes": self.attributes} if self.attributes else {}),
            "paths": paths,
        }

    # The table.

    def add_index(self, name):
        rng = self.rng
        projection = rng.choice([("ALL", ()), ("KEYS_ONLY", ()), ("INCLUDE", ["a2"])])
        local = len(self.keys) == 2 and rng.random() < 0.25
        used = {f"{name}p", f"{name}s"}
        partition = self.keys[0] if local else rng.choice([f"{name}p", f"{name}p", f"{name}p", self.keys[-1]])
        sort = rng.choice([f"{name}s", f"{name}s", None]) if not local else f"{name}s"
        if rng.random() < 0.2:  # an attribute that parts are named after
            sort = "a0" if "a0" not in self.types else sort
        for attribute in (partition, sort):
            if attribute and attribute not in self.types:
                self.types[attribute] = rng.choice("SSSNB")
                texts = self.kinds and self.types[attribute] == "S" and attribute in used
                if texts and rng.random() < 0.6:
                    own = [f"{attribute}_{each}" for each in ("x", "y")][: rng.choice([1, 2])]
                    self.index_formats[attribute] = random_format(rng, own, self.separator, rng.choice(["", "I"]))
        made = zoo.index(name, partition, sort or (), *projection)
        (self.local if local else self.indexes).append(made)

    def add_wide_index(self, name):
        rng = self.rng
        sides = [[f"{name}{side}{at}" for at in range(rng.randrange(1, 4))] for side in "ps"]
        if rng.random() < 0.3:
            sides[1].append(self.keys[-1])
        for attribute in sum(sides, []):
            self.types.setdefault(attribute, rng.choice("SSN"))
            side = sides[0] if attribute in sides[0] else sides[1]  # one with a key of the table has no formats
            if self.kinds and self.types[attribute] == "S" and not set(side) & set(self.keys) and rng.random() < 0.4:
                self.index_formats[attribute] = random_format(rng, [f"{attribute}_x"], self.separator, rng.choice(["", "I"]))
        self.indexes.append(zoo.index(name, *sides, *rng.choice([("ALL", ()), ("KEYS_ONLY", ())])))

    def description(self, prefix=""):
        told = {
            "TableName": prefix + self.name,
            "AttributeDefinitions": [{"AttributeName": name, "AttributeType": kind} for name, kind in self.types.items()],
            "KeySchema": zoo.schema(self.keys[:1], self.keys[1:]),
            "BillingMode": "PAY_PER_REQUEST",
        }
        told |= {"GlobalSecondaryIndexes": copy.deepcopy(self.indexes)} if self.indexes else {}
        told |= {"LocalSecondaryIndexes": copy.deepcopy(self.local)} if self.local else {}
        return told

    # Items.

    def random_pool(self):
        """For each key attribute and part, its few values: so that keys are shared."""
        rng, pool = self.rng, {}
        for name in PARTS:
            pool[name] = rng.sample([each for each in TEXTS if self.separator not in each], 5)
        parts = sum(map(parts_of, self.index_formats.values()), [])
        for name in [*self.types, *(name for name in parts if name not in self.types)]:
            pool.setdefault(name, rng.sample(TEXTS, 4))
        return pool

    def key_value(self, name, partition):
        """A typed value of a key attribute without a format."""
        kind, rng = self.types[name], self.rng
        values = {"S": TEXTS, "N": KEY_NUMBERS, "B": BYTES}[kind]
        if partition:
            values = values[:4]
        value = rng.choice(values)
        return {kind: encoded(value) if kind == "B" else value}

    def key_of(self, kind):
        """The typed key of an item of KIND; without a kind, any."""
        if not kind:
            return {name: self.key_value(name, at == 0) for at, name in enumerate(self.keys)}
        values = {name: self.rng.choice(self.few[name]) if name in self.few else "5" for pieces in kind.formats for name in parts_of(pieces)}
        key = {}
        for name, pieces in zip(self.keys, kind.formats):
            if self.types[name] != "S":
                key[name] = self.key_value(name, name == self.keys[0])
            else:
                key[name] = {"S": expanded(pieces, values)}
        return key

    def random_items(self, count):
        rng, found = self.rng, {}
        indexed = [name for name in self.types if name not in self.keys]
        for _ in range(count):
            key = self.key_of(rng.choice([*self.kinds, *self.kinds, *self.kinds, None]) if self.kinds else None)
            if any(kind == "S" and value == "" for each in key.values() for kind, value in each.items()):
                continue
            item = {}
            for name in [*ATTRIBUTES, *PARTS[:4]]:
                if name not in self.types and rng.random() < 0.4:
                    item[name] = random_value(rng)
            for name in indexed:
                if rng.random() < 0.7:
                    pieces = self.index_formats.get(name)
                    if pieces and rng.random() < 0.85:
                        item[name] = {"S": expanded(pieces, {part: rng.choice(self.few[part]) for part in parts_of(pieces)})}
                    else:
                        item[name] = self.key_value(name, "p" in name)
            found[repr([zoo.order(self.for_order(key[name])) for name in self.keys])] = {**key, **item}
        return list(found.values())

    @staticmethod
    def for_order(value):
        kind, content = next(iter(value.items()))
        return {kind: base64.b64decode(content)} if kind == "B" else value


def make_map(tables, prefix):
    return {
        "environments": {"e": {"prefix": prefix, "profile": "controller", "region": "us-east-1"}},
        "tables": {table.name.lower(): table.declaration() for table in tables if table.kinds},
    }


def random_tables(seed, several=False):
    """Two or three tables, of which one or more are in the map."""
    rng = random.Random(seed)
    tables = [Table(rng, number, rng.random() < 0.75, several) for number in range(rng.choice([2, 3]))]
    return tables if any(table.kinds for table in tables) else [Table(rng, 0, True, several), *tables[1:]]
