"""Plain English in comments, messages and documents, and names that documents take from the code."""

import re

from docs import plain_words
from harness import places

REPO = places.REPO


def test_prose_is_plain():
    found = []
    for path in plain_words.project_files():
        name = path.relative_to(REPO).as_posix()
        allowed = [phrase for file, phrase in plain_words.EXCEPTIONS if file == name]
        found += [
            f"{name}:{line}: {word}: {around}"
            for line, word, around in plain_words.findings(path, allowed)
        ]
    assert found == []


def test_each_exception_is_needed():
    for file, phrase in plain_words.EXCEPTIONS:
        assert list(plain_words.findings(REPO / file)), file
        assert phrase in re.sub(r"\s+", " ", (REPO / file).read_text()), (file, phrase)


def test_words_are_found(tmp_path):
    code = tmp_path / "code.c"
    code.write_text('/* Who asks is told. */\nint told = 1; // so long\nputs("nobody " \n     "stands");\n')
    found = [(line, word) for line, word, _ in plain_words.findings(code)]
    assert sorted(found) == [(1, "a question as the subject"), (1, "ask"), (1, "tell"), (2, "so many, of which"),
                             (3, "nobody"), (4, "stand")]  # fmt: skip
    page = tmp_path / "page.md"
    page.write_text("Call `tell` here. What does it read?\n\n```\nwho asks\n```\nHe reads.\n")
    assert [(line, word) for line, word, _ in plain_words.findings(page)] == [(6, "he")]


def test_names_of_the_code_exist():
    """Functions, types and constants that architecture.md and the internals pages name."""
    files = [*REPO.glob("core/**/*.[ch]"), *REPO.glob("fs/**/*.[ch]"), *REPO.glob("tests/**/*.*"),
             *REPO.glob("docs/*.json"), *REPO.glob("docs/*.md")]  # fmt: skip
    code = set()
    for path in files:
        if path.is_file() and path.suffix in (".c", ".h", ".py", ".json", ".md"):
            if path.parent == REPO / "docs" and path.name == "architecture.md":
                continue
            code |= set(re.findall(r"\w+", path.read_text(errors="replace")))
            code.add(path.stem)
    unknown = []
    for page in [REPO / "docs/architecture.md", *REPO.glob("docs/internals/*.md"), *REPO.glob("docs/adr/*.md")]:
        text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.S | re.M)
        for quoted in re.findall(r"`([^`\n]+)`", text):
            for name in re.findall(r"\b[a-z]+_[a-z_0-9]+\b|\b[A-Z]+_[A-Z_]+\b", quoted):
                if name not in code and not name.startswith("FUSE_") and page.parent.name != "adr":
                    unknown.append(f"{page.name}: {name}")
            for module in re.findall(r"\b(?:core|fs)/[\w/]+(?:\.[ch])?", quoted):
                if "NAME" in module or "/fs/" in quoted:
                    continue
                path = REPO / module
                if not (path.exists() or path.with_suffix(".c").exists() or path.with_suffix(".h").exists()):
                    unknown.append(f"{page.name}: {module}")
    assert unknown == []
