"""The unified diff against diff(1), on texts of any kind and on records as they are printed.

The binary made from tests/unit/compare.c stands beside the one that DDBFS_RENDER names. DDBFS_TEST_SEED
repeats a run.
"""

import json
import os
import pathlib
import random
import subprocess

import pytest

SEED = int(os.environ.get("DDBFS_TEST_SEED", "20260101"))
RENDER = os.environ.get("DDBFS_RENDER")
COMPARE = RENDER and pathlib.Path(RENDER).with_name("compare")
COUNT = 300
LETTERS = "abcdefghijklmnopqrst"

pytestmark = pytest.mark.skipif(not RENDER, reason="DDBFS_RENDER is not set")


def some_lines(rng, letters):
    return [rng.choice(letters) for _ in range(rng.randrange(40))]


def text_pair(rng):
    """Lines, and the same lines with some taken out and others put in."""
    letters = LETTERS[: rng.choice([4, 8, 20])]
    before = some_lines(rng, letters)
    now = list(before)
    for _ in range(rng.randrange(12)):
        at = rng.randrange(len(now) + 1)
        now[at : at + rng.randrange(3)] = some_lines(rng, letters)[: rng.randrange(3)]
    ends = [rng.choice(["", "\n"]) if lines else "" for lines in (before, now)]
    return "\n".join(before) + ends[0], "\n".join(now) + ends[1]


def some_value(rng, depth=0):
    kind = rng.random()
    if depth > 2 or kind < 0.6:
        return rng.choice([1, 2, "x", "y", True, None])
    if kind < 0.8:
        return [some_value(rng, depth + 1) for _ in range(rng.randrange(5))]
    return {rng.choice(LETTERS): some_value(rng, depth + 1) for _ in range(rng.randrange(5))}


def record_pair(rng):
    before = {name: some_value(rng) for name in LETTERS[: rng.randrange(1, 16)]}
    now = dict(before)
    for name in rng.sample(LETTERS, rng.randrange(6)):
        if now.pop(name, None) is None or rng.random() < 0.7:
            now[name] = some_value(rng)
    return tuple(json.dumps(each, indent=2, sort_keys=True) + "\n" for each in (before, now))


def ours(paths):
    command = [COMPARE, *(path for pair in paths for path in pair)]
    data = subprocess.run(command, capture_output=True, timeout=300, check=True).stdout
    at = 0
    while at < len(data):
        end = data.index(b"\n", at)
        size, at = int(data[at:end]), end + 1
        yield data[at : at + size]
        at += size


def theirs(pair, *options):
    labels = [word for path in pair for word in ("--label", path)]
    done = subprocess.run(["diff", "-u", *options, *labels, *pair], capture_output=True, timeout=60)
    assert done.returncode < 2, done.stderr
    return done.stdout


def changes(text):
    return sum(line[:1] in (b"+", b"-") for line in text.splitlines())


@pytest.mark.parametrize("make, least_alike", [(text_pair, 0.9), (record_pair, 0.99)])
def test_it_is_what_diff_says(tmp_path, make, least_alike):
    """Where two ways are equally short, diff may take another; it never finds a shorter one."""
    rng = random.Random(SEED)
    paths = []
    for number in range(COUNT):
        paths.append([str(tmp_path / f"{number}{side}") for side in "ab"])
        for path, text in zip(paths[-1], make(rng)):
            pathlib.Path(path).write_text(text, "utf-8")
    alike = 0
    for pair, got in zip(paths, ours(paths), strict=True):
        want = theirs(pair)
        alike += got == want
        if got != want:
            shortest = theirs(pair, "--minimal")
            assert changes(got) == changes(shortest), f"seed {SEED}: {pathlib.Path(pair[0]).name}"
    assert alike >= COUNT * least_alike, f"seed {SEED}: {alike} of {COUNT}"
