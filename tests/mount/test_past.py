"""A mounted snapshot, and the past beside the live tables, through the kernel."""

import errno
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess

import pytest

from harness import journals, load, mounts, places, snapshots

FIRST, SECOND, THIRD = snapshots.MOMENTS
SETTINGS = snapshots.SETTINGS
NOWHERE = {"AWS_ENDPOINT_URL_DYNAMODB": "http://127.0.0.1:1", "AWS_PROFILE": "no-such-profile"}


@pytest.fixture(scope="session")
def sample_file(tmp_path_factory):
    return snapshots.sample(tmp_path_factory.mktemp("past") / "orders.ddb")


@pytest.fixture
def file(sample_file, tmp_path):
    (tmp_path / "past").mkdir()
    return shutil.copy(sample_file, tmp_path / "past/orders.ddb")


@pytest.fixture
def past_mount(mount, file):
    return mount("--snapshot", file, env=NOWHERE)


def plan_of(path):
    return json.loads(path.read_bytes())["plan"]


def names_in_order(folder):
    with os.scandir(folder) as entries:  # in the order of readdir
        return [each.name for each in entries]


def write_state(file, number):
    """One state of the sample, as a full snapshot of its own."""
    return snapshots.write(file, snapshots.sample_tables(), snapshots.sample_states()[number : number + 1])


def test_the_session_of_a_mounted_snapshot(past_mount, file, home, ddbfs):
    mount = past_mount
    assert "tables" in names_in_order(mount.root) and "prod@at" not in names_in_order(mount.root)
    items = names_in_order(mount / "tables/prod-ShopifyEntitiesTable/items")
    assert len([name for name in items if name != "README"]) == 5
    assert names_in_order(mount / "prod@at") == [THIRD, SECOND, FIRST]
    assert [plan_of(mount / f"prod@at/{time}" / SETTINGS) for time in ("2026-11-03", "2026-11-02", "2026-11-01")] == [
        "growth",
        "growth-trial",
        "starter",
    ]
    assert plan_of(mount / "prod" / SETTINGS) == "growth"
    diff = ddbfs("diff", f"/prod@at/2026-11-02/{SETTINGS}", f"/prod/{SETTINGS}", env={"DDBFS_SNAPSHOT": file}, expect=1)
    inherited = ddbfs("diff", mount / f"prod@at/2026-11-02/{SETTINGS}", mount / f"prod/{SETTINGS}", env=NOWHERE, expect=1)
    assert "growth-trial" in diff.text and "growth-trial" in inherited.text
    job = mount / f"prod/jobs/by-id/{snapshots.JOB}@history"
    assert names_in_order(job) == [THIRD, SECOND]
    assert json.loads((job / SECOND).read_bytes())["status"] == "IN_PROGRESS"
    assert (job / SECOND).stat().st_mtime == snapshots.ms(SECOND) / 1000
    assert mount.counts() == {}


def test_a_deletion_is_an_empty_file(past_mount):
    history = past_mount / "prod/shops/cool-store.myshopify.com/USER#1@history"
    assert names_in_order(history) == [THIRD, SECOND]
    assert (history / THIRD).read_bytes() == b"" and (history / THIRD).stat().st_size == 0
    assert json.loads((history / f"{THIRD}@info").read_bytes())["deleted"] is True
    with open(history / f"{SECOND}@info", "rb") as opened:
        assert opened.read() == os.pread(opened.fileno(), 1 << 16, 0)
    assert (history / "README").read_bytes()
    assert not (history / FIRST).exists() and not (history / "2026-11-02").exists()
    assert not (history.parent / "USER#1").exists()


def test_names_that_are_no_time_are_not_found_and_say_why(past_mount):
    for name in ("2026-10-31", "yesterday"):
        with pytest.raises(FileNotFoundError):
            os.stat(past_mount / "prod@at" / name)
    assert not (past_mount / "prod@at/.git").exists()
    old, wrong = past_mount.failures()
    with pytest.raises(FileNotFoundError):
        os.stat(past_mount / "tables@at" / "1999")
    assert "no snapshot is as old as 2026-10-31T23:59:59.999Z" in old.reason and FIRST in old.reason
    assert '"yesterday" is no time' in wrong.reason and SECOND in wrong.reason


def test_times_of_all_tables_are_found_or_not_without_a_map(mount, file):
    bare = mount("--no-map", "--snapshot", file, env=NOWHERE)
    for name in ("2026-10-31", "yesterday"):
        with pytest.raises(FileNotFoundError):
            os.stat(bare / "tables@at" / name)
    assert "no snapshot is as old as" in bare.failures()[0].reason
    assert "prod-ShopifyEntitiesTable" in os.listdir(bare / "tables@at/2026-11-02")


def test_links_stay_at_their_moment(past_mount):
    job = past_mount / f"prod@at/2026-11-02/jobs/by-id/{snapshots.JOB}"
    shop = job.parent / f"{job.name}@links/shop"
    assert os.path.realpath(shop) == str(past_mount / "prod@at/2026-11-02/shops/e513a8-4.myshopify.com")
    assert (shop / "SETTINGS").read_bytes()


def test_programs_that_walk_see_every_item_and_cost_nothing(past_mount, tmp_path):
    table, key = past_mount / "tables/prod-EcomIndexSettingsTable/items", "INDEX"
    wanted = {item["sk"]["S"] for item in load.items("EcomIndexSettingsTable")}
    found = subprocess.run(["find", table, "-type", "f", "-name", f"{key}*"], capture_output=True, text=True, check=True)
    assert len(found.stdout.splitlines()) == len(load.items("EcomIndexSettingsTable")) and len(wanted) > 3
    grep = subprocess.run(["grep", "-rlc", '"pk"', table], capture_output=True, text=True)
    assert grep.returncode == 0 and len(grep.stdout.splitlines()) == len(found.stdout.splitlines())
    subprocess.run(["tar", "-C", table, "-cf", tmp_path / "all.tar", "."], check=True, capture_output=True)
    assert past_mount.counts() == {} and past_mount.failures() == []
    assert sum(past_mount.stats()["requests"].values()) == 0
    lines = past_mount.ledger()
    assert lines and all(line["units"] == 0 and line["snapshot"] for line in lines)


def live_map(folder, own='"snapshots": "past"'):
    map_file = folder / "map.json"
    text = load.places.DEFAULT_MAP.read_text("utf-8")
    one = '"prefix": "prod-", "profile": "controller", "region": "us-east-1"'
    assert one in text
    map_file.write_text(text.replace(one, f"{one}, {own}"), "utf-8")
    return map_file


def test_the_past_beside_the_live_tables(mount, file, tmp_path, ddbfs):
    live = mount(map_file=live_map(tmp_path))
    assert names_in_order(live / "prod@at") == [THIRD, SECOND, FIRST]
    assert plan_of(live / f"prod@at/2026-11-02/{SETTINGS}") == "growth-trial" and live.counts() == {}
    assert names_in_order(live / f"prod/{SETTINGS}@history") == [THIRD, SECOND, FIRST] and live.counts() == {}
    assert plan_of(live / f"prod/{SETTINGS}") == "growth" and sum(live.counts().values()) == 1
    result = ddbfs("diff", live / f"prod@at/2026-11-01/{SETTINGS}", live / f"prod/{SETTINGS}", expect=1)
    assert "starter" in result.text
    with pytest.raises(FileNotFoundError):
        os.stat(live / "staging@at")
    none = live_map(tmp_path, '"snapshots": "nofolder"')
    told = ddbfs("--map", none, "ls", "/prod@at", expect=1).stderr
    assert 'nofolder cannot be opened: No such file or directory; "snapshots" of the map' in told


def test_sighup_finds_new_files(mount, file, tmp_path):
    folder = file.parent
    file.unlink()
    write_state(folder / "1.ddb", 0)
    live = mount(map_file=live_map(tmp_path))
    assert names_in_order(live / "prod@at") == [FIRST]
    write_state(folder / "2.ddb", 1)
    assert plan_of(live / f"prod@at/2026-11-02/{SETTINGS}") == "starter"
    live.signal(signal.SIGHUP)
    mounts.wait_until(lambda: names_in_order(live / "prod@at") == [SECOND, FIRST], "the new file")
    mounts.wait_until(lambda: plan_of(live / f"prod@at/2026-11-02/{SETTINGS}") == "growth-trial", "its state")
    (folder / "1.ddb").unlink()
    live.signal(signal.SIGHUP)
    mounts.wait_until(lambda: names_in_order(live / "prod@at") == [SECOND], "the end of the old file")


def test_the_ttl_of_structure_finds_new_files(mount, file, tmp_path, clock):
    folder = file.parent
    file.unlink()
    write_state(folder / "1.ddb", 0)
    live = mount(map_file=live_map(tmp_path), env=clock.env)
    assert names_in_order(live / "prod@at") == [FIRST]
    write_state(folder / "2.ddb", 1)
    assert names_in_order(live / "prod@at") == [FIRST]
    clock.passes(61)
    assert names_in_order(live / "prod@at") == [SECOND, FIRST]


def test_a_file_that_was_replaced_is_stale_until_it_is_read_again(mount, file):
    snapshot = mount("--snapshot", file, env=NOWHERE)
    assert plan_of(snapshot / f"prod/{SETTINGS}") == "growth"
    other = write_state(file.parent / "other", 0)
    os.replace(other, file)
    with pytest.raises(OSError) as refused:
        (snapshot / "prod/shops/cool-store.myshopify.com/API_KEY").read_bytes()
    assert refused.value.errno == 116  # ESTALE
    snapshot.signal(signal.SIGHUP)
    mounts.wait_until(lambda: names_in_order(snapshot / "prod@at") == [FIRST], "the other file")
    mounts.wait_until(lambda: plan_of(snapshot / f"prod/{SETTINGS}") == "starter", "its state")


def test_a_journal_that_appears_while_the_file_is_mounted(past_mount, file, tmp_path):
    """A mount of days looks for a journal before each page. It changes no file, and does not wait for a FIFO."""
    victim, journal = tmp_path / "diary", tmp_path / "past/orders.ddb-journal"
    victim.write_text("dear diary")
    content = journals.hot(tmp_path / "past/orders.ddb") + journals.super_journal(tmp_path / "past/orders.ddb", victim)
    user = past_mount / "prod/shops/cool-store.myshopify.com"
    assert plan_of(past_mount / "prod" / SETTINGS) == "growth"
    for name, make in (("USER#2", lambda: journal.write_bytes(content)), ("USER#3", lambda: os.mkfifo(journal))):
        make()
        before = sorted(os.listdir(journal.parent))
        with pytest.raises(OSError) as refused:
            (user / name).stat()
        assert refused.value.errno == errno.EBADMSG
        assert "ddbfs import --repair" in past_mount.errors() and victim.read_text() == "dear diary"
        assert sorted(os.listdir(journal.parent)) == before
        journal.unlink()
    assert (user / "API_KEY").read_bytes()


def test_a_mount_of_a_bad_file_does_not_start(ddbfs, tmp_path, file):
    point = tmp_path / "point"
    point.mkdir()
    result = ddbfs("mount", "--snapshot", tmp_path / "absent.ddb", point, expect=1)
    assert "absent.ddb" in result.stderr and not mounts.is_mounted(point)
    (tmp_path / "text.ddb").write_text("this is no database" * 100)
    assert "text.ddb" in ddbfs("mount", "-o", f"snapshot={tmp_path / 'text.ddb'}", point, expect=1).stderr


def test_relative_names_and_the_variable_of_a_mount(ddbfs, tmp_path, file):
    point = tmp_path / "point"
    point.mkdir()
    for words, env in ((["--snapshot", file.name], {}), (["-o", f"snapshot={file.name}"], {}), ([], {"DDBFS_SNAPSHOT": file.name})):
        ddbfs("mount", *words, point, env={**NOWHERE, **env}, cwd=file.parent)
        try:
            assert plan_of(point / f"prod@at/2026-11-02/{SETTINGS}") == "growth-trial"
            assert "growth" in ddbfs("cat", point / f"prod/{SETTINGS}", cwd="/").text
        finally:
            ddbfs("umount", point)


def test_a_mount_of_a_snapshot_reads_no_setting_of_aws(mount, file, home):
    home.config.write_text("[default\nthis is no profile file", "ascii")
    shutil.rmtree(home.folder / ".aws")
    snapshot = mount("--snapshot", file, env={"AWS_CA_BUNDLE": "/no/such/file", **NOWHERE})
    assert plan_of(snapshot / f"prod/{SETTINGS}") == "growth"
    assert "profile" not in snapshot.log()


def test_a_command_below_a_live_mount_reads_what_the_mount_reads(mount, ddbfs, file, tmp_path):
    live = mount(map_file=live_map(tmp_path))
    old = write_state(tmp_path / "old.ddb", 0)
    assert b'"growth"' in ddbfs("cat", live / f"prod/{SETTINGS}", env={"DDBFS_SNAPSHOT": old}).stdout
    assert b'"starter"' in ddbfs("--snapshot", old, "cat", live / f"prod/{SETTINGS}").stdout
    assert b'"growth-trial"' in ddbfs("cat", live / f"prod@at/2026-11-02/{SETTINGS}", cwd="/").stdout


def test_paths_below_a_mount_and_others_have_sources_of_their_own(mount, ddbfs, file, tmp_path):
    """Each path is read from its own source, or the command fails."""
    old = write_state(tmp_path / "old.ddb", 0)
    live = mount(map_file=live_map(tmp_path))
    present, own = live / f"prod/{SETTINGS}", f"/prod/{SETTINGS}"
    diff = ddbfs("diff", own, present, env={"DDBFS_SNAPSHOT": old}, expect=1).text
    assert '-  "plan": "starter",' in diff and '+  "plan": "growth",' in diff
    ddbfs("diff", own, present, expect=0)
    for path in (live / f"prod@at/2026-11-02/{SETTINGS}", live / f"prod/{SETTINGS}@history/{FIRST}"):
        refused = ddbfs("diff", own, path, env={"DDBFS_SNAPSHOT": old}, expect=2).stderr
        assert "is of the past, and another path is of the snapshot" in refused
    live.unmount()
    of_file = tmp_path / "file.map.json"
    server = '"profile": "controller", "region": "us-east-1", "snapshots": "past"'
    of_file.write_text((tmp_path / "map.json").read_text("utf-8").replace(server, '"snapshot": "past/orders.ddb"'), "utf-8")
    past = mount("--snapshot", old, map_file=of_file)
    diff = ddbfs("diff", past / f"prod/{SETTINGS}", own, expect=1).text
    assert '-  "plan": "starter",' in diff and '+  "plan": "growth",' in diff
    ddbfs("diff", past / f"prod/{SETTINGS}", own, env={"DDBFS_SNAPSHOT": old, **NOWHERE}, expect=0)
    refused = ddbfs("diff", past / f"prod/{SETTINGS}", own, env={"DDBFS_SNAPSHOT": file, **NOWHERE}, expect=2)
    assert "is of DDBFS_SNAPSHOT, and another path is of the snapshots in the mount" in refused.stderr


@pytest.fixture
def strange(make_proxy, server, file, home, tmp_path):
    """A snapshot whose map names a server of its author, a program of a profile of its reader, and a folder."""
    trap, ran = make_proxy(server), tmp_path / "ran"
    with open(home.config, "a") as config:
        config.write(f"\n[profile with-program]\ncredential_process = /bin/touch {ran}\n")
    own = '"profile": "controller", "region": "us-east-1"'
    theirs = f'"profile": "with-program", "region": "eu-west-9", "endpoint": "{trap.url}", "snapshots": "{tmp_path / "past"}"'
    stored = places.DEFAULT_MAP.read_text("utf-8")
    with sqlite3.connect(file) as database:
        database.execute("INSERT INTO about VALUES('map', ?)", (stored.replace(own, theirs, 1),))
    yield file
    assert not ran.exists() and trap.ops == [], "nothing of the stranger was used"


STRANGE = (
    'ddbfs: warning: "profile" of prod is ignored, because a map that is stored in a snapshot chooses no server and'
    " no file; pass --map FILE, or --profile, --region and --endpoint-url\n"
)


def test_a_stored_map_chooses_no_server_of_the_present(ddbfs, strange, proxy, mount):
    """Its settings are ignored, and reported once, wherever anything but the snapshot is read."""
    own = f"/prod/{SETTINGS}"
    read = ddbfs("--map", strange, "cat", own, "/prod/shops/cool-store.myshopify.com/API_KEY")
    assert b'"growth"' in read.stdout and read.stderr == STRANGE
    assert "GetItem" in proxy.ops or "BatchGetItem" in proxy.ops
    refused = ddbfs("--map", strange, "ls", "/prod@at", expect=3).stderr
    assert "no snapshots are known for this environment" in refused
    past = mount("--snapshot", strange, env=NOWHERE)
    diff = ddbfs("diff", past / f"prod@at/2026-11-01/{SETTINGS}", own, env={"DDBFS_MAP": None}, expect=1)
    assert '-  "plan": "starter",' in diff.text and diff.stderr == STRANGE
    live = mount(map_file=strange)
    assert plan_of(live / f"prod/{SETTINGS}") == "growth" and live.log().count("is ignored") == 1
    assert ddbfs("cat", live / f"prod/{SETTINGS}", env={"DDBFS_MAP": None}).stderr == STRANGE


def test_a_map_file_in_the_place_of_a_stored_map_is_not_read(mount, strange, tmp_path):
    """The owner of a snapshot may replace it: a map of its own would choose a server and a program."""
    past = mount("--snapshot", strange, env=NOWHERE)
    with sqlite3.connect(strange) as database:
        ((stored,),) = database.execute("SELECT value FROM about WHERE name = 'map'")
    (tmp_path / "other").write_text(stored)
    os.replace(tmp_path / "other", strange)
    past.signal(signal.SIGHUP)
    mounts.wait_until(lambda: "the map can't be read again" in past.log(), "the refusal")
    assert json.loads((past / ".ddbfs/mount.json").read_text())["map_is_stored"]


def test_a_stored_map_is_that_of_its_snapshot_without_a_warning(ddbfs, strange):
    read = ddbfs("--snapshot", strange, "cat", f"/prod/{SETTINGS}", env={**NOWHERE, "DDBFS_MAP": None})
    assert b'"growth"' in read.stdout and read.stderr == ""


def test_status_names_the_snapshot(mount, file, ddbfs):
    snapshot = mount("--snapshot", file, env=NOWHERE)
    (row,) = [json.loads(line) for line in ddbfs("status", "--json").text.splitlines() if str(snapshot.root) in line]
    assert row["snapshots"] == [str(file)] and row["requests"] == 0 and row["rcu"] == 0
    assert "orders.ddb" in ddbfs("status").text


def test_a_mount_for_others_denies_tables_of_the_past_too(mount, file):
    snapshot = mount("--snapshot", file, "-o", "allow_other", env=NOWHERE)
    for path in ("tables", "tables@at"):
        with pytest.raises(PermissionError):
            os.stat(snapshot / path)
    assert plan_of(snapshot / f"prod@at/2026-11-02/{SETTINGS}") == "growth-trial"
    with pytest.raises(PermissionError):
        (snapshot / "prod@at/2026-11-02/shops/cool-store.myshopify.com/access-token").read_bytes()


def test_further_snapshots_may_follow_the_option(ddbfs, tmp_path):
    """As in --snapshot *.ddb MOUNTPOINT."""
    point = tmp_path / "point"
    point.mkdir()
    files = [write_state(tmp_path / f"{number}.ddb", number) for number in range(3)]
    ddbfs("mount", "--snapshot", *files, point, env=NOWHERE)
    try:
        assert names_in_order(point / "prod@at") == [THIRD, SECOND, FIRST]
    finally:
        ddbfs("umount", point)
    result = ddbfs("mount", *files, point, env=NOWHERE, expect=2)
    assert "one mountpoint" in result.stderr
