"""Long work says at a terminal how far it has come, and takes that away before it says anything else."""

import contextlib
import os
import pty
import signal
import threading

import pytest

from harness import places, runner, terminal

SHOP = "kl7a9h55-shopify-e513a8-4"
ALL = f"/prod/jobs/by-index/shopify/{SHOP}/all"
SETTINGS = "cool-store.myshopify.com"
TABLE = "/tables/prod-ShopifyEntitiesTable/items/SHOP#cool-store.myshopify.com/"
ONE_BY_ONE = ["--parallel", "no"]
COMMANDS = {
    "ls": ["ls", *ONE_BY_ONE, ALL],
    "cat": ["cat", *ONE_BY_ONE, f"{ALL}@table/status"],
    "--count": ["ls", *ONE_BY_ONE, "--count", ALL],
    "check": ["check", places.DEFAULT_MAP],
    "map": ["map", "--sample", TABLE],
    "diff": ["diff", f"/prod/shops/{SETTINGS}", f"/staging/shops/{SETTINGS}"],
}
ERASE = "\r\033[K"


@pytest.fixture
def at_terminal(home):
    """at_terminal("ls", …) -> the command with all its streams at a terminal; with stderr=False its
    standard error is a pipe."""
    try:
        os.close(os.dup(pty.openpty()[0]))
    except OSError as why:
        pytest.skip(f"there are no ptys: {why}")

    def start(*words, stderr=True):
        command = [str(runner.Ddbfs(home).binary), *map(str, words)]
        return terminal.Terminal(command, home.environment({"TERM": "xterm"}), rows=24, typed=stderr)

    return start


@pytest.fixture
def hold(proxy):
    """hold(lambda exchange: …): requests wait, but for those of which it is true, until hold.release()."""
    released = threading.Event()

    def start(passes=lambda _: False):
        proxy.fault("delay", times=None, seconds=60, until=lambda each: released.is_set() or passes(each))

    start.release = released.set
    yield start
    released.set()


def left_on(shown):
    """What stands on the terminal at the end, line by line."""
    return [line.split(ERASE)[-1] for line in shown.replace("\r\n", "\n").split("\n")]


def test_each_command_shows_it_and_leaves_nothing(at_terminal, hold, ddbfs, proxy):
    wanted = {name: ddbfs.run_plain(*words, expect=None) for name, words in COMMANDS.items()}
    hold()
    wrong = []
    with contextlib.ExitStack() as stack:
        started = {name: stack.enter_context(at_terminal(*words)) for name, words in COMMANDS.items()}
        piped = stack.enter_context(at_terminal(*COMMANDS["cat"], stderr=False))
        for t in started.values():
            t.wait_for("ddbfs: page 1, 0 items, 0 RCU, 0.0 RCU/s")
        hold.release()
        for name, t in started.items():
            code, alone = t.end(), wanted[name]
            lines = sorted(line for line in (alone.text + alone.stderr).split("\n") if line)
            if code != alone.code or sorted(line for line in left_on(t.shown) if line) != lines:
                wrong.append((name, code, t.shown, alone))
        assert piped.end() == 0 and "RCU" not in piped.shown + piped.stderr
    assert wrong == []


def test_it_counts_pages_items_and_units(at_terminal, hold, proxy):
    proxy.fault("page_size", op="Query", times=None, items=2)
    hold(lambda _: proxy.ops.count("Query") < 4)
    with at_terminal(*COMMANDS["cat"]) as t:
        t.wait_for("ddbfs: page 4, 6 items, ")
        units = sum(each.units for each in proxy.requests[:3])
        t.wait_for(f"{units:.15g} RCU, ")
        hold.release()
        assert t.end() == 0
    assert left_on(t.shown)[0].split() == ["status"]


def test_a_signal_erases_it_and_ends_the_command(at_terminal, hold):
    hold()
    wrong = []
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with at_terminal(*COMMANDS["cat"]) as t:
            t.wait_for(", 0 RCU, 0.0 RCU/s")
            t.process.send_signal(number)
            if t.end() != -number or left_on(t.shown) != [""]:
                wrong.append((number, t.process.returncode, t.shown))
    assert wrong == []
