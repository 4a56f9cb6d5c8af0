"""The console blocks of a document: their commands, typed in one bash, and the output that the document shows."""

import re

from . import places, runner


def steps_of(text):
    """(command, output, note) of each `$ ` line in all console blocks of TEXT, in order. A note is the text
    behind four blanks and `# `."""
    for block in re.findall(r"```console\n(.*?)```", text, re.S):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            line, _, output = part.partition("\n")
            command, _, note = line.partition("    # ")
            yield command, output.strip("\n"), note


def allows(note, requests):
    """NOTE is `2 requests` or `at most 3 requests`; an empty one allows none."""
    number = int((re.findall(r"\d+", note) or [0])[0])
    return requests <= number if note.startswith("at most") else requests == number


def add_ddbfs(home):
    """Makes the program under test the `ddbfs` of HOME's commands."""
    ddbfs = places.program("DDBFS", "build-asan/fs/ddbfs", "build/fs/ddbfs")
    (home.folder / "bin/ddbfs").symlink_to(ddbfs)


class Bash:
    """Runs one line after the other: the first in START, each other one in the folder where the line before it
    ended. FOLDER holds the state."""

    def __init__(self, environment, folder, start=None):
        self.environment = environment
        self.file = folder / "pwd"
        self.file.write_text(str(start or folder), "utf-8")

    def __call__(self, line):
        """Returns the line's result; its text has both streams."""
        start, end = 'cd "$(cat "$0")" || exit', 'pwd >"$0"'
        script = f"{start}\n{{ {line}\n}} 2>&1; code=$?\n{end}; exit $code"
        return runner.run(["bash", "-c", script, self.file], self.environment)


def find_differences(text, bash, mountpoint, proxy=None):
    """Types the commands of TEXT, with MOUNTPOINT for /mnt, and returns those that print something else or
    fail. With PROXY, also those that send another number of requests than their note allows; a command
    without a note must send none."""
    wrong = []
    for command, output, note in steps_of(text):
        if proxy:
            proxy.clear()
        done = bash(re.sub(r"/mnt\b", str(mountpoint), command))
        printed = done.text.strip("\n").replace(str(mountpoint), "/mnt")
        failed = done.code != 0 and not re.match(r"(ddbfs )?diff ", command)
        sent = [each.op for each in proxy.requests] if proxy else []
        if failed or printed != output or (proxy and not allows(note, len(sent))):
            wrong.append((command, done.code, printed, sent))
    return wrong
