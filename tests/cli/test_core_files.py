"""A command that crashes leaves no core, wherever cores go: the flag that a wait status has of one."""

import os
import resource
import signal
import subprocess
import sys
import time

import pytest

SETTINGS = "/prod/shops/cool-store.myshopify.com/SETTINGS"


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


@pytest.mark.parametrize("command", ["cat", "ls"])
def test_no_core(ddbfs, proxy, cores, command):
    proxy.fault("delay", times=None, seconds=60)
    options = "disable_coredump=0:detect_leaks=0"
    path = SETTINGS if command == "cat" else "/prod/index-settings/kl7a9h55"
    running = ddbfs.start(
        command, path, env={"ASAN_OPTIONS": options}, cwd=cores, preexec_fn=allow_cores
    )
    end = time.monotonic() + 20
    while not proxy.requests:  # it has its credentials
        assert time.monotonic() < end and running.poll() is None
        time.sleep(0.01)
    running.send_signal(signal.SIGABRT)
    assert not leaves_core(running)
    assert list(cores.iterdir()) == []
    proxy.closing.set()
