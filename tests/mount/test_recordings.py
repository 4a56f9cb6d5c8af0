"""Recordings: each response is stored, and a failure to store one disturbs no reader."""

import errno
import itertools
import json
import os
import re
import pathlib
import shutil
import signal
import sqlite3
import stat
import subprocess

import pytest

from harness import journals, mounts, places, runner
from harness.rows import rows

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


def test_a_recording_with_a_description_that_came_later_is_sound(ddbfs, tmp_path):
    """The second command stores the description of a table whose items the first one stored. Its indexes are of the service."""
    file = tmp_path / "incident.ddb"
    ddbfs("cat", "--record", file, f"/{JOBS}/all@csv")
    ddbfs("cat", "--record", file, "/prod/tables/prod-EcomIndexerJobsTable/schema.json")
    assert "IndexName" in rows_of(file, "SELECT description FROM tables")[0][0]
    assert "prod-EcomIndexerJobsTable: 40 versions of items are valid" in ddbfs("check", file).text
    with sqlite3.connect(file) as database:
        database.executescript("UPDATE items_1 SET k1 = 'x' WHERE rowid = 1; UPDATE keys SET type = 'N'")
    refused = ddbfs("check", file, expect=1).text
    assert "row 1: a key column differs" in refused and "the table keys differs" in refused


def test_only_a_recording_or_a_new_file_is_written(ddbfs, tmp_path):
    other = tmp_path / "other.db"
    sqlite3.connect(other).execute("CREATE TABLE t(a)").close()
    text = tmp_path / "notes.txt"
    text.write_text("important " * 100)
    for file, reason in ((other, "another application"), (text, "no SQLite database")):
        before = file.read_bytes()
        told = ddbfs("cat", "--record", file, SETTINGS, expect=1).stderr
        assert reason in told and "--record needs a new file, or a recording" in told
        assert "ddbfs import" not in told
        assert file.read_bytes() == before
    ddbfs("cat", "--record", tmp_path / "no/such/folder.ddb", SETTINGS, expect=1)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes files of another user")
def test_a_file_of_another_user_gets_no_recording(ddbfs, tmp_path):
    """Its owner could read the recording, also if the file was empty before."""
    file = tmp_path / "incident.ddb"
    for make in (file.touch, lambda: ddbfs("cat", "--record", file, SETTINGS)):
        make()
        os.chown(file, 12345, 12345)
        before = file.read_bytes()
        told = ddbfs("cat", "--record", file, SETTINGS, expect=1).stderr
        assert "is a file of another user, who could read the recording; name a new file" in told
        assert file.read_bytes() == before
        file.unlink()


def test_a_journal_that_names_another_file_is_not_applied(ddbfs, tmp_path):
    """A recorder applies the journal of a killed one, and no other."""
    file, victim, journal = (tmp_path / name for name in ("incident.ddb", "diary", "incident.ddb-journal"))
    victim.write_text("dear diary")
    ddbfs("cat", "--record", file, SETTINGS)
    content = journals.hot(file)
    journal.write_bytes(content + journals.super_journal(file, victim))
    refused = ddbfs("cat", "--record", file, SETTINGS, expect=1).stderr
    assert "incident.ddb-journal was not applied: it names a super-journal" in refused
    assert victim.exists() and journal.exists()
    journal.write_bytes(content)
    ddbfs("cat", "--record", file, SETTINGS)
    assert not journal.exists() and rows_of(file, "SELECT count(*) FROM runs") == [(2,)]


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


def test_no_path_with_a_secret_is_in_the_file(ddbfs, tmp_path):
    file, secret = tmp_path / "incident.ddb", "a-token-in-a-path"
    lines = (places.EXAMPLES / "ecommerce.map.json").read_text().splitlines()
    example = json.loads("".join(line for line in lines if not line.strip().startswith("//")))
    example["tables"]["shops"]["secret"] += ["system_account_id"]
    del example["tables"]["shops"]["links"]
    (tmp_path / "map.json").write_text(json.dumps(example))
    raw = f"/tables/prod-ShopifyEntitiesTable/by/GSI_SystemAccountId/{secret}"
    for path in (raw, f"/prod/shops/by-account/{secret}", f"/prod/shops/by-account/{secret}/SETTINGS"):
        ddbfs("--map", tmp_path / "map.json", "ls", "--record", file, path, expect=None)
    kinds = {kind for (kind,) in rows_of(file, "SELECT kind FROM responses")}
    assert {"table", "query", "items"} <= kinds
    assert secret.encode() not in file.read_bytes()
    ddbfs("--map", tmp_path / "map.json", "ls", "--record", file, "--show-secrets", raw, expect=None)
    assert secret.encode() in file.read_bytes()


def test_a_recording_that_cannot_begin_leaves_no_file(ddbfs, small_disk, proxy):
    with open(small_disk / "ballast", "wb", buffering=0) as ballast:
        with pytest.raises(OSError):
            while True:
                ballast.write(b"x" * 4096)
    told = ddbfs("ls", "--record", small_disk / "incident.ddb", f"/{SHOP}", expect=1)
    assert "incident.ddb cannot grow: the disk is full; free space there" in told.stderr
    assert os.listdir(small_disk) == ["ballast"] and not proxy.ops and not told.stdout


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
    live = mount("--record", os.path.relpath(file))
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
    name = live.stats()["recording"]["file"]
    assert name == f"{os.getcwd()}/{os.path.relpath(file)}" and name in told
    assert "has stopped" in live.log()
    reported = live.ddbfs("status", expect=1)
    assert f"ddbfs: {live.root}: " in reported.stderr and "the disk is full" in reported.stderr
    live.unmount()
    (small_disk / "ballast").unlink()
    assert (SETTINGS,) in rows_of(file, "SELECT path FROM responses")
    assert rows_of(file, "PRAGMA quick_check") == [("ok",)]


@rows("replaces", [False, True])
def test_a_recording_without_its_file_stops(mount, tmp_path, replaces):
    file = tmp_path / f"incident-{replaces}.ddb"
    live = mount("--record", file)
    live.exit_code = 1
    mounts.wait_until(lambda: live.stats()["recording"]["responses"] > 0, "the first response")
    if replaces:
        shutil.copy(file, tmp_path / "other.ddb")
        os.rename(tmp_path / "other.ddb", file)
    else:
        file.unlink()
    (live / f"{SHOP}/SETTINGS").read_bytes()
    told = mounts.wait_until(lambda: live.stats()["recording"]["stopped"], "the failure")
    assert f"{file} was removed or replaced by another program while it was written to" in told
    assert (live / f"{SHOP}/API_KEY").read_bytes()
    live.unmount()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
def test_a_journal_of_another_user_is_not_applied_to_an_open_recording(mount, tmp_path):
    """In a folder such as /tmp it would truncate the file."""
    file, journal = tmp_path / "incident.ddb", tmp_path / "incident.ddb-journal"
    live = mount("--record", file)
    live.exit_code = 1
    mounts.wait_until(lambda: live.stats()["recording"]["responses"] > 0, "the first response")
    (tmp_path / "new").write_bytes(journals.hot(file, pages=0))
    os.chown(tmp_path / "new", 65534, 65534)
    os.rename(tmp_path / "new", journal)
    size = file.stat().st_size
    (live / f"{SHOP}/SETTINGS").read_bytes()
    told = mounts.wait_until(lambda: live.stats()["recording"]["stopped"], "the failure")
    assert f"{journal} was not applied: it is another user's" in told
    assert live.unmount() == 1 and file.stat().st_size == size
    journal.unlink()
    assert rows_of(file, "PRAGMA quick_check") == [("ok",)]


def test_readers_do_not_wait_for_the_file(mount, tmp_path):
    """While another program holds its lock, responses wait in memory."""
    file = tmp_path / "incident.ddb"
    live = mount("--record", file)
    mounts.wait_until(lambda: live.stats()["recording"]["responses"] > 0, "the first response")
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    before = live.stats()["recording"]["responses"]
    for name in ("SETTINGS", "API_KEY", *(f"no-such-{number}" for number in range(50))):
        (live / SHOP / name).exists()
    assert live.stats()["recording"]["responses"] == before
    other.execute("COMMIT")
    mounts.wait_until(lambda: live.stats()["recording"]["responses"] >= before + 52, "the rest")
    other.close()


def test_a_killed_daemon_leaves_a_readable_file(mount, tmp_path, ddbfs):
    file = tmp_path / "incident.ddb"
    live = mount("--record", file)
    (live / f"{SHOP}/SETTINGS").read_bytes()
    mounts.wait_until(lambda: live.stats()["recording"]["responses"] > 1, "the response")
    for name in os.listdir(live / SHOP):
        (live / SHOP / name).stat()
    live.exit_code = None
    live.signal(signal.SIGKILL)
    live.wait()
    for each in tmp_path.glob("incident.ddb*"):  # with a journal, if there is one
        assert b"shpat_demo" not in each.read_bytes()
    mounts.take_away(live.root)
    assert (SETTINGS,) in rows_of(file, "SELECT path FROM responses")
    assert rows_of(file, "PRAGMA quick_check") == [("ok",)]
    assert rows_of(file, "SELECT ended_ms FROM runs") == [(None,)]
    told = ddbfs("check", file).text
    assert "in 1 run; 1 without an end: it goes on, or was killed or stopped" in told
    ((count,),) = rows_of(file, "SELECT count(*) FROM (SELECT DISTINCT run, call, page FROM responses)")
    assert re.search(rf"it is a recording of {count} responses? with \d+ items?, from 20\S+Z to 20\S+Z, in", told)


def test_the_root_of_a_recording_is_listed(ddbfs, replay, tmp_path):
    """Without the environments that only the names of tables show: a warning names them."""
    file = tmp_path / "incident.ddb"
    ddbfs("ls", "--record", file, f"/{SHOP}")
    listed = replay(file)("ls", "/")
    assert listed.text.split() == ["prod/", "staging/", "tables/"]
    assert "/dev-{branch} is not listed" in listed.stderr
    ddbfs("ls", "--record", file, "/")
    assert replay(file)("ls", "/").stdout == ddbfs("ls", "/").stdout


def test_a_snapshot_is_not_recorded(ddbfs, tmp_path):
    file = tmp_path / "incident.ddb"
    ddbfs("ls", "--record", file, f"/{SHOP}")
    refused = ddbfs("cat", "--record", file, SETTINGS, env={"DDBFS_SNAPSHOT": str(file)}, expect=1)
    assert "does not go with DDBFS_SNAPSHOT" in refused.stderr


def test_the_password_of_an_endpoint_is_not_recorded(ddbfs, proxy, tmp_path):
    file = tmp_path / "incident.ddb"
    url = proxy.url.replace("://", "://user:hush-hush@")
    ddbfs("cat", "--record", file, "--endpoint-url", url, SETTINGS, expect=None)
    assert b"hush-hush" not in file.read_bytes()


# The replay: other machine, no server, no credentials, no map.


class Replay:
    """The recording FILE, mounted where nothing else is known."""

    def __init__(self, ddbfs, folder, file):
        self.folder = folder
        folder.mkdir()
        self.home = runner.Home(folder / "home", "http://127.0.0.1:1")
        self.env = {"AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
                    "AWS_ACCESS_KEY_ID": None, "AWS_SECRET_ACCESS_KEY": None, "DDBFS_MAP": None,
                    "HOME": str(folder), "XDG_CONFIG_HOME": str(folder / "none")}  # fmt: skip
        self.ddbfs = ddbfs
        self.file = file
        self.mount = None

    def __call__(self, *words, expect=0):
        return self.ddbfs(words[0], "--snapshot", self.file, *words[1:], env=self.env, expect=expect)

    def __enter__(self):
        self.mount = mounts.Mount(
            self.ddbfs, self.folder, None, ["--snapshot", str(self.file)], env=self.env
        ).wait_ready()
        return self.mount

    def __exit__(self, *_):
        self.mount.clean_up()


@pytest.fixture
def replay(ddbfs, tmp_path):
    numbers = itertools.count()
    return lambda file: Replay(ddbfs, tmp_path / f"elsewhere-{next(numbers)}", file)


JOBS = "prod/jobs/by-index/shopify/kl7a9h55-shopify-e513a8-4"


def seen(root):
    """The bytes and listings of some paths: items, by-id, listings, files of listings, links."""
    job = sorted(os.listdir(root / JOBS / "all"))[0]
    number = job.split("_")[-1]
    found = {path: (root / path).read_bytes() for path in (
        f"{SHOP}/SETTINGS", f"{SHOP}/API_KEY@typed", f"{SHOP}@csv", f"{JOBS}/latest@jsonl",
        f"{JOBS}/all/{job}")}  # fmt: skip
    for path in (SHOP, f"{JOBS}/all", f"{JOBS}/latest"):
        found[path + "/"] = sorted(
            (each.name, each.stat().st_size, each.stat().st_mode)
            for each in (root / path).iterdir()
            if each.name != "access-token"
        )
    found["find"] = sorted(
        os.path.relpath(os.path.join(folder, name), root)
        for folder, _, names in os.walk(root / SHOP)
        for name in names
    )
    found["ids"] = number
    return found


def errno_of(read):
    try:
        read()
    except OSError as why:
        return why.errno
    return 0


def test_the_same_bytes_and_listings_are_shown_without_a_server(mount, replay, tmp_path):
    file = tmp_path / "incident.ddb"
    live = mount("--record", file)
    before = seen(live.root)
    with pytest.raises(FileNotFoundError):
        (live / f"{SHOP}/no-such-user").read_bytes()
    token = (live / f"{SHOP}/access-token").read_bytes()
    live.unmount()
    with replay(file) as past:
        assert seen(past.root) == before
        assert errno_of((past / f"{SHOP}/no-such-user").read_bytes) == errno.ENOENT
        assert (past / f"{SHOP}/access-token").read_bytes() == b"********\n" != token
        unread = ["prod/shops/e513a8-4.myshopify.com/SETTINGS", "prod/jobs/by-id/1", f"{JOBS}/on/2026-01-01@count"]
        for path in unread:
            assert errno_of((past / path).read_bytes) == errno.ENODATA, path
        for path in ("prod/shops/e513a8-4.myshopify.com", "prod/jobs/by-index/shopify/other/all"):
            assert errno_of(lambda: os.listdir(past / path)) == errno.ENODATA, path
        (told, *_) = [line for line in past.errors().splitlines() if "is not in the recording" in line]
        assert told.count("the table itself") == 1 and "ddbfs check FILE" in told
        listed = past.ddbfs("status").text
        assert listed.count(str(file)) == 1, listed
        assert f"--snapshot {file}" in past.ddbfs("mount", file, tmp_path, expect=2).stderr


def test_commands_read_a_recording(ddbfs, replay, tmp_path):
    file = tmp_path / "incident.ddb"
    for words in (("cat", SETTINGS), ("ls", f"/{SHOP}"), ("cat", f"/{JOBS}/all@csv")):
        ddbfs(words[0], "--record", file, words[1])
    past = replay(file)
    for words in (("cat", SETTINGS), ("ls", f"/{SHOP}"), ("cat", f"/{JOBS}/all@csv")):
        assert past(*words).stdout == ddbfs(*words).stdout
    refused = past("cat", "--json", "/prod/jobs/by-id/1", expect=1)
    assert json.loads(refused.stderr)["errno"] == "ENODATA"
    assert "note   the recording may lack this" in past("explain", "/prod/jobs/by-id/1").text
    assert "may lack" not in ddbfs("explain", "/prod/jobs/by-id/1").text
    assert "does not go with --snapshot" in past("cat", "--record", file, SETTINGS, expect=2).stderr


def test_a_view_of_a_recording_is_not_read(ddbfs, replay, tmp_path):
    """In the place of a table, it could occupy the reader for ever."""
    file = tmp_path / "incident.ddb"
    ddbfs("cat", "--record", file, SETTINGS)
    with sqlite3.connect(file) as database:
        database.executescript(
            "ALTER TABLE items_1 RENAME TO others; CREATE VIEW items_1 AS SELECT * FROM others"
        )
    assert 'access to view "items_1" prohibited' in replay(file)("cat", SETTINGS, expect=1).stderr


def test_a_mounted_recording_is_compared_with_the_present(ddbfs, replay, tmp_path, boto):
    """With the mount's settings, so the server must be known to the command."""
    file = tmp_path / "incident.ddb"
    table = boto.describe_table(TableName="prod-ShopifyEntitiesTable")["Table"]["TableName"]
    key = {"pk": {"S": "SHOP#cool-store.myshopify.com"}, "sk": {"S": "SETTINGS"}}
    item = boto.get_item(TableName=table, Key=key)["Item"]
    ddbfs("ls", "--record", file, f"/{SHOP}")
    with replay(file) as past:
        assert "warning" not in past.log()
        same = ddbfs("diff", past / SHOP, f"/{SHOP}")
        assert same.text == ""
        masked = "has a secret that is masked in a recording and was not compared"
        assert same.stderr.count(masked) == 1 and f"{masked}, like 4 more\n" in same.stderr
        try:
            boto.put_item(TableName=table, Item=item | {"changed": {"S": "since"}})
            changed = ddbfs("diff", past / SHOP, f"/{SHOP}", expect=1).text
            assert "--- /prod@at/9999/shops/cool-store.myshopify.com/SETTINGS" in changed
            assert '+  "changed": "since",' in changed
        finally:
            boto.put_item(TableName=table, Item=item)


def test_two_masks_do_not_pass_for_the_same_secret(ddbfs, replay, tmp_path):
    file, shops = tmp_path / "incident.ddb", ("cool-store.myshopify.com", "e513a8-4.myshopify.com")
    for name in ("access-token", "API_KEY"):
        for shop in shops:
            ddbfs("cat", "--record", file, f"/prod/shops/{shop}/{name}")
    masked = "has a secret that is masked in a recording and was not compared\n"
    for name, options, status in (("access-token", [], 0), ("access-token", ["--show-secrets"], 0), ("API_KEY", [], 1)):
        paths = [f"/prod/shops/{shop}/{name}" for shop in shops]
        done = replay(file)("diff", *options, *paths, expect=status)
        assert f"{paths[0]}: {masked}" in done.stderr
        assert (done.text == "") == (status == 0)


def test_names_keep_the_suffix_of_the_recording(ddbfs, replay, tmp_path):
    file = tmp_path / "incident.ddb"
    text = ddbfs("cat", "--record", file, "--suffix", ".json", f"{SETTINGS}.json").stdout
    assert replay(file)("cat", f"{SETTINGS}.json").stdout == text


def test_the_moments_of_a_recording_are_its_past(ddbfs, replay, tmp_path, boto):
    file = tmp_path / "incident.ddb"
    table = "prod-ShopifyEntitiesTable"
    key = {"pk": {"S": "SHOP#cool-store.myshopify.com"}, "sk": {"S": "SETTINGS"}}
    item = boto.get_item(TableName=table, Key=key)["Item"]
    ddbfs("ls", "--record", file, "/prod/jobs/by-status/kl7a9h55-shopify-e513a8-4/COMPLETED")
    with sqlite3.connect(file) as database:
        database.execute("UPDATE responses SET at_ms = at_ms - 120000")
    texts = [ddbfs("cat", "--record", file, SETTINGS).stdout]
    with sqlite3.connect(file) as database: # as if it had been earlier
        (number,) = database.execute("SELECT table_number FROM recorded_tables WHERE name = ?", (table,)).fetchone()
        for table_name, column in (("responses", "at_ms"), (f"items_{number}", "from_ms")):
            database.execute(f"UPDATE {table_name} SET {column} = {column} - 60000")
    try:
        boto.put_item(TableName=table, Item=item | {"changed": {"S": "since"}})
        texts.append(ddbfs("cat", "--record", file, SETTINGS).stdout)
    finally:
        boto.put_item(TableName=table, Item=item)
    past = replay(file)
    times = [time.rstrip("/") for time in past("ls", "/prod@at").text.split()]
    assert len(times) == 3  # at the first one it was not read
    assert past("cat", f"/prod@at/{times.pop()}/shops/cool-store.myshopify.com/SETTINGS", expect=1)
    for time, text in zip(times, reversed(texts)):
        assert past("cat", f"/prod@at/{time}/shops/cool-store.myshopify.com/SETTINGS").stdout == text
    assert past("cat", SETTINGS).stdout == texts[1]
    assert [time.rstrip("/") for time in past("ls", f"{SETTINGS}@history").text.split()] == times
    changed = past("diff", f"/prod@at/{times[1]}/shops/cool-store.myshopify.com/SETTINGS", SETTINGS, expect=1)
    assert '+  "changed": "since",' in changed.text
    assert "incident.ddb" in past("explain", SETTINGS).text



def test_tables_without_a_map_are_recorded(ddbfs, replay, tmp_path):
    file = tmp_path / "incident.ddb"
    path = "/tables/prod-ShopifyEntitiesTable/items/SHOP#cool-store.myshopify.com/SETTINGS"
    schema = "/tables/prod-ShopifyEntitiesTable/schema.json"
    texts = [ddbfs("cat", "--record", file, "--no-map", each).stdout for each in (path, schema)]
    past = replay(file)
    assert [past("cat", "--no-map", each).stdout for each in (path, schema)] == texts
    assert past("ls", "--no-map", "/tables", expect=1).stderr.count("is not in the recording") == 1


def test_sighup_reads_a_recording_again(mount, ddbfs, tmp_path):
    file = tmp_path / "incident.ddb"
    ddbfs("cat", "--record", file, SETTINGS)
    past = mount("--snapshot", file)
    with pytest.raises(OSError) as error:
        (past / f"{SHOP}/API_KEY").read_bytes()
    assert error.value.errno == errno.ENODATA
    with sqlite3.connect(file) as database:  # as if it had been earlier
        database.execute("UPDATE responses SET at_ms = at_ms - 60000")
        database.execute("UPDATE items_1 SET from_ms = from_ms - 60000")
    ddbfs("cat", "--record", file, f"/{SHOP}/API_KEY")
    past.signal(signal.SIGHUP)
    mounts.wait_until(lambda: len(os.listdir(past / "prod@at")) == 2, "the further moment")
    earlier = min(os.listdir(past / "prod@at"))
    assert b"api_key" in (past / f"{SHOP}/API_KEY").read_bytes()
    other = tmp_path / "other.ddb"
    ddbfs("ls", "--record", other, f"/{SHOP}")
    other.rename(file)
    with pytest.raises(OSError) as error:
        os.listdir(past / "prod/shops/other-shop")
    assert error.value.errno == errno.ESTALE and "send SIGHUP" in past.log()
    past.signal(signal.SIGHUP)
    mounts.wait_until(lambda: earlier not in os.listdir(past / "prod@at"), "the other recording")
    assert len(os.listdir(past / SHOP)) > 5
