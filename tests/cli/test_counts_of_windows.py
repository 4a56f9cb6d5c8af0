"""Counts and listings of windows on an index with ties, by random filters, against a model: also of an index that is behind
its table, and with pages of a few items."""

import json
import random

import pytest

from .test_ties import described

FILTERS = {  # each with the attributes that it tests
    'note = "yes"': (("note",), lambda item: item.get("note") == "yes"),
    "when > 1": (("when",), lambda item: item["when"] > 1),
    "other = 1": (("other",), lambda item: item.get("other") == 1),
    'when > 1 and note = "yes"': (("when", "note"), lambda item: item["when"] > 1 and item.get("note") == "yes"),
    "other = 1 or when = 2": (("other", "when"), lambda item: item.get("other") == 1 or item["when"] == 2),
}
PROJECTIONS = {"keys": ("KEYS_ONLY", set()), "note": ("INCLUDE", {"note"}), "all": ("ALL", {"note", "other"})}
COUNTS = (1, 3, 10, 40, 110)


def typed(item):
    return {name: {"N": str(value)} if isinstance(value, int) else {"S": value} for name, value in item.items()}


def made_up_items(dice):
    """Few moments, so that most items share one."""
    moments = dice.choice([2, 4, 9])
    for number in range(dice.choice([11, 40, 130])):
        item = {"pk": f"box{number % 4}", "sk": f"{number:04d}", "state": "open", "when": dice.randrange(moments)}
        if dice.random() < 0.6:
            item["note"] = dice.choice(["yes", "no"])
        if dice.random() < 0.6:
            item["other"] = dice.randrange(2)
        yield item


def windows_of(items):
    """The items of each path, of ITEMS in the order of the index."""

    def with_ties(ordered, count):
        last = {each["when"] for each in ordered[:count]}
        return [each for each in ordered if each["when"] in last]

    paths = {"": items}
    for count in COUNTS:
        paths[f"/oldest:{count}"] = with_ties(items, count)
        paths[f"/newest:{count}"] = with_ties(items[::-1], count)
        paths[f"/last:{count}"] = items[::-1][:count]
        paths[f"/after:{count}"] = [each for each in items if each["when"] > count]
    return paths


def map_of(projection):
    def window(**members):
        return {"index": "by-state", "name": "{when},{box},{name}", "hidden": True, **members}

    paths = {
        "{state}/": {**window(), "hidden": False},
        "{state}/oldest:{count}/": window(oldest="{count}", ties=True),
        "{state}/newest:{count}/": window(newest="{count}", ties=True),
        "{state}/last:{count}/": window(newest="{count}"),
        "{state}/after:{key}/": window(where={"'when'": {">": "{key}"}}),
    }
    projects = ["note"] if projection == "note" else projection
    events = {
        "table": "Events",
        "records": {"event": {"pk": "{box*}", "sk": "{name*}"}},
        "types": {"when": "N"},
        "indexes": {"by-state": {"partition": "state", "sort": "when", "projects": projects}},
        "paths": paths,
    }
    environment = {"prefix": "any-", "profile": "controller", "region": "us-east-1"}
    return {"environments": {"any": environment}, "tables": {"events": events}}


def numbers(ddbfs, form, paths, options, env):
    """The number of items that each path has in FORM."""
    folders = [f"/any/events/open{path}" for path in paths]
    if form == "@count":
        text = ddbfs.run_plain("cat", *options, *[f"{each}@count" for each in folders], env=env).text
        return dict(zip(paths, map(int, text.split())))
    text = ddbfs.run_plain("ls", *form, "--json", *options, *folders, env=env).text
    found = dict.fromkeys(paths, 0)
    for entry in map(json.loads, text.splitlines()):
        found[entry["path"].rpartition("/")[0].removeprefix("/any/events/open")] += 1
    return found


@pytest.mark.long
@pytest.mark.parametrize("seed", range(6))
def test_counts_are_those_of_a_model(ddbfs, boto, table, write_map, proxy, seed):
    dice = random.Random(seed)
    projection = dice.choice(list(PROJECTIONS))
    kind, more = PROJECTIONS[projection]
    plain = described()
    plain["GlobalSecondaryIndexes"][0]["Projection"] = {
        "ProjectionType": kind,
        **({"NonKeyAttributes": ["note"]} if kind == "INCLUDE" else {}),
    }
    items = list(made_up_items(dice))
    name = table(plain, map(typed, items))
    env = {"DDBFS_MAP": str(write_map(map_of(projection)))}
    by_key = {(item["pk"], item["sk"]): item for item in items}
    query = {"IndexName": "by-state", "KeyConditionExpression": "#s = :s", "ExpressionAttributeNames": {"#s": "state"}}
    response = boto.query(TableName=name, **query, ExpressionAttributeValues={":s": {"S": "open"}})
    ordered = [by_key[each["pk"]["S"], each["sk"]["S"]] for each in response["Items"]]
    gone = {key for key in by_key if dice.random() < 0.15}

    def is_gone(item):
        return (item["pk"]["S"], item["sk"]["S"]) in gone

    def forget(body):
        found = body.get("Responses", {}).get(name, [])
        found[:] = [each for each in found if not is_gone(each)]
        if "Item" in body and is_gone(body["Item"]):
            del body["Item"]

    for operation in ("GetItem", "BatchGetItem"):
        proxy.fault("alter", op=operation, times=None, change=forget)
    if size := dice.choice([None, 3, 7, 50]):
        proxy.fault("page_size", op="Query", times=None, items=size)
    in_index = windows_of(ordered)
    in_table = windows_of([each for each in ordered if (each["pk"], each["sk"]) not in gone])
    for text, (tested, fits) in FILTERS.items():
        late = projection != "all" and not set(tested) <= {"when", *more}
        for form in ((), ("-l",), "@count"):
            paths = in_table if late or (form == ("-l",) and projection != "all") else in_index
            want = {path: sum(map(fits, found)) for path, found in paths.items()}
            got = numbers(ddbfs, form, list(paths), ("--where", text), env)
            assert got == want, (text, form, size, projection)
