"""The item writer against Python: boto3 takes the item apart, json prints it.

DDBFS_RENDER names the binary made from tests/unit/render.c. DDBFS_TEST_SEED repeats a run.
"""

import base64
import decimal
import json
import os
import random
import re
import subprocess
import sys

import pytest
from boto3.dynamodb.types import TypeDeserializer

from harness import plain

SEED = int(os.environ.get("DDBFS_TEST_SEED", "20260101"))
RENDER = os.environ.get("DDBFS_RENDER")
COUNT = 4000

sys.setrecursionlimit(10_000)  # for the deeply nested items

pytestmark = pytest.mark.skipif(not RENDER, reason="DDBFS_RENDER is not set")


def render(lines, compact=False, first=()):
    """Runs the binary; for each line its bytes, or None for an error."""
    command = [RENDER] + ["--compact"] * compact
    if first:
        command += ["--first", ",".join(first)]
    run = subprocess.run(command, input=b"\n".join(lines) + b"\n", capture_output=True, timeout=300)
    assert run.returncode == 0, run.stderr.decode(errors="replace")
    assert run.stderr == b""
    return list(split_answers(run.stdout))


def split_answers(data):
    at = 0
    while at < len(data):
        end = data.index(b"\n", at)
        head, at = data[at:end], end + 1
        if head == b"error":
            yield None
            continue
        size = int(head)
        yield data[at : at + size]
        at += size


def compare(items, rng, compact, first):
    answers = render([spell(item, rng) for item in items], compact, first)
    assert len(answers) == len(items)
    for number, (item, got) in enumerate(zip(items, answers)):
        want = plain.render(item, compact, first)
        assert got == want, f"seed {SEED}, item {number}: {json.dumps(item)[:2000]}"


# How an item may be spelled on the wire


def spell(value, rng):
    """The JSON of VALUE in one of its spellings: free space, and free escapes."""
    comma, colon = rng.choice([(",", ":"), (", ", ": "), (" ,\t", " : ")])
    escapes = rng.choice(["", "/", "a/", "a/\u00e9\U0001f600"])

    def spell_string(text):
        parts = re.split(f"([\ud800-\udfff{escapes}])", text)
        parts[0::2] = (json.dumps(part, ensure_ascii=False)[1:-1] for part in parts[0::2])
        parts[1::2] = map(escape, parts[1::2])
        return '"' + "".join(parts).replace("\\u002f", "\\/") + '"'

    def spell_value(value):
        if isinstance(value, dict):
            members = (spell_string(k) + colon + spell_value(v) for k, v in value.items())
            return "{" + comma.join(members) + "}"
        if isinstance(value, list):
            return "[" + comma.join(map(spell_value, value)) + "]"
        return spell_string(value) if isinstance(value, str) else json.dumps(value)

    return spell_value(value).encode()


def escape(character):
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i:i + 2].hex()}" for i in range(0, len(units), 2))


# The generator


PIECES = [
    "a", "b", "Z", "0", "~", " ", "/", "\\", '"', "\n", "\r", "\t", "\b", "\f", "\0", "\x01", "\x1f",
    "\x7f", "\x80", "\u00e9", "\u07ff", "\u0800", "\u2028", "\u2029", "\ud7ff", "\ue000", "\ufeff",
    "\uffff", "\U00010000", "\U0001f600", "\U0010ffff", "\ud800", "\udbff", "\udc00", "\udfff", "</script>",
    "null", "{}", "a text of several words that goes on for more than eight bytes",
]  # fmt: skip

NUMBERS = [
    "0", "-0", "1", "-1", "0.0", "1.0", "1.50", "1e125", "1E+125", "-1e125", "1e-130", "9.99e-130",
    "9" * 38, "-" + "9" * 38, "0." + "0" * 129 + "1", "9" * 38 + "e88", "1" + "0" * 37, "100", "1e2",
    "9007199254740993", "9007199254740992", "0.1", "0.10", "3.1415926535897932384626433832795028841",
]  # fmt: skip


# A high surrogate before a low one would be one character after a trip through JSON.
PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def text_of(rng):
    text = "".join(rng.choice(PIECES) for _ in range(rng.choice([0, 1, 1, 2, 3, 8])))
    while PAIR.search(text):
        text = PAIR.sub("", text)
    return text


def number_of(rng):
    if rng.random() < 0.4:
        return rng.choice(NUMBERS)
    digits = str(rng.randrange(1, 10 ** rng.randrange(1, 38)))
    if rng.random() < 0.4:
        digits = digits[0] + "." + digits[1:] + "0" * (len(digits) == 1)
    if rng.random() < 0.2:
        digits += rng.choice("eE") + rng.choice(["", "+", "-"]) + str(rng.randrange(125))
    return rng.choice(["", "-"]) + digits


def binary_of(rng):
    return base64.b64encode(rng.randbytes(rng.randrange(9))).decode()


def set_of(make, rng):
    members = list({make(rng) for _ in range(rng.randrange(1, 9))})
    rng.shuffle(members)
    return members


def map_of(rng, depth):
    return {text_of(rng): value_of(rng, depth) for _ in range(rng.randrange(5))}


def value_of(rng, depth):
    kind = rng.choice("S S N N B BOOL NULL SS NS BS".split() + ["M", "M", "L", "L"] * (depth > 0))
    make = {
        "S": lambda: text_of(rng),
        "N": lambda: number_of(rng),
        "B": lambda: binary_of(rng),
        "BOOL": lambda: rng.random() < 0.5,
        "NULL": lambda: True,
        "SS": lambda: set_of(text_of, rng),
        "NS": lambda: set_of(number_of, rng),
        "BS": lambda: set_of(binary_of, rng),
        "M": lambda: map_of(rng, depth - 1),
        "L": lambda: [value_of(rng, depth - 1) for _ in range(rng.randrange(5))],
    }
    return {kind: make[kind]()}


def item_of(rng):
    item = {"pk": {"S": text_of(rng)}, "sk": {"N": number_of(rng)}}
    item.update(map_of(rng, 5))
    names = list(item)
    rng.shuffle(names)
    return {name: item[name] for name in names}


def nested(levels, tag):
    value = {"N": "1"}
    for _ in range(levels):
        value = {"L": [value]} if tag == "L" else {"M": {"a": value}}
    return {"pk": value}


def nasty():
    yield {}
    yield {"": {"S": ""}}
    yield {"a": {"M": {}}, "b": {"L": []}, "c": {"L": [{"L": []}, {"M": {}}]}}
    yield {"a": {"S": "".join(map(chr, range(0x20)))}}
    yield {"a": {"S": "\0"}, "a\0": {"S": "x"}, "a\0b": {"S": "y"}}
    yield {"a": {"S": "".join(map(chr, range(0x20, 0x300)))}}
    yield {"a": {"S": "\ud800"}, "\udfff": {"S": "\udc00\ud800"}, "\U0001f600": {"S": "\U0001f600"}}
    yield {"\uffff": {"N": "1"}, "\U00010000": {"N": "2"}, "\ud800": {"N": "3"}}
    yield {"a": {"NS": NUMBERS}}
    yield {"a": {"NS": [str(n) for n in range(-60, 60)]}}
    yield {"a": {"NS": [f"{n}e{e}" for n in (1, -1, 9, 10) for e in range(-130, 126, 5)]}}
    yield {f"n{i}": {"N": text} for i, text in enumerate(NUMBERS)}
    yield {"a": {"SS": PIECES}}
    yield {"a": {"B": base64.b64encode(bytes(range(256))).decode()}, "b": {"B": ""}}
    yield {"a": {"BS": [base64.b64encode(bytes([n])).decode() for n in range(256)]}}
    yield {"t": {"BOOL": True}, "f": {"BOOL": False}, "n": {"NULL": True}}
    yield {f"attribute{n}": {"N": str(n)} for n in range(2000)}
    yield {"a": {"S": "x" * 400_000}}
    yield {"a": {"S": "\U0001f600\n" * 60_000}}
    yield {"a": {"B": base64.b64encode(bytes(300_000)).decode()}}
    yield {"a": {"L": [{"N": "1"}] * 40_000}}
    for levels in (1, 31, 32, 33, 200):
        yield nested(levels, "L")
        yield nested(levels, "M")


NO_ITEMS = [
    b"", b"[]", b"1", b"null", b'"a"', b"{", b"{}{}", b'{"a":1}', b'{"a":"b"}', b'{"a":{}}', b'{"a":{"S":1}}',
    b'{"a":{"N":1}}', b'{"a":{"X":"1"}}', b'{"a":{"S":"1","N":"1"}}', b'{"a":{"B":"x"}}', b'{"a":{"B":"AA="}}',
    b'{"a":{"BOOL":"true"}}', b'{"a":{"NULL":null}}', b'{"a":{"L":[1]}}', b'{"a":{"M":{"b":1}}}',
    b'{"a":{"SS":[1]}}', b'{"a":{"NS":[1]}}', b'{"a":{"S":"1"},"a":{"S":"2"}}', b'{"a":{"S":"\xff"}}',
    b'{"a":{"S":"1"},"\\u0061":{"S":"2"}}', b'{"a":{"M":{"b":{"S":"1"},"b":{"S":"1"}}}}', b'{"a":{"S":"\xed\xa0\x80"}}',
]  # fmt: skip


# The tests


@pytest.mark.parametrize("compact", [False, True])
@pytest.mark.parametrize("first", [(), ("sk", "pk"), ("pk", "a", "missing")])
def test_nasty_items(compact, first):
    compare(list(nasty()), random.Random(SEED), compact, first)


@pytest.mark.parametrize("compact", [False, True])
@pytest.mark.parametrize("first", [(), ("pk", "sk")])
def test_random_items(compact, first):
    print("DDBFS_TEST_SEED", SEED)
    rng = random.Random(f"{SEED} {compact} {first}")
    compare([item_of(rng) for _ in range(COUNT)], rng, compact, first)


def test_what_is_no_item_is_an_error():
    answers = render(NO_ITEMS)
    assert answers == [None] * len(NO_ITEMS)


def test_an_error_ends_nothing():
    assert render([b"nonsense", b'{"a":{"N":"1"}}'], compact=True) == [None, b'{"a":1}\n']


def test_numbers_are_those_of_boto3():
    """The text that is kept has the value that boto3's 38-digit context reads from it."""
    for text in NUMBERS:
        assert TypeDeserializer().deserialize({"N": text}) == decimal.Decimal(text)


@pytest.mark.parametrize("text", ["+1", ".5", "1.", "abc", "", "1e", "0x1", "NaN"])
def test_a_number_that_the_service_never_writes_is_refused(text):
    item = {"pk": {"S": "a"}, "deep": {"L": [{"M": {"n": {"N": text}}}]}}
    assert render([json.dumps(item).encode()], True, ["pk"]) == [None]
