"""The table of the model tests: records that describe themselves, under names that hurt."""

import hashlib
import json
import uuid

TTL_S = 2

# Each is something that a name of a file, a companion, a probe or a path could be taken for.
NASTY = [
    "plain",
    "/",
    "a/b",
    "%",
    "%2F",
    "100%",
    ".",
    "..",
    ".git",
    ".hidden",
    "@info",
    "x@info",
    "x@typed",
    "x@",
    "~",
    "a~",
    "README",
    "HEAD",
    "autorun.inf",
    "-rf",
    " ",
    "two words",
    "line\nbreak",
    "\x01",
    "\x7f",
    "\x1b[31m",
    "é",
    "日本語",
    "😀",
    "#hash",
    "a#b",
    "*",
    "'\"$`\\",
    "x" * 247,
    "y" * 250,
    "z" * 900,
    "z" * 899 + "!",
    "é" * 200,
    "%" * 200,
]


def description():
    key = [("pk", "HASH"), ("sk", "RANGE")]
    by_tag = [("tag", "HASH"), ("sk", "RANGE")]
    schema = lambda parts: [{"AttributeName": n, "KeyType": t} for n, t in parts]  # noqa: E731
    return {
        "TableName": f"model-Things-{uuid.uuid4().hex[:12]}",
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk", "tag")
        ],
        "KeySchema": schema(key),
        "BillingMode": "PAY_PER_REQUEST",
        "GlobalSecondaryIndexes": [
            {
                "IndexName": "by_tag",
                "KeySchema": schema(by_tag),
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            }
        ],
    }


def write_map(path, table, ttl_s=TTL_S):
    """A box is listed by its partition, a tag by an index that projects keys alone."""
    things = {
        "table": table.removeprefix("model-"),
        "records": {"thing": {"pk": "BOX#{box}", "sk": "THING#{name*}"}},
        "indexes": {"by_tag": {"partition": "tag", "sort": "sk", "projects": "keys"}},
        "ttl": ttl_s,
        "paths": {
            "{box}/": {"list": "thing"},
            "by-tag/{tag}/": {"list": "thing", "index": "by_tag"},
        },
    }
    environments = {"m": {"prefix": "model-", "profile": "controller", "region": "us-east-1"}}
    path.write_text(json.dumps({"environments": environments, "tables": {"things": things}}))
    return path


def digest(box, name, version, payload):
    text = json.dumps([box, name, version, payload])
    return hashlib.sha256(text.encode()).hexdigest()


def typed(box, name, version, payload):
    """A record that tells its version, and whether it is whole."""
    return {
        "pk": {"S": f"BOX#{box}"},
        "sk": {"S": f"THING#{name}"},
        "tag": {"S": box},
        "name": {"S": name},
        "version": {"N": str(version)},
        "payload": {"S": payload},
        "check": {"S": digest(box, name, version, payload)},
    }


def key(box, name):
    return {"pk": {"S": f"BOX#{box}"}, "sk": {"S": f"THING#{name}"}}


def read_plain(content):
    """(name, version) of a file's bytes; fails when they are not one version, whole."""
    record = json.loads(content)
    box = record["pk"].removeprefix("BOX#")
    told = digest(box, record["name"], record["version"], record["payload"])
    assert record["check"] == told, f"mixed versions: {content[:300]!r}"
    return record["name"], record["version"]


def read_typed(content):
    """The same of a companion, DynamoDB's own JSON."""
    record = json.loads(content)
    plain = {name: next(iter(value.values())) for name, value in record.items()}
    return read_plain(json.dumps({**plain, "version": int(plain["version"])}))
