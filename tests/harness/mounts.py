"""A live mount: the daemon in front as a child, its log captured, its end checked."""

import collections
import ctypes
import json
import os
import pathlib
import signal
import subprocess
import time

from . import runner

START_S = 90
END_S = 60
STATS_TTL_S = 0.12  # the least for which the kernel keeps a name, and a little


CLONE_NEWNS = 0x20000
MS_REC, MS_PRIVATE = 0x4000, 0x40000
MNT_DETACH = 2
LIBC = ctypes.CDLL(None, use_errno=True)


def leave_name_space():
    """Gives this process, and what it starts, mounts that nobody else sees: what a test leaves
    behind goes with it, and no file browser of this machine looks into a mount under test. Why it
    could not, or None: only root may, and / has to be a mount, which it is not in a chroot."""
    if LIBC.unshare(CLONE_NEWNS) != 0:
        return f"unshare: {os.strerror(ctypes.get_errno())}"
    if LIBC.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None) != 0:
        return f"/ can't be made private: {os.strerror(ctypes.get_errno())}"
    for path in mounts_of_ddbfs():  # of this machine; commands that look for mounts must not find them
        LIBC.umount2(os.fsencode(path), MNT_DETACH)
    return None


def mounts_of_ddbfs():
    lines = pathlib.Path("/proc/self/mountinfo").read_text("utf-8").splitlines()
    return [line.split(" ")[4].replace("\\040", " ") for line in lines if " fuse.ddbfs " in line]


def wait_until(condition, what, deadline_s=90):
    """Waits for something that is bound to happen; no test measures how long it takes."""
    end = time.monotonic() + deadline_s
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, f"waited {deadline_s} s for: {what}"
        time.sleep(0.01)


def is_mounted(path):
    """Asks the kernel's table and never the mount, which may be dead."""
    wanted = str(path).replace(" ", "\\040")
    lines = pathlib.Path("/proc/self/mountinfo").read_text("utf-8").splitlines()
    return any(line.split(" ")[4] == wanted for line in lines)


def take_away(path):
    """Unmounts PATH as a user does; lazily where a test left something open in it. Whether it was
    done without force."""
    if is_mounted(path):
        subprocess.run(["fusermount3", "-u", str(path)], capture_output=True)
    busy = is_mounted(path)
    if busy:
        subprocess.run(["umount", "-l", str(path)], capture_output=True)
    return not busy


def state_of(pid):
    """The letter of /proc/PID/status (R, S, D, Z …), or None when the process is gone."""
    try:
        lines = pathlib.Path(f"/proc/{pid}/status").read_text("ascii", "replace").splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return next(line.split()[1] for line in lines if line.startswith("State:"))


def has_ended(pid):
    """Nobody may have waited for it yet."""
    return state_of(pid) in (None, "Z")


class Failure:
    """A line of .ddbfs/errors: its STAMP, the WORDS of its name=value, the REASON, and the HINT, which may
    be empty."""

    def __init__(self, line):
        self.line = line
        self.stamp, _, entry = line.partition(" ")
        fields, _, told = entry.partition(": ")
        self.words = dict(word.split("=", 1) for word in fields.split(" "))
        self.reason, _, self.hint = told.partition("; hint: ")
        self.entry = entry.partition("; hint: ")[0]  # as the log has it


class Mount:
    """Made by the fixture `mount`. ROOT is the mountpoint; `m / "prod/..."` is a path in it."""

    def __init__(self, ddbfs, folder, proxy, options=(), map_file=None, env=None, network=None):
        self.ddbfs = ddbfs
        self.proxy = proxy
        self.root = folder / "mnt"
        self.root.mkdir(parents=True, exist_ok=True)
        self.log_file = folder / "log"
        self.exit_code = 0  # what the daemon must end with; None: a test killed it
        # Nothing is asked twice, so that requests can be counted, unless a test wants it.
        words = ["mount", "-f", "--hedge", "no", "--parallel", "no", *options]
        if map_file:
            words += ["--map", str(map_file)]
        with open(self.log_file, "ab") as log:
            ends = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log}
            if network:
                ends["preexec_fn"] = network.enter
            self.process = ddbfs.start(*words, self.root, env=env, **ends)

    def __truediv__(self, path):
        return self.root / path

    @property
    def pid(self):
        return self.process.pid

    def log(self):
        return self.log_file.read_text("utf-8", "replace")

    def wait_ready(self):
        ended = lambda: self.process.poll() is not None  # noqa: E731
        wait_until(lambda: ended() or is_mounted(self.root), "the mount", START_S)
        assert not ended(), f"the daemon ended with {self.process.returncode}: {self.log()}"
        os.statvfs(self.root)
        return self

    # What has been asked.

    def counts(self):
        """Requests that the proxy has seen since they were forgotten last, by operation."""
        return dict(collections.Counter(self.proxy.ops))

    def stats(self):
        """stats.json as it is now, and not as the kernel has it still."""
        time.sleep(STATS_TTL_S)
        return json.loads((self / ".ddbfs/stats.json").read_bytes())

    def errors(self):
        time.sleep(STATS_TTL_S)
        return (self / ".ddbfs/errors").read_text("utf-8")

    def failures(self):
        return [Failure(line) for line in self.errors().splitlines()]

    def lines(self):
        time.sleep(STATS_TTL_S)
        return (self / ".ddbfs/log").read_text("utf-8")

    def ledger(self):
        """The questions that the mount remembers, the oldest first."""
        time.sleep(STATS_TTL_S)
        return [json.loads(line) for line in (self / ".ddbfs/ledger.jsonl").read_bytes().splitlines()]

    def metrics(self):
        time.sleep(STATS_TTL_S)
        return (self / ".ddbfs/metrics").read_text("ascii")

    def recent(self):
        time.sleep(STATS_TTL_S)
        return (self / ".ddbfs/recent").read_text("utf-8").splitlines()

    def refresh(self, path="", expect=0):
        return self.ddbfs("refresh", self.root / path, expect=expect)

    # Its end.

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self):
        return self.process.wait(END_S)

    def unmount(self):
        subprocess.run(["fusermount3", "-u", str(self.root)], check=True, capture_output=True)
        return self.wait()

    def clean_up(self):
        """Ends it whatever the test has done, and only then looks at how it ended."""
        if not take_away(self.root):
            self.process.send_signal(signal.SIGTERM)  # who has it open still keeps it alive
        try:
            code = self.process.wait(END_S)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGABRT)
            code = self.process.wait(END_S)
        log = self.log()
        assert not is_mounted(self.root), f"{self.root} is mounted still"
        assert not any(report in log for report in runner.REPORTS), log
        assert self.exit_code is None or code == self.exit_code, f"exit code {code}: {log}"
