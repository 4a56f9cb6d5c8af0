"""The shells' own completion, in a mount: names of any kind, and one listing for all of it."""

import re
import shutil

import pytest

from harness import places, prompt, tables

NAMES = ["a b", "c:d", "e@f", "g#h", "i%j", "k'l", "m;n", "2026-04-18T14:49:22.688Z#985f"]
SHOW = """\
#!/bin/sh
printf '[%s]' "$@"; echo .
"""


@pytest.fixture
def box(mount, table):
    """A directory of a mount with records of these names."""
    key = lambda name: {"pk": {"S": "box"}, "sk": {"S": name}}  # noqa: E731
    name = table(tables.plain(), [key(each) for each in NAMES])
    return mount() / f"prod/tables/{name}/items/box"


@pytest.fixture
def session(home, tmp_path):
    """session("bash", lines…): a shell with the program `printed`."""
    made = []
    prompt.write_program(home, "printed", SHOW)

    def start(shell, *lines):
        if not shutil.which(shell):
            pytest.skip(f"{shell} is not installed")
        made.append(prompt.Session(shell, home, tmp_path / "here", *lines))
        return made[-1]

    yield start
    for each in made:
        each.__exit__()


def line_for(shell):
    """What the guide has for the start file of SHELL."""
    guide = (places.REPO / "docs/guides/shell.md").read_text("utf-8")
    return next(iter(re.findall(rf"^(.*\S) +# {shell}$", guide, re.M)), "true")


@pytest.mark.parametrize("shell", prompt.SHELLS)
def test_any_name_completes(session, box, proxy, shell):
    typed = session(shell, line_for(shell))
    for name in NAMES:
        shown = name.replace("%", "%25")
        assert typed(f"printed {box}/{name[:1]}\tx") == [f"{box}/{shown}", "x"]
    asked = [each.op for each in proxy.requests]
    assert asked.count("Query") == asked.count("DescribeTable") == 1
    # zsh looks whether what was typed is a name itself.
    assert asked.count("GetItem") <= (len(NAMES) if shell == "zsh" else 0) and "ListTables" not in asked


def test_bash_goes_on_behind_a_colon_by_the_guides_line(session, box):
    typed = session("bash")
    assert typed(f"printed {box}/c:\tx") == [f"{box}/c:x"]
    typed.at.enter(line_for("bash"))
    for name in ("c:d", "e@f", "2026-04-18T14:49:22.688Z#985f"):
        assert typed(f"printed {box}/{name[:-1]}\tx") == [f"{box}/{name}", "x"]
