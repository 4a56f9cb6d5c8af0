"""A model of a live mount: a writer changes items at random while readers read, and no read is older than the
mount states. DDBFS_LONG=1: ten minutes, with faults and with shards that split."""

import collections
import faulthandler
import json
import os
import random
import signal
import time

import pytest

from harness import live_model, mounts, splits, workers
from .conftest import job

pytestmark = pytest.mark.waits

STREAM = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
READS = ("GetItem", "BatchGetItem", "Query")

SHOPS = ("s0", "s1", "s2")
JOBS = 10  # of each shop
DOMAINS = [f"shop-{i}.test" for i in range(6)]
NEWEST = 5
TTL_S = 10  # of the map
MOST_LAG_S = 6  # of a result from when the stream was read well: with the time that readers use it
INFO_S = 0.6  # the kernel may have an @info for so long
LATE_S = 0.3  # of responses that a fault holds back

SHORT_S, LONG_S = 10, 600
SEED = int(os.environ.get("DDBFS_LIVE_SEED", "1"))  # of the long run
WARM_S = 120  # of the long run, before the memory is measured for the first time


@pytest.fixture(autouse=True)
def limit():
    """Instead of the limit of other tests."""
    faulthandler.cancel_dump_traceback_later()
    signal.alarm(LONG_S + 600 if os.environ.get("DDBFS_LONG") == "1" else 120)
    yield
    signal.alarm(0)


class World:
    """The items of two tables, how the mount shows them, and how that is judged."""

    def __init__(self, branch, boto):
        self.branch, self.boto = branch, boto
        self.tables = {which: branch.table(which) for which in ("jobs", "shops")}
        for table in self.tables.values():
            boto.update_table(TableName=table, StreamSpecification=STREAM)
        self.jobs = {(shop, i): self.item_of("jobs", job(self.number(shop, i), shop, "", 0)) for shop in SHOPS for i in range(JOBS)}
        self.settings = {domain: self.item_of("shops", self.typed_settings(domain)) for domain in DOMAINS}
        self.items = [*self.jobs.values(), *self.settings.values()]
        branch.put("jobs", [job(self.number("sentinel", 0), "sentinel", "COMPLETED", 0)])
        branch.put("shops", [self.typed_settings("sentinel")])
        for item in self.items:
            if random.Random(len(item.versions)).random() < 0.8:
                item.write("PENDING")
        self.errors_allowed = False
        self.note = ""  # of the latest trouble
        self.m = None

    @staticmethod
    def typed_settings(domain):
        return {"pk": {"S": f"SHOP#{domain}"}, "sk": {"S": "SETTINGS"}}

    def item_of(self, which, typed):
        table = self.tables[which]
        key = {name: typed[name] for name in ("pk", "sk")}

        def put(status, number):
            more = {"status": {"S": status}, "version": {"N": str(number)}}
            if "created_at" in typed:
                more["status_created_at"] = {"S": f"{status}#{typed['created_at']['S']}"}
            self.boto.put_item(TableName=table, Item={**typed, **more})

        return live_model.Item(put, lambda: self.boto.delete_item(TableName=table, Key=key))

    # Paths.

    def path(self, *steps):
        return os.path.join(self.m.root, self.branch.name, *steps)

    def shop(self, shop, *steps):
        return self.path("jobs", "by-index", "shopify", shop, *steps)

    @staticmethod
    def number(shop, i):
        """No two jobs have the same id."""
        return 100 * ((*SHOPS, "sentinel").index(shop) + 1) + i

    def name_of(self, shop, i):
        return job(self.number(shop, i), "", "", 0)["sk"]["S"][len("JOB#") :]

    # What the mount states.

    def state(self, which):
        path = self.shop("sentinel", "all", self.name_of("sentinel", 0)) if which == "jobs" else self.path("shops", "sentinel", "SETTINGS")
        with open(f"{path}@info", encoding="utf-8") as stream:
            return json.load(stream)["live"]

    def window(self, which, read):
        """READ() and the window that the mount promises for it; both again if the stream was not read well."""
        asked = time.monotonic()
        before = self.state(which)
        seen = read()
        until = time.monotonic()
        lag_s = before.get("lag_ms", 0) / 1000 + INFO_S + 2 * LATE_S * self.errors_allowed
        live = before["state"] == self.state(which)["state"] == "live"
        return seen, live_model.Window(asked - (lag_s if live else TTL_S + MOST_LAG_S), until), before

    def check(self, which, kind, read, judge):
        """JUDGE(seen, window) returns the findings."""
        seen, window, before = self.window(which, read)
        found = judge(seen, window)
        if found:
            raise AssertionError(f"{window.until:.3f} {kind}: {found[:3]}; {before}; the window has "
                                 f"{window.until - window.since:.3f} s; {self.note}")  # fmt: skip
        return kind

    # Reads.

    def open(self, path):
        """The text of a file; None if it does not exist."""
        try:
            with open(path, encoding="utf-8") as stream:
                return stream.read()
        except FileNotFoundError:
            return None

    def version_in(self, path):
        text = self.open(path)
        return None if text is None else int(json.loads(text)["version"])

    def judge_item(self, item):
        def judge(number, window):
            if window.may_show(item, number):
                return []
            return [f"version {number} of {item.versions[-4:]}, which was replaced {window.age_of(item, number):.3f} s ago"]

        return judge

    def read_item(self, lots):
        (shop, i), item = lots.choice(list(self.jobs.items()))
        path = lots.choice([
            self.path("jobs", "by-id", f"job-{self.number(shop, i):06d}"),
            self.shop(shop, "all", self.name_of(shop, i)),
        ])  # fmt: skip
        return self.check("jobs", "an item", lambda: self.version_in(path), self.judge_item(item))

    def read_settings(self, lots):
        domain, item = lots.choice(list(self.settings.items()))
        path = self.path("shops", domain, "SETTINGS")
        return self.check("shops", "settings", lambda: self.version_in(path), self.judge_item(item))

    def read_attribute(self, lots):
        domain, item = lots.choice(list(self.settings.items()))
        path = self.path("shops", domain, "SETTINGS@", "version")

        def read():
            text = self.open(path)
            return None if text is None else int(text)

        return self.check("shops", "an attribute", read, self.judge_item(item))

    def listed(self, path):
        return set(os.listdir(path)) - {"README"}

    def read_listing(self, lots, status=None):
        """A listing, and one of its files."""
        shop = lots.choice(SHOPS)
        path = self.shop(shop, "all") if status is None else self.shop(shop, "status", status)
        opened = lots.randrange(JOBS)

        def read():
            names = self.listed(path)
            inner = self.version_in(os.path.join(path, self.name_of(shop, opened))) if self.name_of(shop, opened) in names else ...
            return names, inner

        def judge(seen, window):
            names, number = seen
            found = [f"{shop} {i} is {'' if self.name_of(shop, i) in names else 'not '}listed: {self.jobs[shop, i].versions[-4:]}"
                     for i in range(JOBS)
                     if not window.may_list(self.jobs[shop, i], self.name_of(shop, i) in names, status)]  # fmt: skip
            unknown = names - {self.name_of(shop, i) for i in range(JOBS)}
            found += [f"{unknown} are listed"] if unknown else []
            if number is None and status is not None:  # it may have another status
                return found if window.may_list(self.jobs[shop, opened], False, status) else [*found, f"{opened} can't be opened"]
            return found if number is ... else found + self.judge_item(self.jobs[shop, opened])(number, window)

        return self.check("jobs", "a listing" if status is None else "a listing of an index", read, judge)

    def read_latest(self, lots):
        """The newest ones: no item that certainly is among them is absent."""
        shop = lots.choice(SHOPS)

        def judge(names, window):
            of = [self.jobs[shop, i] for i in range(JOBS)]
            listed = [self.name_of(shop, i) in names for i in range(JOBS)]
            found = [f"{i} is listed" for i in range(JOBS) if listed[i] and not window.may_list(of[i], True)]
            oldest = listed.index(True) if sum(listed) >= NEWEST else 0
            found += [f"{i} is not listed: {of[i].versions[-4:]}" for i in range(oldest, JOBS)
                      if not listed[i] and not window.may_list(of[i], False)]  # fmt: skip
            return found + ([f"{sum(listed)} are listed"] if sum(listed) > NEWEST else [])

        return self.check("jobs", "the newest", lambda: self.listed(self.shop(shop, "latest")), judge)

    def read(self, lots):
        kinds = (self.read_item, self.read_settings, self.read_attribute, self.read_listing, self.read_latest,
                 lambda lots: self.read_listing(lots, lots.choice(live_model.STATUSES)))  # fmt: skip
        try:
            return lots.choice(kinds)(lots)
        except OSError as why:
            if not self.errors_allowed:
                raise
            return f"failed: {why.strerror}"

    # The end.

    def differences(self):
        """Where the mount differs from the truth."""
        found = []
        for (shop, i), item in self.jobs.items():
            status = item.now.status
            number = item.now.number if status else None
            for path in (self.path("jobs", "by-id", f"job-{self.number(shop, i):06d}"), self.shop(shop, "all", self.name_of(shop, i))):
                found += [path] if self.version_in(path) != number else []
        for domain, item in self.settings.items():
            number = item.now.number if item.now.status else None
            found += [domain] if self.version_in(self.path("shops", domain, "SETTINGS")) != number else []
            text = self.open(self.path("shops", domain, "SETTINGS@", "version"))
            found += [f"{domain}@version"] if text != (number and f"{number}\n") else []
        for shop in SHOPS:
            exists = [i for i in range(JOBS) if self.jobs[shop, i].now.status]
            wanted = {("all", None): exists, ("latest", None): exists[-NEWEST:]}
            for status in live_model.STATUSES:
                wanted["status", status] = [i for i in exists if self.jobs[shop, i].now.status == status]
            for steps, numbers in wanted.items():
                path = self.shop(shop, *[step for step in steps if step])
                found += [path] if self.listed(path) != {self.name_of(shop, i) for i in numbers} else []
        return found


@pytest.fixture
def world(branch, boto):
    return World(branch, boto)


@pytest.fixture
def the_map(make_map):
    return make_map(lambda text: text.replace('"newest": 100', f'"newest": {NEWEST}'))


def polls_of(proxy):
    return [each for each in proxy.requests if each.op == "GetRecords"]


def most_within(times, seconds):
    """The most of TIMES within so many seconds."""
    most = begin = 0
    for end, at in enumerate(times):
        while at - times[begin] > seconds:
            begin += 1
        most = max(most, end - begin + 1)
    return most


def reads_of(proxy):
    return [each for each in proxy.requests if each.op in READS]


def test_no_read_is_older_than_the_lag(world, mount, the_map, proxy):
    m = world.m = mount("--live", map_file=the_map)
    with live_model.Readers(4, world.read, seed=1) as readers:
        with live_model.Writer(world.items, 20, seed=2) as writer:
            for which in world.tables:
                mounts.wait_until(lambda: world.state(which)["state"] == "live", f"{which} is live")  # noqa: B023
            # The replicas of an index settle for ten seconds.
            mounts.wait_until(lambda: readers.findings or not settling(proxy), "results are stored")
            proxy.clear()
            mounts.wait_until(lambda: readers.findings or writer.failed or over(proxy, SHORT_S), "the time is over")
    assert not writer.failed, writer.failed
    assert not readers.findings, "\n".join(readers.findings)
    mounts.wait_until(lambda: not world.differences(), "the mount shows the truth")
    polls = [each.began_s for each in polls_of(proxy)]
    print(f"{writer.writes} writes; {dict(readers.counts)}; {m.counts()}")
    assert len(readers.counts) == 6 and sum(readers.counts.values()) > 100
    assert most_within(polls, 1) <= 2 * 5  # of two tables with one shard each
    assert len(reads_of(proxy)) < sum(readers.counts.values()) / 10


def empty_page(body):
    return {"Records": [], "NextShardIterator": body["ShardIterator"]}


@pytest.mark.long
def test_no_read_is_older_than_the_lag_behind_empty_pages(world, mount, the_map, proxy):
    """GetRecords returns empty pages although changes wait, at random four of five."""
    world.m = mount("--live", map_file=the_map)
    with live_model.Writer(world.items, 20, seed=3) as writer:
        for which in world.tables:
            mounts.wait_until(lambda: world.state(which)["state"] == "live", f"{which} is live")  # noqa: B023
        quiet = proxy.fault("canned", op="GetRecords", times=None, answer=empty_page)
        mounts.wait_until(lambda: quiet.met >= 2 * 16, "empty pages at what seems to be the end")
        proxy.fault("canned", op="GetRecords", times=None, answer=empty_page, chance=0.8)
        quiet.times = quiet.met
        for which in world.tables:
            mounts.wait_until(lambda: "assumption" not in world.state(which), f"empty pages of {which} are doubted")  # noqa: B023
        with live_model.Readers(4, world.read, seed=4) as readers:
            proxy.clear()
            mounts.wait_until(lambda: readers.findings or writer.failed or over(proxy, SHORT_S), "the time is over")
    assert not writer.failed, writer.failed
    assert not readers.findings, "\n".join(readers.findings)
    assert len(readers.counts) == 6 and sum(readers.counts.values()) > 100


def settling(proxy):
    """Whether items were requested within the last second."""
    since = time.monotonic() - 1
    begun = proxy.requests and proxy.requests[0].began_s < since - 10
    return not begun or sum(each.began_s > since for each in reads_of(proxy)) > 5


def over(proxy, seconds):
    return proxy.requests and time.monotonic() - proxy.requests[0].began_s > seconds


# Ten minutes.


class Troubles(workers.Worker):
    """Faults of the stream, of the reads and of the server, one after the other, while it is open by `with`."""

    def __init__(self, world, proxy, seed):
        super().__init__()
        self.world, self.proxy = world, proxy
        self.random = random.Random(seed)
        self.splits = splits.Splits().install(proxy)
        self.made = []

    def run(self):
        kinds = (self.split, self.split, self.fail_polls, self.delay_polls, self.expire, self.trim, self.reset,
                 self.stop_stream, self.hold_back, self.throttle_reads, self.drop)  # fmt: skip
        while not self.stopping.wait(2 + self.random.random() * 6):
            kind = self.random.choice(kinds)
            self.made.append(kind.__name__)
            self.world.note = f"{kind.__name__} at {time.monotonic():.3f}"
            kind()

    def fault(self, kind, **options):
        """For some seconds."""
        fault = self.proxy.fault(kind, **options)
        self.stopping.wait(1 + self.random.random() * 4)
        fault.times = fault.met

    def split(self):
        self.splits.split(self.random.choice((min, max)))

    def fail_polls(self):
        self.fault("server_error", op="GetRecords", times=None, chance=0.5)

    def delay_polls(self):
        self.fault("delay", op="GetRecords", seconds=self.random.random() * 2, times=None, chance=0.7)

    def expire(self):
        self.proxy.fault("error", op="GetRecords", code="ExpiredIteratorException")

    def trim(self):
        self.proxy.fault("error", op="GetRecords", code="TrimmedDataAccessException")

    def reset(self):
        self.fault("reset", times=None, chance=0.1)

    def stop_stream(self):
        """For longer than a lag may be."""
        fault = self.proxy.fault("error", op="GetRecords", code="InternalServerError", status=500, times=None)
        self.stopping.wait(5)
        fault.times = fault.met

    def hold_back(self):
        for operation in READS:
            self.proxy.fault("late", op=operation, seconds=LATE_S, times=50, chance=0.5)

    def throttle_reads(self):
        self.fault("throttle", op=self.random.choice(READS), times=None, chance=0.3)

    def drop(self):
        self.proxy.drop()


class Meter:
    """The memory of a mount, in MB: resident, and of its heap."""

    def __init__(self, m):
        self.m = m

    def read(self):
        with open(f"/proc/{self.m.pid}/status", encoding="ascii") as stream:
            line = next(line for line in stream if line.startswith("VmRSS"))
        return int(line.split()[1]) / 1024, self.m.stats()["heap_bytes"] / 2**20


@pytest.fixture
def ddbfs_long(request):
    """The program that users have, whose memory can be looked at; without one that of the other tests."""
    has_release = os.environ.get("DDBFS_RELEASE") != "none"
    return request.getfixturevalue("ddbfs_release" if has_release else "ddbfs")


@pytest.fixture
def mount_long(ddbfs_long, proxy, tmp_path, the_map):
    made = mounts.Mount(ddbfs_long, tmp_path / "mount-long", proxy, ("--live",), the_map)
    yield made.wait_ready()
    proxy.heal()
    made.clean_up()


@pytest.mark.long
def test_ten_minutes_of_changes_and_faults(world, mount_long, proxy):
    m = world.m = mount_long
    meter = Meter(m)
    seconds = float(os.environ.get("DDBFS_LIVE_S", LONG_S))
    end = time.monotonic() + seconds
    world.errors_allowed = True
    with Troubles(world, proxy, SEED) as troubles, live_model.Readers(6, world.read, SEED) as readers:
        with live_model.Writer(world.items, 30, SEED) as writer:
            readers.stopping.wait(min(WARM_S, seconds / 4))
            warm = meter.read()
            while time.monotonic() < end and not readers.findings and not writer.failed:
                readers.stopping.wait(1)
            last = meter.read()
    proxy.heal()
    troubles.splits.install(proxy)  # the shards stay as they are
    assert not writer.failed, writer.failed
    assert not readers.findings, "\n".join(readers.findings)
    mounts.wait_until(lambda: not world.differences(), "the mount shows the truth", 200)
    reads = sum(readers.counts.values())
    polls = [each for each in proxy.requests if each.op == "GetRecords"]
    by_shard = collections.defaultdict(list)
    for each in polls:
        by_shard[each.body["ShardIterator"].rpartition("|")[0]].append(each.began_s)
    most = max(most_within(times, 1) for times in by_shard.values())
    figures = {
        "writes": writer.writes, "reads": dict(readers.counts), "requests": collections.Counter(proxy.ops),
        "shards": len(by_shard), "most polls of a shard in a second": most,
        "reads of items": len(reads_of(proxy)), "troubles": collections.Counter(troubles.made),
        "memory when warm, at the end (MB: resident, heap)": (warm, last), "log": m.log()[-2000:],
    }  # fmt: skip
    print(*(f"{name}: {value}" for name, value in figures.items()), sep="\n")
    assert most <= 4 * 4  # a poll each 250 ms, and three retries of each
    assert len(reads_of(proxy)) < reads / 4
    failed = sum(count for kind, count in readers.counts.items() if kind.startswith("failed"))
    assert failed < reads / 100
    if b"__asan_init" not in open(m.ddbfs.binary, "rb").read():
        assert last[1] < warm[1] * 1.2 + 4 and last[0] < warm[0] * 1.2 + 8
