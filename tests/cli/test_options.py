"""Every option is in the help, in the manual, and has an effect; which map is taken."""

import contextlib
import errno
import json
import os
import re
import secrets
import sqlite3
import stat
import subprocess
import threading
import time

import pytest

from harness import journals, mounts, places, runner, services, snapshots, tables, terminal, vectors
from harness.rows import rows

SHOP = "/prod/shops/cool-store.myshopify.com"
ALL = "/prod/jobs/by-index/shopify/kl7a9h55-shopify-e513a8-4/all"
LATEST = ALL.replace("/all", "/latest")
SETTINGS = f"{SHOP}/SETTINGS"
SMALL_MAP = """\
{
  "environments": { "NAME": { "prefix": "prod-", "profile": "controller", "region": "us-east-1" } },
  "tables": {
    "shops": {
      "table": "ShopifyEntitiesTable",
      "records": { "any": { "pk": "SHOP#{domain}", "sk": "{name*}" } },
      "paths": { "{domain}/": {} }
    }
  }
}
"""


def help_text():
    """Asked of the program itself: tests are made from it before any fixture is there."""
    try:
        binary = places.program("DDBFS", "build-asan/fs/ddbfs", "build/fs/ddbfs")
    except FileNotFoundError:
        return ""
    environment = {**runner.SANITIZERS, "LANG": "C.UTF-8"}
    return subprocess.run([binary, "--help"], env=environment, capture_output=True).stdout.decode()


def options_of(text):
    """The options of the help, each by its long name, or its letter where it has none."""
    rows = re.findall(r"^  (?:-(\w))?(?:, )?(?:--([\w-]+))?(?:\[=[A-Z]+\]| [A-Z]+)?  +\S", text, re.M)
    return [f"--{name}" if name else f"-{letter}" for letter, name in rows if letter or name]


OPTIONS = options_of(help_text())
EFFECTS = {}


def effect_of(option):
    """Marks the function that shows the effect of an option."""

    def add(function):
        EFFECTS[option] = function
        return function

    return add


class Bench:
    """What an effect is tried with."""

    def __init__(self, ddbfs, proxy, home, write_map, folder, fixture):
        self.ddbfs = ddbfs
        self.proxy = proxy
        self.home = home
        self.write_map = write_map
        self.folder = folder
        self.fixture = fixture  # of those that few effects need

    def text(self, *arguments, **how):
        return self.ddbfs(*arguments, **how).text

    @contextlib.contextmanager
    def mounted(self, *options, **how):
        """The folder where `ddbfs mount` of OPTIONS has mounted, in the background."""
        if not os.path.exists("/dev/fuse"):
            pytest.skip("there is no /dev/fuse")
        root = self.folder / "mnt"
        root.mkdir(exist_ok=True)
        try:
            self.ddbfs("mount", *options, root, **how)
            yield root
        finally:
            mounts.take_away(root)


@pytest.fixture
def bench(ddbfs, proxy, home, write_map, tmp_path, request):
    return Bench(ddbfs, proxy, home, write_map, tmp_path, request.getfixturevalue)


def write_small_map(folder, name):
    """A map whose one environment is called NAME, so that `ls /` tells which map was read."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "map.json"
    path.write_text(SMALL_MAP.replace("NAME", name), "utf-8")
    return path


# The effects


@effect_of("--map")
def map_is_read(bench):
    path = write_small_map(bench.folder, "mine")
    assert bench.text("--map", path, "ls", "/") == "mine/\ntables/\n"


@effect_of("--no-map")
def no_map_is_used(bench):
    assert bench.text("--no-map", "ls", "/") == "tables/\n"


@effect_of("--profile")
def profile_signs(bench):
    bench.text("--profile", "session", "cat", SETTINGS)
    bench.text("cat", SETTINGS)
    keys = [record.access_key for record in bench.proxy.requests]
    assert keys == ["DEMOSESSIONKEY000001", "DEMOCONTROLLERKEY001"]


@effect_of("--region")
def region_signs(bench):
    """Asked without an eye on what the policy grants, which is of one region."""
    ddbfs = runner.Ddbfs(bench.home)
    bench.proxy.allow_refusals = True
    result = ddbfs("--region", "eu-west-1", "cat", SETTINGS, expect=1)
    assert "us-east-1" in result.stderr or "eu-west-1" in result.stderr
    bench.proxy.regions = {"eu-west-1"}
    assert ddbfs("--region", "eu-west-1", "cat", SETTINGS).text
    ddbfs("cat", SETTINGS, expect=1)


@effect_of("--snapshot")
def snapshot_is_read(bench):
    file = snapshots.sample(bench.folder / "orders.ddb")
    assert bench.text("--snapshot", file, "ls", "/prod@at").split()[0] == snapshots.MOMENTS[-1] + "/"
    assert not bench.proxy.ops


@effect_of("--endpoint-url")
def endpoint_is_asked(bench):
    env = {"AWS_ENDPOINT_URL_DYNAMODB": "http://127.0.0.1:1"}
    bench.ddbfs("cat", SETTINGS, env=env, expect=1)
    assert bench.text("--endpoint-url", bench.proxy.url, "cat", SETTINGS, env=env)


@effect_of("--where")
def where_keeps_what_answers(bench):
    kinds = bench.text("ls", "--where", "api_key exists", SHOP)
    assert kinds == "API_KEY\n"


@effect_of("--columns")
def columns_stand_beside_names(bench):
    assert "SETTINGS    SETTINGS\n" in bench.text("ls", "--columns", "entity_type", SHOP)


@effect_of("--count")
def count_is_a_number(bench):
    names = bench.text("ls", "--where", "pk exists", SHOP).split()
    assert bench.text("ls", "--count", SHOP) == f"{len(names)}\n"


@effect_of("--confirm-above")
def confirm_above_asks_at_a_terminal(bench):
    command = [str(bench.ddbfs.binary), "ls", "--confirm-above", "5", SHOP]
    with terminal.Terminal(command, bench.home.environment(), typed=True) as t:
        t.wait_for("[y/N]")
        t.type("n\n")
        assert t.end() == 1 and t.stdout == ""


@effect_of("--limit")
def limit_ends_a_listing(bench):
    whole = bench.text("ls", f"{SHOP}/", "--where", "pk exists").split("\n")
    assert bench.text("ls", "--limit", "2", SHOP).split("\n")[:-1] == whole[:2] != whole[:-1]


@effect_of("--together")
def together_is_one_request(bench):
    bench.text("cat", SETTINGS, f"{SHOP}/API_KEY")
    assert "TransactGetItems" not in bench.proxy.ops
    bench.proxy.clear()
    bench.text("cat", "--together", SETTINGS, f"{SHOP}/API_KEY")
    assert bench.proxy.ops == ["TransactGetItems"]


@effect_of("--suffix")
def suffix_ends_names(bench):
    assert "SETTINGS.json\n" in bench.text("--suffix", ".json", "ls", SHOP)
    assert "SETTINGS\n" in bench.text("ls", SHOP)


@effect_of("--format")
def format_changes_lines(bench):
    compact = bench.text("--format", "compact", "cat", SETTINGS)
    pretty = bench.text("--format", "pretty", "cat", SETTINGS)
    assert compact.count("\n") == 1 < pretty.count("\n")
    assert pretty == bench.text("cat", SETTINGS) and json.loads(pretty) == json.loads(compact)


@effect_of("--show-secrets")
def secrets_are_shown(bench):
    assert "demo_api_key_cool_store" in bench.text("--show-secrets", "cat", f"{SHOP}/API_KEY")
    assert "demo_api_key_cool_store" not in bench.text("cat", f"{SHOP}/API_KEY")


@effect_of("--timeout")
def timeout_ends_waiting(bench):
    bench.proxy.fault("delay", times=1, seconds=60)
    result = bench.ddbfs("--timeout", "0.2", "cat", SETTINGS, expect=1, timeout_s=40)
    assert result.stdout == b""


@effect_of("--verbose")
def verbose_says_requests(bench):
    for option in ("-v", "--verbose"):
        said = bench.ddbfs(option, "cat", SETTINGS).stderr
        assert said.startswith("ddbfs: GetItem table=prod-ShopifyEntitiesTable status=200 ")
    assert bench.ddbfs("cat", SETTINGS).stderr == ""


@effect_of("-l")
def long_listing_has_sizes(bench):
    (line,) = [row for row in bench.text("ls", "-l", SHOP).splitlines() if row.endswith("SETTINGS")]
    size = len(bench.ddbfs("cat", SETTINGS).stdout)
    assert line.split()[:2] == ["-r--r--r--", str(size)]


@effect_of("-h")
def sizes_are_short(bench):
    """As coreutils round them; not the help, which is --help here."""
    columns = lambda *words: [row.split() for row in bench.text("ls", *words, LATEST).splitlines()]  # noqa: E731
    exact, short = columns("-l"), columns("-lh")
    sizes = [row[1] for row in exact]
    told = subprocess.run(["numfmt", "--to=iec", *sizes], capture_output=True, text=True).stdout.split()
    assert [row[1] for row in short] == told and {size[-1] for size in told} == {"K"}
    assert [row[2:] for row in short] == [row[2:] for row in exact]


@effect_of("-t")
def the_youngest_comes_first(bench):
    listed = bench.text("ls", ALL).splitlines()
    by_date = bench.text("ls", "-t", ALL).splitlines()
    assert by_date == sorted(listed, reverse=True) != listed
    told = [json.loads(line)["mtime"] for line in bench.text("ls", "-tr", "--json", ALL).splitlines()]
    assert told == sorted(told) and len(told) == len(listed)


@effect_of("-r")
def the_last_comes_first(bench):
    listed = bench.text("ls", LATEST).splitlines()
    assert bench.text("ls", "-r", LATEST).splitlines() == listed[::-1]
    columns = bench.text("ls", "--columns", "status", LATEST).splitlines()
    assert bench.text("ls", "-r", "--columns", "status", LATEST).splitlines() == columns[::-1]
    refused = bench.ddbfs("ls", "-r", "--count", LATEST, expect=2).stderr
    assert "--count prints a number" in refused


@effect_of("-a")
def nothing_is_hidden_in_any_case(bench):
    things = bench.fixture("things")
    things.put(".hidden")
    assert bench.text("ls", "-a", "/any/things/box", env=things.env) == "%2Ehidden\n"
    assert bench.text("ls", "/any/things/box", env=things.env) == "%2Ehidden\n"


@effect_of("-1")
def one_name_stands_in_a_line(bench):
    assert bench.text("ls", "-1", SHOP) == bench.text("ls", SHOP)
    assert len(bench.text("ls", "-1", SHOP).splitlines()) > 3


def test_a_letter_that_ls_has_and_this_has_not_is_named(ddbfs):
    said = ddbfs("ls", "-lR", "/prod", expect=2).stderr
    assert said.startswith("ddbfs: -R is no option of ls: ") and "find MOUNTPOINT/PATH" in said
    assert ddbfs("ls", "-lS", "/", expect=2).stderr == "ddbfs: -S is no option; see ddbfs ls --help\n"


@effect_of("--json")
def json_is_written(bench):
    for line in bench.text("ls", "--json", SHOP).splitlines():
        assert json.loads(line)["type"] == "file"
    assert json.loads(bench.text("explain", "--json", SETTINGS))["path"] == SETTINGS
    wrong = places.DEFAULT_MAP.read_text("utf-8").replace("ShopifyEntitiesTable", "NoTable")
    said = bench.text("check", "--json", bench.write_map(wrong), expect=1)
    assert all("NoTable" in json.loads(line)["text"] for line in said.splitlines()) and said


@effect_of("--csv")
def csv_is_written(bench):
    assert bench.text("sql", "--csv", "select 1 as a, null as b") == "a,b\n1,\n"


@effect_of("--explain")
def statement_is_explained(bench):
    assert "reads  " in bench.text("sql", "--explain", "select pk from prod.jobs where job_id = 'x'")
    assert bench.proxy.requests == []


@effect_of("--offline")
def offline_asks_nobody(bench):
    bench.text("check", "--offline")
    assert bench.proxy.requests == []
    bench.text("check")
    assert bench.proxy.requests != []


@effect_of("--sample")
def sample_reads_records(bench):
    things = bench.fixture("things")
    things.put("one")
    words = [things.env["DDBFS_MAP"], "/any/things/box"]
    for spelt in (["--sample=2"], ["--sample", "2"]):
        bench.proxy.clear()
        assert "1 item was read" in bench.text("check", *spelt, *words)
        assert bench.proxy.requests[-1].body["Limit"] == 2
    assert "1 item was read" in bench.text("--sample", "2", "check", *words)
    bench.proxy.clear()
    bench.text("check", things.env["DDBFS_MAP"])
    assert "Query" not in bench.proxy.ops


@effect_of("--from")
def from_imports_a_model(bench):
    model = {"table": {"tableName": "Notes", "partitionKey": {"name": "noteId", "type": "string"}},
             "entityName": "Note",
             "schema": {"type": "schema", "attributes": {"noteId": {"type": "string", "key": True}}}}  # fmt: skip
    file = bench.folder / "model.json"
    file.write_text(json.dumps(model))
    assert "items/{noteId}" in bench.text("map", "--from", file)


@effect_of("--yes")
def yes_asks_nobody(bench):
    bench.proxy.allow_scan = True
    words = ["map", "--allow-scan", "--sample", "200", "prod-EcomIndexerJobsTable"]
    assert "pass --yes" in bench.ddbfs(*words, expect=1).stderr
    assert bench.text(*words, "--yes").startswith("// A first map")


def imported(bench, *options, expect=0):
    """Imports one item as Notes, and returns the database."""
    lines, file = bench.folder / "notes.jsonl", bench.folder / "notes.ddb"
    lines.write_text('{"Item":{"id":{"S":"a"}}}\n')
    bench.ddbfs("import", *options, lines, file, expect=expect)
    return sqlite3.connect(file)


@effect_of("--keys")
def keys_of_an_import(bench):
    database = imported(bench, "--keys", "id:S", "--table", "Notes")
    assert database.execute("SELECT id FROM Notes").fetchall() == [("a",)]


@effect_of("--table")
def table_of_an_import(bench):
    database = imported(bench, "--keys", "id:S", "--table", "Memos")
    assert database.execute("SELECT name FROM tables").fetchall() == [("Memos",)]


@effect_of("--at")
def moment_of_an_import(bench):
    database = imported(bench, "--keys", "id:S", "--table", "Notes", "--at", "1970-01-02")
    assert database.execute("SELECT at_ms FROM moments").fetchall() == [(86400000,)]


@effect_of("--describe")
def description_of_an_import(bench):
    description = bench.folder / "notes.json"
    key = {"AttributeName": "id", "AttributeType": "S"}, {"AttributeName": "id", "KeyType": "HASH"}
    description.write_text(json.dumps({"Table": {
        "TableName": "Described", "AttributeDefinitions": key[:1], "KeySchema": key[1:]}}))  # fmt: skip
    database = imported(bench, "--describe", description)
    assert database.execute("SELECT id FROM Described").fetchall() == [("a",)]


@effect_of("--onto")
def import_onto_a_snapshot(bench):
    database = imported(bench, "--keys", "id:S", "--table", "Notes")
    words = ["--keys", "id:S", "--table", "Memos", bench.folder / "notes.jsonl"]
    bench.ddbfs("import", "--onto", bench.folder / "notes.ddb", *words)
    assert database.execute("SELECT name FROM tables ORDER BY number").fetchall() == [("Notes",), ("Memos",)]


@effect_of("--repair")
def repair_of_a_snapshot(bench):
    imported(bench, "--keys", "id:S", "--table", "Notes").close()
    file, journal = bench.folder / "notes.ddb", bench.folder / "notes.ddb-journal"
    journal.write_bytes(journals.hot(file))
    assert "--repair" in bench.ddbfs("check", file, expect=1).stderr
    for words in ("--yes", "--keys id:S", "--table Notes", "--at 2026-11-01", "--describe live", f"--onto {file}"):
        assert "no sources or other options" in bench.ddbfs("import", "--repair", file, *words.split(), expect=2).stderr
    bench.ddbfs("import", "--repair", file)
    assert not journal.exists()


@effect_of("--foreground")
def foreground_stays(bench):
    if not os.path.exists("/dev/fuse"):
        pytest.skip("there is no /dev/fuse")
    for number, option in enumerate(("-f", "--foreground")):
        root = bench.folder / f"front-{number}"
        root.mkdir()
        daemon = bench.ddbfs.start("mount", option, root, stdin=subprocess.DEVNULL)
        try:
            mounts.wait_until(lambda: mounts.is_mounted(root), "the mount")
            assert daemon.poll() is None and os.listdir(root)
        finally:
            mounts.take_away(root)
            assert daemon.wait(20) == 0
    with bench.mounted() as root:  # else the command returns, and the mount stays
        assert mounts.is_mounted(root) and os.listdir(root)


def fail_twice(root):
    """Two failures for the log of the mount at ROOT, without a request."""
    for number in range(2):
        path = root / f"prod/jobs/by-index/shopify/shop-{number}.myshopify.com"
        assert error_of(lambda: os.stat(path)) == errno.EINVAL  # noqa: B023


@effect_of("--follow")
def log_is_followed(bench):
    for option in ("-f", "--follow"):
        with bench.mounted() as root:
            log = bench.ddbfs.start("log", option, "--errors", root, stdout=subprocess.PIPE)
            fail_twice(root)
            assert b"shop-0" in log.stdout.readline() and b"shop-1" in log.stdout.readline()
            log.terminate()
            log.communicate(timeout=60)


@effect_of("--lines")
def last_lines_are_shown(bench):
    with bench.mounted() as root:
        fail_twice(root)
        for option in ("-n", "--lines"):
            said = bench.text("log", "--errors", option, "1", root)
            assert "shop-1" in said and said.count("\n") == 1
    assert "--lines takes 1 to" in bench.ddbfs("log", "--lines", "0", expect=2).stderr


@effect_of("--errors")
def failures_are_shown_alone(bench):
    with bench.mounted("-v") as root:
        (root / SETTINGS[1:]).read_bytes()
        fail_twice(root)
        assert "GetItem" in bench.text("log", root)
        assert "GetItem" not in bench.text("log", "--errors", root)


@effect_of("-o")
def mount_options_are_heard(bench):
    with bench.mounted("-o", "uid=1234,umask=077", "-o", "x-gvfs-hide,suffix=.json") as root:
        seen = os.stat(f"{root}{SETTINGS}.json")
        assert seen.st_uid == 1234 and stat.S_IMODE(seen.st_mode) == 0o400
    with bench.mounted() as root:
        seen = os.stat(f"{root}{SETTINGS}")
        assert seen.st_uid == os.getuid() and stat.S_IMODE(seen.st_mode) == 0o444


@effect_of("--cache-size")
def cache_size_bounds_what_is_kept(bench):
    """Half of it is for files: what they hold beyond that is let go."""
    things = bench.fixture("things")
    names = [f"thing-{number}" for number in range(8)]
    for name in names:
        things.put(name, payload={"S": "x" * 200_000})

    def kept(*options):
        with bench.mounted(*options, env=things.env) as root:
            for name in names:
                assert len((root / "any/things/box" / name).read_bytes()) > 200_000
            return json.loads((root / ".ddbfs/stats.json").read_bytes())["content_bytes"]

    assert kept("--cache-size", "1M") <= 512 << 10 and kept() >= 8 * 200_000
    assert "--cache-size takes 1M or more" in bench.ddbfs(
        "mount", "--cache-size", "1023K", bench.folder, expect=2
    ).stderr  # fmt: skip


def error_of(ask):
    """The errno that ASK ends with; 0 for none."""
    try:
        ask()
    except OSError as why:
        return why.errno
    return 0


@effect_of("--ledger")
def each_question_is_a_line_of_the_ledger(bench):
    """The start has a line too; and a line may come a moment after its answer."""
    file = bench.folder / "ledger"

    def lines():
        every = [json.loads(line) for line in file.read_text().splitlines()]
        return [line for line in every if line["path"] == SETTINGS]

    with bench.mounted("--ledger", file) as root:
        assert lines() == []
        os.stat(f"{root}{SETTINGS}")
        (line,) = mounts.wait_until(lines, "the line of the file")
        assert line["requests"] == 1


@effect_of("--record")
def responses_are_stored_in_the_recording(bench):
    file = bench.folder / "incident.ddb"
    bench.ddbfs("cat", "--record", file, f"{SETTINGS}")
    with sqlite3.connect(file) as database:
        assert database.execute("SELECT path, found FROM responses").fetchall() == [(SETTINGS, 1)]


@effect_of("--spool")
def spool_is_where_large_files_of_listings_are(bench):
    """In memory a file may have a quarter of 1M."""
    things = bench.fixture("things")
    for number in range(4):
        things.put(f"thing-{number}", payload={"S": "x" * 100_000})
    for option, number in ((bench.folder, 0), ("no", errno.EFBIG)):
        with bench.mounted("--cache-size", "1M", "--spool", option, env=things.env) as root:
            file = root / "any/things/box@jsonl"
            assert error_of(lambda: os.stat(file)) == number  # noqa: B023
            assert number or len(file.read_bytes()) > 400_000
    (bench.folder / "unused").mkdir()
    assert "--spool" in bench.ddbfs(
        "mount", "--spool", "/proc", bench.folder / "unused", expect=1
    ).stderr


@effect_of("--spool-size")
def spool_size_bounds_large_files_of_listings(bench):
    things = bench.fixture("things")
    for number in range(4):
        things.put(f"thing-{number}", payload={"S": "x" * 300_000})
    for size, number in (("1M", errno.ENOSPC), ("2M", 0)):
        with bench.mounted("--cache-size", "1M", "--spool", bench.folder, "--spool-size", size, env=things.env) as root:
            assert error_of(lambda: os.stat(root / "any/things/box@jsonl")) == number  # noqa: B023


@effect_of("--max-entries")
def max_entries_ends_a_listing_in_an_error(bench):
    things = bench.fixture("things")
    for number in range(5):
        things.put(f"thing-{number}")
    with bench.mounted("--max-entries", "5", env=things.env) as root:
        assert len(os.listdir(root / "any/things/box")) == 5
    with bench.mounted("--max-entries", "4", env=things.env) as root:
        with pytest.raises(OSError) as raised:
            os.listdir(root / "any/things/box")
        assert raised.value.errno == errno.EFBIG
        assert "--max-entries" in (root / ".ddbfs/errors").read_text()
    assert "--max-entries takes 1 to" in bench.ddbfs(
        "mount", "--max-entries", "0", bench.folder, expect=2
    ).stderr  # fmt: skip


@effect_of("--hedge")
def a_late_record_is_asked_for_again(bench):
    things = bench.fixture("things")
    # As many others as it takes to know what is late, and no more: on a busy machine the next could be late
    # by itself, and use up what there is for asking twice.
    names = [f"thing-{number:02}" for number in range(1 + 64)]
    for name in names:
        things.put(name)
    for options, requests in (((), 2), (("--hedge", "no"), 1)):
        with bench.mounted(*options, env=things.env) as root:
            for name in names[1:]:
                (root / "any/things/box" / name).read_bytes()
            bench.proxy.clear()
            over = threading.Event()
            late = bench.proxy.fault("delay", times=1, seconds=60 if not options else 1,
                                     until=lambda _: over.is_set())  # fmt: skip
            (root / "any/things/box" / names[0]).read_bytes()
            over.set()
            assert late.met == 1 and bench.proxy.ops == ["GetItem"] * requests
    assert "--hedge takes yes or no" in bench.ddbfs("mount", "--hedge", "2", bench.folder, expect=2).stderr


def miss(root, number):
    """The errno of a question for a record that is not there, which costs half a unit."""
    return error_of(lambda: os.stat(f"{root}{SHOP}/NOBODY-{number}"))


@effect_of("--max-rcu")
def what_a_second_may_read_is_bounded(bench):
    """On a busy machine a question may take a second: then the next one is not refused."""
    with bench.mounted("--max-rcu", "0.5") as root:
        assert miss(root, 0) == errno.ENOENT
        mounts.wait_until(lambda: miss(root, len(bench.proxy.requests)) == errno.EDQUOT, "a refusal")
        assert "--max-rcu" in (root / ".ddbfs/errors").read_text()
    assert "--max-rcu takes 0.5 to" in bench.ddbfs("mount", "--max-rcu", "0", bench.folder, expect=2).stderr


@effect_of("--max-rcu-per-process")
def what_a_program_may_read_is_bounded(bench):
    with bench.mounted("--max-rcu-per-process", "1") as root:
        assert [miss(root, number) for number in range(3)] == [errno.ENOENT, errno.ENOENT, errno.EDQUOT]
        assert "--max-rcu-per-process" in (root / ".ddbfs/errors").read_text()
    with bench.mounted() as root:
        assert {miss(root, number) for number in range(3)} == {errno.ENOENT}


@effect_of("--max-search-bytes")
def what_a_second_may_search_is_bounded(bench):
    """On a busy machine a search may take a second: then the next one is not refused."""
    server, documents = bench.fixture("server"), [vectors.document(number) for number in range(3)]
    table = vectors.create(server.url, "any-Bounded", [vectors.index("by-meaning")], documents)
    try:
        with bench.mounted("--max-search-bytes", "1K") as root:
            path, sizes = f"{root}/tables/{table}/items/p0/s0@similar/", iter(range(1, 101))
            assert os.listdir(f"{path}{next(sizes)}")
            mounts.wait_until(
                lambda: error_of(lambda: os.listdir(f"{path}{next(sizes)}")) == errno.EDQUOT, "a refusal"
            )
            assert "--max-search-bytes" in (root / ".ddbfs/errors").read_text()
    finally:
        vectors.send(server.url, "DeleteTable", {"TableName": table})
    said = bench.ddbfs("mount", "--max-search-bytes", "1023", bench.folder, expect=2).stderr
    assert "--max-search-bytes takes 1024 or more" in said


@effect_of("--ignore")
def an_attribute_is_not_compared(bench):
    things = bench.fixture("things")
    for name in ("one", "two"):
        things.put(name, updated_at={"S": name})
    diff = ["diff", "/any/things/box/one", "/any/things/box/two", "--ignore", "sk"]
    assert "updated_at" in bench.text(*diff, env=things.env, expect=1)
    assert bench.text(*diff, "--ignore", "updated_at", env=things.env) == ""


def tail_of_a_stream(bench, *options, view="NEW_AND_OLD_IMAGES"):
    """What tail prints of a new table with one item: one change at the most."""
    name = f"any-Stream-{secrets.token_hex(6)}"
    stream = {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": view}}
    bench.fixture("table")({**tables.plain(), **stream}, [tables.item("one", "n")], name=name)
    done = bench.ddbfs("tail", "--limit", "1", *options, f"/tables/{name}", env={"DDBFS_MAP": None})
    return done.text.partition(" ")[2].rstrip("\n")


@effect_of("--since")
def changes_of_the_past_are_printed(bench):
    assert tail_of_a_stream(bench, "--since", "1h") == 'INSERT items/box/one   +note: "n"'
    refused = bench.ddbfs("tail", "--since", "2d", "/prod/jobs", expect=2)
    assert "--since takes a time of the last 24 hours" in refused.stderr


@effect_of("--kind")
def changes_of_one_kind_are_printed(bench):
    assert tail_of_a_stream(bench, "--oldest", "--kind", "modify,insert") == 'INSERT items/box/one   +note: "n"'
    refused = bench.ddbfs("tail", "--kind", "insert,", "/prod/jobs", expect=2)
    assert "--kind takes insert, modify, remove or expired" in refused.stderr


@effect_of("--oldest")
def all_changes_of_the_stream_are_printed(bench):
    assert tail_of_a_stream(bench, "--oldest") == 'INSERT items/box/one   +note: "n"'


@effect_of("--fetch")
def changed_items_are_read(bench):
    assert tail_of_a_stream(bench, "--oldest", view="KEYS_ONLY") == "INSERT items/box/one"
    fetched = tail_of_a_stream(bench, "--oldest", "--fetch", view="KEYS_ONLY")
    assert fetched == 'INSERT items/box/one   +note: "n"'


@effect_of("-n")
def top_is_shown_so_often(bench):
    with bench.mounted() as root:
        assert bench.text("top", root).count("RCU/S") == 1
        assert bench.text("top", "-n", "2", root).count("RCU/S") == 2


@effect_of("--parallel")
def parts_of_a_listing_are_read_at_the_same_time(bench):
    things = bench.fixture("things")
    things.put_many((f"{number:02}", {}) for number in range(60))
    bench.proxy.fault("page_size", op="Query", times=None, items=2)
    for how, divided in (("0", True), ("no", False)):
        bench.proxy.clear()
        bench.ddbfs("ls", "--parallel", how, "/any/things/box", env=things.env)
        assert (len({each.body["KeyConditionExpression"] for each in bench.proxy.requests}) > 1) == divided
    refused = bench.ddbfs("ls", "--parallel", "yes", "/any/things/box", env=things.env, expect=2)
    assert "--parallel takes no, or 0 to 60000 milliseconds" in refused.stderr


@effect_of("--allow-scan")
def partition_keys_are_listed_by_a_scan(bench):
    things = bench.fixture("things")
    things.put("thing")
    proxy, table = bench.proxy, "/prod/tables/any-Things/items"
    assert bench.ddbfs("ls", table).text == "README\n{pk}/\n"
    assert "Scan" not in proxy.ops
    proxy.allow_scan = True
    assert bench.text("--allow-scan", "ls", table) == "README\nbox/\n"
    assert proxy.ops.count("Scan") == 4


@effect_of("--scan-limit")
def a_larger_table_is_not_scanned(bench):
    things = bench.fixture("things")
    for number in range(3):
        things.put(f"thing-{number}")
    bench.proxy.allow_scan = True
    scan = ["--allow-scan", "ls", "/prod/tables/any-Things/items"]
    assert bench.text("--scan-limit", "3,1M", *scan) == "README\nbox/\n"
    assert ", --scan-limit)" in bench.ddbfs("--scan-limit", "2", *scan, expect=1).stderr


@effect_of("--similar")
def searches_are_granted(bench):
    actions = lambda *options: {  # noqa: E731
        action for one in json.loads(bench.text("policy", *options))["Statement"] for action in one["Action"]
    }
    assert actions("--similar") - actions() == {"dynamodb:SearchVectors"}


@effect_of("--tables")
def what_tables_needs_is_granted(bench):
    def granted(*options):
        told = json.loads(bench.text("policy", *options))["Statement"]
        return {(action, each) for one in told for action in one["Action"] for each in one["Resource"]}

    more = granted("--tables") - granted()
    assert {action for action, _ in more} == {
        f"dynamodb:{op}"
        for op in ("GetItem", "BatchGetItem", "Query", "DescribeTable", "DescribeTimeToLive")
        + ("ListBackups", "DescribeContinuousBackups", "ListExports", "SearchVectors")
        + ("DescribeStream", "GetShardIterator", "GetRecords")
    }
    assert {resource.split(":")[-1] for _, resource in more} == {"*", "table/*"}
    scan = granted("--tables", "--allow-scan") - granted("--tables")
    assert {action for action, _ in scan} == {"dynamodb:Scan"}
    bench.ddbfs("policy", "--allow-scan", expect=2)


@effect_of("--live")
def streams_are_followed(bench):
    with bench.mounted("--live") as root:
        (root / SETTINGS.lstrip("/")).read_bytes()
        mounts.wait_until(lambda: '"live"' in (root / f"{SETTINGS.lstrip('/')}@info").read_text(), "the stream is looked for")
    with bench.mounted() as root:
        assert '"live"' not in (root / f"{SETTINGS.lstrip('/')}@info").read_text()
    assert "GetRecords" in bench.text("policy", "--live") and "GetRecords" not in bench.text("policy")


@effect_of("--env")
def one_environment_is_told(bench):
    policy = bench.text("policy", "--env", "staging")
    assert "staging-" in policy and "prod-" not in policy and "prod-" in bench.text("policy")
    told = bench.text("config", "--json", "--env", "staging")
    assert [json.loads(line)["environment"] for line in told.splitlines()] == ["staging"]


@effect_of("--whoami")
def sts_is_asked_who_one_is(bench):
    with services.Service(lambda _: (403, {"Error": {"Code": "AccessDenied", "Message": "no"}})) as sts:
        env = {"AWS_ENDPOINT_URL_STS": sts.url}
        bench.ddbfs("config", "--env", "prod", env=env)
        assert sts.requests == []
        bench.ddbfs("config", "--env", "prod", "--whoami", env=env, expect=1)
        assert [request.form()["Action"] for request in sts.requests] == ["GetCallerIdentity"]


@effect_of("--stale-if-error")
def what_is_too_old_is_shown_in_an_outage(bench):
    path = write_small_map(bench.folder, "any")
    path.write_text(path.read_text().replace('"paths"', '"ttl": 0, "paths"'), "utf-8")
    settings = f"any/shops{SETTINGS.removeprefix('/prod/shops')}"
    for options, number in ((["--stale-if-error", "60"], 0), ([], errno.EIO)):
        with bench.mounted("--map", path, *options) as root:
            (root / settings).read_bytes()
            time.sleep(mounts.STATS_TTL_S)  # the kernel knows its name until then
            bench.proxy.fault("server_error", times=None)
            assert error_of((root / settings).read_bytes) == number
            bench.proxy.heal()
    assert "--stale-if-error takes 0 to" in bench.ddbfs(
        "mount", "--stale-if-error", "-1", bench.folder, expect=2
    ).stderr  # fmt: skip


@effect_of("--help")
def help_is_printed(bench):
    for arguments in (["--help"], ["-h"], ["ls", "--help"], ["check", "-h"]):
        assert bench.text(*arguments).startswith("usage: ddbfs ")


@effect_of("--version")
def version_is_printed(bench):
    assert re.fullmatch(r"ddbfs \d+\.\d+\.\d+\S*\n", bench.text("--version"))


# The tests of the table


def test_help_has_options():
    assert len(OPTIONS) >= 14 and {"--map", "-l", "--version"} <= set(OPTIONS)


@pytest.mark.parametrize("option", OPTIONS)
def test_option_has_its_effect(bench, option):
    assert option in EFFECTS, f"{option} is in the help, but no test shows its effect"
    EFFECTS[option](bench)


@rows("option", EFFECTS)
def test_option_is_in_the_help(option):
    assert option in OPTIONS


@rows("option", OPTIONS)
def test_option_is_in_the_manual(option):
    manual = (places.REPO / "docs" / "ddbfs.1").read_text("utf-8").replace("\\-", "-")
    mark = f"Fl Fl {option[2:]}" if option.startswith("--") else f"Fl {option[1:]}"
    assert re.search(rf"^\.It .*\b{re.escape(mark)}\b", manual, re.M)


@rows("option", ["--suffix=.json", "--format=compact", "--timeout=5"])
def test_value_may_follow_an_equals_sign(ddbfs, option):
    name, value = option.split("=")
    assert ddbfs(option, "ls", SHOP).text == ddbfs(name, value, "ls", SHOP).text


def test_option_may_follow_the_command(ddbfs):
    before = ddbfs("--format", "compact", "cat", SETTINGS).stdout
    assert ddbfs("cat", "--format", "compact", SETTINGS).stdout == before


def test_option_may_follow_the_path(ddbfs):
    assert ddbfs("ls", SHOP, "-l").text == ddbfs("ls", "-l", SHOP).text


def test_option_of_a_command_may_come_before_it(ddbfs):
    assert ddbfs("-l", "ls", SHOP).text == ddbfs("ls", "-l", SHOP).text


def test_wrong_value_is_told_what_would_be_right(ddbfs):
    assert "--format takes pretty or compact" in ddbfs("--format", "x", "ls", "/", expect=2).stderr


@rows("option", ["-f", "-o", "--cache-size", "--stale-if-error"])
def test_option_of_the_mount_goes_with_no_other_command(ddbfs, option):
    assert "does not go with this command" in ddbfs("ls", option, "/", expect=2).stderr


def test_refresh_without_a_mount_complains(ddbfs, tmp_path):
    result = ddbfs("refresh", tmp_path, expect=1)
    assert result.stderr == f"ddbfs: {tmp_path}: is not in a live mount of ddbfs; ddbfs status lists the mounts\n"


def test_refresh_of_nothing_is_wrong_usage(ddbfs):
    assert "refresh needs a path; see ddbfs refresh --help" in ddbfs("refresh", expect=2).stderr


def test_letters_may_stand_together(ddbfs):
    result = ddbfs("ls", "-lv", SHOP)
    assert result.text.startswith("-r") and "Query" in result.stderr


def test_two_dashes_end_the_options(ddbfs):
    result = ddbfs("cat", "--", "-l", expect=3)
    assert result.stderr.startswith("ddbfs: -l: ")


# Which map


@pytest.fixture
def maps(tmp_path):
    """A map in each place there is; `ls /` tells its place."""
    return {
        "option": write_small_map(tmp_path / "option", "option"),
        "variable": write_small_map(tmp_path / "variable", "variable"),
        "xdg": write_small_map(tmp_path / "xdg" / "ddbfs", "xdg"),
        "home": write_small_map(tmp_path / "home" / ".config" / "ddbfs", "home"),
    }


def places_of(maps, *kept):
    """The environment in which only the maps of KEPT are named."""
    environment = {"DDBFS_MAP": None, "XDG_CONFIG_HOME": None}
    if "variable" in kept:
        environment["DDBFS_MAP"] = maps["variable"]
    if "xdg" in kept:
        environment["XDG_CONFIG_HOME"] = maps["xdg"].parents[1]
    return environment


def test_option_comes_before_the_variable(ddbfs, maps):
    env = places_of(maps, "variable", "xdg")
    assert ddbfs("--map", maps["option"], "ls", "/", env=env).text == "option/\ntables/\n"


def test_variable_comes_before_the_users_file(ddbfs, maps):
    assert ddbfs("ls", "/", env=places_of(maps, "variable", "xdg")).text == "variable/\ntables/\n"


def test_xdg_config_home_comes_before_the_home(ddbfs, maps):
    assert ddbfs("ls", "/", env=places_of(maps, "xdg")).text == "xdg/\ntables/\n"


def test_home_is_looked_at_last(ddbfs, maps):
    assert ddbfs("ls", "/", env=places_of(maps)).text == "home/\ntables/\n"


def test_empty_variable_is_none(ddbfs, maps):
    env = {**places_of(maps, "xdg"), "DDBFS_MAP": ""}
    assert ddbfs("ls", "/", env=env).text == "xdg/\ntables/\n"


def test_empty_xdg_config_home_is_none(ddbfs, maps):
    env = {**places_of(maps), "XDG_CONFIG_HOME": ""}
    assert ddbfs("ls", "/", env=env).text == "home/\ntables/\n"


def test_variable_that_names_no_file_is_an_error(ddbfs, maps):
    env = {**places_of(maps, "xdg"), "DDBFS_MAP": "nope.json"}
    assert "nope.json" in ddbfs("ls", "/", env=env, expect=1).stderr


def test_no_map_anywhere(ddbfs):
    if os.path.exists("/etc/ddbfs/map.json"):
        pytest.skip("this machine has a map of its own")
    assert ddbfs("ls", "/", env={"DDBFS_MAP": None}).text == "tables/\n"
    result = ddbfs("check", env={"DDBFS_MAP": None}, expect=1)
    assert result.stderr.startswith("ddbfs: no map was found; use --map FILE, set DDBFS_MAP")


KEYS_OF_THE_ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "DEMODEFAULTKEY000001",
    "AWS_SECRET_ACCESS_KEY": "demo/default+secret/0000001",
}


def test_keys_of_the_environment_are_used_where_no_profile_is_named(ddbfs, proxy, write_map):
    path = write_map(SMALL_MAP.replace("NAME", "own").replace('"profile": "controller", ', ""))
    path_of_record = SETTINGS.replace("/prod/", "/own/")
    ddbfs("--map", path, "cat", path_of_record, env=KEYS_OF_THE_ENVIRONMENT)
    assert [record.access_key for record in proxy.requests] == ["DEMODEFAULTKEY000001"]


def test_profile_turns_the_keys_of_the_environment_off(ddbfs, proxy):
    ddbfs("cat", SETTINGS, env=KEYS_OF_THE_ENVIRONMENT)
    ddbfs("--profile", "session", "cat", SETTINGS, env=KEYS_OF_THE_ENVIRONMENT)
    keys = [record.access_key for record in proxy.requests]
    assert keys == ["DEMOCONTROLLERKEY001", "DEMOSESSIONKEY000001"]


@rows("name", ["AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL"])
def test_endpoint_of_the_environment(ddbfs, proxy, name):
    env = {"AWS_ENDPOINT_URL_DYNAMODB": None, name: proxy.url}
    assert ddbfs("cat", SETTINGS, env=env).stdout and proxy.ops == ["GetItem"]


def test_endpoint_of_the_service_comes_first(ddbfs, proxy):
    ddbfs("cat", SETTINGS, env={"AWS_ENDPOINT_URL": "http://127.0.0.1:1"})
    assert proxy.ops == ["GetItem"]
