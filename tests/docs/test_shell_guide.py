"""docs/guides/shell.md, typed line by line in one bash, and the requests that each line says it sends."""

import re
import shutil
import subprocess

import pytest

from harness import mounts, packages, places, prompt, runner

GUIDE = places.REPO / "docs/guides/shell.md"
TEXT = GUIDE.read_text("utf-8")


def session():
    """(line, what it prints, what it says that it sends) of all blocks, one after the other."""
    for block in re.findall(r"```console\n(.*?)```", TEXT, re.S):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            line, _, output = part.partition("\n")
            command, _, told = line.partition("    # ")
            yield command, output.strip("\n"), told


def is_sent(told, requests):
    number = int((re.findall(r"\d+", told) or [0])[0])
    return requests <= number if told.startswith("at most") else requests == number


def typed_lines():
    """The lines that are no part of the session: for a terminal, or for a start file."""
    return [line for block in re.findall(r"```sh\n(.*?)```", TEXT, re.S) for line in block.splitlines()]


@pytest.fixture
def environment(home, tmp_path):
    """With ddbfs and duckdb in the PATH, and a map whose answers stay good for as long as the test takes."""
    for program in ("jq", "sqlite3"):
        if not shutil.which(program):
            pytest.skip(f"{program} is not installed")
    ddbfs = places.program("DDBFS", "build-asan/fs/ddbfs", "build/fs/ddbfs")
    (home.folder / "bin/ddbfs").symlink_to(ddbfs)
    duckdb = home.folder / "bin/duckdb"
    script = places.REPO / "tests/harness/duckdb.js"
    duckdb.write_text(f'#!/bin/sh\nNODE_PATH={packages.duckdb_modules()} exec node {script} "$@"\n', "utf-8")
    duckdb.chmod(0o755)
    patient = tmp_path / "map.json"
    patient.write_text(places.DEFAULT_MAP.read_text("utf-8").replace('"mtime"', '"ttl": 3600, "mtime"'), "utf-8")
    return home.environment({"TZ": "UTC", "DDBFS_MAP": patient})


class Bash:
    """One line after the other, each where the one before has gone by cd."""

    def __init__(self, environment, folder):
        self.environment = environment
        self.file = folder / "pwd"
        self.file.write_text(str(folder), "utf-8")

    def __call__(self, line):
        go, stay = 'cd "$(cat "$0")" || exit', 'pwd >"$0"'
        script = f"{go}\n{{ {line}\n}} 2>&1; code=$?\n{stay}; exit $code"
        return runner.run(["bash", "-c", script, self.file], self.environment)


def test_the_guide_is_typed_line_by_line(environment, mountpoint, tmp_path, proxy):
    bash = Bash(environment, tmp_path)
    steps, wrong = list(session()), []
    assert len(steps) > 25 and steps[0][0] == "ddbfs mount /mnt"
    for command, output, told in steps:
        proxy.clear()
        done = bash(command.replace("/mnt", mountpoint))
        said = done.text.strip("\n").replace(mountpoint, "/mnt")
        assert done.code == 0 or command.startswith("diff -rq"), done
        if said != output or not is_sent(told, len(proxy.requests)):
            wrong.append((command, said, [each.op for each in proxy.requests]))
    assert wrong == []
    assert not mounts.is_mounted(mountpoint)


def test_watch_asks_once(environment, mountpoint, home, tmp_path, proxy):
    (line,) = [each for each in typed_lines() if each.startswith("watch ")]
    runs, head = tmp_path / "runs", home.folder / "bin/head"
    head.write_text(f'#!/bin/sh\necho >>{runs}\nexec /usr/bin/head "$@"\n', "utf-8")
    head.chmod(0o755)
    subprocess.run(["ddbfs", "mount", mountpoint], env=environment, check=True)
    proxy.clear()
    quick = line.replace("/mnt", mountpoint).replace("-n 2", "-n 0.1")
    with prompt.Prompt(["bash", "--norc", "-i"], {**environment, "TERM": "xterm"}, tmp_path) as at:
        at.write(quick + "\n")
        at.wait_for("IN_PROGRESS")
        mounts.wait_until(lambda: len(runs.read_text()) > 3, "watch to look again")
    assert [each.op for each in proxy.requests] == ["Query"]
