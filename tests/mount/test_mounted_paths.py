"""Commands on paths below a live mount, and the list of mounts."""

import concurrent.futures
import json
import os
import re
import signal
import subprocess

from harness import mounts

SHOP = "prod/shops/cool-store.myshopify.com"
SETTINGS = f"{SHOP}/SETTINGS"
BARE = {"DDBFS_MAP": None}


def test_a_path_below_a_mount_is_that_of_the_tree(mount, ddbfs, tmp_path):
    m = mount()
    (tmp_path / "link").symlink_to(m / SHOP)
    wanted = ddbfs("cat", f"/{SETTINGS}").stdout
    for spelt in (m / SETTINGS, tmp_path / "link" / "SETTINGS"):
        assert ddbfs("cat", spelt, env=BARE).stdout == wanted
    assert ddbfs("cat", "./SETTINGS", env=BARE, cwd=m / SHOP).stdout == wanted
    assert ddbfs("cat", f"/{SETTINGS}", m / SETTINGS, env=BARE).stdout == wanted * 2
    for command in ("ls", "explain"):
        assert ddbfs(command, f"{m / SHOP}/", env=BARE).text == ddbfs(command, f"/{SHOP}/").text
    assert ddbfs("ls", m.root, env=BARE).text == ddbfs("ls", "/").text
    assert ddbfs("ls", ".", env=BARE, cwd=m.root).text == ddbfs("ls", "/").text
    assert ddbfs("diff", m / SHOP, m / SHOP, env=BARE).text == ""
    said = ddbfs("map", "--sample", m / SHOP, env=BARE)
    assert "items were read" in said.stderr and '"tables"' in said.text


def test_its_map_and_options_are_the_mount_s(mount, ddbfs, make_map):
    own = make_map(lambda text: re.sub(r'"prod":( +){', r'"own":\1{', text))
    m = mount("--suffix", ".json", "--format", "compact", map_file=own)
    path = m / SETTINGS.replace("prod", "own")
    compact = ddbfs("cat", f"{path}.json").text
    assert compact.count("\n") == 1 and compact == (m / f"{path}.json").read_text()
    assert ddbfs("cat", "--format", "pretty", f"{path}.json").text.count("\n") > 1
    own.unlink()  # the mount knows it still
    assert ddbfs("cat", f"{path}.json").text == compact
    bare = mount("--no-map")
    assert ddbfs("ls", bare.root).text == "tables/\n"


def test_what_can_not_be_asked_so_is_told(mount, ddbfs):
    m, other = mount(), mount()
    said = ddbfs("cat", m / SETTINGS, other / SETTINGS, expect=1).stderr
    assert f"is in the mount at {other.root}, and an earlier path is in the mount at {m.root}" in said
    said = ddbfs("cat", m / ".ddbfs/errors", expect=1).stderr
    assert "read it without ddbfs" in said
    m.exit_code = None
    m.signal(signal.SIGKILL)
    m.process.wait(mounts.END_S)
    words = f"ddbfs: {m.root}: the mount has ended; see ddbfs status\n"
    told = lambda: ddbfs("cat", m / SETTINGS, expect=None).stderr == words  # noqa: E731
    mounts.wait_until(told, "the kernel to forget what it was told")


def test_a_relative_path_in_a_mount_needs_a_dot(mount, ddbfs):
    m = mount()
    said = ddbfs("ls", "shops", cwd=m / "prod", expect=3).stderr
    assert said.endswith("; in a mount, a path below the current directory begins with ./\n")
    assert "./" not in ddbfs("ls", "shops", expect=3).stderr


def test_a_mount_that_hangs_blocks_no_command(mount, ddbfs):
    m, hung = mount(), mount()
    hung.signal(signal.SIGSTOP)
    try:
        mounts.wait_until(lambda: mounts.state_of(hung.pid) == "T", "the stop")
        with concurrent.futures.ThreadPoolExecutor() as pool:  # each waits for the time limit
            words = [["status"], ["status", "--json"], ["ls", hung.root]]
            shown, told, refused = pool.map(lambda each: ddbfs(*each, expect=1), words)
    finally:
        hung.signal(signal.SIGCONT)
    rows = {row["mountpoint"]: row for row in map(json.loads, told.text.splitlines())}
    assert f"{hung.root}  its daemon does not respond; " in shown.text and f"{m.root}  " in shown.text
    assert "does not respond" in rows[str(hung.root)]["error"] and rows[str(m.root)]["pid"] == m.pid
    assert refused.stderr == f"ddbfs: {hung.root}: its daemon does not respond; see ddbfs status\n"
    assert str(hung.pid) in ddbfs("status", "--json", expect=0).text


def ignore_children():
    """As a parent may leave it to its children."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)


def test_status_lists_the_mounts(mount, ddbfs):
    said = ddbfs("status")
    assert said.text == "" and "there is no mount of ddbfs" in said.stderr
    m, bare = mount(), mount("--no-map")
    (m / SETTINGS).read_bytes()
    stats = m.stats()
    rows = {row["mountpoint"]: row for row in map(json.loads, ddbfs("status", "--json").text.splitlines())}
    assert set(rows) == {str(m.root), str(bare.root)}
    row = rows[str(m.root)]
    assert row["map"].endswith("ecommerce.map.json") and row["pid"] == m.pid
    assert row["requests"] == sum(stats["requests"].values()) and row["rcu"] == stats["consumed_capacity"]
    assert rows[str(bare.root)]["map"] is None and rows[str(bare.root)]["rcu"] == 0
    head, *lines = ddbfs("status").text.splitlines()
    assert head.split() == ["MOUNTPOINT", "MAP", "START", "REQUESTS", "RCU"]
    cells = {line.split()[0]: line.split() for line in lines}
    assert cells[str(m.root)][1].endswith(".map.json") and cells[str(bare.root)][1] == "-"
    assert cells[str(m.root)][-2:] == [str(row["requests"]), f"{row['rcu']:g}"]
    bare.exit_code = None
    bare.signal(signal.SIGKILL)
    bare.process.wait(mounts.END_S)
    ended = lambda: "its daemon has ended; unmount it: ddbfs umount" in ddbfs("status", expect=None).text  # noqa: E731
    mounts.wait_until(ended, "the kernel to forget what it was told")
    assert str(m.root) in ddbfs("status", expect=1).text
    ignored = ddbfs.start("status", stdout=subprocess.PIPE, preexec_fn=ignore_children).communicate(timeout=mounts.END_S)
    assert b"its daemon has ended" in ignored[0]
    assert "takes no path" in ddbfs("status", os.sep, expect=2).stderr
