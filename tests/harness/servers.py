"""The servers under the tests: started on free loopback ports, stopped by their pid.

No server outlives the process that started it: the kernel kills it when its parent dies.
"""

import contextlib
import ctypes
import http.client
import json
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request

from . import packages, places

PR_SET_PDEATHSIG = 1
START_TIMEOUT_S = 60
STARTS = 3
LIBC = ctypes.CDLL(None)


def die_with_parent():
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


RESIDENT = []  # processes that end with this one


def start_resident(command, **options):
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, preexec_fn=die_with_parent, **options)
    RESIDENT.append(process)
    return process


def end_resident():
    """Waits for them, so that the run counts their processor time."""
    for process in RESIDENT:
        process.kill()
        process.wait()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def dynoxide_command(port, database=None):
    command = [str(packages.dynoxide()), "serve", "--host", "127.0.0.1", "--port", str(port)]
    return command + (["--db-path", str(database)] if database else [])


def dynamodb_local_command(port):
    home = packages.dynamodb_local()
    # The C1 compiler alone starts in half the time, and no test runs long enough to miss C2.
    machine = ["-XX:TieredStopAtLevel=1", "-Xmx1g", f"-Djava.library.path={home}/DynamoDBLocal_lib"]
    jar = ["-jar", str(home / "DynamoDBLocal.jar"), "-inMemory", "-sharedDb", "-port", str(port)]
    return [packages.java(), *machine, *jar]


def zero_command(port, shops=("some=10000",), delay_ms=0, serial=False, program=None):
    """tests/bench/peers/zero_server.c: jobs of SHOPS, each as NAME=COUNT[:BYTES]."""
    program = program or places.program("DDBFS_ZERO", "build-asan/tests/bench/zero_server", "build/tests/bench/zero_server")
    options = ["--port", str(port), "--delay-ms", str(delay_ms), *(["--serial"] if serial else [])]
    return [str(program), *options, *shops]


COMMANDS = {
    "dynoxide": dynoxide_command,
    "dynamodb-local": dynamodb_local_command,
    "zero": zero_command,
}


class Server:
    """A running server: its name, port and url, and the process behind it."""

    def __init__(self, name, port, process):
        self.name = name
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        self.process = process

    def __repr__(self):
        return f"<{self.name} at {self.url}>"

    def answers(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", "/")
            connection.getresponse().read()
            return True
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def counts(self):
        """The requests that the zero server has received, by operation; see tests/bench/peers/zero_server.c."""
        with urllib.request.urlopen(f"{self.url}/counts", timeout=60) as answer:
            return json.load(answer)

    def wait(self):
        """True when it answers; False when it ended first, as with a port that was taken."""
        deadline = time.monotonic() + START_TIMEOUT_S
        while self.process.poll() is None and time.monotonic() < deadline:
            if self.answers():
                return self.process.poll() is None
            time.sleep(0.05)
        return False

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


def launch(name, log, **options):
    port = free_port()
    command = COMMANDS[name](port, **options)
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        preexec_fn=die_with_parent,
    )
    return Server(name, port, process)


def start(name, **options):
    """A server that answers. Another process may take the port first, so it tries again."""
    with tempfile.TemporaryFile() as log:
        for _ in range(STARTS):
            server = launch(name, log, **options)
            if server.wait():
                return server
            server.stop()
        log.seek(0)
        raise RuntimeError(f"{name} did not start: {log.read().decode(errors='replace')}")


@contextlib.contextmanager
def running(name, **options):
    server = start(name, **options)
    try:
        yield server
    finally:
        server.stop()
