"""Values that the map does not know: nothing forbids them, and whoever mistypes one is told."""

import json

import pytest

from harness.rows import rows

SHOP = "kl7a9h55-shopify-e513a8-4"
WRONG = f"/prod/jobs/by-index/shopfy/{SHOP}"
TOLD = (
    '"shopfy" is not one of the values that the map declares for {platform} (did you mean "shopify"?): '
    '"shopify", "ecom"'
)


@pytest.fixture
def open_values(ddbfs, example_map, write_map):
    """ddbfs with a map that knows of some values, and does not say that these are all."""
    for param in example_map["tables"]["jobs"]["params"].values():
        param.pop("only", None)
    env = {"DDBFS_MAP": str(write_map(example_map))}
    return lambda *words, **how: ddbfs(*words, env=env, **how)


def test_where_the_map_knows_some_values_a_directory_of_them_is_not_whole(open_values):
    result = open_values("ls", f"/prod/jobs/by-status/{SHOP}")
    assert result.text == "README\nPENDING/\nIN_PROGRESS/\nCOMPLETED/\nFAILED/\n{status}/\n"
    result = open_values("ls", f"/prod/jobs/by-status/{SHOP}/{{status}}", expect=1)
    assert "{status}/ shows the values in the map" in result.stderr
    readme = open_values("cat", f"/prod/jobs/by-status/{SHOP}/README").text
    assert "{status} lists only the values that the map declares; items may have others." in readme


@rows("option", [(), ("-l",)])
def test_an_empty_listing_says_what_may_be_wrong(ddbfs, option):
    result = ddbfs("ls", *option, f"{WRONG}/all")
    assert result.text == ""
    assert result.stderr.rstrip() == f"ddbfs: warning: {WRONG}/all: no item is listed, and {TOLD}"


def test_for_programs_the_warning_is_json(ddbfs):
    result = ddbfs("ls", "--json", f"{WRONG}/all")
    told = {"path": f"{WRONG}/all", "kind": "warning", "message": f"no item is listed, and {TOLD}"}
    assert json.loads(result.stderr) == told
    counted = ddbfs("cat", "--json", f"{WRONG}/all@count")
    assert json.loads(counted.stderr) == {**told, "path": f"{WRONG}/all@count"}


def test_for_programs_the_lines_of_verbose_are_json(ddbfs):
    told = ddbfs("-v", "ls", "--json", f"{WRONG}/all").stderr.splitlines()
    assert {json.loads(line)["kind"] for line in told} == {"warning", "info"}


def test_a_miss_says_so_too(ddbfs):
    told = ddbfs("cat", f"{WRONG}/all/2026-04-16T09:41:07.318Z#1f3c", expect=3).stderr
    assert "has no item with" in told and TOLD in told


def test_explain_and_list_info_say_it(ddbfs):
    assert f"note   {TOLD}" in ddbfs("explain", f"{WRONG}/all").text
    assert json.loads(ddbfs("explain", "--json", f"{WRONG}/all").text)["note"] == TOLD
    assert TOLD in json.loads(ddbfs("cat", f"{WRONG}/all@info").text)["note"]


def test_the_readme_tells_which_values_are_known(open_values):
    readme = open_values("cat", "/prod/jobs/README").text
    assert "The map declares values of {platform}, which directories list: shopify, ecom." in readme
    assert "Other values can be typed, too." in readme


def test_the_readme_tells_that_there_are_no_others(ddbfs):
    readme = ddbfs("cat", "/prod/jobs/README").text
    assert "The map declares all values of {platform}: shopify, ecom." in readme
    assert "Other values can be typed, too." in readme


def test_a_value_that_records_have_is_as_good_as_a_known_one(ddbfs, example_map, write_map):
    """"values" are for listing: another one may be typed all the same."""
    example_map["tables"]["jobs"]["params"]["platform"] = {"values": ["ecom"], "only": True}
    env = {"DDBFS_MAP": str(write_map(example_map))}
    path = f"/prod/jobs/by-index/shopify/{SHOP}/all"
    result = ddbfs("ls", path, env=env)
    assert result.text == ddbfs("ls", path).text != ""
    assert result.stderr == ""


@rows("path", [f"/prod/jobs/by-index/ecom/{SHOP}/all", WRONG])
def test_nothing_is_said_of_known_values_or_where_nothing_was_asked(ddbfs, path):
    assert ddbfs("ls", path).stderr == ""
