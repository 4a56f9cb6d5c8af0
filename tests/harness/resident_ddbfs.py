"""ddbfs as one process that stays: a command runs in a fork of it (tests/unit/resident.c), which costs a third of a
start of the sanitized program. What a fork cannot have, such as another library before the C library, is started."""

import functools
import os
import pathlib
import secrets
import select
import signal
import socket
import subprocess
import time

from . import servers

# Read when a program starts: what differs from the resident process's own needs a start.
AT_START = ("LD_", "ASAN_", "LSAN_", "UBSAN_", "GLIBC_", "MALLOC_", "GCONV_")
MOST_BYTES = 100_000  # of one message
START_S = 60


def at_start(environment):
    return {name: value for name, value in environment.items() if name.startswith(AT_START)}


@functools.lru_cache(maxsize=None)
def beside(binary):
    """The resident program of BINARY's build, or None: it may be older than the program."""
    build = pathlib.Path(binary).parents[1]
    resident = build / "tests/unit/resident"
    parts = [*build.glob("core/*.a"), *build.glob("fs/*.a"), *build.glob("fs/ddbfs.p/*.o")]
    if not resident.exists() or not parts:
        return None
    return resident if all(resident.stat().st_mtime >= part.stat().st_mtime for part in parts) else None


class Resident:
    """Started by the first call of this process; ends with it."""

    def __init__(self, program, variables):
        self.variables = variables
        self.address = f"\0ddbfs-resident-{os.getpid()}-{secrets.token_hex(4)}"
        self.process = servers.start_resident([program, self.address[1:]], env=variables, cwd="/")

    def connect(self):
        deadline = time.monotonic() + START_S
        while True:
            link = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            try:
                link.connect(self.address)
                return link
            except OSError:
                link.close()
                assert self.process.poll() is None and time.monotonic() < deadline, "the resident ddbfs has ended"
                time.sleep(0.01)

    def run(self, words, environment, folder, timeout_s):
        """As subprocess.run with the outputs captured, and without an input."""
        texts = [os.fspath(folder), str(len(words)), *words, *(f"{name}={value}" for name, value in environment.items())]
        message = b"".join(os.fsencode(text) + b"\0" for text in texts)
        if len(message) > MOST_BYTES:
            return None
        (out, out_end), (err, err_end) = os.pipe(), os.pipe()
        null = os.open(os.devnull, os.O_RDONLY)
        with self.connect() as link:
            socket.send_fds(link, [message], [null, out_end, err_end])
            for end in (null, out_end, err_end):
                os.close(end)
            pid = int.from_bytes(link.recv(4), "little")
            try:
                texts = read_all((out, err), timeout_s)
                if texts is None:
                    os.kill(pid, signal.SIGKILL)
                    raise subprocess.TimeoutExpired(words, timeout_s)
            finally:
                os.close(out)
                os.close(err)
            status = link.recv(4)
        assert status, "the resident ddbfs has ended"
        code = os.waitstatus_to_exitcode(int.from_bytes(status, "little"))
        return subprocess.CompletedProcess(words, code, *texts)


def read_all(pipes, timeout_s):
    """The bytes of each of PIPES, read to their ends; None when that takes longer."""
    deadline, found = time.monotonic() + timeout_s, {pipe: [] for pipe in pipes}
    poll, left = select.poll(), set(pipes)
    for pipe in pipes:
        poll.register(pipe, select.POLLIN)
    while left:
        ready = poll.poll(max(0, (deadline - time.monotonic()) * 1000))
        if not ready:
            return None
        for pipe, _ in ready:
            text = os.read(pipe, 1 << 16)
            if text:
                found[pipe].append(text)
            else:
                poll.unregister(pipe)
                left.discard(pipe)
    return [b"".join(found[pipe]) for pipe in pipes]


@functools.lru_cache(maxsize=None)
def resident_of(program, variables):
    return Resident(program, dict(variables))


def run(command, environment, folder, timeout_s):
    """What COMMAND leaves, or None if it has to be started: `mount` has processes of its own."""
    program = beside(command[0])
    if program is None or "mount" in command:
        return None
    variables = at_start(environment)
    if any(name.startswith("LD_") for name in variables):
        return None
    return resident_of(program, tuple(sorted(variables.items()))).run(command, environment, folder, timeout_s)
