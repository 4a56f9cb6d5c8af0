"""A command that crashes leaves no core, wherever cores go: the flag that a wait status has of one."""

import os
import resource
import signal
import subprocess
import sys
import time

import pytest

from harness import mounts

SETTINGS = "/prod/shops/cool-store.myshopify.com/SETTINGS"
WITH_CORES = {"ASAN_OPTIONS": "disable_coredump=0:detect_leaks=0"}


def allow_cores():
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))


def leaves_core(process):
    _, status = os.waitpid(process.pid, 0)
    process.returncode = 0  # it has been waited for
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGABRT
    return os.WCOREDUMP(status)


@pytest.fixture
def cores(tmp_path):
    """A folder where a program that crashes leaves its core."""
    folder = tmp_path / "cores"
    folder.mkdir()
    crash = [sys.executable, "-c", "import os; os.abort()"]
    if not leaves_core(subprocess.Popen(crash, cwd=folder, preexec_fn=allow_cores)):
        pytest.skip("no program leaves a core here")
    for core in folder.iterdir():
        core.unlink()
    return folder


def wait_for(condition, running):
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end and running.poll() is None
        time.sleep(0.01)


@pytest.mark.parametrize("command", ["cat", "ls"])
def test_no_core(ddbfs, proxy, cores, command):
    proxy.fault("delay", times=None, seconds=60)
    path = SETTINGS if command == "cat" else "/prod/index-settings/kl7a9h55"
    running = ddbfs.start(command, path, env=WITH_CORES, cwd=cores, preexec_fn=allow_cores)
    wait_for(lambda: proxy.requests, running)  # it has its credentials
    running.send_signal(signal.SIGABRT)
    assert not leaves_core(running)
    assert list(cores.iterdir()) == []
    proxy.closing.set()


def test_no_core_before_it_has_begun(ddbfs, cores, tmp_path):
    """The environment may hold credentials, too."""
    os.mkfifo(tmp_path / "map")
    command = ["--map", tmp_path / "map", "cat", SETTINGS]
    running = ddbfs.start(*command, env=WITH_CORES, cwd=cores, preexec_fn=allow_cores)
    wait_for(lambda: mounts.state_of(running.pid) == "S", running)
    running.send_signal(signal.SIGABRT)
    assert not leaves_core(running)
    assert list(cores.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a capability away")
def test_another_process_of_the_user_does_not_look_into_it(ddbfs, proxy):
    """As a debugger could, and read the token; root may look into anything by a capability."""
    proxy.fault("delay", times=None, seconds=60)
    words = ["setpriv", "--bounding-set=-sys_ptrace"]
    environment = ddbfs.home.environment({"ASAN_OPTIONS": "detect_leaks=0"})
    running = subprocess.Popen([*words, str(ddbfs.binary), "cat", SETTINGS], env=environment)
    other = subprocess.Popen([*words, "sleep", "60"])
    wait_for(lambda: proxy.requests, running)
    looks = [[*words, "sh", "-c", f": </proc/{each.pid}/mem"] for each in (running, other)]
    opened = [subprocess.run(look, capture_output=True).returncode == 0 for look in looks]
    for each in (running, other):
        each.kill()
        each.wait()
    assert opened == [False, True]
    proxy.closing.set()
