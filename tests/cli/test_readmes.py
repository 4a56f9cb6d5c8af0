"""A README opens in every directory of the map, names the companions, and is met where it is of use."""

import re

from harness import places
from harness.rows import rows

SHOP = "kl7a9h55-shopify-e513a8-4"
BY_INDEX = f"/prod/jobs/by-index/shopify/{SHOP}"
LISTED = ["/prod/jobs", "/prod/jobs/by-id", "/prod/shops", BY_INDEX + "/on", "/prod/index-settings"]
HIDDEN = ["/", "/prod", BY_INDEX, f"{BY_INDEX}/latest", f"{BY_INDEX}/on/2026-04-16",
          "/prod/shops/cool-store.myshopify.com", "/prod/index-settings/kl7a9h55",
          "/prod/index-settings/kl7a9h55/products.d"]  # fmt: skip


@rows("path", LISTED + HIDDEN)
def test_it_opens_everywhere_and_asks_nobody(ddbfs, proxy, path):
    text = ddbfs.run_plain("cat", f"{path.rstrip('/')}/README").text
    assert text.endswith("\n") and not proxy.requests


@rows("path", HIDDEN)
def test_who_walks_over_records_does_not_meet_it(ddbfs, path):
    names = ddbfs.run_plain("ls", path, expect=None).text.split("\n")
    assert len(names) > 1 and "README" not in names


@rows("path", [path for path in LISTED + HIDDEN if path.count("/") > 1])
def test_it_names_the_companions(ddbfs, path):
    """Those that names.md and the man page have; of what is below, listings and records."""
    told = set(re.findall(r"^  @(\w*)", ddbfs.run_plain("cat", f"{path}/README").text, re.M))
    of_record = {"", "links", "info", "typed", "history", "similar"}
    endings = set(re.findall(r'"@([a-z]*)"', (places.REPO / "core/map/companion.c").read_text()))
    assert of_record < endings
    assert told == (of_record if path == "/prod/jobs/by-id" else endings)


def test_above_the_tables_it_says_what_is_below(ddbfs):
    assert re.findall(r"^  (\S+)/$", ddbfs.run_plain("cat", "/README").text, re.M) == [
        "prod", "staging", "dev-{branch}", "tables"]  # fmt: skip
    below = ddbfs.run_plain("cat", "/staging/README").text
    assert "staging-EcomIndexerJobsTable" in below and "tables/" in below
    bare = ddbfs.run_plain("cat", "/README", env={"DDBFS_MAP": None}).text
    assert re.findall(r"^  (\S+)/$", bare, re.M) == ["tables"]


def test_a_record_called_so_is_another_name(ddbfs, things, ls):
    things.put("README", s={"S": "a record"})
    assert ls("/any/things/box", env=things.env) == ["%52EADME"]
    assert "a record" in ddbfs("cat", "/any/things/box/%52EADME", env=things.env).text
    readme = ddbfs("cat", "/any/things/box/README", env=things.env).text
    assert "a record" not in readme and "@count" in readme


def test_a_table_or_environment_called_so_comes_first(ddbfs, plain_map, write_map, table, plain_table):
    plain_map["tables"]["README"] = plain_map["tables"].pop("things")
    plain_map["environments"]["README"] = plain_map["environments"].pop("any")
    table(plain_table)
    env = {"DDBFS_MAP": write_map(plain_map)}
    assert ddbfs.run_plain("ls", "/", env=env).text == "README/\ntables/\n"
    assert "README" in ddbfs.run_plain("ls", "/README/README", env=env).text


def test_explain_says_that_it_costs_nothing(ddbfs):
    for path in ("/README", "/prod/README", f"{BY_INDEX}/latest/README"):
        assert "no request" in ddbfs.run_plain("explain", path).text
