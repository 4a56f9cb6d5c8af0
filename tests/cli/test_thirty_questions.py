"""Thirty questions, each as the line that the skill teaches, and in SQL: what boto3 says, and what it takes."""

import json
import re

import pytest

from harness import places, questions, runner
from harness.rows import rows

GUIDE = places.REPO / "docs/guides/agents.md"
MARKS = r"ddbfs \w+|@[a-z]+|@/|--[a-z]+|jq"


@pytest.fixture
def ask(home, ddbfs):
    """ask(line): what it prints to somebody who has ddbfs in the PATH."""
    (home.folder / "bin/ddbfs").symlink_to(ddbfs.binary)
    environment = home.environment({**questions.VARIABLES, "TZ": "UTC"})
    return lambda line: runner.run(["/bin/sh", "-c", line], environment, cwd=home.folder)


@pytest.fixture
def truth(boto):
    return questions.Truth(boto)


def test_they_are_thirty():
    assert len(questions.QUESTIONS) == 30 == len({question for question, *_ in questions.QUESTIONS})


@pytest.mark.parametrize("server", ["dynoxide"], indirect=True)
@rows("question, line, requests, units, answer", questions.QUESTIONS)
def test_the_line_answers(ask, proxy, truth, question, line, requests, units, answer):
    result = ask(line)
    assert result.text.strip("\n") == str(answer(truth)) != "" and not result.stderr, result
    assert (len(proxy.requests), sum(each.units for each in proxy.requests)) == (requests, units)


def words_of(text):
    """The values alone, whatever separates them. The map's file access-token is no item."""
    words = text.removeprefix("created_at,status\n").replace(",", " ").split()
    return [word for word in words if not word.endswith("/access-token")]


@pytest.mark.parametrize("server", ["dynoxide"], indirect=True)
@rows("question", list(questions.SQL))
def test_the_statement_answers(ddbfs, proxy, truth, question):
    (answer,) = [each[4] for each in questions.QUESTIONS if each[0] == question]
    result = ddbfs("sql", "--json", questions.statement_of(question))
    lines = [json.loads(line) for line in result.text.splitlines()]
    printed = " ".join(str(value) for line in lines for value in line.values())
    assert words_of(printed) == words_of(str(answer(truth))) and not result.stderr, result
    assert (len(proxy.requests), sum(each.units for each in proxy.requests)) == questions.SQL[question][1:]


@pytest.mark.parametrize("server", ["dynoxide"], indirect=True)
def test_the_skill_teaches_each_form(ddbfs):
    taught = set(re.findall(MARKS, ddbfs("skill").text))
    used = {mark for _, line, *_ in questions.QUESTIONS for mark in re.findall(MARKS, line)}
    assert used <= taught and len(used) > 12


def all_rows_of_the_guide():
    rows = re.findall(r"^\| (.*?) \| `(.*)` \| ([\d.]+) \| ([\d.]+) \|$", GUIDE.read_text("utf-8"), re.M)
    return [(question, line.replace("\\|", "|"), requests, units) for question, line, requests, units in rows]


def statements_of_the_guide():
    return [each for each in all_rows_of_the_guide() if each[1].startswith("ddbfs sql")]


def in_the_guide():
    return [each for each in all_rows_of_the_guide() if not each[1].startswith("ddbfs sql")]


def test_the_guide_shows_some_of_them():
    """docs/guides/agents.md has rows `| question | line | requests | RCU |`."""
    rows = {
        (question, line, f"{requests}", f"{units:g}")
        for question, line, requests, units, _ in questions.QUESTIONS
    }
    assert len(in_the_guide()) == 12 and set(in_the_guide()) <= rows


def test_the_guide_has_the_names_of_long_paths():
    names = dict(re.findall(r"^([A-Z]+)=(\S+)$", GUIDE.read_text("utf-8"), re.M))
    lines = " ".join(line for _, line, *_ in in_the_guide())
    assert names == {name: path for name, path in questions.VARIABLES.items() if f"${name}" in lines}


def test_the_guide_has_the_sums():
    requests = sum(each[2] for each in questions.QUESTIONS)
    units = sum(each[3] for each in questions.QUESTIONS)
    assert f"**{requests} requests and {units:g} RCU**" in GUIDE.read_text("utf-8")


def test_the_guide_shows_some_statements():
    rows = {
        (question, f'ddbfs sql "{statement}"', f"{requests}", f"{units:g}")
        for question, (statement, requests, units) in questions.SQL.items()
    }
    assert len(statements_of_the_guide()) == 9 and set(statements_of_the_guide()) <= rows
    names = dict(re.findall(r'^([A-Z]+)="(.*)"$', GUIDE.read_text("utf-8"), re.M))
    assert names == questions.CONDITIONS
