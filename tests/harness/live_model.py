"""A model of tables that change while they are read: each version of each item with the time of its write, so
that a read can be judged by what it may have seen."""

import collections
import math
import random
import threading
import time

from . import workers

STATUSES = ("PENDING", "IN_PROGRESS", "COMPLETED", "FAILED")


class Version:
    """NUMBER counts all versions of an item, its absences included; STATUS is None for an absence. The write was
    sent at BEGAN, and acknowledged at ACKED."""

    def __init__(self, number, status, began):
        self.number = number
        self.status = status
        self.began = began
        self.acked = math.inf

    def __repr__(self):
        return f"{self.number}:{self.status}"


class Item:
    """PUT(status, version) and DELETE() write it."""

    def __init__(self, put, delete):
        self.put = put
        self.delete = delete
        self.versions = [Version(0, None, -math.inf)]
        self.versions[0].acked = -math.inf

    def write(self, status):
        """STATUS None deletes it."""
        version = Version(len(self.versions), status, time.monotonic())
        self.versions.append(version)
        if status is None:
            self.delete()
        else:
            self.put(status, version.number)
        version.acked = time.monotonic()

    @property
    def now(self):
        return self.versions[-1]

    def visible(self, since, until):
        """The versions that a read may have seen that shows some time between SINCE and UNTIL."""
        seen = []
        for i in range(len(self.versions) - 1, -1, -1):
            if self.versions[i].began <= until:
                seen.append(self.versions[i])
            if self.versions[i].acked < since:
                break
        return seen


class Window:
    """The time that a read may show: from SINCE until UNTIL."""

    def __init__(self, since, until):
        self.since = since
        self.until = until

    def may_show(self, item, number):
        """Whether the item may be seen in version NUMBER; None: absent."""
        versions = item.visible(self.since, self.until)
        if number is None:
            return any(each.status is None for each in versions)
        return any(each.number == number and each.status is not None for each in versions)

    def may_list(self, item, listed, status=None):
        """Whether a listing (of the items with STATUS) may have the item, or may lack it."""
        versions = item.visible(self.since, self.until)
        has = [each.status is not None and status in (None, each.status) for each in versions]
        return any(has) if listed else not all(has)

    def age_of(self, item, number):
        """How long ago the version was replaced, for messages."""
        later = [each for each in item.versions if each.number > (number or 0)]
        return self.until - later[0].acked if later else 0


class Writer(workers.Worker):
    """Changes ITEMS at random in a thread, RATE times a second, while it is open by `with`."""

    def __init__(self, items, rate, seed):
        super().__init__()
        self.items = items
        self.rate = rate
        self.random = random.Random(seed)
        self.writes = 0
        self.failed = None

    def change(self):
        item = self.random.choice(self.items)
        lot = self.random.random()
        item.write(None if lot < 0.2 else self.random.choice(STATUSES))
        self.writes += 1

    def run(self):
        try:
            while not self.stopping.is_set():
                self.change()
                self.stopping.wait(self.random.expovariate(self.rate))
        except Exception as why:  # noqa: BLE001 the test reports it
            self.failed = why


class Readers:
    """Threads that repeat READ(random), until the block ends. What READ returns is counted as a kind of read;
    what it raises as AssertionError is a finding, and the first ones are kept."""

    MOST = 20

    def __init__(self, count, read, seed):
        self.read = read
        self.stopping = threading.Event()
        self.counts = collections.Counter()
        self.findings = []
        self.threads = [threading.Thread(target=self.run, args=(random.Random(seed + i),)) for i in range(count)]

    def __enter__(self):
        for each in self.threads:
            each.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        for each in self.threads:
            each.join()

    def run(self, lots):
        while not self.stopping.is_set() and len(self.findings) < self.MOST:
            try:
                self.counts[self.read(lots)] += 1
            except Exception as why:  # noqa: BLE001 the test reports it
                self.findings.append(f"{type(why).__name__}: {why}")
            self.stopping.wait(lots.random() * 0.02)
