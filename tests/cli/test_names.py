"""Keys of any kind: listed under a legal name of their own, and opened by it."""

import itertools
import json
import unicodedata

import pytest

from harness import plain, tables
from harness.rows import rows

KEYS = {
    "slash": "a/b",
    "only slashes": "///",
    "path upwards": "../../etc/passwd",
    "dot": ".",
    "two dots": "..",
    "leading dot": ".git",
    "dot inside": "a.b",
    "nul": "a\0b",
    "only nul": "\0",
    "newline": "a\nb",
    "escape sequence": "\x1b[31mred",
    "delete": "a\x7f",
    "c1 control": "a\x85b",
    "percent": "%",
    "percent escape": "a%2Fb",
    "percent at the end": "100%",
    "escaped percent": "%25",
    "typed": "a@typed",
    "info": "a@info",
    "at": "a@",
    "only at": "@",
    "only typed": "@typed",
    "typed twice": "a@typed@typed",
    "at inside": "a@b",
    "space": " a b ",
    "slash and tilde": "/a~",
    "percent and tilde": "%~",
    "accent and tilde": "\u00e9~",
    "dot and tilde": ".a~",
    "noise": "HEAD",
    "bidi isolate": "a\u2066b\u2069",
    "quotes": "'\"`$(id)\\",
    "option": "-l",
    "star": "*",
    "hash": "#a##b#",
    "braces": "{name}",
    "accent": "caf\u00e9",
    "combining": "cafe\u0301",
    "astral": "\U0001f600",
    "bidi": "a\u202eb",
    "separator": "a\u2028b",
    "capital": "A",
    "small": "a",
    "README": "README",
    "json": "a.json",
    "shortened look": "a%~" + "0" * 32,
    "247 bytes": "x" * 247,
    "250 bytes": "x" * 250,
    "255 bytes": "x" * 255,
    "900 bytes": "y" * 900,
    "900 bytes, another end": "y" * 899 + "z",
    "900 bytes of escapes": "/" * 900,
    "900 bytes of two-byte letters": "\u00e9" * 450,
    "900 bytes that end in typed": "t" * 894 + "@typed",
}


def is_legal(name):
    size = len((name + "@typed").encode("utf-8"))
    controls = [
        c
        for c in name
        if unicodedata.category(c) in ("Cc", "Zl", "Zp")
        or unicodedata.bidirectional(c)
        in ("LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI")
        or c in "\u200e\u200f\u061c\ufeff"
    ]
    return "/" not in name and name not in ("", ".", "..") and not controls and size <= 255


def listed(ls, things, box="box", *options):
    return ls(f"/any/things/{box}", *options, env=things.env)


def cat(ddbfs, things, name, box="box", **how):
    return ddbfs("cat", f"/any/things/{box}/{name}", env=things.env, **how).stdout


# One key in each directory


@pytest.fixture
def alone(things):
    """The item of each kind of key, the only one of its directory."""
    return {kind: things.put(key, f"of {kind}", value={"S": "its own"}) for kind, key in KEYS.items()}


def names_alone(ddbfs, things, alone, *options):
    """The one name that each of the directories lists."""
    boxes = [f"/any/things/of {kind}" for kind in alone]
    lines = ddbfs(*options, "ls", "--json", *boxes, env=things.env).text.split("\n")[:-1]
    paths = [json.loads(line)["path"] for line in lines]
    assert [path.rsplit("/", 1)[0] for path in paths] == boxes
    return dict(zip(alone, [path.rsplit("/", 1)[1] for path in paths]))


def contents(ddbfs, things, paths, *options):
    """A line of JSON of each of the files."""
    got = ddbfs(*options, "--format", "compact", "cat", *paths, env=things.env).stdout.splitlines(True)
    assert len(got) == len(paths)
    return got


def wrong(got, expected):
    """(kind, what was got, what is right) of each kind for which these differ."""
    assert len(got) == len(expected)
    return [(kind, one, right) for one, (kind, right) in zip(got, expected.items()) if one != right]


def compact(items):
    return {kind: plain.render(item, compact=True) for kind, item in items.items()}


def test_key_is_listed_under_a_legal_name_and_opens(ddbfs, things, alone):
    names = names_alone(ddbfs, things, alone)
    assert [(kind, name) for kind, name in names.items() if not is_legal(name)] == []
    paths = [f"/any/things/of {kind}/{name}" for kind, name in names.items()]
    assert wrong(contents(ddbfs, things, paths), compact(alone)) == []
    whole = b"".join(plain.render(item) for item in alone.values())
    assert ddbfs("cat", *paths, env=things.env).stdout == whole


def test_companions_of_the_key_open(ddbfs, things, alone):
    names = names_alone(ddbfs, things, alone)
    paths = [f"/any/things/of {kind}/{name}" for kind, name in names.items()]
    typed = contents(ddbfs, things, [f"{path}@typed" for path in paths])
    assert wrong([json.loads(each) for each in typed], alone) == []
    info = plain.objects(ddbfs("cat", *[f"{path}@info" for path in paths], env=things.env).text)
    keys = {kind: {"S": key} for kind, key in KEYS.items()}
    assert wrong([each["key"]["sk"] for each in info], keys) == []
    values = ddbfs("cat", *[f"{path}@/value" for path in paths], env=things.env).stdout
    assert values == b"its own\n" * len(paths)


def test_key_with_a_suffix(ddbfs, things, alone):
    names = names_alone(ddbfs, things, alone, "--suffix", ".json")
    odd = [name for name in names.values() if not is_legal(name) or not name.endswith(".json")]
    assert odd == []
    paths = [f"/any/things/of {kind}/{name}" for kind, name in names.items()]
    assert wrong(contents(ddbfs, things, paths, "--suffix", ".json"), compact(alone)) == []


def escaped(key):
    """Every byte but letters and digits as %XX: always allowed, if not always needed. The first
    in any case, or "README" would be the file of that name."""
    plain_bytes = [chr(b).isalnum() and b < 128 and i > 0 for i, b in enumerate(key.encode())]
    return "".join(chr(b) if p else f"%{b:02X}" for b, p in zip(key.encode(), plain_bytes))


SHORT = {kind: key for kind, key in KEYS.items() if "900" not in kind}


def test_partition_key_of_any_kind(ddbfs, things):
    """The name of the directory is made by the rule for names: escape what a name can't hold."""
    items = {kind: things.put("record", box=key) for kind, key in SHORT.items()}
    boxes = [f"/any/things/{escaped(key)}" for key in SHORT.values()]
    lines = ddbfs("ls", "--json", *boxes, env=things.env).text.split("\n")[:-1]
    paths = [f"{box}/record" for box in boxes]
    listed_paths = dict(zip(SHORT, paths))
    assert wrong([json.loads(line)["path"] for line in lines], listed_paths) == []
    assert wrong(contents(ddbfs, things, paths), compact(items)) == []


def test_more_escapes_than_needed_open_too(ddbfs, things):
    items = {kind: things.put(key) for kind, key in SHORT.items()}
    paths = [f"/any/things/box/{escaped(key)}" for key in SHORT.values()]
    assert wrong(contents(ddbfs, things, paths), compact(items)) == []


def test_lower_case_escapes_open_too(ddbfs, things):
    item = things.put("a/b")
    assert cat(ddbfs, things, "a%2fb") == plain.render(item)


# All of them in one directory


@pytest.fixture
def crowd(things):
    return {key: things.put(key, value={"S": kind}) for kind, key in KEYS.items()}


def test_all_names_are_unique_and_legal(things, crowd, ls):
    names = listed(ls, things)
    assert len(names) == len(set(names)) == len(crowd)
    assert all(map(is_legal, names))


def test_every_listed_name_opens_its_own_record(ddbfs, things, crowd, ls):
    paths = [f"/any/things/box/{name}" for name in listed(ls, things)]
    got = ddbfs("--format", "compact", "cat", *paths, env=things.env).stdout.splitlines(True)
    items = sorted(crowd.values(), key=lambda item: item["sk"]["S"].encode())
    assert got == [plain.render(item, compact=True) for item in items]


def test_json_listing_has_the_same_names(ddbfs, things, crowd, ls):
    lines = ddbfs("ls", "--json", "/any/things/box", env=things.env).text.split("\n")[:-1]
    assert [json.loads(line)["name"] for line in lines] == listed(ls, things)


# Shortened names


def queries(proxy):
    return [record.body for record in proxy.requests if record.op == "Query"]


def test_shortened_name_is_found_by_its_beginning(ddbfs, things, crowd, ls, proxy):
    key = KEYS["900 bytes"]
    item = crowd[key]
    names = [name for name in listed(ls, things) if name.startswith("yyyy")]
    proxy.clear()
    assert plain.render(item) in [cat(ddbfs, things, name) for name in names]
    for query in queries(proxy):
        values = [value["S"] for value in query["ExpressionAttributeValues"].values()]
        assert "begins_with" in query["KeyConditionExpression"]
        assert any(len(value) > 200 and key.startswith(value) for value in values)


def test_shortened_name_reads_only_its_neighbours(ddbfs, things, crowd, ls, proxy, boto):
    (name,) = [name for name in listed(ls, things) if name.startswith("tttt")]
    proxy.clear()
    cat(ddbfs, things, name)
    (query,) = queries(proxy)
    answer = boto.query(**query)
    assert [item["sk"]["S"] for item in answer["Items"]] == [KEYS["900 bytes that end in typed"]]


def test_shortened_name_with_another_digest_is_a_miss(ddbfs, things, ls):
    things.put("y" * 900)
    (name,) = listed(ls, things)
    other = name[:-1] + ("0" if name[-1] != "0" else "1")
    result = ddbfs("cat", f"/any/things/box/{other}", env=things.env, expect=3)
    assert result.stdout == b"" and "has no item" in result.stderr


def test_shortened_names_of_several_kinds_open(ddbfs, ls, boto, table, write_map, plain_map):
    """In each order of the kinds: a name shows fewer digits than a key of the kind "number"."""
    kinds = {"text": "U#{text*}", "number": "U#{number:05}#{end*}", "plain": "U#{plain}#X#{end*}", "other": "V#{end*}"}
    plain_map["tables"]["things"] = {
        "table": "Things",
        "records": {kind: {"pk": "{box}", "sk": key} for kind, key in kinds.items()},
        "paths": {f"{'-'.join(order)}/{{box}}/": {"list": list(order)} for order in itertools.permutations(kinds, 2)},
    }
    env = {"DDBFS_MAP": str(write_map(plain_map))}
    keys = [start + "é" * 200 for start in ("U#", "U#00042#", "U#a#X#", "V#")]
    table(tables.plain(), [tables.item(key, "x") for key in keys])
    listed = {}
    for order in itertools.permutations(kinds, 2):
        folder = f"/any/things/{'-'.join(order)}/box"
        names = ls(folder, env=env)
        files = ddbfs("cat", *[f"{folder}/{name}" for name in names], env=env, expect=None)
        found = [json.loads(part + "}")["sk"] for part in files.text.split("}\n")[:-1]]
        assert files.code == 0 and len(found) == len(names) >= 2, (order, names, files)
        listed[order] = found
    assert {key for found in listed.values() for key in found} == set(keys)


def test_whole_name_of_a_long_key_opens_too(ddbfs, things):
    item = things.put("y" * 900)
    assert cat(ddbfs, things, "y" * 900) == plain.render(item)


# Names that literal siblings have


def test_sort_key_called_as_a_literal_sibling(ddbfs, boto, table, ls, write_map, example_map):
    table(LITTLE_SHOPS, shop_rows())
    env = {"DDBFS_MAP": str(write_map(little(example_map)))}
    names = ls("/little/shops/a.example", env=env)
    assert len(names) == len(set(names)) == 4
    other = next(name for name in names if name != "access-token" and "ccess-token" in name)
    got = ddbfs("cat", f"/little/shops/a.example/{other}", env=env).stdout
    assert json.loads(got)["sk"] == "access-token"
    token = ddbfs("cat", "/little/shops/a.example/access-token", env=env).stdout
    assert token == b"the token\n"


LITTLE_SHOPS = tables.table("little-ShopifyEntitiesTable")


def shop_rows():
    key = {"pk": {"S": "SHOP#a.example"}}
    session = {"entity_type": {"S": "SESSION"}, "last_updated": {"S": "2026"}}
    token = {"access_token": {"S": "the token"}}
    return [
        {**key, "sk": {"S": "access-token"}},
        {**key, "sk": {"S": "USER#1"}, **session, **token},
        {**key, "sk": {"S": "SETTINGS"}},
    ]


def little(example_map):
    """The example map with one environment more, whose tables a test makes."""
    environment = {"prefix": "little-", "profile": "controller", "region": "us-east-1"}
    return {**example_map, "environments": {"little": environment}}


def little_settings(load_tables, names):
    description = next(t for t in load_tables if t["TableName"] == "EcomIndexSettingsTable")
    rows = [
        {"pk": {"S": "acct"}, "sk": {"S": f"INDEX#{name}"}, "index_name": {"S": name}}
        for name in names
    ]
    rows.append({"pk": {"S": "acct"}, "sk": {"S": "INDEX#x#AGENTIC_CONFIG"}})
    rows.append({"pk": {"S": "acct"}, "sk": {"S": "INDEX#x.d#AGENTIC_CONFIG"}})
    return {**description, "TableName": "little-EcomIndexSettingsTable"}, rows


@pytest.fixture
def accounts(table, write_map, example_map):
    """index-settings/acct/ with indexes whose names collide with those of directories."""
    from harness import load

    table(*little_settings(load.tables(), ["x", "x.d", "x.d.d", "DEFAULT_CONFIG", "y.d", ".d"]))
    return {"DDBFS_MAP": str(write_map(little(example_map)))}


def test_index_called_as_a_directory_of_sub_records(ddbfs, accounts, ls):
    names = ls("/little/index-settings/acct", env=accounts)
    assert len(names) == len(set(names)) and all(is_legal(name.rstrip("/")) for name in names)
    files = [name for name in names if not name.endswith("/") and name != "DEFAULT_CONFIGS"]
    paths = [f"/little/index-settings/acct/{name}" for name in files]
    got = ddbfs("--format", "compact", "cat", *paths, env=accounts).text.splitlines()
    found = sorted(json.loads(line)["index_name"] for line in got)
    assert found == [".d", "DEFAULT_CONFIG", "x", "x.d", "x.d.d", "y.d"]


def test_a_suffix_that_is_the_end_of_a_directory_is_refused(ddbfs, accounts):
    result = ddbfs("--suffix", ".d", "ls", "/little/index-settings/acct", env=accounts, expect=1)
    assert result.stdout == b""
    assert '--suffix .d does not go with the map: with it "{index_name}.d"' in result.stderr


@rows("suffix", ["~", "a@b", ".\n", "%2E", "\u202e"])
def test_what_is_no_suffix(ddbfs, accounts, suffix):
    ddbfs("--suffix", suffix, "ls", "/", env=accounts, expect=2)


def test_file_and_directory_never_share_a_name(accounts, ls):
    names = [name.rstrip("/") for name in ls("/little/index-settings/acct", env=accounts)]
    assert len(names) == len(set(names))


def test_directories_of_colliding_indexes_list_their_own(accounts, ls):
    folders = [name for name in ls("/little/index-settings/acct", env=accounts) if name[-1] == "/"]
    listed_below = [ls(f"/little/index-settings/acct/{name}", env=accounts) for name in folders]
    assert sorted(listed_below) == [[], [], [], [], ["AGENTIC_CONFIG"], ["AGENTIC_CONFIG"]]


# Directories with long names


def test_a_directory_whose_name_is_too_long_is_left_out_and_that_is_said(
    ddbfs, table, write_map, example_map
):
    from harness import load

    name = "n" * 250
    table(*little_settings(load.tables(), ["x", name]))
    env = {"DDBFS_MAP": str(write_map(little(example_map)))}
    result = ddbfs("ls", "/little/index-settings/acct", env=env, expect=1)
    listed = result.text.splitlines()
    assert "x" in listed and "x.d/" in listed and len([n for n in listed if n[0] == "n"]) == 1
    assert "a directory is left out, whose name is longer than 247 bytes" in result.stderr
    ddbfs("ls", f"/little/index-settings/acct/{name}.d", env=env)
    paths = [f"/little/index-settings/acct/{n}" for n in listed if n[0] == "n"]
    assert json.loads(ddbfs("cat", *paths, env=env).stdout)["index_name"] == name


def test_attribute_whose_name_is_too_long_opens(ddbfs, things, ls):
    things.put("x", **{"a" * 300: {"S": "one"}, "a" * 299 + "b": {"S": "two"}, "c~": {"S": "three"}})
    names = [n for n in ls("/any/things/box/x@", env=things.env) if n[0] in "ac"]
    values = [ddbfs("cat", f"/any/things/box/x@/{n}", env=things.env).text for n in names]
    assert sorted(values) == ["one\n", "three\n", "two\n"]


# What a terminal sees

HOSTILE = "a\x1b[2J\u202eb\u2066\x85\u2028\x7f"
ACTS = "\x1b\u202e\u2066\x85\u2028\x7f"


@rows("words", [("cat",), ("cat", "--json"), ("ls",), ("ls", "-l"), ("ls", "--json"),
                                   ("explain",), ("explain", "--json")])  # fmt: skip
def test_nothing_of_a_path_or_key_acts_on_a_terminal(ddbfs, things, words):
    things.put(HOSTILE)
    for path in (f"/any/things/box/{HOSTILE}", "/any/things/box", f"/nope/{HOSTILE}"):
        options = [word for word in words[1:] if word != "--json" or words[0] != "cat"]
        result = ddbfs(words[0], *options, path, env=things.env, expect=None)
        said = result.stderr + (result.text if words[0] != "cat" else "")
        assert not any(c in said for c in ACTS), said
        if "--json" in options and result.code == 0:
            assert all(json.loads(line) for line in result.text.splitlines() if words[0] == "ls")


def test_json_gives_back_the_very_path(ddbfs, things):
    things.put(HOSTILE)
    path = f"/any/things/box/{HOSTILE}"
    assert json.loads(ddbfs("ls", "--json", path, env=things.env).text)["path"] == path


def test_a_key_that_is_all_that_others_begin_with_has_a_name(ddbfs, things, write_map, ls):
    """Names leave out what all keys of the listing begin with, unless nothing would be left of one."""
    own = tables.plain_map(
        records={
            "head": {"pk": "{box}", "sk": "ORDER#"},
            "line": {"pk": "{box}", "sk": "ORDER#{n}"},
            "note": {"pk": "{box}", "sk": "NOTE#{n}"},
        },
        paths={"all/{box}/": {"list": ["head", "line"]}, "lines/{box}/": {"list": "line"}},
    )
    write_map(own)
    for name in ("ORDER#", "ORDER#1"):
        things.put(name)
    assert ls("/any/things/all/box", env=things.env) == ["ORDER#", "ORDER#1"]
    assert ls("/any/things/lines/box", env=things.env) == ["%", "1"]
    for name in ("ORDER#", "ORDER#1"):
        shown = ddbfs("cat", f"/any/things/all/box/{name}@typed", env=things.env)
        assert json.loads(shown.text)["sk"] == {"S": name}


def test_a_kind_takes_no_name_of_a_key_that_it_cannot_have(ddbfs, things, write_map, ls):
    """No part holds the separator, so "a#~" is no "{stem}~", though it ends so."""
    write_map(
        tables.plain_map(
            records={
                "copy": {"pk": "{box}", "sk": "{stem}~"},
                "pair": {"pk": "{box}", "sk": "{first}#{second}"},
            },
            paths={"{box}/": {"list": ["copy", "pair"]}},
        )
    )
    for name in ("a#~", "a~"):
        things.put(name)
    names = ls("/any/things/box", env=things.env)
    shown = [ddbfs("cat", f"/any/things/box/{name}@typed", env=things.env) for name in names]
    assert [json.loads(each.text)["sk"]["S"] for each in shown] == ["a#~", "a~"]


# Names that programs probe.

PROBED = ("HEAD", "CVS", "4913", "package.json", "lost+found", ".git", ".a~", "b~", "..x", "x@sqlite-wal", "System Volume Information")


def test_a_probed_name_opens_in_a_command_as_it_is_typed(ddbfs, things):
    """Nothing probes there. The listing has the name that opens in mounts, too."""
    items = {name: things.put(name, note={"S": f"of {name}"}, **{"HEAD": {"S": "first"}}) for name in PROBED}
    for name, item in items.items():
        assert cat(ddbfs, things, name) == plain.render(item), name
        assert cat(ddbfs, things, f"{name}@/note") == f"of {name}\n".encode(), name
        assert json.loads(cat(ddbfs, things, f"{name}@typed")) == item, name
        assert ddbfs("ls", f"/any/things/box/{name}", env=things.env).text == f"{name}\n"
    assert cat(ddbfs, things, "HEAD@/HEAD") == b"first\n" == cat(ddbfs, things, "HEAD@/%48EAD")
    listed_names = ddbfs("ls", "/any/things/box", env=things.env).text.splitlines()
    assert "%48EAD" in listed_names and "HEAD" not in listed_names
    whole = [plain.render(items[name]) for name in sorted(items)]
    assert sorted(cat(ddbfs, things, name) for name in listed_names if name != "README") == sorted(whole)
    for name in (".", ".."):
        assert cat(ddbfs, things, name, expect=3) == b""


def test_a_probed_name_opens_in_each_kind_of_command(ddbfs, things):
    things.put("HEAD", note={"S": "x"})
    things.put("HEAD", "CVS", note={"S": "x"})
    path = "/any/things/box/HEAD"
    assert "GetItem" in ddbfs("explain", path, env=things.env).text
    assert ddbfs("diff", path, "/any/things/CVS/HEAD@/note", env=things.env, expect=None).stderr == ""
    assert ddbfs("ls", "/any/things/CVS", env=things.env).text == "%48EAD\n"
    assert ddbfs("cat", "/any/things/CVS@count", env=things.env).text == "1\n"
    table = "/tables/any-Things/items/CVS/HEAD"
    assert json.loads(ddbfs("cat", table, env=things.env).stdout)["note"] == "x"


def test_values_of_a_map_are_shown_as_they_are_typed_in_a_mount(ddbfs, plain_map, write_map):
    plain_map["tables"]["things"]["params"] = {"box": {"values": ["HEAD", "a/b", "plain"]}}
    env = {"DDBFS_MAP": str(write_map(plain_map))}
    readme = ddbfs("cat", "/any/things/README", env=env).text
    assert "%48EAD, a%2Fb, plain" in readme
    skill = ddbfs("skill", env=env).text
    assert "`%48EAD`, `a%2Fb`, `plain`" in skill and "/any/things/%48EAD" in skill
    assert "/HEAD" not in skill
