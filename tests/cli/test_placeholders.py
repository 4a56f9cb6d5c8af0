"""Placeholders: entries that stand for names which nothing lists, and what each command makes of them."""

import json

from harness import tables
from harness.rows import rows

SHOP = "kl7a9h55-shopify-e513a8-4"
BY_INDEX = f"/prod/jobs/by-index/shopify/{SHOP}"
ACCOUNT = "/prod/index-settings/kl7a9h55"

UNLISTED = {
    "/prod/jobs/by-id": "{job_id}",
    "/prod/shops": "{domain}",
    "/prod/jobs/by-status": "{shop_id}",
    "/prod/jobs/by-index/shopify": "{shop_id}",
    f"{BY_INDEX}/on": "{date}",
    f"{BY_INDEX}/between": "{from}..{to}",
    "/prod/index-settings": "{account}",
}


@rows("path", UNLISTED)
def test_a_placeholder_stands_for_what_cannot_be_listed(ddbfs, cost, path):
    """It is an entry like others, and says what to type to who wants to list or read it."""
    name = UNLISTED[path]
    listed = ddbfs("ls", path)
    assert f"{name}/" in listed.text.splitlines() and "README" in listed.text and listed.stderr == ""
    (told,) = [line for line in map(json.loads, ddbfs("ls", "--json", path).text.splitlines()) if "placeholder" in line]
    assert told == {"name": name, "path": f"{path}/{name}", "type": "directory", "placeholder": True}
    commands = ["cat"] if path != "/prod/jobs/by-id" else ["cat", "ls", "explain"]
    for command in commands:
        result = ddbfs(command, f"{path}/{name}", f"{path}/{name}/x", expect=1)
        assert result.stdout == b""
        for line, below in zip(result.stderr.splitlines(), ("", "/x"), strict=True):
            assert line.startswith(f"ddbfs: {path}/{name}{below}: {name}")
            assert "can't be listed" in line and "type one: …/" in line
    assert cost() == []


def test_a_placeholder_stands_among_the_names_of_the_map(ddbfs):
    assert ddbfs("ls", "/prod/shops").text == "README\nby-account/\n{domain}/\n"


def test_a_key_that_reads_as_a_placeholder_has_another_name(ddbfs, things, cost):
    keys = ["{box}", "%7Bbox}", "{box}@info"]
    for key in keys:
        things.put("n", box=key)
    env = things.env
    for key, name in zip(keys, ["%7Bbox}", "%257Bbox}", "{box}%40info"]):
        item = json.loads(ddbfs("cat", f"/any/things/{name}/n", env=env).text)
        assert item["pk"] == key
    cost()
    assert "type one of them before @info" in ddbfs("ls", "/any/things/{box}@info", env=env, expect=1).stderr
    assert cost() == []


def test_records_alone_are_not_all_of_a_directory_with_a_placeholder(ddbfs, example_map, write_map):
    """A count, and columns, are of records: what the directory does not list is said to be missing."""
    example_map["tables"]["index-settings"]["params"]["index_name"].pop("owner")
    env = {"DDBFS_MAP": write_map(example_map)}
    names = ddbfs("ls", ACCOUNT, env=env).text.splitlines()
    assert "{index_name}.d/" in names
    why = "{index_name}.d/ shows those that entries lead to, and there may be others"
    counted = ddbfs("ls", "--count", ACCOUNT, env=env, expect=1)
    assert counted.text == ddbfs("cat", f"{ACCOUNT}@count").text and f"the count is incomplete: {why}" in counted.stderr
    shown = ddbfs("ls", "--columns", "sk", ACCOUNT, env=env, expect=1)
    assert shown.text and f"the listing is incomplete: {why}" in shown.stderr
    for ending in ("@jsonl", "@count", "@csv", "@summary", "@sqlite"):
        file = ddbfs("cat", ACCOUNT + ending, env=env)
        assert file.stdout and f"the items are incomplete: {why}" in file.stderr
    assert why in json.loads(ddbfs("cat", f"{ACCOUNT}@info", env=env).text)["not_listed"]
    assert ddbfs("ls", "--count", "--limit", "1", ACCOUNT, env=env).text == "1\n"


def test_directory_that_cannot_be_listed_gives_the_hint_of_its_parameter(ddbfs):
    result = ddbfs("ls", "/prod/jobs/by-status/{shop_id}", expect=1)
    assert "shop_id is the account and index name" in result.stderr


def test_directories_that_a_part_of_the_names_leads_to(ddbfs, table, write_map):
    """`{user}.d/` is one directory for all entries of that user."""
    paths = {"{box}/": {}, "{box}/{user}.d/": {}}
    text = tables.plain_map(records={"note": {"pk": "{box}", "sk": "{user}#{number}"}}, paths=paths)
    keys = ["ann#1", "ann#2", "bob#1"]
    table(tables.plain(), [{"pk": {"S": "desk"}, "sk": {"S": key}} for key in keys])
    env = {"DDBFS_MAP": write_map(text)}
    assert ddbfs("ls", "/any/things/desk", env=env).text.splitlines() == ["ann#1", "ann.d/", "ann#2", "bob#1", "bob.d/"]
    assert ddbfs("ls", "/any/things/desk/ann.d", env=env).text.splitlines() == ["1", "2"]
    assert ddbfs("ls", "--count", "/any/things/desk", env=env).text == "3\n"
