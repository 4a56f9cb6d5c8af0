"""The oracle of records: boto3 takes a typed item apart, json prints it as ddbfs has to.

The rules are those of the design: two spaces, key attributes first and then by name, numbers digit
by digit, sets in a stable order, binary in base64, one newline at the end.
"""

import base64
import decimal
import functools
import json
import re

from boto3.dynamodb.types import Binary, TypeDeserializer

MASK = "********"

# json.dumps knows no number it would print as it came, so the text of a number travels in a
# string between two marks that no generated string holds, and the quotes go at the end.
MARK = "\uf8ff"
MARKED = re.compile(f'"{MARK}([^"]*){MARK}"')
JSON_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
EXACT = decimal.Context(
    Emin=-(10**9),
    Emax=10**9,
    prec=400,
    traps=[decimal.Inexact, decimal.Overflow, decimal.Rounded],
)


class Number(str):
    """The text of a number."""


def binary(value):
    """boto3's client has decoded it already; the service's own JSON has not."""
    return value if isinstance(value, bytes) else base64.b64decode(value)


class Deserializer(TypeDeserializer):
    """boto3's own, but that it keeps the text of numbers and the order question open."""

    def _deserialize_n(self, value):
        return Number(value)

    def _deserialize_ns(self, value):
        return frozenset(map(Number, value))

    def _deserialize_ss(self, value):
        return frozenset(value)

    def _deserialize_bs(self, value):
        return frozenset(bytes(Binary(binary(v)).value) for v in value)

    def _deserialize_b(self, value):
        return binary(value)


def utf8(text):
    return text.encode("utf-8", "surrogatepass")


def number_order(a, b):
    x, y = EXACT.create_decimal(a), EXACT.create_decimal(b)
    if x != y:
        return -1 if x < y else 1
    return -1 if utf8(a) < utf8(b) else int(a != b)


def sorted_set(members):
    if all(isinstance(m, Number) for m in members):
        return sorted(members, key=functools.cmp_to_key(number_order))
    if all(isinstance(m, str) for m in members):
        return sorted(members, key=utf8)
    return sorted(members)


def plain(value):
    """What json.dumps is to print for a deserialised value."""
    if isinstance(value, Number):
        return f"{MARK}{value}{MARK}" if JSON_NUMBER.fullmatch(value) else str(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, frozenset):
        return [plain(member) for member in sorted_set(value)]
    if isinstance(value, list):
        return [plain(member) for member in value]
    if isinstance(value, dict):
        return {name: plain(value[name]) for name in sorted(value, key=utf8)}
    return value


def keys_first(item, first):
    front = {name: item[name] for name in first if name in item}
    return {**front, **{name: value for name, value in item.items() if name not in front}}


def render(typed, compact=False, first=("pk", "sk")):
    deserialize = Deserializer().deserialize
    item = plain({name: deserialize(value) for name, value in typed.items()})
    layout = {"separators": (",", ":")} if compact else {"indent": 2}
    text = json.dumps(keys_first(item, first), ensure_ascii=False, **layout)
    text = MARKED.sub(r"\1", text)
    # A lone surrogate has no UTF-8; the writer shows it as its escape.
    text = re.sub("[\ud800-\udfff]", lambda m: f"\\u{ord(m.group()):04x}", text)
    return text.encode() + b"\n"


def masked(typed, secrets):
    """The typed item with its secret attributes as records show them."""
    return {name: {"S": MASK} if name in secrets else value for name, value in typed.items()}


def bare(value):
    """The content of an attribute's file: texts, numbers and base64 bare, all else as JSON."""
    kind, content = next(iter(value.items()))
    if kind in "SN":
        return content.encode("utf-8", "surrogatepass") + b"\n"
    if kind == "B":
        return base64.b64encode(binary(content)) + b"\n"
    # A record of this one attribute, without the brace, the name and the indent around it.
    text = render({"a": value}).decode()[len('{\n  "a": ') : -len("\n}\n")]
    return text.replace("\n  ", "\n").encode() + b"\n"


def objects(text):
    """The JSON values of TEXT, one after the other."""
    decoder, found, text = json.JSONDecoder(), [], text.lstrip()
    while text:
        value, end = decoder.raw_decode(text)
        found.append(value)
        text = text[end:].lstrip()
    return found
