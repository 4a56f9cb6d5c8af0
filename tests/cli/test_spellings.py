"""Keys that spell their parts: `{email:lower}`, `{country:upper}`, `{score:05}`."""

import json
import sqlite3

import pytest

from harness import tables
from harness.rows import rows

MAP = tables.plain_map(
    records={"score": {"pk": "GAME#{game:upper}", "sk": "SCORE#{score:05}#{email:lower}"}},
    paths={
        "{game}/": {},
        "{game}/top/": {"newest": 2, "name": "{rank}_{score}_{email}"},
        "{game}/{from}..{to}/": {"where": {"score": "{from}..{to}"}},
        "{game}/under/{most}/": {"where": {"score": {"<": "{most}"}}},
        "{game}/of/{score}/{email}": {},
    },
)
SCORES = [(0, "zoe"), (7, "ann"), (42, "bob@x.org"), (42, "ann"), (99999, "eve")]
NAMES = ["0#zoe", "7#ann", "42#ann", "42#bob@x.org", "99999#eve"]


@pytest.fixture
def scores(things, write_map):
    for score, email in SCORES:
        things.put(f"SCORE#{score:05}#{email}", box="GAME#GO", n={"N": str(score)})
    for other in ("SCORE#42#ann", "SCORE#000042#ann", "SCORE#00042#Ann", "SCORE#abcde#ann"):
        things.put(other, box="GAME#GO")
    things.env = {"DDBFS_MAP": str(write_map(MAP))}
    return things


def test_numbers_are_shown_without_zeros_and_in_order(ddbfs, ls, scores):
    listed = ddbfs("ls", "/any/things/GO", env=scores.env)
    assert [name for name in listed.text.splitlines() if not name.endswith("/")] == NAMES
    assert "4 items" in listed.stderr and "none of the map's kinds" in listed.stderr
    assert ls("/any/things/GO/top", env=scores.env) == ["1_99999_eve", "2_42_bob@x.org"]
    for name in NAMES:
        record = json.loads(ddbfs("cat", f"/any/things/GO/{name}", env=scores.env).text)
        assert record["n"] == int(name.split("#")[0])


@rows(
    "typed", ["GO/42#ann", "go/42#ann", "Go/00042#ANN", "go/of/00042/aNN", "%67o/42#ann"]
)
def test_any_spelling_opens_what_is_listed(ddbfs, scores, cost, typed):
    record = json.loads(ddbfs("cat", f"/any/things/{typed}", env=scores.env).text)
    assert (record["pk"], record["sk"]) == ("GAME#GO", "SCORE#00042#ann")
    assert cost() == ["GetItem"]


@rows(
    "typed, names",
    [
        ("5..42", NAMES[1:4]),
        ("00005..42", NAMES[1:4]),
        ("8..99999", NAMES[2:]),
        ("0..0", NAMES[:1]),
        ("under/42", NAMES[:2]),
        ("under/00043", NAMES[:4]),
        ("under/0", []),
    ],
)
def test_ranges_go_by_number(ls, scores, typed, names):
    assert ls(f"/any/things/GO/{typed}", env=scores.env) == names


@rows(
    "typed, what",
    [
        ("123456#ann", "{score}"),
        ("000042#ann", "{score}"),
        ("0042#ann", "{score}"),
        ("x#ann", "{score}"),
        ("-1#ann", "{score}"),
        ("1.5#ann", "{score}"),
        ("of/1e2/ann", "{score}"),
        ("1..123456", "{to}"),
        ("under/x", "{most}"),
    ],
)
def test_what_the_key_can_not_hold_is_refused(ddbfs, scores, cost, typed, what):
    command = "ls" if what != "{score}" else "cat"
    answer = ddbfs(command, f"/any/things/GO/{typed}", env=scores.env, expect=None)
    assert answer.code != 0 and f"{what}" in answer.stderr
    assert "the key has a number of 5 digits" in answer.stderr
    assert cost() == []


def test_what_explain_prints_gives_what_the_path_gives(ddbfs, ls, scores, shell):
    for path in ("GO", "go/5..42", "GO/under/42", "GO/42#ann", "GO/of/00042/Ann"):
        path = f"/any/things/{path}"
        told = json.loads(ddbfs("explain", "--json", path, env=scores.env).stdout)
        text = shell(told["aws"]).text
        if " get-item " in told["aws"]:
            assert '"SCORE#00042#ann"' in text
            continue
        found = [json.loads(line)["sk"]["S"] for line in text.splitlines()]
        names = [name for name in ls(path, env=scores.env) if not name.endswith("/")]
        assert [f"{int(sk.split('#')[1])}#{sk.split('#')[2]}" for sk in found] == names


def test_a_map_that_makes_no_sense_is_told(ddbfs, write_map):
    wrong = tables.plain_map(records={"thing": {"pk": "{box:05}", "sk": "{name*:05}"}}, paths={"{box:05}/": {}})
    answer = ddbfs("check", "--offline", write_map(wrong), expect=None)
    assert answer.code != 0 and "remove the *" in answer.text + answer.stderr


def test_a_padded_part_is_a_number_in_sql_and_in_databases(ddbfs, scores, tmp_path):
    """The attribute of that name is one, too, and the order of the keys is that of the numbers."""
    scores.put("SCORE#00009#kim", box="GAME#GO", score={"N": "9"})
    file = tmp_path / "list.sqlite"
    file.write_bytes(ddbfs("cat", "/any/things/GO@sqlite", env=scores.env).stdout)
    listed = sqlite3.connect(file).execute("select score, typeof(score), email, typeof(email) from records order by score").fetchall()
    statement = "select score, typeof(score) a, email, typeof(email) b from any.things where game = 'GO' and email is not null order by score"
    rows = [json.loads(line) for line in ddbfs("sql", "--json", statement, env=scores.env).text.splitlines()]
    assert sorted(listed) == sorted(tuple(row.values()) for row in rows)
    assert {each for _, each, _, _ in listed} == {"integer"} and [each for each, *_ in listed][:3] == [0, 7, 9]


def test_a_suffix_and_companions(ddbfs, ls, scores):
    names = [name for name in ls("/any/things/GO", "--suffix", ".json", env=scores.env) if name[-1] != "/"]
    assert names == [f"{name}.json" for name in NAMES]
    typed = ddbfs("--suffix", ".json", "cat", "/any/things/go/00042#ANN.json@typed", env=scores.env)
    assert json.loads(typed.text)["sk"] == {"S": "SCORE#00042#ann"}


def test_a_long_name_is_found_by_its_digest(ddbfs, ls, scores):
    """What it still shows is no beginning of the key, which has zeros in front."""
    for letter in "ab":
        scores.put(f"SCORE#00050#{letter * 300}", box="GAME#GO", n={"S": letter})
    names = [name for name in ls("/any/things/GO", env=scores.env) if "%~" in name]
    assert len(names) == 2
    for name in names:
        record = json.loads(ddbfs("cat", f"/any/things/GO/{name}", env=scores.env).text)
        assert record["n"] == name[len("50#")]


def test_the_readme_tells_of_parts_by_their_names(ddbfs, scores):
    text = ddbfs("cat", "/any/things/README", env=scores.env).text
    assert "{from}..{to}" in text and "{score:05}" not in text
