"""Profile files against the AWS CLI's own reader of them: some hundreds that are made up, and nasty
ones by hand, have the same profiles, keys and values, or are refused by both.

The oracle is the botocore inside of AWS CLI version 2 where Debian's awscli is installed, else
python3-botocore: they read alike. The binary made from tests/unit/sections.c stands beside the one that
DDBFS_RENDER names. DDBFS_TEST_SEED repeats a run.
"""

import configparser
import json
import os
import pathlib
import random
import re
import subprocess

import pytest

try:
    from awscli.botocore import configloader, exceptions
except ImportError:
    from botocore import configloader, exceptions

SEED = int(os.environ.get("DDBFS_TEST_SEED", "20260101"))
RENDER = os.environ.get("DDBFS_RENDER")
COUNT = 1500
DIALECTS = ["config", "credentials"]

pytestmark = pytest.mark.skipif(not RENDER, reason="DDBFS_RENDER is not set")


def read_by_ddbfs(files):
    """What is in each of FILES, which are pairs of dialect and path."""
    program = pathlib.Path(RENDER).with_name("sections")
    lines = "".join(f"{dialect} {path}\n" for dialect, path in files)
    run = subprocess.run([program], input=lines, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0 and run.stderr == "", run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


def named(raw, kind):
    """The sections [KIND NAME] of what was read. Older versions know no [services], but name those of
    all kinds alike: so each is shown to them as a profile."""
    shown = {"profile" + header[len(kind) :]: keys for header, keys in raw.items() if header.startswith(kind)}
    if kind == "profile" and "default" in raw:
        shown = {}
        for header, keys in raw.items():
            if header.startswith("profile") or header == "default":
                shown[header] = keys
    return configloader.build_profile_map(shown)["profiles"]


def read_by_the_cli(dialect, path):
    try:
        raw = configloader.raw_config_parse(str(path))
    except exceptions.ConfigParseError:
        return None
    if dialect == "credentials":
        return {"profile": raw, "sso-session": {}, "services": {}}
    return {kind: named(raw, kind) for kind in ("profile", "sso-session", "services")}


def lower_keys(found):
    """Keys have no case, except for nested ones."""
    return {
        kind: {name: {key.lower(): value for key, value in keys.items()} for name, keys in sections.items()}
        for kind, sections in found.items()
    }


def line_of_error(path):
    """Where Python's parser stops, and whether nothing before it can be wrong; None when what it reads
    is refused for what is nested in it."""
    data = path.read_bytes()
    try:
        configparser.RawConfigParser().read_string(data.decode().replace("\r\n", "\n").replace("\r", "\n"))
    except UnicodeDecodeError as err:
        return len(re.findall(rb"\r\n|\n|\r", data[: err.start])) + 1, True
    except configparser.ParsingError as err:  # and MissingSectionHeaderError
        return getattr(err, "lineno", None) or err.errors[0][0], True
    except (configparser.DuplicateSectionError, configparser.DuplicateOptionError) as err:
        return err.lineno, False
    return None, False


def compare(folder, contents):
    files = []
    for number, content in enumerate(contents):
        path = folder / f"{number}.ini"
        path.write_bytes(content)
        files += [(dialect, path) for dialect in DIALECTS]
    refused = 0
    for (dialect, path), got in zip(files, read_by_ddbfs(files), strict=True):
        want = read_by_the_cli(dialect, path)
        told = f"seed {SEED}, {dialect}: {path.read_bytes()!r}"
        if want is None:
            refused += 1
            assert "error" in got, told
            line, is_first = line_of_error(path)
            found = int(re.match(r"file, line (\d+): ", got["error"])[1])
            is_first = is_first and "in an indented line" not in got["error"]  # which it looks at last
            assert line is None or found == line or (found < line and not is_first), told + got["error"]
        elif b"[DEFAULT]" not in path.read_bytes() or "in an indented line" not in got.get("error", ""):
            assert "error" not in got, told + got["error"]
            assert lower_keys(got) == want, told
    return refused, len(files)


# Made up. The parts are such that most files are read, and many are not.

NAMES = ["default", "x", "a b", "dev", "DEFAULT", "y", "ü", "s"]
HEADERS = [
    "[default]", "[DEFAULT]", "[x]", "[profile x]", "[profile y]", '[profile "x"]', "[profile  x]", "[profile\tx]",
    "[profile 'a b']", "[profile a b]", r"[profile a\ b]", '[profile "a]b"]', '[profile a"b', "[profile 'a]",
    r'[profile "a\"b\c\\"]', "[profile x\\]", "[profile default]", '[profile "default"]', "[profile ]", "[profile]",
    '[profile ""]', "[profilex y]", "[ profile x]", "[ default ]", "[Profile x]", "[PROFILE x]", "[sso-session s]",
    "[sso-session 's']", "[sso-sessions t]", "[services s]", "[services  s]", "[servicesx y z]", "[preview]", "[]",
    "[[x]]", "[x] # c", "[x] ; [y]", "[x] y", "[x", "x]", "[profile \u00fc]", "[profile\u00a0x]", "[profile x\u00a0]",
    "[profile x#y]", "[profile $HOME]", "[x=1]", "[profile x] = y", "[profile\vx]", "[ ]", "[\t]", "[#]",
    "[default]]",
]  # fmt: skip
KEYS = [
    "region", "Region", "REGION", "output", "aws_access_key_id", "AWS_Access_Key_Id", "aws_secret_access_key", "s3",
    "dynamodb", "endpoint_url", "a b", "a\tb", "[k", "k]", "a#b", "a;b", '"k"', "ü", "k\u00a0", "-", "%", "k\vl",
]  # fmt: skip
DELIMITERS = ["=", " = ", " =", "= ", ":", " : ", "\t=\t", "==", "=:", " \u3000=\u00a0", ""]
VALUES = [
    "", "", "us-east-1", "a b", "a # c", "a ; c", "#", "; c", "100%", "%(region)s", "%%", "a=b", "a:b", "[x]", "'a'",
    '"a"', "\\", "ü€😀", "\u00a0a\u00a0", "a\u2028b", "a\x0bb", "a\x0cb", "a\x1cb", "a\x1fb", "a\x85b", "  a", "\x7f",
    "true", "\ufeff", "a\tb", "\u200b", "a\u0300", "k = v", "\u180ea", "a\u1680", "\u2007a", "\u205f", "x\u2029= y",
]  # fmt: skip
INDENTS = ["", "", "", "", " ", "  ", "    ", "\t", " \t", "\u00a0", "\u3000\u3000", "\x0b", "\x0c ", "\x1f"]
ENDS = ["\n", "\n", "\n", "\n", "\r\n", "\r"]
OTHERS = ["# c", "; c", "#", "  # c", "\t; [x]", "", " ", "\t\t", "\u00a0", "\x0b", "text", "= v", ": v", "rem = x"]


def make_key(rng, indent):
    return indent + rng.choice(KEYS) + rng.choice(DELIMITERS) + rng.choice(VALUES)


def make_section(rng):
    """A header and keys, few of which are there twice."""
    lines = [rng.choice(HEADERS) if rng.random() < 0.5 else f"[profile p{rng.randrange(10**6)}]"]
    outer = rng.choice(INDENTS) if rng.random() < 0.2 else ""
    for key in rng.sample(KEYS, rng.randrange(5)):
        delimiter = rng.choice(DELIMITERS[:-1]) if rng.random() < 0.9 else rng.choice(DELIMITERS)
        value = rng.choice(VALUES) if rng.random() < 0.7 else ""
        lines.append(outer + key + delimiter + value)
        while rng.random() < 0.35:
            inner = outer + rng.choice(INDENTS)
            more = rng.choice(KEYS) + rng.choice(["=", " = ", ": "]) + rng.choice(VALUES)
            lines.append(rng.choice([inner + more, inner + more, inner + rng.choice(VALUES), rng.choice(OTHERS[:10])]))
    return lines


def make_file(rng):
    lines = [rng.choice(OTHERS[:10])] if rng.random() < 0.1 else []
    for _ in range(rng.randrange(1, 5)):
        lines += make_section(rng)
    for _ in range(rng.choice([0, 0, 0, 1, 1, 3])):
        new = rng.choice([rng.choice(HEADERS), make_key(rng, rng.choice(INDENTS)), rng.choice(OTHERS)])
        lines.insert(rng.randrange(len(lines) + 1), new)
    end = rng.choice(ENDS)
    text = "".join(line + (end if rng.random() < 0.9 else rng.choice(ENDS)) for line in lines)
    data = bytearray(text.encode())
    if rng.random() < 0.1:  # half-written
        data = data[: rng.randrange(len(data))] if data else data
    if rng.random() < 0.05 and data:  # damaged, but by no NUL: see below
        data[rng.randrange(len(data))] = rng.randrange(1, 256)
    return bytes(data)


def test_made_up_files_are_read_as_the_cli_reads_them(tmp_path):
    rng = random.Random(SEED)
    refused, count = compare(tmp_path, [make_file(rng) for _ in range(COUNT)])
    assert count / 10 < refused < count * 3 / 4, "most of them say nothing"


BY_HAND = [
    b"", b"\n", b"\r", b" \n\t\n", b"# c", b"[x]", b"[x]\r", b"k = v\n", b" [x]\nk = v", b"[x]\n k = v\n  l = w\n",
    b"[x]\n k = v\nl = w\n  m\n", b"[x]\n  k = v\n l = w\n  m\n", b"[x]\nk = v\n[y]\n  l = w\n",
    b"[x]\nk = v\n\n\n  w\n\n", b"[x]\nk = v\n#\n  w\n", b"[x]\nk =\n\n\n", b"[x]\nk =\n  # c\n",
    b"[x]\nk =\n  [y]\n",
    b"[x]\nk =\n  a = b\n a = c\n   d = e\n", b"[x]\nk =\n  = b\n", b"[x]\nk =\n  a: b\n",
    b"[x]\nk =\n  a = b\x0bc\n",
    b"[x]\nk =\n  a = b\x0bc = d\x0c\x1c\x1d\x1ee = f\x1fg\n", b"[x]\nk =\n  a = b\xc2\x85c = d\xe2\x80\xa8e = f\n",
    b"[x]\nk =\n  A = 1\n  a = 2\n", b"[x]\nk = v\n  [y]\n[y]\n", b"[x]\nk = v\n\t[x]\n", b"[x]\n[x]\n",
    b"[x]\n[x ]\n",
    b"[x]\nk=1\nK=2\n", b"[x]\nk=1\n[y]\nk=1\n", b"[x]\nk =\n  a = 1\nk =\n  a = 2\n", b"[x]\nk\n", b"[x]\nk\n[x]\n",
    b"[x]\n=v\n", b"[x]\n:\n", b"[x]\nk=\n[]\n", b"[x]\n[] = v\n", b"[x]\n[a = b\n", b"[x]\n[a = b]\n", b"[x]]\n",
    b"[]]\n",
    b"[[]\n", b"[x]y]\nk=v\n", b"[x] # ]\n", b"[x", b"[default]\nr=1\n[profile default]\ns=2\n",
    b"[profile default]\nr=1\n[default]\ns=2\n", b"[profile x]\nr=1\n[profile 'x']\ns=2\n[profile \"x\"]\n",
    b"[profilex x]\na=1\n[profile x]\nb=2\n", b"[profile-x y]\n", b"[profile]x y]\n", b"[DEFAULT]\nk = v\n",
    b"[DEFAULT]\nk = v\n[x]\n[y]\nk = w\n", b"[x]\n[DEFAULT]\nk =\n  a = b\n[y]\nk =\n  c = d\n",
    b"[DEFAULT]\nk=1\n[DEFAULT]\nl=2\n[profile x]\n", b"[DEFAULT]\nk=1\n[x]\n[DEFAULT]\nK=2\n",
    b"[default]\n[Default]\n",
    b"\xef\xbb\xbf[default]\nk=v\n", b"\xef\xbb\xbf# c\n[default]\nk=v\n", b"\xef\xbb\xbf", b"\n\xef\xbb\xbf[x]\n",
    b"[x]\nk=\xff\n", b"[x]\n# \xff\n", b"[x]\nk=v\n\xc3", b"[x]\nk=\xed\xa0\x80\n", b"[x]\nk=\xc0\xaf\n",
    b"\xff\xfe[\0",
    b"[x]\rk=v\r\r\n  w\r\n\n", b"[x]\nk = v\r\r\r w\n", b"[x]\nk = v\\\nl = w\n", b"[x]\nk = 'v # c' ; d\n",
    b"[profile \\x]\n", b"[profile ''x]\n", b"[profile x '']\n", b"[ profile x ]\n", b"[profile x ]\n",
    b"[profile\t\tx\t]\n",
    b"[services a]\nd =\n  e = f\n[services 'a']\nd =\n  g = h\n",
    b"[sso-session]\n[sso-session ]\n[sso-session x y]\n",
    b"[x]\nk = " + b"a" * 100_000 + b"\n", b"[" + b"a" * 100_000 + b"]\nk = v\n",
    b"[x]\nk = v\n" + b" w\n" * 5000, b"[x]\nk =\n" + b"".join(b" n%d = %d\n" % (i, i) for i in range(3000)),
    b"".join(b"[profile p%d]\nregion = r%d\n" % (i, i) for i in range(3000)),
]  # fmt: skip


def test_nasty_files_are_read_as_the_cli_reads_them(tmp_path):
    compare(tmp_path, BY_HAND)


def test_any_bytes_are_read_as_the_cli_reads_them(tmp_path):
    """Short texts of what means something in such a file."""
    rng = random.Random(SEED + 1)
    alphabet = [b"[", b"]", b"=", b":", b"#", b";", b"\n", b"\n", b"\r", b" ", b"\t", b"k", b"l", b"\xc2\xa0",
        b'"', b"\\"]
    start = [b"[x]\n", b"[x]\nk =", b"[profile x]\n", b"", b"[profile ", b"[x]\nk = v\n "]
    texts = [rng.choice(start) + b"".join(rng.choices(alphabet, k=rng.randrange(14))) for _ in range(COUNT)]
    compare(tmp_path, texts)


# What the AWS CLI takes and ddbfs refuses, or takes otherwise, and why.

EXCEPTIONS = {
    "a NUL byte is refused: a file with one is damaged": b"[x]\nk = a\0b\n",
    "so it is in a comment": b"# \0\n[x]\n",
    "what is nested in [DEFAULT] is looked at where no other section is, too": b"[DEFAULT]\nk =\n  v\n",
}


@pytest.mark.parametrize("why", EXCEPTIONS)
def test_exceptions(tmp_path, why):
    path = tmp_path / "file.ini"
    path.write_bytes(EXCEPTIONS[why])
    assert read_by_the_cli("config", path) is not None
    assert "file, line " in read_by_ddbfs([("config", path)])[0]["error"]


def test_of_letters_beyond_ascii_the_case_matters(tmp_path):
    """The AWS CLI would take both keys for one, and refuse the file. No key of AWS's has such a letter."""
    path = tmp_path / "file.ini"
    path.write_text("[x]\nÜ = 1\nü = 2\n")
    assert read_by_the_cli("credentials", path) is None
    assert read_by_ddbfs([("credentials", path)])[0]["profile"] == {"x": {"Ü": "1", "ü": "2"}}
