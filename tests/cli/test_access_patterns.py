"""Every question of the cheat sheet: the answer is boto3's, and the cost is what it has to be."""

import pytest

from harness import plain
from harness.rows import rows

pytestmark = pytest.mark.wire

JOBS = "prod-EcomIndexerJobsTable"
SETTINGS = "prod-EcomIndexSettingsTable"
SHOPS = "prod-ShopifyEntitiesTable"
SECRETS = ("access_token", "api_key")

JOB_ID = "1f3c9a52-7b1e-4c57-9d0a-2e6f4b8c1d90"
SHOP = "kl7a9h55-shopify-e513a8-4"
PARTITION = f"PLATFORM#shopify#SHOP#{SHOP}"
ACCOUNT = "kl7a9h55"
INDEX = "shopify-e513a8-4"
DOMAIN = "cool-store.myshopify.com"
BY_INDEX = f"/prod/jobs/by-index/shopify/{SHOP}"


def base_names(items):
    """How jobs are called where the path has said the partition."""
    return [item["sk"]["S"].removeprefix("JOB#") for item in items]


def jobs(oracle, condition, newest_first=False, partition=PARTITION, **values):
    whole = f"pk = :pk AND {condition}"
    return oracle.query(JOBS, whole, pk=partition, ScanIndexForward=not newest_first, **values)


def jobs_by_status(oracle, status, platform=None, shop=SHOP):
    """The index's rows, newest first, then the whole rows of the table."""
    rows = oracle.query(
        JOBS,
        "shop_id = :shop AND begins_with(status_created_at, :status)",
        IndexName="GSI_JobsByStatus_v2",
        ScanIndexForward=False,
        shop=shop,
        status=f"{status}#",
    )
    whole = [oracle.item(JOBS, row["pk"]["S"], row["sk"]["S"]) for row in rows]
    return [job for job in whole if platform in (None, job["platform"]["S"])]


def platform_names(items):
    return [f"{item['platform']['S']}#{name}" for item, name in zip(items, base_names(items))]


# Jobs: I have a job id


def test_job_by_id(ddbfs, oracle, cost):
    got = ddbfs("cat", f"/prod/jobs/by-id/{JOB_ID}").stdout
    row = oracle.query(JOBS, "job_id = :id", IndexName="GSI_JobLookup_v2", id=JOB_ID)[0]
    assert got == oracle.record(JOBS, row["pk"]["S"], row["sk"]["S"])
    assert cost() == ["Query GSI_JobLookup_v2", "GetItem"]


def test_job_by_id_that_is_missing_costs_the_query(ddbfs, cost):
    ddbfs("cat", "/prod/jobs/by-id/none", expect=3)
    assert cost() == ["Query GSI_JobLookup_v2"]


# Jobs: a shop's active or pending jobs


@rows("status", ["PENDING", "IN_PROGRESS", "COMPLETED", "FAILED"])
def test_jobs_by_status_are_newest_first_on_all_platforms(ls, oracle, cost, status):
    expected = platform_names(jobs_by_status(oracle, status))
    assert ls(f"/prod/jobs/by-status/{SHOP}/{status}") == expected != []
    assert cost() == ["Query GSI_JobsByStatus_v2"]


@rows("platform", ["shopify", "ecom"])
def test_jobs_by_status_of_one_platform(ls, oracle, cost, platform):
    expected = base_names(jobs_by_status(oracle, "IN_PROGRESS", platform))
    assert ls(f"/prod/jobs/by-index/{platform}/{SHOP}/status/IN_PROGRESS") == expected != []
    assert cost() == ["Query GSI_JobsByStatus_v2"]


def test_long_listing_by_status_reads_the_records_in_one_batch(ddbfs, oracle, cost):
    lines = ddbfs("ls", "-l", f"/prod/jobs/by-status/{SHOP}/PENDING").text.splitlines()
    sizes = [len(plain.render(job)) for job in jobs_by_status(oracle, "PENDING")]
    assert [int(line.split()[1]) for line in lines] == sizes != []
    assert cost() == ["Query GSI_JobsByStatus_v2", "BatchGetItem"]


def test_job_in_a_status_listing_is_one_get(ddbfs, oracle, cost):
    job = jobs_by_status(oracle, "PENDING")[0]
    name = platform_names([job])[0]
    assert ddbfs("cat", f"/prod/jobs/by-status/{SHOP}/PENDING/{name}").stdout == plain.render(job)
    assert cost() == ["GetItem"]


# Jobs: the latest N of an index


def test_latest_jobs_are_newest_first(ls, oracle, cost):
    expected = base_names(jobs(oracle, "begins_with(sk, :job)", newest_first=True, job="JOB#"))
    assert ls(f"{BY_INDEX}/latest") == expected[:100] != []
    assert cost() == ["Query"]


def test_all_jobs_are_oldest_first(ls, oracle, cost):
    expected = base_names(jobs(oracle, "begins_with(sk, :job)", job="JOB#"))
    assert ls(f"{BY_INDEX}/all") == expected != []
    assert cost() == ["Query"]


def test_long_listing_of_latest_costs_the_query_alone(ddbfs, oracle, cost):
    lines = ddbfs("ls", "-l", f"{BY_INDEX}/latest").text.splitlines()
    items = jobs(oracle, "begins_with(sk, :job)", newest_first=True, job="JOB#")
    assert [int(line.split()[1]) for line in lines] == [len(plain.render(job)) for job in items]
    assert cost() == ["Query"]


def test_latest_asks_for_no_more_than_its_number(ddbfs, proxy):
    ddbfs("ls", f"{BY_INDEX}/latest")
    assert [record.body["Limit"] for record in proxy.requests] == [100]


def test_job_of_latest_is_one_get(ddbfs, oracle, cost):
    job = jobs(oracle, "begins_with(sk, :job)", newest_first=True, job="JOB#")[0]
    path = f"{BY_INDEX}/latest/{base_names([job])[0]}"
    assert ddbfs("cat", path).stdout == plain.render(job)
    assert cost() == ["GetItem"]


# Jobs: a time window


@rows("date", ["2026-04-16", "2026-04-16T09", "2026-04", "2026"])
def test_jobs_on_a_date(ls, oracle, cost, date):
    expected = base_names(jobs(oracle, "begins_with(sk, :day)", day=f"JOB#{date}"))
    assert ls(f"{BY_INDEX}/on/{date}") == expected != []
    assert cost() == ["Query"]


def test_jobs_between_two_dates(ls, oracle, cost):
    items = jobs(oracle, "begins_with(sk, :job)", job="JOB#")
    expected = [job for job in items if "2026-04-14" <= job["created_at"]["S"][:10] <= "2026-04-16"]
    assert ls(f"{BY_INDEX}/between/2026-04-14..2026-04-16") == base_names(expected) != []
    assert cost() == ["Query"]


def test_a_window_without_jobs_is_empty(ls, cost):
    assert ls(f"{BY_INDEX}/on/1999-01-01") == []
    assert cost() == ["Query"]


# Index settings


def test_configuration_of_an_index(ddbfs, oracle, cost):
    got = ddbfs("cat", f"/prod/index-settings/{ACCOUNT}/{INDEX}").stdout
    assert got == oracle.record(SETTINGS, ACCOUNT, f"INDEX#{INDEX}")
    assert cost() == ["GetItem"]


def test_one_attribute_of_a_configuration(ddbfs, oracle, proxy, cost):
    got = ddbfs("cat", f"/prod/index-settings/{ACCOUNT}/{INDEX}@/add_docs_config").stdout
    configuration = oracle.item(SETTINGS, ACCOUNT, f"INDEX#{INDEX}")
    assert got == plain.bare(configuration["add_docs_config"])
    names = proxy.requests[0].body["ExpressionAttributeNames"].values()
    assert "add_docs_config" in names and proxy.requests[0].body["ProjectionExpression"]
    assert cost() == ["GetItem"]


def test_defaults_of_an_account(ddbfs, oracle, cost):
    got = ddbfs("cat", f"/prod/index-settings/{ACCOUNT}/DEFAULT_CONFIGS").stdout
    assert got == oracle.record(SETTINGS, ACCOUNT, "INDEX#DEFAULT_CONFIGS")
    assert cost() == ["GetItem"]


def account_rows(oracle):
    return oracle.query(SETTINGS, "pk = :a AND begins_with(sk, :i)", a=ACCOUNT, i="INDEX#")


def test_every_record_of_an_account(ls, oracle, cost):
    expected = [row["sk"]["S"].removeprefix("INDEX#") for row in account_rows(oracle)]
    escaped = [name.replace("%", "%25").replace("/", "%2F") for name in expected]
    assert ls(f"/prod/index-settings/by-account/{ACCOUNT}") == escaped != []
    assert cost() == ["Query"]


def test_each_record_of_an_account_opens(ddbfs, ls, oracle, cost):
    folder = f"/prod/index-settings/by-account/{ACCOUNT}"
    paths = [f"{folder}/{name}" for name in ls(folder)]
    cost()
    assert ddbfs("cat", *paths).stdout == b"".join(map(plain.render, account_rows(oracle)))
    assert cost() == ["BatchGetItem"]


def roots(oracle):
    return oracle.query(SETTINGS, "pk = :a", IndexName="GSI_IndexRootsByName", a=ACCOUNT)


def test_indexes_of_an_account_without_their_sub_records(ls, oracle, cost):
    names = [row["index_name"]["S"] for row in roots(oracle)]
    folders = [f"{name}.d/" for name in names]
    assert sorted(ls(f"/prod/index-settings/{ACCOUNT}")) == sorted(
        ["DEFAULT_CONFIGS", *names, *folders]
    )
    # Whether DEFAULT_CONFIGS is there, the index of roots does not tell.
    assert cost() == ["Query GSI_IndexRootsByName", "GetItem"]


def test_sub_records_of_an_index(ls, oracle, cost):
    prefix = f"INDEX#{INDEX}#"
    rows = oracle.query(SETTINGS, "pk = :a AND begins_with(sk, :i)", a=ACCOUNT, i=prefix)
    names = [row["sk"]["S"].removeprefix(prefix) for row in rows]
    escaped = [name.replace("%", "%25").replace("/", "%2F") for name in names]
    assert ls(f"/prod/index-settings/{ACCOUNT}/{INDEX}.d") == escaped != []
    assert cost() == ["Query"]


def test_a_sub_record_is_one_get(ddbfs, oracle, cost):
    got = ddbfs("cat", f"/prod/index-settings/{ACCOUNT}/{INDEX}.d/PROFILE#SEARCH#default").stdout
    assert got == oracle.record(SETTINGS, ACCOUNT, f"INDEX#{INDEX}#PROFILE#SEARCH#default")
    assert cost() == ["GetItem"]


def by_domain(oracle):
    domain = "e513a8-4.myshopify.com"
    return oracle.query(SETTINGS, "shopify_domain = :d", IndexName="GSI_ShopifyDomain", d=domain)


def test_settings_that_belong_to_a_domain(ls, oracle, cost):
    rows = by_domain(oracle)
    names = [f"{row['pk']['S']}#{row['sk']['S'].removeprefix('INDEX#')}" for row in rows]
    assert ls("/prod/index-settings/by-domain/e513a8-4.myshopify.com") == names != []
    assert cost() == ["Query GSI_ShopifyDomain"]


def test_a_record_found_by_domain(ddbfs, oracle, cost):
    path = f"/prod/index-settings/by-domain/e513a8-4.myshopify.com/{ACCOUNT}#{INDEX}"
    assert ddbfs("cat", path).stdout == oracle.record(SETTINGS, ACCOUNT, f"INDEX#{INDEX}")
    assert cost() == ["GetItem"]


# Shops


def test_settings_of_a_shop(ddbfs, oracle, cost):
    got = ddbfs("cat", f"/prod/shops/{DOMAIN}/SETTINGS").stdout
    assert got == oracle.record(SHOPS, f"SHOP#{DOMAIN}", "SETTINGS")
    assert cost() == ["GetItem"]


def test_active_index_of_a_shop(ddbfs, oracle, cost):
    got = ddbfs("cat", f"/prod/shops/{DOMAIN}/SETTINGS@/active_index").stdout
    assert got == plain.bare(oracle.item(SHOPS, f"SHOP#{DOMAIN}", "SETTINGS")["active_index"])
    assert cost() == ["GetItem"]


@rows(
    "domain",
    ["cool-store", "e513a8-4", "oak-and-iron", "nordlicht-lampen", "petit-atelier"],
)
def test_access_token_is_of_the_latest_session(ddbfs, oracle, cost, domain):
    got = ddbfs("cat", f"/prod/shops/{domain}.myshopify.com/access-token").stdout
    rows = oracle.query(
        SHOPS,
        "pk = :p AND begins_with(sk, :u)",
        FilterExpression="entity_type = :session",
        p=f"SHOP#{domain}.myshopify.com",
        u="USER#",
        session="SESSION",
    )
    latest = max(rows, key=lambda row: row["last_updated"]["S"])
    assert got == plain.bare(latest["access_token"])
    assert cost() == ["Query"]


def test_shop_lists_all_its_records(ls, oracle, cost):
    rows = oracle.query(SHOPS, "pk = :p", p=f"SHOP#{DOMAIN}")
    assert ls(f"/prod/shops/{DOMAIN}") == [*(row["sk"]["S"] for row in rows), "access-token"]
    assert cost() == ["Query"]


@rows("name", ["SETTINGS", "API_KEY", "USER#71203948812"])
def test_each_kind_of_record_of_a_shop(ddbfs, oracle, cost, name):
    got = ddbfs("cat", f"/prod/shops/{DOMAIN}/{name}").stdout
    assert got == oracle.record(SHOPS, f"SHOP#{DOMAIN}", name, SECRETS)
    assert cost() == ["GetItem"]


def shops_of_account(oracle):
    index = "GSI_SystemAccountId"
    return oracle.query(SHOPS, "system_account_id = :a", IndexName=index, a=ACCOUNT)


def test_shops_of_an_account(ls, oracle, cost):
    rows = shops_of_account(oracle)
    domains = [row["pk"]["S"].removeprefix("SHOP#") for row in rows]
    assert sorted(ls(f"/prod/shops/by-account/{ACCOUNT}")) == sorted(domains) != []
    assert cost() == ["Query GSI_SystemAccountId"]


def test_a_shop_found_by_its_account(ddbfs, oracle, cost):
    got = ddbfs("cat", f"/prod/shops/by-account/{ACCOUNT}/{DOMAIN}").stdout
    assert got == oracle.record(SHOPS, f"SHOP#{DOMAIN}", "SETTINGS")
    assert cost() == ["GetItem"]


# What the map alone tells

STRUCTURE = {
    "/prod": ["jobs/", "index-settings/", "shops/", "tables/"],
    "/prod/jobs": ["README", "by-id/", "by-index/", "by-status/"],
    "/prod/jobs/by-index": ["shopify/", "ecom/"],
    BY_INDEX: ["latest/", "all/", "on/", "between/", "status/"],
    f"{BY_INDEX}/status": ["PENDING/", "IN_PROGRESS/", "COMPLETED/", "FAILED/"],
    f"/prod/jobs/by-status/{SHOP}": ["PENDING/", "IN_PROGRESS/", "COMPLETED/", "FAILED/"],
}


@rows("path", STRUCTURE)
def test_structure_costs_nothing(ls, cost, path):
    assert sorted(ls(path)) == sorted(STRUCTURE[path])
    assert cost() == []


@rows("environment", ["staging", "dev-search-v2", "dev-fix-7"])
def test_each_environment_reads_its_own_table(ddbfs, proxy, environment):
    ddbfs("ls", f"/{environment}/shops/{DOMAIN}")
    assert [record.table for record in proxy.requests] == [f"{environment}-ShopifyEntitiesTable"]


def test_staging_has_the_same_record(ddbfs, oracle):
    got = ddbfs("cat", f"/staging/index-settings/{ACCOUNT}/{INDEX}").stdout
    assert got == oracle.record("staging-EcomIndexSettingsTable", ACCOUNT, f"INDEX#{INDEX}")


def test_several_paths_are_answered_in_order(ddbfs, oracle, cost):
    paths = [f"/prod/shops/{DOMAIN}/SETTINGS", f"/prod/index-settings/{ACCOUNT}/{INDEX}"]
    first = oracle.record(SHOPS, f"SHOP#{DOMAIN}", "SETTINGS")
    second = oracle.record(SETTINGS, ACCOUNT, f"INDEX#{INDEX}")
    assert ddbfs("cat", *paths).stdout == first + second
    assert cost() == ["GetItem", "GetItem"]


def test_one_record_asked_twice_costs_once(ddbfs, cost):
    ddbfs("cat", *[f"/prod/shops/{DOMAIN}/SETTINGS"] * 2)
    assert cost() == ["GetItem"]


@rows("date", ["2026-4-16", "16-04-2026", "2026-04-32", "today"])
def test_what_is_no_date_is_refused(ddbfs, cost, date):
    run = ddbfs("cat", f"{BY_INDEX}/on/{date}@count", expect=None)
    assert run.code != 0 and "a date is written 2026-04-16" in run.stderr and cost() == []
