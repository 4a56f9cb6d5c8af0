#!/usr/bin/python3
"""Runs clang-tidy over the C files of core/ and fs/, and remembers the clean ones.

    python3 tests/tidy.py [--all] [--most N] BUILD

BUILD is a build folder of clang. A file is checked again when its own text, a header that it includes,
its compiler command, .clang-tidy or clang-tidy itself changes. Without --all, at most N files are checked,
the most recently committed first, and the others are counted.
"""

import argparse
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

REPO = pathlib.Path(__file__).resolve().parents[1]
SOURCES = re.compile(r"(core|fs)/.*\.c$")


def cache_folder():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(base) / "ddbfs-tests" / "tidy"


@functools.lru_cache(maxsize=None)
def digest_of(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def output_of(*command):
    return subprocess.run(command, cwd=REPO, check=True, capture_output=True, text=True).stdout


def dependencies_of(build):
    """{object: [path, …]}: every file that the compiler read, as ninja recorded it."""
    found, current = {}, None
    for line in output_of("ninja", "-C", str(build), "-t", "deps").splitlines():
        if line.startswith("    "):
            current.append((build / line.strip()).resolve())
        elif ": #deps" in line:
            current = found.setdefault(line.split(":")[0], [])
    return found


def keys_of(build):
    """{source: key}. Two runs with the same key have the same findings."""
    dependencies = dependencies_of(build)
    common = digest_of(REPO / ".clang-tidy") + output_of("clang-tidy", "--version")
    keys = {}
    for entry in json.loads((build / "compile_commands.json").read_text("utf-8")):
        name = os.path.relpath((build / entry["file"]).resolve(), REPO)
        read = dependencies.get(entry["output"])
        if SOURCES.fullmatch(name) and read is not None:
            parts = [common, entry["command"], *sorted(digest_of(each) for each in read)]
            keys[name] = hashlib.sha256("\n".join(parts).encode()).hexdigest()
    return keys


def newest_first(names):
    """Files with changes that are not committed, then by the last commit that changed them."""
    changed = output_of("git", "status", "--porcelain", "--no-renames").splitlines()
    order = [line[3:] for line in changed]
    order += output_of("git", "log", "-200", "--format=", "--name-only", "--", "core", "fs").splitlines()
    rank = {name: at for at, name in reversed(list(enumerate(order)))}
    return sorted(names, key=lambda name: (rank.get(name, len(order)), name))


def check(build, name):
    """One file per call: version 14 reports the va_list of each further file as uninitialized."""
    command = ["clang-tidy", "-quiet", "-p", str(build), name]
    done = subprocess.run(command, cwd=REPO, capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if re.search(r"(error|warning): ", line)]
    if done.returncode and not lines:
        lines = [f"{name}: clang-tidy ended with status {done.returncode}: {done.stderr.strip()[-500:]}"]
    return name, lines


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--most", type=int, default=4)
    parser.add_argument("build", type=pathlib.Path)
    given = parser.parse_args()
    build, cache = given.build.resolve(), cache_folder()
    cache.mkdir(parents=True, exist_ok=True)
    keys = keys_of(build)
    if not keys:
        sys.exit(f"tidy: {given.build} has no compiled file of core/ or fs/; build it first")
    unknown = newest_first(name for name, key in keys.items() if given.all or not (cache / key).exists())
    checked = unknown if given.all else unknown[: given.most]
    findings = set()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, lines in pool.map(functools.partial(check, build), checked):
            findings.update(lines)
            if not lines:
                (cache / keys[name]).touch()
    print("\n".join(sorted(findings)))
    print(f"{len(keys)} files: {len(checked)} checked, {len(keys) - len(unknown)} unchanged since they were clean, "
          f"{len(unknown) - len(checked)} not checked (--all checks them)")  # fmt: skip
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
