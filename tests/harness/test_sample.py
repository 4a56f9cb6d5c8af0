"""The sample data: checked in as its generator makes it, loaded whole, and with its traps."""

import subprocess
import sys

import pytest

from harness import load, places

TABLES = [description["TableName"] for description in load.tables()]


@pytest.mark.parametrize("table", TABLES)
def test_the_generator_makes_what_is_checked_in(tmp_path, table):
    script = places.EXAMPLES / "make_sample_data.py"
    (tmp_path / script.name).write_bytes(script.read_bytes())
    subprocess.run([sys.executable, tmp_path / script.name], check=True, timeout=60)
    name = f"ecommerce.{table}.jsonl"
    assert (tmp_path / name).read_bytes() == (places.EXAMPLES / name).read_bytes()


def by_key(items):
    return sorted(items, key=lambda item: (item["pk"]["S"], item["sk"]["S"]))


@pytest.mark.parametrize("environment", load.environments())
@pytest.mark.parametrize("table", TABLES)
def test_the_server_has_every_item(boto, environment, table):
    got = boto.scan(TableName=f"{environment}-{table}")["Items"]
    assert got and by_key(got) == by_key(load.items(table, environment))


def test_every_key_is_used_once():
    for table in TABLES:
        keys = [(item["pk"]["S"], item["sk"]["S"]) for item in load.items(table)]
        assert len(keys) == len(set(keys))


def test_keys_and_attributes_of_a_job_agree():
    for job in load.items("EcomIndexerJobsTable"):
        text = {name: value["S"] for name, value in job.items() if "S" in value}
        assert text["pk"] == f"PLATFORM#{text['platform']}#SHOP#{text['shop_id']}"
        assert text["sk"] == f"JOB#{text['created_at']}#{text['job_id']}"
        assert text["status_created_at"] == f"{text['status']}#{text['created_at']}"
        assert text["shop_id"] == f"{text['system_account_id']}-{text['index_name']}"


def test_jobs_are_many_and_varied():
    jobs = load.items("EcomIndexerJobsTable")
    assert len(jobs) >= 60 and len({job["created_at"]["S"][:10] for job in jobs}) >= 5
    assert {job["status"]["S"] for job in jobs} == {"PENDING", "IN_PROGRESS", "COMPLETED", "FAILED"}
    assert {job["platform"]["S"] for job in jobs} == {"shopify", "ecom"}
    shops = {job["shop_id"]["S"] for job in jobs if job["platform"]["S"] == "shopify"}
    assert "kl7a9h55-shopify-e513a8-4" in shops


def test_only_roots_carry_an_index_name():
    for row in load.items("EcomIndexSettingsTable"):
        root = row["sk"]["S"].count("#") == 1 and row["sk"]["S"] != "INDEX#DEFAULT_CONFIGS"
        assert ("index_name" in row) == root


def test_the_newest_user_row_of_a_shop_is_no_session():
    rows = load.items("ShopifyEntitiesTable")
    users = [row for row in rows if "cool-store" in row["pk"]["S"] and "last_updated" in row]
    newest = max(users, key=lambda row: row["last_updated"]["S"])
    assert newest["entity_type"]["S"] != "SESSION" and "access_token" not in newest
    assert sum(row["entity_type"]["S"] == "SESSION" for row in users) >= 3
