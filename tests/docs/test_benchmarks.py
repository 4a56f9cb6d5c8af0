"""docs/benchmarks.md and its plots are what tests/bench/run makes of docs/benchmarks.json."""

import json
import subprocess
import sys
import xml.etree.ElementTree

import pytest

from bench import page, plot, results
from harness import places

DOCS = places.REPO / "docs"
RUN = places.REPO / "tests/bench/run"


@pytest.fixture(scope="module")
def committed():
    return json.loads((DOCS / "benchmarks.json").read_text("utf-8"))


def test_page_and_plots_are_those_of_the_data(committed):
    made = dict(page.files(committed))
    assert len(made) == 1 + len(plot.PLOTS)
    wrong = [name for name, text in made.items() if (DOCS / name).read_text("utf-8") != text]
    assert not wrong, "tests/bench/run --draw docs/benchmarks.json"


def test_data_has_every_row_with_its_goal(committed):
    sys.path.insert(0, str(places.REPO / "tests"))
    from bench import imports, listings, lives, memory, reads, snapshots, sql, starts, troubles  # noqa: F401 they register their scenarios

    wanted = [each for each in results.SCENARIOS if not (committed["quick"] and each.full)]
    rows = {row.name: (row.group, row.goal()) for each in wanted for row in each.rows}
    assert {row["name"]: (row["group"], row["goal"]) for row in committed["rows"]} == rows
    assert {row.group for each in results.SCENARIOS for row in each.rows} == set(page.GROUPS)


@pytest.mark.parametrize("name", plot.PLOTS)
def test_plot_is_an_svg(committed, name):
    root = xml.etree.ElementTree.fromstring(plot.draw(name, committed["curves"][name]))
    lines = [element for element in root.iter() if element.tag.endswith("polyline")]
    assert len(lines) == len(committed["curves"][name])


def row(**changes):
    made = results.Row("a row", "cat NAME", "a peer", "peer_get URL", "dynoxide", ratio=1.5)
    made.group = "reads"
    made.ours, made.theirs = [3, 4, 5], [2, 2, 2]
    for name, value in changes.items():
        setattr(made, name, value)
    return made


def test_verdicts():
    assert row().ratio() == 2 and row().met() is False
    assert row(ours=[3]).met() is True and row(ours=[]).met() is None
    assert results.Row("", "", most=4).met() is None
    value = results.Row("", "", most=4)
    value.ours = [4]
    assert value.met() is True and value.goal() == "≤ 4 ms"
    before = results.Row("", "", no_worse=2)
    before.ours, before.theirs = [2.09], [1]
    assert before.met() is True and before.goal() == "no worse than 2 ×"


def test_a_row_that_failed_is_on_the_page(committed):
    failed = row(ours=[], failed="RuntimeError: no mount").as_json()
    text = page.text({**committed, "rows": [failed]})
    assert "| a row |  | 2 ms |  | ≤ 1.5 × | failed: RuntimeError: no mount |" in text


def test_the_command_draws_from_a_file(tmp_path):
    command = [sys.executable, RUN, "--draw", DOCS / "benchmarks.json", "--out", tmp_path]
    subprocess.run(command, check=True, capture_output=True)
    assert (tmp_path / "benchmarks.md").read_bytes() == (DOCS / "benchmarks.md").read_bytes()
