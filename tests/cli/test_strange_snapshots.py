"""A stranger's snapshot: to read it changes, creates and removes nothing, and `import --repair` changes that file alone."""

import json
import os
import shutil
import sqlite3
import subprocess

import pytest

from harness import journals
from harness.rows import rows

KEYS = ["--keys", "id:S", "--table", "Notes"]
DIARY = "dear diary"
NOBODY = 65534


class Stranger:
    """A folder with a snapshot, and a file of the user outside of it."""

    def __init__(self, importer, strange=None):
        name = strange.__name__ if strange else "strange"
        self.importer = importer
        self.folder = importer.folder / name
        self.victim = importer.write("diary", DIARY)
        self.file = self.folder / "x.ddb"
        self.journal = self.folder / "x.ddb-journal"
        notes, made = importer.write(f"{name}/notes", [{"id": {"S": "a"}}]), importer.folder / "made.ddb"
        if not made.exists():
            importer(*KEYS, "--at", "2026-11-01", notes, made)
        shutil.copy(made, self.file)
        if strange:
            strange(self)

    def run(self, *words):
        return subprocess.run([self.importer.binary, *map(str, words)], cwd=self.folder, timeout=30,
                              env=self.importer.environment, capture_output=True, text=True)  # fmt: skip

    def state(self):
        """Also the times of the folder, in which a file may have come and gone."""
        paths = sorted([self.folder, *self.folder.rglob("*"), self.victim])
        facts = [(path, path.lstat()) for path in paths]
        return [(path, each.st_ctime_ns, each.st_mtime_ns, each.st_size, each.st_ino, each.st_uid) for path, each in facts]


@pytest.fixture
def stranger(importer):
    return Stranger(importer)


def super_journal(stranger):
    stranger.journal.write_bytes(journals.hot(stranger.file) + journals.super_journal(stranger.file, stranger.victim))


def hot_journal(stranger):
    stranger.journal.write_bytes(journals.hot(stranger.file))


def short_journal(stranger):
    """SQLite looks for a super-journal also behind a header that it does not take."""
    end = journals.super_journal(stranger.file, "../diary")[4:]
    stranger.journal.write_bytes(end)


def pipe_as_journal(stranger):
    os.mkfifo(stranger.journal)


def link_as_journal(stranger):
    stranger.journal.symlink_to(stranger.victim)


def wal_mode(stranger):
    content = bytearray(stranger.file.read_bytes())
    content[18:20] = b"\2\2"
    stranger.file.write_bytes(content)


def wal_beside_it(stranger):
    (stranger.folder / "x.ddb-wal").write_bytes(b"\x37\x7f\x06\x82" + bytes(28))


def pipe_as_log(stranger):
    os.mkfifo(stranger.folder / "x.ddb-wal")


def another_user_s_journal(stranger):
    """Beside the user's own file, in a folder such as /tmp: one that truncates the file."""
    stranger.journal.write_bytes(journals.hot(stranger.file, pages=0))
    if os.geteuid() != 0:
        pytest.skip("only root can give a file to another user")
    os.chown(stranger.journal, NOBODY, NOBODY)


REPAIR = "its writer was killed and left a journal beside it; roll the change back: ddbfs import --repair x.ddb"
WAL = "x.ddb is in SQLite's WAL mode"


@rows("strange, why", [
    (super_journal, REPAIR), (hot_journal, REPAIR), (short_journal, REPAIR), (pipe_as_journal, REPAIR),
    (link_as_journal, REPAIR), (wal_mode, WAL), (wal_beside_it, WAL), (pipe_as_log, WAL),
    (another_user_s_journal, REPAIR),
])  # fmt: skip
def test_a_read_changes_nothing(importer, strange, why):
    stranger = Stranger(importer, strange)
    before = stranger.state()
    for words in (["check", "x.ddb"], ["ls", "--snapshot", "x.ddb", "/tables/Notes/items"]):
        done = stranger.run(*words)
        assert done.returncode == 1 and why in done.stderr, (words, done)
        assert stranger.state() == before, words


def test_no_command_changes_a_file_by_reading(importer, stranger):
    other = Stranger(importer, super_journal)
    empty = importer.folder / "empty"
    empty.mkdir()
    snapshot, before = ["--snapshot", other.file], other.state()
    notes = "/tables/Notes/items"
    for words in (["cat", *snapshot, f"{notes}@sqlite"], ["sql", *snapshot, "SELECT * FROM Notes"],
                  ["diff", "--snapshot", "x.ddb", *snapshot, "/", "/"], ["mount", *snapshot, empty],
                  ["ls", "--map", other.file, "--snapshot", "x.ddb", "/"]):  # fmt: skip
        done = stranger.run(*words)
        assert done.returncode > 0 and "ddbfs import --repair" in done.stderr, (words, done)
        assert other.state() == before, words
    assert other.victim.read_text() == DIARY


def test_a_read_makes_no_temporary_file(stranger):
    """No name of the folders for temporary files is opened, also for a sort."""
    empty = stranger.importer.folder / "empty"
    empty.mkdir()
    before = empty.stat().st_mtime_ns
    stranger.importer.environment["SQLITE_TMPDIR"] = str(empty)
    notes = [{"id": {"S": f"{number:05}"}, "x": {"S": "x" * 2000}} for number in range(3000)]
    stranger.importer.write("strange/notes", notes)
    stranger.importer("--yes", *KEYS, "strange/notes", "strange/x.ddb", env={"SQLITE_TMPDIR": "/tmp"})
    change(stranger.file, "DROP INDEX items_1_key")
    assert "an index is missing" in stranger.run("check", "x.ddb").stdout
    assert empty.stat().st_mtime_ns == before


def test_readers_go_on_beside_a_writer_at_work(stranger):
    """The journal is the same as that of a killed writer; the lock of its writer is the difference."""
    hot_journal(stranger)
    assert REPAIR in stranger.run("check", "x.ddb").stderr
    journal = stranger.journal.rename(stranger.folder / "journal")
    with sqlite3.connect(stranger.file, isolation_level=None) as writer:
        writer.execute("BEGIN IMMEDIATE")
        journal.rename(stranger.journal)
        before = stranger.state()
        assert stranger.run("check", "x.ddb").returncode == 0
        done = stranger.run("ls", "--snapshot", "x.ddb", "/tables/Notes/items")
        assert done.stdout == "README\na\n", done
        done = stranger.run("import", "--repair", "x.ddb")
        assert done.stdout == "x.ddb: no killed writer left a change; nothing was repaired\n"
        assert stranger.state() == before
        stranger.journal.unlink()
    writer.close()


def change(file, sql):
    with sqlite3.connect(file) as database:
        database.executescript(sql)
    database.close()


def test_a_schema_runs_no_code(stranger):
    """A trigger of the file does not change what --onto writes, and a table may not be a module's."""
    change(stranger.file, "CREATE TRIGGER t AFTER INSERT ON moments BEGIN DELETE FROM items_1; END")
    done = stranger.run("import", "--onto", "x.ddb", "--keys", "id:S", "--table", "Other", "notes")
    assert done.returncode == 0, done
    assert stranger.importer.read("strange/x.ddb", "SELECT count(*) FROM items_1") == [(1,)]
    change(stranger.file, "DROP TABLE moments;"
           "CREATE VIRTUAL TABLE moments USING fts5(table_number, at_ms, from_ms, origin, items, bytes)")  # fmt: skip
    done = stranger.run("ls", "--snapshot", "x.ddb", "/")
    assert done.returncode == 1 and "no such module: fts5" in done.stderr, done


def torn(stranger):
    """Page 2 is overwritten, and the journal has its content of before."""
    size = journals.page_size(stranger.file)
    content = stranger.file.read_bytes()
    stranger.journal.write_bytes(journals.hot(stranger.file, old=[(2, content[size : 2 * size])]))
    stranger.file.write_bytes(content[:size] + b"\xff" * size + content[2 * size :] + bytes(size))
    return content


def test_a_repair_rolls_back(stranger):
    before = torn(stranger)
    assert REPAIR in stranger.run("check", "x.ddb").stderr
    done = stranger.run("import", "--repair", "x.ddb")
    assert (done.returncode, done.stdout) == (0, "x.ddb: the change of a killed writer was rolled back\n"), done
    assert stranger.file.read_bytes() == before and not stranger.journal.exists()
    assert stranger.run("check", "x.ddb").returncode == 0
    done = json.loads(stranger.run("import", "--json", "--repair", "x.ddb").stdout)
    assert done == {"done": True, "file": "x.ddb", "repaired": False}


def other_database(stranger):
    stranger.journal.write_bytes(journals.hot(stranger.file, size=512, pages=1))


def longer_database(stranger):
    stranger.journal.write_bytes(journals.hot(stranger.file, pages=0xFFFFFFFF))


def no_journal(stranger):
    stranger.journal.write_text(DIARY)


def second_name_of_the_journal(stranger):
    hot_journal(stranger)
    os.link(stranger.journal, stranger.folder / "other name")


def link_as_file(stranger):
    stranger.file.rename(stranger.folder / "y.ddb")
    stranger.file.symlink_to("y.ddb")
    (stranger.folder / "y.ddb-journal").write_bytes(journals.hot(stranger.file))


def second_name_of_the_file(stranger):
    hot_journal(stranger)
    os.link(stranger.file, stranger.folder / "y.ddb")


def cut_journal(stranger):
    """A page of it is missing: SQLite would restore the others, and report no failure."""
    size = journals.page_size(stranger.file)
    whole = journals.hot(stranger.file, old=[(1, stranger.file.read_bytes()[:size])])
    stranger.journal.write_bytes(whole[:-1])


def another_application(stranger):
    change(stranger.file, "PRAGMA application_id = 1")
    hot_journal(stranger)


NO_SUPER = "x.ddb-journal was not applied: it names a super-journal, which a rollback would remove"
NO_LINK = "x.ddb-journal was not applied: it is a link, or no regular file"


@rows("strange, why", [
    (super_journal, NO_SUPER), (short_journal, NO_SUPER), (pipe_as_journal, NO_LINK), (link_as_journal, NO_LINK),
    (second_name_of_the_journal, NO_LINK), (wal_mode, WAL), (wal_beside_it, WAL),
    (other_database, "x.ddb-journal was not applied: it is of another database"),
    (longer_database, "x.ddb-journal was not applied: it is of another database"),
    (no_journal, "x.ddb-journal was not applied: it has no header of SQLite"),
    (cut_journal, "x.ddb-journal was not applied: it is cut short"),
    (another_user_s_journal, "x.ddb-journal was not applied: it is another user's"),
    (link_as_file, "x.ddb was not repaired: it is a link, or no regular file"),
    (second_name_of_the_file, "x.ddb was not repaired: it is a link, or no regular file"),
    (another_application, "x.ddb was not repaired: it is no snapshot of ddbfs"),
])  # fmt: skip
def test_a_repair_is_refused(importer, strange, why):
    """The other writers of the file, such as `--onto`, refuse the same journals."""
    stranger = Stranger(importer, strange)
    before = stranger.state()
    done = stranger.run("import", "--repair", "x.ddb")
    assert done.returncode == 1 and why in done.stderr, done
    if "journal was not" in why:
        done = stranger.run("import", "--onto", "x.ddb", "--keys", "id:S", "--table", "Other", "notes")
        assert done.returncode == 1 and why in done.stderr, done
    assert stranger.state() == before and stranger.victim.read_text() == DIARY


@pytest.fixture
def tmpfs(stranger):
    subprocess.run(["mount", "-t", "tmpfs", "ddbfs-test", stranger.folder], check=True)
    yield stranger.folder
    subprocess.run(["umount", stranger.folder], check=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a tmpfs")
def test_a_journal_on_a_read_only_disk(stranger, tmpfs):
    """The message names the journal, and a repair of a copy."""
    stranger.importer(*KEYS, stranger.importer.write("notes", [{"id": {"S": "a"}}]), "strange/x.ddb")
    content = torn(stranger)
    subprocess.run(["mount", "-o", "remount,ro", tmpfs], check=True)
    for words in (["check", "x.ddb"], ["ls", "--snapshot", "x.ddb", "/"]):
        assert REPAIR in stranger.run(*words).stderr
    done = stranger.run("import", "--repair", "x.ddb")
    assert "x.ddb cannot be opened: Read-only file system; copy it and x.ddb-journal to a folder that" in done.stderr
    for path in tmpfs.iterdir():
        shutil.copy(path, stranger.importer.folder / path.name)
    stranger.importer("--repair", "x.ddb")
    assert (stranger.importer.folder / "x.ddb").read_bytes() == content
