"""Directories alone, and windows with ties, as a mount shows them."""

import json
import os
import subprocess

SHOP = "shopify/kl7a9h55-shopify-e513a8-4"
PATHS = """"made/{platform}/{shop_id}/": { "groups": true },
        "made/{platform}/{shop_id}/{created_at}/": {},
        "last/{platform}/{shop_id}/newest:{count}/": { "newest": "{count}", "hidden": true },
        "by-index/{platform}/{shop_id}/all/": """


def test_groups_are_directories_that_hold_each_record(mount, make_map):
    change = lambda text: text.replace('"by-index/{platform}/{shop_id}/all/":', PATHS)  # noqa: E731
    m = mount(map_file=make_map(change))
    whole = sorted(os.listdir(m / f"prod/jobs/by-index/{SHOP}/all"))
    days = os.listdir(m / f"prod/jobs/made/{SHOP}")
    assert days == list(dict.fromkeys(name.split("#")[0] for name in whole))
    found = subprocess.run(
        ["find", m / f"prod/jobs/made/{SHOP}", "-type", "f"], capture_output=True, text=True
    )
    assert found.returncode == 0, found.stderr
    records = [json.loads(open(path, encoding="utf-8").read()) for path in found.stdout.splitlines()]
    assert sorted(f"{each['created_at']}#{each['job_id']}" for each in records) == whole


def test_a_number_from_the_path(mount, make_map):
    change = lambda text: text.replace('"by-index/{platform}/{shop_id}/all/":', PATHS)  # noqa: E731
    m = mount(map_file=make_map(change))
    whole = sorted(os.listdir(m / f"prod/jobs/by-index/{SHOP}/all"))
    folder = m / f"prod/jobs/last/{SHOP}"
    assert sorted(os.listdir(folder / "newest:2")) == whole[-2:]
    assert sorted(os.listdir(folder / "newest:5")) == whole[-5:]
    for wrong in ("newest:0", "newest:abc"):
        told = subprocess.run(["ls", folder / wrong], capture_output=True, text=True)
        assert "Invalid argument" in told.stderr
