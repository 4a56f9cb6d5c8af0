"""Fixtures of the model and load tests: one server, live mounts, a limit on each test."""

import os
import shutil
import signal

import pytest

from harness import mounts

# A soak takes as long as it was asked to; nothing else may take this long.
TEST_TIMEOUT_S = 240 + int(os.environ.get("DDBFS_SOAK", 0))


@pytest.fixture(scope="session")
def server(server_called):
    """dynoxide alone: what is tested is the mount, and it allows empty strings."""
    return server_called("dynoxide")


def why_not():
    if not os.path.exists("/dev/fuse"):
        return "there is no /dev/fuse"
    if os.geteuid() != 0 and not shutil.which("fusermount3"):
        return "there is no fusermount3"
    return None


def pytest_collection_modifyitems(items):
    here = os.path.dirname(__file__)
    for item in items:
        if why_not() and str(item.path).startswith(here):
            item.add_marker(pytest.mark.skip(reason=why_not()))


@pytest.fixture(autouse=True)
def limit():
    """A test that hangs in a system call of the mount is interrupted, and fails."""

    def fail(*_):
        raise TimeoutError(f"the test took more than {TEST_TIMEOUT_S} s")

    old = signal.signal(signal.SIGALRM, fail)
    signal.alarm(TEST_TIMEOUT_S)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, old)


@pytest.fixture
def mount(ddbfs, proxy, tmp_path):
    """mount("--timeout", "2", map_file=…, program=…): a live mount whose proxy has forgotten the
    start-up. PROGRAM runs instead of the sanitized ddbfs. All are unmounted after the test, and
    their daemons' ends are checked."""
    made = []

    def make(*options, map_file=None, env=None, program=ddbfs):
        folder = tmp_path / f"mount-{len(made)}"
        made.append(mounts.Mount(program, folder, proxy, options, map_file, env))
        made[-1].wait_ready()
        proxy.clear()
        return made[-1]

    yield make
    proxy.heal()
    for each in made:
        each.clean_up()
