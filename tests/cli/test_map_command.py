"""ddbfs map by patterns, and ddbfs init: first maps, from what tables say of themselves."""

import json
import re

import pytest

from harness import places, tables, terminal

BARE = {"DDBFS_MAP": None}


@pytest.fixture
def bare(ddbfs):
    """ddbfs without any map."""

    def run(*arguments, **how):
        return ddbfs(*arguments, env={**BARE, **how.pop("env", {})}, **how)

    return run


def single_table(name):
    """PK and SK, an overloaded index, and one of keys alone."""
    keys = ("PK", "SK", "GSI1PK", "GSI1SK", "email")

    def schema(*names):
        return [
            {"AttributeName": each, "KeyType": kind}
            for each, kind in zip(names, ("HASH", "RANGE"), strict=False)
        ]

    return {
        "TableName": name,
        "AttributeDefinitions": [{"AttributeName": k, "AttributeType": "S"} for k in keys],
        "KeySchema": schema("PK", "SK"),
        "GlobalSecondaryIndexes": [
            {
                "IndexName": "GSI1",
                "KeySchema": schema("GSI1PK", "GSI1SK"),
                "Projection": {"ProjectionType": "ALL"},
            },
            {
                "IndexName": "by.email",
                "KeySchema": schema("email"),
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            },
        ],
        "BillingMode": "PAY_PER_REQUEST",
    }


def user(number):
    texts = {"PK": f"USER#{number}", "SK": "PROFILE", "email": f"{number}@example.com"}
    return {key: {"S": text} for key, text in texts.items()}


ORDER = {
    key: {"S": text}
    for key, text in {
        "PK": "USER#1",
        "SK": "ORDER#2024-001",
        "GSI1PK": "STATUS#pending",
        "GSI1SK": "2024-05-01",
    }.items()
}


def map_of(text):
    """What a map says, without its comments."""
    return json.loads(re.sub(r"^ *//.*\n", "", text, flags=re.M))


def test_a_first_map_works_as_it_is(bare, table, tmp_path):
    name = table(single_table("Clinic"), [user(1), user(2), ORDER])
    file = tmp_path / "first.map.json"
    file.write_text(bare("map", name).text)
    bare("check", "--offline", file)
    bare("check", file)
    root = f"--map={file}"
    assert bare(root, "ls", "/all/Clinic/items/USER#1").text == "ORDER#2024-001\nPROFILE\n"
    assert bare(root, "ls", "/all/Clinic/items/USER#1/ORDER#*").text == "ORDER#2024-001\n"
    assert (
        bare(root, "ls", "/all/Clinic/items/USER#1/after:ORDER#2024-001").text == "PROFILE\n"
    )
    pending = "/all/Clinic/by/GSI1/STATUS#pending"
    assert bare(root, "ls", pending).text == "2024-05-01,USER#1,ORDER#2024-001\n"
    assert bare(root, "ls", f"{pending}/newest:5").text == "2024-05-01,USER#1,ORDER#2024-001\n"
    got = json.loads(bare(root, "cat", "/all/Clinic/by/by.email/2@example.com/USER#2,PROFILE").text)
    assert got["PK"] == "USER#2"


def test_it_teaches(bare, table):
    text = bare("map", table(single_table("Clinic"))).text
    assert re.search(r'"\$schema": ".*/map.schema.json"', text)
    assert "ORDER#{date}#{order_id}" in text
    assert "Index by.email: by email; holds keys alone" in text


def test_patterns_ask_for_the_list(bare, table, cost):
    table(tables.plain())
    table(single_table("Clinic"))
    said = map_of(bare("map", "Clin*", "any-[ST]hings").text)
    assert [each["table"] for each in said["tables"].values()] == ["Clinic", "any-Things"]
    assert sorted(cost()) == ["DescribeTable", "DescribeTable", "ListTables", "ListTables"]


def test_a_pattern_that_matches_nothing(bare):
    got = bare("map", "no-such-*", expect=1)
    assert got.text == "" and "no-such-*: no table is called so" in got.stderr


def test_a_list_that_is_refused(bare, proxy):
    proxy.fault("denied", op="ListTables")
    assert bare("map", "Clin*", expect=1).text == ""


def test_the_readme_of_a_table_has_its_windows(bare, table):
    name = table(single_table("Clinic"), [user(1)])
    text = bare("cat", f"/tables/{name}/README").text
    assert "items/{PK}/{from}..{to}/" in text
    assert "after:{key}" in text


# ddbfs init.


def test_init_writes_it_to_the_usual_place(table, bare, tmp_path):
    name = table(tables.plain())
    where = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    file = tmp_path / "config" / "ddbfs" / "map.json"
    got = bare("init", "--yes", name, env=where)
    assert file.read_text() == got.text == bare("map", name).text
    assert file.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in file.parent.iterdir()] == ["map.json"]
    assert bare("check", env=where).text.endswith("fits the map\n")


def test_init_leaves_a_map_that_is_there(table, bare, tmp_path, cost):
    name = table(tables.plain())
    file = tmp_path / "ddbfs" / "map.json"
    file.parent.mkdir()
    file.write_text("mine")
    got = bare("init", "--yes", name, env={"XDG_CONFIG_HOME": str(tmp_path)}, expect=1)
    assert file.read_text() == "mine" and "there is one already" in got.stderr
    assert cost() == []


def test_init_in_a_script_needs_to_be_told(table, bare, tmp_path):
    name = table(tables.plain())
    got = bare("init", name, env={"XDG_CONFIG_HOME": str(tmp_path)}, expect=1)
    assert "say --yes" in got.stderr and '"tables"' in got.text
    assert not list(tmp_path.glob("ddbfs/*"))


@pytest.mark.parametrize("answer, code", [("y", 0), ("n", 1), ("", 1)])
def test_init_asks_at_a_terminal(table, home, tmp_path, answer, code):
    name = table(tables.plain())
    program = places.program("DDBFS", "build-asan/fs/ddbfs", "build/fs/ddbfs")
    where = {"DDBFS_MAP": None, "XDG_CONFIG_HOME": str(tmp_path)}
    with terminal.Terminal([str(program), "init", name], home.environment(where)) as t:
        t.wait_for("Write it? [y/N] ")
        t.type(f"{answer}\n")
        assert t.end() == code
    assert (tmp_path / "ddbfs" / "map.json").exists() == (code == 0)
    assert "ddbfs/map.json" in t.stderr and '"tables"' in t.stdout


def test_init_writes_no_map_that_lacks_a_table(table, bare, tmp_path):
    name = table(tables.plain())
    got = bare("init", "--yes", name, "Nobody", env={"XDG_CONFIG_HOME": str(tmp_path)}, expect=1)
    assert "Nobody" in got.stderr
    assert not list(tmp_path.glob("ddbfs/*"))


def test_init_where_nothing_can_be_written(table, bare, tmp_path):
    name = table(tables.plain())
    (tmp_path / "ddbfs").write_text("a file in its place")
    got = bare("init", "--yes", name, env={"XDG_CONFIG_HOME": str(tmp_path)}, expect=1)
    assert "can't be written" in got.stderr


def test_init_needs_words(bare, tmp_path):
    assert "name tables" in bare("init", env={"XDG_CONFIG_HOME": str(tmp_path)}, expect=2).stderr


def test_init_needs_a_home(bare):
    got = bare("init", "x", env={"XDG_CONFIG_HOME": None, "HOME": None}, expect=2)
    assert "neither XDG_CONFIG_HOME nor HOME" in got.stderr
