#!/usr/bin/env python3
"""Words that plain English does without, in comments and messages of C files and in documents.

usage: plain_words.py [FILE...]     prints each with its place; without files, those of the whole project

Code in documents (`between backquotes`, fenced or indented) is not prose and is left out, as are
string literals of one word.
"""

import pathlib
import re
import sys

REPO = pathlib.Path(__file__).resolve().parents[2]
WORDS = {
    "a question as the subject": r"(?:(?<=[.:;] )|^\s*)(?:What|Who) (?!if\b)|\bwhoever\b|\bwhom\b"
    r"|\bwhat (?:is|was|comes|came|stands|it has|there is)\b",
    "tell": r"\b(?:told|tells?|telling)\b",
    "ask": r"\b(?:asks?|asked)\b",
    "stand": r"\bstands?\b",
    "nobody": r"\b(?:nobody|somebody|anybody)\b",
    "none": r"\b(?:is|are|was|has|have) none\b",
    "he": r"\b(?:[Hh]e|him|[Hh]is|himself)\b",
    "so many, of which": r"\b[Ss]o (?:many|much|long|often)\b|\bof (?:which|whom)\b",
    "read unit": r"\bread units?\b",
}
# A file and a phrase of it that may stay, because it is a name, a quotation, or the subject itself.
EXCEPTIONS = []


PROSE_OF_C = re.compile(
    r"""/\*(.*?)\*/|//([^\n]*)|((?:"(?:\\.|[^"\\\n])*"\s*)+)|'(?:\\.|[^'\\])+'""", re.S
)


def blank(match):
    """As many lines, and no words."""
    return "\n" * match[0].count("\n")


def prose_of_c(text):
    """Comments and string literals, each where it is in the file."""
    for match in PROSE_OF_C.finditer(text):
        if match[3] and " " in match[3]:
            yield match.start(3), re.sub(r'"\s*\n\s*"', lambda gap: "\n" * gap[0].count("\n"), match[3])
        elif match[1] or match[2]:
            group = 1 if match[1] else 2
            yield match.start(group), re.sub(r"\n\s*\* ?", "\n", match[group])


def prose_of_document(text):
    text = re.sub(r"^```.*?^```", blank, text, flags=re.S | re.M)
    text = re.sub(r"^\.Bd.*?^\.Ed", blank, text, flags=re.S | re.M)
    text = re.sub(r"`[^`\n]*`", "``", text)
    yield 0, re.sub(r"^(?:    .*|\.(?:Dl|Nm|It|Xr|Fl|Ar|Pa|Cm|Ic|Sh|Ss)\b.*)$", "", text, flags=re.M)


def is_question(text, start):
    """Whether the sentence that goes on at START ends in a question mark."""
    end = re.search(r"[.?!](?= |$)", text[start:])
    return bool(end) and end[0] == "?"


def findings(path, exceptions=()):
    """(line, word, the text around it) for each word in the prose of a file."""
    text = path.read_text()
    for start, prose in (prose_of_c if path.suffix in (".c", ".h") else prose_of_document)(text):
        for phrase in exceptions:
            prose = prose.replace(phrase, "")
        flat = re.sub(r"\s", " ", prose)
        for name, pattern in WORDS.items():
            for match in re.finditer(pattern, flat):
                if match[0].strip() in ("What", "Who") and is_question(flat, match.end()):
                    continue
                line = text.count("\n", 0, start) + prose.count("\n", 0, match.start()) + 1
                yield line, name, flat[max(0, match.start() - 30) : match.end() + 30].strip()


def project_files():
    code = [*REPO.glob("core/**/*.[ch]"), *REPO.glob("fs/**/*.[ch]")]
    documents = [*REPO.glob("docs/**/*.md"), *REPO.glob("docs/*.1"), REPO / "README.md", REPO / "CHANGELOG.md"]
    return sorted([*code, *documents])


def main():
    paths = [pathlib.Path(word).resolve() for word in sys.argv[1:]] or project_files()
    count = 0
    for path in paths:
        name = path.relative_to(REPO).as_posix() if path.is_relative_to(REPO) else str(path)
        allowed = [phrase for file, phrase in EXCEPTIONS if name.endswith(file)]
        for line, word, around in sorted(findings(path, allowed)):
            print(f"{name}:{line}: {word}: {around}")
            count += 1
    print(f"{count} found in {len(paths)} files")
    return count > 0


if __name__ == "__main__":
    sys.exit(main())
