"""Requests to the service by the recording proxy, and FUSE requests by the kernel: the same in each run."""

import collections

from bench import jobs, reads, stand as stands
from harness import proxy

IN_ORDER = (*stands.SEQUENTIAL, "--hedge", "no")


class Counter:
    """A mount behind the recording proxy, and the requests that each action in it caused."""

    def __init__(self, stand, trace, recorder, mounted):
        self.stand = stand
        self.trace = trace
        self.recorder = recorder
        self.mounted = mounted
        self.found = []

    def count(self, what, do, expected, fuse=None):
        """EXPECTED: requests to the service, or the number of keys that GetItem and BatchGetItem read together. FUSE:
        the kernel's requests; None: any."""
        self.recorder.clear()
        seen = self.trace.count(self.mounted, do)
        sent = dict(sorted(collections.Counter(self.recorder.ops).items()))
        right = sent == expected
        if isinstance(expected, int):
            keys = sum(len(proxy.keys_of(each.body)) for each in self.recorder.requests)
            right = keys == expected and set(sent) <= {"GetItem", "BatchGetItem"}
        right = right and (fuse is None or seen is None or seen == fuse)
        self.found.append({"what": what, "service": shown(sent), "daemon": shown(seen), "right": right})

    def ls(self, *steps):
        return lambda: self.stand.ls_ms(self.mounted.path(*steps))

    def grep(self, *steps):
        return lambda: self.stand.grep_ms(self.mounted.path(*steps))

    def read(self, mode, paths):
        return lambda: self.stand.read(mode, paths)


def shown(counts):
    if counts is None:
        return "not counted (no tracefs)"
    return ", ".join(f"{count:,} {name}" for name, count in counts.items()) or "none"


def count_files(counter):
    paths = reads.paths(counter.mounted, "some", range(reads.READERS + 1))
    others = reads.paths(counter.mounted, "many", range(reads.READERS))
    read = counter.read
    counter.count("cold `cat`", read("read", paths[:1]), {"GetItem": 1})
    counter.count("warm open, read and close, 1,000 times", read("read", paths[:1] * 1000), {}, {})
    counter.count("warm `stat`, 1,000 times", read("stat", paths[:1] * 1000), {}, {})
    one = read("each", paths[1:2] * reads.READERS)
    counter.count(f"{reads.READERS} readers, one cold key", one, {"GetItem": 1})
    each = read("each", others)
    counter.count(f"{reads.READERS} readers, distinct keys", each, reads.READERS)


def count_listings(counter):
    for shop, pages in (("some", 7), ("many", 63)):
        count = f"{jobs.SHOPS[shop]:,}"
        counter.count(f"`ls -l` of {count}, cold", counter.ls("all", shop), {"Query": pages})
        counter.count(f"`ls -l` of {count}, warm", counter.ls("all", shop), {})
    counter.count("`grep -r` of 10,000, after `ls -l`", counter.grep("all", "some"), {})
    counter.count("`grep -r` of 10,000, warm", counter.grep("all", "some"), {})


def count_keys(counter):
    """Each of the two pages of keys begins a batch of its own, so there is one more than a hundred."""
    listed = counter.ls("keys", "some")
    counter.count("`ls -l` of 10,000 by an index with keys only", listed, {"BatchGetItem": 101, "Query": 2})


def count_any_table(counter):
    """Its description is read once."""
    partition = counter.mounted.folder / f"tables/{jobs.TABLE}/items/SHOP#some"
    grep = lambda: counter.stand.grep_ms(partition)  # noqa: E731
    counter.count("`grep -r` of 10,000 of a table without a map", grep, {"DescribeTable": 1, "Query": 7})


COUNTS = {count_files: (), count_listings: (), count_keys: (), count_any_table: ("--no-map",)}


def count_all(stand):
    """A list of {"what", "service", "daemon", "right"}; a failure ends it, as a line that is not right."""
    found = []
    try:
        with stand.zero() as server, proxy.Proxy(server) as recorder, stands.Trace(stand.scratch) as trace:
            for count, options in COUNTS.items():
                changes = {"AWS_PROFILE": "controller"}
                with stand.mount(recorder.url, *IN_ORDER, *options, changes=changes) as mounted:
                    counter = Counter(stand, trace, recorder, mounted)
                    count(counter)
                    found += counter.found
            problems = recorder.problems()
    except Exception as why:  # noqa: BLE001 all that a broken build may do
        problems = [f"{type(why).__name__}: {why}"]
    return found + [{"what": problem, "service": "", "daemon": "", "right": False} for problem in problems]
