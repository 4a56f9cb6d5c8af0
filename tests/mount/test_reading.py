"""Files of a live mount: the bytes of `ddbfs cat`, exact attributes, one version each, errors."""

import errno
import json
import os
import re
import pwd
import stat
import subprocess
import threading
import time

import pytest

from harness import mounts
from harness.rows import rows

BOTH = pytest.mark.parametrize(
    "server",
    os.environ.get("DDBFS_SERVERS", "dynoxide dynamodb-local").split(),
    indirect=True,
    scope="session",
)

JOB = "1f3c9a52-7b1e-4c57-9d0a-2e6f4b8c1d90"
INDEX = "kl7a9h55-shopify-e513a8-4"
ENTRY = f"2026-04-16T09:41:07.318Z#{JOB}"
SHOP = "prod/shops/cool-store.myshopify.com"
SETTINGS = f"{SHOP}/SETTINGS"
SHOPS_TABLE = "prod-ShopifyEntitiesTable"

# One path of each kind that the example map declares.
RECORDS = [
    f"prod/jobs/by-id/{JOB}",
    f"prod/jobs/by-index/shopify/{INDEX}/latest/{ENTRY}",
    f"prod/jobs/by-index/shopify/{INDEX}/all/{ENTRY}",
    f"prod/jobs/by-index/shopify/{INDEX}/on/2026-04-16/{ENTRY}",
    f"prod/jobs/by-index/shopify/{INDEX}/between/2026-04-16..2026-04-17/{ENTRY}",
    f"prod/jobs/by-index/shopify/{INDEX}/status/COMPLETED/{ENTRY}",
    f"prod/jobs/by-status/{INDEX}/COMPLETED/shopify#{ENTRY}",
    "prod/index-settings/kl7a9h55/shopify-e513a8-4",
    "prod/index-settings/kl7a9h55/DEFAULT_CONFIGS",
    "prod/index-settings/kl7a9h55/shopify-e513a8-4.d/PROFILE#SEARCH#default",
    "prod/index-settings/by-account/kl7a9h55/shopify-e513a8-4",
    "prod/index-settings/by-domain/e513a8-4.myshopify.com/kl7a9h55#shopify-e513a8-4",
    SETTINGS,
    f"{SHOP}/API_KEY",
    f"{SHOP}/USER#71203948812",
    "prod/shops/by-account/kl7a9h55/cool-store.myshopify.com",
    f"staging/jobs/by-id/{JOB}",
]
OTHERS = [
    f"{SHOP}/access-token",
    f"{SETTINGS}@typed",
    f"{SETTINGS}@/active_index",
    f"{SETTINGS}@/ui_components",
    "prod/jobs/README",
    "prod/jobs/by-id/README",
    f"prod/jobs/by-index/shopify/{INDEX}/on/README",
]


def names(m, path):
    return sorted(os.listdir(m / path))


# The same bytes as the command line's.


@BOTH
def test_a_file_is_what_cat_prints_and_has_its_size(mount, oracle):
    m = mount()
    sizes = [os.stat(m / path).st_size for path in RECORDS + OTHERS]
    given = [(m / path).read_bytes() for path in RECORDS + OTHERS]
    assert [path for path, text in zip(RECORDS + OTHERS, given) if not text.endswith(b"\n")] == []
    assert [(path, size) for path, size, text in zip(RECORDS + OTHERS, sizes, given) if size != len(text)] == []
    assert b"".join(given) == oracle(*[f"/{path}" for path in RECORDS + OTHERS])


@pytest.mark.long
@rows("path", RECORDS + OTHERS)
def test_a_file_is_what_cat_prints_in_a_fresh_mount(mount, oracle, path):
    """No other path has primed it."""
    assert (mount() / path).read_bytes() == oracle(f"/{path}")


def test_a_record_is_the_item_that_boto3_gets(shared_mount, boto):
    key = {"pk": {"S": "SHOP#cool-store.myshopify.com"}, "sk": {"S": "SETTINGS"}}
    item = boto.get_item(TableName=SHOPS_TABLE, Key=key)["Item"]
    got = json.loads((shared_mount / SETTINGS).read_bytes())
    assert got["active_index"] == item["active_index"]["S"]
    assert json.loads((shared_mount / f"{SETTINGS}@typed").read_bytes()) == item


def test_compact_is_one_line(mount, oracle):
    text = (mount("--format", "compact") / SETTINGS).read_bytes()
    assert text.count(b"\n") == 1 and text == oracle(f"/{SETTINGS}", "--format", "compact")


def test_a_suffix_ends_every_record_s_name(mount, oracle):
    m = mount("--suffix", ".json")
    assert "SETTINGS.json" in names(m, SHOP) and "SETTINGS" not in names(m, SHOP)
    assert (m / f"{SETTINGS}.json").read_bytes() == oracle(f"/{SETTINGS}")
    assert not (m / SETTINGS).exists()
    assert (m / f"{SETTINGS}.json@/plan").read_bytes() == b"growth\n"


def test_a_cold_record_costs_one_request_and_a_warm_one_none(mount):
    m = mount()
    (m / SETTINGS).read_bytes()
    assert m.counts() == {"GetItem": 1}
    for _ in range(20):
        (m / SETTINGS).read_bytes()
        os.stat(m / SETTINGS)
    assert m.counts() == {"GetItem": 1}


def test_a_hundred_readers_of_one_cold_record_are_one_request(mount, proxy):
    m = mount()
    proxy.fault("delay", op="GetItem", times=None, seconds=0.5)
    readers = [subprocess.Popen(["cat", m / SETTINGS], stdout=subprocess.PIPE) for _ in range(100)]
    texts = {reader.communicate()[0] for reader in readers}
    assert len(texts) == 1 and b"active_index" in texts.pop()
    assert m.counts() == {"GetItem": 1}


def test_a_reader_may_begin_anywhere(shared_mount, oracle):
    whole = oracle(f"/{SETTINGS}")
    fd = os.open(shared_mount / SETTINGS, os.O_RDONLY)
    for offset in (0, 1, 7, len(whole) - 1, len(whole), len(whole) + 5000):
        assert os.pread(fd, 10, offset) == whole[offset : offset + 10]
    os.close(fd)


def test_a_big_record_is_whole(mount, branch):
    text = "".join(chr(33 + number % 90) for number in range(390_000))
    path = branch.put_settings(text=text)
    m = mount()
    assert json.loads((m / path).read_bytes())["text"] == text
    assert (m / f"{path}@/text").read_text() == text + "\n"


# Attributes.


def test_files_are_0444_and_have_one_link(shared_mount):
    m = shared_mount
    for path in RECORDS:
        seen = os.stat(m / path)
        assert stat.S_ISREG(seen.st_mode) and stat.S_IMODE(seen.st_mode) == 0o444, path
        assert seen.st_nlink == 1 and seen.st_blocks > 0 and seen.st_uid == os.getuid()


def test_secrets_are_0400(shared_mount):
    m = shared_mount
    assert stat.S_IMODE(os.stat(m / SHOP / "access-token").st_mode) == 0o400
    assert stat.S_IMODE(os.stat(m / SHOP / "API_KEY@/api_key").st_mode) == 0o400


@rows("path", ["", "prod", "prod/jobs", SHOP, f"{SETTINGS}@", ".ddbfs"])
def test_directories_are_0555_and_have_one_link(shared_mount, path):
    """/.ddbfs is its owner's alone."""
    seen = os.stat(shared_mount / path)
    mode = 0o500 if path == ".ddbfs" else 0o555
    assert stat.S_ISDIR(seen.st_mode) and stat.S_IMODE(seen.st_mode) == mode
    assert seen.st_nlink == 1


def test_the_date_is_the_record_s_own(shared_mount):
    m = shared_mount
    assert os.stat(m / RECORDS[0]).st_mtime == pytest.approx(1776332467.318, abs=0.001)
    assert os.stat(m / RECORDS[1]).st_mtime == os.stat(m / RECORDS[0]).st_mtime


def test_an_entry_without_a_date_has_that_of_the_mount_s_start(mount):
    before = time.time()
    m = mount()
    after = time.time()
    undated = ["", "prod", "prod/jobs/README", SETTINGS, ".ddbfs", ".ddbfs/stats.json"]
    dates = {path: os.stat(m / path).st_mtime for path in undated}
    assert before - 1 <= dates[""] <= after and set(dates.values()) == {dates[""]}, dates


def test_the_file_system_has_a_size_and_room_for_names(shared_mount):
    m = shared_mount
    seen = os.statvfs(m.root)
    assert seen.f_blocks > 0 and seen.f_bsize > 0 and seen.f_namemax == 255
    assert seen.f_flag & os.ST_RDONLY and m.counts() == {}


def test_extended_attributes_are_not_there(shared_mount):
    with pytest.raises(OSError) as caught:
        os.listxattr(shared_mount / SETTINGS)
    assert caught.value.errno == errno.ENOTSUP


# Companions.


@rows("suffix", ["@typed", "@info", "@"])
def test_a_companion_opens_but_is_not_listed(shared_mount, suffix):
    m = shared_mount
    assert os.stat(m / f"{SETTINGS}{suffix}")
    assert not any(name.endswith(suffix) for name in names(m, SHOP))


def test_info_says_where_the_record_came_from(shared_mount):
    text = (shared_mount / f"{SETTINGS}@info").read_text("utf-8")
    assert SHOPS_TABLE in text and "aws dynamodb get-item" in text


def test_attributes_are_listed_and_bare(shared_mount):
    m = shared_mount
    listed = names(m, f"{SETTINGS}@")
    assert "active_index" in listed and "ui_components" in listed
    assert (m / f"{SETTINGS}@/active_index").read_bytes() == b"shopify-cool-store\n"


def test_an_attribute_that_is_not_there_is_not_there(shared_mount):
    assert not (shared_mount / f"{SETTINGS}@/no_such_attribute").exists()


# Secrets.


def test_secrets_are_masked_in_records(shared_mount):
    m = shared_mount
    for name in names(m, SHOP):
        if name != "access-token":
            assert b"shpat_demo" not in (m / SHOP / name).read_bytes(), name
            assert b"demo_api_key" not in (m / SHOP / name).read_bytes(), name


def test_the_file_for_a_secret_gives_it(shared_mount):
    assert (shared_mount / SHOP / "access-token").read_bytes() == b"shpat_demo_cool_two_latest\n"


def test_show_secrets_unmasks_records(mount):
    assert b"demo_api_key_cool_store" in (mount("--show-secrets") / SHOP / "API_KEY").read_bytes()


def test_another_user_may_not_enter(mount):
    root = mount().root
    nobody = pwd.getpwnam("nobody")
    for folder in [root.parent, *root.parents]:  # so that it is the mount that refuses
        if os.stat(folder).st_uid == os.getuid() and str(folder) != "/":
            folder.chmod(os.stat(folder).st_mode | 0o011)
    done = subprocess.run(["ls", root], capture_output=True, text=True, user=nobody.pw_uid)
    assert done.returncode != 0 and "Permission denied" in done.stderr


# Versions.

QUICK = ('"secret": ["access_token", "api_key"],', '"secret": ["access_token"], "ttl": 1,')


@pytest.fixture
def quick(make_map):
    """The example map, where records of shops are good for one second."""
    return make_map(lambda text: text.replace(*QUICK))


def test_an_open_file_keeps_its_version_across_a_change(mount, branch):
    path = branch.put_settings(text="a" * 300_000)
    m = mount()
    with open(m / path, "rb") as old:
        first = old.read(1000)
        branch.put_settings(text="b" * 350_000)
        m.refresh(path)
        assert b"bbb" in (m / path).read_bytes()
        whole = first + old.read()
    assert json.loads(whole)["text"] == "a" * 300_000


def test_a_change_is_seen_after_the_ttl(mount, branch, quick):
    path = branch.put_settings(text="old")
    m = mount(map_file=quick)
    first = os.stat(m / path)
    branch.put_settings(text="new and longer")
    mounts.wait_until(lambda: b"new and longer" in (m / path).read_bytes(), "the new version")
    assert os.stat(m / path).st_ino != first.st_ino
    assert os.stat(m / path).st_size == len((m / path).read_bytes()) != first.st_size


def test_refresh_shows_a_change_at_once(mount, branch):
    path = branch.put_settings(text="old")
    m = mount()
    assert b"old" in (m / path).read_bytes()
    branch.put_settings(text="new")
    assert b"old" in (m / path).read_bytes()
    m.refresh(path)
    assert b"new" in (m / path).read_bytes()


def test_an_unchanged_record_keeps_its_inode(mount, branch):
    path = branch.put_settings(text="same")
    m = mount()
    with open(m / path, "rb") as known:
        m.refresh(path)
        assert os.stat(m / path).st_ino == os.fstat(known.fileno()).st_ino
    assert m.counts() == {"GetItem": 2}


def test_a_changed_date_is_shown_though_the_bytes_are_the_same(mount, branch):
    """The file of a bare value: its record's date is not among its bytes."""
    domain = "cool-store.myshopify.com"
    path = f"{branch.name}/shops/{domain}/access-token"

    def dated(day):
        key = {"pk": f"SHOP#{domain}", "sk": "USER#1", "entity_type": "SESSION"}
        item = {**key, "last_updated": f"{day}T00:00:00Z", "access_token": "same"}
        branch.put("shops", [{name: {"S": text} for name, text in item.items()}])

    dated("2026-04-01")
    m = mount()
    with open(m / path, "rb") as old:  # so that its inode lives on
        dated("2026-05-01")
        m.refresh(path)
        assert (m / path).read_bytes() == old.read() == b"same\n"
        days = [time.gmtime(os.fstat(old.fileno()).st_mtime), time.gmtime(os.stat(m / path).st_mtime)]
    assert [time.strftime("%Y-%m-%d", day) for day in days] == ["2026-04-01", "2026-05-01"]


def fill(branch, count):
    """Records of 100 KB, whose contents cannot all be kept by a mount of --cache-size 1M."""
    paths = []
    for number in range(count):
        paths.append(branch.put_settings(f"shop-{number}.example", text=f"{number:05d}" * 20_000))
    return paths


def forget_pages(fd):
    """The kernel drops its pages of the file, so that the next read asks the daemon."""
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)


def test_dropped_bytes_are_read_again(mount, branch):
    paths = fill(branch, 12)
    m = mount("--cache-size", "1M")
    with open(m / paths[0], "rb", buffering=0) as first:
        for path in paths[1:]:
            (m / path).read_bytes()
        before = m.counts()["GetItem"]
        assert m.stats()["content_bytes"] <= 512 * 1024
        forget_pages(first.fileno())
        assert json.loads(first.readall())["text"] == "00000" * 20_000
    assert m.counts()["GetItem"] == before + 1


def test_dropped_bytes_of_a_version_that_is_gone_are_stale(mount, branch):
    paths = fill(branch, 12)
    m = mount("--cache-size", "1M")
    with open(m / paths[0], "rb", buffering=0) as first:
        for path in paths[1:]:
            (m / path).read_bytes()
        branch.put_settings("shop-0.example", text="another" * 20_000)
        forget_pages(first.fileno())
        with pytest.raises(OSError) as caught:
            first.readall()
        assert caught.value.errno == errno.ESTALE


@pytest.mark.parametrize("companion", ["@typed", "@info"])
def test_dropped_bytes_of_a_companion_are_given_again(mount, branch, companion):
    """Its record has not changed, so it is not stale, though answers differ from each other."""
    paths = fill(branch, 12)
    m = mount("--cache-size", "1M")
    with open(m / f"{paths[0]}{companion}", "rb", buffering=0) as first:
        whole = first.readall()
        for path in paths[1:]:
            (m / path).read_bytes()
        forget_pages(first.fileno())
        first.seek(0)
        assert first.readall() == whole


def test_the_cache_is_bounded_however_much_is_read(mount, branch):
    m = mount("--cache-size", "1M")
    for path in fill(branch, 30):
        (m / path).read_bytes()
    stats = m.stats()
    assert stats["content_bytes"] <= 512 * 1024 and stats["cache_bytes"] <= 512 * 1024


# Misses.


def test_a_miss_is_remembered(mount):
    m = mount()
    for _ in range(10):
        assert not (m / SHOP / "USER#1").exists()
    assert m.counts() == {"GetItem": 1}


def test_a_new_record_is_seen_after_the_negative_ttl(mount, branch):
    branch.table("shops")
    path = f"{branch.name}/shops/new.example/SETTINGS"
    m = mount()
    assert not (m / path).exists()
    branch.put_settings("new.example", text="here")
    mounts.wait_until(lambda: (m / path).exists(), "the new record")


def test_a_name_that_the_map_has_not_costs_nothing(mount):
    m = mount()
    for path in ("nowhere", "prod/nothing", "prod/jobs/by-nobody", f"{SHOP}/a/b"):
        with pytest.raises((FileNotFoundError, NotADirectoryError)):
            os.stat(m / path)
    assert set(m.counts()) <= {"GetItem"} and m.counts().get("GetItem", 0) <= 1


def test_a_deleted_record_is_gone_after_refresh(mount, branch, boto):
    path = branch.put_settings(text="short-lived")
    m = mount()
    assert (m / path).exists()
    key = {"pk": {"S": "SHOP#cool-store.myshopify.com"}, "sk": {"S": "SETTINGS"}}
    boto.delete_item(TableName=branch.table("shops"), Key=key)
    m.refresh(path)
    assert not (m / path).exists()


# Failures.

@pytest.fixture
def opened(mount, branch, quick):
    """A record that has been read by a mount where it is good for a second, and is so no more."""
    path = branch.put_settings(text="old")
    m = mount(map_file=quick)
    (m / path).read_bytes()
    m.proxy.clear()
    return m, path


def asked_until_it_fails(m, call):
    """How often the service was asked by the first call that asks at all, and fails."""

    def fails():
        try:
            call()
        except OSError:
            return True

    mounts.wait_until(fails, "the failure")
    return m.counts()["GetItem"]


def test_a_failed_look_up_of_a_known_name_is_asked_for_once(opened, proxy):
    """The kernel asks twice, for one caller: four attempts are made, and not eight."""
    m, path = opened
    proxy.fault("server_error", op="GetItem", times=None)
    assert asked_until_it_fails(m, lambda: os.stat(m / path)) == 4
    with pytest.raises(OSError):
        os.stat(m / path)
    assert m.counts()["GetItem"] == 8, "the next call is asked for as ever"


def test_who_failed_and_tries_again_gets_an_answer_of_its_own(opened, proxy):
    m, path = opened
    fault = proxy.fault("denied", op="GetItem", times=None)
    asked_until_it_fails(m, lambda: os.stat(m / path))
    proxy.faults.remove(fault)
    assert b"old" in (m / path).read_bytes()


def test_a_read_that_fails_is_asked_for_once(mount, branch, proxy):
    """The kernel fills its page cache, and asks for the page alone when that has failed."""
    paths = fill(branch, 12)
    m = mount("--cache-size", "1M")
    with open(m / paths[0], "rb", buffering=0) as first:
        for path in paths[1:]:
            (m / path).read_bytes()
        forget_pages(first.fileno())
        m.proxy.clear()
        fault = proxy.fault("denied", op="GetItem", times=None)
        with pytest.raises(PermissionError):
            first.read(100)
        assert m.counts() == {"GetItem": 1}
        proxy.faults.remove(fault)
        assert first.read(100)


def test_a_server_that_is_gone_refuses(mount, proxy):
    m = mount("--timeout", "2")
    proxy.close()
    with pytest.raises(OSError) as caught:
        os.stat(m / SETTINGS)
    assert caught.value.errno in (errno.ECONNREFUSED, errno.ECONNRESET)
    assert SETTINGS in m.errors()


def test_what_the_map_refuses_is_invalid_and_leaves_its_reason(mount):
    """No record was proven to be missing: the value can't be one."""
    m = mount()
    path = "prod/jobs/by-index/shopify/cool-store.myshopify.com/latest"
    with pytest.raises(OSError) as caught:
        os.stat(m / path)
    assert caught.value.errno == errno.EINVAL
    assert f"errno=EINVAL path=/{os.path.dirname(path)}" in m.errors() and m.counts() == {}


def test_a_missing_table_is_no_device(mount, branch):
    """Of an environment that has another table, so that it is there."""
    branch.table("jobs")
    with pytest.raises(OSError) as caught:
        os.stat(mount() / f"{branch.name}/shops/a.example/SETTINGS")
    assert caught.value.errno == errno.ENODEV


def test_readers_of_many_threads_all_get_theirs(mount, branch):
    paths = [branch.put_settings(f"s{n}.example", text=f"text-{n}") for n in range(40)]
    m, wrong = mount(), []

    def read(number):
        if f"text-{number}".encode() not in (m / paths[number]).read_bytes():
            wrong.append(number)

    threads = [threading.Thread(target=read, args=(n,)) for n in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# What the map refuses, and what it does not have.

REFUSED = {
    "prod/jobs/by-index/shopify/e513a8-4.myshopify.com": "not the domain",
    "prod/shops/a%zz": "two hexadecimal digits",
    "prod/jobs/by-id/%": "empty",
    "prod/jobs/by-id/%FF": "UTF-8",
    "prod/index-settings/kl7a9h55/a#b": 'holds a "#"',
    f"{SETTINGS}@/a%": "not the name of an attribute",
    "dev-a%": "not the name of an environment",
}


@rows("path", REFUSED)
def test_what_the_map_refuses_is_no_miss(shared_mount, path):
    m = shared_mount
    with pytest.raises(OSError) as caught:
        os.stat(m / path)
    assert errno.errorcode[caught.value.errno] == "EINVAL"
    line = m.errors().splitlines()[-1]
    assert "EINVAL" in line and path in line and REFUSED[path] in line
    assert m.proxy.requests == []


@rows(
    "path", ["nope", "prod/nope", "prod/jobs/nope", "prod/jobs/.git", "prod/jobs/by-id/HEAD",
             f"{SETTINGS}@/.git", "prod/shops/a.example/SETTINGS~"]
)  # fmt: skip
def test_a_name_that_the_map_does_not_have_is_a_silent_miss(shared_mount, path):
    m = shared_mount
    before = m.errors()
    with pytest.raises(FileNotFoundError):
        os.stat(m / path)
    assert m.errors() == before


FIELDS = re.compile(
    r"[0-9TZ:.-]+ pid=(?P<pid>\d+) errno=(?P<errno>\w+) path=(?P<path>[^ ]+)"
    r"(?: code=(?P<code>[^ ]+))?(?: request=(?P<request>[^ ]+))? fixable_by=caller: (?P<why>.*)"
)


def test_a_hostile_name_forges_neither_line_nor_field(mount):
    m = mount("-v")
    name = "a%zz\n2026-11-18T00:00:00Z pid=1 errno=EIO path=x: request=y\u202e\u2028 z"
    with pytest.raises(OSError):
        os.stat(m / "prod/shops" / name)
    lines = m.errors().splitlines()
    assert len(lines) == 1
    found = FIELDS.fullmatch(lines[0])
    assert found["pid"] == str(os.getpid()) and found["errno"] == "EINVAL"
    assert found["code"] is None and found["request"] is None
    assert found["path"] == "/prod/shops/" + name.replace("\n", "%0A").replace(
        "\u202e", "%E2%80%AE").replace("\u2028", "%E2%80%A8").replace(" ", "%20")  # fmt: skip
    assert "\u202e" not in m.log() and "\u2028" not in m.log()
