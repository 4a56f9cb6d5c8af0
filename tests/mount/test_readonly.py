"""Nothing can be written: every call that would change something says EROFS, and asks nobody.

Where the kernel looks at the descriptor first, it answers before it has thought of the mount: a
descriptor that could write to it does not exist, so that ftruncate is EINVAL, and fallocate, write
and copy_file_range are EBADF. Opening for writing, which such a descriptor needs, is EROFS.
"""

import ctypes
import errno
import mmap
import os
import subprocess

import pytest

from harness.rows import rows

FOLDER = "prod/shops/cool-store.myshopify.com"
SETTINGS = f"{FOLDER}/SETTINGS"
TABLE = "prod/jobs"  # all of its names are known from the map alone
LIBC = ctypes.CDLL(None, use_errno=True)


@pytest.fixture
def warm(shared_mount):
    """A mount where SETTINGS has been read, and the requests for that are forgotten."""
    m = shared_mount
    (m / SETTINGS).read_bytes()
    os.listdir(m / TABLE)
    m.proxy.clear()
    return m


def refused(call, *arguments, expected=errno.EROFS):
    with pytest.raises(OSError) as caught:
        call(*arguments)
    assert errno.errorcode[caught.value.errno] == errno.errorcode[expected]


def renameat2(old, new, flags):
    if LIBC.renameat2(-100, os.fsencode(old), -100, os.fsencode(new), flags) != 0:
        raise OSError(ctypes.get_errno(), "renameat2")


PATH_CALLS = {
    "mkdir": lambda m: os.mkdir(m / TABLE / "new"),
    "mknod": lambda m: os.mknod(m / TABLE / "new"),
    "mkfifo": lambda m: os.mkfifo(m / TABLE / "new"),
    "symlink": lambda m: os.symlink("x", m / TABLE / "new"),
    "link": lambda m: os.link(m / SETTINGS, m / FOLDER / ".new"),
    "unlink": lambda m: os.unlink(m / SETTINGS),
    "rmdir": lambda m: os.rmdir(m / TABLE / "by-id"),
    "rename": lambda m: os.rename(m / SETTINGS, m / FOLDER / ".new"),
    "rename onto another": lambda m: os.rename(m / "prod/jobs/README", m / SETTINGS),
    "rename a folder": lambda m: os.rename(m / TABLE / "by-id", m / TABLE / "new"),
    "exchange": lambda m: renameat2(m / TABLE / "by-id", m / TABLE / "by-index", 2),
    "chmod": lambda m: os.chmod(m / SETTINGS, 0o777),
    "chown": lambda m: os.chown(m / SETTINGS, 1, 1),
    "lchown": lambda m: os.lchown(m / SETTINGS, 1, 1),
    "utime": lambda m: os.utime(m / SETTINGS),
    "utime with a date": lambda m: os.utime(m / SETTINGS, (1, 1)),
    "utime of a folder": lambda m: os.utime(m / TABLE),
    "truncate": lambda m: os.truncate(m / SETTINGS, 0),
    "setxattr": lambda m: os.setxattr(m / SETTINGS, "user.x", b"1"),
    "removexattr": lambda m: os.removexattr(m / SETTINGS, "user.x"),
    "access for writing": lambda m: os.access(m / SETTINGS, os.W_OK) or fail_as_access(),
}
FLAGS = {
    "O_WRONLY": os.O_WRONLY,
    "O_RDWR": os.O_RDWR,
    "O_WRONLY|O_TRUNC": os.O_WRONLY | os.O_TRUNC,
    "O_WRONLY|O_APPEND": os.O_WRONLY | os.O_APPEND,
    "O_RDWR|O_CREAT": os.O_RDWR | os.O_CREAT,
}
FD_CALLS = {
    "ftruncate": (lambda fd: os.ftruncate(fd, 0), errno.EINVAL),
    "write": (lambda fd: os.write(fd, b"x"), errno.EBADF),
    "pwrite": (lambda fd: os.pwrite(fd, b"x", 0), errno.EBADF),
    "fallocate": (lambda fd: os.posix_fallocate(fd, 0, 10), errno.EBADF),
    "copy_file_range": (lambda fd: os.copy_file_range(fd, fd, 10, 0, 1000), errno.EBADF),
    "sendfile": (lambda fd: os.sendfile(fd, fd, 0, 10), errno.EBADF),
    "fchmod": (lambda fd: os.fchmod(fd, 0o777), errno.EROFS),
    "fchown": (lambda fd: os.fchown(fd, 1, 1), errno.EROFS),
    "futimens": (lambda fd: os.utime(fd), errno.EROFS),
    "fsetxattr": (lambda fd: os.setxattr(fd, "user.x", b"1"), errno.EROFS),
}


def fail_as_access():
    """os.access gives no errno; libc's last is of another call by now."""
    raise OSError(errno.EROFS, "access")


@rows("name", PATH_CALLS)
def test_a_call_that_changes_a_name_is_refused_and_costs_nothing(warm, name):
    refused(PATH_CALLS[name], warm)
    assert warm.counts() == {}


@rows("name", FLAGS)
def test_opening_for_writing_is_refused(warm, name):
    refused(os.open, warm / SETTINGS, FLAGS[name])
    assert warm.counts() == {}


@rows("name", FLAGS)
def test_creating_is_refused(warm, name):
    refused(os.open, warm / TABLE / "new", FLAGS[name] | os.O_CREAT)
    assert warm.counts() == {}


def test_an_unnamed_file_is_refused(warm):
    with pytest.raises(OSError) as caught:
        os.open(warm / TABLE, os.O_TMPFILE | os.O_RDWR)
    assert caught.value.errno in (errno.EROFS, errno.EOPNOTSUPP)


def test_creating_what_is_there_exclusively_says_that_it_is_there(warm):
    refused(os.open, warm / SETTINGS, os.O_CREAT | os.O_EXCL | os.O_RDWR, expected=errno.EEXIST)
    refused(os.mkdir, warm / TABLE, expected=errno.EEXIST)


@rows("name", FD_CALLS)
def test_a_call_on_an_open_file_is_refused(warm, name):
    call, expected = FD_CALLS[name]
    fd = os.open(warm / SETTINGS, os.O_RDONLY)
    refused(call, fd, expected=expected)
    os.close(fd)
    assert warm.counts() == {}


def test_a_record_s_name_is_looked_up_once_and_then_refused(warm):
    """The kernel looks a name up before it refuses to make it; the map cannot know this one."""
    refused(os.mkdir, warm / FOLDER / "USER#1")
    refused(os.mkdir, warm / FOLDER / "USER#1")
    assert warm.counts() == {"GetItem": 1}


@rows("command", ["touch", "rm -f", "tee", "chmod u+w", "truncate -s 0"])
def test_a_program_says_that_it_is_read_only(warm, command):
    done = subprocess.run(
        [*command.split(), warm / SETTINGS], input="x", capture_output=True, text=True
    )
    assert done.returncode != 0 and "Read-only file system" in done.stderr
    assert warm.counts() == {}


def test_all_is_as_it_was_after_an_attempt(warm):
    before = (warm / SETTINGS).read_bytes()
    for call in PATH_CALLS.values():
        with pytest.raises(OSError):
            call(warm)
    assert (warm / SETTINGS).read_bytes() == before and warm.counts() == {}


def test_writing_through_the_control_files_is_refused(warm):
    refused(os.open, warm / ".ddbfs/stats.json", os.O_WRONLY)
    refused(os.mkdir, warm / ".ddbfs/new")


def test_a_shared_writable_mapping_is_refused(warm):
    with open(warm / SETTINGS, "rb") as file:
        shared = (file.fileno(), 0, mmap.MAP_SHARED, mmap.PROT_WRITE)
        refused(mmap.mmap, *shared, expected=errno.EACCES)


def test_the_kernel_s_table_says_read_only(warm):
    lines = open("/proc/self/mountinfo", encoding="utf-8").read().splitlines()
    fields = next(line for line in lines if line.split()[4] == str(warm.root)).split()
    assert "ro" in fields[5].split(",") and "fuse.ddbfs" in fields
