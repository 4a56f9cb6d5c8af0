"""ddbfs map by patterns, and ddbfs init: first maps, from what tables say of themselves."""

import json
import re

import pytest

from harness import places, tables, terminal
from harness.rows import rows

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
    assert bare(root, "ls", f"{pending}/last:5").text == "2024-05-01,USER#1,ORDER#2024-001\n"
    got = json.loads(bare(root, "cat", "/all/Clinic/by/by.email/2@example.com/USER#2,PROFILE").text)
    assert got["PK"] == "USER#2"


def test_it_teaches(bare, table):
    text = bare("map", table(single_table("Clinic"))).text
    assert re.search(r'"\$schema": ".*/map.schema.json"', text)
    assert "ORDER#{date}#{order_id}" in text
    assert "Index by.email: by email; holds only keys" in text


def test_patterns_ask_for_the_list(bare, table, cost):
    table(tables.plain())
    table(single_table("Clinic"))
    said = map_of(bare("map", "Clin*", "any-[ST]hings").text)
    assert [each["table"] for each in said["tables"].values()] == ["Clinic", "any-Things"]
    assert sorted(cost()) == ["DescribeTable", "DescribeTable", "ListTables", "ListTables"]


def test_a_pattern_that_matches_nothing(bare):
    got = bare("map", "no-such-*", expect=3)
    assert got.text == "" and "no-such-*: no table matches" in got.stderr


def test_a_list_that_is_refused(bare, proxy):
    proxy.fault("denied", op="ListTables")
    assert bare("map", "Clin*", expect=1).text == ""


def test_the_readme_of_a_table_has_its_windows(bare, table):
    name = table(single_table("Clinic"), [user(1)])
    text = bare("cat", f"/tables/{name}/README").text
    assert "  items/{PK}/\n" in text and "windows 1" in text
    assert "    {from}..{to}/\n" in text and "    after:{key}/\n" in text


# Tables that can't be read.


def test_all_that_is_not_there_is_told(bare, table):
    name = table(tables.plain())
    got = bare("map", "Nobody", name, "Nowhere", expect=3)
    assert got.text == ""
    assert "ddbfs: Nobody: " in got.stderr and "ddbfs: Nowhere: " in got.stderr


def test_what_may_not_be_described_is_worse_than_what_is_not_there(bare, table, proxy):
    name = table(tables.plain())
    proxy.fault("denied", op="DescribeTable", times=1)
    got = bare("map", name, "Nobody", expect=1)
    assert got.text == "" and f"ddbfs: {name}: " in got.stderr
    assert "ddbfs: Nobody: " in got.stderr


# Environments.


@pytest.fixture
def drafted(bare, tmp_path):
    """Environments and tables of a draft that the live tables have proven."""

    def draft(*names, says=""):
        got = bare("map", *names)
        file = tmp_path / "drafted.map.json"
        file.write_text(got.text)
        assert bare("check", file).text.endswith(" the map\n")
        assert says in got.stderr and bool(says) == bool(got.stderr)
        said = map_of(got.text)
        environments = {name: each.get("prefix") for name, each in said["environments"].items()}
        return environments, sorted(each["table"] for each in said["tables"].values())

    return draft


BOTH = {"prod": "prod-", "staging": "staging-"}
WITH_BRANCHES = {**BOTH, "dev-{branch}": "dev-{branch}-"}
SHOPS = ["EcomIndexSettingsTable", "EcomIndexerJobsTable", "ShopifyEntitiesTable"]


def test_environments_of_the_sample_data(drafted):
    names = [
        f"{prefix}-{base}"
        for prefix in ("prod", "staging", "dev-fix-7", "dev-search-v2")
        for base in SHOPS
    ]
    assert drafted(*names) == (WITH_BRANCHES, SHOPS)


def test_one_table_tells_no_environment(drafted):
    assert drafted("prod-ShopifyEntitiesTable") == ({"all": None}, ["prod-ShopifyEntitiesTable"])


def test_tables_of_one_environment(drafted):
    names = [f"prod-{base}" for base in SHOPS]
    assert drafted(*names) == ({"prod": "prod-"}, SHOPS)


def test_what_one_environment_has_alone_is_left_out(drafted, table):
    for name in ("prod-EnvA", "staging-EnvA", "prod-EnvB", "staging-EnvB", "prod-EnvC"):
        table({**tables.plain(), "TableName": name})
    assert drafted("*-Env[ABC]", says="ddbfs: prod-EnvC: is left out") == (BOTH, ["EnvA", "EnvB"])


def test_tables_that_differ_are_not_the_same(drafted, table):
    table({**single_table("prod-EnvA")})
    other = single_table("staging-EnvA")
    other["GlobalSecondaryIndexes"][1]["Projection"] = {"ProjectionType": "ALL"}
    table(other)
    assert drafted("*-EnvA") == ({"all": None}, ["prod-EnvA", "staging-EnvA"])


def test_a_branch_that_lacks_tables_is_none(drafted, table):
    stages = ("prod", "dev-fix-7", "dev-search-v2")
    for name in [f"{stage}-{base}" for stage in stages for base in ("EnvA", "EnvB")]:
        table({**tables.plain(), "TableName": name})
    asked = [f"{stage}-Env*" for stage in stages]
    branches = {"prod": "prod-", "dev-{branch}": "dev-{branch}-"}
    assert drafted(*asked) == (branches, ["EnvA", "EnvB"])
    table({**tables.plain(), "TableName": "dev-old-EnvA"})
    named = {stage: f"{stage}-" for stage in stages}
    assert drafted(*asked) == (named, ["EnvA", "EnvB"])


def test_branches_are_named_where_tables_may_not_be_listed(bare, proxy):
    proxy.fault("denied", op="ListTables")
    names = [f"{stage}-{base}" for stage in ("prod", "dev-fix-7", "dev-search-v2") for base in SHOPS]
    said = map_of(bare("map", *names).text)
    assert list(said["environments"]) == ["prod", "dev-fix-7", "dev-search-v2"]


# ddbfs init.


def test_init_writes_it_to_the_usual_place(table, bare, tmp_path):
    name = table(tables.plain())
    where = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    file = tmp_path / "config" / "ddbfs" / "map.json"
    got = bare("init", "--yes", name, env=where)
    assert file.read_text() == got.text == bare("map", name).text
    assert file.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in file.parent.iterdir()] == ["map.json"]
    assert bare("check", env=where).text.endswith("keys and indexes of 1 table fit the map\n")


def test_init_leaves_a_map_that_is_there(table, bare, tmp_path, cost):
    name = table(tables.plain())
    file = tmp_path / "ddbfs" / "map.json"
    file.parent.mkdir()
    file.write_text("mine")
    got = bare("init", "--yes", name, env={"XDG_CONFIG_HOME": str(tmp_path)}, expect=1)
    assert file.read_text() == "mine" and "exists already" in got.stderr
    assert cost() == []


def test_init_in_a_script_needs_to_be_told(table, bare, tmp_path):
    name = table(tables.plain())
    got = bare("init", name, env={"XDG_CONFIG_HOME": str(tmp_path)}, expect=1)
    assert "pass --yes" in got.stderr and '"tables"' in got.text
    assert not list(tmp_path.glob("ddbfs/*"))


@rows("answer, code", [("y", 0), ("n", 1), ("", 1)])
def test_init_asks_at_a_terminal(table, home, tmp_path, answer, code):
    name = table(tables.plain())
    program = places.program("DDBFS", "build-asan/fs/ddbfs", "build/fs/ddbfs")
    folder = tmp_path / f"answered {answer}"
    where = {"DDBFS_MAP": None, "XDG_CONFIG_HOME": str(folder)}
    with terminal.Terminal([str(program), "init", name], home.environment(where)) as t:
        t.wait_for("Write it? [y/N] ")
        t.type(f"{answer}\n")
        assert t.end() == code
    assert (folder / "ddbfs" / "map.json").exists() == (code == 0)
    assert "ddbfs/map.json" in t.stderr and '"tables"' in t.stdout


def test_init_writes_no_map_that_lacks_a_table(table, bare, tmp_path):
    name = table(tables.plain())
    got = bare("init", "--yes", name, "Nobody", env={"XDG_CONFIG_HOME": str(tmp_path)}, expect=3)
    assert "Nobody" in got.stderr
    assert not list(tmp_path.glob("ddbfs/*"))


def test_init_where_nothing_can_be_written(table, bare, tmp_path):
    name = table(tables.plain())
    (tmp_path / "ddbfs").write_text("a file in its place")
    got = bare("init", "--yes", name, env={"XDG_CONFIG_HOME": str(tmp_path)}, expect=1)
    assert "was not written: " in got.stderr


def test_init_takes_no_file_to_write(bare, tmp_path, cost):
    got = bare("init", "--map", tmp_path / "new.json", "prod-*", env={"XDG_CONFIG_HOME": str(tmp_path)}, expect=1)
    assert "was not found, and --map names a map to read" in got.stderr
    assert f"init writes to {tmp_path}/ddbfs/map.json" in got.stderr and 'ddbfs map TABLE… > FILE' in got.stderr
    assert cost() == [] and not (tmp_path / "ddbfs").exists()


def test_init_needs_words(bare, tmp_path):
    got = bare("init", env={"XDG_CONFIG_HOME": str(tmp_path)}, expect=2)
    assert "name tables" in got.stderr and "see ddbfs init --help" in got.stderr


def test_help_tells_of_models(bare):
    assert "--from FILE" in bare("help", "map").text.splitlines()[0]
    assert "--from FILE" in bare("help", "init").text.splitlines()[0]
    assert "write a first map of tables" in bare("help", "init").text


def test_init_says_which_map_goes_first(table, bare, tmp_path):
    name = table(tables.plain())
    where = {"XDG_CONFIG_HOME": str(tmp_path), "DDBFS_MAP": "c.map.json"}
    got = bare("init", "--yes", name, env=where)
    assert "; but DDBFS_MAP names c.map.json, which takes precedence" in got.stderr


def test_init_needs_a_home(bare):
    got = bare("init", "x", env={"XDG_CONFIG_HOME": None, "HOME": None}, expect=2)
    assert "XDG_CONFIG_HOME and HOME are not set" in got.stderr
