"""A listing that fails at its first page fails in opendir, because some programs ignore errors of readdir. A program
that opens a directory without reading it sends no request."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import threading

import pytest

from harness import desktop, mounts
from harness.rows import rows

INDEX = "kl7a9h55-shopify-e513a8-4"
ABOVE = f"prod/jobs/by-index/shopify/{INDEX}"
LIST = f"{ABOVE}/all"
STATIC = ("", "prod", "prod/shops", ABOVE)
SHORT = ("--timeout", "2")

OPEN = "import os, sys; os.listdir(sys.argv[1])"


def stop_server(m):
    m.proxy.leave()


def deny(m):
    m.proxy.fault("denied", times=None)


FAILURES = [
    ("a stopped server", stop_server, errno.ECONNREFUSED),
    ("denied access", deny, errno.EACCES),
]


def open_error(path):
    """The errno of opendir; 0 when it opens."""
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NONBLOCK))
    except OSError as err:
        return err.errno
    return 0


@pytest.mark.parametrize("why, fail, number", FAILURES, ids=[each[0] for each in FAILURES])
def test_a_listing_that_fails_at_once_does_not_open(mount, why, fail, number):
    m = mount(*SHORT)
    fail(m)
    assert open_error(m / LIST) == number, why
    told = [each for each in m.failures() if each.words["path"] == f"/{LIST}"]
    assert told and told[0].words["errno"] == errno.errorcode[number]
    assert [open_error(m / path) for path in STATIC] == [0] * len(STATIC)
    listed = subprocess.run(["gio", "list", m / LIST], capture_output=True, text=True)
    assert listed.returncode != 0 and os.strerror(number) in listed.stderr and not listed.stdout
    assert not [line for line in m.recent() if line.endswith("/all")]


@pytest.mark.long
@pytest.mark.skipif(not shutil.which("pcmanfm"), reason="pcmanfm is not installed")
def test_a_file_browser_reports_a_listing_that_fails(mount, tmp_path):
    m = mount(*SHORT)
    deny(m)
    with desktop.screen(tmp_path / "desktop") as env, desktop.browser(env, m / LIST) as windows:
        mounts.wait_until(lambda: windows("Error"), "the browser's message")


def test_a_later_page_that_fails_is_an_error_of_readdir(mount):
    m = mount()
    m.proxy.fault("page_size", op="Query", times=None, items=1)
    with os.scandir(m / LIST) as entries:
        deny(m)
        assert next(entries).name
        with pytest.raises(PermissionError):
            list(entries)


def test_the_root_opens_without_the_names_of_the_tables(mount):
    m = mount()
    m.proxy.fault("denied", op="ListTables", times=None)
    with os.scandir(m.root) as entries:
        names = {next(entries).name for _ in range(2)}
        assert names & {"prod", "staging", "README", "tables"}
        with pytest.raises(PermissionError):
            list(entries)


# What a shell does with DIR: the Queries that it sends.
PROGRAMS = [
    ("cd DIR", 0),
    ("stat DIR", 0),
    ("test -d DIR", 0),
    ("ls -d DIR", 0),
    ("realpath DIR", 0),
    ("df DIR", 0),
    ("flock DIR true", 0),
    ("sync DIR", 0),
    ("cd DIR && find . -maxdepth 0", 0),
    ("find DIR/.. -maxdepth 1", 0),
    ("compgen -f DIR", 0),
    ("fish -c 'cd DIR'", 0),
    ("tar -cf /dev/null -C DIR --files-from /dev/null", 1),
]


@rows("command, queries", PROGRAMS)
def test_opening_without_reading_is_free(shared_mount, command, queries):
    m = shared_mount
    m.refresh(LIST)
    m.proxy.clear()
    subprocess.run(["bash", "-c", command.replace("DIR", str(m / LIST))], check=True, capture_output=True)
    assert m.counts() == ({"Query": queries} if queries else {})


def test_ls_sends_no_more_than_its_pages(mount):
    m = mount()
    names = os.listdir(m / LIST)
    assert m.counts()["Query"] == 1 and len(names) > 2
    with os.scandir(m / LIST), os.scandir(m / LIST):
        assert m.counts()["Query"] == 1  # the listing is shared while it is fresh


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_opener_that_waits_can_be_ended(mount, number):
    m = mount()
    released = threading.Event()
    m.proxy.fault("delay", op="Query", times=None, seconds=60, until=lambda _: released.is_set())
    opener = subprocess.Popen([sys.executable, "-c", OPEN, m / LIST], stderr=subprocess.DEVNULL)
    mounts.wait_until(lambda: m.counts().get("Query") == 1, "the request")
    opener.send_signal(number)
    opener.wait(30)
    assert not released.is_set()
    released.set()
    assert len(os.listdir(m / LIST)) > 2


def test_an_opener_has_a_deadline(mount):
    m = mount("--timeout", "0.3")
    m.proxy.fault("delay", op="Query", times=None, seconds=60)
    assert open_error(m / LIST) == errno.ETIMEDOUT
