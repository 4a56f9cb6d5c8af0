"""Windows on the parts of an index's key: they select by what the names show, or say which part they test."""

import pytest

from harness import tables

FOLDER = "/all/any-Wards/by-ward/w1/appointment"
OWN_FOLDER = "/any/wards/w1/appointment"


def appointment(number):
    status, date = "BOOKED" if number % 2 else "DONE", f"2026-01-{28 - number:02}"
    texts = {"pk": f"PATIENT#p-{50 + number:04}", "sk": f"APPOINTMENT#{date}", "gsi1pk": "WARD#w1", "gsi1sk": f"{status}#{date}"}
    parts = {"patient": f"p-{50 + number:04}", "ward": "w1", "status": status, "date": date}
    return {name: {"S": text} for name, text in {**texts, **parts}.items()}


@pytest.fixture
def wards(table):
    """Nine appointments of one ward, by status and date in an index."""
    base = tables.table("any-Wards")
    keys = [{"AttributeName": "gsi1pk", "KeyType": "HASH"}, {"AttributeName": "gsi1sk", "KeyType": "RANGE"}]
    kinds = [{"AttributeName": each["AttributeName"], "AttributeType": "S"} for each in keys]
    index = {"IndexName": "gsi1", "KeySchema": keys, "Projection": {"ProjectionType": "ALL"}}
    described = {**base, "AttributeDefinitions": [*base["AttributeDefinitions"], *kinds], "GlobalSecondaryIndexes": [index]}
    return table(described, [appointment(number) for number in range(9)])


@pytest.fixture
def drafted(ddbfs, wards, tmp_path):
    """The environment with the map that `ddbfs map` makes of these items."""
    map_file = tmp_path / "drafted.json"
    made = ddbfs("map", "--sample", "/tables/any-Wards/by/gsi1/WARD#w1/", wards, env={"DDBFS_MAP": None})
    map_file.write_text(made.text)
    return {"DDBFS_MAP": str(map_file)}


@pytest.fixture
def own(wards, write_map):
    """The environment with a map whose names do not have the status, by which its windows select."""
    listing = {"index": "gsi1"}
    windows = {
        "{ward}/appointment/": listing,
        "{ward}/appointment/{prefix}*/": {**listing, "where": {"status": "{prefix}*"}, "hidden": True},
        "{ward}/appointment/{from}..{to}/": {**listing, "where": {"status": "{from}..{to}"}, "hidden": True},
        "{ward}/appointment/last/": {**listing, "newest": 9, "hidden": True},
    }
    wards = {
        "table": "Wards",
        "records": {"appointment": {"pk": "PATIENT#{patient}", "sk": "APPOINTMENT#{date}"}},
        "indexes": {"gsi1": {"partition": {"gsi1pk": "WARD#{ward}"}, "sort": {"gsi1sk": "{status}#{date}"}, "projects": "all"}},
        "paths": windows,
    }
    environment = {"prefix": "any-", "profile": "controller", "region": "us-east-1"}
    return {"DDBFS_MAP": str(write_map({"environments": {"any": environment}, "tables": {"wards": wards}}))}


def test_names_of_a_drafted_map_begin_with_the_part_that_windows_test(ddbfs, drafted):
    names = ddbfs("ls", FOLDER, env=drafted).text.splitlines()
    assert len(names) == 9 and names == sorted(names) and names[0] == "BOOKED,2026-01-21,p-0057"
    for prefix in ("B", "BOOKED", "D", "DONE"):
        shown = [name for name in names if name.startswith(prefix)]
        assert ddbfs("ls", f"{FOLDER}/{prefix}*", env=drafted).text.splitlines() == shown
        assert ddbfs("cat", f"{FOLDER}/{prefix}*@count", env=drafted).text == f"{len(shown)}\n"
    assert ddbfs("ls", f"{FOLDER}/last:1", env=drafted).text.splitlines() == names[-1:]
    assert ddbfs("cat", f"{FOLDER}/{names[-1]}@/patient", env=drafted).text.strip() == names[-1].rpartition(",")[2]


def test_more_than_the_first_part_of_a_name_selects_nothing_and_says_so(ddbfs, drafted):
    for path in (f"{FOLDER}/BOOKED,2026*@count", f"{FOLDER}/BOOKED,2026*"):
        told = ddbfs("cat" if path.endswith("count") else "ls", path, env=drafted)
        assert '"BOOKED,2026" is compared with {status}, which is only the first part of the names' in told.stderr


def test_a_window_that_selects_by_a_part_beside_the_names_says_so(ddbfs, own):
    names = ddbfs("ls", OWN_FOLDER, env=own).text.splitlines()
    assert sum(name.startswith("p-0055") for name in names) == 1
    for command, path in (("cat", "p-0055*@count"), ("ls", "p-0055*"), ("ls", "p-0055..p-0056")):
        told = ddbfs(command, f"{OWN_FOLDER}/{path}", env=own)
        assert told.text in ("0\n", "")
        assert '"p-0055" is compared with {status}, which is not the first part of the names' in told.stderr
    assert ddbfs("cat", f"{OWN_FOLDER}/BOOKED*@count", env=own).text == "4\n"
    readme = ddbfs("cat", f"{OWN_FOLDER}/README", env=own).text
    for words in ("all whose {status} begins with {prefix}", "by {status}, both ends included", "the last 9 by {status}"):
        assert words in readme


def test_a_window_with_items_has_no_hint(ddbfs, own):
    assert ddbfs("ls", f"{OWN_FOLDER}/BOOKED*", env=own).stderr == ""
