"""A program at a terminal of its own, where somebody types."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time

import pytest


def open_pty():
    """Both ends of a pseudo-terminal. A test that needs one is skipped where there is none, as in a chroot
    without /dev/pts."""
    try:
        return pty.openpty()
    except OSError as why:
        pytest.skip(f"there is no pseudo-terminal: {why}")


class Terminal:
    """with Terminal(command, env) as t: t.wait_for("text"); t.type("line"); t.end() -> exit code. Standard
    output and error go elsewhere: STDOUT, STDERR, after the end. With ROWS, input and output are the
    terminal, which has so many lines; with TYPED, input and error, as of a command that somebody types
    with its output in a pipe."""

    def __init__(self, command, environment, rows=None, typed=False):
        self.ours, self.theirs = open_pty()
        self.shown = ""
        self.resize(rows or 24)
        control = lambda: fcntl.ioctl(self.theirs, termios.TIOCSCTTY, 0)  # noqa: E731
        self.process = subprocess.Popen(
            command, env=environment, stdin=self.theirs if rows or typed else subprocess.DEVNULL,
            stdout=self.theirs if rows else subprocess.PIPE,
            stderr=self.theirs if typed else subprocess.PIPE,
            start_new_session=True, preexec_fn=control,
        )  # fmt: skip

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()
        os.close(self.theirs)
        os.close(self.ours)

    def wait_for(self, text, deadline_s=90):
        end = time.monotonic() + deadline_s
        while text not in self.shown:
            ready, _, _ = select.select([self.ours], [], [], max(0, end - time.monotonic()))
            assert ready, f"{self.shown!r} has no {text!r}"
            self.shown += os.read(self.ours, 4096).decode()

    def type(self, text):
        os.write(self.ours, text.encode())

    def resize(self, rows, columns=80):
        fcntl.ioctl(self.ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def echoes(self):
        return bool(termios.tcgetattr(self.ours)[3] & termios.ECHO)

    def end(self):
        told = self.process.communicate(timeout=90)
        self.stdout, self.stderr = ((each or b"").decode() for each in told)
        while select.select([self.ours], [], [], 0)[0]:  # what was said last
            self.shown += os.read(self.ours, 4096).decode()
        return self.process.returncode
