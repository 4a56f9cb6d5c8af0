"""--confirm-above: what shows little of what it reads asks at a terminal before it reads more; never in a script."""

import shlex

import pytest

from harness import runner, terminal
from harness.rows import rows

SHOP = "kl7a9h55-shopify-e513a8-4"
ALL = f"/prod/jobs/by-index/shopify/{SHOP}/all"
FAILED = ["--where", 'status = "FAILED"']
PAGE = 178  # units, at the most
QUESTION = "Go on? [y/N] "


@pytest.fixture
def typed(home, proxy):
    """typed("ls", …) -> the command at a terminal, of a service whose pages have two records."""
    proxy.fault("page_size", op="Query", times=None, items=2)

    def start(*words):
        command = [str(runner.Ddbfs(home).binary), *words]
        return terminal.Terminal(command, home.environment(), typed=True)

    return start


def script(home, line):
    program = runner.Ddbfs(home).binary
    return terminal.Terminal(["/bin/sh", "-c", f"{shlex.quote(str(program))} {line}\ntrue"], home.environment(), typed=True)


def test_nothing_is_read_before_the_answer(typed, proxy):
    with typed("ls", *FAILED, "--confirm-above", str(PAGE - 1), ALL) as t:
        t.wait_for(QUESTION)
        assert f"{ALL}: a page takes up to {PAGE} RCU (about $0.000022 on demand)" in t.shown
        assert proxy.requests == []
        t.type("n\n")
        assert t.end() == 1 and t.stdout == "" and proxy.requests == []
    assert f"{ALL}: stopped at your request after 0 RCU; the results are incomplete" in t.shown


@rows(
    "words",
    [["ls", *FAILED, ALL], ["ls", "--count", ALL], ["cat", f"{ALL}@count"], ["cat", *FAILED, f"{ALL}@jsonl"]],
    ids=["ls", "count", "@count", "@jsonl"],
)
def test_between_pages_it_tells_what_was_read(typed, proxy, ddbfs, words):
    whole = ddbfs(*words).text
    pages = len(proxy.ops)
    proxy.requests.clear()
    with typed(*words, "--confirm-above", str(PAGE + 3)) as t:
        t.wait_for(QUESTION)
        read = len(proxy.requests)
        units = sum(each.units for each in proxy.requests)
        assert 0 < read < pages and 3 < units + 1
        assert f"{units:.15g} RCU (about $" in t.shown and "were consumed so far; the next page takes up to" in t.shown
        t.type("y\n")
        assert t.end() == 0 and t.stdout == whole and len(proxy.requests) == pages
    assert t.shown.count(QUESTION) == 1  # twice as much may be read then


def test_what_was_told_before_a_no_stays(typed, ddbfs):
    whole = ddbfs("cat", f"{ALL}@jsonl").text
    with typed("cat", f"{ALL}@jsonl", "--confirm-above", str(PAGE + 3)) as t:
        t.wait_for(QUESTION)
        t.type("\n")
        assert t.end() == 1
    assert whole.startswith(t.stdout) and 0 < len(t.stdout) < len(whole)
    assert "the results are incomplete" in t.shown


def test_units_of_all_paths_count(typed, proxy):
    paths = [f"/prod/jobs/by-status/{SHOP}/{status}" for status in ("COMPLETED", "FAILED", "PENDING")]
    with typed("ls", "--count", "--confirm-above", str(PAGE), *paths) as t:
        t.wait_for(QUESTION)
        assert len(proxy.requests) > 0  # the first page was agreed to beforehand
        t.type("n\n")
        assert t.end() == 1
    assert t.shown.count(QUESTION) == 1  # no means no
    assert f"{paths[-1]}: stopped at your request after " in t.shown


def test_what_shows_all_that_it_reads_does_not_ask(typed):
    """Unless it is told to; a filter that is cheap does not either."""
    for words in (["ls", ALL], ["cat", f"{ALL}@jsonl"], ["ls", *FAILED, ALL], ["ls", "--count", ALL]):
        with typed(*words) as t:
            assert t.end() == 0 and t.stdout and t.shown == ""


def test_a_script_is_not_asked(home, proxy, ddbfs):
    """Its commands have the terminal, too, and nobody waits for them there."""
    words = ["ls", *FAILED, "--confirm-above", "1", ALL]
    whole = ddbfs(*words).text
    with script(home, shlex.join(words)) as t:
        assert t.end() == 0 and t.stdout == whole and t.shown == ""


def test_explain_asks_nobody(typed):
    with typed("explain", *FAILED, ALL) as t:
        assert t.end() == 0 and t.shown == ""
