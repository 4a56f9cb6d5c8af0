"""The data of the benchmarks: jobs of about a kilobyte, which tests/bench/peers/zero_items.c writes."""

import json
import subprocess

from harness import load, places

SHOPS = {"few": 1000, "some": 10_000, "many": 100_000, "most": 300_000}
TABLE = "prod-BenchJobs"
SECONDS_A_DAY = 86_400


def created(number):
    day, second = divmod(number * 2, SECONDS_A_DAY)
    hours, rest = divmod(second, 3600)
    return f"2026-04-{day + 1:02d}T{hours:02d}:{rest // 60:02d}:{rest % 60:02d}.000Z"


def name(number):
    """The job's name in the mount: its sort key without "JOB#"."""
    return f"{created(number)}#{number:08x}-0000-4000-8000-{number:012x}"


def keys(shop, numbers):
    """A "PK SK" line for each, as the peers read them."""
    return "".join(f"SHOP#{shop} JOB#{name(number)}\n" for number in numbers)


def printed(zero_server, what):
    command = [str(zero_server), "--print", what, f"some={SHOPS['some']}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def database(zero_server):
    """The shop "some" as a database of dynoxide, from the cache; to be copied, since serving writes to it."""
    folder = places.CACHE / "bench-jobs-10000-2"
    folder.mkdir(parents=True, exist_ok=True)
    with load.packages.locked(folder):
        if not (folder / "done").exists():
            items = (json.loads(line)["Item"] for line in printed(zero_server, "items").splitlines())
            load.dynoxide_database(folder, json.loads(printed(zero_server, "table")), items)
            (folder / "done").touch()
    return folder / "big.db"
