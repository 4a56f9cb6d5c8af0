"""ddbfs map: a first map of tables, from descriptions and from sampled items."""

import json
import re

import pytest

from harness import places, tables, terminal
from harness.rows import rows

JOBS = "prod-EcomIndexerJobsTable"
SETTINGS = "prod-EcomIndexSettingsTable"
SHOPS = "prod-ShopifyEntitiesTable"
ACCOUNT = f"/tables/{SETTINGS}/items/kl7a9h55/"
SHOP = f"/tables/{SHOPS}/items/SHOP#cool-store.myshopify.com/"


def without_comments(text):
    return json.loads(re.sub(r"^\s*//.*$", "", text, flags=re.M))


@pytest.fixture
def draft(ddbfs):
    """draft(words…) -> the printed map as an object."""

    def run(*words, **how):
        return without_comments(ddbfs("map", *words, **how).text)

    return run


def test_a_table_is_drafted_from_its_description_alone(draft, cost):
    made = draft(JOBS)
    assert list(made["environments"]) == ["all"]
    table = made["tables"][JOBS]
    assert table["table"] == JOBS
    assert table["records"] == {"item": {"pk": "{pk*}", "sk": "{sk*}"}}
    assert list(table["indexes"]) == ["GSI_JobLookup_v2", "GSI_JobsByStatus_v2"]
    assert cost() == ["DescribeTable"]


def test_a_sample_shows_how_keys_are_written(draft, cost):
    table = draft("--sample", SHOP)["tables"][SHOPS]
    assert table["records"] == {
        "api_key": {"pk": "SHOP#{shop_domain}", "sk": "API_KEY"},
        "settings": {"pk": "SHOP#{shop_domain}", "sk": "SETTINGS"},
        "user": {"pk": "SHOP#{shop_domain}", "sk": "USER#{user_id}"},
        "other": {"pk": "{pk*}", "sk": "{sk*}"},
    }
    assert table["secret"] == ["api_key", "access_token"]
    assert table["mtime"] == "last_updated"
    # The path needs the table's description, and so does the draft.
    assert cost() == ["DescribeTable", "DescribeTable", "Query"]


def test_no_secret_is_printed(ddbfs):
    said = ddbfs("map", "--sample", SHOP)
    assert "access_token" in said.text
    assert "demo" not in said.text + said.stderr


def test_several_samples_of_one_table(draft, cost):
    shop = "PLATFORM#{}#SHOP#{}"
    paths = [
        f"--sample=/tables/{JOBS}/items/{shop.format('shopify', 'kl7a9h55-shopify-e513a8-4')}/",
        f"--sample=/tables/{JOBS}/items/{shop.format('ecom', 'm2x8q1zt-catalog-v2')}/",
    ]
    table = draft(*paths)["tables"][JOBS]
    assert table["records"]["job"] == {
        "pk": "PLATFORM#{platform}#SHOP#{shop_id}",
        "sk": "JOB#{created_at}#{job_id}",
    }
    by_kind = table["indexes"]["GSI_JobsByStatus_v2"]["sort"]["status_created_at"]
    assert by_kind == {"job": "{status}#{created_at}", "other": "{status_created_at*}"}
    assert table["params"]["platform"] == {"values": ["ecom", "shopify"]}
    assert cost() == ["DescribeTable", "DescribeTable", "Query", "Query"]


def test_what_was_read_is_told(ddbfs):
    said = ddbfs("map", "--sample", ACCOUNT)
    assert re.search(r"^ddbfs: 15 items were read: 1 request, [\d.]+ RCU", said.stderr, re.M)
    assert "// 4 of 15 sampled items." in said.text


def test_a_sampled_record_alone(draft):
    table = draft("--sample", SHOP + "SETTINGS")["tables"][SHOPS]
    assert list(table["records"]) == ["settings", "other"]


def text(**attributes):
    return {name: {"S": value} for name, value in attributes.items()}


@pytest.fixture
def crm_table(boto, table):
    """In the style of OneTable: accounts, whose sort key is a word alone, and users."""
    name = table(tables.table("prod-Crm"))
    for account in ("acme", "globex"):
        key = f"Account#{account}"
        boto.put_item(TableName=name, Item=text(pk=key, sk="Account#", name="A firm"))
        for n in range(1, 4):
            user = text(pk=key, sk=f"User#{account}u{n}", accountId=account, email=f"{n}@x")
            boto.put_item(TableName=name, Item=user)
    return name


@rows("accounts", [["acme"], ["acme", "globex"]])
def test_a_word_of_one_kind_is_one_of_all(ddbfs, crm_table, write_map, accounts):
    paths = [f"--sample=/tables/{crm_table}/items/Account#{each}/" for each in accounts]
    said = ddbfs("map", *paths)
    made = without_comments(said.text)["tables"]["prod-Crm"]
    assert made["records"] == {
        "account": {"pk": "Account#{accountId}", "sk": "Account#"},
        "user": {"pk": "Account#{accountId}", "sk": "User#{User_id}"},
        "other": {"pk": "{pk*}", "sk": "{sk*}"},
    }
    assert "warning" not in said.stderr
    account, user = re.findall(r"// (.*)\n\s*\"(?:account|user)\":", said.text)
    assert "accountId" not in account and "The items have attributes with the values of {accountId}." in user
    content = write_map(said.text)
    ddbfs("check", content, *[f"/all/prod-Crm/items/Account#{each}" for each in accounts])


def test_a_sample_without_records_is_told(ddbfs, crm_table):
    said = ddbfs("map", f"--sample=/tables/{crm_table}/items/nobody/")
    assert "items/nobody/: no item was found for the sample" in said.stderr
    assert without_comments(said.text)["tables"]["prod-Crm"]["records"] == {"item": {"pk": "{pk*}", "sk": "{sk*}"}}


def test_keys_without_words_are_told(ddbfs, boto, crm_table):
    for key in ("profile", "order_11"):
        boto.put_item(TableName=crm_table, Item=text(pk="user_1", sk=key))
    said = ddbfs("map", f"--sample=/tables/{crm_table}/items/user_1/")
    assert "the sampled keys contain no words" in said.stderr
    assert "No words were found in the keys of 2 sampled items" in " ".join(said.text.replace("//", "").split())
    assert without_comments(said.text)["tables"]["prod-Crm"]["records"] == {"item": {"pk": "{pk*}", "sk": "{sk*}"}}


def test_tables_of_several_environments_are_one(draft):
    made = draft(JOBS, SHOPS, "staging-EcomIndexerJobsTable", "staging-ShopifyEntitiesTable")
    assert made["environments"] == {"prod": {"prefix": "prod-"}, "staging": {"prefix": "staging-"}}
    assert list(made["tables"]) == ["EcomIndexerJobsTable", "ShopifyEntitiesTable"]


def test_tables_that_not_all_environments_have_keep_their_names(draft):
    made = draft(JOBS, "staging-ShopifyEntitiesTable")
    assert made["environments"] == {"all": {}}
    assert list(made["tables"]) == [JOBS, "staging-ShopifyEntitiesTable"]


def test_the_draft_passes_check(ddbfs, write_map):
    said = ddbfs("map", JOBS, SETTINGS, "--sample", ACCOUNT, "--sample", SHOP).text
    assert ddbfs("check", write_map(said)).text.endswith(" 3 tables fit the map\n")


def test_profile_and_region_that_were_given_stay(draft):
    made = draft("--profile", "controller", "--region", "us-east-1", JOBS, SHOPS)
    assert made["environments"]["prod"] == {
        "prefix": "prod-", "profile": "controller", "region": "us-east-1",
    }  # fmt: skip


def test_a_table_that_is_not_there(ddbfs):
    said = ddbfs("map", "no-such-table", expect=3)
    assert said.text == "" and "no-such-table" in said.stderr


def test_a_path_that_reads_no_record(ddbfs):
    said = ddbfs("map", "--sample", f"/tables/{SHOPS}/items/", expect=1)
    assert said.text == "" and "has no item to read" in said.stderr


def test_a_path_of_a_map_needs_it_named(ddbfs):
    """DDBFS_MAP is set, and who drafts a map is not to be led by it."""
    path = "/prod/shops/cool-store.myshopify.com/"
    said = ddbfs("map", "--sample", path, expect=1)
    assert "needs a map, which ddbfs map reads only with --map FILE" in said.stderr
    assert ddbfs("map", "--map", places.DEFAULT_MAP, "--sample", path).text


def test_without_tables_it_is_usage(ddbfs):
    said = ddbfs("map", expect=2)
    assert "name tables, paths of items (--sample), or a model (--from)" in said.stderr


@rows("value", ["0", "1001", "x", "", "-1"])
def test_a_sample_is_a_path_or_a_number(ddbfs, value):
    said = ddbfs("map", f"--sample={value}", JOBS, expect=2)
    assert "takes a path, up to 64 times, or a number of items of each table" in said.stderr


def test_a_sample_by_number_would_scan(ddbfs, cost):
    said = ddbfs("map", "--sample", "10", JOBS, expect=2)
    assert "which is a Scan; add --allow-scan" in said.stderr
    assert cost() == []


def test_a_sample_by_number_uses_the_items_of_its_scans(ddbfs, proxy, cost):
    """Nothing is read again, and each segment has its share."""
    proxy.allow_scan = True
    said = ddbfs("map", "--allow-scan", "--sample", "30", JOBS)
    assert "up to 37 items of 1 table: at most 8 requests and 1432 RCU" in said.stderr
    table = without_comments(said.text)["tables"][JOBS]
    assert table["records"]["job"]["sk"] == "JOB#{created_at}#{job_id}"
    scans = [each.body for each in proxy.requests if each.op == "Scan"]
    assert [each["Segment"] for each in scans[:4]] == [0, 1, 2, 3]
    assert [each["Limit"] for each in scans[:4]] == [8, 8, 7, 7] and {each["TotalSegments"] for each in scans} == {4}
    assert all("ProjectionExpression" not in each for each in scans)
    assert set(cost()) == {"DescribeTable", "Scan"}
    read = int(re.search(r"(\d+) items were read", said.stderr)[1])
    assert 30 <= read <= 37 and len(scans) <= 8


def test_no_more_is_read_by_a_sample_than_was_stated(ddbfs, proxy):
    proxy.allow_scan = True
    for count in (1, 2, 3, 5, 9):
        said = ddbfs("map", "--allow-scan", "--sample", str(count), JOBS).stderr
        most, read = (int(n) for n in re.findall(r"(\d+) items? (?:of 1 table|was read|were read)", said))
        assert count <= read <= most, said


def test_one_kind_does_not_hide_the_others(ddbfs, proxy, boto, table):
    """A partition with most of the items is in one segment."""
    proxy.allow_scan = True
    name = table(tables.table("prod-Crm"))
    for n in range(30):
        boto.put_item(TableName=name, Item=text(pk="LOG#1", sk=f"LINE#{n}", n=str(n)))
    for n in range(12):
        boto.put_item(TableName=name, Item=text(pk=f"USER#{n}", sk="PROFILE", name="x"))
    said = ddbfs("map", "--allow-scan", "--sample", "20", name)
    assert set(without_comments(said.text)["tables"][name]["records"]) == {"line", "profile", "other"}


@rows("command", ["map", "check"])
def test_a_batch_that_is_answered_in_part_is_completed(ddbfs, proxy, command):
    proxy.fault("unprocessed", op="BatchGetItem", times=2)
    path = "/prod/jobs/by-status/kl7a9h55-shopify-e513a8-4/COMPLETED"
    words = ["map", "--map", places.DEFAULT_MAP, "--sample", path]
    said = ddbfs(*(words if command == "map" else ["check", places.DEFAULT_MAP, path]), expect=None)
    batches = [each.body["RequestItems"][JOBS]["Keys"] for each in proxy.requests if each.op == "BatchGetItem"]
    assert len(batches) == 3
    assert f"{len(batches[0])} items were read: 4 requests" in said.stderr + said.text


def test_more_than_a_page_is_asked_for(ddbfs, proxy, cost):
    proxy.allow_scan = True
    words = ["map", "--allow-scan", "--sample", "30", JOBS, SHOPS]
    said = ddbfs(*words, expect=1)
    assert said.text == "" and "pass --yes to continue" in said.stderr
    assert "up to 37 items of 2 tables: at most 16 requests and 2864 RCU" in said.stderr
    assert cost() == ["DescribeTable", "DescribeTable"]
    ddbfs(*words, "--yes")
    assert "Scan" in cost()


@rows("answer, code", [("y", 0), ("n", 1), ("", 1)])
def test_a_terminal_is_asked_before_more_than_a_page(home, proxy, cost, answer, code):
    proxy.allow_scan = True
    program = places.program("DDBFS", "build-asan/fs/ddbfs", "build/fs/ddbfs")
    words = ["map", "--allow-scan", "--sample", "30", JOBS, SHOPS]
    with terminal.Terminal([str(program), *words], home.environment()) as t:
        t.wait_for("Go on? [y/N] ")
        assert "Scan" not in cost()
        t.type(f"{answer}\n")
        assert t.end() == code
    assert ("Scan" in cost()) == (code == 0) == t.stdout.startswith("// A first map")


def test_a_scan_that_is_refused_is_told(ddbfs, proxy):
    proxy.allow_scan = True
    proxy.fault("denied", op="Scan", times=None)
    said = ddbfs("map", "--allow-scan", "--sample", "30", JOBS, expect=1)
    assert said.text == "" and "dynamodb:Scan" in said.stderr


def test_readable_paths_follow_from_the_sample(draft):
    table = draft("--sample", SHOP)["tables"][SHOPS]
    assert "items/{pk}/" in table["paths"]
    assert any(path.startswith("shop/{shop_domain}/") for path in table["paths"])
