"""DynamoDB's functions in SELECT, compared with `ls --where` over attributes of all types."""

import base64
import json
import random

import pytest

from harness import snapshots, sql_reference, sql_statements, sql_world

TABLE = "Values"
LOST = ("came through", "not known")  # the type of a value is lost, and the result depends on it
LONG = "12345678901234567890123"
MEMBERS = [{"S": "x"}, {"S": "YWI="}, {"N": "1"}, {"N": "0.1"}, {"BOOL": True}, {"BOOL": False}, {"S": "1"}, {"S": "true"}, {"N": LONG},
           {"NULL": True}, {"L": [{"S": "x"}]}, {"M": {"x": {"S": "x"}}}]  # fmt: skip
BINARIES = [{"B": "YWI="}, {"B": "eA=="}]
ATTRIBUTES = [
    *({"S": text} for text in ["", "x", "xy", "[x", '["x"]', '["x","y"]', '{"x":"x"}', "[]", "[1]", "1", LONG, "YWI=", "true"]),
    *({"N": text} for text in ["1", "0", "0.1", LONG, "1e40"]),
    *({"B": base64.b64encode(raw).decode()} for raw in [b"", b"x", b"xy", b"ab", b"\0\xff"]),
    {"BOOL": True}, {"BOOL": False}, {"NULL": True}, {"M": {}}, {"M": {"x": {"S": "x"}}}, {"L": []}, {"L": [{"B": "YWI="}, {"N": "1"}]},
    {"SS": ["x", "y"]}, {"SS": ["xy", "1"]}, {"SS": ["YWI="]}, {"SS": ["[1]"]}, {"NS": ["1", "0.1"]}, {"NS": [LONG, "1e40"]}, {"BS": ["YWI=", "eA=="]},
]  # fmt: skip
WANTED = [*({"S": each} for each in ["x", "xy", "[", "[1]", "1", "true", "YWI=", '["x"', "{", LONG]),
          *({"B": base64.b64encode(each).decode()} for each in [b"x", b"ab", b"\xff"]),
          *({"N": each} for each in ["0", "1", "0.1", "1e40", LONG]), {"BOOL": True}, {"BOOL": False}]  # fmt: skip
FORMS = {
    "the column": "select sk as c from {} as t where pk = 'p' and {}",
    "a result": "select sk as c from (select sk, {1} as c from {0} as t where pk = 'p') where c",
    "sorted": "select sk as c from {} as t where pk = 'p' and not not {} order by a, sk",
    "stored": "with x as materialized (select sk, {1} as c from {0} as t where pk = 'p') select sk as c from x where c",
}
BEHIND = {
    "behind a subquery": "with x as materialized (select sk, a, b from {} where pk = 'p') select sk as c from x where {}",
    "behind a group": "select sk as c from {} where pk = 'p' group by sk having max({})",
}


def random_items():
    """An item for each value; `both` has the lists whose JSON hides which elements are texts and which are binary."""
    rng = random.Random(7)
    lists = [{"L": rng.sample(MEMBERS, rng.randrange(1, 4))} for _ in range(30)]
    both = [{"L": [*rng.sample(MEMBERS[:2], 1), *rng.sample(BINARIES, 1)]} for _ in range(8)]
    items = [{"pk": {"S": "p"}, "sk": {"S": f"s{at}"}, "a": each, "b": WANTED[at % len(WANTED)]}
             for at, each in enumerate(2 * ATTRIBUTES + lists)]  # fmt: skip
    items += [{"pk": {"S": "both"}, "sk": {"S": f"s{at}"}, "a": each} for at, each in enumerate(both)]
    return [*items, {"pk": {"S": "p"}, "sk": {"S": "absent"}, "b": WANTED[0]}]


@pytest.fixture(scope="module")
def items():
    return random_items()


@pytest.fixture(scope="module")
def file(items, tmp_path_factory):
    folder = tmp_path_factory.mktemp("values")
    return snapshots.write(folder / "v.ddb", [snapshots.simple_table(TABLE, "pk", "sk")], [("2026-11-01T00:00:00Z", {TABLE: items})])


def names(rows):
    return sorted(row[0] for row in rows)


@pytest.mark.parametrize("function", ["contains", "begins_with"])
def test_functions_are_those_of_a_filter(function, file, items, ddbfs):
    wanted = [each for each in WANTED if function == "contains" or {"S", "B"} & set(each)]
    listed = [ddbfs.run_quick("--snapshot", file, "ls", "--where", f"{function}(a, {json.dumps(each)})", f"/tables/{TABLE}/items/p").text.split()
              for each in wanted]  # fmt: skip
    found = {json.dumps(each): names for each, names in zip(wanted, listed)}

    def both(behind):
        """Of `b`. A BOOL whose type is lost is the number 1 or 0, so both are left out."""
        return sorted(item["sk"]["S"] for item in items
                      if "b" in item and not (behind and isinstance(sql_reference.sql_value(item["b"]), int)) and item["sk"]["S"] in found[json.dumps(item["b"])])  # fmt: skip

    cases = []  # what is compared, the statement, what it should return
    for forms, behind in ((FORMS, False), (BEHIND, True)):
        call = f"({function}(a, b) and typeof(b) <> 'integer')" if behind else f"{function}(a, b)"
        cases += [(f"b {form}", text.format(f'"{TABLE}"', call), both(behind), behind)
                  for form, text in forms.items() if function == "contains"]  # fmt: skip
        for each in wanted:
            if "BOOL" in each or LONG in each.values():
                continue  # SQL has no such literal; a column has them
            call = f"{function}(a, {sql_statements.literal(sql_reference.sql_value(each))})"
            cases += [(f"{each} {form}", text.format(f'"{TABLE}"', call), sorted(found[json.dumps(each)]), behind)
                      for form, text in forms.items()]  # fmt: skip
    outcomes = sql_world.Executor(ddbfs.run_quick, "--snapshot", file)([statement for _, statement, *_ in cases])
    wrong = []
    for (what, statement, expected, behind), outcome in zip(cases, outcomes):
        if outcome.error is None and names(outcome.rows) != expected:
            wrong.append(f"{what}: {names(outcome.rows)}, should {expected}: {statement}")
        if outcome.error is not None and not (behind and any(each in outcome.error for each in LOST)):
            wrong.append(f"{what}: {outcome.error}: {statement}")
    assert not wrong, "\n".join(wrong)
    assert any(outcome.error is None for (*_, behind), outcome in zip(cases, outcomes) if behind)


def test_an_element_of_an_unknown_type_is_an_error(file, ddbfs):
    """JSON writes a binary as the text of its base64."""
    for wanted, is_known in (("'x'", False), ("x'6162'", False), ("'y'", True), ("1", True)):
        done = ddbfs("--snapshot", file, "sql", f"select count(*) c from \"{TABLE}\" where pk = 'both' and contains(a, {wanted})", expect=None)
        assert (done.code == 0) == is_known, done
        assert is_known or "ls --where" in done.stderr


def test_lists_behind_a_group_keep_their_meaning(tmp_path, ddbfs):
    """As long as no text of the statement looks like them."""
    items = [{"pk": {"S": "p"}, "sk": {"S": str(at)}, "tags": {"SS": tags}, "state": {"S": "abc"[at % 2]}}
             for at, tags in enumerate([["urgent"], ["urgent-x"], ["x", "urgent"], ["x"]])]  # fmt: skip
    file = snapshots.write(tmp_path / "v.ddb", [snapshots.simple_table(TABLE, "pk", "sk")], [("2026-11-01T00:00:00Z", {TABLE: items})])
    statement = f"select state, sum(contains(tags, 'urgent')) n from \"{TABLE}\" where pk = 'p' group by 1"
    assert ddbfs("--snapshot", file, "sql", "--csv", statement).text == "state,n\na,2\nb,0\n"


def test_a_literal_that_looks_like_json_is_a_text(tmp_path, ddbfs):
    """Also if all such texts that were read are lists or numbers."""
    items = [{"pk": {"S": "p"}, "sk": {"S": at}, "a": each}
             for at, each in zip("vwxyz", [{"SS": ["[1]", "it's"]}, {"L": [{"S": "[1]"}]}, {"L": [{"N": "1"}]}, {"N": LONG}, {"S": f"x{LONG}"}])]  # fmt: skip
    file = snapshots.write(tmp_path / "v.ddb", [snapshots.simple_table(TABLE, "pk", "sk")], [("2026-11-01T00:00:00Z", {TABLE: items})])
    for wanted, found in (("[1]", "v\nw\n"), ("it''s", "v\n"), (LONG, "z\n")):
        statement = f"select sk from \"{TABLE}\" where pk = 'p' and contains(a, '{wanted}' )"
        assert ddbfs("--snapshot", file, "sql", "--csv", statement).text == f"sk\n{found}"


def test_results_of_functions(file, ddbfs):
    """Of JSON functions they are lists; others may be texts, too. The column `item` is a text."""
    calls = "contains(json_array(1, 'x'), 'x'), contains(item -> '$.a', '['), begins_with(item, '{\"pk\"')"
    statement = f"select {calls} from \"{TABLE}\" where pk = 'p' and a = '[\"x\",\"y\"]' order by typeof(item ->> '$.a'), 2"
    rows = ddbfs("--snapshot", file, "sql", "--csv", statement).text.splitlines()[1:]
    assert sorted(set(rows)) == ["1,0,1", "1,1,1"]  # a set, and the text of the same bytes
    done = ddbfs("--snapshot", file, "sql", "select contains('[1]', '1')", expect=None)
    assert done.code == 1 and "contains() has no result" in done.stderr and "materialized" in done.stderr
