"""`ddbfs umount`: a mount goes, also a dead one, and who keeps it is named. Paths of a mount that
are given to the other commands are told what they are called there."""

import os
import shutil
import signal
import subprocess

import pytest

from harness import mounts

SETTINGS = "prod/shops/cool-store.myshopify.com/SETTINGS"


def test_mount_goes(mount, ddbfs):
    m = mount()
    assert ddbfs("umount", m.root).stderr == ""
    assert not mounts.is_mounted(m.root) and m.wait() == 0


def test_mount_is_named_in_any_way(mount, ddbfs, tmp_path):
    m = mount()
    (tmp_path / "link").symlink_to(m.root)
    ddbfs("umount", "../link/", cwd=m.root.parent)
    assert not mounts.is_mounted(m.root)


def test_dead_mount_goes(mount, ddbfs):
    m = mount()
    m.exit_code = None
    m.signal(signal.SIGKILL)
    m.process.wait(mounts.END_S)
    ddbfs("umount", f"{m.root}/")
    assert not mounts.is_mounted(m.root)


def test_who_keeps_it_is_told(mount, ddbfs):
    m = mount()
    with open(m / SETTINGS, "rb"):
        said = ddbfs("umount", m.root, expect=1).stderr
    assert f"{m.root} is busy; close its files and leave its directories" in said
    assert f"(process {os.getpid()}) has open {m.root}/{SETTINGS}\n" in said
    stander = subprocess.Popen(["sleep", "60"], cwd=m / "prod")
    try:
        said = ddbfs("umount", m.root, expect=1).stderr
        assert f"sleep (process {stander.pid}) is in {m.root}/prod\n" in said
    finally:
        stander.kill()
        stander.wait()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
def test_that_of_somebody_else_stays(for_others, mount):
    others = for_others()
    m = mount("-o", "allow_other")
    m.root.parent.chmod(0o755)
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    done = subprocess.run(
        [*nobody, others.binary, "umount", m.root], env=others.environment(),
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 1 and mounts.is_mounted(m.root)
    assert f"{m.root} was mounted by user 0; only that user or root can unmount it\n" in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
@pytest.mark.skipif(not mounts.is_mounted("/"), reason="/ is no mount (a chroot)")
@pytest.mark.skipif(os.stat("/dev/fuse").st_mode & 0o006 != 0o006, reason="only root may open /dev/fuse")
def test_a_user_is_told_that_mtab_is_missing(for_others, tmp_path):
    """fusermount3 unmounts for a user what /etc/mtab names."""
    root, empty = tmp_path / "root", tmp_path / "empty"
    root.mkdir()
    empty.mkdir()
    shutil.copy("/etc/passwd", empty)
    others = for_others()
    os.chown(root, 65534, 65534)
    script = (
        'user="setpriv --reuid=65534 --regid=65534 --clear-groups"; $user "$1" mount "$2" &&'
        ' mount --bind "$3" /etc && $user "$1" umount "$2"; code=$?; umount /etc; umount "$2"; exit $code'
    )
    command = ["unshare", "-m", "sh", "-c", script, "sh", others.binary, root, empty]
    done = subprocess.run(command, env=others.environment(), capture_output=True, text=True)
    assert done.returncode == 1 and "failed to open /etc/mtab" in done.stderr, done
    assert "ddbfs: fusermount3 needs /etc/mtab" in done.stderr and "busy" not in done.stderr
    assert "ln -s /proc/self/mounts /etc/mtab\n" in done.stderr


def test_what_is_no_mount_stays(mount, ddbfs, tmp_path):
    m = mount()
    assert "is no mount of ddbfs; ddbfs status lists" in ddbfs("umount", tmp_path, expect=1).stderr
    assert "is no mount of ddbfs" in ddbfs("umount", "/proc", expect=1).stderr
    assert "is no mount of ddbfs" in ddbfs("umount", tmp_path / "none/none", expect=1).stderr
    said = ddbfs("umount", m / "prod/shops", expect=1).stderr
    assert f"is below a mountpoint; unmount that: ddbfs umount {m.root}\n" in said
    assert mounts.is_mounted(m.root)


def test_wrong_usage(ddbfs):
    assert "umount needs one mountpoint" in ddbfs("umount", expect=2).stderr


def test_mount_with_blanks_is_found(ddbfs, tmp_path):
    root = tmp_path / "my mount\\x"
    root.mkdir()
    ddbfs("mount", root)
    ddbfs("umount", root)
    assert ddbfs("umount", root, expect=1).stderr
