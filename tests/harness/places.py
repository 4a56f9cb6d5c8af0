"""Where things lie: the tree, the build folders, the cache, the programs under test."""

import os
import pathlib
import time

REPO = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = REPO / "docs" / "examples"
DEFAULT_MAP = EXAMPLES / "ecommerce.map.json"
CACHE = pathlib.Path(os.environ.get("DDBFS_CACHE") or REPO / "build" / "cache")


def wait_for_release(deadline_s=600):
    """A run builds build-release while the first tests run."""
    done, end = os.environ.get("DDBFS_RELEASE_DONE"), time.monotonic() + deadline_s
    while done and not os.path.exists(done):
        assert time.monotonic() < end, "the release build takes too long"
        time.sleep(0.05)


def program(variable, *candidates):
    """The program an environment variable names, else the first candidate below REPO there is."""
    named = os.environ.get(variable)
    if named:
        return pathlib.Path(named).resolve()
    for candidate in candidates:
        if (REPO / candidate).exists():
            return REPO / candidate
    raise FileNotFoundError(f"{variable} names no program, and there is none of {candidates}")
