"""Commands in the mount of another user: it chooses no map, no server and no file."""

import contextlib
import json
import os
import subprocess

import pytest

from harness import mounts

NOBODY = 65534
SHOP = "prod/shops/cool-store.myshopify.com"
SETTINGS = f"{SHOP}/SETTINGS"
BARE = {"DDBFS_MAP": None}
pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount for another user"),
    pytest.mark.xdist_group("opened-device"),
]


@contextlib.contextmanager
def foreign_mount(ddbfs, folder, *options, kind="fuse.ddbfs"):
    """A mount of the user NOBODY. Its source is that user's text, which may look like the kernel's."""
    device = os.open("/dev/fuse", os.O_RDWR)
    facts = f"fd={device},rootmode=40000,user_id={NOBODY},group_id={NOBODY},default_permissions,allow_other"
    source = b"rw,user_id=0,group_id=0"
    assert mounts.LIBC.mount(source, os.fsencode(folder), kind.encode(), 0, facts.encode()) == 0
    daemon = ddbfs.start("mount", "-f", *options, f"/dev/fd/{device}", pass_fds=[device])
    try:
        os.close(device)
        os.statvfs(folder)
        yield folder
    finally:
        mounts.LIBC.umount2(os.fsencode(folder), mounts.MNT_DETACH)
        assert daemon.wait(mounts.END_S) == 0


@pytest.fixture
def trap(make_proxy, server):
    return make_proxy(server)


@pytest.fixture
def hostile(ddbfs, tmp_path, trap):
    """Its settings name a server of its user, and a file to write."""
    folder = tmp_path / "hostile"
    folder.mkdir()
    options = ("--endpoint-url", trap.url, "--record", tmp_path / "written.ddb")
    with foreign_mount(ddbfs, folder, *map(str, options)):
        trap.clear()
        yield folder


def test_a_command_takes_nothing_of_a_foreign_mount(ddbfs, hostile, trap, proxy, tmp_path):
    item, link = hostile / SETTINGS, tmp_path / "link"
    link.symlink_to(hostile / SHOP)
    refusal = f"ddbfs: {hostile}: is a mount of user {NOBODY}, whose settings are not used; pass --map, --profile\n"
    commands = [[name, item] for name in ("cat", "ls", "explain", "tail")]
    commands += [["cat", link / "SETTINGS"], ["ls", "--record", tmp_path / "own.ddb", item]]
    commands += [["cat", "--together", item], ["map", "--sample", item], ["diff", item, f"/{SETTINGS}"]]
    for words in commands:
        done = ddbfs(*words, env=BARE, expect=2 if words[0] == "diff" else 1)
        assert done.stderr == refusal and done.stdout == b"", words
    assert ddbfs("cat", "./SETTINGS", env=BARE, cwd=hostile / SHOP, expect=1).stderr == refusal
    why = json.loads(ddbfs("ls", "--json", item, env=BARE, expect=1).stderr)
    assert (why["errno"], why["path"]) == ("EACCES", str(hostile)) and f"user {NOBODY}" in why["text"]
    unused = f"ddbfs: {hostile}: is a mount of user {NOBODY}, whose control files are not used; run the command as that user\n"
    for name in ("refresh", "top", "log"):
        assert ddbfs(name, item, env=BARE, expect=1).stderr == unused, "these have no --map"
    assert trap.ops == [] and proxy.ops == []


def test_a_command_with_a_map_of_its_own_reads_a_path_of_a_foreign_mount(ddbfs, hostile, trap, proxy):
    env = ddbfs.home.environment()
    wanted = ddbfs("cat", f"/{SETTINGS}").stdout
    proxy.clear()
    assert ddbfs("--map", env["DDBFS_MAP"], "cat", hostile / SETTINGS, env=BARE).stdout == wanted
    assert proxy.ops == ["GetItem"] and trap.ops == []


def test_lists_of_mounts_read_nothing_of_a_foreign_one(ddbfs, hostile, mount):
    status = ddbfs("status", expect=1).text
    assert f"a mount of user {NOBODY}, whose control files are not read" in status
    assert "that you or root made; make one" in ddbfs("log", expect=1).stderr
    own = mount()
    assert str(own.root) in ddbfs("top", "-n", "1").text, "the only one that is trusted"


def test_a_foreign_mount_on_top_of_an_own_one_is_not_read(ddbfs, mount, trap):
    """The table names the mount below; the file that is open is the one above."""
    m = mount()
    with foreign_mount(ddbfs, m.root, "--endpoint-url", trap.url, kind="fuse.other"):
        trap.clear()
        said = ddbfs("cat", m / SETTINGS, env=BARE, expect=1).stderr
        assert "its mount.json is a file of a mount that covers it; unmount that one" in said
        assert trap.ops == []
    assert ddbfs("cat", m / SETTINGS, env=BARE).stdout


def test_root_s_mount_is_trusted_by_another_user_and_not_readable(for_others, mount):
    others = for_others()
    m = mount("-o", "allow_other")
    m.root.parent.chmod(0o755)
    command = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", others.binary, "cat", m / SETTINGS]
    done = subprocess.run(command, env=others.environment(), capture_output=True, text=True)
    assert done.returncode == 1 and "only the user who mounted it may read its mount.json" in done.stderr
