"""Placeholders in a live mount: what the kernel and each program make of an entry that stands for what
nothing lists. The table of programs is that of docs/mount.md."""

import errno
import os
import re
import shutil
import stat
import subprocess

import pytest

from harness import places, tables
from harness.rows import Rows, rows

INDEX = "kl7a9h55-shopify-e513a8-4"
PYTHON = "/usr/bin/python3"
ON = f"prod/jobs/by-index/shopify/{INDEX}/on"
UNLISTED = {
    "prod/jobs/by-id": "{job_id}",
    "prod/shops": "{domain}",
    ON: "{date}",
    f"prod/jobs/by-index/shopify/{INDEX}/between": "{from}..{to}",
    f"prod/jobs/by-index/shopify/{INDEX}/all@table": "{columns}",
    "prod/tables/prod-EcomIndexerJobsTable/items": "{pk}",
    "prod/tables/prod-EcomIndexerJobsTable/by/GSI_JobLookup_v2": "{job_id}",
}


@rows("path, name", UNLISTED.items())
def test_a_placeholder_is_a_directory_that_does_not_open(mount, path, name):
    m = mount()
    assert {"README", name} <= set(os.listdir(m / path))
    m.proxy.clear()
    with os.scandir(m / path) as entries:
        (entry,) = [each for each in entries if each.name == name]
        assert entry.is_dir() and stat.S_IMODE(entry.stat().st_mode) == 0o555
    assert stat.S_ISDIR(os.stat(m / path / name).st_mode)
    for below, number in (("", errno.EOPNOTSUPP), ("x", errno.EOPNOTSUPP), (".git", errno.ENOENT)):
        with pytest.raises(OSError) as caught:
            os.listdir(m / path / name / below)
        assert caught.value.errno == number
    assert m.counts() == {}
    told = [each for each in m.failures() if each.words["path"] == f"/{path}/{name}"]
    assert told and told[0].words["errno"] == "EOPNOTSUPP" and "type" in told[0].reason
    assert not [line for line in m.recent() if name in line]


def test_a_readme_says_what_its_placeholder_stands_for(mount):
    plain, quiet = mount(), mount("-o", "unlistable=quiet")
    for path in ("prod/jobs/by-id", "prod/shops", ON):
        text = (plain / path / "README").read_text("utf-8")
        assert f"{UNLISTED[path]} can't be listed here" in text and ".ddbfs/recent" in text
        assert f"The placeholder {UNLISTED[path]} does not open" in text
        assert "unlistable=quiet" in (quiet / path / "README").read_text("utf-8")
        assert "README" in os.listdir(quiet / path) and UNLISTED[path] not in os.listdir(quiet / path)
        assert os.path.isdir(quiet / path / UNLISTED[path])
    assert plain.counts() == {}


def test_a_key_that_reads_as_a_placeholder_opens_by_its_own_name(mount, table):
    keys = [{"pk": {"S": pk}, "sk": {"S": "n"}} for pk in ("{pk}", "%7Bpk}")]
    items = mount() / "prod/tables" / table(tables.plain(), keys) / "items"
    assert '"{pk}"' in (items / "%7Bpk}/n").read_text("utf-8")
    assert '"%7Bpk}"' in (items / "%257Bpk}/n").read_text("utf-8")
    assert sorted(os.listdir(items)) == ["README", "{pk}"]


# Programs.

# D: a directory with a placeholder, and with a directory that has one. E: another one. T: a folder of the
# test's own.
PROGRAMS = {
    "`ls`": ["ls", "D"],
    "`ls -l`": ["ls", "-l", "D"],
    "`ls -R`": ["ls", "-R", "D"],
    "`find`": ["find", "D"],
    "`grep -r`": ["grep", "-r", "no such text", "D"],
    "`rg`": ["rg", "no such text", "D"],
    "`du`": ["du", "-a", "D"],
    "`tar`": ["tar", "-cvf", "T/shops.tar", "-C", "D", "."],
    "`cp -r`": ["cp", "-rv", "D", "T/copy"],
    "`rsync -a`": ["rsync", "-av", "D/", "T/synced"],
    "`diff -r`": ["diff", "-r", "D", "E"],
    "bash `*`": ["bash", "-c", "printf '%s\n' \"$0\"/*", "D"],
    "bash `**`": ["bash", "-O", "globstar", "-c", "printf '%s\n' \"$0\"/**", "D"],
    "bash completion": ["bash", "-c", 'compgen -f "$0"/', "D"],
    "zsh `**`": ["zsh", "-fc", "printf '%s\n' \"$0\"/**/*", "D"],
    "fish completion": ["fish", "-c", 'complete -C "cat $argv[1]/"', "D"],
    "GIO (PCManFM, Nautilus)": ["gio", "list", "D"],
    "Python `os.listdir`": [PYTHON, "-c", "import os, sys; print(os.listdir(sys.argv[1]))", "D"],
    "Python `os.scandir`": [PYTHON, "-c", "import os, sys; print(*os.scandir(sys.argv[1]))", "D"],
    "Python `os.walk`": [PYTHON, "-c", "import os, sys; print(*os.walk(sys.argv[1]))", "D"],
    "Python `glob`, recursive": [PYTHON, "-c", "import glob, sys; print(glob.glob(sys.argv[1] + '/**', recursive=True))", "D"],
    "Python `pathlib.iterdir`": [PYTHON, "-c", "import pathlib, sys; print(*pathlib.Path(sys.argv[1]).iterdir())", "D"],
    "Python `pathlib.rglob`": [PYTHON, "-c", "import pathlib, sys; print(*pathlib.Path(sys.argv[1]).rglob('*'))", "D"],
    "Python `shutil.copytree`": [PYTHON, "-c", "import shutil, sys; shutil.copytree(*sys.argv[1:])", "D", "T/tree"],
    "Perl `readdir`": ["perl", "-e", "opendir(my $d, $ARGV[0]) or die; print join(' ', readdir $d)", "D"],
    "Perl `File::Find`": ["perl", "-MFile::Find", "-e", 'find(sub { print "$File::Find::name\n" }, $ARGV[0])', "D"],
    "Node `fs.readdir`": ["node", "-e", "console.log(require('fs').readdirSync(process.argv[1]))", "D"],
    "Node `fs.readdir`, recursive": ["node", "-e", "console.log(require('fs').readdirSync(process.argv[1], {recursive: true}))", "D"],
}  # fmt: skip


def documented():
    """Each program of the table: whether it shows the entry, whether it reports an error, its status."""
    text = (places.REPO / "docs/mount.md").read_text("utf-8")
    lines = re.findall(r"^\| (.+?) \| (yes|no) \| (yes|no) \| (\d+|–) \|$", text, re.M)
    return {program: (shows == "yes", tells == "yes", status) for program, shows, tells, status in lines}


def test_programs_show_what_is_missing_and_fail_where_they_would_read_it(mount, tmp_path):
    plain, quiet = mount(), mount("-o", "unlistable=quiet")
    table = documented()
    assert set(table) == {*PROGRAMS, "Midnight Commander"}  # which tests/mount/test_noise.py has
    every = Rows()
    for program, command in PROGRAMS.items():
        if not shutil.which(command[0]):
            continue
        with every.row(program):
            for m in (plain, quiet):
                folder = tmp_path / f"{program.strip('`').replace('/', '-')} {m is quiet}"
                folder.mkdir()
                places_of = {"D": str(m / "prod/shops"), "D/": f"{m.root}/prod/shops/", "E": str(m / "staging/shops")}
                words = [places_of.get(word, re.sub("^T/", f"{folder}/", word)) for word in command]
                done = subprocess.run(words, capture_output=True, text=True, errors="replace")
                told = "Operation not supported" in done.stderr or "ENOTSUP" in done.stderr
                got = ("{domain}" in done.stdout, told)
                if m is plain:
                    assert (*got, str(done.returncode)) == table[program], done.stderr
                else:
                    assert got == (False, False) and "{" not in done.stdout
    every.check()
    assert plain.counts() == quiet.counts() == {}
