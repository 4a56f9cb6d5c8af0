"""Drafts from items, measured: of the kinds that authors of public models have named, how many does
`map --sample` recognise? tests/vectors/models/kinds.json has the facts of these models: the format of each
kind's keys, the names of its attributes, and what its items call their kind. The values are made here.

The binary made from tests/unit/drafts.c stands beside the one that DDBFS_RENDER names.
DDBFS_TEST_SEED repeats a run.
"""

import json
import os
import pathlib
import random
import re
import subprocess

import pytest

from harness import places

SEED = int(os.environ.get("DDBFS_TEST_SEED", "20260301"))
RENDER = os.environ.get("DDBFS_RENDER")
TABLES = json.loads((places.REPO / "tests/vectors/models/kinds.json").read_text("utf-8"))
ITEMS = 8
LEAST_PERCENT, MOST_FALSE = 80, 2
FEW = {"status": ["OPEN", "DONE", "IN_PROGRESS"], "state": ["WARNING1", "NORMAL"], "priority": ["HIGH", "LOW"]}
TEXTS = ["x/y", "10:30", "k=v", "Ann Lee", "50%", "o'Neil", "日本", "MiXed", "North/West", "a_b", "007"]
PART = re.compile(r"\{(\w+)(:lower)?\}")

pytestmark = pytest.mark.skipif(not RENDER, reason="DDBFS_RENDER is not set")


def value(name, chance):
    low = name.lower()
    if low in FEW:
        return chance.choice(FEW[low])
    if re.search(r"date|time|_at$|createdat|updatedat", low):
        return f"2024-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}T{chance.randint(0, 23):02}:15:0{chance.randint(0, 9)}Z"
    if "email" in low:
        return f"u{chance.randint(1, 9999)}@mail.org"
    if low.endswith("id") or low.startswith("_"):
        return f"{chance.randint(1, 40):05}"
    return f"{chance.choice(TEXTS)} {chance.randint(1, 99)}"


def item_of(kind, chance):
    values = {name: value(name, chance) for name in kind["attributes"]}

    def part(found):
        text = values.get(found[1]) or value(found[1], chance)
        return text.lower() if found[2] else text

    keys = {name: PART.sub(part, written) for name, written in kind["keys"].items()}
    return {name: {"S": text} for name, text in {**values, **kind.get("says", {}), **keys}.items()}


def draft(tables):
    """The formats that are inferred of items of each table, kind by kind."""
    lines = []
    for table in tables:
        chance = random.Random(f"{SEED}{table['name']}")
        items = [item_of(kind, chance) for kind in table["kinds"].values() for _ in range(ITEMS)]
        whole = {name: "{" + re.sub(r"\W", "_", name) + "*}" for name in table["keys"]}
        declared = {"table": "T", "records": {"item": whole}, "paths": {}}
        lines.append(json.dumps({"table": declared, "items": items}))
    program = pathlib.Path(RENDER).with_name("drafts")
    run = subprocess.run([program], input="\n".join(lines) + "\n", capture_output=True, text=True, timeout=300)
    assert (run.returncode, run.stderr) == (0, "")
    return [json.loads(line)["records"] for line in run.stdout.splitlines()]


def simple(name):
    return re.sub(r"[^a-z0-9]", "", name.lower())


def form(written):
    return re.sub(r"\{[^}]*\}", "{}", written)


def names(written):
    return [re.sub(r"[:*].*", "", name) for name in re.findall(r"\{([^}]*)\}", written)]


def named_alike(kind, found):
    """Each part that an attribute says has that attribute's name, and the kind the name that its items say."""
    for key, written in kind["keys"].items():
        for wanted, got in zip(names(written), names(found[1][key])):
            if wanted in kind["attributes"] and simple(wanted) != simple(got):
                return False
    said = set(kind.get("says", {}).values()) - {"1"}
    return not said or simple(found[0]) in map(simple, said)


def compare(table, drafted):
    """(kinds recognised, what is wrong, formats that are no kind's)"""
    wrong, used = [], set()
    for name, kind in table["kinds"].items():
        found = [
            each
            for each in drafted.items()
            if all(form(each[1][key]) == form(written) for key, written in kind["keys"].items())
        ]
        used |= {each[0] for each in found}
        if not any(named_alike(kind, each) for each in found):
            wrong.append(f"{table['name']}: {name}: {kind['keys']} is drafted as {found}")
    false = [
        f"{table['name']}: {name}: {keys}"
        for name, keys in drafted.items()
        if name not in used and not all(re.fullmatch(r"\{[^}]*\}", written) for written in keys.values())
    ]
    return len(table["kinds"]) - len(wrong), wrong, false


def test_kinds_are_recognised_as_their_authors_named_them():
    results = [compare(*both) for both in zip(TABLES, draft(TABLES), strict=True)]
    kinds = sum(len(table["kinds"]) for table in TABLES)
    right = sum(each[0] for each in results)
    wrong = [line for each in results for line in each[1]]
    false = [line for each in results for line in each[2]]
    said = "\n".join([f"{right} of {kinds} kinds, {len(false)} false", *wrong, "false:", *false])
    print(said)
    assert kinds > 160 and 100 * right >= LEAST_PERCENT * kinds and len(false) <= MOST_FALSE, said


def test_parts_of_electrodb_s_keys_are_folded():
    """It writes keys in lower case, whatever the attributes say."""
    (table,) = [each for each in TABLES if each["name"] == "collection-assignments"]
    assert draft([table])[0]["employees"] == table["kinds"]["employees"]["keys"]
