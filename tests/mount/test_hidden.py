"""Hidden paths in a mount: no listing shows them, and they open, also where a listing is known."""

import json
import os
import re
import subprocess

import pytest

INDEX = "prod/jobs/by-index/shopify/kl7a9h55-shopify-e513a8-4"


@pytest.fixture
def hidden(make_map):
    """The example's map, where of the ways to the jobs of an index only `all/` is shown."""

    def hide(text):
        for step in ("latest", "on", "between", "status"):
            path = rf'("by-index/{{platform}}/{{shop_id}}/{step}/[^"]*": *{{)'
            text, found = re.subn(path, r'\1 "hidden": true,', text)
            assert found == 1
        return text

    return make_map(hide)


def test_find_sees_each_record_once(mount, hidden):
    m = mount(map_file=hidden)
    assert os.listdir(m / INDEX) == ["all"]
    found = subprocess.run(["find", m / INDEX, "-type", "f"], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    names = [os.path.basename(path) for path in found.stdout.splitlines()]
    assert sorted(names) == sorted(os.listdir(m / f"{INDEX}/all")) != []


def test_it_opens_beside_a_fresh_listing(mount, hidden):
    m = mount(map_file=hidden)
    os.listdir(m / INDEX)
    names = os.listdir(m / f"{INDEX}/latest")
    record = json.loads((m / f"{INDEX}/latest/{names[0]}").read_text("utf-8"))
    assert record["created_at"] in names[0]
    assert os.listdir(m / INDEX) == ["all"]
