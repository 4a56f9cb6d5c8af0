"""A screen without a monitor, and a file browser on it."""

import contextlib
import os
import signal
import subprocess


@contextlib.contextmanager
def screen(home):
    """The environment of programs on an Xvfb, whose home is HOME. Without -noreset the screen starts anew when its
    last client leaves, and a client that connects just then is turned away."""
    home.mkdir()
    env = {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    read_end, write_end = os.pipe()
    command = ["Xvfb", "-displayfd", str(write_end), "-noreset", "-nolisten", "tcp", "-screen", "0", "900x600x24"]
    server = subprocess.Popen(command, pass_fds=[write_end])
    try:
        os.close(write_end)
        with os.fdopen(read_end) as told:
            number = told.readline().strip()
        assert number, "Xvfb ended without a screen; its message is above"
        yield {**env, "DISPLAY": ":" + number}
    finally:
        server.terminate()
        server.wait()


@contextlib.contextmanager
def browser(env, folder):
    """PCManFM, which shows FOLDER: a function that finds its visible windows of a name."""
    command = ["dbus-run-session", "--", "pcmanfm", "--no-desktop", str(folder)]
    process = subprocess.Popen(command, env=env, start_new_session=True)

    def windows(name):
        assert process.poll() is None, "the browser ended; its message is above"
        find = ["xdotool", "search", "--onlyvisible", "--name", name]
        return subprocess.run(find, env=env, capture_output=True).stdout

    try:
        yield windows
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()
