"""Scenarios of a mount that follows streams: the delay of a change, and requests beside a mount whose results are used for
ten seconds."""

import json
import random
import time

from bench import jobs, stand as stands
from bench.results import Row, scenario
from harness import load, servers, workers

ITEMS = jobs.SHOPS["some"]
CHANGED_EACH_S = 60
BATCH = 25  # of BatchWriteItem
GREP_EACH_S = 10
TTL = f"ddbfs mount MNT, ttl of {GREP_EACH_S} s"
READS = ("GetItem", "BatchGetItem", "Query")
STREAM = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
SETTLED_S = 3 * GREP_EACH_S  # a live mount stores results of an index ten seconds after it follows the stream
LATEST = 100


def the_map(stand):
    """That of the other benchmarks, with a shorter ttl and one path more."""
    text = stands.MAP.read_text("utf-8").replace('"ttl": 600', f'"ttl": {GREP_EACH_S}')
    text = text.replace('"all/{shop}/":  {},', '"all/{shop}/":  {}, "latest/{shop}/": { "newest": %d },' % LATEST)
    path = stand.scratch / "live.map.json"
    path.write_text(text, "utf-8")
    return path


def items(stand):
    """The typed items of the shop."""
    lines = jobs.printed(stand.programs.peer("zero_server"), "items").splitlines()
    return [json.loads(line)["Item"] for line in lines]


def follow(client):
    client.update_table(TableName=jobs.TABLE, StreamSpecification=STREAM)


class Changes(workers.Worker):
    """Writes ITEMS again, one after the other, PER_S of them each second, while it is open by `with`."""

    def __init__(self, client, typed, per_s):
        super().__init__()
        self.client = client
        self.typed = typed
        self.per_s = per_s
        self.count = 0

    def run(self):
        began = time.monotonic()
        while not self.stopping.wait(max(0, self.count / self.per_s - (time.monotonic() - began))):
            batch = []
            for _ in range(min(BATCH, max(1, int(self.per_s)))):
                self.count += 1
                item = self.typed[self.count % len(self.typed)]
                batch.append({**item, "progress": {"N": str(self.count)}})
            load.put_batch(self.client, jobs.TABLE, batch)


def await_live(mounted, path):
    """Reads PATH until its table is live."""
    deadline = time.monotonic() + stands.PATIENCE_S
    while json.loads((path.parent / f"{path.name}@info").read_text("utf-8"))["live"]["state"] != "live":
        assert time.monotonic() < deadline, "the table is not live"
        time.sleep(0.05)


def requests_of(mounted, do, each_s, count):
    """The requests of COUNT times DO, each so many seconds after the one before, by operation."""
    before = mounted.requests()
    next_s = time.monotonic()
    for _ in range(count):
        time.sleep(max(0, next_s - time.monotonic()))
        next_s += each_s
        do()
    time.sleep(max(0, next_s - time.monotonic()))
    return {name: number - before.get(name, 0) for name, number in mounted.requests().items()}


def compare(stand, server, rows, steps, do, each_s, count):
    """The requests of DO in a live mount, and in one without; ROWS: reads of items, and all requests."""
    for options, side in ((("--live",), "ours"), ((), "theirs")):
        with stand.mount(server.url, *options, the_map=the_map(stand)) as mounted:
            if options:
                await_live(mounted, mounted.path("all", "some", jobs.name(0)))
            requests_of(mounted, lambda: do(mounted.path(*steps)), each_s, SETTLED_S // each_s)
            seen = requests_of(mounted, lambda: do(mounted.path(*steps)), each_s, count)
        reads = sum(number for name, number in seen.items() if name in READS)
        getattr(rows[0], side).append(reads / count)
        getattr(rows[1], side).append(sum(seen.values()) / count)
        shown = ", ".join(f"{number / count:.3g} {name}" for name, number in sorted(seen.items()) if number)
        for row in rows:
            row.note += f"{'; without: ' if row.note else 'live: '}{shown or 'none'}"


def rows_of(name, command, **goal):
    return (
        Row(f"{name}: reads of items", command, TTL, command, "dynoxide", unit="requests", **goal),
        Row(f"{name}: all requests, polls of the stream included", command, TTL, command, "dynoxide", unit="requests", **goal),
    )


GREP = f"`grep -r` each {GREP_EACH_S} s of {ITEMS:,} items that change once a minute"


@scenario(*rows_of(f"{GREP}, by the table", "ddbfs mount --live MNT; grep -r zzz MNT/prod/jobs/all/some", ratio=0.02), full=True)
def live_grep(stand, _, *rows):
    grep(stand, rows, "all")


@scenario(*rows_of(f"{GREP}, by an index of keys", "ddbfs mount --live MNT; grep -r zzz MNT/prod/jobs/keys/some", ratio=0.02), full=True)
def live_grep_by_keys(stand, _, *rows):
    grep(stand, rows, "keys")


def grep(stand, rows, path):
    with stand.dynoxide() as server:
        client = load.client(server.url)
        follow(client)
        with Changes(client, items(stand), ITEMS / CHANGED_EACH_S):
            compare(stand, server, rows, (path, "some"), stand.grep_ms, GREP_EACH_S, 6)


@scenario(*rows_of("`cat` of an item each second", "ddbfs mount --live MNT; cat MNT/prod/jobs/all/some/NAME"), full=True)
def live_cat(stand, _, *rows):
    """It changes once a minute, as all others."""
    with stand.dynoxide() as server:
        client = load.client(server.url)
        follow(client)
        with Changes(client, items(stand)[:1], 1 / CHANGED_EACH_S):
            compare(stand, server, rows, ("all", "some", jobs.name(0)), lambda path: path.read_bytes(), 1, 60)


@scenario(*rows_of(f"`ls -l` of the newest {LATEST} each second, with an insert each second",
                   "ddbfs mount --live MNT; ls -l MNT/prod/jobs/latest/some"), full=True)  # fmt: skip
def live_latest(stand, _, *rows):
    with stand.dynoxide() as server:
        client = load.client(server.url)
        follow(client)
        base = items(stand)[-1]
        inserts = [
            {**base, "sk": {"S": f"JOB#2027-01-01T00:{i // 60:02d}:{i % 60:02d}.000Z#{i:08x}-0000-4000-8000-{i:012x}"}}
            for i in range(600)
        ]
        with Changes(client, inserts, 1):
            compare(stand, server, rows, ("latest", "some"), stand.ls_ms, 1, 60)


DELAYED = "put_item by boto3, then cat MNT/prod/jobs/all/some/NAME until the change is in it"


def delay_rows(server):
    return tuple(
        Row(f"from a write to its visibility, {server}, p{percentile}", f"ddbfs mount --live MNT; {DELAYED}", server=server,
            percentile=percentile, **({"most": 1000} if percentile == 50 else {}))
        for percentile in (50, 99)
    )  # fmt: skip


def visible_ms(client, item, path, number):
    """From the acknowledgement of the write to the first read that shows it."""
    client.put_item(TableName=jobs.TABLE, Item={**item, "progress": {"N": str(number)}})
    began = time.perf_counter()
    wanted = f'"progress": {number},'.encode()
    while wanted not in path.read_bytes():
        time.sleep(0.002)
    return (time.perf_counter() - began) * 1000


def delays(stand, server, client, item, rows):
    lots = random.Random(1)
    follow(client)
    with stand.mount(server.url, "--live", the_map=the_map(stand)) as mounted:
        path = mounted.path("all", "some", jobs.name(0))
        await_live(mounted, path)
        time.sleep(SETTLED_S / 10)
        for number in stand.rounds(60, 10):
            time.sleep(lots.random() * 3)
            rows[0].ours.append(visible_ms(client, item, path, number + 1))
    rows[1].ours = rows[0].ours


@scenario(*delay_rows("dynoxide"), full=True)
def live_delay(stand, _, *rows):
    with stand.dynoxide() as server:
        delays(stand, server, load.client(server.url), items(stand)[0], rows)


@scenario(*delay_rows("dynamodb-local"), full=True)
def live_delay_local(stand, _, *rows):
    with servers.running("dynamodb-local") as server:
        client = load.client(server.url)
        table = json.loads(jobs.printed(stand.programs.peer("zero_server"), "table"))
        load.create_table(client, table, jobs.TABLE)
        item = items(stand)[0]
        client.put_item(TableName=jobs.TABLE, Item=item)
        delays(stand, server, client, item, rows)


@scenario(Row("requests of an hour of an idle live table with one shard",
              "ddbfs mount --live MNT; cat MNT/prod/jobs/all/some/NAME; a minute without a read or a change, × 60",
              server="dynoxide", unit="requests"), full=True)  # fmt: skip
def live_idle(stand, _, row):
    with stand.dynoxide() as server:
        follow(load.client(server.url))
        with stand.mount(server.url, "--live", the_map=the_map(stand)) as mounted:
            await_live(mounted, mounted.path("all", "some", jobs.name(0)))
            time.sleep(5)
            seen = requests_of(mounted, lambda: None, 60, 1)
    row.ours.append(sum(seen.values()) * 60)
    row.note = ", ".join(f"{number * 60:,} {name}" for name, number in sorted(seen.items()) if number)
