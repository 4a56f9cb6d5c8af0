"""What a command prints is data of others: a terminal obeys none of it, and a signal loses none of it."""

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import threading

import pytest

from harness import mounts, terminal

# ESC, CR, tab, DEL, C1 in UTF-8, an override of the reading order, and the separator of lines.
ACTS = "one\x1b[2J\r\t\x7f\x9b2J\u202e\u2028two"
ESCAPED = "one%1B[2J%0D%09%7F%C2%9B2J%E2%80%AE%E2%80%A8two"
HOSTILE = re.compile("[^\n -~\u00a1-\u2027\u202a-\u202d\u2030-\uffff]|[\u202a-\u202e]")
THING = "/any/things/box/a"
READS = {
    "item": ["cat", THING],
    "typed": ["cat", f"{THING}@typed"],
    "attribute": ["cat", f"{THING}@/note"],
    "together": ["cat", "--together", f"{THING}@/note"],
    "csv": ["cat", "/any/things/box@csv"],
    "jsonl": ["cat", "/any/things/box@jsonl"],
    "table": ["cat", "/any/things/box@table"],
    "summary": ["cat", "/any/things/box@summary"],
    "ls": ["ls", "-l", "--columns", "note", "/any/things/box"],
    "ls --json": ["ls", "--json", "--columns", "note", "/any/things/box"],
    "explain": ["explain", f"/any/things/box/{ACTS}"],
    "sql": ["sql", "select note from any.things where box = 'box'"],
    "sql --csv": ["sql", "--csv", "select note from any.things where box = 'box'"],
    "sql --json": ["sql", "--json", "select note from any.things where box = 'box'"],
    "diff": ["diff", THING, "/any/things/box/b"],
    "error": ["cat", f"/any/things/box/{ACTS}"],
    "no command": [ACTS],
    "no option": [f"--{ACTS}"],
    "no mount": ["umount", f"/{ACTS}"],
}


@pytest.fixture
def hostile(things):
    things.put("a", note={"S": ACTS})
    things.put("b", note={"S": "plain"})
    return things


def test_a_terminal_obeys_no_item(ddbfs, hostile, home):
    """Every command writes by one mechanism, so that one without an escape of its own is safe, too."""
    wrong = []
    with contextlib.ExitStack() as stack:
        started = {
            name: stack.enter_context(
                terminal.Terminal([str(ddbfs.binary), *words], home.environment({**hostile.env, "TERM": "dumb"}), 24, True)
            )
            for name, words in READS.items()
        }
        for name, t in started.items():
            t.end()
            shown = t.shown.replace("\r\n", "\n")
            if HOSTILE.search(shown) or not shown:
                wrong.append((name, t.shown))
    assert wrong == []
    for name in ("attribute", "together", "csv"):
        assert ESCAPED in started[name].shown


def test_a_pipe_gets_each_byte(ddbfs, hostile):
    assert ddbfs("cat", f"{THING}@/note", env=hostile.env).stdout == ACTS.encode() + b"\n"
    assert ACTS.encode() in ddbfs("cat", "/any/things/box@csv", env=hostile.env).stdout
    assert json.loads(ddbfs("cat", THING, env=hostile.env).stdout)["note"] == ACTS


def test_a_character_in_two_writes_is_one(ddbfs, things, home):
    """Standard output passes pieces of some kilobytes, which end anywhere."""
    text = "x" + "\u00e9" * 20_000 + "\x1b"
    things.put("long", note={"S": text})
    command = [str(ddbfs.binary), "cat", "/any/things/box/long@/note"]
    shown = b""
    with terminal.Terminal(command, home.environment({**things.env, "TERM": "dumb"}), rows=24) as t:
        while b"%1B\r\n" not in shown:
            shown += os.read(t.ours, 4096)
    assert shown.decode() == "x" + "\u00e9" * 20_000 + "%1B\r\n"


# A signal in the middle.

COMMANDS = {
    "ls": ["ls", "/any/things/one/", "/any/things/two/"],
    "ls -l": ["ls", "-l", "/any/things/one/", "/any/things/two/"],
    "cat": ["cat", "/any/things/one@jsonl", "/any/things/two@csv"],
    "cat @table": ["cat", "/any/things/one@table", "/any/things/two@table"],
    "explain": ["explain", "/any/things/one/a", "/tables/any-Things/items/two/"],
}
WANTED = {
    "ls": "\nc\n",
    "ls -l": " c\n",
    "cat": "of one c",
    "cat @table": "of one c",
    "explain": "/any/things/one/a",
}


@pytest.fixture
def held(proxy, things):
    """Responses about the box "two", and descriptions of the table, wait until the test has ended."""
    for box in ("one", "two"):
        for name in ("a", "b", "c"):
            things.put(name, box, note={"S": f"of {box} {name}"})
    released = threading.Event()
    waiting = []

    def passes(exchange):
        holds = "two" in json.dumps(exchange.body) or exchange.record.op == "DescribeTable"
        if holds:
            waiting.append(exchange.record.op)
        return released.is_set() or not holds

    proxy.fault("delay", times=None, seconds=60, until=passes)
    yield waiting
    released.set()


def is_quiet(process):
    """It has no work, at some moments in succession: it waits."""
    facts = [pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split() for _ in range(5)]
    return all(each[0] == "S" and each[11:13] == facts[0][11:13] for each in facts)


def test_a_signal_loses_nothing_that_was_printed(ddbfs, things, held, proxy, tmp_path):
    """Standard output is a file, whose last kilobytes were in memory."""
    proxy.clear()
    numbers = {"ls": signal.SIGINT, "cat": signal.SIGHUP}
    started = {}
    for at, (name, words) in enumerate(COMMANDS.items()):
        with open(tmp_path / f"{at}", "wb") as out:
            started[name] = ddbfs.start(*words, env=things.env, stdout=out, stderr=subprocess.PIPE, start_new_session=True)
    answered = lambda: sum(1 for each in proxy.requests if each.took_s and "one" in json.dumps(each.body))  # noqa: E731
    mounts.wait_until(lambda: answered() >= 4 and all(map(is_quiet, started.values())), "commands that wait")
    for at, (name, process) in enumerate(started.items()):
        process.send_signal(numbers.get(name, signal.SIGTERM))
        said = process.communicate(timeout=90)[1]
        assert process.returncode == -numbers.get(name, signal.SIGTERM), (name, said)
        assert WANTED[name] in (tmp_path / f"{at}").read_text("utf-8"), (name, said)


def test_a_signal_cuts_no_row_of_sql(ddbfs, tmp_path):
    """It comes while rows are computed, between two writes."""
    rows = "with recursive n(i) as (select 1 union all select i + 1 from n limit 1000000000) select i from n"
    with open(tmp_path / "out", "wb") as out:
        process = ddbfs.start("sql", "--csv", rows, stdout=out, stderr=subprocess.PIPE, start_new_session=True)
        mounts.wait_until(lambda: os.stat(tmp_path / "out").st_size > 20_000 or process.poll() is not None, "rows")
        process.terminate()
        said = process.communicate(timeout=90)[1]
    assert process.returncode == -signal.SIGTERM, said
    head, *lines = (tmp_path / "out").read_text("ascii").split("\n")
    assert head == "i" and lines == [*map(str, range(1, len(lines))), ""]


def test_a_reader_that_does_not_read_holds_no_signal_up(ddbfs, things):
    """The command waits in a write to a full pipe."""
    for name in range(4):
        things.put(f"{name}", note={"S": "x" * 300_000})
    process = ddbfs.start("cat", "/any/things/box@jsonl", env=things.env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        assert process.stdout.read(1) == b"{"
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == -signal.SIGTERM
    finally:
        process.stdout.close()


def test_an_ignored_signal_stays_ignored(ddbfs, things, held):
    """As nohup has it."""
    held.clear()
    command = f'trap "" HUP; exec "{ddbfs.binary}" ls /any/things/two/'
    env = ddbfs.home.environment(things.env)
    process = subprocess.Popen(["/bin/sh", "-c", command], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    mounts.wait_until(lambda: held, "a request that is held")
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=90)
    assert process.returncode == -signal.SIGTERM
