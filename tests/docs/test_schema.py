"""The map's schema: it takes what ddbfs takes, refuses what ddbfs refuses, and knows the same
members as the code and the reference."""

import copy
import json
import re
import subprocess

import jsonschema
import pytest

from harness import places
from harness.rows import rows

REPO = places.REPO
SCHEMA = json.loads((REPO / "docs/map.schema.json").read_text())
EXAMPLE = REPO / "docs/examples/ecommerce.map.json"

SMALL = {
    "environments": {"prod": {"prefix": "prod-"}},
    "tables": {
        "jobs": {
            "table": "Jobs",
            "records": {"job": {"pk": "SHOP#{shop}", "sk": "JOB#{created}#{id}"}},
            "indexes": {"ById": {"partition": "id", "sort": "created", "projects": "keys"}},
            "params": {"shop": {"match": "^[^.]+$", "hint": "not the domain"}},
            "paths": {
                "{shop}/": {"newest": 10},
                "by-id/{id}": {"index": "ById"},
            },
        }
    },
}


def without_comments(text):
    """The map as plain JSON: line comments go, texts with // in them stay."""
    return re.sub(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', lambda m: m[1] or "", text, flags=re.S)


def validator():
    return jsonschema.Draft202012Validator(SCHEMA)


def changed(path, value):
    """SMALL with one member set: changed("tables.jobs.ttl", 5). None takes the member away."""
    document = copy.deepcopy(SMALL)
    steps, at = path.split("."), document
    for step in steps[:-1]:
        at = at[step]
    if value is None:
        del at[steps[-1]]
    else:
        at[steps[-1]] = value
    return document


def with_path(path, pattern):
    return changed("tables.jobs.paths", {path: pattern})


def with_index(index):
    return changed("tables.jobs.indexes", {"ById": index})


def with_link(link):
    return changed("tables.jobs.links", {"other": link})


@pytest.fixture
def check_offline(tmp_path):
    """check_offline(document) -> what `ddbfs check --offline` did with it."""
    binary = places.program("DDBFS", "build-asan/fs/ddbfs", "build/fs/ddbfs")

    def check(document):
        file = tmp_path / "map.json"
        file.write_text(json.dumps(document, indent=1))
        return subprocess.run(
            [binary, "check", "--offline", file], capture_output=True, text=True, timeout=60
        )

    return check


def test_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_example_map_fits():
    validator().validate(json.loads(without_comments(EXAMPLE.read_text())))


def test_example_map_names_the_schema():
    document = json.loads(without_comments(EXAMPLE.read_text()))
    assert (EXAMPLE.parent / document["$schema"]).resolve() == REPO / "docs/map.schema.json"


GOOD = {
    "small": SMALL,
    "no prefix": changed("environments.prod", {}),
    "empty prefix": changed("environments", {"prod": {"prefix": ""}}),
    "parametric environment": changed("environments", {"dev-{b}": {"prefix": "dev-{b}-"}}),
    "endpoint": changed("environments.prod.endpoint", "http://127.0.0.1:8000"),
    "snapshot": changed("environments.prod", {"prefix": "prod-", "snapshot": "orders.ddb"}),
    "snapshots": changed("environments.prod.snapshots", "past"),
    "live": changed("environments.prod.live", True),
    "prices": changed("prices", {"prod": 0.1525, "*": 1}),
    "no paths": changed("tables.jobs.paths", {}),
    "several key attributes": changed(
        "tables.jobs.indexes.Several", {"partition": ["id", "shop"], "sort": {"x": "{created}"}}
    ),
    "list of what an index includes": with_index({"partition": "id", "projects": ["a", "b"]}),
    "values that are all": changed(
        "tables.jobs.params.shop", {"values": ["a", "b"], "only": True, "owner": "job"}
    ),
    "number key": changed("tables.jobs.types", {"created": "N"}),
    "separator": changed("tables.jobs.separator", "|"),
    "secret": changed("tables.jobs.secret", ["token"]),
    "ttl of none": changed("tables.jobs.ttl", 0),
    "begins": with_path("{shop}/on/{day}/", {"where": {"created": "{day}*"}}),
    "number from the path": with_path("{shop}/newest:{count}/", {"newest": "{count}"}),
    "ties": with_path("{shop}/newest:{count}/", {"newest": "{count}", "ties": True}),
    "hidden": with_path("{shop}/on/{day}/", {"where": {"created": "{day}*"}, "hidden": True}),
    "whole attribute": with_path("{shop}/after/{day}/", {"where": {"'sk'": {">": "{day}"}}}),
    "range": with_path("{shop}/{from}..{to}/", {"where": {"created": "{from}..{to}"}}),
    "begins, written out": with_path(
        "{shop}/on/{day}/", {"where": {"created": {"begins_with": "{day}"}}}
    ),
    "range, written out": with_path(
        "{shop}/{from}..{to}/", {"where": {"created": {"between": ["{from}", "{to}"]}}}
    ),
    "number": with_path("{shop}/", {"filter": {"attempt": {">": 2}, "size": 3}}),
    "typed values": with_path("{shop}/", {"filter": {"done": True, "gone": None, "size": 3}}),
    "all of the operators": with_path(
        "{shop}/",
        {
            "filter": {
                "n": {">": 1, "<=": 9, "!=": 5},
                "state": {"in": ["a", 1, False, None]},
                "tags": {"contains": "x"},
                "gone": {"exists": False},
                "range": {"between": [1, 2]},
            }
        },
    ),
    "paths into attributes": with_path(
        "{shop}/", {"filter": {"a.b[0].c": 1, "'a.b'": "x*", "'or'": {"exists": True}}}
    ),
    "alternatives": with_path(
        "{shop}/",
        {"filter": {"or": [{"a": 1, "b": 2}, {"not": {"c": "x"}}], "and": [{"or": [{"d": 1}]}]}},
    ),
    "a parameter that is a number": changed("tables.jobs.params.n", {"type": "N"}),
    "types of what a filter looks at": changed(
        "tables.jobs",
        {
            **SMALL["tables"]["jobs"],
            "types": {"size": "N", "done": "BOOL"},
            "paths": {"{shop}/{size}/{done}/": {"filter": {"size": "{size}", "done": "{done}"}}},
        },
    ),
    "formats by kind": changed(
        "tables.jobs.indexes.Shared", {"partition": {"g1": {"job": "JOB#{id}"}}, "sort": "created"}
    ),
    "consistent local index": changed(
        "tables.jobs",
        {
            **SMALL["tables"]["jobs"],
            "indexes": {"Local": {"partition": "pk", "sort": "created", "local": True}},
            "paths": {"{shop}/x/": {"index": "Local", "consistent": True}},
        },
    ),
    "pick": with_path(
        "{shop}/last", {"pick": {"greatest": "updated"}, "attribute": "token", "mtime": "updated"}
    ),
    "list of all": with_path("{shop}/", {"list": "*", "oldest": "all"}),
    "list of several": with_path("{shop}/", {"list": ["job"], "consistent": True}),
    "hydrate": with_path("by-id/{id}", {"index": "ById", "hydrate": False}),
    "name": with_path("{shop}/", {"name": "{id}@{created}"}),
    "links": changed(
        "tables.jobs.links",
        {
            "all": "/{env}/jobs/{shop}/",
            "owner": {"record": "job", "to": "/prod/jobs/by-id/{parent}"},
            "next": {"record": ["job"], "from": {"ref": "J-{x}"}, "to": "/{env}/jobs/by-id/{x}"},
        },
    ),
    "newest one": with_path("{shop}/newest", {"newest": 1}),
}


@rows("document", GOOD.values(), ids=GOOD.keys())
def test_both_take(document, check_offline):
    validator().validate(document)
    answer = check_offline(document)
    assert (answer.returncode, answer.stderr) == (0, "")


BAD = {
    "table called tables": changed("tables", {"tables": SMALL["tables"]["jobs"]}),
    "unknown member of the map": {**SMALL, "table": {}},
    "no environments": changed("environments", None),
    "empty environments": changed("environments", {}),
    "no tables": changed("tables", None),
    "empty tables": changed("tables", {}),
    "environment with a slash": changed("environments", {"a/b": {}}),
    "environment with a leading dot": changed("environments", {".a": {}}),
    "environment of two adjacent parameters": changed("environments", {"{a}{b}": {}}),
    "unknown member of an environment": changed("environments.prod.account", "1"),
    "snapshot with a region": changed("environments.prod", {"snapshot": "a.ddb", "region": "us-east-1"}),
    "snapshot with snapshots": changed("environments.prod", {"snapshot": "a.ddb", "snapshots": "b"}),
    "snapshot that is live": changed("environments.prod", {"snapshot": "a.ddb", "live": True}),
    "live that is no word": changed("environments.prod.live", "yes"),
    "environment with the name of a past": changed("environments", {"prod@at": {"prefix": "prod-"}}),
    "prefix that is no text": changed("environments.prod.prefix", 1),
    "table with a slash": changed("tables", {"a/b": SMALL["tables"]["jobs"]}),
    "unknown member of a table": changed("tables.jobs.key", "pk"),
    "table without its name": changed("tables.jobs.table", None),
    "table without records": changed("tables.jobs.records", None),
    "empty records": changed("tables.jobs.records", {}),
    "table without paths": changed("tables.jobs.paths", None),
    "record that is no object": changed("tables.jobs.records.job", "JOB#{id}"),
    "record without keys": changed("tables.jobs.records.job", {}),
    "record of three keys": changed("tables.jobs.records.job", {"a": "1", "b": "2", "c": "3"}),
    "format with an open brace": changed("tables.jobs.records.job.pk", "SHOP#{shop"),
    "format with a closing brace": changed("tables.jobs.records.job.pk", "SHOP#}"),
    "format with adjacent parameters": changed("tables.jobs.records.job.pk", "{shop}{x}"),
    "parameter with a blank": changed("tables.jobs.records.job.pk", "{the shop}"),
    "parameter that begins with a digit": changed("tables.jobs.records.job.pk", "{1}"),
    "unknown member of an index": with_index({"partition": "id", "hydrate": True}),
    "index without partition": with_index({"sort": "id"}),
    "index of an empty partition": with_index({"partition": []}),
    "index of an empty object": with_index({"partition": {}}),
    "index of five attributes": with_index({"partition": ["a", "b", "c", "d", "e"]}),
    "index attribute that is no parameter": with_index({"partition": "a.b"}),
    "projects what is none": with_index({"partition": "id", "projects": "KEYS_ONLY"}),
    "projects nothing": with_index({"partition": "id", "projects": []}),
    "type that is none": changed("tables.jobs.types", {"created": "NULL"}),
    "parameter of a type that is none": changed("tables.jobs.params.shop.type", "number"),
    "local that is no flag": with_index({"partition": "id", "local": "yes"}),
    "formats of no kind": with_index({"partition": {"g1": {}}}),
    "unknown member of a parameter": changed("tables.jobs.params.shop.regex", "x"),
    "values that are none": changed("tables.jobs.params.shop.values", []),
    "only that is no flag": changed("tables.jobs.params.shop", {"values": ["a"], "only": "yes"}),
    "owner that is no text": changed("tables.jobs.params.shop.owner", ["job"]),
    "values that are no list": changed("tables.jobs.params.shop.values", "a"),
    "separator of two characters": changed("tables.jobs.separator", "##"),
    "separator beyond ASCII": changed("tables.jobs.separator", "§"),
    "secret that is no list": changed("tables.jobs.secret", "token"),
    "empty secret": changed("tables.jobs.secret", []),
    "empty mtime": changed("tables.jobs.mtime", ""),
    "negative ttl": changed("tables.jobs.ttl", -1),
    "ttl of more than a day": changed("tables.jobs.ttl", 86401),
    "ttl with a fraction": changed("tables.jobs.ttl", 1.5),
    "ttl that is a text": changed("tables.jobs.ttl", "10"),
    "unknown member of a listing": with_path("{shop}/", {"limit": 5}),
    "unknown member of a record": with_path("by-id/{id}", {"index": "ById", "limit": 5}),
    "record of a listing": with_path("{shop}/", {"record": "job"}),
    "list of a record": with_path("{shop}/newest", {"list": "job", "newest": 1}),
    "empty list": with_path("{shop}/", {"list": []}),
    "list with * among others": with_path("{shop}/", {"list": ["job", "*"]}),
    "price that is a text": changed("prices", {"prod": "0.125"}),
    "price below zero": changed("prices", {"*": -1}),
    "prices that are no object": changed("prices", 0.125),
    "attribute of a listing": with_path("{shop}/", {"attribute": "token"}),
    "pick of a listing": with_path("{shop}/", {"pick": {"greatest": "updated"}}),
    "pick of both": with_path("{shop}/x", {"pick": {"greatest": "a", "least": "b"}}),
    "pick of nothing": with_path("{shop}/x", {"pick": {}}),
    "pick of neither": with_path("{shop}/x", {"pick": {"last": "updated"}}),
    "name of a record": with_path("{shop}/newest", {"newest": 1, "name": "{id}"}),
    "newest of none": with_path("{shop}/", {"newest": 0}),
    "newest of too many": with_path("{shop}/", {"newest": 1000001}),
    "newest of a word": with_path("{shop}/", {"newest": "every"}),
    "newest of several in one file": with_path("{shop}/newest", {"newest": 2}),
    "newest and oldest": with_path("{shop}/", {"newest": 1, "oldest": 1}),
    "oldest all and newest": with_path("{shop}/", {"oldest": "all", "newest": 5}),
    "hydrate without index": with_path("{shop}/", {"hydrate": True}),
    "hydrate that is no flag": with_path("by-id/{id}", {"index": "ById", "hydrate": "yes"}),
    "where that is no object": with_path("{shop}/", {"where": "created"}),
    "condition of two": with_path("{shop}/", {"where": {"created": {">": "1", "<": "2"}}}),
    "condition of an unknown word": with_path("{shop}/", {"where": {"created": {"!=": "1"}}}),
    "number with a text": with_path("{shop}/newest:{count}/", {"newest": "x{count}"}),
    "ties that are no flag": with_path("{shop}/", {"newest": 5, "ties": "yes"}),
    "hidden that is no flag": with_path("{shop}/", {"hidden": 1}),
    "key condition of a flag": with_path("{shop}/", {"where": {"created": True}}),
    "filter of nothing": with_path("{shop}/", {"filter": {"a": {}}}),
    "filter of an unknown word": with_path("{shop}/", {"filter": {"a": {"like": "x"}}}),
    "begins with a number": with_path("{shop}/", {"filter": {"a": {"begins_with": 1}}}),
    "less than a flag": with_path("{shop}/", {"filter": {"a": {"<": True}}}),
    "between flags": with_path("{shop}/", {"filter": {"a": {"between": [True, False]}}}),
    "in nothing": with_path("{shop}/", {"filter": {"a": {"in": []}}}),
    "in too many": with_path("{shop}/", {"filter": {"a": {"in": list(range(100))}}}),
    "exists that is no flag": with_path("{shop}/", {"filter": {"a": {"exists": "yes"}}}),
    "or of nothing": with_path("{shop}/", {"filter": {"or": []}}),
    "or of an object": with_path("{shop}/", {"filter": {"or": {"a": 1}}}),
    "or of an empty filter": with_path("{shop}/", {"filter": {"or": [{}]}}),
    "not of nothing": with_path("{shop}/", {"filter": {"not": {}}}),
    "between with one end": with_path("{shop}/", {"where": {"created": {"between": ["1"]}}}),
    "range without an end": with_path("{shop}/", {"where": {"created": "1.."}}),
    "range without a beginning": with_path("{shop}/", {"where": {"created": "..1"}}),
    "beginning of nothing": with_path("{shop}/", {"where": {"created": "*"}}),
    "path with an empty segment": with_path("{shop}//x/", {}),
    "path from the root": with_path("/{shop}/", {}),
    "path with ..": with_path("{shop}/../x/", {}),
    "path with an escape": with_path("{shop}/a%2Fb/", {}),
    "path of a companion": with_path("{shop}/x@info", {"newest": 1}),
    "path of a parameter's companion": with_path("{shop}@typed", {"newest": 1}),
    "path of a companion alone": with_path("{shop}/@", {"newest": 1}),
    "path with adjacent parameters": with_path("{shop}{created}/", {}),
    "path with a digit after a parameter": with_path("{shop}2/", {}),
    "path of links": with_path("{shop}/x@links", {"newest": 1}),
    "links that are no object": changed("tables.jobs.links", "/{env}/jobs/{shop}/"),
    "link without a path": with_link({"record": "job"}),
    "link of an unknown member": with_link({"to": "/{env}/jobs/{shop}/", "table": "jobs"}),
    "link from nothing": with_link({"to": "/{env}/jobs/{shop}/", "from": {}}),
    "link from a text": with_link({"to": "/{env}/jobs/by-id/{x}", "from": {"a": "x"}}),
    "link of no kind": with_link({"to": "/{env}/jobs/{shop}/", "record": []}),
    "link of a relative path": with_link("jobs/{shop}/"),
    "link to another environment": with_link("/{stage}/jobs/{shop}/"),
    "link to no table": with_link("/{env}/"),
    "link of an empty segment": with_link("/{env}/jobs//"),
    "link with an open part": with_link("/{env}/jobs/{shop*}/"),
    "name of a link with a slash": changed("tables.jobs.links", {"a/b": "/{env}/jobs/{shop}/"}),
    "name of a link with an @": changed("tables.jobs.links", {"a@b": "/{env}/jobs/{shop}/"}),
}


@rows("document", BAD.values(), ids=BAD.keys())
def test_schema_refuses(document):
    with pytest.raises(jsonschema.ValidationError):
        validator().validate(document)


@rows("document", BAD.values(), ids=BAD.keys())
def test_check_refuses(document, check_offline):
    answer = check_offline(document)
    assert answer.returncode == 1
    assert re.match(r"ddbfs: \S+map\.json:\d+:\d+: \S", answer.stderr), answer.stderr


# The members, as three places have them: object -> names.

MEMBERS = r'map_member members\[\] = \{(.*?)\{0\},?\s*\};.*?map_read_members\(.*?, (".*?[^\\]"),'


def members_of_code():
    found = {}
    for file in sorted((REPO / "core/map").glob("*.c")):
        for table, what in re.findall(MEMBERS, file.read_text(), re.S):
            name = json.loads(what).strip('"')
            found[name] = set(re.findall(r'\{\s*"([^"]+)",', table))
    return found


def members_of_schema():
    found = {}

    def walk(node):
        if isinstance(node, dict):
            if "properties" in node and "title" in node:
                found.setdefault(node["title"].strip('"'), set()).update(node["properties"])
            for child in node.values():
                walk(child)
        elif isinstance(node, list):
            for child in node:
                walk(child)

    walk(SCHEMA)
    return found


def members_of_reference():
    """Each table of docs/map.md whose head begins with "member of"."""
    found, name = {}, None
    for line in (REPO / "docs/map.md").read_text().splitlines():
        head = re.match(r"\| member of (.*?) \|", line)
        row = re.match(r"\| `([^`]+)` \|", line)
        if head:
            name = head[1]
            found[name] = set()
        elif row and name:
            found[name].add(row[1])
        elif not line.startswith("|"):
            name = None
    return found


def operators_of_code():
    code = (REPO / "core/map/condition_members.c").read_text()
    table = re.search(r"\} ops\[\] = \{(.*?)\n\};", code, re.S)
    return set(re.findall(r'\{"([^"]+)", COND_', table[1]))


def operators_of_schema():
    return set(SCHEMA["$defs"]["operation"]["properties"])


def operators_of_reference():
    rows = re.findall(r'^\| `\{ "([^"]+)": ', (REPO / "docs/map.md").read_text(), re.M)
    return set(rows)


def test_code_has_the_objects_we_look_for():
    assert set(members_of_code()) == {
        "a map", "an environment", "a table", "an index", "a parameter", "a path", "pick", "a link"
    }  # fmt: skip


def test_schema_has_every_member_of_the_code():
    assert members_of_schema() == members_of_code()


def test_reference_has_every_member_of_the_code():
    assert members_of_reference() == members_of_code()


def test_operators_agree():
    assert operators_of_code() == operators_of_schema() == operators_of_reference() != set()


def test_every_member_has_a_description():
    def bare(node):
        if isinstance(node, dict):
            target = SCHEMA["$defs"].get(str(node.get("$ref", "")).rsplit("/", 1)[-1], {})
            for name, member in node.get("properties", {}).items():
                to = SCHEMA["$defs"].get(str(member.get("$ref", "")).rsplit("/", 1)[-1], {})
                if member.keys() != {"const"} and not member.get("description", to.get("description")):
                    yield name
            for child in node.values():
                yield from bare(child)
        elif isinstance(node, list):
            for child in node:
                yield from bare(child)

    assert list(bare(SCHEMA)) == []
