"""`ddbfs log`: what a mount has said and what it says next, also when more comes than it keeps, and
when it ends and begins anew."""

import os
import re
import signal
import subprocess

import pytest

from harness import mounts

KEPT = 200  # lines that a mount keeps
# The map refuses the value, and nobody is asked for it. The log counts what it is told again within
# some seconds; among the failures each has its line.
REFUSED = "prod/jobs/by-index/shopify/shop-{}.myshopify.com"


def fail(m, *numbers):
    for number in numbers:
        with pytest.raises(OSError):
            os.stat(m / REFUSED.format(number))


def numbers(text):
    return [int(number) for number in re.findall(r"path=\S*/shop-(\d+)\.my", text)]


class Follower:
    """`ddbfs log -f` of a mount, whose output is read while it runs."""

    def __init__(self, m, folder, *options):
        self.out, self.err = folder / "followed", folder / "followed-errors"
        with open(self.out, "wb") as out, open(self.err, "wb") as err:
            self.process = m.ddbfs.start(
                "log", "-f", *options, m.root, stdout=out, stderr=err, stdin=subprocess.DEVNULL
            )

    def numbers(self):
        return numbers(self.out.read_text())

    def wait_for(self, *wanted):
        mounts.wait_until(lambda: set(wanted) <= set(self.numbers()), f"{wanted} in the log")

    def wait_for_note(self, words):
        mounts.wait_until(lambda: words in self.err.read_text(), words)


@pytest.fixture
def follow(tmp_path):
    made = []

    def start(m, *options):
        made.append(Follower(m, tmp_path, *options))
        return made[-1]

    yield start
    for each in made:
        each.process.terminate()
        each.process.wait(mounts.END_S)


# What it has said.


def test_the_log_is_shown(mount):
    m = mount()
    fail(m, 1)
    kept = m.lines()
    assert numbers(kept) == [1]
    assert m.ddbfs("log", m.root).text == kept
    assert m.counts() == {}


def test_a_path_in_the_mount_names_it(mount):
    m = mount()
    fail(m, 1)
    kept = m.lines()
    assert m.ddbfs("log", m / "prod/shops/x").text == kept
    assert m.ddbfs("log", cwd=m / "prod").text == kept
    assert m.counts() == {}


def test_the_last_lines_alone(mount):
    m = mount()
    fail(m, *range(5))
    kept = m.errors().splitlines(keepends=True)
    assert numbers("".join(kept)) == [0, 1, 2, 3, 4]
    assert m.ddbfs("log", "--errors", "-n", "2", m.root).text == "".join(kept[-2:])
    assert m.ddbfs("log", "--errors", "--lines=1000", m.root).text == "".join(kept)


def test_failures_alone(mount):
    m = mount("-v")
    (m / "prod/shops/cool-store.myshopify.com/SETTINGS").read_bytes()
    fail(m, 7)
    assert "GetItem" in m.ddbfs("log", m.root).text
    assert m.ddbfs("log", "--errors", m.root).text == m.errors()
    assert numbers(m.errors()) == [7] and "GetItem" not in m.errors()


def test_the_only_mount_need_not_be_named(mount):
    m = mount()
    fail(m, 3)
    assert m.ddbfs("log").text == m.lines()


def test_of_several_one_is_to_be_named(mount):
    one, other = mount(), mount()
    said = one.ddbfs("log", expect=1)
    assert said.stdout == b"" and "there are several mounts" in said.stderr
    assert str(one.root) in said.stderr and str(other.root) in said.stderr


# What can't be shown.


def test_where_there_is_no_mount(ddbfs, tmp_path):
    assert "there is no mount of ddbfs; make one" in ddbfs("log", expect=1).stderr
    said = ddbfs("log", tmp_path, expect=1).stderr
    assert said == f"ddbfs: {tmp_path}: is not in a mount of ddbfs; ddbfs status lists the mounts\n"
    assert "log takes one mount" in ddbfs("log", "/", "/", expect=2).stderr


def test_a_mount_whose_daemon_died_is_told(mount):
    m = mount()
    m.exit_code = None
    m.process.kill()
    m.wait()
    said = m.ddbfs("log", m.root, expect=1).stderr
    assert said == f"ddbfs: {m.root}: the mount has ended; see ddbfs status\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
def test_that_of_somebody_else_is_not_shown(for_others, mount):
    others = for_others()
    m = mount("-o", "allow_other")
    m.root.parent.chmod(0o755)
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    done = subprocess.run(
        [*nobody, others.binary, "log", m.root],
        env=others.environment(),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1 and "only the user who mounted it may read its log" in done.stderr


# What it says next.


def test_what_comes_next_is_shown_once(mount, follow):
    m = mount()
    fail(m, 1)
    log = follow(m, "--errors")
    log.wait_for(1)
    fail(m, 2)
    log.wait_for(2)
    fail(m, 3)
    log.wait_for(3)
    assert log.numbers() == [1, 2, 3] and log.err.read_text() == ""
    assert m.counts() == {}


def test_a_ring_that_is_full_moves_on(mount, follow):
    m = mount()
    fail(m, *range(KEPT))
    log = follow(m, "--errors", "-n", "1")
    log.wait_for(KEPT - 1)
    for last in range(KEPT, KEPT + 60, 20):
        fail(m, *range(last, last + 20))
        log.wait_for(last + 19)
    assert log.numbers() == list(range(KEPT - 1, KEPT + 60))
    assert log.err.read_text() == ""


def test_lines_that_were_lost_are_told(mount, follow):
    m = mount()
    fail(m, 1)
    log = follow(m, "--errors")
    log.wait_for(1)
    log.process.send_signal(signal.SIGSTOP)
    mounts.wait_until(lambda: mounts.state_of(log.process.pid) == "T", "the stop")
    fail(m, *range(1000, 1000 + KEPT + 1))
    log.process.send_signal(signal.SIGCONT)
    log.wait_for(1000 + KEPT)
    log.wait_for_note("lines may be missing here")
    assert log.numbers() == [1, *range(1001, 1001 + KEPT)]


def test_a_mount_that_is_followed_goes_and_comes(mount, follow):
    m = mount()
    fail(m, 1)
    log = follow(m)
    log.wait_for(1)
    assert m.unmount() == 0
    log.wait_for_note("the mount has ended; the log of the next mount follows here")
    again = mounts.Mount(m.ddbfs, m.root.parent, m.proxy).wait_ready()
    try:
        fail(again, 2)
        log.wait_for(2)
        assert log.numbers() == [1, 2] and log.err.read_text().count("\n") == 1
    finally:
        again.clean_up()


def test_a_follower_does_not_keep_the_mount(mount, follow):
    m = mount()
    fail(m, 1)
    log = follow(m)
    log.wait_for(1)
    mounts.wait_until(lambda: m.ddbfs("umount", m.root, expect=None).code == 0, "the end")
    assert log.process.poll() is None


def test_it_ends_with_its_reader(mount):
    m = mount()
    fail(m, 1)
    log = m.ddbfs.start("log", "-f", m.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert numbers(log.stdout.readline().decode()) in ([], [1])
    log.stdout.close()
    assert log.wait(mounts.END_S) == 0 and log.stderr.read() == b""
    log.stderr.close()
