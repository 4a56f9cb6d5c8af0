"""What explain says: no request, all of the question, and a command that gives the same answer."""

import json
import re

import pytest

from harness import plain, tables
from harness.rows import rows

SHOP = "kl7a9h55-shopify-e513a8-4"
BY_INDEX = f"/prod/jobs/by-index/shopify/{SHOP}"
JOB_ID = "1f3c9a52-7b1e-4c57-9d0a-2e6f4b8c1d90"
JOB = f"2026-04-16T09:41:07.318Z#{JOB_ID}"
DOMAIN = "cool-store.myshopify.com"
ACCOUNT = "/prod/index-settings/kl7a9h55"

RECORDS = {
    "by id": (f"/prod/jobs/by-id/{JOB_ID}", "2 requests"),
    "of latest": (f"{BY_INDEX}/latest/{JOB}", "1 request"),
    "of all": (f"{BY_INDEX}/all/{JOB}", "1 request"),
    "on a date": (f"{BY_INDEX}/on/2026-04-16/{JOB}", "1 request"),
    "of a window": (f"{BY_INDEX}/between/2026-04-16..2026-04-17/{JOB}", "1 request"),
    "of a status": (f"{BY_INDEX}/status/COMPLETED/{JOB}", "1 request"),
    "of a status of all": (f"/prod/jobs/by-status/{SHOP}/COMPLETED/shopify#{JOB}", "1 request"),
    "index": (f"{ACCOUNT}/shopify-e513a8-4", "1 request"),
    "defaults": (f"{ACCOUNT}/DEFAULT_CONFIGS", "1 request"),
    "sub-record": (f"{ACCOUNT}/shopify-e513a8-4.d/PROFILE#SEARCH#default", "1 request"),
    "sub-record of an odd name": (
        f"{ACCOUNT}/shopify-e513a8-4.d/QUERY#a%2Fc filter 50%25",
        "1 request",
    ),
    "non-ASCII": (
        "/prod/index-settings/m2x8q1zt/catalog-v2.d/QUERY#h\u00fclsenfr\u00fcchte",
        "1 request",
    ),
    "by account": ("/prod/index-settings/by-account/kl7a9h55/products", "1 request"),
    "by domain": (
        "/prod/index-settings/by-domain/e513a8-4.myshopify.com/kl7a9h55#shopify-e513a8-4",
        "1 request",
    ),
    "settings": (f"/prod/shops/{DOMAIN}/SETTINGS", "1 request"),
    "shop by account": (f"/prod/shops/by-account/kl7a9h55/{DOMAIN}", "1 request"),
}
LISTINGS = {
    "latest": f"{BY_INDEX}/latest",
    "all": f"{BY_INDEX}/all",
    "on a date": f"{BY_INDEX}/on/2026-04-16",
    "window": f"{BY_INDEX}/between/2026-04-14..2026-04-16",
    "status": f"/prod/jobs/by-index/ecom/{SHOP}/status/FAILED",
    "by status": "/prod/jobs/by-status/kl7a9h55-products/FAILED",
    "indexes": ACCOUNT,
    "sub-records": f"{ACCOUNT}/shopify-e513a8-4.d",
    "account": "/prod/index-settings/by-account/kl7a9h55",
    "domain": "/prod/index-settings/by-domain/e513a8-4.myshopify.com",
    "shop": f"/prod/shops/{DOMAIN}",
    "shops": "/prod/shops/by-account/kl7a9h55",
}
EVERY = [path for path, _ in RECORDS.values()] + list(LISTINGS.values())
EVERY += [f"/prod/shops/{DOMAIN}/access-token", f"{ACCOUNT}/products@/add_docs_config"]


def explained(ddbfs, path, **how):
    return json.loads(ddbfs("explain", "--json", path, **how).stdout)


# The price


def test_the_price_is_the_map_s(ddbfs, env_of_prices):
    told = explained(ddbfs, "/prod/any/1", env=env_of_prices)
    assert told["units"] == {"least": 0.5, "most": 50}
    assert told["dollars"] == {"a_million_units": 2, "least": 0.000001, "most": 0.0001}
    assert "at most 50: about $0.00010 on demand" in ddbfs("explain", "/prod/any/1", env=env_of_prices).text


@pytest.fixture
def env_of_prices(tmp_path):
    file = tmp_path / "priced.json"
    table = {"table": "Any", "records": {"any": {"pk": "{id}"}}, "paths": {"{id}": {}}}
    file.write_text(json.dumps({"environments": {"prod": {}}, "prices": {"prod": 2}, "tables": {"any": table}}))
    return {"DDBFS_MAP": str(file)}


# The words


@rows("path", ["/", "/prod", "/prod/jobs/by-id", *EVERY])
def test_no_request_is_made(ddbfs, cost, path):
    ddbfs("explain", path)
    ddbfs("explain", "--json", path)
    assert cost() == []


def test_no_credentials_are_needed(ddbfs, home):
    home.credentials.write_text("")
    home.config.write_text("")
    assert "GSI_JobLookup_v2" in ddbfs("explain", f"/prod/jobs/by-id/{JOB_ID}").text


def test_parts_of_the_path_are_named(ddbfs):
    says = explained(ddbfs, f"{BY_INDEX}/all/{JOB}")["says"]
    created_at, job_id = JOB.split("#")
    assert says == {
        "platform": "shopify",
        "shop_id": SHOP,
        "created_at": created_at,
        "job_id": job_id,
    }


def test_reads_name_index_and_condition(ddbfs):
    reads = explained(ddbfs, f"/prod/jobs/by-id/{JOB_ID}")["reads"]
    assert len(reads) == 2 and f'job_id = "{JOB_ID}"' in reads[0]
    assert "GSI_JobLookup_v2" in reads[0] and reads[1].startswith("GetItem")


@rows("kind", RECORDS)
def test_cost_of_a_record(ddbfs, kind):
    path, cost = RECORDS[kind]
    assert explained(ddbfs, path)["cost"] == cost


@rows("kind", RECORDS)
def test_cost_that_is_said_is_the_cost(ddbfs, cost, kind):
    path, said = RECORDS[kind]
    ddbfs("cat", path)
    assert len(cost()) == int(said.split()[0])


@rows("kind", LISTINGS)
def test_cost_of_a_listing_is_a_page(ddbfs, kind):
    said = "1 request" if kind == "latest" else "1 request a page"
    assert explained(ddbfs, LISTINGS[kind])["cost"].startswith(said)


@rows("path", EVERY)
def test_words_and_json_say_the_same(ddbfs, path):
    said = explained(ddbfs, path)
    text = ddbfs("explain", path).text
    assert said["path"] == path and text.startswith(f"{path}\n")
    for words in (*said["reads"], said["cost"], said["aws"]):
        assert words in text


def test_directory_of_the_map_costs_nothing(ddbfs):
    said = ddbfs("explain", "/prod/jobs/by-index").text
    assert "no request" in said and "aws" not in said


def test_wrong_path_is_not_explained(ddbfs):
    result = ddbfs("explain", "/prod/nope/x", expect=3)
    assert result.stdout == b"" and result.stderr.startswith("ddbfs: /prod/nope/x: ")


def test_domain_where_an_index_belongs_is_told(ddbfs):
    result = ddbfs("explain", "/prod/jobs/by-status/e513a8-4.myshopify.com/PENDING", expect=1)
    assert "shop_id is the account and index name" in result.stderr


# The command. What it gives is compared with what the path gives in test_explain_commands.py.


def answer(shell, said):
    return json.loads(shell(said["aws"]).stdout)


def bodies(proxy):
    """What was asked, but for what only one side says: the first page's size, what was consumed."""
    seen = [dict(each.body) for each in proxy.requests]
    proxy.clear()
    for body in seen:
        body.pop("Limit", None)
        body.pop("ReturnConsumedCapacity", None)
    return seen


@rows("path", EVERY)
def test_printed_command_sends_the_very_request(ddbfs, shell, proxy, path):
    """Expressions, aliases, values and keys: one writer makes the request and the command."""
    is_listing = path in LISTINGS.values()
    ddbfs("ls" if is_listing else "cat", path)
    asked = bodies(proxy)
    shell(explained(ddbfs, path)["aws"])
    sent = bodies(proxy)
    assert sent[:1] == asked[:1] and (is_listing or sent == asked)


def test_command_in_the_words_is_the_same(ddbfs):
    path = f"/prod/jobs/by-id/{JOB_ID}"
    (line,) = [s for s in ddbfs("explain", path).text.splitlines() if s.startswith("aws ")]
    assert line.removeprefix("aws").strip() == explained(ddbfs, path)["aws"]


def test_printed_command_of_info_gives_the_record(ddbfs, shell):
    path = f"/prod/shops/{DOMAIN}/SETTINGS"
    info = json.loads(ddbfs("cat", f"{path}@info").stdout)
    assert plain.render(answer(shell, info)["Item"]) == ddbfs("cat", path).stdout


def test_one_attribute_costs_what_its_record_does(ddbfs):
    """A projection saves nothing, and neither does a filter."""
    whole, part = f"/prod/shops/{DOMAIN}/SETTINGS", f"/prod/shops/{DOMAIN}/SETTINGS@/active_index"
    assert explained(ddbfs, part)["units"] == explained(ddbfs, whole)["units"]
    assert "for each started 4 KB that is read, whether it is shown or not" in ddbfs("explain", part).text
    assert "whether it is shown or not" not in ddbfs("explain", whole).text


def test_secret_is_in_no_explanation(ddbfs):
    text = ddbfs("explain", f"/prod/shops/{DOMAIN}/access-token").text
    assert "shpat_" not in text


# Keys that a shell would take for its own

ODD = [
    "it's",
    'a "quoted" word',
    "$(touch injected)",
    "`touch injected`",
    "$HOME",
    "a\\b",
    "'; touch injected; '",
    '"; touch injected; "',
    "a b  c",
    "*",
    "h\u00fcls\u00e9 \U0001f600",
    "a\nb",
    "-l",
    "#",
    "!!",
    "\x1b[31m",
]


@rows("key", ODD, ids=range(len(ODD)))
def test_odd_key_reaches_the_service_whole(ddbfs, things, ls, shell, key):
    box = f"box {ODD.index(key)}"
    item = things.put(key, box, value={"S": key})
    (name,) = ls(f"/any/things/{box}", env=things.env)
    said = explained(ddbfs, f"/any/things/{box}/{name}", env=things.env)
    assert answer(shell, said)["Item"] == item
    assert not list(shell.home.folder.glob("**/injected"))


def test_shortened_name_is_looked_for_by_its_beginning(ddbfs, things, ls, shell):
    """No command can ask for a digest: all that begin so are given, rather than any one of them."""
    items = [things.put("y" * size) for size in (900, 901)]
    for name in ls("/any/things/box", env=things.env):
        said = explained(ddbfs, f"/any/things/box/{name}", env=things.env)
        lines = shell(said["aws"]).text.splitlines()
        assert [json.loads(line) for line in lines] == items


@rows("locale", ["C", "C.UTF-8"])
def test_command_is_plain_ascii(ddbfs, things, ls, locale):
    things.put("h\u00fcls\u00e9 \U0001f600")
    (name,) = ls("/any/things/box", env=things.env)
    env = {**things.env, "LC_ALL": locale}
    assert explained(ddbfs, f"/any/things/box/{name}", env=env)["aws"].isascii()


def test_odd_partition_reaches_the_service_whole(ddbfs, things, shell):
    item = things.put("record", box="$(touch injected) 'x'")
    said = explained(ddbfs, "/any/things/$(touch injected) 'x'/record", env=things.env)
    assert answer(shell, said)["Item"] == item
    assert not list(shell.home.folder.glob("**/injected"))


def test_json_of_several_paths_is_one_object_each(ddbfs):
    text = ddbfs("explain", "--json", "/prod/shops/a.example", "/prod/shops/b.example").text
    assert [each["path"] for each in plain.objects(text)] == ["/prod/shops/a.example", "/prod/shops/b.example"]


# Files that the map puts beside a listing

BESIDE = {
    "w/{b}/": {"list": "a"},
    "w/{b}/set.own": {"record": "s"},
    "r/{b}/{from}..{to}/": {"list": "a", "where": {"n": "{from}..{to}"}},
    "q/{b}/": {"list": ["a", "s"]},
    "q/{b}/set.own": {"record": "s"},
    "f/{b}/": {"list": "a", "filter": {"w": "k"}},
    "f/{b}/last.own": {"record": "last"},
    "n/{b}/": {"list": "a"},
    "n/{b}/new.own": {"record": "a", "newest": 1},
    "p/{b}/": {"list": "a"},
    "p/{b}/picked.own": {"record": "a", "pick": {"greatest": "w"}},
    "l/{b}/": {"list": ["a", "last"], "newest": 2},
    "l/{b}/last.own": {"record": "last"},
    "l/{b}/set.own": {"record": "s", "filter": {"w": "k"}},
}


@pytest.fixture
def beside(table, write_map):
    """The environment of a map that names some records of its listings in another way, too."""
    names = ("A#1", "A#2", "A#3", "A#LAST", "SET")
    table(tables.plain(), [{"pk": {"S": "B"}, "sk": {"S": name}, "w": {"S": "k"}} for name in names])
    records = {
        "a": {"pk": "{b}", "sk": "A#{n}"},
        "s": {"pk": "{b}", "sk": "SET"},
        "last": {"pk": "{b}", "sk": "A#LAST"},
    }
    return {"DDBFS_MAP": str(write_map(tables.plain_map(records=records, paths=BESIDE)))}


@rows("path", BESIDE)
def test_a_readme_tells_the_cost_that_explain_tells(ddbfs, beside, path):
    lines = ddbfs("cat", "/any/things/README", env=beside).text.splitlines()
    real = path.replace("{b}", "B").replace("{from}..{to}", "1..2")
    told = explained(ddbfs, f"/any/things/{real}", env=beside)["cost"]
    assert lines[lines.index(f"  {path}") + 1].strip().split("; at most ")[0] == told


LISTS = [path for path in BESIDE if path.endswith("{b}/")]


@rows("path", LISTS)
def test_the_info_of_a_listing_agrees_with_it(ddbfs, ls, proxy, beside, path):
    folder = "/any/things/" + path.replace("{b}/", "B")
    proxy.clear()
    records = [name for name in ls(folder, env=beside) if not name.endswith(".own")]
    asked = list(proxy.ops)
    proxy.clear()
    info = json.loads(ddbfs("cat", f"{folder}@info", env=beside).text)
    assert info["records"] == len(records) > 0
    assert proxy.ops == asked
    assert info["cost"] == explained(ddbfs, f"{folder}/", env=beside)["cost"]


@rows("path", LISTS)
def test_the_command_of_a_listing_gives_its_records(ddbfs, ls, shell, beside, path):
    """Those that have names of their own have commands of their own."""
    folder = "/any/things/" + path.replace("{b}/", "B")
    line = explained(ddbfs, f"{folder}/", env=beside)["aws"]
    given = [json.loads(each)["sk"]["S"] for each in shell(line).text.splitlines()]
    names = [name for name in ls(folder, env=beside) if not name.endswith(".own")]
    assert [name.removeprefix("A#") for name in given] == [name.removeprefix("A#") for name in names]
