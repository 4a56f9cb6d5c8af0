"""The printed command of every path of the example, run by a shell: it gives what the path gives."""

import json

import pytest

from harness import plain, runner, tables
from harness.rows import rows

SHOP = "kl7a9h55-shopify-e513a8-4"
BY_INDEX = f"/prod/jobs/by-index/shopify/{SHOP}"
JOB_ID = "1f3c9a52-7b1e-4c57-9d0a-2e6f4b8c1d90"
JOB = f"2026-04-16T09:41:07.318Z#{JOB_ID}"
DOMAIN = "cool-store.myshopify.com"
ACCOUNT = "/prod/index-settings/kl7a9h55"

RECORDS = {
    "by-id/{job_id}": f"/prod/jobs/by-id/{JOB_ID}",
    "latest": f"{BY_INDEX}/latest/{JOB}",
    "all": f"{BY_INDEX}/all/{JOB}",
    "on": f"{BY_INDEX}/on/2026-04-16/{JOB}",
    "between": f"{BY_INDEX}/between/2026-04-16..2026-04-17/{JOB}",
    "status": f"{BY_INDEX}/status/COMPLETED/{JOB}",
    "by-status": f"/prod/jobs/by-status/{SHOP}/COMPLETED/shopify#{JOB}",
    "index": f"{ACCOUNT}/shopify-e513a8-4",
    "DEFAULT_CONFIGS": f"{ACCOUNT}/DEFAULT_CONFIGS",
    "sub-record": f"{ACCOUNT}/shopify-e513a8-4.d/PROFILE#SEARCH#default",
    "odd name": f"{ACCOUNT}/shopify-e513a8-4.d/QUERY#a%2Fc filter 50%25",
    "by-account of settings": "/prod/index-settings/by-account/kl7a9h55/products",
    "by-domain": "/prod/index-settings/by-domain/e513a8-4.myshopify.com/kl7a9h55#shopify-e513a8-4",
    "settings": f"/prod/shops/{DOMAIN}/SETTINGS",
    "by-account of shops": f"/prod/shops/by-account/kl7a9h55/{DOMAIN}",
}
LISTINGS = {
    "latest": f"{BY_INDEX}/latest",
    "all": f"{BY_INDEX}/all",
    "on": f"{BY_INDEX}/on/2026-04-16",
    "between": f"{BY_INDEX}/between/2026-04-14..2026-04-16",
    "status": f"/prod/jobs/by-index/ecom/{SHOP}/status/FAILED",
    "by-status": "/prod/jobs/by-status/kl7a9h55-products/FAILED",
    "indexes": ACCOUNT,
    "sub-records": f"{ACCOUNT}/shopify-e513a8-4.d",
    "by-account of settings": "/prod/index-settings/by-account/kl7a9h55",
    "by-domain": "/prod/index-settings/by-domain/e513a8-4.myshopify.com",
    "shop": f"/prod/shops/{DOMAIN}",
    "by-account of shops": "/prod/shops/by-account/kl7a9h55",
}
VALUES = {
    "token": f"/prod/shops/{DOMAIN}/access-token",
    "text": f"/prod/shops/{DOMAIN}/SETTINGS@/active_index",
    "of a query": f"/prod/jobs/by-id/{JOB_ID}@/status",
}


def command(ddbfs, path, **how):
    return json.loads(ddbfs("explain", "--json", path, **how).stdout)["aws"]


def documents(text):
    """The JSON documents that stand in a text one after the other."""
    decoder, at, found = json.JSONDecoder(), 0, []
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        value, at = decoder.raw_decode(text, at)
        found.append(value)
    return found


def answer(shell, line):
    """The items that a command prints; get-item itself puts one into "Item"."""
    return [each.get("Item", each) for each in documents(shell(line).text)]


def typed(ddbfs, ls, path, **how):
    """What the listing has, as the service wrote it, in the listing's order."""
    names = [name for name in ls(path, **how) if not name.endswith("/")]
    found = [json.loads(ddbfs("cat", f"{path}/{name}@typed", **how).text) for name in names]
    return found


@rows("kind", RECORDS)
def test_a_record(ddbfs, shell, kind):
    (item,) = answer(shell, command(ddbfs, RECORDS[kind]))
    assert plain.render(item) == ddbfs("cat", RECORDS[kind]).stdout


@rows("kind", LISTINGS)
def test_a_listing(ddbfs, shell, ls, kind):
    """The same records, whole, in the same order. Files that the map declares beside a listing have
    commands of their own."""
    path = LISTINGS[kind]
    items = answer(shell, command(ddbfs, path))
    names = [name for name in ls(path) if not name.endswith("/")]
    declared = ("access-token",) + (("DEFAULT_CONFIGS",) if kind == "indexes" else ())
    paths = [f"{path}/{name}@typed" for name in names if name not in declared]
    shown = ddbfs("--show-secrets", "cat", *paths).text.splitlines()
    assert items == [json.loads(line) for line in shown] != []


@rows("kind", VALUES)
def test_an_attribute_is_bare(ddbfs, shell, kind):
    assert shell(command(ddbfs, VALUES[kind])).stdout == ddbfs("cat", VALUES[kind]).stdout


def test_the_resident_command_prints_what_the_real_one_prints(ddbfs, shell):
    """All other tests run `aws` in one process that stays."""
    lines = [command(ddbfs, path) for path in (RECORDS["by-id/{job_id}"], LISTINGS["latest"], RECORDS["index"])]
    lines += ["aws dynamodb get-item --table-name none --key '{}'", "aws dynamodb no-such-command"]
    resident = [shell(line, expect=None) for line in lines]
    shell.home.put_aws(runner.REAL_AWS)
    real = [shell(line, expect=None) for line in lines]
    for one, other in zip(resident, real):  # the server returns attributes in any order
        assert documents(one.text) == documents(other.text)
        assert (one.stderr, one.code) == (other.stderr, other.code)
    assert [each.code != 0 for each in real] == [False, False, False, True, True]


# Records of other kinds between those that count

CROWD = {
    "environments": {"any": {"prefix": "any-", "profile": "controller", "region": "us-east-1"}},
    "tables": {
        "crowd": {
            "table": "Crowd",
            "records": {
                "job": {"pk": "{box}", "sk": "JOB#{id}"},
                "line": {"pk": "{box}", "sk": "JOB#{id}#LINE#{n}"},
                "note": {"pk": "{box}", "sk": "NOTE.{a}-{b}.{rest*}"},
                "file": {"pk": "{box}", "sk": "FILE.{stem}.gz"},
            },
            "paths": {
                "jobs/{box}/": {"list": "job"},
                "newest/{box}/": {"list": "job", "newest": 2},
                "lines/{box}/": {"list": "line"},
                "notes/{box}/": {"list": "note"},
                "files/{box}/": {"list": "file"},
                "all/{box}/": {"list": "*"},
                "last/{box}": {"record": "job", "newest": 1},
                "best/{box}": {"record": "job", "pick": {"greatest": "score"}},
                "least/{box}": {"record": "job", "pick": {"least": "score"}},
                "score/{box}": {
                    "record": "job",
                    "pick": {"greatest": "score"},
                    "attribute": "score",
                },
            },
        }
    },
}
SORTS = [
    "FILE.a.gz.gz",
    "FILE.a.gz.gz.b",
    "JOB#1",
    "JOB#1#LINE#1",
    "JOB#1#LINE#2",
    "JOB#2",
    "JOB#2#LINE#1",
    "JOB#3",
    "JOB#3#LINE#1",
    "JOB#3#OTHER",
    "NOTE.a-b.c-d.e#f\ng",
    "NOTE.a#b-c.d",
    "NOTE.h\u00fc-(x|y).*",
    "X#1",
]


@pytest.fixture
def crowd(table, write_map):
    scores = {"JOB#1": "9", "JOB#2": "10", "JOB#3": "10"}
    items = [
        {
            "pk": {"S": "box"},
            "sk": {"S": sort},
            **({"score": {"N": scores[sort]}} if sort in scores else {}),
        }
        for sort in SORTS
    ]
    for box, other in (("mixed", {"score": {"S": "9"}}), ("partly", {})):
        for sort, score in (("JOB#1", {"score": {"N": "10"}}), ("JOB#2", other)):
            items.append({"pk": {"S": box}, "sk": {"S": sort}, **score})
    table(tables.table("any-Crowd"), items)
    return {"DDBFS_MAP": str(write_map(CROWD))}


@rows("kind", ["jobs", "newest", "lines", "notes", "files", "all"])
def test_others_in_between_are_sifted_out(ddbfs, shell, ls, crowd, kind):
    path = f"/any/crowd/{kind}/box"
    items = answer(shell, command(ddbfs, path, env=crowd))
    assert items == typed(ddbfs, ls, path, env=crowd) != []


@rows("kind", ["last", "best", "least"])
def test_the_one_that_is_meant_is_chosen(ddbfs, shell, crowd, kind):
    path = f"/any/crowd/{kind}/box"
    (item,) = answer(shell, command(ddbfs, path, env=crowd))
    assert plain.render(item) == ddbfs("cat", path, env=crowd).stdout


@rows("box", ["mixed", "partly"])
@rows("kind", ["best", "least", "score"])
def test_where_none_can_be_chosen_the_command_chooses_none(ddbfs, shell, crowd, kind, box):
    path = f"/any/crowd/{kind}/{box}"
    ddbfs("cat", path, env=crowd, expect=1)
    result = shell(command(ddbfs, path, env=crowd), expect=None)
    assert result.code != 0 and result.stdout == b""


def test_a_number_is_bare(ddbfs, shell, crowd):
    line = command(ddbfs, "/any/crowd/score/box", env=crowd)
    assert shell(line).stdout == ddbfs("cat", "/any/crowd/score/box", env=crowd).stdout == b"10\n"


def test_what_the_map_does_not_know_makes_no_short_answer(ddbfs, shell, table, write_map, crowd):
    """No limit can be right then: the command fails rather than leaving records out."""
    few = json.loads(json.dumps(CROWD))
    few["tables"]["crowd"]["records"] = {"job": {"pk": "{box}", "sk": "JOB#{id}"}}
    few["tables"]["crowd"]["paths"] = {"newest/{box}/": {"list": "job", "newest": 2}}
    env = {"DDBFS_MAP": str(write_map(few))}
    line = command(ddbfs, "/any/crowd/newest/box", env=env)
    assert " --page-size 2 --max-items 2" in line
    result = shell(line, expect=None)
    assert result.code != 0 and "other items are in between" in result.stderr
    assert len(answer(shell, line.replace(" --page-size 2 --max-items 2", ""))) == 2


# What is not there: the path is a miss, and the command prints nothing

MISSES = {
    "no such job": "/prod/jobs/by-id/none",
    "no such record": "/prod/shops/nobody.myshopify.com/SETTINGS",
    "no record to choose from": "/prod/shops/nobody.myshopify.com/access-token",
    "no such attribute": f"/prod/shops/{DOMAIN}/SETTINGS@/none",
    "of another status": f"/prod/jobs/by-status/{SHOP}/FAILED/shopify#{JOB}",
    "an attribute of one of another status": f"/prod/jobs/by-status/{SHOP}/FAILED/shopify#{JOB}@/status",
    "of another day": f"{BY_INDEX}/on/2026-04-15/{JOB}",
}


@rows("kind", MISSES)
def test_a_miss_prints_nothing(ddbfs, shell, kind):
    ddbfs("cat", MISSES[kind], expect=3)
    result = shell(command(ddbfs, MISSES[kind]))
    assert (result.stdout, result.stderr) == (b"", "")


# Filters on a record that is read by its key, which get-item has no option for: each of an item that
# answers and of one that does not.

THING = {
    "text": {"S": 'b"\u00fc'},
    "n": {"N": "10"},
    "long": {"N": "9007199254740993"},
    "longs": {"NS": ["9007199254740993"]},
    "flag": {"BOOL": True},
    "nil": {"NULL": True},
    "bytes": {"B": b"\x00\x01"},
    "tags": {"SS": ["x", "y"]},
    "sizes": {"NS": ["1", "10"]},
    "list": {"L": [{"S": "x"}, {"N": "3"}, {"M": {"sku": {"S": "a b"}}}]},
    "map": {"M": {"zip.code": {"S": "07"}, "city": {"S": "Rom"}}},
}
FILTERS = [
    ({"text": 'b"\u00fc'}, {"text": "b"}),
    ({"text": "b*"}, {"text": "c*"}),
    ({"text": "a..c"}, {"text": "b..b"}),
    ({"text": {"<": "c"}}, {"text": {"<": "b"}}),
    ({"text": {">=": "b"}}, {"text": {">": "c"}}),
    ({"text": {"contains": '"'}}, {"text": {"contains": "x"}}),
    ({"text": {"!=": "b"}}, {"text": {"!=": 'b"\u00fc'}}),
    ({"n": 10.0}, {"n": 9}),
    ({"n": {">": 9}}, {"n": {"<=": 9}}),
    ({"n": {"between": [9, 10]}}, {"n": {"between": [11, 90]}}),
    ({"n": {"in": [1, 10]}}, {"n": {"in": [1, "10"]}}),
    ({"n": {"!=": "10"}}, {"n": {"!=": 10}}),
    ({"flag": True}, {"flag": False}),
    ({"nil": None}, {"flag": None}),
    ({"nil": {"exists": True}}, {"none": {"exists": True}}),
    ({"none": {"exists": False}}, {"nil": {"exists": False}}),
    ({"none": {"!=": 1}}, {"none": 1}),
    ({"tags": {"contains": "x"}}, {"tags": {"contains": "z"}}),
    ({"sizes": {"contains": 10}}, {"sizes": {"contains": "10"}}),
    ({"list": {"contains": "x"}}, {"list": {"contains": "3"}}),
    ({"list": {"contains": 3}}, {"list": {"contains": True}}),
    ({"list[2].sku": "a b"}, {"list[1].sku": "a b"}),
    ({"map.'zip.code'": "07"}, {"map.zip": "07"}),
    ({"or": [{"n": 1}, {"flag": True}]}, {"or": [{"n": 1}, {"flag": False}]}),
    ({"not": {"n": 1, "flag": True}}, {"not": {"n": 10, "flag": True}}),
    ({"long": 9007199254740993}, {"long": 9007199254740992}),
    ({"long": {">": 9007199254740992}}, {"long": {"<": 9007199254740993}}),
    ({"long": {"in": [1, 9007199254740993]}}, {"long": {"!=": 9007199254740993}}),
    ({"longs": {"contains": 9007199254740993}}, {"longs": {"contains": 9007199254740992}}),
]


def test_filters_of_a_record(ddbfs, shell, table, write_map):
    paths = {
        f"{'yes' if number == 0 else 'no'}-{row}/{{box}}/{{name}}": {"filter": each}
        for row, pair in enumerate(FILTERS)
        for number, each in enumerate(pair)
    }
    table(tables.plain(), [{"pk": {"S": "b"}, "sk": {"S": "n"}, **THING}])
    env = {"DDBFS_MAP": str(write_map(tables.plain_map(paths=paths)))}
    sifts = []
    for path in paths:
        name = f"/any/things/{path.split('/')[0]}/b/n"
        ddbfs("cat", name, env=env, expect=0 if "/yes-" in name else 3)
        get, sift = command(ddbfs, name, env=env).split(" | jq ", 1)
        sifts.append(f"printf %s \"$item\" | jq {sift} | wc -l\n")
    # They differ in what becomes of one and the same answer.
    counts = shell(f"item=$({get})\n" + "".join(sifts)).text.split()
    assert counts == ["1", "0"] * len(FILTERS)
