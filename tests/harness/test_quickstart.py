"""The demo server and the quickstart, each in a copy of the tree, so that a demo which somebody
has running is left alone."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

from harness import load, packages, places, runner

LEFT_OUT = shutil.ignore_patterns(".git", "build*", "__pycache__")
# Where `/` is no mount, as in a chroot, there are none.
needs_name_space = pytest.mark.skipif(
    subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode != 0,
    reason="no name space of mounts can be made here",
)


@pytest.fixture
def environment(tmp_path):
    packages.dynoxide()  # fetched by now, or here
    # The quickstart is built as a user's is, and soon: by the compiler's cache, or not optimized.
    cache = os.environ.get("CCACHE_DIR") or pathlib.Path.home() / ".cache/ccache"
    soon = {"CCACHE_DIR": str(cache)} if shutil.which("ccache") else {"CFLAGS": "-O0"}
    return {
        **soon,
        "PATH": runner.PATH,
        "HOME": str(tmp_path),
        "DDBFS_CACHE": str(places.CACHE),
        "CI": "true",
    }


def run(command, environment, expect=0, timeout_s=300):
    done = subprocess.run(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout_s,
    )
    assert done.returncode == expect, done.stdout + done.stderr
    return done.stdout


def processes_of(folder):
    """The pids of live processes whose command line names FOLDER."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes()
        except OSError:
            continue  # it has ended
        if os.fsencode(folder) in words and int(entry.name) != os.getpid():
            found.append(int(entry.name))
    return found


@pytest.fixture
def demo(tmp_path, environment):
    """load_demo.sh in a folder of its own; stopped afterwards whatever happens."""
    script, folder = places.EXAMPLES / "load_demo.sh", tmp_path / "demo"

    def call(*arguments, **options):
        return run(
            ["sh", script, "--dir", folder, "--port", "8200", *arguments], environment, **options
        )

    yield call, folder
    call("--stop")


def keys(items):
    return sorted((item["pk"]["S"], item["sk"]["S"]) for item in items)


def test_the_demo_server_has_the_sample_data(demo):
    call, folder = demo
    said = call("--background")
    url = f"http://127.0.0.1:{(folder / 'server.port').read_text().strip()}"
    assert f"export AWS_ENDPOINT_URL_DYNAMODB={url}\n" in said
    boto = load.client(url)
    for environment in load.environments():
        for description in load.tables():
            base = description["TableName"]
            got = boto.scan(TableName=f"{environment}-{base}")["Items"]
            assert keys(got) == keys(load.items(base, environment))


def test_the_demo_server_s_tables_are_as_described(demo):
    call, folder = demo
    call("--background")
    boto = load.client(f"http://127.0.0.1:{(folder / 'server.port').read_text().strip()}")
    for description in load.tables():
        got = boto.describe_table(TableName="dev-fix-7-" + description["TableName"])["Table"]
        assert got["KeySchema"] == description["KeySchema"]
        wanted = {index["IndexName"]: index for index in description["GlobalSecondaryIndexes"]}
        assert {index["IndexName"] for index in got["GlobalSecondaryIndexes"]} == set(wanted)
        for index in got["GlobalSecondaryIndexes"]:
            assert index["KeySchema"] == wanted[index["IndexName"]]["KeySchema"]
            assert index["Projection"] == wanted[index["IndexName"]]["Projection"]


def test_the_demo_server_starts_again_and_stops(demo):
    call, folder = demo
    call("--background")
    call("--background")
    assert len(processes_of(folder / "demo.db")) == 1
    call("--stop")
    assert processes_of(folder / "demo.db") == []
    call("--stop")


def test_an_option_that_is_none_is_usage(demo):
    call, _ = demo
    call("--typo", expect=2)


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of the tree, in which the quickstart builds once."""
    return shutil.copytree(places.REPO, tmp_path_factory.mktemp("quickstart") / "tree", ignore=LEFT_OUT)


def check_session(said, tree):
    """It read an item twice, through the mount and without it, and left no mount and no process."""
    mountpoint = pathlib.Path(re.search(r"^3\. Mounting it at (/.*)\.$", said, re.M)[1])
    assert f"$ cat {mountpoint}/prod/shops/cool-store.myshopify.com/SETTINGS" in said
    assert '"job_id": "1f3c9a52-7b1e-4c57-9d0a-2e6f4b8c1d90"' in said
    assert "\nshpat_demo_cool_two_latest\n" in said
    assert tree not in mountpoint.parents and not mountpoint.exists()
    assert processes_of(tree) == processes_of(mountpoint) == []


@pytest.mark.xdist_group("quickstart")
def test_the_quickstart_needs_no_server_and_no_network(tree, environment):
    script = tree / "docs/quickstart.sh"
    check_session(run(["sh", script], environment, timeout_s=600), tree)
    shutil.rmtree(tree / "build/demo", ignore_errors=True)
    # Built by now: a machine without any network, nor npm, nor credentials.
    poor = {**environment, "PATH": "/usr/bin:/bin", "DDBFS_CACHE": "/nonexistent", "AWS_CONFIG_FILE": "/nonexistent"}
    check_session(run(["unshare", "-n", "sh", script], poor), tree)
    assert not (tree / "build/demo").exists()


@pytest.mark.xdist_group("quickstart")
@pytest.mark.parametrize("signal", ["-", "''"], ids=["killed", "ignored"])
def test_the_quickstart_ends_with_its_reader(tree, environment, signal):
    """Whether the signal PIPE kills, as in a shell, or is ignored, as in some services."""
    command = f"trap {signal} PIPE; sh {tree}/docs/quickstart.sh | grep -m 1 SETTINGS"
    said = run(["sh", "-c", command], environment, timeout_s=600)
    mountpoint = pathlib.Path(re.search(r"cat (/.*)/prod/shops", said)[1])
    assert processes_of(mountpoint) == [] and not mountpoint.exists()


@pytest.mark.xdist_group("quickstart")
def test_the_quickstart_with_a_server_shows_the_same(tree, environment):
    check_session(run(["sh", tree / "docs/quickstart.sh", "--server"], environment, timeout_s=600), tree)


@pytest.mark.xdist_group("quickstart")
def test_the_quickstart_can_keep_its_mount(tree, environment):
    script = tree / "docs/quickstart.sh"
    said = run(["sh", script, "--keep"], environment, timeout_s=600)
    mountpoint = pathlib.Path(re.search(r"^The mount is still there: (/.*)$", said, re.M)[1])
    try:
        assert "by-id" in os.listdir(mountpoint / "prod/jobs")
    finally:
        run(["sh", script, "--stop"], environment)
    assert not mountpoint.exists() and processes_of(mountpoint) == []


def copy_functions(tree, lines):
    """Makes docs/try.sh in a new TREE: the functions of the quickstart, and then LINES."""
    shutil.copytree(places.REPO / "docs", tree / "docs")
    shutil.copytree(places.REPO / "tests", tree / "tests", ignore=LEFT_OUT)
    script = (tree / "docs/quickstart.sh").read_text()
    functions = script[: script.index('\nfor option in "$@"')]
    (tree / "docs/try.sh").write_text(f"{functions}\n{lines}\n")


@needs_name_space
def test_a_missing_mtab_is_the_reason(tmp_path):
    fail = "fusermount3() { echo failed to open /etc/mtab >&2; return 1; }"
    copy_functions(tmp_path / "tree", f"is_mounted() {{ :; }}\n{fail}\nunmount")
    (tmp_path / "empty").mkdir()
    hidden = f"mount --bind {tmp_path}/empty /etc && sh {tmp_path}/tree/docs/try.sh"
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", hidden], env={"PATH": runner.PATH}, capture_output=True, text=True
    )
    assert done.returncode == 1 and "failed to open /etc/mtab\n" in done.stderr
    assert "as root: ln -s /proc/self/mounts /etc/mtab" in done.stderr and "in use" not in done.stderr


@needs_name_space
def test_a_full_disk_leaves_no_snapshot(tmp_path):
    """The scratch folder is on the disk of the snapshot, and the message says what to do."""
    tree, small = tmp_path / "tree", tmp_path / "tree/build"
    copy_functions(tree, "DDBFS=$REAL_DDBFS\nprepare_snapshot")
    small.mkdir()
    mounted = f"mount -t tmpfs -o size=200k tmpfs {small} && sh {tree}/docs/try.sh; ls -A {small}"
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", mounted],
        env={"PATH": runner.PATH, "REAL_DDBFS": places.program("DDBFS", "build-asan/fs/ddbfs", "build/fs/ddbfs")},
        capture_output=True,
        text=True,
    )
    assert done.stdout.splitlines()[1:] == ["quickstart.log"], done
    assert "could not be made for the reason above" in done.stderr
    assert f"quickstart: the disk of {small} is full; free some space" in done.stderr


def test_the_quickstart_mounts_on_nobody_else_s_folder(tmp_path):
    """The name of the folder in /tmp can be guessed."""
    tree = tmp_path / "tree"
    copy_functions(tree, "make_mountpoint && echo made || echo refused")
    number = subprocess.run(["cksum"], input=str(tree), capture_output=True, text=True).stdout.split()[0]
    mountpoint = pathlib.Path(f"/tmp/ddbfs-demo-{os.getuid()}-{number}")
    attempt = lambda: run(["sh", tree / "docs/try.sh"], {"PATH": runner.PATH})  # noqa: E731
    try:
        assert attempt() == "made\n" and mountpoint.stat().st_mode & 0o777 == 0o700
        assert attempt() == "made\n"
        mountpoint.chmod(0o755)
        assert attempt() == "refused\n"
        mountpoint.rmdir()
        mountpoint.symlink_to(tmp_path)
        assert attempt() == "refused\n"
    finally:
        mountpoint.unlink() if mountpoint.is_symlink() else mountpoint.rmdir()
