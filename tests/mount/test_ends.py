"""How listings, questions and failures of a live mount end: never without end, never in silence, and
never remembered."""

import errno
import json
import os
import signal
import subprocess
import time

import pytest

from harness import mounts, tables

KINDS = {"a": {"pk": "{box}", "sk": "A#{n}"}, "b": {"pk": "{box}", "sk": "B#{n}#{m}"}}


def item(number, **attributes):
    texts = {"pk": "B", "sk": f"A#{number}", **attributes}
    return {name: {"S": text} for name, text in texts.items()}


@pytest.fixture
def things(mount, table, tmp_path):
    """things(items, *options, paths, **members of the table): a mount of such a table."""

    def make(items, *options, paths, **members):
        table(tables.plain(), items)
        text = tables.plain_map(records=KINDS, paths=paths, **members)
        text["environments"]["any"].pop("profile")
        path = tmp_path / "things.json"
        path.write_text(json.dumps(text))
        return mount(*options, map_file=path)

    return make


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=100)


def test_ls_ends_where_a_listing_is_too_long(things):
    """GNU ls reads on after EOVERFLOW."""
    m = things([item(i) for i in range(12)], "--max-entries", "5", paths={"{box}/": {"list": "a"}})
    done = run("ls", m / "any/things/B")
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "too large" in done.stderr


@pytest.mark.parametrize("options", [(), ("-o", "unlistable=quiet")])
def test_a_directory_that_is_left_out_for_its_name_is_told_of(things, options):
    paths = {"{box}/": {"list": "a"}, "{box}/{n}.d/": {"list": "b"}}
    m = things([item("short"), item("L" * 260)], *options, paths=paths)
    done = run("ls", m / "any/things/B")
    assert done.returncode == 2 and "too long" in done.stderr and "short.d" in done.stdout
    (told,) = [line for line in m.errors().splitlines() if "errno=ENAMETOOLONG" in line]
    assert "path=/any/things/B fixable_by=human: " in told and "a directory is left out" in told
    assert "a directory is left out" in (m / "any/things/B@info").read_text()


@pytest.mark.parametrize("path", ["B@info", "only/B", "B/" + "L" * 100 + "%~" + "0" * 32])
def test_a_question_of_many_pages_ends_soon_after_its_caller_has_gone(things, path):
    """At 20 ms a page it would have 2,000 pages to go."""
    paths = {"{box}/": {"list": "a"}, "only/{box}": {"record": "a", "filter": {"x": "none"}}}
    long = [item("L" * 240 + str(i), x="some") for i in range(2000)]
    m = things(long, "--timeout", "100", paths=paths)
    m.proxy.fault("page_size", times=None, items=1)
    m.proxy.fault("delay", times=None, seconds=0.02)
    child = subprocess.Popen(["cat", m / "any/things" / path], stderr=subprocess.PIPE)
    mounts.wait_until(lambda: len(m.proxy.requests) >= 3, "the first pages")
    child.send_signal(signal.SIGINT)
    child.communicate()
    assert child.returncode == -signal.SIGINT

    def rests():
        before = len(m.proxy.requests)
        time.sleep(1.5)
        return len(m.proxy.requests) == before

    mounts.wait_until(rests, "the end of the requests")
    assert len(m.proxy.requests) < 1500


def test_the_info_of_a_listing_stays_when_memory_is_short(things):
    m = things(
        [item(i, x="y" * 3000) for i in range(1000)],
        "--cache-size",
        "1M",
        paths={"{box}/": {"list": "a"}},
        ttl=3600,
    )
    with open(m / "any/things/B@info") as file:
        run("sh", "-c", f"cat {m.root}/any/things/B/*")
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        assert json.loads(file.read())["records"] == 1000


def errno_of_stat(path):
    try:
        os.stat(path)
    except OSError as why:
        return why.errno
    return 0


def test_a_failure_is_told_once_though_the_file_is_open(things):
    """The kernel asks twice for a name that it has, once for one that it has dropped. Who is told a
    failure twice then must not be told a third time, when all is well again."""
    m = things([item(1)], paths={"{box}/": {"list": "a"}}, ttl=0)
    path = m / "any/things/B/1"
    with open(path):
        m.proxy.fault("denied", times=None)
        mounts.wait_until(lambda: errno_of_stat(path) == errno.EACCES, "the name to be too old")
        assert errno_of_stat(path) == errno.EACCES
        m.proxy.heal()
        assert errno_of_stat(path) == 0


def test_recent_has_no_readme(things):
    m = things([item(1)], paths={"{box}/{n}": {"record": "a"}})
    for path in ("any/things/README", "any/things/B/README", "any/things/B/1"):
        (m / path).read_text()
    assert "/any/things/B/1" in m.recent()
    assert not [path for path in m.recent() if path.endswith("README")]
