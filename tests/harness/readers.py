"""Readers of a live mount who never rest, but for the moment in which a test lets time go by."""

import contextlib
import errno
import os
import threading

from . import mounts


class Readers:
    """with Readers(m) as readers: COUNT threads look up records that are not there, each another one, so
    that every answer is a signed request. Whatever is not a proven miss is in FAILURES."""

    def __init__(self, mount, folder="prod/shops", count=8):
        self.folder = mount / folder
        self.failures = []
        self.done = self.under_way = 0
        self.resting = self.over = False
        self.changed = threading.Condition()
        self.threads = [threading.Thread(target=self.read, args=(n,)) for n in range(count)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        with self.changed:
            self.over = True
            self.changed.notify_all()
        for thread in self.threads:
            thread.join()

    def begin(self):
        """False when all is over."""
        with self.changed:
            self.changed.wait_for(lambda: self.over or not self.resting)
            self.under_way += not self.over
            return not self.over

    def end(self, failure):
        with self.changed:
            self.under_way -= 1
            self.done += 1
            self.failures += [failure] if failure else []
            self.changed.notify_all()

    def read(self, reader):
        number = 0
        while self.begin():
            number += 1
            self.end(self.look_up(self.folder / f"r{reader}-{number}.example" / "SETTINGS"))

    @staticmethod
    def look_up(path):
        try:
            os.stat(path)
            return f"{path} is there"
        except OSError as why:
            return None if why.errno == errno.ENOENT else f"{path}: {errno.errorcode[why.errno]}"

    @contextlib.contextmanager
    def at_rest(self):
        """Nobody has asked for anything: a clock may jump. Afterwards all begin at the same time."""
        with self.changed:
            self.resting = True
            assert self.changed.wait_for(lambda: self.under_way == 0, 90), "readers that never end"
        yield
        with self.changed:
            self.resting = False
            self.changed.notify_all()

    def go_on(self, reads=80):
        """Until that many more reads are done."""
        enough = self.done + reads
        mounts.wait_until(lambda: self.done >= enough, f"{reads} reads")
