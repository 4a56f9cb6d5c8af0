"""SELECTs over random tables, compared row by row with SQLite over ordinary tables: on a server and on a snapshot.

How many statements: DDBFS_SQL_CASES (120, in a long run 1200), from which tables on: DDBFS_SQL_SEED (1). The tables of one
seed alone: DDBFS_SQL_CASES=60 DDBFS_SQL_SEED=17.
"""

import collections
import json
import os
import re

import pytest

from harness import priced, sql_statements, sql_world

LONG = os.environ.get("DDBFS_LONG") == "1"
SEED = int(os.environ.get("DDBFS_SQL_SEED", 1))
CASES = int(os.environ.get("DDBFS_SQL_CASES", 1200 if LONG else 120))
OF_A_WORLD = 60


@pytest.fixture(params=range(SEED, SEED + -(-CASES // OF_A_WORLD)), ids=lambda seed: f"seed-{seed}")
def world(request, server, tmp_path):
    made = sql_world.World(request.param, server.url, tmp_path)
    yield made
    made.remove()


def report(world, statement, where, what, plan=""):
    return f"seed {world.seed}, {where}: {what}\n  {statement.text}\n  as {statement.plain_text}\n  {plan}"


def lookups_of(sent, read):
    """How many lookups like READ were sent: keys, or queries with their own conditions, of its table and index."""
    words = " ".join(read["reads"])
    of = [each for each in sent if each.table in re.findall(r"[\w.-]+", words)]
    conditions = {json.dumps({name: value for name, value in each.body.items() if name != "ExclusiveStartKey"}, sort_keys=True)
                  for each in of if each.op == "Query"}  # fmt: skip
    keys = sum(priced.keys_of(each) for each in of if each.op in ("GetItem", "BatchGetItem"))
    return len(conditions) if read["reads"][0].startswith("Query") else keys


def sums(steps, sent):
    """The bounds of all steps as one. A step for each value of other rows counts as often as it was sent."""
    each = []
    for step in steps:
        if isinstance(step["read"], dict):
            times = step.get("lookups", 1) if not step["per_row"] else max(1, lookups_of(sent, step["read"]))
            each += [step["read"]] * times
    told = priced.summed(each) if each else {"bound": collections.Counter(), "units": {}}
    # A LIMIT whose rows do not suffice: the whole Query follows.
    again = told["bound"]["queries_that_may_pass_over"]
    told["bound"]["requests"] += again
    told["units"]["most"] = told["units"].get("most", 0) + again * told["units"].get("most_a_page", 0)
    return told


def beyond(explained, sent):
    """What of SENT the explanation denies, in words. A sum of requests is a bound of all that is sent."""
    steps, total = explained
    sent = [each for each in sent if each.op != "DescribeTable"]
    if total["requests"] is not None and len(sent) > total["requests"]:
        return f"{len(sent)} requests, and the total is {total['requests']}"
    if total["rcu"] is not None and sum(each.units for each in sent) > total["rcu"]:
        return f"{sum(each.units for each in sent)} units, and the total is {total['rcu']}"
    if sent and any(step["per_row"] and not isinstance(step["read"], dict) for step in steps):
        return ""  # its keys are not known, and the total says so
    told = sums(steps, sent)
    return priced.beyond(told["bound"], sent) or priced.dearer(told, sent)


def test_results_are_those_of_sqlite(world, ddbfs, proxy):
    statements = world.statements(OF_A_WORLD)
    expected = [world.reference.run(each.plain_text) for each in statements]
    statements, expected = zip(*[(each, rows) for each, rows in zip(statements, expected) if "decode" not in str(rows)])
    live = sql_world.Executor(ddbfs.run_quick, "--map", world.map)
    stored = sql_world.Executor(ddbfs.run_quick, "--map", world.map, "--snapshot", world.snapshot)
    wrong = []
    for name, execute in (("snapshot", stored), ("server", live)):
        for each, rows, outcome in zip(statements, expected, execute([each.text for each in statements])):
            each.is_answered, each.is_refused = outcome.is_answered(), outcome.is_refused()
            what = sql_world.difference(each, outcome, rows, name == "snapshot")
            wrong += [report(world, each, name, what)] if what else []
        if name == "snapshot":
            assert not proxy.requests
    assert not wrong, "\n".join(wrong)
    check_costs(world, live, proxy, [each for each in statements if each.is_answered])
    check_refusals(live, proxy, [each.text for each in statements if each.is_refused])


@pytest.mark.parametrize("seed", range(SEED, SEED + max(1, CASES // 400)))
def test_results_of_indexes_with_several_attributes(seed, ddbfs, proxy, tmp_path):
    """On a snapshot alone: no local server has such indexes."""
    world = sql_world.World(seed, None, tmp_path)
    statements = world.statements(OF_A_WORLD)
    execute = sql_world.Executor(ddbfs.run_quick, "--map", world.map, "--snapshot", world.snapshot)
    outcomes, wrong = execute([each.text for each in statements]), []
    for each, outcome in zip(statements, outcomes):
        rows = world.reference.run(each.plain_text)
        what = "" if "decode" in str(rows) else sql_world.difference(each, outcome, rows, True)
        wrong += [report(world, each, "snapshot", what)] if what else []
    assert not wrong and not proxy.requests, "\n".join(wrong)


def check_refusals(live, proxy, texts):
    """A statement that would need a scan sends nothing but the descriptions of tables."""
    proxy.clear()
    assert all(each.error for each in live(texts[: sql_world.ALONE]))
    assert {each.op for each in proxy.requests} <= {"DescribeTable"}, proxy.requests


def check_costs(world, live, proxy, statements):
    """--explain sends nothing, and no statement sends more than it states."""
    proxy.clear()
    explained, wrong = live.explain([each.text for each in statements]), []
    assert {each.op for each in proxy.requests} <= {"DescribeTable"}, proxy.requests
    for statement, plan in zip(statements, explained):
        proxy.clear()
        (outcome,) = live([statement.text])
        what = "" if outcome.error else beyond(plan, proxy.requests)
        wrong += [report(world, statement, "server", what, f"{plan}\n  {proxy.requests}")] if what else []
    assert not wrong, "\n".join(wrong)
