"""ddbfs sql at a terminal: a prompt with a history and completion, whose statements Ctrl-C stops."""

import contextlib
import os
import select
import stat
import threading

import pytest

from harness import mounts, prompt, runner

SHOP = "kl7a9h55-shopify-e513a8-4"
JOBS = f"from prod.jobs where platform = 'shopify' and shop_id = '{SHOP}'"
SETTINGS = """from "prod-ShopifyEntitiesTable" where pk = 'SHOP#cool-store.myshopify.com'"""


@pytest.fixture
def at(home):
    """at() -> the prompt, which has been printed."""

    def start(*options, **env):
        command = [str(runner.Ddbfs(home).binary), "sql", *options]
        opened = prompt.Prompt(command, home.environment({"TERM": "xterm", **env}), home.folder)
        opened.wait_for("ddbfs> ")
        return opened

    return start


def ended(opened, keys=".quit\n"):
    """The exit status after KEYS. The program waits until all that it printed is read, before it changes the
    terminal's mode."""
    opened.write(keys)

    def is_over():
        if select.select([opened.ours], [], [], 0.1)[0]:
            with contextlib.suppress(OSError):
                opened.shown += os.read(opened.ours, 4096).decode("utf-8", "replace")
        return opened.process.poll() is not None

    mounts.wait_until(is_over, "the end")
    return opened.process.returncode


def test_control_d_ends_the_prompt(at):
    with at() as opened:
        assert ended(opened, "\x04") == 0


def test_statement_ends_with_a_semicolon(at):
    with at() as opened:
        opened.write("select 1 as a, -- one; \n")
        opened.wait_for(r"\.\.\.> ")
        opened.write("';' as b\n")
        opened.wait_for(r"\.\.\.> ")
        opened.write(";\n")
        opened.wait_for(r"a  b\r\n1  ;\r\nddbfs> ")
        assert ended(opened) == 0


def test_failure_leaves_the_prompt(at):
    with at() as opened:
        opened.write("select nowhere;\n")
        opened.wait_for(r"ddbfs: .*nowhere.*\r\nddbfs> ")
        opened.write("select 7 as b;\n")
        opened.wait_for(r"b\r\n7\r\n")
        assert ended(opened) == 0


@pytest.mark.parametrize("word", ["exit", "quit ;"])
def test_words_of_other_prompts_are_commands(at, word):
    with at() as opened:
        opened.write("help\n")
        opened.wait_for("Ctrl-C")
        opened.write("select 7 as\nexit;\n")
        opened.wait_for(r"exit\r\n +7\r\n")
        assert ended(opened, f"{word}\n") == 0


def test_tables_and_columns_are_listed(at, proxy):
    with at() as opened:
        opened.write(".tables\n")
        opened.wait_for(r"prod\.jobs\r\n")
        opened.write(".columns prod.jobs\n")
        opened.wait_for(r"job_id\r\n(.*\r\n)*item\r\n")
        opened.write(".columns prod.nowhere\n")
        opened.wait_for("no such table")
        opened.write(".explain select job_id " + JOBS + "\n")
        opened.wait_for(r"(?s)reads  1\. Query.*total  ")
        opened.write(".nonsense\n")
        opened.wait_for(r"\.help lists them")
        opened.write(".help\n")
        opened.wait_for("Ctrl-C")
        opened.write(".quit\n")
        assert ended(opened) == 0
    assert proxy.requests == []


def test_words_are_completed_without_a_request(at, proxy):
    with at() as opened:
        opened.write("sel\tgroup_c\t'a', 1), 'pr\t' as b;\n")
        opened.wait_for(r"\r\na +pr.*\r\nddbfs> ")
        opened.write(".exp\tselect stat\x7f\x7f\x7f\x7f* from prod.jo\twhere job_i\t= 'x'\n")
        opened.wait_for(r'(?s)reads  1\. Query .* where job_id = "x".*\r\nddbfs> ')
        opened.write("select * from pr\t\t")
        opened.wait_for(r'prod\.jobs\r\nprod\."index-settings"\r\n')
        opened.write("\x03")
        opened.wait_for(r"\^C\r\nddbfs> ")
    assert proxy.requests == []


def test_names_with_quotes_are_completed(at):
    with at() as opened:
        opened.write(".explain select * from prod.ind\twhere account = 'x'\n")
        opened.wait_for(r"(?s)\r\n1\. prod\.index-settings\r\n.*total  .*\r\nddbfs> ")
        assert ended(opened) == 0


def test_progress_is_that_of_the_statement(at, proxy):
    released = threading.Event()
    with at() as opened:
        opened.write(f"select count(*) as n {JOBS};\n")
        opened.wait_for(r"n\r\n40\r\nddbfs> ")
        proxy.fault("delay", op="Query", times=None, seconds=60, until=lambda each: released.is_set())
        opened.write(f"select count(*) as m {SETTINGS};\n")
        opened.wait_for(r"page 1, 0 items, 0 RCU, ")
        released.set()
        opened.wait_for(r"m\r\n\d+\r\nddbfs> ")
        assert ended(opened) == 0


def test_interrupt_stops_a_statement_and_not_the_prompt(at, proxy):
    released = threading.Event()
    proxy.fault("delay", op="Query", times=None, seconds=60, until=lambda each: released.is_set())
    with at() as opened:
        opened.write(f"select count(*) as n {JOBS};\n")
        mounts.wait_until(lambda: proxy.requests, "the request")
        opened.write("\x03")
        opened.wait_for(r"ddbfs: .*\r\nddbfs> ")
        released.set()
        proxy.heal()
        opened.write(f"select count(*) > 0 as n {JOBS};\n")
        opened.wait_for(r"n\r\n1\r\n")
        assert ended(opened) == 0


def test_interrupt_clears_a_half_typed_statement(at):
    with at() as opened:
        opened.write("select 'half\n")
        opened.wait_for(r"\.\.\.> ")
        opened.write("more\x03")
        opened.wait_for(r"\^C\r\nddbfs> ")
        opened.write("select 5 as c;\n")
        opened.wait_for(r"c\r\n5\r\n")


def test_table_is_described_once(at, proxy):
    with at() as opened:
        for _ in range(2):
            opened.write(f"select count(*) > 0 as n {SETTINGS};\n")
            opened.wait_for(r"n\r\n1\r\nddbfs> ")
    assert [each.op for each in proxy.requests].count("DescribeTable") == 1


def test_consent_is_required_for_each_statement(at, proxy):
    proxy.fault("page_size", op="Query", times=None, items=2)
    with at("--confirm-above", "179") as opened:
        for answer, shown in (("n", "stopped at your request"), ("y", r"n\r\n40\r\n")):
            opened.write(f"select count(*) as n {JOBS};\n")
            opened.wait_for(r"Go on\? \[y/N\] ")
            opened.write(f"{answer}\n")
            opened.wait_for(shown + r"(?s:.*)ddbfs> ")
        assert ended(opened) == 0


def history_of(home):
    return home.folder / ".local/state/ddbfs/sql_history"


def test_history_is_for_its_user_alone(at, home):
    with at() as opened:
        opened.write("select 1\n")
        opened.wait_for(r"\.\.\.> ")
        opened.write("as d;\n")
        opened.wait_for(r"d\r\n1\r\n")
        opened.write(" select 2 as hidden;\n")
        opened.wait_for(r"hidden\r\n")
        assert ended(opened) == 0
    assert stat.S_IMODE(os.stat(history_of(home)).st_mode) == 0o600
    assert "hidden" not in history_of(home).read_text()
    with at() as opened:
        opened.write("\x10\x10\n")  # the line in front of .quit
        opened.wait_for(r"select 1 as d;\r\nd\r\n1\r\n")
        assert ended(opened) == 0


def test_history_has_a_folder_of_its_own(at, home, tmp_path):
    with at(XDG_STATE_HOME=str(tmp_path / "state")) as opened:
        opened.write(".help\n")
        opened.wait_for("Ctrl-C")
        assert ended(opened) == 0
    assert (tmp_path / "state/ddbfs/sql_history").exists() and not history_of(home).exists()


def test_history_that_can_not_be_written_is_reported(at, home):
    history_of(home).mkdir(parents=True)
    with at() as opened:
        assert ended(opened) == 1 and "sql_history: Is a directory" in opened.shown


def test_terminal_without_movements_reads_plain_lines(at):
    with at(TERM="dumb") as opened:
        opened.write("select 'ü' as e,\n")
        opened.wait_for(r"\.\.\.> ")
        opened.write("2 as f;\n")
        opened.wait_for(r"e  f\r\nü  2\r\n")
        opened.write("half\x03")
        opened.wait_for("ddbfs> ")
        assert ended(opened) == 0
