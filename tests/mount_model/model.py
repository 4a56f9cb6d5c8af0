"""What a reader may see: a plain model of records over time, against which a mount is held.

Everything that is seen was true at some moment between the start of the look, less the TTL and a
margin for the machine, and its end. After a refresh, nothing from before it is seen.
"""

import math
import threading
import time

# A busy machine delays answers and wake-ups; it does not double a TTL.
MARGIN_S = 1.5


class Span:
    """A version (None: no record) and when it was true: from BEGAN at the earliest to ENDED at
    the latest. The server changed it somewhere within the write."""

    def __init__(self, version, began):
        self.version = version
        self.began = began
        self.ended = math.inf

    def __repr__(self):
        return f"{self.version}@{self.began:.3f}-{self.ended:.3f}"


class Thing:
    """One key: what the server has had under it."""

    def __init__(self, box, name):
        self.box = box
        self.name = name
        self.spans = [Span(None, -math.inf)]
        self.refreshed = -math.inf
        self.lock = threading.Lock()

    @property
    def version(self):
        return self.spans[-1].version

    def change(self, version, write):
        """Runs WRITE, which makes VERSION true."""
        self.spans.append(Span(version, time.monotonic()))
        write()
        self.spans[-2].ended = time.monotonic()

    def allowed(self, began, ended, ttl_s):
        """The versions that a look between BEGAN and ENDED may have seen."""
        since = max(began - ttl_s - MARGIN_S, min(self.refreshed, began))
        return {s.version for s in self.spans if s.began <= ended and s.ended >= since}

    def describe(self, began, ended):
        spans = [s for s in self.spans if s.ended > began - 10][-6:]
        return f"{self.box!r}/{self.name!r} looked at {began:.3f}-{ended:.3f}, was {spans}"


class Look:
    """`with Look() as look:`, then judge what was seen by the times it took."""

    def __enter__(self):
        self.began = time.monotonic()
        return self

    def __exit__(self, *_):
        self.ended = time.monotonic()

    def judge(self, thing, version, ttl_s):
        allowed = thing.allowed(self.began, self.ended, ttl_s)
        what = f"saw {version}, allowed {sorted(allowed, key=str)}: "
        assert version in allowed, what + thing.describe(self.began, self.ended)

    def judge_listing(self, things, seen, ttl_s):
        """SEEN are keys: each that was there all the time is there, and no other but one that
        was there lately."""
        for thing in things:
            allowed = thing.allowed(self.began, self.ended, ttl_s)
            may_miss, may_be = None in allowed, bool(allowed - {None})
            told = thing.describe(self.began, self.ended)
            assert (thing.name in seen) or may_miss, "not listed: " + told
            assert (thing.name not in seen) or may_be, "listed: " + told
