"""Names that begin with a rank: they sort as the listing is ordered, and go on to open their records."""

import json

import pytest

from harness.rows import rows

SHOP = "kl7a9h55-shopify-e513a8-4"
NEWEST = f"/prod/jobs/newest/shopify/{SHOP}"
BY_STATUS = f"/prod/jobs/ranked/{SHOP}/COMPLETED"
NAME = "{rank}_{created_at}@{job_id}"


@pytest.fixture
def ranked(write_map, example_map):
    """ranked(path, pattern): as environment, the example map with a listing of jobs."""

    def make(path="newest/{platform}/{shop_id}/", **pattern):
        example_map["tables"]["jobs"]["paths"][path] = {"name": NAME, **pattern}
        return {"DDBFS_MAP": str(write_map(example_map))}

    return make


@pytest.fixture
def boxes(things, plain_map, write_map):
    """Boxes of things, the last names first."""
    plain_map["tables"]["things"]["paths"]["{box}/"] = {"newest": 20, "name": "{rank}-{name}"}
    things.env = {"DDBFS_MAP": str(write_map(plain_map))}
    return things


@rows("items", [None, 1, 3])
def test_names_count_on_over_pages(ls, proxy, ranked, items):
    plain = ls(f"/prod/jobs/by-index/shopify/{SHOP}/latest", "-l")[:12]
    if items:
        proxy.fault("page_size", op="Query", times=None, items=items)
    env = ranked(newest=12)
    names = ls(NEWEST, env=env)
    assert [name.split("_")[0] for name in names] == [f"{i:02d}" for i in range(1, 13)]
    stamps = [name.split("_", 1)[1].replace("@", "#") for name in names]
    assert stamps == [line.rsplit(" ", 1)[1] for line in plain]
    assert names == sorted(names)


@rows("limit, digits", [(1, 1), (9, 1), (10, 2), (1000000, 7), ("all", 7)])
def test_ranks_are_as_wide_as_the_limit(ls, ranked, limit, digits):
    names = ls(NEWEST, env=ranked(newest=limit))
    assert names[0].split("_")[0] == "1".zfill(digits)
    assert names == sorted(names)


def test_an_index_of_keys_gives_the_same_ranks_with_and_without_sizes(ddbfs, ls, ranked):
    """The records of `ls -l` are read again from the table; the index tells their order."""
    how = dict(name="{rank}_{platform}_{created_at}@{job_id}", index="GSI_JobsByStatus_v2", newest=5)
    env = ranked("ranked/{shop_id}/{status}/", **how)
    names = ls(BY_STATUS, env=env)
    long = ddbfs("ls", "-l", BY_STATUS, env=env).text.splitlines()
    assert [line.split(" ")[-1] for line in long] == names
    for name in names:
        assert json.loads(ddbfs("cat", f"{BY_STATUS}/{name}", env=env).text)["status"] == "COMPLETED"


def test_a_name_opens_its_record_after_others_came_in_before(ddbfs, ls, boxes):
    boxes.put("a", note={"S": "the first"})
    (old,) = ls("/any/things/box", env=boxes.env)
    assert old == "01-a"
    for name in ("b", "c"):
        boxes.put(name)
    assert ls("/any/things/box", env=boxes.env) == ["01-c", "02-b", "03-a"]
    wanted = ddbfs("cat", "/any/things/box/03-a", env=boxes.env).text
    assert json.loads(wanted)["note"] == "the first"
    for rank in ("01", "1", "0", "00000099"):
        assert ddbfs("cat", f"/any/things/box/{rank}-a", env=boxes.env).text == wanted
    for name in ("a", "-a", "x1-a", "01_a", "01-", "1 -a"):
        ddbfs("cat", f"/any/things/box/{name}", env=boxes.env, expect=3)


def test_companions_and_the_suffix_stand_behind(ddbfs, ls, boxes):
    boxes.put("a", note={"S": "here"})
    names = ls("/any/things/box", "--suffix", ".json", env=boxes.env)
    assert names == ["01-a.json"]
    file = "/any/things/box/07-a.json"
    run = lambda path: ddbfs("--suffix", ".json", "cat", path, env=boxes.env).text  # noqa: E731
    assert json.loads(run(file))["note"] == "here"
    assert json.loads(run(f"{file}@typed"))["note"] == {"S": "here"}
    assert json.loads(run(f"{file}@info"))["key"]["sk"] == {"S": "a"}
    assert run(f"{file}@/note") == "here\n"


def test_keys_that_look_like_ranks(ddbfs, ls, boxes):
    keys = ["1", "1-1", "-1", "01-a", "a", "%", "", "README", ".git", "x~", "a@typed", "/"]
    for key in (key for key in keys if key):
        boxes.put(key, note={"S": key})
    names = ls("/any/things/box", env=boxes.env)
    assert len(names) == len(set(names)) == len(keys) - 1
    for name in names:
        record = json.loads(ddbfs("cat", f"/any/things/box/{name}", env=boxes.env).text)
        assert record["note"] == record["sk"] and record["sk"] in keys


def test_a_shortened_name_keeps_its_rank_and_opens_under_any(ddbfs, ls, boxes):
    for key in ("long-" + "x" * 400, "long-" + "x" * 399 + "y"):
        boxes.put(key, end={"S": key[-1]})
    names = ls("/any/things/box", env=boxes.env)
    assert [name[:8] for name in names] == ["01-long-", "02-long-"]
    assert all(len(name) == 247 and "%~" in name for name in names)
    boxes.put("z")
    for name, end in zip(names, "yx"):
        for rank in ("01", "15", "3"):
            path = f"/any/things/box/{rank}{name[2:]}"
            assert json.loads(ddbfs("cat", path, env=boxes.env).text)["end"] == end


def test_explain_reads_the_record_and_not_the_rank(ddbfs, boxes):
    told = ddbfs("explain", "/any/things/box/05-a", env=boxes.env).text
    assert "GetItem" in told and '"a"' in told and "rank" not in told


def test_the_readme_says_what_names_begin_with(ddbfs, boxes):
    readme = ddbfs("cat", "/any/things/README", env=boxes.env).text
    assert "names begin with their rank: the last key first" in readme

