"""The commands that README, the tutorial and the guides show print what is below them."""

import re
import shutil
import subprocess

import pytest

from harness import load, mounts, packages, places, prompt, record_session, transcripts

SHELL_GUIDE = (places.REPO / "docs/guides/shell.md").read_text("utf-8")


def text_of(name):
    return (places.REPO / name).read_text("utf-8")


def needs(*programs):
    for program in programs:
        if not shutil.which(program):
            pytest.skip(f"{program} is not installed")


@pytest.fixture
def bash(home, tmp_path):
    """bash(start=…, DDBFS_MAP=…): a bash with ddbfs in the PATH, in UTC."""
    transcripts.add_ddbfs(home)
    return lambda start=None, **changes: transcripts.Bash(
        home.environment({"TZ": "UTC", **changes}), tmp_path, start
    )


def test_readme_is_true(bash, mountpoint, stage):
    needs("jq")
    text = text_of("README.md")
    assert transcripts.find_differences(text, bash(start=stage), mountpoint) == []
    assert not mounts.is_mounted(mountpoint)


def test_session_is_recorded_again(home, mountpoint, tmp_path):
    load.make_demo(tmp_path / "demo.ddb")
    assert record_session.record(home, tmp_path, mountpoint) == text_of("docs/session.svg")


def test_tutorial_is_true(bash, home, mountpoint, stage):
    needs("jq")
    text = text_of("docs/tutorial.md")
    assert len(list(transcripts.steps_of(text))) > 20
    try:
        assert transcripts.find_differences(text, bash(start=stage), mountpoint) == []
    finally:
        assert mounts.take_away(home.folder / "ddb")


def test_guide_to_your_own_table_is_true(bash, mountpoint):
    text = text_of("docs/guides/your-own-table.md")
    assert transcripts.find_differences(text, bash(DDBFS_MAP=None), mountpoint) == []
    assert not mounts.is_mounted(mountpoint)


def test_guide_to_yesterday_is_true(home, mountpoint, tmp_path, proxy):
    """The guide makes its own snapshot. No line sends a request."""
    needs("jq")
    transcripts.add_ddbfs(home)
    text = text_of("docs/guides/look-at-yesterday.md")
    start = tmp_path / "yesterday"
    start.mkdir()
    (start / "docs").symlink_to(places.REPO / "docs")
    changes = {"TZ": "UTC", "DDBFS_MAP": None, "DDBFS_SNAPSHOT": start / "shops.ddb"}
    bash = transcripts.Bash(home.environment(changes), tmp_path, start)
    assert len(list(transcripts.steps_of(text))) > 10
    assert transcripts.find_differences(text, bash, mountpoint, proxy) == []
    assert not mounts.is_mounted(mountpoint)


def test_guide_to_an_incident_is_true(bash, mountpoint, tmp_path):
    needs("sqlite3")
    text = text_of("docs/guides/an-incident.md")
    assert transcripts.find_differences(text, bash(start=tmp_path), mountpoint) == []
    assert not mounts.is_mounted(mountpoint)


def test_sql_page_is_true(bash, mountpoint, proxy):
    """Also the number of requests that each statement sends."""
    text = text_of("docs/sql.md")
    assert len(list(transcripts.steps_of(text))) > 5
    assert transcripts.find_differences(text, bash(), mountpoint, proxy) == []


@pytest.fixture
def shell_environment(home, tmp_path):
    """With ddbfs and duckdb in the PATH, and a map whose listings stay fresh for the whole test."""
    needs("jq", "sqlite3")
    transcripts.add_ddbfs(home)
    duckdb = home.folder / "bin/duckdb"
    script = places.REPO / "tests/harness/duckdb.js"
    duckdb.write_text(f'#!/bin/sh\nNODE_PATH={packages.duckdb_modules()} exec node {script} "$@"\n', "utf-8")
    duckdb.chmod(0o755)
    patient = tmp_path / "map.json"
    patient.write_text(places.DEFAULT_MAP.read_text("utf-8").replace('"mtime"', '"ttl": 3600, "mtime"'), "utf-8")
    return home.environment({"TZ": "UTC", "DDBFS_MAP": patient})


def test_shell_guide_is_true(shell_environment, mountpoint, tmp_path, proxy):
    """Also the number of requests that each line sends."""
    assert len(list(transcripts.steps_of(SHELL_GUIDE))) > 20
    bash = transcripts.Bash(shell_environment, tmp_path)
    assert transcripts.find_differences(SHELL_GUIDE, bash, mountpoint, proxy) == []
    assert not mounts.is_mounted(mountpoint)


def test_watch_sends_one_request(shell_environment, mountpoint, home, tmp_path, proxy):
    (line,) = re.findall(r"^watch .*$", SHELL_GUIDE, re.M)
    runs, head = tmp_path / "runs", home.folder / "bin/head"
    head.write_text(f'#!/bin/sh\necho >>{runs}\nexec /usr/bin/head "$@"\n', "utf-8")
    head.chmod(0o755)
    subprocess.run(["ddbfs", "mount", mountpoint], env=shell_environment, check=True)
    proxy.clear()
    quick = line.replace("/mnt", mountpoint).replace("-n 2", "-n 0.1")
    with prompt.Prompt(["bash", "--norc", "-i"], {**shell_environment, "TERM": "xterm"}, tmp_path) as at:
        at.write(quick + "\n")
        at.wait_for("IN_PROGRESS")
        mounts.wait_until(lambda: len(runs.read_text()) > 3, "watch to look again")
    assert [each.op for each in proxy.requests] == ["Query"]
