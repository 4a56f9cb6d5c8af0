"""An interactive shell on a terminal of its own, where somebody types and presses Tab."""

import os
import re
import select
import subprocess
import time

from . import terminal

# Answers of programs on the terminal, apart from what the line editor paints.
ESCAPES = re.compile(r"\x1b(\[[0-9;?]*[a-zA-Z]|\][^\x07]*\x07|[()=>][0-9A-Z]?)")


class Prompt:
    """with Prompt(command, env, folder) as at: at.enter("line"); at.enter_and_read("ddbfs ca\\t") -> words."""

    def __init__(self, command, environment, folder):
        self.ours, theirs = terminal.open_pty()
        self.shown = ""
        self.process = subprocess.Popen(
            command, env=environment, cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs,
            start_new_session=True, preexec_fn=lambda: os.close(os.open(os.ttyname(0), os.O_RDWR)),
        )  # fmt: skip
        os.close(theirs)
        self.entered = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.ours)

    def wait_for(self, pattern, deadline_s=60):
        """What PATTERN finds in what was shown; and forgets all up to there."""
        end = time.monotonic() + deadline_s
        while True:
            found = re.search(pattern, ESCAPES.sub("", self.shown))
            if found:
                self.shown = ""
                return found
            ready, _, _ = select.select([self.ours], [], [], max(0, end - time.monotonic()))
            assert ready, f"{self.shown!r} has nothing like {pattern!r}"
            self.shown += os.read(self.ours, 4096).decode("utf-8", "replace")

    def write(self, text):
        os.write(self.ours, text.encode())

    def enter(self, line):
        """Waits until it has been done: the word that is then shown stands on no line that is typed."""
        self.entered += 1
        self.write(f"{line}; echo done-$(echo {self.entered})\n")
        self.wait_for(f"done-{self.entered}\\b")

    def enter_and_read(self, text):
        """The words with which the program, which prints them in brackets, is called in the end."""
        self.write(text + "\n")
        return re.findall(r"\[([^]]*)\]", self.wait_for(r"(\[[^]\r\n]*\])+\.\r?\n")[0])


SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], "true"),
    "zsh": (["zsh", "-f", "-i"], "autoload -U compinit; compinit -u -D"),
    "fish": (["fish", "--no-config", "-i"], "true"),
}


def write_program(home, name, text):
    """A program of that name in the PATH of HOME."""
    (home.folder / "bin" / name).write_text(text, "utf-8")
    (home.folder / "bin" / name).chmod(0o755)


class Session:
    """session("printed /mnt/pr\\t") -> the words that `printed` is then called with. It begins with the first of these,
    or with start(env), and stands in FOLDER."""

    def __init__(self, shell, home, folder, *lines):
        self.shell = shell
        self.home = home
        self.folder = folder
        self.lines = lines
        self.at = None
        folder.mkdir()

    def start(self, env=None):
        command, begin = SHELLS[self.shell]
        environment = self.home.environment({"TERM": "dumb", **(env or {})})
        self.at = Prompt(command, environment, self.folder).__enter__()
        for line in (begin, *self.lines):
            self.at.enter(line)

    def __call__(self, text):
        if not self.at:
            self.start()
        return self.at.enter_and_read(text)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.at:
            self.at.__exit__()
