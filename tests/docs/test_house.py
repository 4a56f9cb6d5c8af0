"""The rules of docs/architecture.md: which room may include which, and what headers promise."""

import functools
import re
import shutil
import subprocess

import pytest

from harness import places
from harness.rows import rows

REPO = places.REPO
PRODUCT = sorted(
    [*REPO.glob("core/**/*.[ch]"), *REPO.glob("fs/**/*.[ch]")], key=lambda path: path.as_posix()
)
HEADERS = [path for path in PRODUCT if path.suffix == ".h"]
SOURCES = [path for path in PRODUCT if path.suffix == ".c"]
BUILD_FOLDERS = ("build", ".git", ".cache")
ALL_C = [
    path
    for path in sorted(REPO.glob("*/**/*.[ch]"))
    if not path.relative_to(REPO).parts[0].startswith(BUILD_FOLDERS)
]

# The rooms are folders, each on its floor: a file may include its own room and those below. The other
# column has the way to the service, which the rooms of maps and paths do not see, and `core/` itself
# puts the parts together.
FLOORS = ["core/base", "core/json", "core/item", "core/condition", "core/output", "core/source",
          "core/stream", "core/map", "core/name", "core/plan", "core/check", "core/draft", "core/read",
          "core/describe", "core/sql"]  # fmt: skip
ALLOWED = {room: set(FLOORS[:floor]) for floor, room in enumerate(FLOORS)} | {
    "core/net": {"core/base"},
    "core/aws": {"core/net", "core/json", "core/base"},
    "core/dynamo": {"core/aws", "core/net", *FLOORS[: FLOORS.index("core/map")]},
    "core/snapshot": {*FLOORS[: FLOORS.index("core/map")]},
    "core/live": {"core/stream", *FLOORS[: FLOORS.index("core/stream")]},
    "core/import": {"core/snapshot", "core/aws", "core/net", *FLOORS[: FLOORS.index("core/map")]},
    "core/recording": {"core/snapshot", *FLOORS[: FLOORS.index("core/map")]},
    "core": {"core/dynamo", "core/live", "core/snapshot", "core/recording", "core/import", "core/aws", "core/net",
             *FLOORS},  # fmt: skip
    "fs/cli": {"core", "core/import", *FLOORS},
    "fs/cli/diff": {"fs/cli", "core", *FLOORS},
    "fs/mount": {"fs/cli", "core", *FLOORS},
}

# Where each library's headers may stand.
THIRD_PARTY = {
    "curl/": {"core/net/http.c", "core/net/failure.c", "tests/bench/peers/peer.h"},
    "fuse": {"fs/mount/mount.h"},
    "openssl/": {"core/base/crypto.c", "tests/sim/sim_sigv4.c"},
    "histedit.h": {"fs/cli/line_editor.c"},
    "zlib.h": {"core/net/gzip.c", "tests/unit/test_gzip.c", "tests/unit/test_answer.c", "tests/bench/peers/zero_items.c",
               "tests/sim/sim_service.c"},
    "cjson/": {"core/aws/document.c", "tests/bench/json_bench.c"},
    "sqlite3": {"core/base/database.c", "core/base/database_files.c", "core/sql/sql_connection.c", "core/sql/sql_module.c",
                "tests/worlds/world_reference.c", "tests/worlds/test_past_worlds.c"},
}


def name_of(path):
    return path.relative_to(REPO).as_posix()


def room_of(name):
    """The room of a file, by its path from the root: core/net/http.h is of core/net."""
    room = name.rpartition("/")[0]
    assert room in ALLOWED, f"{name} is in no room; give docs/architecture.md and this test one"
    return room


@functools.cache
def text_of(path):
    return path.read_text()


def own_includes(path):
    return re.findall(r'^\s*#\s*include\s+"([^"]+)"', text_of(path), re.M)


def system_includes(path):
    return re.findall(r"^\s*#\s*include\s+<([^>]+)>", text_of(path), re.M)


def violations(name, included):
    """Those of INCLUDED that a file called NAME may not include."""
    room = room_of(name)
    return [other for other in included if room_of(other) not in ALLOWED[room] | {room}]


@rows("path", PRODUCT, ids=name_of)
def test_includes_keep_to_the_rooms(path):
    assert violations(name_of(path), own_includes(path)) == []


@rows("path", PRODUCT, ids=name_of)
def test_includes_name_the_whole_path(path):
    assert [other for other in own_includes(path) if not (REPO / other).is_file()] == []


@rows(
    "name, included",
    [
        ("core/base/loop.c", "core/item/value.h"),
        ("core/item/record.c", "core/map/map.h"),
        ("core/map/route.c", "core/read/place.h"),
        ("core/output/csv_form.c", "core/source/read.h"),
        ("core/read/fetch.c", "core/net/http.h"),
        ("core/read/fetch.c", "core/dynamo/dynamo.h"),
        ("core/read/place.c", "core/aws/session.h"),
        ("core/read/place.c", "fs/cli/app.h"),
        ("core/dynamo/dynamo.c", "core/map/map.h"),
        ("core/net/http.c", "core/aws/session.h"),
        ("fs/cli/app.c", "core/net/http.h"),
        ("fs/cli/main.c", "fs/mount/mount.h"),
        ("core/read/tree.h", "fs/mount/mount.h"),
        ("fs/mount/ops.c", "core/dynamo/dynamo.h"),
    ],
)
def test_rule_sees_a_violation(name, included):
    assert violations(name, [included]) == [included]


@rows("room", ALLOWED)
def test_architecture_has_room(room):
    rows = re.findall(r"^\| `([\w/]+)/` \| ", (REPO / "docs/architecture.md").read_text(), re.M)
    assert room in rows


def cycle_from(start, includes):
    """A way of includes from a header back to itself, or nothing."""
    ways = [[start]]
    seen = set()
    while ways:
        way = ways.pop()
        for other in includes.get(way[-1], []):
            if other == start:
                return [*way, other]
            if other not in seen:
                seen.add(other)
                ways.append([*way, other])
    return []


def modules(paths):
    """What each pair of files (core/map/route) includes, by the pairs' names."""
    found = {}
    for path in paths:
        own = name_of(path).rsplit(".", 1)[0]
        others = {other.rsplit(".", 1)[0] for other in own_includes(path)} - {own}
        found.setdefault(own, set()).update(others)
    return found


def test_a_cycle_is_seen():
    assert cycle_from("a", {"a": {"b"}, "b": {"c"}, "c": {"a"}}) == ["a", "b", "c", "a"]
    assert cycle_from("a", {"a": {"b"}, "b": {"c"}, "c": {"b"}}) == []


def test_no_two_files_include_each_other_in_a_circle():
    includes = modules(PRODUCT)
    assert [way for way in (cycle_from(module, includes) for module in includes) if way] == []


@rows("path", [path for path in PRODUCT if name_of(path).startswith("core/")],
                         ids=name_of)  # fmt: skip
def test_core_knows_no_fuse(path):
    assert not [header for header in system_includes(path) if "fuse" in header]


@rows("library", THIRD_PARTY)
def test_library_stands_in_its_file_alone(library):
    found = {
        name_of(path)
        for path in ALL_C
        if any(header.startswith(library) for header in system_includes(path))
    }
    assert found <= THIRD_PARTY[library]


def fuse_flags():
    """Where libfuse's headers are; nothing where pkg-config or the library is missing."""
    command = ["pkg-config", "--cflags", "fuse3"]
    return subprocess.run(command, capture_output=True, text=True).stdout.split()


@rows("room", ALLOWED)
def test_header_compiles_alone(room, tmp_path):
    """The compiler reads a file for each header, one after the other, and reports all errors."""
    sources = []
    for name in [name_of(path) for path in HEADERS if room_of(name_of(path)) == room]:
        sources.append(tmp_path / f"{name.replace('/', '.')}.c")
        sources[-1].write_text(f'#include "{name}"\n#include "{name}"\n')
    done = subprocess.run(
        ["gcc", "-std=c17", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
         f"-I{REPO}", *(fuse_flags() if room.startswith("fs/") else []), *sources],
        capture_output=True, text=True,
    )  # fmt: skip
    assert sources and done.returncode == 0, done.stderr


@rows("path", HEADERS, ids=name_of)
def test_header_has_the_guard_of_its_path(path):
    guard = "DDBFS_" + re.sub(r"[^A-Z0-9]", "_", name_of(path).upper())
    assert re.search(rf"^#ifndef {guard}\n#define {guard}$", text_of(path), re.M)


@rows("path", [path for path in SOURCES if path.with_suffix(".h").exists()],
                         ids=name_of)  # fmt: skip
def test_source_includes_its_own_header_first(path):
    first = re.search(r'^#include [<"]([^>"]+)', text_of(path), re.M)
    assert first and first[1] == name_of(path.with_suffix(".h"))


FUNCTION = re.compile(
    r"^((?:static )?(?:inline )?[A-Za-z_][\w *]*?[ *])(\w+)\([^;{}]*\)\s*\n\{", re.M
)
TAG = re.compile(r"^(?:typedef )?((?:struct|enum|union) \w+) \{", re.M)


def several(found):
    """Names of FOUND, pairs of a name and a file, that more than one file has."""
    files = {}
    for name, file in found:
        files.setdefault(name, set()).add(file)
    return {name: sorted(where) for name, where in files.items() if len(where) > 1}


@pytest.mark.parametrize("room, least_functions, least_tags", [("product", 2000, 300), ("simulator", 800, 60)])
def test_names_are_unique(room, least_functions, least_tags):
    """File names, static functions, and tags of structs, enums and unions."""
    paths = PRODUCT if room == "product" else [*REPO.glob("tests/sim/*.[ch]")]
    code = {name_of(path): without_comments(text_of(path)) for path in paths}
    functions = [
        (match[2], name)
        for name, text in code.items()
        for match in FUNCTION.finditer(text)
        if match[1].startswith("static ")
    ]
    tags = [(match[1], name) for name, text in code.items() for match in TAG.finditer(text)]
    assert len(functions) > least_functions and len(tags) > least_tags
    assert several((name.rpartition("/")[2], name) for name in code) == {}
    assert several(functions) == {}
    assert several(tags) == {}


@functools.cache
def without_comments(text):
    text = re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', text)
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)


@rows("path", [path for path in SOURCES if name_of(path).startswith("core/")],
                         ids=name_of)  # fmt: skip
def test_core_neither_exits_nor_sleeps(path):
    calls = r"\b(_?exit|_Exit|quick_exit|abort|assert|err|errx|sleep|usleep|nanosleep)\s*\("
    in_a_child = ["_exit"] * 2 if name_of(path) == "core/base/child.c" else []
    assert re.findall(calls, without_comments(text_of(path))) == in_a_child


@rows("path", PRODUCT, ids=name_of)
def test_no_wall_clock_outside_its_file(path):
    calls = r"\b(time|gettimeofday|clock_gettime)\s*\("
    found = re.findall(calls, without_comments(text_of(path)))
    assert found == [] or name_of(path) == "core/base/clock.c"


def test_clang_format_is_content():
    if not shutil.which("clang-format"):
        pytest.skip("clang-format is not installed")
    version = subprocess.run(["clang-format", "--version"], capture_output=True, text=True).stdout
    if "version 14." not in version:
        pytest.skip(f"the layout is that of version 14, this is {version.strip()}")
    done = subprocess.run(
        ["clang-format", "--dry-run", "-Werror", *ALL_C], cwd=REPO, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[:4000]


def shell_scripts():
    """The first line tells; what is sourced says so to shellcheck instead."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=REPO,
                            capture_output=True, text=True).stdout.splitlines()  # fmt: skip
    first = {name: (REPO / name).read_bytes()[:40] for name in listed if (REPO / name).is_file()}
    marks = (b"#!/bin/sh", b"#!/bin/bash", b"# shellcheck shell=")
    return sorted(name for name, text in first.items() if text.startswith(marks))


def test_shellcheck_finds_nothing():
    if not shutil.which("shellcheck"):
        pytest.skip("shellcheck is not installed")
    if not shell_scripts():
        pytest.skip("not a git tree")
    done = subprocess.run(["shellcheck", "-x", *shell_scripts()], cwd=REPO, capture_output=True,
                          text=True)  # fmt: skip
    assert done.returncode == 0, done.stdout
