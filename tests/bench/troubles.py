"""Scenarios in which the service refuses: it throttles, or the sign-in has ended."""

import collections
import concurrent.futures
import os
import pathlib
import random
import tempfile
import time

from bench import jobs, reads
from bench.results import Row, scenario
from harness import load, mounts, places, proxy, runner, signin

READS, READERS = 1000, 16
SHARES = (0, 0.1, 0.5)
ITEM = "prod/shops/cool-store.myshopify.com/SETTINGS"


def throttled_row(share):
    return Row(f"requests per item, {share:.0%} of them throttled", f"{READS:,} cold NAMEs of {reads.ITEM}, by {READERS} readers",
               server="zero_server, behind the tests' proxy", unit="requests")  # fmt: skip


def errno_of(path):
    """0 if it can be read."""
    try:
        path.read_bytes()
    except OSError as why:
        return why.errno
    return 0


@scenario(*(throttled_row(share) for share in SHARES), full=True)
def throttled(stand, _, *rows):
    with stand.zero() as server:
        for row, share in zip(rows, SHARES):
            proxy.LOTS = random.Random(1)  # the same lots in each run
            with proxy.Proxy(server) as front, stand.mount(front.url) as mounted:
                front.fault("throttle", table=jobs.TABLE, times=None, chance=share)
                paths = reads.paths(mounted, "many", stand.fresh(READS))
                with concurrent.futures.ThreadPoolExecutor(READERS) as pool:
                    outcomes = collections.Counter(pool.map(errno_of, paths))
                requests = sum(op != "DescribeTable" for op in front.ops)
            row.ours.append(requests / READS)
            names = ", ".join(os.strerror(number) for number in outcomes if number)
            row.note = f"{(READS - outcomes[0]) / READS:.1%} of the reads failed{names and f' ({names})'}"


def has_ended(mount):
    """The kernel may have the name still, and forgets it."""
    mount.refresh()
    return errno_of(mount / ITEM) != 0


def heal_ms(mount, services):
    """From the new token in the cache of the AWS CLI to the end of the first good read."""
    mounts.wait_until(lambda: has_ended(mount), "the end of the sign-in")
    for _ in range(20):
        assert errno_of(mount / ITEM) != 0
    token = services.token()
    began = time.perf_counter()
    services.sso.write(token)
    while errno_of(mount / ITEM) != 0:
        continue
    took_ms = (time.perf_counter() - began) * 1000
    services.good.clear()
    services.role.remove()
    return took_ms


@scenario(Row("from `aws sso login` to the first good read of a live mount", f"cat MNT/{ITEM}, again and again",
              server="dynoxide, behind the tests' proxy"), full=True)  # fmt: skip
def sign_in(stand, _, row):
    """The services of the sign-in are on loopback, so it is the mount's own part."""
    folder = pathlib.Path(tempfile.mkdtemp(dir=stand.scratch))
    with stand.dynoxide() as server, proxy.Proxy(server) as front:
        load.load_sample(server.url)
        home = runner.Home(folder / "home", front.url)
        with signin.SignIn(home, front) as services:
            services.role_lasts_s = 1
            services.use(signin.SSO_SESSION)
            services.sign_in()
            environment = {**services.environment, "DDBFS_MAP": str(places.DEFAULT_MAP)}
            mount = mounts.Mount(runner.Ddbfs(home, stand.programs.ddbfs), folder / "m", front, env=environment).wait_ready()
            services.good.clear()
            try:
                row.ours += [heal_ms(mount, services) for _ in range(20)]
            finally:
                mount.clean_up()
