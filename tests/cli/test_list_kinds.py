"""Files of listings of every kind: of an index that has keys alone, or less than the record and no more is
wanted, of kinds among others, of windows, of tables without a map; and what has none says so."""

import json

import pytest

from harness import tables
from harness.rows import rows

JOBS = "prod-EcomIndexerJobsTable"
SHOP = "kl7a9h55-shopify-e513a8-4"
BARE = {"DDBFS_MAP": None}
ENDINGS = ["@jsonl", "@csv", "@count", "@summary"]


def counted(ddbfs, path, **how):
    """How many records each of a listing's files has."""
    lines = ddbfs("cat", f"{path}@jsonl", **how).text.splitlines()
    rows = ddbfs("cat", f"{path}@csv/status,pk", **how).text.splitlines()[1:]
    eyes = ddbfs("cat", f"{path}@table/pk", **how).text.splitlines()[1:]
    count = int(ddbfs("cat", f"{path}@count", **how).text)
    told = json.loads(ddbfs("cat", f"{path}@summary", **how).text)["count"]
    assert len(lines) == len(rows) == len(eyes) == count == told
    return [json.loads(line) for line in lines]


@pytest.fixture
def own_map(write_map, example_map):
    """own_map(paths of jobs): the environment with these beside the example's."""

    def write(**paths):
        example_map["tables"]["jobs"]["paths"].update(paths)
        return {"DDBFS_MAP": str(write_map(example_map))}

    return write


def test_an_index_that_is_not_read_again_has_what_it_holds(ddbfs, ls, own_map, cost):
    env = own_map(**{"keys/{job_id}/": {"index": "GSI_JobLookup_v2", "list": "job", "hydrate": False}})
    job = json.loads(ddbfs("cat", f"/prod/jobs/by-index/shopify/{SHOP}/all@jsonl").text.split("\n")[0])
    cost()
    records = counted(ddbfs, f"/prod/jobs/keys/{job['job_id']}", env=env)
    assert records == [{name: job[name] for name in ("pk", "sk", "created_at", "job_id")}]
    assert "BatchGetItem" not in cost()
    names = ls(f"/prod/jobs/keys/{job['job_id']}", env=env)
    assert json.loads(ddbfs("cat", f"/prod/jobs/keys/{job['job_id']}/{names[0]}", env=env).text) == records[0]


def test_an_index_of_keys_has_whole_records(ddbfs, own_map):
    env = own_map(**{"keys/{job_id}/": {"index": "GSI_JobLookup_v2", "list": "job"}})
    job = json.loads(ddbfs("cat", f"/prod/jobs/by-index/shopify/{SHOP}/all@jsonl").text.split("\n")[0])
    assert counted(ddbfs, f"/prod/jobs/keys/{job['job_id']}", env=env) == [job]


@rows("limit", [1, 3, 1000000])
@rows("order", ["newest", "oldest"])
def test_so_many_are_so_many(ddbfs, own_map, oracle, proxy, order, limit):
    states = {"index": "GSI_JobsByStatus_v2", "where": {"status_created_at": "{status}#*"}}
    env = own_map(
        **{
            "some/{platform}/{shop_id}/": {"list": "job", order: limit},
            "states/{shop_id}/{status}/": {**states, order: limit},
        }
    )
    how = {"ScanIndexForward": order == "oldest"}
    jobs = oracle.query(JOBS, "pk = :pk", pk=f"PLATFORM#shopify#SHOP#{SHOP}", **how)
    condition = "shop_id = :shop and begins_with(status_created_at, :status)"
    index = {"IndexName": "GSI_JobsByStatus_v2", "shop": SHOP, "status": "COMPLETED#"}
    done = oracle.query(JOBS, condition, **index, **how)
    proxy.fault("page_size", op="Query", times=None, items=2)
    for items, path in ((jobs, f"some/shopify/{SHOP}"), (done, f"states/{SHOP}/COMPLETED")):
        found = counted(ddbfs, f"/prod/jobs/{path}", env=env)
        keys = [(item["pk"]["S"], item["sk"]["S"]) for item in items]
        assert [(record["pk"], record["sk"]) for record in found] == keys[:limit] != []


def test_kinds_that_are_not_listed_are_not_among_them(ddbfs):
    records = counted(ddbfs, "/prod/index-settings/kl7a9h55")
    assert records and all(record["sk"].count("#") == 1 for record in records)


def test_what_is_skipped_is_told_and_not_shown(ddbfs, table, write_map):
    text = tables.plain_map()
    kinds = {"day": {"pk": "{box}", "sk": "D#{day}"}, "week": {"pk": "{box}", "sk": "W#{week}"}}
    text["tables"]["things"] = {"table": "Things", "records": kinds, "paths": {"{box}/": {"list": ["day", "week"]}}}
    env = {"DDBFS_MAP": str(write_map(text))}
    keys = ["D#1", "M#1", "W#1"]
    table(tables.plain(), [{"pk": {"S": "box"}, "sk": {"S": key}} for key in keys])
    assert [record["sk"] for record in counted(ddbfs, "/any/things/box", env=env)] == ["D#1", "W#1"]
    result = ddbfs("cat", "/any/things/box@jsonl", env=env)
    assert "1 item of any-Things fits none of the map's kinds" in result.stderr
    info = json.loads(ddbfs("cat", "/any/things/box@info", env=env).text)
    assert (info["records"], info["skipped"]) == (2, 1) and "kinds" in info["skipped_why"]


@rows("ending", ENDINGS)
def test_directories_that_records_lead_to_have_none(ddbfs, write_map, table, ending):
    plain = tables.plain_map()
    plain["tables"]["things"]["records"] = {"thing": {"pk": "{box}", "sk": "{day}#{name}"}}
    plain["tables"]["things"]["paths"] = {"{box}/": {"groups": True}, "{box}/{day}/": {}}
    env = {"DDBFS_MAP": str(write_map(plain))}
    table(tables.plain(), [{"pk": {"S": "box"}, "sk": {"S": "monday#1"}}])
    result = ddbfs("cat", f"/any/things/box{ending}", env=env, expect=3)
    assert f"only a listing of records has {ending}" in result.stderr
    assert counted(ddbfs, "/any/things/box/monday", env=env) == [{"pk": "box", "sk": "monday#1"}]


@pytest.fixture
def box(table):
    name = table(tables.plain(), [{"pk": {"S": "box"}, "sk": {"S": f"k{n}"}} for n in range(5)])
    return f"/tables/{name}/items/box"


WINDOWS = {"": "01234", "/last:2": "43", "/first": "01234", "/after:k1": "234", "/k1..k3": "123", "/k*": "01234"}


@rows("window", WINDOWS)
def test_a_table_without_a_map_has_them(ddbfs, box, window):
    found = "".join(record["sk"][1:] for record in counted(ddbfs, f"{box}{window}", env=BARE))
    assert found == WINDOWS[window] or (window == "/last:2" and found == WINDOWS[window][::-1])


@rows("ending", ENDINGS)
def test_what_no_query_lists_has_none_and_says_why(ddbfs, box, ending):
    items = box.rsplit("/", 1)[0]
    for path in (items, f"{box}/k1"):
        for options in ([], ["--allow-scan"]):
            result = ddbfs(*options, "cat", f"{path}{ending}", env=BARE, expect=3)
            assert f"only a listing of records has {ending}" in result.stderr


def test_a_suffix_is_a_records_and_no_listings(ddbfs):
    path = f"/prod/jobs/by-index/shopify/{SHOP}/all"
    for ending in (*ENDINGS, "@csv/sk"):
        plain = ddbfs("cat", f"{path}{ending}").stdout
        assert ddbfs("--suffix", ".json", "cat", f"{path}{ending}").stdout == plain != b""


def test_kinds_that_differ_behind_a_part_share_a_listing(ddbfs, ls, things, write_map):
    kinds = {name: {"pk": "{box}", "sk": f"ROOT#{{r}}#{name}#{{{name.lower()}}}"} for name in ("P", "Q")}
    kinds["Q"]["sk"] = "ROOT#{r}#Q#{q*}"
    content = tables.plain_map(records=kinds, paths={"{box}/": {"list": ["P", "Q"]}})
    keys = ["ROOT#1#P#a", "ROOT#1#Q#a", "ROOT#1#Q#b#P#c", "ROOT#2#Q#P"]
    for key in keys:
        things.put(key, box="b")
    env = {"DDBFS_MAP": str(write_map(content))}
    names = ls("/any/things/b", env=env)
    assert names == ["1#P#a", "1#Q#a", "1#Q#b#P#c", "2#Q#P"]
    texts = [json.loads(ddbfs("cat", f"/any/things/b/{name}", env=env).text)["sk"] for name in names]
    assert texts == keys
