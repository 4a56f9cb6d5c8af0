"""Links in a mount: symbolic ones, which the kernel and real programs follow, chained by `cd`."""

import json
import os
import shutil
import stat
import subprocess
import tarfile

import pytest

from harness import mounts

JOB = "prod/jobs/by-id/1f3c9a52-7b1e-4c57-9d0a-2e6f4b8c1d90"
LINKS = f"{JOB}@links"
SETTINGS = "prod/index-settings/kl7a9h55/shopify-e513a8-4"
SHOP = "prod/shops/e513a8-4.myshopify.com"
HOSTILE = ["..", ".", "/", "../../../../../etc/passwd", "/etc/passwd", "a\x1b[2J\n", "%2e%2e", "%", " "]


def run(*command, code=0, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    assert done.returncode == code, done
    return done.stdout


def shell(mount, line):
    return run("sh", "-ec", line, cwd=mount.root)


def test_a_link_is_a_relative_symlink(shared_mount):
    m = shared_mount
    link = m / f"{LINKS}/settings"
    target = "../../../index-settings/kl7a9h55/shopify-e513a8-4"
    seen = os.lstat(link)
    assert stat.S_ISLNK(seen.st_mode) and seen.st_size == len(target)
    assert os.readlink(link) == target
    assert os.path.realpath(link) == str(m / SETTINGS)
    assert [entry.is_symlink() for entry in os.scandir(m / LINKS)] == [True] * 3
    assert f"settings -> {target}\n" in run("ls", "-l", m / LINKS)


def test_it_opens_as_what_it_leads_to(shared_mount, oracle):
    m = shared_mount
    assert (m / f"{LINKS}/settings").read_bytes() == oracle(f"/{SETTINGS}")
    assert os.path.samefile(m / f"{LINKS}/settings", m / SETTINGS)


def test_from_a_failed_job_to_its_settings_to_its_shop_by_cd(shared_mount, oracle):
    m = shared_mount
    line = f"cd {JOB}@links; cd settings@links; cd shop; cat SETTINGS; cd -P .; pwd"
    text = shell(m, line)
    wanted = oracle(f"/{SHOP}/SETTINGS").decode()
    assert text == f"{wanted}{m / SHOP}\n"


def test_each_link_costs_its_record_once(mount):
    m = mount()
    os.readlink(m / f"{LINKS}/settings")
    assert m.counts() == {"Query": 1, "GetItem": 1}
    os.readlink(m / f"{LINKS}/shop")
    os.listdir(m / LINKS)
    (m / JOB).read_bytes()
    assert m.counts() == {"Query": 1, "GetItem": 1}
    (m / f"{LINKS}/settings").read_bytes()
    assert m.counts() == {"Query": 1, "GetItem": 2}


def test_what_keys_tell_costs_nothing(mount):
    m = mount()
    assert os.readlink(m / f"{SETTINGS}@links/jobs") == (
        "../../../jobs/by-status/kl7a9h55-shopify-e513a8-4"
    )
    assert sorted(os.listdir(m / f"{SETTINGS}@links/jobs")) == (
        ["COMPLETED", "FAILED", "IN_PROGRESS", "PENDING"]
    )
    assert m.counts() == {}


def test_no_listing_and_no_walk_meets_them(shared_mount):
    m = shared_mount
    assert run("find", m / "prod/index-settings/kl7a9h55", "-type", "l") == ""
    assert run("grep", "-rl", "@links", m / SHOP, code=1) == ""


def test_find_follows_links_and_ends(mount):
    m = mount()
    found = run("find", "-L", m / LINKS, "-type", "f").splitlines()
    assert str(m / f"{LINKS}/settings") in found
    assert str(m / f"{LINKS}/shop/SETTINGS") in found
    assert all(path.count("@links") == 1 for path in found)


@pytest.mark.parametrize("flags, is_link", [("-a", True), ("-rL", False)])
def test_cp(shared_mount, tmp_path, flags, is_link):
    m = shared_mount
    run("cp", flags, "--no-preserve=mode", m / LINKS, tmp_path / "copy")
    assert os.path.islink(tmp_path / "copy/settings") == is_link
    if not is_link:
        assert json.loads((tmp_path / "copy/settings").read_text())["pk"] == "kl7a9h55"


def test_tar(shared_mount, tmp_path):
    m = shared_mount
    run("tar", "-C", m / LINKS, "-cf", tmp_path / "a.tar", ".")
    with tarfile.open(tmp_path / "a.tar") as archive:
        links = {each.name: each.linkname for each in archive if each.issym()}
    assert links["./shop"] == "../../../shops/e513a8-4.myshopify.com"


@pytest.mark.skipif(not shutil.which("rsync"), reason="rsync is not installed")
def test_rsync(shared_mount, tmp_path):
    m = shared_mount
    run("rsync", "-rl", f"{m / LINKS}/", tmp_path / "copy")
    assert os.readlink(tmp_path / "copy/shop") == "../../../shops/e513a8-4.myshopify.com"


def test_links_work_through_a_bind_mount(mount, tmp_path, oracle):
    """Of the whole, and of one environment."""
    m = mount()
    for name, what in (("whole", m.root), ("one", m / "prod")):
        bound = tmp_path / name
        bound.mkdir()
        done = subprocess.run(["mount", "--bind", what, bound], capture_output=True, text=True)
        if done.returncode:
            pytest.skip(done.stderr)
        try:
            path = f"{LINKS}/settings" if name == "whole" else f"{LINKS}/settings".removeprefix("prod/")
            assert (bound / path).read_bytes() == oracle(f"/{SETTINGS}")
            assert os.path.realpath(bound / path).startswith(str(bound))
        finally:
            subprocess.run(["umount", bound], check=True)


def test_a_missing_attribute_is_no_link(shared_mount):
    m = shared_mount
    path = m / "prod/index-settings/kl7a9h55/products@links"
    assert os.listdir(path) == ["jobs"]
    with pytest.raises(FileNotFoundError):
        os.readlink(path / "shop")
    with pytest.raises(FileNotFoundError):
        os.readlink(path / "nope")


def test_a_link_without_a_target_dangles(mount, branch):
    branch.table("shops")
    path = branch.put_settings(system_account_id="acct", active_index="gone")
    branch.put("index-settings", [{"pk": {"S": "acct"}, "sk": {"S": "INDEX#there"}}])
    m = mount()
    link = m / f"{path}@links/settings"
    assert os.readlink(link) == "../../../index-settings/acct/gone"
    with pytest.raises(FileNotFoundError):
        link.read_bytes()


def test_another_target_is_another_inode(mount, branch, short):
    path = branch.put_settings(system_account_id="acct", active_index="one")
    m = mount(map_file=short)
    first = os.lstat(m / f"{path}@links/settings")
    branch.put_settings(system_account_id="acct", active_index="two", plan="new")
    link = m / f"{path}@links/settings"
    mounts.wait_until(lambda: os.readlink(link).endswith("/two"), "the other target")
    second = os.lstat(link)
    assert first.st_ino != second.st_ino
    branch.put_settings(system_account_id="acct", active_index="two", plan="newer")
    mounts.wait_until(lambda: b"newer" in (m / path).read_bytes(), "the other record")
    assert os.lstat(link).st_ino == second.st_ino


@pytest.mark.parametrize("value", HOSTILE)
def test_no_value_leads_out_of_the_mount(mount, branch, value):
    path = branch.put_settings(system_account_id=value, active_index=value)
    m = mount()
    link = m / f"{path}@links/settings"
    steps = os.readlink(link).split("/")
    assert steps[:4] == ["..", "..", "..", "index-settings"] and len(steps) == 6
    assert not {"", ".", ".."} & set(steps[4:])
    assert os.path.normpath(link.parent / os.readlink(link)).startswith(f"{m.root}/{branch.name}/")


def test_a_name_with_at_links_at_its_end_is_a_name(mount, branch):
    branch.table("index-settings")
    items = [
        {"pk": {"S": "acct"}, "sk": {"S": f"INDEX#{name}"}, "index_name": {"S": name}}
        for name in ("x", "x@links")
    ]
    branch.put("index-settings", items)
    m = mount()
    folder = m / f"{branch.name}/index-settings/acct"
    names = sorted(name for name in os.listdir(folder) if not name.endswith(".d"))
    assert len(names) == 2 and "x@links" not in names
    assert json.loads((folder / names[1]).read_text())["index_name"] == "x@links"


def test_an_outage_is_an_error_and_no_missing_link(mount):
    m = mount()
    m.proxy.fault("denied", times=None)
    for act in (os.readlink, os.stat):
        with pytest.raises(PermissionError):
            act(m / f"{LINKS}/settings")
    assert "@links/settings" in m.errors()
    m.proxy.heal()
    assert os.readlink(m / f"{LINKS}/settings").endswith("shopify-e513a8-4")


def test_a_link_is_only_a_link(shared_mount):
    m = shared_mount
    link = m / f"{LINKS}/settings"
    for act in (os.listdir, os.unlink):
        with pytest.raises(OSError):
            act(link)
    with pytest.raises(NotADirectoryError):
        os.stat(f"{link}/x")
