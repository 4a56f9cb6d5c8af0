"""Recordings: each response is stored, and shown again without a server."""

import json
import os
import sqlite3
import stat

import pytest

from harness import mounts

SHOP = "prod/shops/cool-store.myshopify.com"


def rows_of(file, sql, *values):
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as database:
        return database.execute(sql, values).fetchall()


def test_each_response_is_stored_with_its_path_request_and_cost(mount, tmp_path):
    file = tmp_path / "incident.ddb"
    live = mount("--record", file)
    text = (live / f"{SHOP}/SETTINGS").read_bytes()
    names = sorted(os.listdir(live / SHOP))
    with pytest.raises(FileNotFoundError):
        (live / "prod/shops/no-such-shop/SETTINGS").read_bytes()
    live.unmount()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert rows_of(file, "SELECT value FROM about WHERE name = 'kind'") == [("recording",)]
    stored = rows_of(file, "SELECT path, kind, found, units, request_id, error FROM responses")
    print(stored, rows_of(file, "SELECT * FROM environments"), rows_of(file, "SELECT name FROM sqlite_schema"), rows_of(file, "select * from recorded_tables"))
    assert (f"/{SHOP}/SETTINGS", "items", 1) in [each[:3] for each in stored]
    assert text and names
    assert 0
