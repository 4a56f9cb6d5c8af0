"""What a map that `ddbfs map --sample` drafts of the sample data's three tables answers, of the questions of the first
user: each answer is boto3's. docs/guides/your-own-table.md lists them, and those that need an edit."""

import pytest

from harness import places, plain
from harness.rows import rows

GUIDE = (places.REPO / "docs/guides/your-own-table.md").read_text("utf-8")

JOBS = "prod-EcomIndexerJobsTable"
SETTINGS = "prod-EcomIndexSettingsTable"
SHOPS = "prod-ShopifyEntitiesTable"
SHOP = "kl7a9h55-shopify-e513a8-4"
PARTITION = f"PLATFORM#shopify#SHOP#{SHOP}"
JOB_ID = "1f3c9a52-7b1e-4c57-9d0a-2e6f4b8c1d90"
DOMAIN = "cool-store.myshopify.com"
ACCOUNT = "kl7a9h55"
SAMPLES = [
    f"/tables/{JOBS}/items/{PARTITION}/",
    f"/tables/{JOBS}/items/PLATFORM#ecom#SHOP#m2x8q1zt-catalog-v2/",
    f"/tables/{SETTINGS}/items/{ACCOUNT}/",
    f"/tables/{SHOPS}/items/SHOP#{DOMAIN}/",
    f"/tables/{SHOPS}/items/SHOP#e513a8-4.myshopify.com/",
]
VALUES = {
    "{job_id}": JOB_ID, "{shop_id}": SHOP, "{shop_domain}": DOMAIN, "{account}": ACCOUNT,
    "{index_name}": "shopify-e513a8-4", "{domain}": "e513a8-4.myshopify.com",
}  # fmt: skip


@pytest.fixture
def drafted(ddbfs, write_map, cost):
    """The environment of a ddbfs with the map that is drafted from samples of known keys."""
    words = [word for path in SAMPLES for word in ("--sample", path)]
    made = write_map(ddbfs("map", *words, env={"DDBFS_MAP": ""}).text)
    cost()
    return {"DDBFS_MAP": str(made)}


@pytest.fixture
def records(ddbfs, drafted):
    """records(path) -> the bytes of each record that is listed there, as the guide writes the path."""

    def read(path):
        assert f"`{path}`" in GUIDE
        for part, value in VALUES.items():
            path = path.replace(part, value)
        folder = f"/prod/{path}"
        names = ddbfs("ls", folder, env=drafted).text.split("\n")[:-1]
        return [ddbfs("cat", f"{folder}{name}", env=drafted).stdout for name in names]

    return read


def rendered(items, *secrets):
    return [plain.render(plain.masked(item, secrets)) for item in items]


def whole(oracle, table, rows):
    return [oracle.item(table, row["pk"]["S"], row["sk"]["S"]) for row in rows]


def test_a_job_by_its_id(records, oracle):
    rows = oracle.query(JOBS, "job_id = :j", IndexName="GSI_JobLookup_v2", j=JOB_ID)
    got = records("EcomIndexerJobsTable/by/GSI_JobLookup_v2/{job_id}/")
    assert got == rendered(whole(oracle, JOBS, rows)) != []


def test_pending_jobs_of_a_shop(records, oracle):
    rows = oracle.query(
        JOBS, "shop_id = :s AND begins_with(status_created_at, :p)",
        IndexName="GSI_JobsByStatus_v2", s=SHOP, p="PENDING#",
    )  # fmt: skip
    got = records("EcomIndexerJobsTable/by-shop-id/{shop_id}/job/PENDING*/")
    assert got == rendered(whole(oracle, JOBS, rows)) != []


def test_the_latest_jobs_of_an_index(records, oracle):
    rows = oracle.query(JOBS, "pk = :p", ScanIndexForward=False, p=PARTITION)
    got = records("EcomIndexerJobsTable/platform-shop/shopify/{shop_id}/job/newest:20/")
    assert got == rendered(rows[:20])


@rows("window", ["2026-04-16*", "2026-04-14..2026-04-16"])
def test_jobs_in_a_time_window(records, oracle, window):
    first, last = window[:10], window[-10:] if ".." in window else window[:10]
    rows = [
        row
        for row in oracle.query(JOBS, "pk = :p", p=PARTITION)
        if first <= row["created_at"]["S"][:10] <= last
    ]
    got = records(f"EcomIndexerJobsTable/platform-shop/shopify/{{shop_id}}/job/{window}/")
    assert got == rendered(rows) != []


def test_the_configuration_of_an_index(ddbfs, drafted, oracle):
    assert "`EcomIndexSettingsTable/pk/{account}/index/{index_name}`" in GUIDE
    path = f"/prod/EcomIndexSettingsTable/pk/{ACCOUNT}/index/shopify-e513a8-4"
    item = oracle.item(SETTINGS, ACCOUNT, "INDEX#shopify-e513a8-4")
    assert ddbfs("cat", path, env=drafted).stdout == plain.render(item)
    got = ddbfs("cat", f"{path}@/add_docs_config", env=drafted).stdout
    assert got == plain.bare(item["add_docs_config"])


def test_the_defaults_of_an_account(ddbfs, drafted, oracle):
    assert "`EcomIndexSettingsTable/pk/{account}/INDEX#DEFAULT_CONFIGS`" in GUIDE
    path = f"/prod/EcomIndexSettingsTable/pk/{ACCOUNT}/INDEX#DEFAULT_CONFIGS"
    got = ddbfs("cat", path, env=drafted).stdout
    assert got == oracle.record(SETTINGS, ACCOUNT, "INDEX#DEFAULT_CONFIGS")


def test_every_record_of_an_account(records, oracle):
    rows = oracle.query(SETTINGS, "pk = :a AND begins_with(sk, :i)", a=ACCOUNT, i="INDEX#")
    assert records("EcomIndexSettingsTable/pk/{account}/") == rendered(rows) != []


def test_the_indexes_of_an_account(records, oracle):
    rows = oracle.query(SETTINGS, "pk = :a", IndexName="GSI_IndexRootsByName", a=ACCOUNT)
    got = records("EcomIndexSettingsTable/by/GSI_IndexRootsByName/{account}/")
    assert got == rendered(rows) != []


def test_settings_of_a_domain(records, oracle):
    rows = oracle.query(
        SETTINGS, "shopify_domain = :d", IndexName="GSI_ShopifyDomain", d="e513a8-4.myshopify.com"
    )
    assert records("EcomIndexSettingsTable/by-shopify-domain/{domain}/") == rendered(rows) != []


def test_settings_of_a_shop(ddbfs, drafted, oracle):
    assert "`ShopifyEntitiesTable/shop/{shop_domain}/SETTINGS`" in GUIDE
    path = f"/prod/ShopifyEntitiesTable/shop/{DOMAIN}/SETTINGS"
    item = oracle.item(SHOPS, f"SHOP#{DOMAIN}", "SETTINGS")
    assert ddbfs("cat", path, env=drafted).stdout == plain.render(item)
    got = ddbfs("cat", f"{path}@/active_index", env=drafted).stdout
    assert got == plain.bare(item["active_index"])


def test_the_shops_of_an_account(records, oracle):
    rows = oracle.query(
        SHOPS, "system_account_id = :a", IndexName="GSI_SystemAccountId", a=ACCOUNT
    )
    got = records("ShopifyEntitiesTable/by-system-account-id/{account}/")
    assert got == rendered(rows, "access_token", "api_key") != []


def test_sessions_are_listed_with_their_tokens_masked(records, oracle):
    rows = oracle.query(SHOPS, "pk = :p AND begins_with(sk, :u)", p=f"SHOP#{DOMAIN}", u="USER#")
    got = records("ShopifyEntitiesTable/shop/{shop_domain}/user/")
    assert got == rendered(rows, "access_token", "api_key") != []


def test_the_token_of_the_latest_session_needs_a_path(ddbfs, drafted, write_map, oracle):
    """What no key tells: the guide's line, added to the draft."""
    added = [line for line in GUIDE.splitlines() if line.startswith('"shop/{shop_domain}/access-token"')]
    assert len(added) == 1
    text = open(drafted["DDBFS_MAP"], encoding="utf-8").read()
    path = f"/prod/ShopifyEntitiesTable/shop/{DOMAIN}/access-token"
    ddbfs("cat", path, env=drafted, expect=3)
    mark = '        "shop/{shop_domain}/": '
    made = write_map(text.replace(mark, f"{added[0]}\n{mark}"))
    got = ddbfs("cat", path, env={"DDBFS_MAP": str(made)}).stdout
    rows = oracle.query(SHOPS, "pk = :p AND begins_with(sk, :u)", p=f"SHOP#{DOMAIN}", u="USER#")
    sessions = [row for row in rows if row["entity_type"]["S"] == "SESSION"]
    latest = max(sessions, key=lambda row: row["last_updated"]["S"])
    assert got == plain.bare(latest["access_token"])
