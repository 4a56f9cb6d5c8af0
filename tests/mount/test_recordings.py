"""Recordings: each response is stored, and a failure to store one disturbs no reader."""

import json
import os
import pathlib
import signal
import sqlite3
import stat
import subprocess

import pytest

from harness import mounts

SHOP = "prod/shops/cool-store.myshopify.com"
SETTINGS = f"/{SHOP}/SETTINGS"


def rows_of(file, sql, *values):
    with sqlite3.connect(file) as database:
        return database.execute(sql, values).fetchall()


def test_each_response_is_stored_with_its_path_request_and_cost(mount, tmp_path):
    file = tmp_path / "incident.ddb"
    live = mount("--record", file)
    (live / f"{SHOP}/SETTINGS").read_bytes()
    os.listdir(live / SHOP)
    with pytest.raises(FileNotFoundError):
        (live / "prod/shops/no-such-shop/SETTINGS").read_bytes()
    live.unmount()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert rows_of(file, "SELECT value FROM about WHERE name = 'kind'") == [("recording",)]
    stored = rows_of(
        file, "SELECT path, kind, found, units, length(request_id) > 0 FROM responses WHERE path <> '/'"
    )
    assert stored == [
        (SETTINGS, "items", 1, 0.5, 1),
        (f"/{SHOP}", "query", 6, 0.5, 1),
        ("/prod/shops/no-such-shop/SETTINGS", "items", 0, 0.5, 1),
    ]
    assert ("prod",) in rows_of(file, "SELECT name FROM environments")
    (ended,) = rows_of(file, "SELECT ended_ms > started_ms FROM runs")
    assert ended == (1,)
    assert rows_of(file, 'SELECT count(*) FROM "prod-ShopifyEntitiesTable"') == [(6,)]


def test_commands_continue_a_recording(ddbfs, tmp_path):
    file = tmp_path / "incident.ddb"
    ddbfs("cat", "--record", file, SETTINGS)
    ddbfs("ls", "--record", file, f"/{SHOP}")
    assert rows_of(file, "SELECT run, path FROM responses") == [(1, SETTINGS), (2, f"/{SHOP}")]


def test_only_a_recording_or_a_new_file_is_written(ddbfs, tmp_path):
    other = tmp_path / "other.db"
    sqlite3.connect(other).execute("CREATE TABLE t(a)").close()
    text = tmp_path / "notes.txt"
    text.write_text("important " * 100)
    for file, reason in ((other, "another application"), (text, "no SQLite database")):
        before = file.read_bytes()
        assert reason in ddbfs("cat", "--record", file, SETTINGS, expect=1).stderr
        assert file.read_bytes() == before
    ddbfs("cat", "--record", tmp_path / "no/such/folder.ddb", SETTINGS, expect=1)


def test_no_secret_is_in_the_file(ddbfs, tmp_path):
    file = tmp_path / "incident.ddb"
    secret = ddbfs("cat", f"/{SHOP}/access-token").stdout.strip()
    assert len(secret) > 8
    paths = [f"/{SHOP}{name}" for name in ("/access-token", "/API_KEY", "@jsonl", "/API_KEY@typed")]
    ddbfs("cat", "--record", file, *paths)
    assert secret not in file.read_bytes()
    assert b"Authorization" not in file.read_bytes()
    ddbfs("cat", "--record", file, "--show-secrets", paths[0])
    assert secret in file.read_bytes()


@pytest.fixture
def small_disk(tmp_path):
    folder = tmp_path / "small"
    folder.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", folder])
    if made.returncode:
        pytest.skip("no file system can be mounted")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def test_a_full_disk_stops_the_recording_and_no_reader(mount, small_disk):
    file = small_disk / "incident.ddb"
    live = mount("--record", file)
    live.exit_code = 1
    (live / f"{SHOP}/SETTINGS").read_bytes()
    mounts.wait_until(lambda: live.stats()["recording"]["responses"] > 1, "the response")
    with open(small_disk / "ballast", "wb", buffering=0) as ballast:
        with pytest.raises(OSError):
            while True:
                ballast.write(b"x" * 4096)
    for name in sorted(os.listdir(live / SHOP)):
        path = live / SHOP / name
        assert path.is_dir() or path.read_bytes()
    assert (live / f"{SHOP}@csv").read_bytes()
    assert os.listdir(live / "prod/jobs/by-status/kl7a9h55-shopify-e513a8-4/COMPLETED")
    told = mounts.wait_until(lambda: live.stats()["recording"]["stopped"], "the failure")
    assert "has stopped" in told and "the disk is full" in told
    assert "has stopped" in live.log()
    live.unmount()
    (small_disk / "ballast").unlink()
    assert (SETTINGS,) in rows_of(file, "SELECT path FROM responses")
    assert rows_of(file, "PRAGMA quick_check") == [("ok",)]


def test_a_killed_daemon_leaves_a_readable_file(mount, tmp_path):
    file = tmp_path / "incident.ddb"
    live = mount("--record", file)
    (live / f"{SHOP}/SETTINGS").read_bytes()
    mounts.wait_until(lambda: live.stats()["recording"]["responses"] > 1, "the response")
    for name in os.listdir(live / SHOP):
        (live / SHOP / name).stat()
    live.exit_code = None
    live.signal(signal.SIGKILL)
    live.wait()
    mounts.take_away(live.root)
    assert (SETTINGS,) in rows_of(file, "SELECT path FROM responses")
    assert rows_of(file, "PRAGMA quick_check") == [("ok",)]
    assert rows_of(file, "SELECT ended_ms FROM runs") == [(None,)]
