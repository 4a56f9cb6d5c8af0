"""How a mount begins, lives and ends; what it says of itself."""

import contextlib
import errno
import fcntl
import json
import os
import pathlib
import pwd
import re
import shutil
import signal
import stat
import subprocess
import time
import uuid

import pytest

from harness import mounts, places
from harness.rows import rows

SHOP = "prod/shops/cool-store.myshopify.com"
SETTINGS = f"{SHOP}/SETTINGS"
INDEX = "kl7a9h55-shopify-e513a8-4"
LATEST = f"prod/jobs/by-index/shopify/{INDEX}/latest"
SECRETS = ("shpat_demo", "demo_api_key", "demo/controller+secret", "AWS4-HMAC")
NEEDS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root may")


@pytest.fixture
def root(tmp_path):
    """A mountpoint of which the test makes what it wants; it is unmounted afterwards."""
    folder = tmp_path / f"root-{uuid.uuid4().hex[:8]}"
    folder.mkdir()
    yield folder
    daemons = daemons_of(folder)
    mounts.take_away(folder)
    for pid in daemons:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
        mounts.wait_until(lambda: mounts.state_of(pid) in (None, "Z"), f"the end of {pid}")


def daemons_of(folder):
    """The processes whose command line ends with the mountpoint, as seen by the kernel."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
            if os.fsencode(folder) in words and b"ddbfs" in words[0]:
                found.append(int(entry.name))
    return found


def open_to_all(folder):
    """Another user may walk down to FOLDER."""
    for each in (folder, *folder.parents):
        if os.stat(each).st_uid == os.getuid() and str(each) != "/":
            each.chmod(os.stat(each).st_mode | 0o011)


# What goes wrong before there is a mount.


def fails(ddbfs, root, *options, env=None, code=1):
    """The reason on standard error; nothing is mounted and nobody is left behind."""
    result = ddbfs("mount", *options, root, env=env, expect=code)
    assert not mounts.is_mounted(root) and not daemons_of(root)
    assert result.stderr.startswith(("ddbfs: ", "fuse: ")), result
    return result.stderr


@pytest.fixture(params=["in the background", "in front"])
def front(request):
    return ["-f"] if request.param == "in front" else []


def test_a_map_that_is_not_there(ddbfs, root, front):
    assert "nowhere.json" in fails(ddbfs, root, *front, "--map", "nowhere.json")


def test_a_map_that_is_wrong(ddbfs, root, front, make_map):
    wrong = make_map(lambda text: text.replace('"records"', '"record"', 1))
    assert str(wrong) in fails(ddbfs, root, *front, "--map", wrong)


def test_no_credentials(ddbfs, root, front):
    empty = {"AWS_SHARED_CREDENTIALS_FILE": "/dev/null", "AWS_CONFIG_FILE": "/dev/null"}
    assert "controller" in fails(ddbfs, root, *front, env=empty)


def test_credentials_that_are_refused(ddbfs, root, front, proxy):
    proxy.allow_refusals = True
    assert "signature" in fails(ddbfs, root, *front, "--profile", "wrong-secret").lower()


def test_an_endpoint_where_nobody_answers(ddbfs, root, front):
    nobody = {"AWS_ENDPOINT_URL_DYNAMODB": "http://127.0.0.1:1"}
    assert "127.0.0.1" in fails(ddbfs, root, *front, "--timeout", "1", env=nobody)


def test_a_proxy_that_denies_proves_nothing(ddbfs, root, front, proxy):
    proxy.fault("html", times=None, status=403)
    assert "403" in fails(ddbfs, root, *front)


def test_a_mountpoint_that_is_not_there(ddbfs, root, front):
    told = fails(ddbfs, root / "nowhere", *front)
    assert f"No such file or directory; make it: mkdir {root / 'nowhere'}" in told


def test_a_mountpoint_that_is_no_directory(ddbfs, root, front):
    (root / "file").write_text("")
    assert "is not a directory" in fails(ddbfs, root / "file", *front)


def test_a_mountpoint_that_is_mounted_already(mount, ddbfs):
    m = mount()
    said = ddbfs("mount", m.root, expect=1).stderr
    assert "is a live mount already" in said


def test_no_mountpoint_is_wrong_usage(ddbfs):
    assert "mountpoint" in ddbfs("mount", expect=2).stderr


def test_two_mountpoints_are_wrong_usage(ddbfs, root):
    assert "one mountpoint" in ddbfs("mount", root, root, expect=2).stderr


@rows("option", ["no_such_option", "no_such=1"])
def test_an_unknown_option(ddbfs, root, front, option):
    assert f"-o {option} is not an option of mount" in fails(ddbfs, root, *front, "-o", option, code=2)


@rows("option", ["uid=me", "umask=9", "gid=", "cache-size=lots", "uid=-1"])
def test_an_option_with_a_wrong_value(ddbfs, root, option):
    assert option in fails(ddbfs, root, "-o", option, code=2)


def test_an_option_that_libfuse_would_end_at_is_refused(ddbfs, root, front):
    """Its greeting fails with a size of reads that is not its own, when nobody listens any more."""
    assert "does not work with ddbfs" in fails(ddbfs, root, *front, "-o", "max_read=4096", code=2)


# In a chroot, no mount name space can be made, and fusermount3 is lost.
NEEDS_A_MOUNTED_ROOT = pytest.mark.skipif(not mounts.is_mounted("/"), reason="/ is no mount (a chroot)")


@NEEDS_ROOT
@NEEDS_A_MOUNTED_ROOT
def test_a_user_without_fusermount3_is_told_what_to_install(for_others, root, tmp_path):
    others = for_others()
    (tmp_path / "hidden").write_text("")
    (tmp_path / "hidden").chmod(0o644)
    script = (
        'mount --bind "$1" "$(command -v fusermount3)" && shift &&'
        ' exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"'
    )
    command = ["unshare", "-m", "sh", "-c", script, "sh", tmp_path / "hidden"]
    command += [others.binary, "mount", root]
    done = subprocess.run(command, capture_output=True, text=True, env=others.environment())
    assert done.returncode == 1 and "fusermount3 is not installed" in done.stderr, done


# In the background.


def test_it_answers_when_the_command_returns(ddbfs, root, oracle):
    result = ddbfs("mount", root)
    assert mounts.is_mounted(root) and result.stdout == b"" and result.stderr == ""
    assert (root / SETTINGS).read_bytes() == oracle(f"/{SETTINGS}")


def test_the_daemon_holds_no_terminal_and_no_folder(ddbfs, root):
    ddbfs("mount", root)
    (pid,) = daemons_of(root)
    assert os.readlink(f"/proc/{pid}/cwd") == "/"
    assert [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in range(3)] == ["/dev/null"] * 3
    assert os.getsid(pid) == pid


@pytest.mark.parametrize("how", ["absolute", "relative", "with dots"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_unmounts(ddbfs, root, number, how):
    word = {"absolute": root, "relative": root.name, "with dots": f"./{root.name}/../{root.name}"}
    ddbfs("mount", word[how], cwd=root.parent)
    (root / SETTINGS).read_bytes()
    found = daemons_of(root) + daemons_of(word[how])
    os.kill(found[0], number)
    mounts.wait_until(lambda: mounts.state_of(found[0]) in (None, "Z"), "the daemon's end")
    assert not mounts.is_mounted(root) and os.listdir(root) == []


def test_the_end_of_the_mount_is_the_end_of_the_daemon(ddbfs, root):
    ddbfs("mount", root)
    (pid,) = daemons_of(root)
    subprocess.run(["fusermount3", "-u", root], check=True)
    mounts.wait_until(lambda: mounts.state_of(pid) in (None, "Z"), "the daemon's end")


# In front.


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_with_requests_in_flight(mount, proxy, number):
    m = mount("--timeout", "60")
    (m / SETTINGS).read_bytes()
    proxy.fault("delay", times=None, seconds=60)
    children = [
        subprocess.Popen([command, m / path], stderr=subprocess.PIPE)
        for command, path in (("cat", f"{SHOP}/API_KEY"), ("ls", LATEST), ("ls", f"{SHOP}/"))
    ]
    mounts.wait_until(lambda: len(proxy.requests) >= 4, "the requests")
    m.signal(number)
    assert m.wait() == 0 and not mounts.is_mounted(m.root)
    assert all(child.communicate() and child.returncode > 0 for child in children)
    proxy.closing.set()


def test_fusermount_ends_it(mount):
    m = mount()
    os.listdir(m / SHOP)
    assert m.unmount() == 0


def test_it_ends_while_a_file_is_open(mount):
    m = mount()
    fd = os.open(m / SETTINGS, os.O_RDONLY)
    with os.scandir(m / SHOP) as entries:
        next(entries)
        m.signal(signal.SIGTERM)
        assert m.wait() == 0
    with contextlib.suppress(OSError):  # the kernel says that nobody is there
        os.close(fd)


def test_sighup_reads_the_map_again(mount, make_map):
    own = make_map()
    m = mount(map_file=own)
    assert not (m / "canary").exists()
    os.listdir(m / SHOP)
    text = own.read_text("utf-8")
    added = '"canary": { "prefix": "prod-", "profile": "controller" }, "staging": '
    own.write_text(text.replace('"staging": ', added))
    assert "canary" in own.read_text("utf-8"), "the example map has changed"
    m.signal(signal.SIGHUP)
    mounts.wait_until(lambda: (m / "canary").exists(), "the new environment")
    assert (m / "canary/shops/cool-store.myshopify.com/SETTINGS").read_bytes()
    assert "canary" in os.listdir(m.root) and (m / SETTINGS).read_bytes()
    time.sleep(mounts.STATS_TTL_S)
    assert b"canary" in (m / ".ddbfs/map.json").read_bytes()


def test_sighup_with_a_wrong_map_keeps_the_old_one(mount, make_map, oracle):
    own = make_map()
    m = mount(map_file=own)
    own.write_text("{ this is no map")
    m.signal(signal.SIGHUP)
    mounts.wait_until(lambda: "the old map stays in use" in m.log(), "the complaint")
    assert (m / SETTINGS).read_bytes() == oracle(f"/{SETTINGS}") and os.listdir(m / LATEST)


@pytest.mark.parametrize("kind", ["pipe", "folder"])
def test_sighup_waits_for_no_writer_of_a_pipe(mount, make_map, oracle, kind):
    own = make_map()
    m = mount(map_file=own)
    own.unlink()
    os.mkfifo(own) if kind == "pipe" else own.mkdir()
    m.signal(signal.SIGHUP)
    mounts.wait_until(lambda: "is not a regular file" in m.log(), "the word that it can't be read")
    assert (m / SETTINGS).read_bytes() == oracle(f"/{SETTINGS}")


def test_sighup_reads_the_settings_of_profiles_again(mount, home, server, make_proxy, proxy):
    """Another address in the profile, and at last a file that is none."""
    other, text = make_proxy(server), home.config.read_text()
    at = "[profile controller]\nendpoint_url = {}\n"
    home.config.write_text(text.replace("[profile controller]\n", at.format(proxy.url)))
    m = mount(env={"AWS_ENDPOINT_URL_DYNAMODB": None})
    home.config.write_text(text.replace("[profile controller]\n", at.format(other.url)))
    m.refresh()
    assert (m / SETTINGS).read_bytes() and proxy.requests and not other.requests
    proxy.clear()
    m.signal(signal.SIGHUP)
    mounts.wait_until(lambda: "profile controller have been read again" in m.log(), "the new settings")
    mounts.wait_until(lambda: (m / SETTINGS).read_bytes() and other.requests, "a request elsewhere")
    home.config.write_text("[profile controller")
    m.signal(signal.SIGHUP)
    mounts.wait_until(lambda: "profile controller stay as they were" in m.log(), "the complaint")
    before = len(other.requests)
    home.config.write_text(text.replace("[profile controller]\n", at.format(other.url)))
    m.refresh()
    assert (m / SETTINGS).read_bytes() and len(other.requests) > before and not proxy.requests


def test_sighup_that_changes_nothing_keeps_connections(mount, proxy):
    m = mount()
    assert (m / SETTINGS).read_bytes()
    connections = len({each.connection for each in proxy.requests})
    m.signal(signal.SIGHUP)
    mounts.wait_until(lambda: "the map has been read again" in m.log(), "the new map")
    assert (m / SETTINGS).read_bytes() and "settings of profile" not in m.log()
    assert len({each.connection for each in proxy.requests}) == connections


def test_sighup_drops_what_is_known(mount, branch, make_map):
    path = branch.put_settings(text="old")
    own = make_map(lambda text: re.sub(r'("table":\s*"\w+",)', r'\1 "ttl": 3600,', text))
    m = mount(map_file=own)
    assert b"old" in (m / path).read_bytes()
    branch.put_settings(text="new")
    m.signal(signal.SIGHUP)
    mounts.wait_until(lambda: b"new" in (m / path).read_bytes(), "the new version")


def test_many_sighups_under_load(mount):
    m = mount()
    children = [
        subprocess.Popen(["grep", "-r", "-c", "e", m / path], stdout=subprocess.DEVNULL)
        for path in (SHOP, LATEST, "prod/index-settings/kl7a9h55") * 2
    ]
    for _ in range(20):
        m.signal(signal.SIGHUP)
        os.listdir(m / SHOP)
    assert [child.wait() for child in children] == [0] * len(children)


def reload_map(m, file):
    """SIGHUP, and wait until FILE, which gets a mark of its own, is what the mount goes by."""
    mark = f"\n// {uuid.uuid4()}\n"
    file.write_text(file.read_text("utf-8") + mark, "utf-8")
    m.signal(signal.SIGHUP)
    mounts.wait_until(lambda: mark in (m / ".ddbfs/map.json").read_text("utf-8"), "the new map")


def test_old_maps_do_not_pile_up(mount, make_map):
    """Whatever the kernel knows of the mount is of the last map, the others are gone."""
    own = make_map()
    m = mount(map_file=own)
    for path in (SHOP, LATEST, "prod/index-settings/kl7a9h55"):
        os.listdir(m / path)
    assert m.stats()["maps"] == 1
    for _ in range(20):
        reload_map(m, own)
    assert m.stats()["maps"] == 1


def test_an_old_map_lives_as_long_as_a_directory_of_it(mount, make_map):
    own = make_map()
    m = mount(map_file=own)
    text = own.read_text("utf-8")
    held = os.open(m / "staging/shops", os.O_RDONLY | os.O_DIRECTORY)
    own.write_text(text.replace('"staging": ', '"canary": '))
    for _ in range(3):
        reload_map(m, own)
    assert "canary" in os.listdir(m.root)
    assert m.stats()["maps"] == 2  # the first, which names staging, and the last
    os.close(held)
    m.refresh()
    own.write_text(text)
    reload_map(m, own)
    assert m.stats()["maps"] == 1


def test_a_map_behind_a_swapped_link_is_read_again(mount, make_map, tmp_path):
    """As Kubernetes changes a ConfigMap: a link is made anew and renamed over the old one."""
    old = make_map(name="old.json")
    text = old.read_text("utf-8")
    (tmp_path / "..v1").mkdir()
    (tmp_path / "..v2").mkdir()
    old.rename(tmp_path / "..v1/map.json")
    (tmp_path / "..v2/map.json").write_text(text.replace('"staging": ', '"canary": '), "utf-8")
    (tmp_path / "..data").symlink_to("..v1")
    (tmp_path / "map.json").symlink_to("..data/map.json")
    m = mount(map_file=tmp_path / "map.json")
    assert "staging" in os.listdir(m.root)
    (tmp_path / "..new").symlink_to("..v2")
    (tmp_path / "..new").rename(tmp_path / "..data")
    shutil.rmtree(tmp_path / "..v1")
    reload_map(m, tmp_path / "map.json")
    assert "canary" in os.listdir(m.root) and "staging" not in os.listdir(m.root)


# Killed.


def is_dead(folder):
    try:
        os.stat(folder)
    except OSError as err:
        return err.errno == errno.ENOTCONN
    return False


def test_after_kill_9_under_load_the_mount_says_so_and_can_be_made_again(mount, ddbfs, proxy):
    m = mount("--timeout", "60")
    m.exit_code = None
    (m / SETTINGS).read_bytes()
    proxy.fault("delay", times=None, seconds=60)
    load = [subprocess.Popen(["cat", m / SHOP / f"USER#{n}"], stderr=-1) for n in range(10)]
    mounts.wait_until(lambda: len(proxy.requests) >= 2, "the load")  # those who ask at once are one batch
    m.signal(signal.SIGKILL)
    m.wait()
    assert all(b"onnect" in each.communicate()[1] for each in load)
    for call in (os.listdir, lambda path: open(path / "x", "rb")):
        with pytest.raises(OSError) as caught:
            call(m.root)
        assert caught.value.errno == errno.ENOTCONN
    mounts.wait_until(lambda: is_dead(m.root), "the root's attributes to be asked for again")
    proxy.heal()
    result = ddbfs("mount", m.root, expect=1)
    assert f"ddbfs umount {m.root}\n" in result.stderr
    subprocess.run(["fusermount3", "-u", m.root], check=True)
    ddbfs("mount", m.root)
    assert (m / SETTINGS).read_bytes()
    subprocess.run(["fusermount3", "-u", m.root], check=True)


@NEEDS_ROOT
@NEEDS_A_MOUNTED_ROOT
def test_auto_unmount_takes_a_dead_mount_away(mount):
    """Some times of ten: fusermount3 looks once whether the mount is dead, and on a busy machine it may
    look before the kernel has closed the dead daemon's device. Then it leaves the mount."""

    def is_taken_away():
        m = mount("-o", "auto_unmount")
        m.exit_code = None
        m.signal(signal.SIGKILL)
        m.wait()
        end = time.monotonic() + 8
        while mounts.is_mounted(m.root) and time.monotonic() < end:
            time.sleep(0.01)
        return not mounts.is_mounted(m.root)

    assert any(is_taken_away() for _ in range(10))


def test_nobody_else_sees_a_mount_under_test(mount, request):
    """The tests' own, and no promise of ddbfs."""
    if request.config.why_no_name_space:
        pytest.skip(request.config.why_no_name_space)
    m = mount()
    assert str(m.root) not in pathlib.Path("/proc/1/mountinfo").read_text("utf-8", "replace")


# mount(8) and fstab.


@pytest.fixture
def helper(ddbfs):
    """mount(8) looks for its helpers in /sbin alone. One test at a time has a link there."""
    link = pathlib.Path("/sbin/mount.fuse.ddbfs")
    with open(places.REPO / "tests/mount/conftest.py", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if link.exists() or link.is_symlink():
            pytest.skip(f"{link} is there already, and not of this test")
        link.symlink_to(ddbfs.binary)
        try:
            yield link
        finally:
            link.unlink()


def mount_8(ddbfs, *words):
    """It gives its helpers the environment, but for HOME."""
    aws = ddbfs.home.folder / ".aws"
    files = {"AWS_SHARED_CREDENTIALS_FILE": aws / "credentials", "AWS_CONFIG_FILE": aws / "config"}
    env = ddbfs.home.environment(files)
    done = subprocess.run(["mount", *words], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done
    return done


@NEEDS_ROOT
def test_mount_t_mounts(ddbfs, helper, root):
    mount_8(ddbfs, "-t", "fuse.ddbfs", "-o", "suffix=.json", places.DEFAULT_MAP, root)
    assert (root / f"{SETTINGS}.json").read_bytes()
    subprocess.run(["umount", root], check=True)
    assert not mounts.is_mounted(root)


@NEEDS_ROOT
def test_a_line_of_fstab_mounts(ddbfs, helper, root, tmp_path):
    words = "defaults,nofail,noauto,_netdev,x-systemd.automount,x-gvfs-hide,umask=077"
    fstab = tmp_path / "fstab"
    fstab.write_text(f"{places.DEFAULT_MAP} {root} fuse.ddbfs {words} 0 0\n")
    mount_8(ddbfs, "-T", fstab, root)
    assert (root / SETTINGS).read_bytes()
    assert stat.S_IMODE(os.stat(root / SETTINGS).st_mode) == 0o400


@NEEDS_ROOT
def test_a_line_of_fstab_that_names_no_map_takes_the_usual_one(ddbfs, helper, root, tmp_path):
    fstab = tmp_path / "fstab"
    fstab.write_text(f"ddbfs {root} fuse.ddbfs ro,_netdev 0 0\n")
    mount_8(ddbfs, "-T", fstab, root)
    assert (root / SETTINGS).read_bytes()


def fields_of(m):
    lines = pathlib.Path("/proc/self/mountinfo").read_text("utf-8").splitlines()
    line = next(line for line in lines if line.split()[4] == str(m.root))
    kind, source, options = line.split(" - ")[1].split(" ")
    return kind, source, options.split(",")


def test_the_usual_name_and_type(mount):
    kind, source, options = fields_of(mount())
    assert (kind, source) == ("fuse.ddbfs", "ddbfs") and "allow_other" not in options


def test_fsname_is_shown(mount):
    assert fields_of(mount("-o", "fsname=records"))[1] == "records"


def test_options_that_mean_nothing_here_are_taken(mount):
    words = "x-systemd.requires=network.target,_netdev,noauto,nofail,user,exec,rw,comment=a"
    m = mount("-o", words)
    assert (m / SETTINGS).read_bytes()


def test_uid_gid_and_umask(mount):
    m = mount("-o", "uid=1234,gid=4321,umask=037")
    for path, mode in ((SETTINGS, 0o440), (SHOP, 0o540), (f"{SHOP}/access-token", 0o400)):
        seen = os.stat(m / path)
        assert (seen.st_uid, seen.st_gid) == (1234, 4321)
        assert stat.S_IMODE(seen.st_mode) == mode, path


def test_options_of_ddbfs_may_stand_behind_o(mount, oracle):
    m = mount("-o", "suffix=.json,format=compact,cache-size=2M")
    text = (m / f"{SETTINGS}.json").read_bytes()
    assert text == oracle(f"/{SETTINGS}", "--format", "compact")


def as_nobody(*command):
    nobody = pwd.getpwnam("nobody")
    return subprocess.run(command, capture_output=True, user=nobody.pw_uid, group=nobody.pw_gid)


@NEEDS_ROOT
def test_allow_other_lets_others_read_records_and_no_secret(mount, oracle):
    m = mount("-o", "allow_other")
    open_to_all(m.root.parent)
    kind, source, options = fields_of(m)
    assert {"allow_other", "default_permissions"} <= set(options)
    assert as_nobody("cat", m / SETTINGS).stdout == oracle(f"/{SETTINGS}")
    for path in (f"{SHOP}/access-token", f"{SHOP}/API_KEY@/api_key"):
        done = as_nobody("cat", m / path)
        assert done.returncode != 0 and b"Permission denied" in done.stderr
    assert b"demo_api_key" not in as_nobody("cat", m / SHOP / "API_KEY").stdout
    assert b"demo_api_key" not in as_nobody("cat", m / SHOP / "API_KEY@typed").stdout


@NEEDS_ROOT
def test_allow_other_hides_secrets_from_the_owner_as_well(mount):
    m = mount("-o", "allow_other")
    with pytest.raises(PermissionError):
        (m / SHOP / "access-token").read_bytes()


@NEEDS_ROOT
def test_a_withheld_secret_leaves_its_reason(mount):
    m = mount("-o", "allow_other")
    with pytest.raises(PermissionError):
        (m / SHOP / "access-token").read_bytes()
    assert f"errno=EACCES path=/{SHOP}/access-token fixable_by=human: this is a secret" in m.errors()


@NEEDS_ROOT
def test_allow_other_with_show_secrets_keeps_modes(mount):
    m = mount("-o", "allow_other", "--show-secrets")
    open_to_all(m.root.parent)
    assert (m / SHOP / "access-token").read_bytes()
    assert b"Permission denied" in as_nobody("cat", m / SHOP / "access-token").stderr


# Refresh.


def test_refresh_of_a_subtree(mount, branch):
    paths = [branch.put_settings(f"s{n}.example", text="old") for n in range(5)]
    m = mount()
    assert all(b"old" in (m / path).read_bytes() for path in paths)
    for n in range(5):
        branch.put_settings(f"s{n}.example", text="new")
    m.refresh(f"{branch.name}/shops")
    assert all(b"new" in (m / path).read_bytes() for path in paths)


def test_refresh_of_the_whole_mount(mount, branch):
    path = branch.put_settings(text="old")
    m = mount()
    os.stat(m / path)
    branch.put_settings(text="new")
    m.refresh()
    assert b"new" in (m / path).read_bytes()


def test_refresh_of_a_name_that_was_not_there(mount, branch):
    branch.table("shops")
    path = f"{branch.name}/shops/cool-store.myshopify.com/SETTINGS"
    m = mount()
    assert not (m / path).exists()
    branch.put_settings(text="here")
    m.refresh(path)
    assert (m / path).exists()


def test_refresh_from_within_the_mount_by_a_relative_path(mount, ddbfs, branch):
    path = branch.put_settings(text="old")
    m = mount()
    (m / path).read_bytes()
    branch.put_settings(text="new")
    ddbfs("refresh", "SETTINGS", cwd=(m / path).parent)
    assert b"new" in (m / path).read_bytes()


def test_refresh_outside_of_a_mount_is_an_error(ddbfs, tmp_path):
    assert "not in a live mount" in ddbfs("refresh", tmp_path, expect=1).stderr
    assert "needs a path" in ddbfs("refresh", expect=2).stderr


def test_refresh_while_others_read(mount):
    m = mount()
    readers = [subprocess.Popen(["grep", "-rc", "e", m / SHOP], stdout=-3) for _ in range(4)]
    for _ in range(10):
        m.refresh()
    assert [reader.wait() for reader in readers] == [0] * 4


# /.ddbfs.


def test_the_control_folder_is_hidden_but_there(mount):
    m = mount()
    assert ".ddbfs" not in os.listdir(m.root)
    names = ["errors", "ledger.jsonl", "log", "map.json", "metrics", "mount.json", "recent", "stats.json"]
    assert sorted(os.listdir(m / ".ddbfs")) == names


def test_stats_count_what_was_asked(mount):
    m = mount()
    before = m.stats()
    (m / SETTINGS).read_bytes()
    os.listdir(m / LATEST)
    after = m.stats()
    asked = {op: after["requests"][op] - before["requests"][op] for op in after["requests"]}
    assert {op: count for op, count in asked.items() if count} == m.counts()
    records = {"GetItem", "BatchGetItem", "Query", "Scan", "TransactGetItems"}
    facts = {"DescribeTable", "ListTables", "DescribeTimeToLive", "ListBackups", "DescribeContinuousBackups"}
    facts |= {"ListExports", "SearchVectors", "DescribeStream", "GetShardIterator", "GetRecords"}
    assert set(asked) == records | facts
    assert after["consumed_capacity"] > before["consumed_capacity"]
    assert after["files"] > before["files"] and after["content_bytes"] > 0


def test_the_map_is_shown_as_it_was_read(mount):
    assert (mount() / ".ddbfs/map.json").read_bytes() == places.DEFAULT_MAP.read_bytes()


def test_the_log_says_who_read_what_how_long_and_by_which_request(mount, proxy):
    m = mount("-v")
    (m / SETTINGS).read_bytes()
    lines = m.lines()
    request = next(record.request_id for record in proxy.requests if record.op == "GetItem")
    read = r"table=prod-ShopifyEntitiesTable ok ms=\d+"
    line = rf"pid={os.getpid()} path=/{re.escape(SETTINGS)} {read} request={re.escape(request)}"
    assert re.search(line, lines), lines


def test_the_log_says_who_listed_what(mount):
    m = mount("-v")
    os.listdir(m / LATEST)
    lines = m.lines()
    assert re.search(rf"pid={os.getpid()} path=/{re.escape(LATEST)}.* ms=\d+", lines), lines


def test_lines_that_repeat_are_counted(mount, proxy):
    m = mount("--timeout", "1")
    proxy.fault("denied", times=None)
    for _ in range(50):
        with pytest.raises(PermissionError):
            os.stat(m / SETTINGS)
    assert sum("AccessDenied" in line or "EACCES" in line for line in m.log().splitlines()) < 10


def test_failures_of_several_paths_are_each_told(mount):
    m = mount()
    paths = [f"prod/jobs/by-index/shopify/shop-{n}.myshopify.com" for n in range(5)]
    for path in paths:
        with pytest.raises(OSError):
            os.stat(m / path)
    assert [path for path in paths if f"path=/{path} " in m.log()] == paths


def test_no_secret_is_told(mount, proxy):
    m = mount("-v", "--show-secrets")
    for name in os.listdir(m / SHOP):
        (m / SHOP / name).read_bytes()
    (m / SHOP / "access-token").read_bytes()
    proxy.fault("denied", op="GetItem", times=None)
    with pytest.raises(PermissionError):
        os.stat(m / SHOP / "USER#1")
    told = m.log() + m.lines() + m.errors() + json.dumps(m.stats())
    told += m.metrics() + (m / ".ddbfs/map.json").read_text()
    told += (m / ".ddbfs/ledger.jsonl").read_text()
    assert "cool-store" in told and not [secret for secret in SECRETS if secret in told]


def forget_everything(m):
    """The kernel drops every name that nobody uses, and the mount what it keeps for others."""
    m.refresh()
    pathlib.Path("/proc/sys/vm/drop_caches").write_text("2")


@NEEDS_ROOT
def test_nodes_are_gone_when_the_kernel_has_forgotten(mount, branch):
    """What remains: the root, and /.ddbfs with the file that is read to see it."""
    for number in range(50):
        branch.put_settings(f"s{number}.example", text="x")
    m = mount()

    def has_grown():
        """Somebody else on this machine may have the kernel forget meanwhile."""
        for number in range(50):
            assert os.listdir(m / f"{branch.name}/shops/s{number}.example")
            os.stat(m / f"{branch.name}/shops/s{number}.example/SETTINGS@info")
        grown = m.stats()
        return grown["directories"] >= 50 and grown["files"] >= 100

    mounts.wait_until(has_grown, "the nodes to come")

    def is_small():
        forget_everything(m)
        stats = m.stats()
        return stats["directories"] <= 2 and stats["files"] <= 1 and stats["content_bytes"] < 2000

    mounts.wait_until(is_small, "the nodes to go")


@NEEDS_ROOT
def test_descriptors_do_not_grow(mount):
    m = mount()
    folder = f"/proc/{m.pid}/fd"

    def work():
        for path in (SHOP, LATEST, "prod/jobs", ".ddbfs"):
            for entry in os.scandir(m / path):
                entry.is_file() and pathlib.Path(entry.path).read_bytes()
        m.refresh()

    work()
    before = len(os.listdir(folder))
    for _ in range(10):
        work()
    assert len(os.listdir(folder)) == before
