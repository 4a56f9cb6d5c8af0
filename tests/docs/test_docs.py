"""The documents: they lint, and their links resolve."""

import re
import shutil
import subprocess

import pytest

from harness import places
from harness.rows import rows

REPO = places.REPO
MARKDOWN = sorted([*REPO.glob("*.md"), *REPO.glob("docs/**/*.md")])
ADRS = sorted(REPO.glob("docs/adr/*.md"))
MANUAL = REPO / "docs/ddbfs.1"
OPTIONS = REPO / "fs/cli/option_table.c"


def name_of(path):
    return str(path.relative_to(REPO))


def without_code(text):
    return re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)


def anchors_of(path):
    heads = re.findall(r"^#+ (.*)$", without_code(path.read_text()), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def test_manual_lints():
    if not shutil.which("mandoc"):
        pytest.skip("mandoc is not installed")
    done = subprocess.run(["mandoc", "-Tlint", MANUAL], capture_output=True, text=True)
    # What pages this machine has is not the manual's business.
    mine = lambda line: "mandoc.db" not in line and "referenced manual not found" not in line
    findings = [line for line in done.stdout.splitlines() if mine(line)]
    assert findings == []


def option_rows():
    """Letter and long name of each row of fs/cli/option_table.c; "" where it has none."""
    table = re.search(r"option option_table\[\] = \{(.*?)\n\};", (REPO / "fs/cli/option_table.c").read_text(), re.S)[1]
    rows = re.findall(r"\{(\.(?:letter|name) = .*?\.help =\s)", table, re.S)
    letters = [re.search(r"\.letter = '(\w)'", row) for row in rows]
    names = [re.search(r'\.name = "([\w-]+)"', row) for row in rows]
    return [(a[1] if a else "", b[1] if b else "") for a, b in zip(letters, names)]


def test_option_table_is_found():
    assert ("v", "verbose") in option_rows() and ("", "map") in option_rows()


@rows("letter, name", option_rows(), ids=lambda part: part or "-")
def test_manual_has_option(letter, name):
    marks = ([f"Fl {letter}"] if letter else []) + ([f"Fl Fl {name}"] if name else [])
    heads = re.findall(r"^\.It (Fl .*)$", MANUAL.read_text(), re.M)
    assert [head for head in heads if all(re.search(rf"{mark}\b", head) for mark in marks)]


def test_manual_has_no_other_option():
    known = {letter for letter, _ in option_rows()} | {name for _, name in option_rows()}
    said = set(re.findall(r"Fl (?:Fl )?([a-z][a-z-]*)", MANUAL.read_text()))
    assert said <= known


def test_manual_has_every_command():
    table = re.search(r"commands\[\] = \{(.*?)\n\};", (REPO / "fs/cli/main.c").read_text(), re.S)[1]
    commands = set(re.findall(r"\{\"([a-z]+)\",", table))
    assert commands and commands <= set(re.findall(r"^\.It Cm ([a-z]+)", MANUAL.read_text(), re.M))


def test_manual_has_every_variable():
    """All that the code asks the environment for."""
    sources = [*REPO.glob("core/**/*.c"), *REPO.glob("fs/**/*.c")]
    asked = set()
    for source in sources:
        asked |= set(re.findall(r'"((?:AWS|DDBFS|XDG)_[A-Z_]+)"', source.read_text()))
    assert asked and {name for name in asked if name not in MANUAL.read_text()} == set()


def messages_of_the_mount():
    """What `mount`, `refresh` and `log` print before there is a mount: of each the longest piece of its
    own words, up to the cure."""
    sources = [*REPO.glob("fs/mount/*.c"), REPO / "fs/cli/refresh_command.c", REPO / "fs/cli/log_command.c"]
    text = re.sub(r'"\s*\n\s*"', "", "".join(path.read_text() for path in sources))
    printed = re.findall(r'(?:fprintf\(stderr,|report_error\((?:word|path|root|argv\[0\]),)\s*"([^"]*)"', text)
    said = [each.removeprefix("ddbfs: ").split("; ")[0] for each in printed]
    longest = {max(re.split(r"%\.?\*?[sd]|\\n", each), key=len).strip(": ") for each in said}
    return sorted(longest - {"", "-o", "out of memory"})


def test_messages_of_the_mount_are_found():
    assert {"there is no /dev/fuse", "is not a number"} <= set(messages_of_the_mount())


@rows("message", messages_of_the_mount())
def test_errors_page_has_the_message(message):
    text = (REPO / "docs/errors.md").read_text()
    assert message in text.partition("\n## The mount\n")[2].partition("\n## ")[0]


def test_errors_page_has_every_kind():
    """Word, errno and remedy of each kind, in the order of core/base/error.c."""
    table = re.search(r"\} kinds\[\] = \{(.*?)\n\};", (REPO / "core/base/error.c").read_text(), re.S)[1]
    of_code = [(word, number, fixer.lower()) for word, number, fixer in
               re.findall(r'\{"([\w-]+)", (E\w+), (\w+),', table)]  # fmt: skip
    of_page = re.findall(r"^\| `([\w-]+)` \| `(E\w+)` \| `(\w+)` \|", (REPO / "docs/errors.md").read_text(), re.M)
    assert of_code and of_page == of_code


def array_of(declaration, files="core/**/*.c"):
    """The first string of each row of a C array, wherever it is."""
    (text,) = [text for path in REPO.glob(files) if declaration in (text := path.read_text())]
    body = re.sub(r"/\*.*?\*/", "", text.partition(declaration)[2].partition("};")[0], flags=re.S)
    rows = re.findall(r'\{"([^"]+)"', body)
    return set(rows or re.findall(r'"([^"]+)"', body))


def test_semantics_lists_the_probed_names():
    text = (REPO / "docs/semantics.md").read_text().partition("**Probes.**")[2].partition("\n\n")[0]
    assert set(re.findall(r"`([^`]+)`", text)) - {"LIST@sqlite"} == array_of("probed_words[] = {", "core/name/names.c") | array_of(
        "probed_endings[] = {", "core/name/names.c"
    )


def test_semantics_lists_the_companions():
    text = (REPO / "docs/semantics.md").read_text().partition("\n## Companions\n")[2].partition("\n## ")[0]
    endings = lambda owner: {f"@{word}" for word in re.findall(rf"^\| `{owner}@(\w*)", text, re.M)}
    of_code = lambda name: {re.match(r"@\w*", row)[0] for row in array_of(f"companion_words {name}[] = {{")}
    assert endings("LIST") == of_code("of_listing") and endings("NAME") == of_code("of_record")


def test_mount_page_lists_the_control_files():
    text = (REPO / "docs/mount.md").read_text().partition("\n## `/.ddbfs`\n")[2].partition("\n## ")[0]
    listed = set(re.findall(r"^\| `([\w.]+)` \|", text, re.M))
    assert listed == array_of("control_names[] = {", "fs/mount/*.c") | {"mount.json"}


def links():
    for path in MARKDOWN:
        text = re.sub(r"`[^`\n]*`", "", without_code(path.read_text()))
        for target in re.findall(r"\]\(([^)]+)\)", text):
            yield path, target


@rows("path, target", links())
def test_link_resolves(path, target):
    if target.startswith("https://"):
        return
    file, _, anchor = target.partition("#")
    to = (path.parent / file).resolve() if file else path
    assert to.exists(), f"{target} is not there"
    if anchor:
        assert anchor in anchors_of(to)


@rows("adr", ADRS, ids=name_of)
def test_adr_is_short(adr):
    assert len(adr.read_text().splitlines()) <= 40


@rows("adr", ADRS, ids=name_of)
def test_adr_has_its_parts(adr):
    heads = re.findall(r"^#+ (.*)$", adr.read_text(), re.M)
    number = str(int(adr.name[:4]))
    assert heads[0].startswith(f"{number}. ")
    assert heads[1] == "Question" and "Choice" in heads and heads[-1] == "What would change it"


def test_no_two_adrs_have_one_number():
    numbers = [int(adr.name[:4]) for adr in ADRS]
    assert numbers == sorted(set(numbers)) and numbers[0] == 1


def readme_scripts():
    return sorted(set(re.findall(r"^sh (\S+)", (REPO / "README.md").read_text(), re.M)))


def test_readme_names_the_two_commands():
    assert readme_scripts() == ["docs/quickstart.sh", "tests/run.sh"]


@rows("script", readme_scripts())
def test_readme_script_is_there(script):
    assert (REPO / script).read_text().startswith("#!/bin/sh\n")
    subprocess.run(["sh", "-n", REPO / script], check=True)


def all_files():
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=REPO, capture_output=True,
    )  # fmt: skip
    names = listed.stdout.decode().split("\0") if listed.returncode == 0 else []
    return [REPO / name for name in names if name and (REPO / name).is_file()]


# Written in pieces, so that this file does not name them itself.
REGISTRIES = ["registry.npm" + "js", "npm" + "js.", "py" + "pi.", "python" + "hosted.", "crates" + ".io",
              "deb.deb" + "ian", "archive.ubu" + "ntu", "repo.maven" + ".", "yarn" + "pkg."]  # fmt: skip


def test_no_file_names_a_registry():
    if not all_files():
        pytest.skip("not a git tree")
    found = [
        (name_of(file), host)
        for file in all_files()
        for host in REGISTRIES
        if host.encode() in file.read_bytes()
    ]
    assert found == []
