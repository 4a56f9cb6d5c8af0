"""`ddbfs top`: who reads what in a mount now, on a terminal and as a pipe reads it."""

import os
import signal
import subprocess

import pytest

from harness import mounts, terminal

SHOP = "prod/shops/cool-store.myshopify.com"
SETTINGS = f"{SHOP}/SETTINGS"
TAKEN, GIVEN_BACK = "\x1b[?1049h", "\x1b[?1049l"


def table(text, head):
    """The rows below the line that has HEAD, as lists of words."""
    lines = text.splitlines()
    at = next(i for i, line in enumerate(lines) if head in line)
    rows = []
    for line in lines[at + 1 :]:
        if not line.strip():
            break
        rows.append(line.split())
    return rows


def programs(text):
    return {row[-1]: row for row in table(text, "PROGRAM")}


@pytest.fixture
def at_terminal(mount):
    """at_terminal(m, rows=…): `ddbfs top` on a terminal of so many lines."""

    def start(m, *words, rows=24):
        command = [str(m.ddbfs.binary), "top", *words, str(m.root)]
        return terminal.Terminal(command, m.ddbfs.home.environment(), rows=rows)

    return start


# As a pipe reads it.


def test_once_who_has_read_what(mount):
    m = mount()
    for _ in range(2):
        subprocess.run(["cat", m / SETTINGS, m / f"{SETTINGS}@typed"], capture_output=True, check=True)
    os.stat(m / SHOP)
    text = m.ddbfs("top", m.root).text
    assert f" at {m.root}, for 0:00:" in text and "\x1b" not in text
    cat = programs(text)["cat"]
    told = next(each for each in m.stats()["programs"] if each["program"] == "cat")
    assert float(cat[4]) == told["units"] == 0.5 and int(cat[5]) == told["requests"] == 1
    assert cat[2:4] == ["50", "%"] and float(cat[0]) > 0


def test_as_often_as_it_is_told_to(mount):
    m = mount()
    text = m.ddbfs("top", "-n", "2", m.root).text
    assert text.count("RCU/S") == 2 and text.count("the last minute: ") == 2
    m.ddbfs("top", "-n", "0", m.root, expect=2)


def test_who_reads_most_now_comes_first(mount):
    m = mount()
    subprocess.run(["head", m / SHOP / "NOBODY"], capture_output=True)
    subprocess.run(["cat", *(m / SHOP / f"NOBODY-{n}" for n in range(5))], capture_output=True)
    rows = table(m.ddbfs("top", m.root).text, "PROGRAM")
    assert [row[-1] for row in rows][:2] == ["cat", "head"]


def test_what_waits_is_told(mount, proxy):
    m = mount()
    proxy.fault("delay", op="GetItem", times=None, seconds=30)
    cat = subprocess.Popen(["cat", m / SETTINGS], stdout=subprocess.DEVNULL)
    mounts.wait_until(lambda: proxy.requests, "the request")
    row = table(m.ddbfs("top", m.root).text, "WAITS/S")[0]
    cat.kill()
    cat.wait()
    assert row[2:] == [str(cat.pid), "cat", f"/{SETTINGS}"]


def test_limits_are_told_with_who_has_used_them_up(mount):
    m = mount("--max-rcu-per-process", "0.5", "--max-rcu", "200")
    cat = subprocess.Popen(
        ["cat", m / SHOP / "A", m / SHOP / "B"], stderr=subprocess.DEVNULL, start_new_session=True
    )
    cat.wait()
    text = m.ddbfs("top", m.root).text
    assert table(text, "LEFT") == [["0.5", "0.0", "1", str(cat.pid), "cat"]]
    assert " RCU/s of 200, " in text and "; 1 refused so far" in text


def test_names_are_printable(mount, tmp_path):
    m = mount()
    program = tmp_path / "a\x1b[2J\nb"
    program.write_bytes(open("/bin/cat", "rb").read())
    program.chmod(0o755)
    subprocess.run([program, m / SETTINGS], capture_output=True, check=True)
    text = m.ddbfs("top", m.root).text
    assert "a%1B[2J%0Ab" in programs(text) and "\x1b" not in text


# On a terminal.


def test_a_terminal_is_given_back_as_it_was(mount, at_terminal):
    m = mount()
    with at_terminal(m) as t:
        t.wait_for("PROGRAM")
        assert t.shown.startswith(TAKEN) and not t.echoes()
        t.type("q")
        t.wait_for(GIVEN_BACK)
        assert t.end() == 0 and t.echoes()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_as_well(mount, at_terminal, number):
    m = mount()
    with at_terminal(m) as t:
        t.wait_for("PROGRAM")
        t.process.send_signal(number)
        t.wait_for(GIVEN_BACK)
        assert t.end() == 0 and t.echoes()


def test_an_interrupt_at_the_keyboard_ends_it(mount, at_terminal):
    m = mount()
    with at_terminal(m) as t:
        t.wait_for("PROGRAM")
        t.type("x\x1ay\x03")  # other keys say nothing
        t.wait_for(GIVEN_BACK)
        assert t.end() == 0


def test_it_shows_what_comes(mount, at_terminal):
    m = mount()
    with at_terminal(m) as t:
        t.wait_for("PROGRAM")
        subprocess.run(["head", m / SETTINGS], capture_output=True, check=True)
        t.wait_for("  head")
        t.type("q")
        assert t.end() == 0


def test_it_is_as_long_as_the_terminal_also_when_that_changes(mount, at_terminal, tmp_path):
    m = mount()
    for number in range(12):
        program = tmp_path / f"program-{number}"
        program.symlink_to("/bin/stat")
        subprocess.run([program, m / SHOP / f"NOBODY-{number}"], capture_output=True)
    with at_terminal(m, rows=8) as t:
        t.wait_for("and 10 more")
        assert t.shown.count("\n") < 8
        t.resize(30)
        t.wait_for("program-11")
        t.type("q")
        assert t.end() == 0


def test_a_mount_that_ends_ends_it(mount, at_terminal):
    m = mount()
    with at_terminal(m) as t:
        t.wait_for("PROGRAM")
        m.unmount()
        t.wait_for(GIVEN_BACK)
        assert t.end() == 1
    assert t.stderr == f"ddbfs: {m.root}: the mount has ended; see ddbfs status\n"


# What can't be shown.


def test_the_mount_in_which_one_stands_is_meant(mount):
    one, other = mount(), mount()
    text = one.ddbfs("top", cwd=other / "prod").text
    assert f" at {other.root}, " in text
    said = one.ddbfs("top", expect=1).stderr
    assert "there are several mounts; name one: ddbfs top MOUNTPOINT" in said


def test_a_folder_that_is_no_mount(ddbfs, tmp_path):
    said = ddbfs("top", tmp_path, expect=1).stderr
    assert said == f"ddbfs: {tmp_path}: is not in a mount of ddbfs; ddbfs status lists the mounts\n"
    assert "top takes one mount" in ddbfs("top", "/", "/", expect=2).stderr
