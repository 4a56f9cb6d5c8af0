"""The process behind a mount: what it is started with, what it holds, what ends it, who may look."""

import contextlib
import errno
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import stat
import subprocess
import uuid

import pytest

from harness import mounts, places, tls
from harness.rows import rows

SHOP = "prod/shops/cool-store.myshopify.com"
SETTINGS = f"{SHOP}/SETTINGS"
NEEDS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root may")
NOBODY = 65534


@pytest.fixture
def root(tmp_path):
    """A mountpoint of which the test makes what it wants. It is unmounted afterwards, as often as
    something is mounted there, and the daemons that serve it have ended."""
    folder = tmp_path / f"root-{uuid.uuid4().hex[:8]}"
    folder.mkdir()
    yield folder
    daemons = daemons_of(folder)
    while mounts.is_mounted(folder):
        mounts.take_away(folder)
    for pid in daemons:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
        mounts.wait_until(lambda: mounts.has_ended(pid), f"the end of {pid}")


def daemons_of(folder):
    """The processes of ddbfs whose command line has FOLDER."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
            if os.fsencode(folder) in words and b"ddbfs" in words[0]:
                found.append(int(entry.name))
    return found


def mount_lines(folder):
    lines = pathlib.Path("/proc/self/mountinfo").read_text("utf-8").splitlines()
    return [line for line in lines if line.split(" ")[4] == str(folder)]


# Descriptors.


@pytest.mark.parametrize("closed", [c for n in range(4) for c in itertools.combinations(range(3), n)])
def test_closed_standard_streams_do_no_harm(ddbfs, root, closed):
    shell = '"$0" mount "$1"' + "".join(f" {fd}>&-" for fd in closed)
    done = subprocess.run(
        ["sh", "-c", shell, ddbfs.binary, root], env=ddbfs.home.environment(), capture_output=True
    )
    assert done.returncode == 0, done
    assert (root / SETTINGS).read_bytes()
    (pid,) = daemons_of(root)
    assert [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in range(3)] == ["/dev/null"] * 3


def test_output_that_goes_nowhere_is_still_an_error(ddbfs):
    done = subprocess.run(
        ["sh", "-c", '"$0" cat "$1" >&-', ddbfs.binary, f"/{SETTINGS}"],
        env=ddbfs.home.environment(), capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 1 and "standard output" in done.stderr


def test_the_daemon_holds_nothing_that_its_caller_had_open(ddbfs, root, tmp_path):
    """Who reads the other end of a pipe, or waits for a lock, waits for as long as it is held."""
    (tmp_path / "lock").write_text("")
    shell = 'exec 7<"$2" 19<"$2" 300<"$2"; "$0" mount "$1"'
    done = subprocess.run(
        ["bash", "-c", shell, ddbfs.binary, root, tmp_path / "lock"],
        env=ddbfs.home.environment(), capture_output=True,
    )  # fmt: skip
    assert done.returncode == 0, done
    (pid,) = daemons_of(root)
    held = [os.readlink(entry) for entry in pathlib.Path(f"/proc/{pid}/fd").iterdir()]
    assert str(tmp_path / "lock") not in held, held


def test_a_map_may_come_from_a_descriptor(ddbfs, root, make_map):
    shell = 'exec "$0" mount --map <(cat "$2") "$1"'
    done = subprocess.run(
        ["bash", "-c", shell, ddbfs.binary, root, make_map()],
        env=ddbfs.home.environment(), capture_output=True,
    )  # fmt: skip
    assert done.returncode == 0 and (root / SETTINGS).read_bytes(), done


def test_a_daemon_reads_the_credentials_of_the_folder_it_was_started_in(ddbfs, root, proxy):
    """It leaves that folder; who rotates the keys in the file heals the mount."""
    home = ddbfs.home
    keys = home.folder / "keys"
    home.credentials.rename(keys)
    ddbfs("mount", root, env={"AWS_SHARED_CREDENTIALS_FILE": "keys"}, cwd=home.folder)
    assert (root / SETTINGS).read_bytes()
    proxy.allow_refusals = True
    proxy.keys["ROTATED"] = proxy.keys.pop("DEMOCONTROLLERKEY001")
    keys.write_text(keys.read_text().replace("DEMOCONTROLLERKEY001", "ROTATED"))
    assert (root / SHOP / "access-token").read_bytes()
    assert proxy.requests[-1].access_key == "ROTATED"


def test_a_daemon_trusts_the_authority_of_the_folder_it_was_started_in(
    ddbfs, root, make_map, make_proxy, server, tmp_path
):
    """An authority is read with the first connection by TLS: here, long after the start."""
    authority = tls.Authority(tmp_path)
    url = make_proxy(server, tls=authority.context()).url
    late = '"environments": { "late": { "prefix": "prod-", "region": "us-east-1", "endpoint": "%s" },' % url
    env = {"AWS_CA_BUNDLE": os.path.relpath(authority.bundle, tmp_path)}
    ddbfs("mount", "--map", make_map(), root, env=env, cwd=tmp_path)
    make_map(lambda text: text.replace('"environments": {', late, 1))
    (pid,) = daemons_of(root)
    os.kill(pid, signal.SIGHUP)
    mounts.wait_until(lambda: "late" in os.listdir(root), "the map to be read again")
    assert (root / SETTINGS.replace("prod", "late", 1)).read_bytes()


# A device that somebody else has mounted.


@contextlib.contextmanager
def opened_device(folder, user=NOBODY):
    """/dev/fuse, opened and mounted at FOLDER by root for USER."""
    device = os.open("/dev/fuse", os.O_RDWR)
    words = f"ro,default_permissions,fd={device},rootmode=40000,user_id={user},group_id={user}"
    command = ["mount", "-i", "-t", "fuse.ddbfs", "-o", words, "ddbfs", str(folder)]
    try:
        subprocess.run(command, check=True, pass_fds=[device])
        yield device
    finally:
        os.close(device)
        subprocess.run(["umount", "-l", folder], check=True)


CONFINED = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
CONFINED += ["--no-new-privs", "--bounding-set=-all", "--inh-caps=-all"]


# A daemon is found by its /dev/fd/N, of which each worker may have the same: one worker runs them all.
ONE_WORKER = pytest.mark.xdist_group("opened-device")


@NEEDS_ROOT
@ONE_WORKER
@pytest.mark.parametrize("front", [[], ["-f"]], ids=["in the background", "in front"])
def test_an_opened_device_is_served_without_any_privilege(for_others, root, front):
    others = for_others()
    with opened_device(root) as device:
        place = f"/dev/fd/{device}"
        words = [*CONFINED, others.binary, "mount", *front, place]
        process = subprocess.Popen(words, env=others.environment(), pass_fds=[device], stderr=subprocess.PIPE)
        if not front:
            assert process.wait(mounts.START_S) == 0, process.communicate()
        (pid,) = [process.pid] if front else daemons_of(place)
        read = subprocess.run([*CONFINED, "cat", root / SETTINGS], capture_output=True)
        assert read.returncode == 0 and b"SETTINGS" in read.stdout, read
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        assert "NoNewPrivs:\t1" in status and "CapEff:\t0000000000000000" in status
        secret = subprocess.run([*CONFINED, "cat", root / SHOP / "access-token"], capture_output=True)
        assert b"Permission denied" in secret.stderr
        os.kill(pid, signal.SIGTERM)
        if front:
            assert process.wait(mounts.END_S) == 0, process.communicate()
        mounts.wait_until(lambda: mounts.has_ended(pid), "the daemon's end")
        process.communicate()


@ONE_WORKER
def test_a_descriptor_that_is_no_device_is_refused(ddbfs, tmp_path):
    with open(tmp_path / "file", "wb") as file:
        for number in (file.fileno(), 999):
            done = subprocess.run(
                [ddbfs.binary, "mount", f"/dev/fd/{number}"], env=ddbfs.home.environment(),
                capture_output=True, text=True, pass_fds=[file.fileno()],
            )  # fmt: skip
            assert done.returncode == 1 and "is not an open /dev/fuse" in done.stderr


@NEEDS_ROOT
@ONE_WORKER
def test_a_device_that_nobody_has_mounted_is_refused(ddbfs):
    device = os.open("/dev/fuse", os.O_RDWR)
    done = subprocess.run(
        [ddbfs.binary, "mount", f"/dev/fd/{device}"], env=ddbfs.home.environment(),
        capture_output=True, text=True, pass_fds=[device],
    )  # fmt: skip
    os.close(device)
    assert done.returncode == 1 and "is not mounted" in done.stderr


# The log.

PRIVATE_LOG = """
mount -t tmpfs none "$1"
for name in null zero random urandom; do touch "$1/$name"; mount --bind "/dev/$name" "$1/$name"; done
ln -s /proc/self/fd "$1/fd"
touch "$1/log"; mount --bind "$2" "$1/log"
mount --rbind "$1" /dev
shift 2
exec "$@"
"""


@NEEDS_ROOT
@pytest.mark.skipif(not mounts.is_mounted("/"), reason="/ is no mount (a chroot), so that it can't be made private")
@ONE_WORKER
def test_a_log_that_nobody_reads_keeps_nobody_waiting(ddbfs, root, tmp_path):
    """It did after some ten lines, and SIGTERM was not heard any more."""
    (tmp_path / "dev").mkdir()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as log, opened_device(root, 0) as device:
        log.bind(str(tmp_path / "log"))
        words = ["unshare", "-m", "sh", "-ec", PRIVATE_LOG, "sh", tmp_path / "dev", tmp_path / "log"]
        words += [ddbfs.binary, "mount", "-v", f"/dev/fd/{device}"]
        env = ddbfs.home.environment()
        done = subprocess.run(words, env=env, pass_fds=[device], capture_output=True, text=True)
        assert done.returncode == 0, done
        (pid,) = daemons_of(f"/dev/fd/{device}")
        for number in range(1000):
            assert not (root / SHOP / f"USER#{number + 1000}").exists()
        stats = json.loads((root / ".ddbfs/stats.json").read_bytes())
        assert stats["log_lines_dropped"] > 0
        assert len((root / ".ddbfs/log").read_text().splitlines()) == 200
        assert re.fullmatch(rb"<30>\w{3} [ 0-9]\d [\d:]{8} ddbfs\[\d+\]: .*", log.recv(9000))
        os.kill(pid, signal.SIGTERM)
        mounts.wait_until(lambda: mounts.has_ended(pid), "the daemon's end")


# The end.

DEADLY = (signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGVTALRM,
          signal.SIGPROF, signal.SIGIO, signal.SIGPWR, signal.SIGXCPU, signal.SIGSTKFLT,
          signal.SIGRTMIN, signal.SIGRTMAX)  # fmt: skip


@pytest.mark.parametrize("number", DEADLY)
def test_whatever_ends_a_process_unmounts_first(mount, number):
    m = mount()
    m.signal(number)
    assert m.wait() == 0 and not mounts.is_mounted(m.root)


def test_a_harmless_signal_does_nothing(mount):
    m = mount()
    for number in (signal.SIGWINCH, signal.SIGURG, signal.SIGCHLD, signal.SIGPIPE):
        m.signal(number)
        m.refresh()
        assert (m / SETTINGS).read_bytes(), number


# What is tried before there is a mount.


@pytest.mark.parametrize("op", ["DescribeTable", "ListTables"])
def test_an_identity_that_may_not_do_all_mounts(ddbfs, root, proxy, op):
    proxy.fault("denied", times=None, op=op)
    said = ddbfs("mount", root).stderr
    assert (root / SETTINGS).read_bytes()
    if op == "DescribeTable":
        assert "warning: " in said and f"needs dynamodb:{op}" in said and "mounting anyway" in said
    else:
        assert said == ""


def test_a_first_table_that_is_not_there_is_a_warning(ddbfs, root, make_map):
    own = make_map(lambda text: text.replace('"EcomIndexerJobsTable"', '"NotYetMade"'))
    said = ddbfs("mount", "--map", own, root).stderr
    assert "warning: table prod-NotYetMade does not exist" in said
    assert (root / SETTINGS).read_bytes()


def test_an_expired_session_does_not_mount(ddbfs, root, proxy):
    proxy.fault("expired", times=None)
    assert "expired" in ddbfs("mount", root, expect=1).stderr and not mounts.is_mounted(root)


def test_the_start_makes_one_call_that_costs_nothing(ddbfs, root, proxy):
    ddbfs("mount", root)
    assert proxy.ops == ["DescribeTable"]


def test_environments_of_any_name_are_asked_for_their_tables(ddbfs, root, proxy, make_map):
    own = make_map(lambda text: re.sub(r'"(prod|staging)":\s*\{[^}]*\},', "", text))
    ddbfs("mount", "--map", own, root)
    assert proxy.ops == ["ListTables"]


# Two at a time.


def test_of_six_mounts_on_one_folder_one_wins(ddbfs, root):
    starts = [ddbfs.start("mount", root, stderr=subprocess.PIPE, text=True) for _ in range(6)]
    said = [start.communicate()[1] for start in starts]
    codes = sorted(start.returncode for start in starts)
    assert codes == [0, 1, 1, 1, 1, 1], said
    assert sum("is a live mount already" in each for each in said) == 5, said
    assert len(mount_lines(root)) == 1 and (root / SETTINGS).read_bytes()


# Who may do what.


def test_a_folder_with_entries_is_mounted_on_only_if_that_is_meant(ddbfs, root):
    (root / "notes.txt").write_text("mine")
    said = ddbfs("mount", root, expect=1).stderr
    assert said == (
        f"ddbfs: {root} is not empty, and a mount hides its entries; use an empty directory, or "
        "-o nonempty\n"
    )
    assert not mounts.is_mounted(root)
    ddbfs("mount", "-o", "nonempty", root)
    assert sorted(os.listdir(root)) != ["notes.txt"] and (root / SETTINGS).read_bytes()


def test_modes_are_those_of_records_directories_and_secrets(mount):
    m = mount()
    for path, mode in ((".", 0o555), (SHOP, 0o555), (SETTINGS, 0o444), (f"{SHOP}/access-token", 0o400)):
        assert stat.S_IMODE(os.stat(m / path).st_mode) == mode, path


def test_no_file_is_executable(mount):
    """Not for root either, who is let in by any one bit of three."""
    m = mount()
    found = subprocess.run(
        ["find", m / SHOP, "-type", "f", "-executable"], capture_output=True, text=True
    )
    assert found.stdout == "" and os.access(m / SHOP, os.X_OK)
    assert not os.access(m / SETTINGS, os.X_OK)


def as_nobody(*command):
    words = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *command]
    return subprocess.run(words, capture_output=True, text=True)


def open_to_all(folder):
    for each in (folder, *folder.parents):
        if os.stat(each).st_uid == os.getuid() and str(each) != "/":
            each.chmod(os.stat(each).st_mode | 0o011)


def test_control_files_are_the_owner_s(mount):
    m = mount()
    for path, mode in ((".ddbfs", 0o500), (".ddbfs/refresh", 0o500), (".ddbfs/refresh/a", 0o500)):
        assert stat.S_IMODE(os.stat(m / path).st_mode) == mode, path
    for name in os.listdir(m / ".ddbfs"):
        assert stat.S_IMODE(os.stat(m / ".ddbfs" / name).st_mode) == 0o400, name


@NEEDS_ROOT
def test_control_is_not_for_others(mount, branch):
    path = branch.put_settings(text="old")
    m = mount("-o", "allow_other")
    open_to_all(m.root.parent)
    names = os.listdir(m / ".ddbfs")
    assert b"old" in (m / path).read_bytes() and as_nobody("cat", m / path).returncode == 0
    m.proxy.clear()
    for command in (["ls", m / ".ddbfs"], ["stat", m / ".ddbfs/refresh/@now"]):
        assert "Permission denied" in as_nobody(*command).stderr
    for name in names:
        (m / ".ddbfs" / name).read_bytes()  # the kernel has it now
        assert "Permission denied" in as_nobody("cat", m / ".ddbfs" / name).stderr
    refused = as_nobody(m.ddbfs.binary, "refresh", m / path)
    assert refused.returncode == 1 and "Permission denied" in refused.stderr
    assert (m / path).exists() and m.counts() == {}, "nothing was forgotten"


def test_the_mirror_of_refresh_is_as_deep_as_a_path_may_be(mount):
    """It was as deep as somebody liked, and a daemon busy for ten minutes with one path of it."""
    m = mount()
    before = os.open(".", os.O_RDONLY)
    try:
        os.chdir(m / ".ddbfs/refresh")
        with pytest.raises(OSError) as caught:
            for _ in range(5000):
                os.chdir("a")
        assert caught.value.errno == errno.ENAMETOOLONG
        with contextlib.suppress(OSError):
            os.stat("@now")
    finally:
        os.fchdir(before)
        os.close(before)
    assert (m / SETTINGS).read_bytes()


@NEEDS_ROOT
def test_root_needs_one_capability_and_no_new_privilege(ddbfs, root):
    """As docs/examples/ddbfs.service has it."""
    words = ["setpriv", "--no-new-privs", "--bounding-set=-all,+sys_admin", "--inh-caps=-all"]
    for each in (ddbfs.home.folder, *ddbfs.home.folder.rglob("*")):
        os.chown(each, 0, 0)
    done = subprocess.run(
        [*words, ddbfs.binary, "mount", root], env=ddbfs.home.environment(), capture_output=True
    )
    assert done.returncode == 0 and (root / SETTINGS).read_bytes(), done
    (pid,) = daemons_of(root)
    os.kill(pid, signal.SIGTERM)
    mounts.wait_until(lambda: mounts.has_ended(pid), "the daemon's end")
    assert not mounts.is_mounted(root)


def test_the_unit_verifies(tmp_path):
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is not installed")
    unit = (places.REPO / "docs/examples/ddbfs.service").read_text()
    here = tmp_path / "ddbfs.service"
    here.write_text(unit.replace("/usr/local/bin/ddbfs", "/bin/true"))
    command = ["systemd-analyze", "verify", "--man=no", here]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0 and "ddbfs.service" not in done.stderr, done


def test_allow_root_is_refused(ddbfs, root):
    said = ddbfs("mount", "-o", "allow_root", root, expect=2).stderr
    assert "allow_root would admit all users" in said and not mounts.is_mounted(root)


def test_there_is_room(mount):
    """Who watches disks raises an alarm for one that is full."""
    seen = os.statvfs(mount().root)
    assert seen.f_blocks == seen.f_bfree == seen.f_bavail > 0
    assert seen.f_files == seen.f_ffree == seen.f_favail > 0


@rows(
    "word, why",
    [
        ("region", "needs a value: NAME=VALUE"),
        ("cache-size", "needs a value: NAME=VALUE"),
        ("cache-size=1", "has an invalid value"),
        ("subtype=other", "does not work with ddbfs, which finds its mounts by their type"),
        ("blkdev", "does not work with ddbfs, which finds its mounts by their type"),
        ("regin=x", 'is not an option of mount (did you mean "region"?); see ddbfs mount --help'),
        ("alow_other", 'is not an option of mount (did you mean "allow_other"?); see ddbfs mount --help'),
        ("umsk=077", 'is not an option of mount (did you mean "umask"?); see ddbfs mount --help'),
        ("fsname", "needs a value: NAME=VALUE"),
        ("something%0A", "is not an option of mount; see ddbfs mount --help"),
    ],
)
def test_what_is_wrong_with_an_option_of_the_mount_is_told(ddbfs, tmp_path, word, why):
    typed = word.replace("%0A", "\n")
    assert ddbfs("mount", "-o", typed, tmp_path, expect=2).stderr == f"ddbfs: -o {word} {why}\n"


@pytest.mark.parametrize("is_below_zero", [True, False], ids=["below zero", "by seconds"])
def test_a_clock_that_goes_back_ends_nothing(mount, clock, is_below_zero):
    """The monotonic clock of a faulty virtual machine; the sums of a minute are a ring of its seconds."""
    m = mount(env=clock.env)
    assert (m / SETTINGS).read_bytes()
    uptime_s = int(float(pathlib.Path("/proc/uptime").read_text("ascii").split()[0]))
    for back_s in [uptime_s + 30] if is_below_zero else [3, 5, 1]:
        clock.sleeps(-back_s)
        m.refresh()
        assert (m / SHOP / "API_KEY").read_bytes() and os.listdir(m / SHOP)
    assert m.process.poll() is None
