"""Links: from a record to others, by `NAME@links/LINK`."""

import json
import re

import pytest

from harness.rows import rows


JOB = "/prod/jobs/by-id/1f3c9a52-7b1e-4c57-9d0a-2e6f4b8c1d90"
SETTINGS = "/prod/index-settings/kl7a9h55/shopify-e513a8-4"
SHOP = "/prod/shops/e513a8-4.myshopify.com"

HOSTILE = {
    "dots": "..",
    "dot": ".",
    "slash": "/",
    "way out": "../../../../etc/passwd",
    "absolute": "/etc/passwd",
    "control": "a\x1b[2J\n\x00b",
    "escape": "%2e%2e",
    "percent": "%",
    "companion": "x@links",
    "noise": ".git",
    "backup": "x~",
    "readme": "README",
    "reading order": "a\u202eb",
    "blank": " ",
    "é": "é/ü",
}


@pytest.fixture
def box(things, plain_map, write_map):
    """box(links, **members): records of one table lead to others of it."""

    def make(links, **members):
        table = plain_map["tables"]["things"]
        table["links"] = links
        table.update(members)
        things.env = {"DDBFS_MAP": str(write_map(plain_map))}
        return things

    return make


# The example map.


def test_a_link_opens_as_what_it_leads_to(ddbfs, oracle):
    wanted = oracle.record("prod-EcomIndexSettingsTable", "kl7a9h55", "INDEX#shopify-e513a8-4")
    assert ddbfs("cat", f"{JOB}@links/settings").stdout == wanted


def test_links_are_listed_with_where_they_lead(ddbfs):
    lines = ddbfs("ls", "-l", f"{JOB}@links").text.splitlines()
    settings = "../../../index-settings/kl7a9h55/shopify-e513a8-4"
    assert lines[0].split() == ["lrwxrwxrwx", str(len(settings)), "-", "settings", "->", settings]
    assert [line.split()[3] for line in lines] == ["settings", "shop", "failed"]
    told = [json.loads(line) for line in ddbfs("ls", "--json", f"{JOB}@links/").text.splitlines()]
    assert [(each["type"], each["target"]) for each in told][:2] == [
        ("link", settings),
        ("link", "../../../shops/e513a8-4.myshopify.com"),
    ]
    one = ddbfs("ls", "--json", f"{JOB}@links/settings").text
    assert json.loads(one)["target"] == settings


def test_no_listing_shows_links(ls):
    assert not [name for name in ls("/prod/index-settings/kl7a9h55") if "@links" in name]


def test_from_a_failed_job_to_its_settings_to_its_shop(ddbfs, ls, oracle):
    assert "SETTINGS" in ls(f"{JOB}@links/settings@links/shop")
    wanted = oracle.record("prod-ShopifyEntitiesTable", "SHOP#e513a8-4.myshopify.com", "SETTINGS")
    assert ddbfs("cat", f"{JOB}@links/settings@links/shop/SETTINGS").stdout == wanted
    round_trip = f"{JOB}@links/shop/SETTINGS@links/settings"
    assert ddbfs("cat", round_trip).stdout == ddbfs("cat", SETTINGS).stdout


def test_behind_a_links_name_stand_companions(ddbfs, ls):
    assert (
        json.loads(ddbfs("cat", f"{JOB}@links/settings@info").text)["table"]
        == "prod-EcomIndexSettingsTable"
    )
    assert ddbfs("cat", f"{JOB}@links/settings@/index_name").text == "shopify-e513a8-4\n"
    assert json.loads(ddbfs("cat", f"{JOB}@links/failed@info").text)["records"] > 0
    assert "index_name" in ls(f"{JOB}@links/settings@")
    ddbfs("cat", f"{JOB}@links/settings@nope", expect=3)
    ddbfs("ls", f"{JOB}@links/failed@/", expect=3)


def test_a_link_to_a_directory_lists_it(ls):
    assert ls(f"{JOB}@links/shop") == ls(SHOP)
    assert ls(f"{JOB}@links/failed/") == ls(
        "/prod/jobs/by-status/kl7a9h55-shopify-e513a8-4/FAILED"
    )


@rows(
    "path, asked",
    [
        (f"{SETTINGS}@links/jobs", []),
        ("/prod/index-settings/nobody/nothing@links/jobs", []),
        (f"{SETTINGS}@links", ["GetItem"]),
        (f"{JOB}@links/settings", ["Query GSI_JobLookup_v2", "GetItem"]),
    ],
)
def test_a_link_costs_its_record_and_nothing_where_keys_tell(ddbfs, cost, path, asked):
    cost()
    ddbfs("ls", "-l", path)
    assert cost() == asked


def test_explain_says_where_a_link_leads_and_what_that_costs(ddbfs):
    told = json.loads(ddbfs("explain", "--json", f"{JOB}@links/settings").text)
    assert told["target"] == "/prod/index-settings/{system_account_id}/{index_name}"
    assert told["bound"]["requests"] == 3
    text = ddbfs("explain", f"{SETTINGS}@links/jobs").text
    assert "leads  /prod/jobs/by-status/kl7a9h55-shopify-e513a8-4/\n" in text
    assert "cost   no request" in text


def test_explain_tells_the_links_on_the_way(ddbfs):
    told = ddbfs("explain", f"{JOB}@links/settings@links/shop").text
    assert "of these for its target: 1 request a page of up to 1 MB\n" in told
    assert "of these for the links on the way: 2 requests\n" in told


def test_a_record_of_another_kind_has_no_such_link(ddbfs, ls):
    assert ls("/prod/shops/cool-store.myshopify.com/API_KEY@links") == []
    path = "/prod/index-settings/kl7a9h55/DEFAULT_CONFIGS@links/shop"
    assert "of this kind" in ddbfs("cat", path, expect=3).stderr


def test_a_record_without_the_attribute_has_no_such_link(ddbfs, ls):
    assert ls("/prod/index-settings/kl7a9h55/products@links") == ["jobs"]
    path = "/prod/index-settings/kl7a9h55/products@links/shop"
    assert "its shopify_domain does not exist" in ddbfs("cat", path, expect=3).stderr


def test_a_link_that_the_map_does_not_say(ddbfs):
    told = ddbfs("cat", f"{JOB}@links/setings", expect=3).stderr
    assert 'no link "setings" (did you mean "settings"?)' in told
    assert "settings, shop, failed" in told


def test_below_tables_nothing_leads_anywhere(ddbfs):
    path = "/prod/tables/prod-EcomIndexSettingsTable/items/kl7a9h55/INDEX%23products@links"
    assert 'has no "links"' in ddbfs("ls", path, expect=3).stderr


# Whatever records say.


@rows("value", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_values_are_one_step(ddbfs, box, value):
    things = box({"next": "/{env}/things/box/{next}"})
    from_a = things.put("a", next={"S": value})
    assert from_a["next"]["S"] == value
    things.put(value, note={"S": "here"})
    path = "/any/things/box/a@links/next"
    target = json.loads(ddbfs("ls", "--json", path, env=things.env).text)["target"]
    name = target.removeprefix("../../../things/box/")
    assert len(name) < len(target) and name not in ("", ".", "..")
    assert "/" not in name and name.isprintable()
    assert json.loads(ddbfs("cat", path, env=things.env).text)["note"] == "here"


@rows("value", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_values_are_one_directory(ddbfs, box, value):
    things = box({"all": "/{env}/things/{next}/"})
    things.put("a", next={"S": value})
    told = ddbfs("ls", "--json", "/any/things/box/a@links/all", env=things.env).text
    name = json.loads(told)["target"].removeprefix("../../../things/")
    assert "/" not in name and name not in ("", ".", "..") and name.isprintable()
    things.put("b", box=value)
    listed = ddbfs("ls", "/any/things/box/a@links/all", env=things.env).text
    assert listed == "b\n"


def test_an_empty_value_is_a_step_too(ddbfs, box, server):
    if server.name != "dynoxide":
        pytest.skip("this server refuses empty strings")
    things = box({"next": "/{env}/things/box/{next}"})
    things.put("a", next={"S": ""})
    told = ddbfs("ls", "--json", "/any/things/box/a@links/next", env=things.env).text
    assert json.loads(told)["target"] == "../../../things/box/%"


@rows(
    "typed", [{"L": [{"S": "b"}]}, {"M": {}}, {"BOOL": True}, {"NULL": True}, {"SS": ["b"]}]
)
def test_what_is_no_text_is_no_link(ddbfs, ls, box, typed):
    things = box({"next": "/{env}/things/box/{next}", "self": "/{env}/things/{box}/{name}"})
    things.put("a", next=typed)
    assert ls("/any/things/box/a@links", env=things.env) == ["self"]
    told = ddbfs("cat", "/any/things/box/a@links/next", env=things.env, expect=3).stderr
    assert "its next is neither a text, a number nor binary" in told


def test_a_number_and_bytes_lead_on(ddbfs, box):
    things = box({"next": "/{env}/things/box/{next}"})
    things.put("7", note={"S": "seven"})
    things.put("a", next={"N": "7"})
    assert json.loads(ddbfs("cat", "/any/things/box/a@links/next", env=things.env).text)["note"] == (
        "seven"
    )
    things.put("b", next={"B": b"7"})
    assert json.loads(ddbfs("cat", "/any/things/box/b@links/next", env=things.env).text)["note"] == (
        "seven"
    )


def test_attributes_are_taken_apart(ddbfs, ls, box):
    things = box({"next": {"from": {"ref": "REF#{where}#{what}"}, "to": "/{env}/things/{where}/{what}"}})
    things.put("b", box="other", note={"S": "there"})
    things.put("a", ref={"S": "REF#other#b"})
    things.put("c", ref={"S": "REF#other"})
    assert json.loads(ddbfs("cat", "/any/things/box/a@links/next", env=things.env).text)["note"] == (
        "there"
    )
    told = ddbfs("cat", "/any/things/box/c@links/next", env=things.env, expect=3).stderr
    assert "its ref is not of the form REF#{where}#{what}" in told
    assert ls("/any/things/box/c@links", env=things.env) == []


def test_what_a_link_leads_to_may_not_be_there(ddbfs, box):
    things = box({"next": "/{env}/things/box/{next}"})
    things.put("a", next={"S": "gone"})
    told = ddbfs("cat", "/any/things/box/a@links/next", env=things.env, expect=3).stderr
    assert 'any-Things has no item with pk = "box" and sk = "gone"' in told


def test_links_of_a_record_that_is_not_there(ddbfs, box):
    things = box({"next": "/{env}/things/box/{next}"})
    told = ddbfs("ls", "/any/things/box/gone@links", env=things.env, expect=3).stderr
    assert 'sk = "gone"' in told


def test_a_value_that_the_map_refuses_is_an_error_that_says_why(ddbfs, box):
    paths = {"{box}/": {}, "only/{kind}/": {"where": {"box": "{kind}"}}}
    links = {"kind": "/{env}/things/only/{state}/", "self": "/{env}/things/{box}/{name}"}
    things = box(links, paths=paths, params={"kind": {"match": "^x$", "hint": "x alone"}})
    things.put("a", state={"S": "y"})
    for command in ("cat", "ls"):
        told = ddbfs(command, "/any/things/box/a@links/kind", env=things.env, expect=1).stderr
        assert 'the link "kind" would lead to "y" below any/things/only: {kind} does not match in "y"; x alone' in told
    listed = ddbfs("ls", "/any/things/box/a@links", env=things.env, expect=1)
    assert listed.text == "self\n" and "would lead to" in listed.stderr


def test_a_path_of_too_many_links_ends(ddbfs, box):
    things = box({"self": "/{env}/things/{box}/{name}"})
    item = things.put("a", note={"S": "here"})
    forty = "/any/things/box/a" + "@links/self" * 40
    assert json.loads(ddbfs("cat", forty, env=things.env).text)["note"] == item["note"]["S"]
    told = ddbfs("--json", "cat", forty + "@links/self", env=things.env, expect=1).stderr
    assert json.loads(told)["errno"] == "ELOOP"


def test_another_environment(ddbfs, example_map, write_map, oracle):
    links = example_map["tables"]["index-settings"]["links"]
    links["staging"] = {"record": "index", "to": "/staging/index-settings/{account}/{index_name}"}
    env = {"DDBFS_MAP": str(write_map(example_map))}
    told = ddbfs("ls", "--json", f"{SETTINGS}@links/staging", env=env).text
    assert json.loads(told)["target"] == f"../../../..{SETTINGS}".replace("/prod/", "/staging/")
    wanted = oracle.record("staging-EcomIndexSettingsTable", "kl7a9h55", "INDEX#shopify-e513a8-4")
    assert ddbfs("cat", f"{SETTINGS}@links/staging", env=env).stdout == wanted


def test_a_suffix_is_the_targets(ddbfs, box):
    things = box({"next": "/{env}/things/box/{next}"})
    things.put("a", next={"S": "b"})
    path = "/any/things/box/a.json@links/next"
    told = ddbfs("--suffix", ".json", "ls", "--json", path, env=things.env).text
    assert json.loads(told)["target"] == "../../../things/box/b.json"


def test_a_shortened_name_leads_on(ddbfs, ls, box):
    """Which costs more than was told: the listing is searched, as explain says."""
    things = box({"next": "/{env}/things/box/{next}"})
    things.put("k" * 300, next={"S": "b"}, note={"S": "long"})
    things.put("b", next={"S": "k" * 300})
    name = next(each for each in ls("/any/things/box", env=things.env) if "%~" in each)
    told = ddbfs("ls", "--json", f"/any/things/box/{name}@links/next", env=things.env).text
    assert json.loads(told)["target"] == "../../../things/box/b"
    back = ddbfs.run_plain("cat", "/any/things/box/b@links/next", env=things.env).text
    assert json.loads(back)["note"] == "long"
    told = ddbfs("explain", "/any/things/box/b@links/next", env=things.env).text
    assert "1 more a page of up to 1 MB, only where its name is shortened" in told


# What the map may say.


WRONG = {
    "no such table": ("/{env}/nothing/{box}/", 'the table "nothing", which the map does not have'),
    "no such environment": ("/prod/things/{box}/", 'the environment "prod"'),
    "no such step": ("/{env}/things/{box}/{name}/{x}", 'has no "{x}" there'),
    "file with a slash": ("/{env}/things/{box}/{name}/", "remove the final /"),
    "directory without": ("/{env}/things/{box}", "add a final /"),
    "relative": ("things/{box}/", "its path begins with /{env}/"),
    "environment of a parameter": ("/{stage}/things/{box}/", "its path begins with /{env}/"),
    "env again": ("/{env}/things/{env}/", "{env} is the first step, and no other"),
    "dots": ("/{env}/things/../", ". or .. in its path"),
    "empty": ("/{env}/things//", "an empty segment"),
    "only an environment": ("/{env}/", "its path names a table"),
    "star": ("/{env}/things/{box*}/", "a part has no star here"),
    "adjacent": ("/{env}/things/{box}{name}/", "two parameters need a text between them"),
    "secret": ("/{env}/things/{token}/", "token is a secret"),
    "no path": ({"record": "thing"}, 'link "x" needs "to"'),
    "no kind": ({"record": "thign", "to": "/{env}/things/{box}/"}, '"thign"'),
    "unknown member": ({"too": "/{env}/things/{box}/"}, 'has no member "too"'),
    "misspelt part": (
        {"from": {"ref": "{where}"}, "to": "/{env}/things/{wher}/"},
        "has {where}, but its path does not have it",
    ),
    "part of nothing": (
        {"from": {"ref": "{where}"}, "to": "/{env}/things/{where}/{wher}"},
        'link "x": {wher} is neither in "from" nor in the key (did you mean "where"?)',
    ),
    "part twice": (
        {"from": {"a": "{w}", "b": "{w}"}, "to": "/{env}/things/{w}/"},
        "has {w} twice",
    ),
    "secret source": (
        {"from": {"token": "{w}"}, "to": "/{env}/things/{w}/"},
        "token is a secret",
    ),
    "source without a part": (
        {"from": {"ref": "x"}, "to": "/{env}/things/{box}/"},
        'must split ref into parts: "{…}"',
    ),
    "literal that is refused": ("/{env}/things/only/y/", 'leads to "y", which is not among the values'),
}


@rows("link, wanted", WRONG.values(), ids=WRONG.keys())
def test_a_wrong_link_is_an_error_of_the_map(ddbfs, plain_map, write_map, link, wanted):
    table = plain_map["tables"]["things"]
    table["paths"]["only/{kind}/"] = {"where": {"box": "{kind}"}}
    table.update(links={"x": link}, secret=["token"], params={"kind": {"values": ["x"], "only": True}})
    file = write_map(plain_map)
    told = ddbfs("check", "--offline", file, expect=1).stderr
    lines = file.read_text().splitlines()
    first = next(number for number, text in enumerate(lines, 1) if '"x":' in text)
    assert wanted in told
    assert first <= int(re.search(r"map\.json:(\d+):\d+: ", told)[1]) <= first + 6


@rows("name", ["a/b", ".x", "a@b", "a%b", "x~", "a\nb", "a" * 201])
def test_a_links_name_is_one_of_a_file(ddbfs, plain_map, write_map, name):
    plain_map["tables"]["things"]["links"] = {name: "/{env}/things/{box}/"}
    assert "a link's name" in ddbfs("check", "--offline", write_map(plain_map), expect=1).stderr


def test_all_that_is_wrong_is_told(ddbfs, plain_map, write_map):
    plain_map["tables"]["things"]["links"] = {"x": "/{env}/a/", "y": "/{env}/b/"}
    told = ddbfs("check", "--offline", write_map(plain_map), expect=1).stderr
    assert 'table "a"' in told and 'table "b"' in told
