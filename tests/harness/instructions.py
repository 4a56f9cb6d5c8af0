#!/usr/bin/python3
"""The instructions of three hot paths of a mount, by callgrind on the daemon: each is the difference of two mounts, of
which one does the work and the other does not, divided by its count. They repeat to less than a hundredth.

    tests/harness/instructions.py             prints the figures beside the recorded ones
    tests/harness/instructions.py --record    records them, when a change of them is intended
    tests/harness/instructions.py PROGRAM     of that program; else a release build
"""

import argparse
import ctypes
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = not sys.pycache_prefix
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from bench import jobs  # noqa: E402
from harness import mounts, places, runner, servers  # noqa: E402

RECORDED = places.REPO / "tests/harness/instructions.json"
MAP = places.REPO / "tests/bench/bench.map.json"
MS_REMOUNT, MS_OF_FUSE = 32, 1 | 2 | 4  # ro, nosuid, nodev
COLD, PAGES, TURNS = 200, 7, 3
PATIENCE_S = 120
SHOPS = ("few", "some", "many")
LIBC = ctypes.CDLL(None, use_errno=True)


def forget_names(root):
    """The kernel drops its names of this mount only, and requests them again."""
    if LIBC.mount(None, os.fsencode(root), None, MS_REMOUNT | MS_OF_FUSE, None) != 0:
        raise OSError(ctypes.get_errno(), "remount")


def path(root, shop, *names):
    return root.joinpath("prod", "jobs", "all", shop, *names)


def read_cold(root, numbers):
    for number in numbers:
        path(root, "many", jobs.name(number)).read_bytes()


def common(root):
    """What all mounts do, so that only the work differs."""
    read_cold(root, range(2))
    assert len(os.listdir(path(root, "few"))) == jobs.SHOPS["few"]


def cold_cat(root):
    read_cold(root, range(2, 2 + COLD))


def listing_page(root):
    assert len(os.listdir(path(root, "some"))) == jobs.SHOPS["some"]


def warm_lookup(root):
    for _ in range(TURNS):
        forget_names(root)
        for number in range(jobs.SHOPS["few"]):
            os.stat(path(root, "few", jobs.name(number)))


# What one unit of the work is, how many units there are, the requests to the service that it causes.
PATHS = {
    "cold cat": (cold_cat, COLD, {"GetItem": COLD}),
    "page of a listing": (listing_page, PAGES, {"Query": PAGES}),
    "warm lookup from a listing": (warm_lookup, TURNS * jobs.SHOPS["few"], {}),
}


def instructions(program, environment, work):
    """Of a mount that did the common work and WORK."""
    with tempfile.TemporaryDirectory() as scratch:
        root = pathlib.Path(scratch, "mnt")
        root.mkdir()
        tool = ["valgrind", "--tool=callgrind", f"--log-file={scratch}/log", f"--callgrind-out-file={scratch}/out"]
        # Nothing is requested twice, and no response is late because valgrind is slow.
        words = ["mount", "-f", "--hedge", "no", "--parallel", "no", "--timeout", "60", "--map", MAP, root]
        daemon = subprocess.Popen([*tool, program, *words], env=environment, stdin=subprocess.DEVNULL,
                                  preexec_fn=servers.die_with_parent)  # fmt: skip
        try:
            ended = lambda: daemon.poll() is not None  # noqa: E731
            mounts.wait_until(lambda: ended() or mounts.is_mounted(root), "the mount", PATIENCE_S)
            assert not ended(), "no mount under valgrind"
            common(root)
            work(root)
        finally:
            daemon.send_signal(signal.SIGTERM)
            daemon.wait(PATIENCE_S)
        return int(re.search(r"Collected : (\d+)", pathlib.Path(scratch, "log").read_text("utf-8"))[1])


def difference(after, before):
    return {op: count - before[op] for op, count in after.items() if op[0].isupper() and count != before[op]}


def measure(program):
    """{path: instructions of one unit}."""
    with tempfile.TemporaryDirectory() as scratch:
        with servers.running("zero", shops=[f"{shop}={jobs.SHOPS[shop]}" for shop in SHOPS]) as server:
            environment = runner.Home(pathlib.Path(scratch, "home"), server.url).environment()
            start = server.counts()
            idle = instructions(program, environment, lambda root: None)
            common_requests = difference(server.counts(), start)
            found = {}
            for name, (work, count, requests) in PATHS.items():
                before = server.counts()
                whole = instructions(program, environment, work)
                sent = difference(server.counts(), before)
                expected = {op: common_requests.get(op, 0) + requests.get(op, 0) for op in {*common_requests, *requests}}
                assert sent == expected, f"{name}: {sent}, expected {expected}"
                found[name] = round((whole - idle) / count)
            return found


def system():
    """All that changes the instructions beside the tree: the compiler, the libraries, the processor's kind."""
    versions = []
    for command in (["gcc", "-dumpfullversion"], ["pkg-config", "--modversion", "libcurl", "libcrypto", "fuse3", "zlib"],
                    ["getconf", "GNU_LIBC_VERSION"]):  # fmt: skip
        versions += subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    flags = re.search(r"^flags\s*:(.*)$", pathlib.Path("/proc/cpuinfo").read_text("ascii"), re.M)
    return " ".join([*versions, *(flag for flag in ("avx2", "avx512f", "sha_ni") if flags and flag in flags[1].split())])


def recorded():
    return json.loads(RECORDED.read_text("utf-8"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("program", nargs="?", type=pathlib.Path)
    given = parser.parse_args()
    mounts.leave_name_space()
    program = given.program or places.program("DDBFS_RELEASE", "build-release/fs/ddbfs", "build/fs/ddbfs")
    found = measure(program.resolve())
    before = recorded()["instructions"] if RECORDED.exists() else {}
    for name, count in found.items():
        change = f"{100 * count / before[name] - 100:+.1f} %" if name in before else ""
        print(f"{name:30}{count:>12,}  recorded {before.get(name, 0):>12,}  {change}")
    if given.record:
        RECORDED.write_text(json.dumps({"system": system(), "instructions": found}, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
