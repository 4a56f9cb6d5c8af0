"""What is installed, and where; and a ddbfs for machines that have no FUSE."""

import os
import shutil
import subprocess

import pytest

from harness import places

REPO = places.REPO
COMPLETIONS = (
    "usr/local/share/bash-completion/completions/ddbfs",
    "usr/local/share/fish/vendor_completions.d/ddbfs.fish",
    "usr/local/share/zsh/site-functions/_ddbfs",
)


def meson(*words, folder):
    command = ["meson", *words]
    compiler = "ccache gcc" if shutil.which("ccache") else "gcc"
    environment = {**os.environ, "CC": compiler}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL)  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]


def files_in(folder):
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() or path.is_symlink()
    }


@pytest.fixture(scope="module")
def without_mount():
    """The build folder of a ddbfs without libfuse. Its compiler commands are those of build-release, so that ccache
    has most objects: it waits for that build, and is beside it."""
    places.wait_for_release()
    folder = REPO / "build-no-mount"
    again = ["--reconfigure"] if (folder / "build.ninja").exists() else []
    meson("setup", *again, folder, "-Dmount=disabled", "-Dtests=false", "-Dbuildtype=release", "-Dwerror=true",
          folder=REPO)  # fmt: skip
    subprocess.run(["ninja", "-C", folder], check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def with_mount(tmp_path_factory):
    """A build folder that is configured, and has the ddbfs under test in the place of its own."""
    folder = tmp_path_factory.mktemp("with-mount")
    meson("setup", folder, "-Dtests=false", "-Dbuildtype=plain", folder=REPO)
    shutil.copy(places.program("DDBFS", "build-asan/fs/ddbfs"), folder / "fs" / "ddbfs")
    return folder


def libraries_of(binary):
    return subprocess.run(["ldd", binary], check=True, capture_output=True, text=True).stdout


@pytest.mark.xdist_group("no-mount")
def test_without_the_mount_there_is_no_libfuse(without_mount):
    assert "libfuse" not in libraries_of(without_mount / "fs" / "ddbfs")
    assert "libfuse" in libraries_of(places.program("DDBFS", "build-asan/fs/ddbfs"))


@pytest.mark.xdist_group("no-mount")
def test_without_the_mount_the_commands_work(without_mount):
    binary = without_mount / "fs" / "ddbfs"
    words = ["--map", places.DEFAULT_MAP, "ls", "/prod"]
    done = subprocess.run([binary, *words], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("jobs/\n")
    done = subprocess.run([binary, "--help"], capture_output=True, text=True)
    offered = [line.split()[0] for line in done.stdout.splitlines() if line.startswith("  ")]
    words = {word.rstrip(",") for word in offered}
    assert {"cat", "refresh", "log"} <= words and not {"mount", "umount", "-o", "--ledger"} & words
    assert "--foreground" not in done.stdout
    done = subprocess.run([binary, "mount", "/mnt"], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("ddbfs: this ddbfs was built without the mount; ")


@pytest.mark.xdist_group("no-mount")
def test_without_the_mount_its_files_are_not_installed(without_mount, tmp_path):
    meson("install", "--no-rebuild", "-C", without_mount, "--destdir", tmp_path, folder=REPO)
    assert files_in(tmp_path) == {
        "usr/local/bin/ddbfs",
        *COMPLETIONS,
        "usr/local/share/ddbfs/map.schema.json",
        "usr/local/share/man/man1/ddbfs.1",
    }


def test_all_is_installed(with_mount, tmp_path):
    meson("install", "--no-rebuild", "-C", with_mount, "--destdir", tmp_path, folder=REPO)
    assert files_in(tmp_path) == {
        "usr/local/bin/ddbfs",
        *COMPLETIONS,
        "usr/local/share/ddbfs/map.schema.json",
        "usr/local/share/man/man1/ddbfs.1",
        "usr/local/lib/systemd/system/ddbfs.service",
        "sbin/mount.fuse.ddbfs",
    }
    assert os.readlink(tmp_path / "sbin/mount.fuse.ddbfs") == "/usr/local/bin/ddbfs"
    unit = (tmp_path / "usr/local/lib/systemd/system/ddbfs.service").read_text()
    assert unit == (REPO / "docs/examples/ddbfs.service").read_text()


def test_another_prefix_is_kept_to(with_mount, tmp_path):
    meson("configure", with_mount, "-Dprefix=/opt/ddbfs", folder=REPO)
    try:
        meson("setup", "--reconfigure", with_mount, folder=REPO)
        meson("install", "--no-rebuild", "-C", with_mount, "--destdir", tmp_path, folder=REPO)
    finally:
        meson("configure", with_mount, "-Dprefix=/usr/local", folder=REPO)
    assert os.readlink(tmp_path / "opt/ddbfs/sbin/mount.fuse.ddbfs") == "/opt/ddbfs/bin/ddbfs"
    unit = (tmp_path / "opt/ddbfs/lib/systemd/system/ddbfs.service").read_text()
    assert "\nExecStart=/opt/ddbfs/bin/ddbfs mount --map" in unit
    assert all(name.startswith("opt/ddbfs/") for name in files_in(tmp_path))
