"""Connections are shared out by table: one that hangs takes none of the others'. Counted, not timed:
the requests that hang are open while the others are answered."""

import errno
import os
import threading

from harness import mounts

CALLERS = 64
SHARE = 16  # connections of one table and region
HUNG = "prod-ShopifyEntitiesTable"
OTHER = "prod/index-settings/kl7a9h55/shopify-e513a8-4"


def look_up(path, outcomes):
    try:
        os.stat(path)
        outcomes.append(0)
    except OSError as why:
        outcomes.append(why.errno)


def test_a_table_that_hangs_leaves_others_their_connections(mount, proxy):
    m = mount("--timeout", "60")
    enough, outcomes = threading.Event(), []
    proxy.fault("delay", table=HUNG, times=None, seconds=60, until=lambda _: enough.is_set())
    callers = [
        threading.Thread(target=look_up, args=(m / f"prod/shops/s{i}.example/SETTINGS", outcomes))
        for i in range(CALLERS)
    ]
    for caller in callers:
        caller.start()
    hanging = lambda: [each for each in proxy.requests if each.table == HUNG]  # noqa: E731
    mounts.wait_until(lambda: len(hanging()) == SHARE, f"{SHARE} requests that hang")
    os.stat(m / OTHER)
    asked = [each for each in proxy.requests if each.table != HUNG]
    assert [each.status for each in asked] == [200] * len(asked) and asked
    assert [each.status for each in hanging()] == [None] * SHARE
    enough.set()
    for caller in callers:
        caller.join()
    assert outcomes == [errno.ENOENT] * CALLERS
    assert len(hanging()) == CALLERS and proxy.connections() <= SHARE + 1
