"""Scenarios that read single items: cold, warm, many readers at once, after an idle hour."""

import os
import pathlib
import tempfile

from bench import jobs, stand as stands
from bench.results import Row, scenario
from harness import preloads, proxy, tls

READERS = 64
CONNECTIONS = 16  # of ddbfs to one host
BATCH = 40  # reads in a turn
CATS = 1000
ITEM = "MNT/prod/jobs/all/many/NAME"
SOME = "MNT/prod/jobs/all/some/NAME"
GET = f"peer_get URL {jobs.TABLE}"


def paths(mounted, shop, numbers):
    return [mounted.path("all", shop, jobs.name(number)) for number in numbers]


def cold(stand, row, server, shop, behind=None):
    with stand.mount(server.url) as mounted:
        stand.read("read", paths(mounted, shop, stand.fresh(1)))
        for _ in stand.rounds(9, 4):
            row.ours += stand.read("read", paths(mounted, shop, stand.fresh(BATCH)))
            row.theirs += stand.get_ms(server.url, shop, stand.fresh(BATCH))
            if behind:
                behind.theirs += stand.get_ms(server.url, shop, stand.fresh(BATCH), "hops")
    if behind:
        behind.ours = row.ours


def cold_rows(where, command, server, **goal):
    """The second peer is the least that a file system can do: another process sends the request."""
    return (
        Row(f"cold `cat`, {where}", f"cat {command}", "GetItem by libcurl", GET, server, **goal),
        Row(f"cold `cat`, {where}, beside a GetItem of another process", f"cat {command}",
            "two round trips by a socket to a process, GetItem by libcurl in the first", f"{GET} hops", server),
    )  # fmt: skip


@scenario(*cold_rows("loopback", SOME, "dynoxide", ratio=1.35))
def cold_cat(stand, _, row, behind):
    with stand.dynoxide() as server:
        cold(stand, row, server, "some", behind)


@scenario(*cold_rows("server without work", ITEM, "zero_server many=100000"))
def cold_cat_near(stand, _, row, behind):
    with stand.zero() as server:
        cold(stand, row, server, "many", behind)


@scenario(Row("cold `cat`, server answers in 5 ms", f"cat {ITEM}", "GetItem by libcurl", GET,
              "zero_server --delay-ms 5 many=100000", ratio=1.03))  # fmt: skip
def cold_cat_far(stand, _, row):
    with stand.zero(5) as server:
        cold(stand, row, server, "many")


@scenario(Row("lookup of a name that the map refuses", "stat MNT/prod/jobs/all/many/no-job-N", "", "",
              "zero_server many=100000"))  # fmt: skip
def refused_lookup(stand, _, row):
    with stand.zero() as server, stand.mount(server.url) as mounted:
        before = mounted.requests()
        for turn in stand.rounds(10, 4):
            names = [mounted.path("all", "many", f"no-job-{turn}-{number}") for number in range(100)]
            row.ours += stand.read("miss", names)
        row.note = "without a request" if mounted.requests() == before else "with requests to the service"


def crowd_row(name, command, peer, peer_command, ratio):
    return Row(f"{READERS} readers, {name}, 5 ms", command, peer, peer_command,
               "zero_server --delay-ms 5 many=100000", no_worse=ratio)  # fmt: skip


@scenario(crowd_row("one cold key", f"reader each: {READERS} threads read {ITEM}", "one reader", f"cat {ITEM}", 1.29))
def one_key(stand, _, row):
    with stand.zero(5) as server, stand.mount(server.url) as mounted:
        stand.read("each", paths(mounted, "many", stand.fresh(READERS)))
        for _ in stand.rounds(21, 9):
            one, other = (paths(mounted, "many", stand.fresh(1)) for _ in range(2))
            row.ours += stand.read("each", one * READERS)
            row.theirs += stand.read("each", other)


@scenario(crowd_row("distinct keys", f"reader each: {READERS} threads, each with its own NAME of {ITEM}",
                    f"curl multi, {CONNECTIONS} connections", f"peer_multi URL {jobs.TABLE} {CONNECTIONS}",
                    0.68))  # fmt: skip
def distinct_keys(stand, _, row):
    with stand.zero(5) as server, stand.mount(server.url) as mounted:
        stand.read("each", paths(mounted, "many", stand.fresh(READERS)))
        for _ in stand.rounds(21, 9):
            row.ours += stand.read("each", paths(mounted, "many", stand.fresh(READERS)))
            row.theirs.append(stand.multi_ms(server.url, "many", stand.fresh(READERS), CONNECTIONS))


@scenario(Row(f"`xargs -P16 -n1 cat` of {CATS:,} keys, 5 ms", f"xargs -0 -P16 -n1 cat, of {CATS:,} {ITEM}",
              f"curl multi, {CONNECTIONS} connections", f"peer_multi URL {jobs.TABLE} {CONNECTIONS}",
              "zero_server --delay-ms 5 many=100000"), full=True)  # fmt: skip
def many_cats(stand, _, row):
    with stand.zero(5) as server, stand.mount(server.url) as mounted:
        for _ in range(3):
            before = sum(mounted.requests().values())
            given = "".join(f"{path}\0" for path in paths(mounted, "many", stand.fresh(CATS)))
            command = ["/usr/bin/xargs", "-0", "-P16", "-n1", "cat"]
            timing = stand.programs.time(command, {"PATH": "/usr/bin:/bin"}, stand.scratch, given.encode())
            row.ours.append(timing.wall_s * 1000)
            row.note = f"{sum(mounted.requests().values()) - before} requests for {CATS:,} keys"
            row.theirs.append(stand.multi_ms(server.url, "many", stand.fresh(CATS), CONNECTIONS))


@scenario(
    Row("warm open, read and close of 1 KB", f"reader read: {SOME}, 2,000 times", "tmpfs", "the same of a copy",
        "zero_server some=10000", no_worse=1.51),
    Row("warm `stat`", f"reader stat: {SOME}, 2,000 times", "tmpfs", "the same of a copy", "zero_server some=10000",
        no_worse=1.26),
)  # fmt: skip
def warm(stand, _, read, stat):
    with stand.zero(shops=["some"]) as server, stand.mount(server.url) as mounted:
        path = paths(mounted, "some", [0])[0]
        copy = stand.tmpfs / path.relative_to(mounted.folder)  # as deep: each step of a path costs
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
        for _ in stand.rounds(15, 7):
            for row, mode in ((read, "read"), (stat, "stat")):
                row.ours += stand.read(mode, [path] * 2000)
                row.theirs += stand.read(mode, [copy] * 2000)


@scenario(
    Row("first `cat` after an idle hour: requests and handshakes, p99", f"cat {ITEM}, after the service closed its "
        "connections", server="zero_server, behind the tests' proxy with TLS", unit="round trips", most=2, percentile=99),
    Row("first `cat` after an idle hour", f"cat {ITEM}, the same", "GetItem and a TLS handshake by libcurl",
        f"FRESH=1 peer_get URL {jobs.TABLE}", "the same"),
)  # fmt: skip
def idle_hour(stand, _, trips, time):
    """The clock of the daemon jumps by an hour; the proxy closes all connections."""
    folder = pathlib.Path(tempfile.mkdtemp(dir=stand.scratch))
    authority = tls.Authority(folder / "tls")
    theirs = {**os.environ, "AWS_CA_BUNDLE": str(authority.bundle), "FRESH": "1"}
    with stand.zero() as server, proxy.Proxy(server, tls=authority.context()) as front:
        preload = {"LD_PRELOAD": preloads.preload(folder, "clock_jump")["LD_PRELOAD"]}
        clock = preloads.Clock(preload, folder / "clock", front)
        changes = {**clock.env, "AWS_CA_BUNDLE": authority.bundle}
        with stand.mount(front.url, "--timeout", "20", changes=changes) as mounted:
            stand.read("read", paths(mounted, "many", stand.fresh(1)))
            for _ in stand.rounds(60, 15):
                front.drop()
                clock.passes(3600)
                front.clear()
                before = front.accepted
                time.ours += stand.read("read", paths(mounted, "many", stand.fresh(1)))
                trips.ours.append(front.accepted - before + len(front.ops))
                front.clock_offset_s = 0
                keys = jobs.keys("many", stand.fresh(1))
                line = stand.programs.run("peer_get", front.url + "/", jobs.TABLE, given=keys, environment=theirs)[0]
                time.theirs.append(line[0] / 1e6)


def late_responses(stand, options):
    """Milliseconds of reads where one response of a hundred takes 300 ms longer, and the counters."""
    with stand.zero(5) as server, proxy.Proxy(server) as late:
        late.fault("delay", op="GetItem", times=None, seconds=0.3, chance=0.01)
        with stand.mount(late.url, *options) as mounted:
            stand.read("read", paths(mounted, "many", stand.fresh(100)))
            return stand.read("read", paths(mounted, "many", stand.fresh(800))), mounted.stats()


@scenario(Row("cold `cat`, 5 ms, 1 % of responses 300 ms late, p99", f"cat {ITEM}", "without a second request",
              f"ddbfs mount --hedge no; cat {ITEM}", "zero_server, behind the tests' proxy", percentile=99),
          full=True)  # fmt: skip
def hedged(stand, _, row):
    row.ours, stats = late_responses(stand, ())
    row.theirs, _ = late_responses(stand, ("--hedge", "no"))
    row.note = f"{stats['hedged_requests']} requests were sent twice"


def listing_row(name, command, delay_ms, **goal):
    return Row(f"{name} while another process lists 100,000, {delay_ms} ms a page, p99",
               f"{command}, during ls -l MNT/prod/jobs/all/many", "the same alone", command,
               f"zero_server --delay-ms {delay_ms} many=100000", percentile=99, **goal)  # fmt: skip


LOOKUP, WARM = "stat MNT/prod/jobs/all/shop-N", f"reader read: {SOME}"


@scenario(
    listing_row("lookup", LOOKUP, 150, no_worse=1.5),
    listing_row("warm `cat`", WARM, 150),
)
def while_listing(stand, _, lookup, cat):
    """Each lookup is of a new name, which the map alone decides: it measures how often the loop is busy."""
    during_listings(stand, 150, 2000, [(lookup, "stat"), (cat, "read")], stand.rounds(4, 2))


@scenario(listing_row("lookup", LOOKUP, 50))
def while_listing_fast(stand, _, lookup):
    """More than one lookup of a hundred meets a page: how long it waits for the loop."""
    during_listings(stand, 50, 1000, [(lookup, "stat")], stand.rounds(4, 2))


def during_listings(stand, delay_ms, count, rows, rounds):
    with stand.zero(delay_ms) as server:
        for _ in rounds:
            for row, mode in rows:
                with stand.mount(server.url, *stands.SEQUENTIAL) as mounted:
                    during_listing(stand, mounted, row, mode, count)


def during_listing(stand, mounted, row, mode, count):
    known = paths(mounted, "some", [0]) * count
    unseen = [[mounted.path("all", f"shop-{turn}-{n}") for n in range(count)] for turn in range(2)]
    stand.read("read", known[:1])
    row.theirs += stand.read(mode, unseen[0] if mode == "stat" else known, pause_us=1000)
    with stands.listing_meanwhile(mounted.path("all", "many")) as process:
        row.ours += stand.read(mode, unseen[1] if mode == "stat" else known, pause_us=1000)
        if process.poll() is not None:
            row.note = "the listing ended before the reads"
