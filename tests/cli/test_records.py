"""Records through `ddbfs cat`, byte for byte as boto3 reads them."""

import json

import pytest

from harness import plain
from harness.rows import rows

pytestmark = pytest.mark.wire

DOMAIN = "cool-store.myshopify.com"
SHOP = f"/prod/shops/{DOMAIN}"
SHOPS = "prod-ShopifyEntitiesTable"
SECRETS = ("access_token", "api_key")
TOKEN = "shpat_demo_cool_two_latest"
SETTINGS_OF = "/prod/index-settings/kl7a9h55/shopify-e513a8-4"


def nested(levels, kind):
    value = {"N": "1"}
    for _ in range(levels):
        value = {"L": [value]} if kind == "L" else {"M": {"a": value}}
    return value


NUMBERS = ["9" * 38, "-" + "9" * 38, "1E+125", "-1e125", "1E-130", "-0", "0", "9007199254740993"]
NUMBERS += ["0.1", "3.1415926535897932384626433832795028841", "1e2", "100", "1.50"]
TEXTS = {
    "nul": "a\0b",
    "controls": "".join(map(chr, range(1, 0x20))) + "\x7f\x80\x9f",
    "astral": "\U0001f600\U0010ffff",
    "quotes": "\" ' \\ / </script> ` $HOME",
    "separators": "\u2028\u2029\ufeff\uffff",
    "json": '{"a": [1, null]}',
}
VALUES = {
    "binary": {"B": bytes(range(256))},
    "binary of one byte": {"B": b"\xff"},
    "text set": {"SS": ["b", "a", "\uffff", "\U00010000", "B", "10", "9"]},
    "number set": {"NS": ["10", "9", "-1", "1e20", "0.5", "100000000000000000001"]},
    "binary set": {"BS": [b"\xff", b"\x00", b"a", b"ab"]},
    "true": {"BOOL": True},
    "false": {"BOOL": False},
    "null": {"NULL": True},
    "empty list": {"L": []},
    "empty map": {"M": {}},
    "list": {"L": [{"S": "a"}, {"N": "1"}, {"L": [{"NULL": True}]}, {"M": {}}]},
    "map": {"M": {"b": {"N": "1"}, "a": {"N": "2"}, "\0": {"N": "3"}, "B": {"N": "4"}}},
    "31 lists": nested(30, "L"),
    "31 maps": nested(30, "M"),
}


def read(ddbfs, things, name, *options):
    return ddbfs(*options, "cat", f"/any/things/box/{name}", env=things.env).stdout


# Whole records


@rows("number", NUMBERS)
def test_number_keeps_every_digit(ddbfs, things, number):
    item = things.put("n", value={"N": number})
    got = read(ddbfs, things, "n")
    assert got == plain.render(item)
    assert f'"value": {item["value"]["N"]}'.encode() in got


@rows("kind", TEXTS)
def test_text_is_exact(ddbfs, things, kind):
    item = things.put("t", value={"S": TEXTS[kind]})
    got = read(ddbfs, things, "t")
    assert got == plain.render(item)
    assert json.loads(got)["value"] == TEXTS[kind]


@rows("kind", VALUES)
def test_value_is_exact(ddbfs, things, kind):
    item = things.put("v", value=VALUES[kind])
    assert read(ddbfs, things, "v") == plain.render(item)


def test_empty_texts_are_kept(ddbfs, things, server):
    if server.name != "dynoxide":
        pytest.skip("this server refuses empty strings")
    item = things.put("e", value={"S": ""}, list={"L": [{"S": ""}]})
    assert read(ddbfs, things, "e") == plain.render(item)


def test_attribute_names_are_exact(ddbfs, things):
    names = ["a b", "a.b", "a/b", "A", "%", "\u00e9", "\U0001f600", 'a"b', "a\0b", "a\n", "#n0"]
    item = things.put("a", **{name: {"S": name} for name in names})
    assert read(ddbfs, things, "a") == plain.render(item)


def test_keys_come_first_then_names_in_order(ddbfs, things):
    things.put("k", zz={"N": "1"}, a={"N": "2"}, pl={"N": "3"})
    assert list(json.loads(read(ddbfs, things, "k"))) == ["pk", "sk", "a", "pl", "zz"]


@rows("shape", ["one text", "many small attributes", "many numbers"])
def test_record_of_almost_400_kilobytes(ddbfs, things, shape):
    attributes = {
        "one text": {"v": {"S": "x\U0001f600\n" * 66_000}},
        "many small attributes": {f"attribute{n}": {"N": str(n)} for n in range(20_000)},
        "many numbers": {"v": {"L": [{"N": str(n)} for n in range(60_000)]}},
    }[shape]
    item = things.put("big", **attributes)
    got = read(ddbfs, things, "big")
    assert len(got) > 200_000 and got == plain.render(item)


def test_every_sample_record_is_exact(ddbfs, boto, ls):
    folder = "/prod/index-settings/by-account/m2x8q1zt"
    rows = boto.query(
        TableName="prod-EcomIndexSettingsTable",
        KeyConditionExpression="pk = :p",
        ExpressionAttributeValues={":p": {"S": "m2x8q1zt"}},
    )["Items"]
    got = ddbfs("cat", *(f"{folder}/{name}" for name in ls(folder))).stdout
    assert rows and got == b"".join(map(plain.render, rows))


# How a record is written


def test_compact_is_one_line(ddbfs, oracle):
    got = ddbfs("--format", "compact", "cat", f"{SHOP}/SETTINGS").stdout
    assert got == oracle.record(SHOPS, f"SHOP#{DOMAIN}", "SETTINGS", compact=True)
    assert got.count(b"\n") == 1


@rows("kind", VALUES)
def test_compact_value_is_exact(ddbfs, things, kind):
    item = things.put("v", value=VALUES[kind])
    assert read(ddbfs, things, "v", "--format", "compact") == plain.render(item, compact=True)


def test_suffix_ends_every_listed_record(ls):
    names = ls(SHOP, "--suffix", ".json")
    assert {"SETTINGS.json", "API_KEY.json", "USER#71203948812.json"} <= set(names)


def test_record_is_found_with_its_suffix(ddbfs, oracle):
    got = ddbfs("--suffix", ".json", "cat", f"{SHOP}/SETTINGS.json").stdout
    assert got == oracle.record(SHOPS, f"SHOP#{DOMAIN}", "SETTINGS")


@rows("name", ["SETTINGS", "SETTINGS.jso", "SETTINGS.JSON", ".json"])
def test_record_without_its_suffix_is_a_miss(ddbfs, cost, name):
    result = ddbfs("--suffix", ".json", "cat", f"{SHOP}/{name}", expect=3)
    assert result.stdout == b"" and ".json" in result.stderr
    assert cost() == []


def test_suffix_is_part_of_the_key_without_the_option(ddbfs, cost):
    ddbfs("cat", f"{SHOP}/SETTINGS.json", expect=3)
    assert cost() == ["GetItem"]


def test_companion_follows_the_suffix(ddbfs):
    got = ddbfs("--suffix", ".json", "cat", f"{SHOP}/SETTINGS.json@/plan").stdout
    assert got == b"growth\n"


def test_job_by_id_with_a_suffix(ddbfs):
    path = "/prod/jobs/by-id/1f3c9a52-7b1e-4c57-9d0a-2e6f4b8c1d90.json"
    assert ddbfs("--suffix", ".json", "cat", path).stdout == ddbfs("cat", path[:-5]).stdout


# Secrets


@rows(
    "name, secret", [("USER#71203950077", "access_token"), ("API_KEY", "api_key")]
)
def test_secret_is_masked_in_its_record(ddbfs, oracle, name, secret):
    got = ddbfs("cat", f"{SHOP}/{name}").stdout
    assert got == oracle.record(SHOPS, f"SHOP#{DOMAIN}", name, SECRETS)
    value = oracle.item(SHOPS, f"SHOP#{DOMAIN}", name)[secret]["S"]
    assert value.encode() not in got and json.loads(got)[secret] == plain.MASK


@rows("companion", ["", "@typed", "@info", "@/access_token"])
def test_secret_is_in_no_companion(ddbfs, companion):
    result = ddbfs("-v", "cat", f"{SHOP}/USER#71203950077{companion}")
    assert result.stdout and TOKEN not in result.text + result.stderr


@rows("companion", ["", "@typed", "@/access_token"])
def test_show_secrets_shows_them(ddbfs, companion):
    assert TOKEN in ddbfs("--show-secrets", "cat", f"{SHOP}/USER#71203950077{companion}").text


def test_file_made_for_the_secret_gives_it(ddbfs):
    assert ddbfs("cat", f"{SHOP}/access-token").text == f"{TOKEN}\n"


def test_file_of_the_secret_is_for_its_owner(ddbfs):
    assert ddbfs("ls", "-l", f"{SHOP}/access-token").text.startswith("-r-------- ")


def test_file_of_the_secret_is_for_its_owner_in_the_listing(ddbfs):
    lines = ddbfs("ls", "-l", SHOP).text.splitlines()
    assert [line[:10] for line in lines if line.endswith("access-token")] == ["-r--------"]


def test_sizes_in_a_listing_are_of_what_is_shown(ddbfs, oracle):
    lines = ddbfs("ls", "-l", SHOP).text.splitlines()
    size = next(int(line.split()[1]) for line in lines if line.endswith("API_KEY"))
    assert size == len(oracle.record(SHOPS, f"SHOP#{DOMAIN}", "API_KEY", SECRETS))


# Companions


def test_typed_is_what_the_service_says(ddbfs, oracle):
    got = json.loads(ddbfs("cat", f"{SHOP}/SETTINGS@typed").stdout)
    assert got == oracle.item(SHOPS, f"SHOP#{DOMAIN}", "SETTINGS")


@rows("kind", ["binary", "number set", "map", "31 maps"])
def test_typed_of_each_kind(ddbfs, things, kind):
    item = things.put("v", value=VALUES[kind])
    typed = read(ddbfs, things, "v@typed")
    decoded = {name: value for name, value in json.loads(typed).items()}
    assert plain.render(decoded) == plain.render(item)


def test_info_says_where_the_record_is_from(ddbfs, proxy):
    info = json.loads(ddbfs("cat", f"{SHOP}/SETTINGS@info").stdout)
    assert info["table"] == SHOPS
    assert info["key"] == {"pk": {"S": f"SHOP#{DOMAIN}"}, "sk": {"S": "SETTINGS"}}
    assert info["request_id"] == proxy.requests[-1].request_id
    assert info["aws"].startswith("aws dynamodb get-item ")


def test_info_names_the_index(ddbfs):
    path = "/prod/jobs/by-id/1f3c9a52-7b1e-4c57-9d0a-2e6f4b8c1d90@info"
    assert json.loads(ddbfs("cat", path).stdout)["index"] == "GSI_JobLookup_v2"


def test_version_changes_with_the_record(ddbfs, things):
    versions = set()
    for value in ("1", "2", "1"):
        things.put("v", value={"N": value})
        versions.add(json.loads(read(ddbfs, things, "v@info"))["version"])
    assert len(versions) == 2


def test_attributes_are_listed(ls, oracle):
    item = oracle.item(SHOPS, f"SHOP#{DOMAIN}", "SETTINGS")
    assert sorted(ls(f"{SHOP}/SETTINGS@/")) == sorted(item)


def test_each_listed_attribute_opens(ddbfs, ls, oracle):
    item = oracle.item("prod-EcomIndexSettingsTable", "kl7a9h55", "INDEX#shopify-e513a8-4")
    for name in ls(f"{SETTINGS_OF}@/"):
        got = ddbfs("cat", f"{SETTINGS_OF}@/{name}").stdout
        assert got == plain.bare(item[name])


def test_missing_attribute_says_so(ddbfs):
    result = ddbfs("cat", f"{SHOP}/SETTINGS@/nope", expect=3)
    assert result.stdout == b"" and 'no attribute "nope"' in result.stderr


def test_attribute_of_a_missing_record_says_so(ddbfs):
    result = ddbfs("cat", f"{SHOP}/nope@/plan", expect=3)
    assert result.stdout == b"" and "has no item" in result.stderr


def test_attribute_of_an_attribute_is_no_path(ddbfs):
    result = ddbfs("cat", f"{SETTINGS_OF}@/add_docs_config/batch_size", expect=1)
    assert result.stdout == b"" and "nothing is below it" in result.stderr


NAMES = [
    "a/b",
    "%",
    "a%2Fb",
    ".hidden",
    "..",
    "a\nb",
    "\0",
    "\u00e9",
    "a b",
    "x@typed",
    "@",
    "plan",
]


@rows("attribute", NAMES)
def test_attribute_whose_name_needs_escapes(ddbfs, things, ls, attribute):
    things.put("r", **{attribute: {"S": "its value"}})
    listed = ls("/any/things/box/r@/", env=things.env)
    name = next(name for name in listed if name not in ("pk", "sk"))
    assert "/" not in name and name.isprintable() and not name.startswith(".")
    assert read(ddbfs, things, f"r@/{name}") == b"its value\n"


def test_texts_and_numbers_are_bare(ddbfs, things):
    things.put("r", text={"S": 'a "b"\nc'}, number={"N": "9" * 38})
    assert read(ddbfs, things, "r@/text") == b'a "b"\nc\n'
    assert read(ddbfs, things, "r@/number") == b"9" * 38 + b"\n"


@rows("kind", VALUES)
def test_other_attributes_are_as_in_the_record(ddbfs, things, kind):
    item = things.put("r", value=VALUES[kind])
    assert read(ddbfs, things, "r@/value") == plain.bare(item["value"])
