"""Tables that no map describes, in a live mount: without any map, and beside those of one."""

import errno
import json
import os
import pathlib
import signal
import subprocess
import threading

import pytest

from harness import load, mounts, tables

BARE = {"DDBFS_MAP": None}
STRUCTURE_S = 60  # for how long a description is believed
JOBS = "prod-EcomIndexerJobsTable"
SHOPS = "prod-ShopifyEntitiesTable"


def thing(box, name, **texts):
    return {key: {"S": text} for key, text in {"pk": box, "sk": name, **texts}.items()}


@pytest.fixture
def things(table):
    """The table any-Things with a few records."""
    return table(tables.plain(), [thing("box", "one", note="first"), thing("box", "two")])


@pytest.fixture
def bare(mount):
    """bare(*options): a mount without any map."""
    return lambda *options, **env: mount(*options, env={**BARE, **env})


def add_index(body):
    """A description with one index more."""
    table = body["Table"]
    table["AttributeDefinitions"].append({"AttributeName": "note", "AttributeType": "S"})
    table["GlobalSecondaryIndexes"] = [
        {
            "IndexName": "by-note",
            "KeySchema": [{"AttributeName": "note", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "ALL"},
            "IndexStatus": "ACTIVE",
        }
    ]


def code_of(action):
    with pytest.raises(OSError) as raised:
        action()
    return raised.value.errno


# What there is.


def test_what_a_mount_without_a_map_has(bare, things):
    m = bare()
    assert os.listdir(m.root) == ["tables"]
    assert things in os.listdir(m / "tables")
    assert {"README", "items"} <= set(os.listdir(m / "tables" / things))
    assert sorted(os.listdir(m / f"tables/{things}/items/box")) == ["one", "two"]
    assert json.loads((m / f"tables/{things}/items/box/one").read_bytes())["note"] == "first"
    assert (m / ".ddbfs/map.json").read_bytes() == b""


def test_the_start_asks_for_names_alone(ddbfs, proxy, tmp_path, things):
    m = mounts.Mount(ddbfs, tmp_path / "own", proxy, env=BARE)
    try:
        m.wait_ready()
        assert proxy.ops == ["ListTables"]
        proxy.clear()
        assert (m / f"tables/{things}/items/box/one").read_bytes()
        assert proxy.ops == ["DescribeTable", "GetItem"]
    finally:
        m.clean_up()


def test_in_the_background(ddbfs, tmp_path, things):
    root = tmp_path / "root"
    root.mkdir()
    ddbfs("mount", root, env=BARE)
    try:
        assert (root / f"tables/{things}/items/box/one").read_bytes()
    finally:
        ddbfs("umount", root, env=BARE)
    assert not mounts.is_mounted(root)


def test_each_environment_of_a_map_has_all_tables(mount, things, oracle):
    m = mount()
    assert "tables" in os.listdir(m / "prod") and "tables" in os.listdir(m / "dev-search-v2")
    assert JOBS in os.listdir(m / "prod/tables")
    assert (m / f"prod/tables/{things}/items/box/one").read_bytes()
    assert (m / f"tables/{things}/items/box/one").read_bytes() and things in os.listdir(m / "tables")
    assert m.counts() == {"ListTables": 2, "DescribeTable": 2, "GetItem": 2}


def test_fstab_s_source_without_a_map(ddbfs, things, tmp_path):
    helper = pathlib.Path(tmp_path / "mount.fuse.ddbfs")
    helper.symlink_to(ddbfs.binary)
    root = tmp_path / "root"
    root.mkdir()
    environment = ddbfs.home.environment(BARE)
    subprocess.run([helper, "ddbfs", root, "-o", "ro,noauto,region=us-east-1"], env=environment, check=True)
    try:
        assert things in os.listdir(root / "tables")
    finally:
        ddbfs("umount", root)


# What it costs.


@pytest.mark.parametrize("command", [["ls"], ["ls", "-l"], ["find"]])
def test_a_thousand_tables(bare, proxy, command):
    m = bare()
    proxy.fault("canned", op="ListTables", times=None, answer=tables.canned_names(1000))
    extra = ["-maxdepth", "1"] if command == ["find"] else []
    done = subprocess.run([*command, m / "tables", *extra], check=True, capture_output=True, text=True)
    assert done.stdout.count("Table-") == 1000
    assert m.counts() == {"ListTables": 10}


def test_names_are_told_page_by_page(bare, proxy):
    m = bare()
    proxy.fault("canned", op="ListTables", times=1, answer=tables.canned_names(1000))
    proxy.fault("denied", op="ListTables", times=None)
    told = []
    with os.scandir(m / "tables") as entries:
        assert code_of(lambda: told.extend(entry.name for entry in iter(lambda: next(entries), None))) == errno.EACCES
    assert len(told) == 100 and "dynamodb:ListTables" in m.errors()


def test_a_table_is_described_once_a_minute(bare, things):
    m = bare()
    for _ in range(3):
        os.listdir(m / f"tables/{things}")
        assert (m / f"tables/{things}/items/box/one").read_bytes()
        assert not (m / f"tables/{things}/items/box/three").exists()
    assert m.counts()["DescribeTable"] == 1


def test_noise_asks_nobody(bare):
    m = bare()
    for name in (".git", ".hidden", "HEAD", ".Trash-1000", "autorun.inf", "a b", "ab"):
        assert code_of((m / "tables" / name).lstat) == errno.ENOENT
        assert code_of((m / name).lstat) == errno.ENOENT
    assert m.counts() == {}


# What fails.


def test_no_permission_to_list_tables(ddbfs, proxy, tmp_path, things):
    proxy.fault("denied", op="ListTables", times=None)
    m = mounts.Mount(ddbfs, tmp_path / "own", proxy, env=BARE)
    try:
        m.wait_ready()
        assert "mounting anyway" in m.log() and "dynamodb:ListTables" in m.log()
        assert code_of(lambda: os.listdir(m / "tables")) == errno.EACCES
        assert "dynamodb:ListTables" in m.errors()
        assert (m / f"tables/{things}/items/box/one").read_bytes()
    finally:
        m.clean_up()


def test_more_tables_than_max_entries(bare, things):
    m = bare("--max-entries", "1")
    assert "more than 1 items" in m.log() and "mounting anyway" in m.log()
    assert code_of(lambda: os.listdir(m / "tables")) == errno.EFBIG
    assert (m / f"tables/{things}/items/box/one").read_bytes()


def test_no_credentials_at_all(ddbfs, tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    env = {**BARE, "AWS_SHARED_CREDENTIALS_FILE": "/dev/null", "AWS_CONFIG_FILE": "/dev/null"}
    result = ddbfs("mount", root, env=env, expect=1)
    assert result.stderr.startswith("ddbfs: ") and not mounts.is_mounted(root)


def test_no_permission_to_describe(bare, proxy, things):
    m = bare()
    proxy.fault("denied", op="DescribeTable", times=None)
    assert things in os.listdir(m / "tables")
    assert code_of(lambda: os.listdir(m / "tables" / things)) == errno.EACCES
    assert code_of((m / f"tables/{things}/items").lstat) == errno.EACCES
    assert "dynamodb:DescribeTable" in m.errors()


def test_a_table_that_is_not_there(bare):
    m = bare()
    assert code_of((m / "tables/Nowhere").lstat) == errno.ENOENT
    assert code_of((m / "tables/Nowhere/items").lstat) == errno.ENOENT
    assert m.counts()["DescribeTable"] <= 2


# What changes.


def test_an_index_that_is_added_shows_within_a_minute(bare, proxy, things, clock):
    """Also to who stands in the table's directory, or in one below."""
    m = bare(**clock.env)
    root = m / "tables" / things
    inside = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    below = os.open(root / "items", os.O_RDONLY | os.O_DIRECTORY)
    try:
        assert "by" not in os.listdir(root) and code_of((root / "by").lstat) == errno.ENOENT
        proxy.fault("alter", op="DescribeTable", times=None, change=add_index)
        assert "by" not in os.listdir(root)
        clock.passes(STRUCTURE_S)
        assert "by" in os.listdir(f"/proc/self/fd/{inside}")
        assert os.listdir(f"/proc/self/fd/{inside}/by") == ["by-note"]
        assert os.listdir(f"/proc/self/fd/{below}/box")
        assert json.loads((root / "items/box/one").read_bytes())["note"] == "first"
    finally:
        os.close(inside)
        os.close(below)


def test_the_kernel_is_told_how_long_a_description_is_good(bare, things, clock):
    """What was described long ago is soon looked up again."""
    m = bare(**clock.env)
    assert (m / f"tables/{things}/items/box/one").read_bytes()
    before = m.counts()["DescribeTable"]
    clock.passes(STRUCTURE_S - 1)
    assert os.listdir(m / f"tables/{things}/items/box") and (m / f"tables/{things}/items/other").is_dir()
    clock.passes(2)

    def described_again():  # as soon as the kernel, which has a clock of its own, forgets the name
        return (m / f"tables/{things}/items/other").is_dir() and m.counts()["DescribeTable"] > before

    mounts.wait_until(described_again, "another DescribeTable", STRUCTURE_S / 2)


def test_a_table_that_is_deleted_goes(bare, boto, things, clock):
    m = bare(**clock.env)
    root = m / "tables" / things
    with open(root / "items/box/one", "rb") as file:
        boto.delete_table(TableName=things)
        try:
            assert (root / "items").is_dir()
            clock.passes(STRUCTURE_S)
            assert code_of((root / "items/third").lstat) == errno.ENOENT
            m.refresh(f"tables/{things}")
            assert code_of(root.lstat) == errno.ENOENT
            assert json.loads(file.read())["note"] == "first"
        finally:
            load.create_table(boto, tables.plain())  # which the fixture takes away


def test_old_models_die_when_they_are_let_go(bare, proxy, things, clock):
    m = bare(**clock.env)
    root = m / "tables" / things
    os.listdir(root / "items/box")
    assert m.stats()["models"] == 1
    held = os.open(root / "items/box", os.O_RDONLY | os.O_DIRECTORY)
    file = open(root / "items/box/one", "rb")
    proxy.fault("alter", op="DescribeTable", times=None, change=add_index)
    clock.passes(STRUCTURE_S)
    m.refresh(f"tables/{things}")
    assert "by" in os.listdir(root)
    assert m.stats()["models"] == 2  # the old one is that of the open directories
    assert file.read()
    file.close()
    os.close(held)
    m.refresh(f"tables/{things}")
    assert os.listdir(root / "items/box")
    mounts.wait_until(lambda: m.stats()["models"] == 1, "the old model's end")


def test_a_description_that_says_the_same_changes_nothing(bare, things, clock):
    m = bare(**clock.env)
    path = m / f"tables/{things}/items/box"
    held = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    for _ in range(3):
        clock.passes(STRUCTURE_S)
        m.refresh("tables")
        assert os.stat(path).st_ino == os.fstat(held).st_ino
    os.close(held)
    assert m.stats()["models"] == 1 and m.counts()["DescribeTable"] >= 3


def test_refresh_drops_a_description(bare, proxy, things):
    m = bare()
    root = m / "tables" / things
    assert "by" not in os.listdir(root)
    proxy.fault("alter", op="DescribeTable", times=None, change=add_index)
    assert "by" not in os.listdir(root)
    m.refresh(f"tables/{things}")
    assert "by" in os.listdir(root)


def test_a_map_may_appear(bare, home, make_map, things):
    """SIGHUP looks for one in the usual places, where there was none."""
    m = bare()
    held = os.open(m / f"tables/{things}/items", os.O_RDONLY | os.O_DIRECTORY)
    m.signal(signal.SIGHUP)
    assert os.listdir(m.root) == ["tables"]
    usual = home.folder / ".config/ddbfs/map.json"
    usual.parent.mkdir(parents=True)
    usual.write_bytes(make_map().read_bytes())
    m.signal(signal.SIGHUP)
    mounts.wait_until(lambda: "prod" in os.listdir(m.root), "the map")
    assert "tables" in os.listdir(m.root)
    assert (m / f"prod/tables/{things}/items/box/one").read_bytes()
    assert sorted(os.listdir(f"/proc/self/fd/{held}/box")) == ["one", "two"]
    os.close(held)
    usual.unlink()
    m.signal(signal.SIGHUP)
    mounts.wait_until(lambda: "the old map stays in use" in m.log(), "the complaint")
    assert "prod" in os.listdir(m.root)


def test_directories_survive_a_new_map(mount, make_map, things):
    own = make_map()
    m = mount(map_file=own)
    root = m / f"prod/tables/{things}"
    assert sorted(os.listdir(root / "items/box")) == ["one", "two"]
    held = os.open(root / "items/box", os.O_PATH)
    own.write_text(own.read_text("utf-8") + "\n// another\n", "utf-8")
    m.signal(signal.SIGHUP)
    mounts.wait_until(lambda: "the map has been read again" in m.log(), "the new map")
    assert sorted(os.listdir(root / "items/box")) == ["one", "two"]
    assert os.stat(root / "items/box").st_ino == os.fstat(held).st_ino
    assert m.stats()["maps"] == 1
    os.close(held)


def test_a_look_up_during_a_reload_masks_by_the_new_map(mount, make_map, proxy):
    """The description of a table is under way when the map declares a secret."""
    own = make_map(lambda text: text.replace('"secret": ["access_token", "api_key"],', ""))
    m = mount(map_file=own)
    root, enough = m / f"tables/{SHOPS}", threading.Event()
    proxy.fault("delay", op="DescribeTable", seconds=90, until=lambda _: enough.is_set())
    early = threading.Thread(target=os.stat, args=(root,))
    early.start()
    mounts.wait_until(lambda: proxy.ops == ["DescribeTable"], "the description")
    own.write_bytes(make_map(name="another.map.json").read_bytes())
    m.signal(signal.SIGHUP)
    mounts.wait_until(lambda: "the map has been read again" in m.log(), "the new map")
    enough.set()
    early.join()
    item = root / "items/SHOP#cool-store.myshopify.com/USER#71203948812"
    assert json.loads(item.read_bytes())["access_token"] == "********"


def test_allow_other_shows_no_tables_of_which_nobody_said_what_is_secret(mount):
    m = mount("-o", "allow_other", env=BARE)
    assert os.listdir(m.root) == []
    with pytest.raises(PermissionError):
        os.listdir(m / "tables")
    assert "--show-secrets" in m.log()
    with_map = mount("-o", "allow_other")
    assert "tables" not in os.listdir(with_map / "prod")


def test_allow_other_with_show_secrets_shows_tables(mount):
    m = mount("-o", "allow_other", "--show-secrets", env=BARE)
    assert "prod-ShopifyEntitiesTable" in os.listdir(m / "tables")


def test_an_item_that_moves_inside_of_its_index_while_it_is_listed(bare, table, boto, proxy):
    """It has the name that the query returned, and opens by it while the listing is fresh."""
    base = tables.table("any-Moving")
    keys = [{"AttributeName": "state", "KeyType": "HASH"}, {"AttributeName": "since", "KeyType": "RANGE"}]
    index = {"IndexName": "by-state", "KeySchema": keys, "Projection": {"ProjectionType": "KEYS_ONLY"}}
    kinds = [{"AttributeName": each["AttributeName"], "AttributeType": "S"} for each in keys]
    described = {
        **base,
        "AttributeDefinitions": [*base["AttributeDefinitions"], *kinds],
        "GlobalSecondaryIndexes": [index],
    }
    name = table(described, [thing("box", each, state="open", since="2026-02-01") for each in ("one", "two")])

    def move(_exchange, go_on):
        boto.put_item(TableName=name, Item=thing("box", "one", state="open", since="2026-03-01", note="moved"))
        return go_on()

    m = bare()
    folder = m / f"tables/{name}/by/by-state/open"
    proxy.fault("handled", op="BatchGetItem", handler=move)
    listed = [each for each in sorted(os.listdir(folder)) if each.startswith("2026")]
    assert [each.partition(",")[0][:10] for each in listed] == ["2026-02-01", "2026-02-01"], listed
    sizes = [(folder / each).stat().st_size for each in listed]
    texts = [(folder / each).read_bytes() for each in listed]
    assert [json.loads(text).get("note") for text in texts] == ["moved", None] and sizes == [len(text) for text in texts]
