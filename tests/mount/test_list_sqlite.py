"""A listing as an SQLite database in a mount: programs query it as they query a file."""

import concurrent.futures
import errno
import os
import shutil
import sqlite3
import subprocess
import sys

import pytest

from harness.rows import rows

SHOP = "kl7a9h55-shopify-e513a8-4"
JOBS = f"prod/jobs/by-index/shopify/{SHOP}"
SHOP_ITEMS = "prod/shops/cool-store.myshopify.com"
COUNTS = "select status, count(*) from records group by 1 order by 1"


def states(oracle, path=f"{JOBS}/all"):
    lines = oracle(f"/{path}@csv:status").decode().splitlines()[1:]
    return [(state, lines.count(state)) for state in sorted(set(lines))]


@pytest.mark.skipif(not shutil.which("sqlite3"), reason="sqlite3 is not installed")
@rows("options", [[], ["-readonly"]])
def test_the_session_of_the_page(mount, oracle, options):
    m = mount()
    command = ["sqlite3", *options, m / f"{JOBS}/all@sqlite", COUNTS]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert shown.splitlines() == [f"{state}|{count}" for state, count in states(oracle)]
    assert m.counts() == {"Query": 1}


# DuckDB's reader opens with the flags READONLY, NOMUTEX and PRIVATECACHE, as mode=ro does, or READWRITE.
@rows("options", ["", "?mode=ro", "?mode=ro&immutable=1", "?mode=ro&cache=private", "?nolock=1"])
def test_python_opens_it_in_any_way(shared_mount, oracle, options):
    m = shared_mount
    link = sqlite3.connect(f"file:{m / JOBS}/all@sqlite{options}", uri=True)
    assert list(link.execute(COUNTS)) == states(oracle)
    assert list(link.execute("pragma integrity_check")) == [("ok",)]
    with pytest.raises(sqlite3.OperationalError, match="readonly|read-only|unable to open|locking"):
        link.execute("delete from records")
    assert list(link.execute("select count(*) from records"))
    link.close()


def test_all_that_a_program_does_costs_the_listing_once(mount, proxy):
    m = mount()
    code = (
        "import sqlite3, sys\n"
        "for _ in range(3):\n"
        "    link = sqlite3.connect(sys.argv[1])\n"
        "    link.execute('attach ? as other', (sys.argv[1],))\n"
        "    print(link.execute('select count(*) from records r join other.records o using (pk, sk)').fetchone()[0])\n"
    )
    path = m / f"{JOBS}/all@sqlite"
    shown = subprocess.run([sys.executable, "-c", code, path], check=True, capture_output=True, text=True).stdout
    assert len(set(shown.split())) == 1 and proxy.ops == ["Query"]


@rows("place", [JOBS, SHOP_ITEMS, "prod/jobs/by-id", "prod/tables"])
def test_the_names_that_sqlite_tries_cost_nothing(shared_mount, place):
    m = shared_mount
    os.stat(m / place)
    m.proxy.clear()
    for ending in ("-journal", "-wal", "-shm"):
        for name in ("all@sqlite", "SETTINGS@sqlite", "5@sqlite", "all@sqlite:status,sk"):
            with pytest.raises(FileNotFoundError):
                os.stat(m / place / f"{name}{ending}")
    assert m.proxy.ops == []


def test_readers_at_once_share_one_reading(mount, branch, proxy):
    path, names = branch.put_jobs(300)
    m = mount()

    def count(_):
        command = [sys.executable, "-c", "import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute("
                   "'select count(*), count(distinct name) from records').fetchone())", m / f"{path}@sqlite"]  # fmt: skip
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert set(pool.map(count, range(4))) == {str((len(names), len(names)))}
    assert proxy.ops == ["Query"]


def test_an_open_one_stays_as_it_was(mount, branch):
    path, _ = branch.put_jobs(2)
    m = mount()
    link = sqlite3.connect(m / f"{path}@sqlite")
    assert link.execute("select count(*) from records").fetchone() == (2,)
    branch.put_jobs(3)
    m.refresh(f"{path}@sqlite")
    assert link.execute("select count(*) from records").fetchone() == (2,)
    assert sqlite3.connect(m / f"{path}@sqlite").execute("select count(*) from records").fetchone() == (3,)


def test_one_that_would_be_too_large_says_so(mount, branch):
    path, _ = branch.put_jobs(40, padding=10_000)
    m = mount("--cache-size", "1M")
    with pytest.raises(OSError) as caught:
        os.stat(m / f"{path}@sqlite")
    assert caught.value.errno == errno.EFBIG
    why = (m / ".ddbfs/errors").read_text("utf-8")
    assert "256 KB" in why and "@sqlite:status" in why and "@jsonl" in why
    link = sqlite3.connect(m / f"{path}@sqlite:status")
    assert link.execute("select count(status) from records").fetchone() == (40,)


def test_a_large_one_is_spooled(mount, branch):
    path, names = branch.put_jobs(700, padding=10_000)
    m = mount("--cache-size", "64M")
    link = sqlite3.connect(m / f"{path}@sqlite")
    assert link.execute("select count(*) from records").fetchone() == (len(names),)
    assert m.stats()["spooled_files"] == 1


def test_secrets_are_masked(shared_mount):
    content = (shared_mount / f"{SHOP_ITEMS}@sqlite").read_bytes()
    assert b"shpat_" not in content and b"********" in content
