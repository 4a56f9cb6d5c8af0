"""Tables that no map describes, by the command line: with a map beside them, and without any."""

import json

import pytest

from harness import tables, zoo
from harness.rows import rows

BARE = {"DDBFS_MAP": None}
THINGS = "any-Things"
JOBS = "prod-EcomIndexerJobsTable"


def thing(box, name, **texts):
    return {key: {"S": text} for key, text in {"pk": box, "sk": name, **texts}.items()}


@pytest.fixture
def things(table):
    """The table any-Things with a few records."""
    items = [thing("box", "one", note="first"), thing("box", "two"), thing("a/b", "x#1")]
    return table(tables.plain(), items)


@pytest.fixture
def bare(ddbfs):
    """ddbfs without any map."""

    def run(*arguments, **how):
        return ddbfs(*arguments, env={**BARE, **how.pop("env", {})}, **how)

    return run


def names_of(result):
    return result.text.split("\n")[:-1]


def test_root_without_a_map(bare, cost):
    assert bare("ls", "/").text == "tables/\n"
    assert cost() == []


def test_all_tables_are_listed_by_name(bare, boto, things, cost):
    listed = names_of(bare("ls", "/tables"))
    assert sorted(listed) == sorted(f"{name}/" for name in boto.list_tables()["TableNames"])
    assert f"{things}/" in listed
    assert set(cost()) == {"ListTables"}


def test_path_needs_no_leading_slash(bare, things):
    assert f"{things}/" in names_of(bare("ls", "tables/"))


def test_an_environment_lists_the_tables_with_its_prefix_and_opens_any(ddbfs, things, boto, cost):
    listed = names_of(ddbfs("ls", "/prod/tables"))
    named = boto.list_tables()["TableNames"]
    assert sorted(listed) == sorted(f"{name}/" for name in named if name.startswith("prod-"))
    assert set(cost()) == {"ListTables"}
    assert "tables/" in names_of(ddbfs("ls", "/prod"))
    assert names_of(ddbfs("ls", f"/prod/tables/{things}/items/box")) == ["one", "two"]


def test_pages_without_a_table_of_the_environment_are_passed(ddbfs, proxy, cost):
    proxy.fault("canned", op="ListTables", times=None, answer=tables.canned_names(1000))
    assert names_of(ddbfs("ls", "/prod/tables")) == []
    assert cost() == ["ListTables"] * 10


def test_the_root_has_all_tables_with_a_map_too(ddbfs, things, boto, cost):
    assert "tables/" in names_of(ddbfs("ls", "/"))
    listed = names_of(ddbfs("ls", "/tables"))
    assert sorted(listed) == sorted(f"{name}/" for name in boto.list_tables()["TableNames"])
    assert json.loads(ddbfs("cat", f"/tables/{things}/items/box/one").text)["note"] == "first"
    said = ddbfs("explain", f"/tables/{things}/items/box/one").text
    assert f"GetItem from {things}" in said


def test_no_map_is_none_at_all(ddbfs, things, cost):
    assert ddbfs("--no-map", "ls", "/").text == "tables/\n"
    assert "without a map" in ddbfs("cat", "--no-map", "/prod/jobs/by-id/x", expect=1).stderr
    said = ddbfs("--no-map", "--map", "my.map.json", "ls", "/", expect=2).stderr
    assert said == "ddbfs: --no-map does not go with --map; see ddbfs --help\n"
    assert cost() == []


def test_no_environment_is_called_tables(ddbfs, write_map, example_map):
    example_map["environments"]["tables"] = {"prefix": "t-"}
    result = ddbfs("--map", write_map(example_map), "ls", "/", expect=1)
    assert 'no environment may have the name "tables"' in result.stderr


@rows("options", [[], ["-l"]])
def test_a_thousand_tables_cost_ten_requests(bare, proxy, cost, options):
    proxy.fault("canned", op="ListTables", times=None, answer=tables.canned_names(1000))
    listed = bare("ls", *options, "/tables").text.splitlines()
    assert len(listed) == 1000 and listed[999].endswith("Table-0999/")
    assert cost() == ["ListTables"] * 10


def test_a_record(bare, things, boto, cost):
    got = json.loads(bare("cat", f"/tables/{things}/items/box/one").stdout)
    assert got == {"pk": "box", "sk": "one", "note": "first"}
    assert cost() == ["DescribeTable", "GetItem"]


def test_a_partition(bare, things, cost):
    assert names_of(bare("ls", f"/tables/{things}/items/box")) == ["one", "two"]
    assert cost() == ["DescribeTable", "Query"]
    assert names_of(bare("ls", f"/tables/{things}/items/a%2Fb")) == ["x#1"]


def test_the_map_s_tables_stand_there_as_well(ddbfs, cost):
    listed = names_of(ddbfs("ls", f"/prod/tables/{JOBS}"))
    assert "items/" in listed and "README" in listed
    assert cost() == ["DescribeTable"]


def test_one_description_serves_a_whole_command(bare, things, cost):
    bare("cat", *[f"/tables/{things}/items/box/{name}" for name in ("one", "two")])
    assert cost() == ["DescribeTable", "BatchGetItem"]


def test_a_table_that_is_not_there(bare, cost):
    said = bare("ls", "/tables/Nowhere", expect=3).stderr
    assert "Nowhere" in said
    assert cost()[0] == "DescribeTable"


@rows("name", ["ab", "no%20table", "x" * 256, "arn%3Aaws"])
def test_names_that_no_table_has_ask_nobody(bare, cost, name):
    assert bare("ls", f"/tables/{name}", expect=3).stdout == b""
    assert cost() == []


def test_no_permission_to_list_tables(bare, proxy, things):
    proxy.fault("denied", op="ListTables", times=None)
    result = bare("ls", "/tables", expect=1)
    assert "dynamodb:ListTables" in result.stderr
    assert names_of(bare("ls", f"/tables/{things}/items/box")) == ["one", "two"]


def test_no_permission_to_describe(bare, proxy, things):
    proxy.fault("denied", op="DescribeTable", times=None)
    result = bare("cat", f"/tables/{things}/items/box/one", expect=1)
    assert "dynamodb:DescribeTable" in result.stderr


def test_listing_that_fails_on_the_way(bare, proxy):
    proxy.fault("canned", op="ListTables", times=2, answer=tables.canned_names(1000))
    proxy.fault("denied", op="ListTables", times=None)
    result = bare("ls", "/tables", expect=1)
    assert "dynamodb:ListTables" in result.stderr


def test_explain(bare, things, cost):
    told = bare("explain", f"/tables/{things}/items/box/one").text
    assert f"GetItem from {things}" in told
    assert "the table's description: 1 more, at most once a minute" in told
    assert cost() == ["DescribeTable"]
    assert "1 request for every 100 tables" in bare("explain", "/tables").text
    assert cost() == []


def test_options_say_where(ddbfs, home, things):
    env = {**BARE, "AWS_ENDPOINT_URL_DYNAMODB": None, "AWS_REGION": None}
    options = ["--endpoint-url", home.endpoint, "--region", "us-east-1", "--profile", "controller"]
    listed = ddbfs.run_plain(*options, "ls", "tables/", env=env).text
    assert f"{things}/\n" in listed


def test_a_path_of_a_forgotten_map_is_not_proven_to_be_missing(bare):
    result = bare("cat", "/prod/jobs/by-id/x", expect=1)
    assert "without a map there is tables/ alone" in result.stderr
    assert "--map FILE" in result.stderr


def test_a_map_s_own_table_is_not_called_tables(ddbfs, write_map, example_map):
    example_map["tables"]["tables"] = example_map["tables"].pop("jobs")
    result = ddbfs("--map", write_map(example_map), "ls", "/", expect=1)
    assert 'no table of a map may have the name "tables"' in result.stderr


def test_policy_without_a_map(bare, things, proxy, cost):
    told = bare("policy", "--json")
    document = json.loads(told.text)
    assert cost() == []
    proxy.fault("policy", times=None, document=document)
    bare("ls", "/tables")
    bare("ls", f"/tables/{things}/items/box")
    bare("cat", f"/tables/{things}/items/box/one")
    assert 'environment "prod" does not exist' in bare("policy", "--env", "prod", expect=1).stderr


def test_config_without_a_map(bare):
    assert "without a map" in bare("config").text


@pytest.fixture
def secret_map(tmp_path):
    """A map that calls the note of things secret, and whose environments name any-Things."""

    def write(environment, prefix, base):
        key = {"pk": "{pk}", "sk": "{sk*}"}
        table = {"table": base, "records": {"item": key}, "secret": ["note"], "paths": {"{pk}/": {}}}
        named = {environment: {"prefix": prefix} if prefix else {}}
        file = tmp_path / "map.json"
        file.write_text(json.dumps({"environments": named, "tables": {"t": table}}))
        return file

    return write


@rows(
    "prefix", [("e", "any-", "Things"), ("e-{b}", "{b}-", "Things"), ("e", "", "any-Things")]
)
def test_what_the_map_keeps_secret_stays_so_below_tables(ddbfs, things, secret_map, prefix):
    file = secret_map(*prefix)
    path = f"/{prefix[0].replace('{b}', 'x')}/tables/{things}/items/box/one"
    for each in (path, f"{path}@typed", f"{path}@/note", f"/tables/{things}/items/box/one"):
        assert "first" not in ddbfs("--map", file, "cat", each).text
        assert "********" in ddbfs("--map", file, "cat", each).text
    assert "first" in ddbfs("--map", file, "cat", "--show-secrets", path).text


def test_no_name_of_an_entry_tells_a_secret(ddbfs, ls, table, secret_map):
    """An index that is sorted by one: its entries are named by the table's key alone."""
    described = tables.plain()
    described["AttributeDefinitions"] += [
        {"AttributeName": each, "AttributeType": "S"} for each in ("state", "note")
    ]
    described["GlobalSecondaryIndexes"] = [zoo.index("by-note", "state", "note")]
    name = table(described, [thing("box", each, state="open", note=f"s3cret-{each}") for each in "ab"])
    path = f"/e/tables/{name}/by/by-note/open"
    options = ["--map", secret_map("e", "any-", "Things")]
    assert ls(path, *options) == ls(f"{path}/s3cret*", *options) == ["box,a", "box,b"]
    assert ls(f"{path}/last", *options) == ["box,b", "box,a"]
    assert b"s3cret" not in ddbfs(*options, "cat", f"{path}/box,a").stdout


def test_another_table_s_secrets_are_not_this_one_s(ddbfs, things, secret_map):
    file = secret_map("e", "other-", "Things")
    assert "first" in ddbfs("--map", file, "cat", f"/e/tables/{things}/items/box/one").text


def test_a_name_that_no_table_can_have_is_left_out(bare, proxy, boto, things):
    """The listing ends with its error, and a draft has the other tables."""
    named = sorted(boto.list_tables()["TableNames"])
    wrong = []
    for bad in ("", "..", "a/b c", 7, None, ["x"], "x" * 300, "a\0b", "-\n-", "a\ud800b"):
        def change(body, bad=bad):
            body["TableNames"].insert(1, bad)

        proxy.fault("alter", op="ListTables", times=2, change=change)
        listed = bare("ls", "/tables", expect=None)
        draft = bare("map", "any-*", expect=None)
        if (listed.code, sorted(names_of(listed))) != (1, [f"{name}/" for name in named]):
            wrong.append((bad, listed))
        if draft.code != 1 or '"any-Things"' not in draft.text:
            wrong.append((bad, draft))
        if not all("no table can have that name" in told.stderr for told in (listed, draft)):
            wrong.append((bad, listed.stderr, draft.stderr))
    assert not wrong


def test_a_malformed_description_of_a_table_is_an_error(bare, proxy, things):
    """A member of another type must not pass for an absent one: an index would be missing."""
    wrong = []
    for name, bad in (
        ("GlobalSecondaryIndexes", {"IndexName": "g"}),
        ("GlobalSecondaryIndexes", 7),
        ("LocalSecondaryIndexes", "none"),
        ("VectorIndexes", {}),
        ("Replicas", "us-east-1"),
        ("StreamSpecification", []),
        ("StreamSpecification", {"StreamEnabled": "true"}),
        ("KeySchema", None),
        ("ItemCount", "many"),
    ):

        def change(body, name=name, bad=bad):
            body["Table"][name] = bad

        proxy.fault("alter", op="DescribeTable", times=1, change=change)
        result = bare("ls", f"/tables/{things}", expect=None)
        if result.code != 1 or result.text or "is not DynamoDB's" not in result.stderr:
            wrong.append((name, bad, result))
    assert not wrong


def test_names_of_tables_that_are_no_texts_are_an_error(ddbfs, proxy):
    """Also where the environment's prefix selects none of them."""
    for bad in (7, None, ["x"], {"TableName": "x"}):
        proxy.heal()
        proxy.fault("raw", op="ListTables", times=None, body=json.dumps({"TableNames": [bad]}).encode())
        result = ddbfs("ls", "/prod/tables", expect=1)
        assert result.text == "" and "no table can have that name" in result.stderr


@rows("op, file, body", [
    ("DescribeTimeToLive", "ttl.json", {"TimeToLiveDescription": {}}),
    ("DescribeTimeToLive", "ttl.json", {"TimeToLiveDescription": {"TimeToLiveStatus": 7}}),
    ("DescribeTimeToLive", "ttl.json", {"TimeToLiveDescription": None}),
    ("ListExports", "exports.json", {"ExportSummaries": {}}),
    ("ListExports", "exports.json", {"ExportSummaries": [], "NextToken": 7}),
    ("ListExports", "exports.json", {"ExportSummaries": [7]}),
    ("ListBackups", "backups.json", {"BackupSummaries": None}),
    ("ListBackups", "backups.json", {"BackupSummaries": [{}]}),
])  # fmt: skip
def test_malformed_facts_of_a_table_are_an_error(bare, proxy, things, op, file, body):
    proxy.fault("raw", op=op, times=None, body=json.dumps(body).encode())
    result = bare("cat", f"/tables/{things}/{file}", expect=1)
    assert result.text == "" and "is not DynamoDB's" in result.stderr
