"""Conditions against servers: what a Query's filter lets through is what cond_holds lets through.

The binary made from tests/unit/holds.c stands beside the one that DDBFS_RENDER names.
DDBFS_TEST_SEED repeats a run.
"""

import json
import os
import pathlib
import random
import subprocess

import pytest

from harness import load
from harness.conditions import TABLE, ask, condition_of, for_boto, item_of, request_of

SEED = int(os.environ.get("DDBFS_TEST_SEED", "20260201"))
RENDER = os.environ.get("DDBFS_RENDER")
HOLDS = RENDER and pathlib.Path(RENDER).with_name("holds")
ITEMS = 60
QUESTIONS = 300

pytestmark = pytest.mark.skipif(not RENDER, reason="DDBFS_RENDER is not set")


def requested(body):
    """The body that the product wrote, as boto3 takes it."""
    values = {name: for_boto(value) for name, value in body["ExpressionAttributeValues"].items()}
    said = ("KeyConditionExpression", "FilterExpression", "ExpressionAttributeNames")
    return {name: body[name] for name in said} | {"ExpressionAttributeValues": values}


def decide(questions, items):
    """What cond_holds says: for each question the sort keys, and the body that asks the same."""
    lines = [json.dumps([conditions, *items]) for conditions in questions]
    run = subprocess.run(
        [HOLDS], input="\n".join(lines) + "\n", capture_output=True, text=True, timeout=300
    )
    assert (run.returncode, run.stderr) == (0, "")
    answers = run.stdout.splitlines()
    assert len(answers) == len(questions)
    for line in answers:
        bits, _, body = line.partition(" ")
        yield {number for number, bit in enumerate(bits) if bit == "1"}, json.loads(body)


@pytest.fixture
def generated(table):
    rng = random.Random(SEED)
    print("DDBFS_TEST_SEED", SEED)
    items = [item_of(number, rng) for number in range(ITEMS)]
    stored = [{name: for_boto(value) for name, value in item.items()} for item in items]
    questions = [
        [condition_of(rng) for _ in range(rng.choice([1, 1, 1, 2, 3]))] for _ in range(QUESTIONS)
    ]
    return table(TABLE, stored), items, questions


def test_the_service_and_we_agree(server, generated):
    name, items, questions = generated
    dynamo, wrong, held = load.client(server.url), [], 0
    for conditions, (ours, body) in zip(questions, decide(questions, items)):
        theirs = ask(dynamo, name, request_of(conditions))
        written = ask(dynamo, name, requested(body))
        held += bool(ours) and len(ours) < len(items)
        if not ours == theirs == written:
            wrong.append((conditions, ours ^ theirs, ours ^ written, body["FilterExpression"]))
    for conditions, by_hand, by_us, said in wrong[:20]:
        print(json.dumps(conditions), said, "by hand", sorted(by_hand), "by us", sorted(by_us))
        for number in sorted(by_hand | by_us)[:1]:
            print("   ", json.dumps(items[number]))
    assert wrong == []
    assert held > QUESTIONS / 4  # the generator makes conditions that tell items apart
