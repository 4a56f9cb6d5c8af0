"""ddbfs check: a map that fits passes; each way not to fit is found, at its line."""

import json
import re

import pytest

from harness import places
from harness.rows import rows

MAP = places.DEFAULT_MAP.read_text("utf-8")


def line_of(text, part):
    """The number of the one line that has PART in it."""
    found = [n for n, line in enumerate(text.splitlines(), 1) if part in line]
    assert len(found) == 1, (part, found)
    return found[0]


def changed(*replacements):
    """The example map with texts replaced, each of which must be there once."""
    text = MAP
    for old, new in replacements:
        assert text.count(old) == 1, (old, text.count(old))
        text = text.replace(old, new)
    return text


def findings(ddbfs, path, *options, **how):
    """(line, text) of each finding; nothing else is said."""
    result = ddbfs("check", *options, path, expect=1, **how)
    assert result.stderr == ""
    rows = [row.removeprefix(f"{path}:").split(": ", 1) for row in result.text.splitlines()]
    return [(int(line), text) for line, text in rows]


# A map of one table of its own, for tables that are not as they should be

OWN_MAP = """\
{
  "environments": {
    "own": { "prefix": "own-", "profile": "controller", "region": "us-east-1" }
  },
  "tables": {
    "jobs": {
      "table": "Jobs",
      "records": {
        "job": { "pk": "P#{part}", "sk": "JOB#{created_at}#{job_id}" }
      },
      "indexes": {
        "ByStatus": {
          "partition": "shop_id",
          "sort": { "status": "{status}" },
          "projects": "all"
        }
      },
      "paths": {
        "{part}/": {},
        "by-status/{shop_id}/": { "index": "ByStatus" }
      }
    }
  }
}
"""


def own_table(hash_key="pk", range_key="sk", index_keys=("shop_id", "status"), **how):
    """A description of own-Jobs. HOW: types by attribute; projection; index, its name."""
    types = {name: value for name, value in how.items() if name not in ("projection", "index")}
    names = dict.fromkeys([hash_key, range_key, *index_keys])
    keys = [(hash_key, "HASH"), (range_key, "RANGE")]
    projection = {"ProjectionType": how.get("projection", "ALL")}
    if projection["ProjectionType"] == "INCLUDE":
        projection["NonKeyAttributes"] = ["title"]
    return {
        "TableName": "own-Jobs",
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": types.get(name, "S")} for name in names
        ],
        "KeySchema": schema(keys),
        "GlobalSecondaryIndexes": [
            {
                "IndexName": how.get("index", "ByStatus"),
                "KeySchema": schema(zip(index_keys, ("HASH", "RANGE"))),
                "Projection": projection,
            }
        ],
    }


def schema(keys):
    return [{"AttributeName": name, "KeyType": kind} for name, kind in keys]


@pytest.fixture
def own(ddbfs, table, write_map):
    """own(text of the map, description) -> the findings."""

    def check(text, description):
        table(description)
        return findings(ddbfs, write_map(text))

    return check


# What passes


def test_demo_passes(ddbfs, cost):
    result = ddbfs("check", places.DEFAULT_MAP)
    assert result.text == f"{places.DEFAULT_MAP}: keys and indexes of 12 tables fit the map\n"
    assert cost() == ["ListTables"] + ["DescribeTable"] * 12


def test_map_of_the_environment_is_checked(ddbfs):
    assert "12 tables fit" in ddbfs("check").text


def test_own_table_passes(ddbfs, table, write_map):
    table(own_table())
    assert "of 1 table fit the map" in ddbfs("check", write_map(OWN_MAP)).text


def test_nothing_is_said_as_json_when_all_is_well(ddbfs):
    assert ddbfs("check", "--json", places.DEFAULT_MAP).stdout == b""


# What is found


def test_missing_table(ddbfs, write_map):
    text = changed(('"table": "ShopifyEntitiesTable"', '"table": "NoSuchTable"'))
    found = findings(ddbfs, write_map(text))
    assert {line for line, _ in found} == {line_of(text, '"shops": {')}
    assert any("prod-NoSuchTable does not exist in us-east-1" in said for _, said in found)


def test_missing_index(ddbfs, write_map):
    old = '"GSI_JobLookup_v2": { "partition"'
    text = changed(
        (old, '"GSI_JobLookup_v3": { "partition"'),
        ('{ "index": "GSI_JobLookup_v2" }', '{ "index": "GSI_JobLookup_v3" }'),
    )
    found = findings(ddbfs, write_map(text))
    assert (line_of(text, '"GSI_JobLookup_v3": {'), found[0][1]) == found[0]
    assert found[0][1] == "prod-EcomIndexerJobsTable has no index GSI_JobLookup_v3"
    assert len(found) == 4


def test_wrong_partition_key(own):
    ((line, said),) = own(OWN_MAP, own_table(hash_key="PK"))
    assert line == line_of(OWN_MAP, '"job": {')
    assert said == "the partition key of own-Jobs is PK, not pk"


def test_wrong_sort_key(own):
    ((line, said),) = own(OWN_MAP, own_table(range_key="SK"))
    assert line == line_of(OWN_MAP, '"job": {')
    assert said == "the sort key of own-Jobs is SK, not sk"


def test_wrong_key_of_an_index(own):
    found = own(OWN_MAP, own_table(index_keys=("shop", "state")))
    assert {line for line, _ in found} == {line_of(OWN_MAP, '"ByStatus": {')}
    assert [said.split(" is ")[1] for _, said in found] == [
        "shop, not shop_id",
        "state, not status",
    ]


def test_wrong_type_of_a_key(own):
    ((line, said),) = own(OWN_MAP, own_table(pk="N"))
    assert line == line_of(OWN_MAP, '"job": {')
    assert said.startswith("pk of own-Jobs is of type N, not S")


def test_wrong_type_of_an_index_key(own):
    ((line, said),) = own(OWN_MAP, own_table(status="N"))
    assert line == line_of(OWN_MAP, '"ByStatus": {')
    assert said.startswith("status of index ByStatus of own-Jobs is of type N, not S")


@rows("projection", ["KEYS_ONLY", "INCLUDE"])
def test_index_said_to_project_all(own, projection):
    ((line, said),) = own(OWN_MAP, own_table(projection=projection))
    assert line == line_of(OWN_MAP, '"by-status/{shop_id}/"')
    assert "would show incomplete items" in said and "must be hydrated" in said
    word = {"KEYS_ONLY": "keys", "INCLUDE": "some"}[projection]
    assert f'"projects": "{word}"' in said


@rows("projection", ["KEYS_ONLY", "INCLUDE"])
def test_path_that_is_not_hydrated_on_purpose(own, projection):
    text = OWN_MAP.replace('"projects": "all"', '"projects": "some"')
    text = text.replace('"index": "ByStatus" }', '"index": "ByStatus", "hydrate": false }')
    ((line, said),) = own(text, own_table(projection=projection))
    assert line == line_of(text, '"by-status/{shop_id}/"') and "must be hydrated" in said


@rows("projection", ["KEYS_ONLY", "INCLUDE"])
def test_hydrated_index_passes(ddbfs, table, write_map, projection):
    table(own_table(projection=projection))
    text = OWN_MAP.replace('"index": "ByStatus" }', '"index": "ByStatus", "hydrate": true }')
    ddbfs("check", write_map(text))


def test_beginning_of_a_number_is_an_error_of_the_map(ddbfs, write_map, cost):
    text = OWN_MAP.replace('"table": "Jobs",', '"table": "Jobs", "types": { "status": "N" },')
    text = text.replace(
        '"by-status/{shop_id}/": { "index": "ByStatus" }',
        '"by-status/{shop_id}/{s}/": { "index": "ByStatus", "where": { "status": "{s}*" } }',
    )
    path = write_map(text)
    result = ddbfs("check", path, expect=1)
    line = line_of(text, '"by-status/')
    assert re.match(rf"ddbfs: {re.escape(str(path))}:{line}:\d+: ", result.stderr)
    assert "status is a number" in result.stderr and cost() == []


def test_several_findings_are_all_told(own):
    found = own(OWN_MAP, own_table(range_key="SK", projection="KEYS_ONLY", status="N"))
    assert len(found) == 3


def test_findings_as_json(ddbfs, table, write_map):
    table(own_table(hash_key="PK", range_key="SK"))
    path = write_map(OWN_MAP)
    lines = ddbfs("check", "--json", path, expect=1).text.splitlines()
    found = [json.loads(line) for line in lines]
    assert [set(each) for each in found] == [{"file", "line", "text"}] * 2
    assert {each["file"] for each in found} == {str(path)}
    assert {each["line"] for each in found} == {line_of(OWN_MAP, '"job": {')}


# Without the network


def test_offline_needs_nobody(ddbfs, home, cost):
    home.credentials.write_text("")
    home.config.write_text("")
    env = {"AWS_REGION": None, "AWS_ENDPOINT_URL_DYNAMODB": "http://127.0.0.1:1"}
    result = ddbfs("check", "--offline", places.DEFAULT_MAP, env=env)
    assert result.text == f"{places.DEFAULT_MAP}: the map is well formed\n"
    assert cost() == []


def test_offline_does_not_see_tables(ddbfs, write_map):
    text = changed(('"table": "ShopifyEntitiesTable"', '"table": "NoSuchTable"'))
    ddbfs("check", "--offline", write_map(text))


def test_offline_finds_an_error_of_the_map(ddbfs, write_map):
    path = write_map(changed(('"shops": {', '"shops": { "nope": 1,')))
    result = ddbfs("check", "--offline", path, expect=1)
    assert result.stdout == b"" and result.stderr.startswith(f"ddbfs: {path}:")


THREE = (
    ('"newest": 100', '"newest": 0'),
    ('"projects": "keys"', '"projects": "none"'),
    ('"match": "^[^.]+$"', '"match": "["'),
)


def lines_of(text, words):
    """The first line of TEXT in which each of WORDS stands."""
    return sorted(text[: text.index(word)].count("\n") + 1 for word in words)


def places_of(text, members):
    """LINE:COLUMN of the value of each of MEMBERS, in the order of the file."""
    found = sorted(text.index(member) + member.index(": ") + 2 for member in members)
    return [f"{text[:at].count(chr(10)) + 1}:{at - text.rfind(chr(10), 0, at)}" for at in found]


def test_an_error_in_nested_members_names_its_place(ddbfs, write_map):
    filter_text = '{ "or": [ { "ä": 1 }, { "b": { "c": 2 } } ] }'
    text = changed(('"by-id/{job_id}":', '"mine/{job_id}": { "filter": ' + filter_text + ' },\n"by-id/{job_id}":'))
    path = write_map(text)
    told = ddbfs("check", "--offline", path, expect=1).stderr
    at = text.index('"c": 2')
    place = f"{text[:at].count(chr(10)) + 1}:{at - text.rfind(chr(10), 0, at)}"
    assert told.startswith(f"ddbfs: {path}:{place}: a condition is a text or one of"), told


def test_a_prefix_may_be_empty(ddbfs, write_map):
    ddbfs("check", "--offline", write_map(changed(('"prefix": "staging-"', '"prefix": ""'))))


def test_all_errors_of_a_map_are_told(ddbfs, write_map, cost):
    text = changed(*THREE)
    path = write_map(text)
    result = ddbfs("check", path, expect=1)
    lines = result.stderr.splitlines()
    assert result.stdout == b"" and cost() == []
    places_told = [line.removeprefix(f"ddbfs: {path}:").split(": ")[0] for line in lines]
    assert places_told == places_of(text, ['"newest": 0', '"projects": "none"', '"match": "["'])


def test_all_errors_of_a_map_as_json(ddbfs, write_map):
    text = changed(*THREE)
    path = write_map(text)
    result = ddbfs("check", "--json", path, expect=1)
    found = [json.loads(line) for line in result.text.splitlines()]
    assert result.stderr == "" and {each["file"] for each in found} == {str(path)}
    want = lines_of(text, ['"newest": 0', '"projects": "none"', '"match": "["'])
    assert [each["line"] for each in found] == want


def test_other_commands_tell_the_first_ten(ddbfs, write_map):
    wrong = "".join(f'"p{i}/{{shop_id}}/": {{ "list": "nope" }},\n' for i in range(60))
    text = changed(('"by-id/{job_id}"', wrong + '"by-id/{job_id}"'))
    path = write_map(text)
    lines = ddbfs("--map", path, "cat", "/prod/x", expect=1).stderr.splitlines()
    assert len(lines) == 11 and lines[-1] == f"ddbfs: {path}: and 50 more; ddbfs check lists all"
    lines = ddbfs("check", path, expect=1).stderr.splitlines()
    assert len(lines) == 51 and lines[-1] == f"ddbfs: {path}: and 10 more"


def test_tables_that_nobody_may_describe(ddbfs, proxy):
    proxy.fault("denied", op="DescribeTable", table="prod-ShopifyEntitiesTable", times=None)
    result = ddbfs("check", places.DEFAULT_MAP, expect=1)
    (line,) = result.stderr.splitlines()
    assert line.startswith("ddbfs: prod-ShopifyEntitiesTable: ")
    assert "dynamodb:DescribeTable" in line and "fit the map" not in result.text


# What fails of all tables is said once


def test_a_service_that_is_away_is_told_once(ddbfs):
    result = ddbfs("--endpoint-url", "http://127.0.0.1:1", "check", "--json", places.DEFAULT_MAP, expect=1)
    (told,) = [json.loads(line) for line in result.stderr.splitlines()]
    assert told["path"] == "/" and told["errno"] == "ECONNREFUSED"
    assert told["text"].endswith("; the same error for 6 tables")


def test_tables_that_fail_each_in_its_way_are_told_each(ddbfs, proxy):
    proxy.fault("denied", op="DescribeTable", table="prod-EcomIndexerJobsTable", times=None)
    result = ddbfs("check", places.DEFAULT_MAP, expect=1)
    assert "prod-EcomIndexerJobsTable" in result.stderr and "more table" not in result.stderr


def test_a_session_that_has_expired_is_told_once(ddbfs, proxy):
    proxy.fault("expired", times=None)
    (told,) = ddbfs("check", places.DEFAULT_MAP, expect=1).stderr.splitlines()
    assert "; the same error for 6 tables" in told


def test_where_only_tables_fail_the_others_are_counted(ddbfs, proxy):
    proxy.fault("expired", op="DescribeTable", times=None)
    (told,) = ddbfs("check", places.DEFAULT_MAP, expect=1).stderr.splitlines()
    assert "ddbfs: prod-EcomIndexerJobsTable: " in told and " more tables" in told


def test_a_file_that_is_no_json_says_so(ddbfs, tmp_path):
    file = tmp_path / "README.md"
    file.write_text("# A project\n")
    told = ddbfs("check", file, expect=1).stderr
    assert told == f"ddbfs: {file}:1:1: this is not JSON: a value expected\n"
