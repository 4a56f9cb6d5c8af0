"""Fixtures of the mount's tests: a live mount on a private folder, through the recording proxy."""

import os
import shutil
import signal
import uuid

import pytest

from harness import load, mounts, places, preloads, proxy as proxies, runner

TEST_TIMEOUT_S = 120
SHOP = "cool-store.myshopify.com"


@pytest.fixture(scope="session", params=["dynoxide"])
def server(request, server_called):
    """dynoxide, unless the test says @pytest.mark.parametrize("server", …, indirect=True)."""
    return server_called(request.param)


def why_not():
    if not os.path.exists("/dev/fuse"):
        return "there is no /dev/fuse"
    if os.geteuid() != 0 and not shutil.which("fusermount3"):
        return "there is no fusermount3"
    return None


def pytest_collection_modifyitems(items):
    here = os.path.dirname(__file__)
    for item in items:
        if why_not() and str(item.path).startswith(here):
            item.add_marker(pytest.mark.skip(reason=why_not()))


@pytest.fixture(autouse=True)
def limit():
    """A test that hangs in a system call of the mount is interrupted, and fails."""

    def fail(*_):
        raise TimeoutError(f"the test took more than {TEST_TIMEOUT_S} s")

    old = signal.signal(signal.SIGALRM, fail)
    signal.alarm(TEST_TIMEOUT_S)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, old)


@pytest.fixture
def mount(ddbfs, proxy, tmp_path):
    """mount("--suffix", ".json", map_file=…, env=…): a live mount whose proxy has forgotten the
    start-up. Every one is unmounted after the test, and its daemon's end is checked."""
    made = []

    def make(*options, map_file=None, env=None):
        folder = tmp_path / f"mount-{len(made)}"
        made.append(mounts.Mount(ddbfs, folder, proxy, options, map_file, env))
        made[-1].wait_ready()
        proxy.clear()
        return made[-1]

    yield make
    proxy.heal()
    for each in made:
        each.clean_up()


@pytest.fixture(scope="module")
def mount_of_module(server, tmp_path_factory):
    """A mount of the example map, with a proxy of its own, for all tests of a module."""
    folder = tmp_path_factory.mktemp("shared")
    with proxies.Proxy(server) as proxy:
        made = mounts.Mount(runner.Ddbfs(runner.Home(folder / "home", proxy.url)), folder, proxy)
        try:
            yield made.wait_ready()
        finally:
            made.clean_up()
    assert not proxy.problems(), proxy.problems()


@pytest.fixture
def shared_mount(mount_of_module):
    """A mount that other tests of the module have used: for a test that reads the sample data, injects no
    fault, and compares neither requests nor what the mount counts with numbers of a fresh mount."""
    assert mount_of_module.process.poll() is None, mount_of_module.log()
    mount_of_module.proxy.clear()
    return mount_of_module


@pytest.fixture
def oracle(server, make_proxy, tmp_path):
    """oracle("/prod/…", *options): the bytes of `ddbfs cat`, by a proxy of its own."""
    home = runner.Home(tmp_path / "oracle-home", make_proxy(server).url)
    ddbfs = runner.Ddbfs(home)
    return lambda *paths: ddbfs("cat", *paths).stdout


class ForOthers:
    """ddbfs as another user may start it: the program, the map and the home of DDBFS in folders that are open
    to all. The checkout may be in a folder that is not."""

    def __init__(self, ddbfs, folder):
        self.binary = shutil.copy(ddbfs.binary, folder / "ddbfs-of-others")
        self.map_file = shutil.copy(places.DEFAULT_MAP, folder / "others.map.json")
        self.home = ddbfs.home
        for each in (folder, *folder.rglob("*"), *folder.parents):
            if os.stat(each).st_uid == os.getuid() and each != each.parent:
                each.chmod(os.stat(each).st_mode | (0o055 if each.is_dir() else 0o044))

    def environment(self):
        return self.home.environment({"DDBFS_MAP": self.map_file})


@pytest.fixture
def for_others(ddbfs, tmp_path):
    """for_others(): a ForOthers, and from then on all that is in the test's folder may be read by all."""
    return lambda: ForOthers(ddbfs, tmp_path)


class Branch:
    """Three tables of a test's own, as the environment /dev-<name> of the example map."""

    TABLES = {
        "jobs": "EcomIndexerJobsTable",
        "index-settings": "EcomIndexSettingsTable",
        "shops": "ShopifyEntitiesTable",
    }

    def __init__(self, boto):
        self.boto = boto
        self.name = f"dev-{uuid.uuid4().hex[:12]}"
        self.made = []

    def table(self, which):
        name = f"{self.name}-{self.TABLES[which]}"
        if name not in self.made:
            by_name = {each["TableName"]: each for each in load.tables()}
            load.create_table(self.boto, by_name[self.TABLES[which]], name)
            self.made.append(name)
        return name

    def put(self, which, items):
        load.put_all(self.boto, self.table(which), items)

    def put_settings(self, domain=SHOP, **texts):
        item = {"pk": f"SHOP#{domain}", "sk": "SETTINGS", **texts}
        self.put("shops", [{name: {"S": text} for name, text in item.items()}])
        return f"{self.name}/shops/{domain}/SETTINGS"

    def put_jobs(self, count, shop="acct-index", status="FAILED", padding=0):
        """COUNT jobs of one shop; the path of its listing of all, and their names in order."""
        items = [job(number, shop, status, padding) for number in range(count)]
        self.put("jobs", items)
        names = [each["sk"]["S"][len("JOB#") :] for each in items]
        return f"{self.name}/jobs/by-index/shopify/{shop}/all", names

    def drop(self):
        for name in self.made:
            self.boto.delete_table(TableName=name)


def job(number, shop, status, padding):
    day, second = 1 + number // 86400, number % 86400
    clock = f"{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}"
    created = f"2026-03-{day:02d}T{clock}.000Z"
    texts = {
        "pk": f"PLATFORM#shopify#SHOP#{shop}",
        "sk": f"JOB#{created}#job-{number:06d}",
        "job_id": f"job-{number:06d}",
        "shop_id": shop,
        "platform": "shopify",
        "status": status,
        "created_at": created,
        "status_created_at": f"{status}#{created}",
        "note": "x" * padding,
    }
    return {name: {"S": text} for name, text in texts.items() if text}


@pytest.fixture
def branch(boto):
    made = Branch(boto)
    yield made
    made.drop()


@pytest.fixture
def make_map(tmp_path):
    """make_map(change): the example map after CHANGE(text) -> text, as a file of the test's own."""

    def make(change=lambda text: text, name="own.map.json"):
        text = change(places.DEFAULT_MAP.read_text("utf-8"))
        (tmp_path / name).write_text(text, "utf-8")
        return tmp_path / name

    return make


@pytest.fixture
def short(make_map):
    """A map whose records are asked for again and again."""
    return make_map(lambda text: text.replace('"mtime"', '"ttl": 0, "mtime"'))


@pytest.fixture(scope="session")
def old_kernel(tmp_path_factory):
    """old_kernel(**settings): the environment of a daemon that meets an older kernel."""
    env = preloads.preload(tmp_path_factory.mktemp("old-kernel"), "old_kernel")

    def environment(**settings):
        made = {f"OLD_KERNEL_{name.upper()}": str(value) for name, value in settings.items()}
        return {**env, **made}

    return environment


@pytest.fixture(scope="session")
def stalled_disk(tmp_path_factory):
    """The environment of a daemon whose ledger's file system hangs while STALLED_DISK_FILE is there."""
    return preloads.preload(tmp_path_factory.mktemp("stalled-disk"), "stalled_disk")


@pytest.fixture(scope="session")
def stalled_names(tmp_path_factory):
    """The environment of a daemon whose name server does not answer for names under .stalled."""
    return preloads.preload(tmp_path_factory.mktemp("stalled-names"), "stalled_names")


@pytest.fixture(params=["this kernel", "an older kernel"])
def kernel(request, old_kernel):
    return old_kernel() if request.param == "an older kernel" else {}
