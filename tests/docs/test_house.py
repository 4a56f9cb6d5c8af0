"""The rules of docs/architecture.md: which room may include which, and what headers promise."""

import re
import shutil
import subprocess

import pytest

from harness import places

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

# The rooms. A file directly in core/ that is named in none of the first three is of the tree.
GROUND = {"arena", "buf", "clock", "dict", "digest", "error", "json", "json_parse", "json_tape",
          "json_text", "log", "loop", "span", "utf8"}  # fmt: skip
DATA = {"cache", "format", "item", "name", "read", "record", "source", "typed", "value", "version",
        "when"}  # fmt: skip
MAP = {"map", "map_paths", "map_read", "map_tables", "pattern", "route", "settle"}

# Who may include whom, besides its own room.
ALLOWED = {
    "ground": set(),
    "data": {"ground"},
    "map": {"data", "ground"},
    "tree": {"map", "data", "ground"},
    "net": {"ground"},
    "aws": {"ground"},
    "dynamo": {"net", "aws", "data", "ground"},
    "sources": {"dynamo", "net", "aws", "tree", "map", "data", "ground"},
    "fs": {"sources", "tree", "map", "data", "ground"},
}

# Where each library's headers may stand.
THIRD_PARTY = {
    "curl/": {"core/net/http.c", "tests/bench/mount/peer.h"},
    "fuse": {"fs/mount.h"},
    "openssl/": {"core/digest.c"},
    "zlib.h": {"core/net/gzip.c", "tests/unit/test_gzip.c", "tests/unit/test_answer.c"},
    "cjson/": {"tests/bench/json_bench.c"},
    "sqlite3": set(),
}


def name_of(path):
    return path.relative_to(REPO).as_posix()


def room_of(name):
    """The room of a file, by its path from the root: core/net/http.h is of net."""
    folder, _, file = name.rpartition("/")
    stem = file.rsplit(".", 1)[0]
    rooms = {"core/net": "net", "core/aws": "aws", "core/source": "sources",
             "core/source/dynamo": "dynamo", "fs": "fs"}  # fmt: skip
    if folder in rooms:
        return rooms[folder]
    assert folder == "core", f"{name} is in no room; give docs/architecture.md and this test one"
    for room, stems in (("ground", GROUND), ("data", DATA), ("map", MAP)):
        if stem in stems:
            return room
    return "tree"


def own_includes(path):
    return re.findall(r'^\s*#\s*include\s+"([^"]+)"', path.read_text(), re.M)


def system_includes(path):
    return re.findall(r"^\s*#\s*include\s+<([^>]+)>", path.read_text(), re.M)


def violations(name, included):
    """Those of INCLUDED that a file called NAME may not include."""
    room = room_of(name)
    return [other for other in included if room_of(other) not in ALLOWED[room] | {room}]


@pytest.mark.parametrize("path", PRODUCT, ids=name_of)
def test_includes_keep_to_the_rooms(path):
    assert violations(name_of(path), own_includes(path)) == []


@pytest.mark.parametrize("path", PRODUCT, ids=name_of)
def test_includes_name_the_whole_path(path):
    assert [other for other in own_includes(path) if not (REPO / other).is_file()] == []


@pytest.mark.parametrize(
    "name, included",
    [
        ("core/loop.c", "core/value.h"),
        ("core/cache.c", "core/map.h"),
        ("core/route.c", "core/place.h"),
        ("core/fetch.c", "core/net/http.h"),
        ("core/fetch.c", "core/source/dynamo/dynamo.h"),
        ("core/place.c", "core/aws/session.h"),
        ("core/place.c", "fs/app.h"),
        ("core/source/dynamo/dynamo.c", "core/map.h"),
        ("core/aws/session.c", "core/net/transport.h"),
        ("fs/app.c", "core/net/http.h"),
        ("core/tree.h", "fs/mount.h"),
        ("fs/ops.c", "core/source/dynamo/dynamo.h"),
    ],
)
def test_rule_sees_a_violation(name, included):
    assert violations(name, [included]) == [included]


@pytest.mark.parametrize("room", ALLOWED)
def test_architecture_has_room(room):
    rows = re.findall(r"^\| (\w+) \| .* \| (.*) \|$", (REPO / "docs/architecture.md").read_text(), re.M)
    assert room in {name for name, _ in rows}


def files_of_the_mount():
    """What lives in fs/ for the mount alone: whoever includes the mount, and the mount itself."""
    texts = {path.stem: path.read_text() for path in REPO.glob("fs/*.h")}
    of_fuse = {"mount"}
    while True:
        marks = [f'#include "fs/{stem}.h"' for stem in of_fuse]
        grown = of_fuse | {stem for stem, text in texts.items() if any(m in text for m in marks)}
        if grown == of_fuse:
            return of_fuse
        of_fuse = grown


@pytest.mark.parametrize("stem", sorted(files_of_the_mount()))
def test_architecture_has_the_mount_s_file(stem):
    assert f"\n| `{stem}` | " in (REPO / "docs/architecture.md").read_text()


def test_the_mount_has_more_than_one_file():
    assert {"mount", "ops", "parked", "directory"} <= files_of_the_mount()


@pytest.mark.parametrize("stem", sorted(GROUND | DATA | MAP))
def test_room_has_the_file(stem):
    assert list((REPO / "core").glob(f"{stem}.[ch]"))


@pytest.mark.parametrize("path", [path for path in PRODUCT if name_of(path).startswith("core/")],
                         ids=name_of)  # fmt: skip
def test_core_knows_no_fuse(path):
    assert not [header for header in system_includes(path) if "fuse" in header]


@pytest.mark.parametrize("library", THIRD_PARTY)
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


@pytest.mark.parametrize("path", HEADERS, ids=name_of)
def test_header_compiles_alone(path, tmp_path):
    source = tmp_path / "alone.c"
    source.write_text(f'#include "{name_of(path)}"\n#include "{name_of(path)}"\n')
    done = subprocess.run(
        ["gcc", "-std=c17", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
         f"-I{REPO}", *(fuse_flags() if name_of(path).startswith("fs/") else []), source],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", HEADERS, ids=name_of)
def test_header_has_the_guard_of_its_path(path):
    guard = "DDBFS_" + re.sub(r"[^A-Z0-9]", "_", name_of(path).upper())
    assert re.search(rf"^#ifndef {guard}\n#define {guard}$", path.read_text(), re.M)


@pytest.mark.parametrize("path", [path for path in SOURCES if path.with_suffix(".h").exists()],
                         ids=name_of)  # fmt: skip
def test_source_includes_its_own_header_first(path):
    first = re.search(r'^#include [<"]([^>"]+)', path.read_text(), re.M)
    assert first and first[1] == name_of(path.with_suffix(".h"))


def without_comments(text):
    text = re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', text)
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)


@pytest.mark.parametrize("path", [path for path in SOURCES if name_of(path).startswith("core/")],
                         ids=name_of)  # fmt: skip
def test_core_neither_exits_nor_sleeps(path):
    calls = r"\b(_?exit|_Exit|quick_exit|abort|assert|err|errx|sleep|usleep|nanosleep)\s*\("
    assert re.findall(calls, without_comments(path.read_text())) == []


@pytest.mark.parametrize("path", PRODUCT, ids=name_of)
def test_no_wall_clock_outside_its_file(path):
    calls = r"\b(time|gettimeofday|clock_gettime)\s*\("
    found = re.findall(calls, without_comments(path.read_text()))
    assert found == [] or name_of(path) == "core/clock.c"


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
