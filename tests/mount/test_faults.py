"""What the service and the network may do to a request, one row each: which errno and reason a reader
gets, how often the service is asked, and that it is over with the fault. Meanwhile another table's
records are read as ever."""

import errno
import itertools
import os
import threading
import time

import pytest

from harness import mounts, places, proxy as proxies, runner

RECORD = "prod/shops/cool-store.myshopify.com/SETTINGS"
SHOPS = "prod-ShopifyEntitiesTable"
JOBS = "prod-EcomIndexerJobsTable"
INDEX = "kl7a9h55-shopify-e513a8-4"
LIST = f"prod/jobs/by-index/shopify/{INDEX}/all"
BATCH = f"prod/jobs/by-index/shopify/{INDEX}/status/COMPLETED"
OTHER = "prod/index-settings/kl7a9h55/shopify-e513a8-4"
NAME_TTL_S = 0.15  # the least for which the kernel keeps a name, and a little
MOST = 4  # requests of one operation, whatever it meets
PATIENCE_S = 60

THROTTLES = (
    "Throttling", "ThrottlingException", "ThrottledException", "RequestThrottled",
    "RequestThrottledException", "TooManyRequestsException", "ProvisionedThroughputExceededException",
    "RequestLimitExceeded", "LimitExceededException", "TransactionInProgressException",
    "BandwidthLimitExceeded", "SlowDown",
)  # fmt: skip
TRANSIENT = ("RequestTimeout", "RequestTimeoutException", "PriorRequestNotComplete")
BIG = 20 << 20


class Row:
    """FAULT of the proxy with OPTIONS at operation OP; the reader of PATH gets NUMBER, and a reason with
    WORDS. ASKED is how often the service is asked; None: any number up to MOST."""

    def __init__(self, fault, number, words, asked=None, op="GetItem", path=RECORD, **options):
        self.fault, self.number, self.words, self.asked = fault, number, words, asked
        self.op, self.path, self.options = op, path, options

    @property
    def table(self):
        return SHOPS if self.path == RECORD else JOBS


def number_that_is_none(body):
    body["Item"]["n"] = {"N": "abc"}


def position(body):
    """That of the last item, or one of the same partition."""
    made_up = {"pk": {"S": f"PLATFORM#shopify#SHOP#{INDEX}"}, "sk": {"S": "JOB#9~"}}
    return {name: body["Items"][-1][name] for name in made_up} if body["Items"] else made_up


def same_position(body):
    """There is always more, and the next page begins where this one has."""
    body["LastEvaluatedKey"] = position(body)


def nothing_at_one_position(body):
    body["LastEvaluatedKey"] = position({"Items": []})
    body["Items"], body["Count"] = [], 0


# By mount: its --timeout, and its rows. Each table's retries have a budget of 500, of which a row takes 42
# at the most (15 where it is throttled), so that no mount's rows use it up.
GROUPS = {
    "throttled": ("5", {
        code: Row("throttle", errno.EAGAIN, f"{SHOPS} is throttled", code=code) for code in THROTTLES
    }),
    "failing": ("5", {
        "500": Row("server_error", errno.EIO, "the service failed (HTTP 500)", MOST, status=500),
        "502": Row("server_error", errno.EIO, "the service failed (HTTP 502)", MOST, status=502),
        "503": Row("server_error", errno.EIO, "the service failed (HTTP 503)", MOST, status=503),
        "504": Row("server_error", errno.EIO, "the service failed (HTTP 504)", MOST, status=504),
        "500 of a listing": Row("server_error", errno.EIO, "(HTTP 500)", MOST, "Query", LIST),
        "500 of a batch": Row("server_error", errno.EIO, "(HTTP 500)", MOST, "BatchGetItem", BATCH),
        "HTML of a balancer": Row("html", errno.EIO, "the service failed (HTTP 503, text/html)", MOST, status=503),
    } | {
        code: Row("error", errno.EIO, "the service failed (HTTP 400)", MOST, code=code) for code in TRANSIENT
    }),
    "lost": ("5", {
        "reset": Row("reset", errno.ECONNRESET, "connection", MOST),
        "reset of a listing": Row("reset", errno.ECONNRESET, "connection", MOST, "Query", LIST),
        "cut at once": Row("cut", errno.ECONNRESET, "cut short", MOST, keep=0),
        "cut after a byte": Row("cut", errno.ECONNRESET, "cut short", MOST, keep=1),
        "cut in half": Row("cut", errno.ECONNRESET, "cut short", MOST),
        "half a page": Row("cut", errno.ECONNRESET, "cut short", MOST, "Query", LIST),
        "wrong checksum": Row("wrong_crc", errno.EBADMSG, "checksum of a response is wrong", MOST),
        "unprocessed keys for ever": Row("unprocessed", errno.EAGAIN, "throttled", None, "BatchGetItem", BATCH, keep=0),
    }),
    "slow": ("2", {
        "a stall": Row("delay", errno.ETIMEDOUT, "no response from", 1, seconds=60),
        "a stalled listing": Row("delay", errno.ETIMEDOUT, "no response from", 1, "Query", LIST, seconds=60),
        "slow headers": Row("slow_head", errno.ETIMEDOUT, "no response from", 1),
        "empty pages without end": Row("empty_pages", errno.ETIMEDOUT, "brought nothing", op="Query", path=LIST),
    }),
    "not understood": ("5", {
        "no JSON": Row("raw", errno.EBADMSG, "the response is not DynamoDB's", 1, body=b"{]"),
        "nothing": Row("raw", errno.EBADMSG, "the response is not DynamoDB's", 1, body=b""),
        "garbage": Row("raw", errno.EBADMSG, "the response is not DynamoDB's", 1, body=bytes(range(256))),
        "another's JSON": Row("raw", errno.EBADMSG, "DynamoDB", 1, body=b"{}", content_type="text/html"),
        "another record": Row("raw", errno.EBADMSG, "not requested", 1, body=b'{"Item":{"pk":{"S":"x"},"sk":{"S":"y"}}}'),
        "a number that is none": Row("alter", errno.EBADMSG, "not understood", 1, change=number_that_is_none),
        "HTML": Row("html", errno.EBADMSG, "the response is not DynamoDB's", 1),
        "HTML that forbids": Row("html", errno.EBADMSG, "the response is not DynamoDB's (HTTP 403", 1, status=403),
        "a redirect": Row("html", errno.EBADMSG, "the response is not DynamoDB's (HTTP 307", 1, status=307),
        "broken gzip": Row("gzip", errno.EBADMSG, "compression of a response is damaged", 1, keep=40),
        "20 MB": Row("raw", errno.EBADMSG, "larger than", 1, body=b" " * BIG),
        "the same key for ever": Row("alter", errno.EBADMSG, "that came before", op="Query", path=LIST, change=same_position),
        "empty pages with the same key": Row("alter", errno.EBADMSG, "before", op="Query", path=LIST, change=nothing_at_one_position),
    }),
    "refused": ("5", {
        "denied": Row("denied", errno.EACCES, "is not authorized to perform: dynamodb:GetItem", 1),
        "a denied listing": Row("denied", errno.EACCES, "perform: dynamodb:Query", 1, "Query", LIST),
        "a denied batch": Row("denied", errno.EACCES, "perform: dynamodb:BatchGetItem", 1, "BatchGetItem", BATCH),
        "expired": Row("expired", errno.EKEYEXPIRED, "the session has expired", 2),
        "a clock that is right": Row("error", errno.EACCES, "clock", 2, code="RequestTimeTooSkewed"),
        "what it refuses": Row("error", errno.EINVAL, "the service refuses this GetItem", 1),
        "no such table": Row("error", errno.ENODEV, f"table {SHOPS} does not exist", 1, code="ResourceNotFoundException"),
    }),
}  # fmt: skip
# Codes and statuses that are treated as those of the rows that stay: tests/unit/test_retry.c has each of them.
# Every row waits for the retries of its mount.
SAME = {*THROTTLES, *TRANSIENT[1:], "502", "504", "cut after a byte", "a stalled listing"}
SAME -= {"ThrottlingException", "ProvisionedThroughputExceededException"}
ROWS = [(group, name) for group, (_, rows) in GROUPS.items() for name in rows]


def short_map():
    """Of records that are asked for again and again."""
    text = places.DEFAULT_MAP.read_text("utf-8")
    return text.replace('"mtime"', '"ttl": 0, "mtime"')


@pytest.fixture(scope="module")
def mounted(server, tmp_path_factory):
    """mounted(group): the group's mount, whose records are asked for again and again."""
    made = {}

    def get(group, timeout):
        if group not in made:
            folder = tmp_path_factory.mktemp("faults")
            proxy = proxies.Proxy(server).__enter__()
            ddbfs = runner.Ddbfs(runner.Home(folder / "home", proxy.url))
            map_file = folder / "map.json"
            map_file.write_text(short_map(), "utf-8")
            made[group] = mounts.Mount(ddbfs, folder, proxy, ["--timeout", timeout], map_file)
            made[group].wait_ready()
        return made[group]

    yield get
    for m in made.values():
        m.proxy.heal()
        m.clean_up()
        m.proxy.close()
        assert not m.proxy.problems()


def read(m, path):
    """What is at PATH: a record, or the names and the contents of a listing."""
    if path == RECORD or path == OTHER:
        return (m / path).read_bytes()
    return {name: (m / path / name).read_bytes() for name in sorted(os.listdir(m / path))}


class Reader(threading.Thread):
    """Reads PATH, and keeps what comes of it."""

    def __init__(self, m, path):
        super().__init__(daemon=True)
        self.m, self.path, self.number, self.content = m, path, 0, None
        self.start()

    def run(self):
        try:
            self.content = read(self.m, self.path)
        except OSError as why:
            self.number = why.errno

    def end(self):
        self.join(PATIENCE_S)
        assert not self.is_alive(), "the reader hangs"
        return errno.errorcode.get(self.number, 0)


def requests_of(m, row):
    return [each for each in m.proxy.requests if each.table == row.table and each.op == row.op]


@pytest.mark.parametrize("group, name", [pytest.param(*each, marks=[pytest.mark.long] * (each[1] in SAME)) for each in ROWS],
                         ids=[f"{group}: {name}" for group, name in ROWS])  # fmt: skip
def test_row(mounted, group, name):
    timeout, rows = GROUPS[group]
    row, m = rows[name], mounted(group, timeout)
    m.proxy.heal()
    before = read(m, row.path)
    time.sleep(NAME_TTL_S)
    m.proxy.clear()
    told = len(m.errors().splitlines())
    m.proxy.fault(row.fault, op=row.op, table=row.table, times=None, **row.options)

    reader = Reader(m, row.path)
    assert read(m, OTHER) and [each.status for each in m.proxy.requests if each.table != row.table]
    assert reader.end() == errno.errorcode[row.number]
    asked = len(requests_of(m, row))
    if row.fault != "empty_pages":  # each of which is an answer
        assert 1 <= asked <= MOST and row.asked in (None, asked)

    lines = m.errors().splitlines()[told:]
    assert len(lines) == 1, lines
    fields, _, reason = lines[0].partition(": ")
    assert f" errno={errno.errorcode[row.number]} path=/{row.path}" in fields
    assert row.words in reason

    m.proxy.heal()
    time.sleep(NAME_TTL_S)
    assert read(m, row.path) == before


# What passes is not seen.


def fault_of(kind, **options):
    return lambda proxy: proxy.fault(kind, **options)


PASSING = {
    "throttled once": (RECORD, 2, fault_of("throttle", op="GetItem", times=1)),
    "failed twice": (RECORD, 3, fault_of("server_error", op="GetItem", times=2)),
    "reset twice": (RECORD, 3, fault_of("reset", op="GetItem", times=2)),
    "cut twice": (RECORD, 3, fault_of("cut", op="GetItem", times=2)),
    "a wrong checksum": (RECORD, 2, fault_of("wrong_crc", op="GetItem", times=1)),
    "gzip": (RECORD, 1, fault_of("gzip", times=None)),
    "gzip of a listing": (LIST, 1, fault_of("gzip", times=None)),
    "expired once": (RECORD, 2, fault_of("expired", op="GetItem", times=1)),
    "empty pages": (LIST, None, fault_of("empty_pages", op="Query", times=3)),
    "unprocessed keys": (BATCH, None, fault_of("unprocessed", op="BatchGetItem", times=3)),
}


@pytest.mark.parametrize("name", PASSING)
def test_what_passes_is_not_seen(mounted, name):
    path, asked, begin = PASSING[name]
    m = mounted("passing", "10")
    m.proxy.heal()
    before = read(m, path)
    time.sleep(NAME_TTL_S)
    begin(m.proxy)
    m.proxy.clear()
    assert read(m, path) == before
    assert asked in (None, len(m.proxy.requests))
    assert "errno=" not in m.errors()


def test_a_clock_that_is_wrong_is_not_seen(mounted):
    """An hour behind, an hour ahead, and right again: each costs one refused request."""
    m = mounted("passing", "10")
    m.proxy.heal()
    before = read(m, RECORD)
    m.proxy.allow_refusals = True
    for offset_s in (3600, -3600, 0):
        time.sleep(NAME_TTL_S)
        m.proxy.clock_offset_s = offset_s
        m.proxy.clear()
        assert read(m, RECORD) == before
        assert len(m.proxy.requests) == 2, offset_s
    assert "errno=" not in m.errors()


@pytest.mark.parametrize("each, options, number, words", [
    (0, ("--timeout", "1"), errno.ETIMEDOUT, "brought nothing"),
    (50, ("--max-entries", "300"), errno.EFBIG, "more than 300 items"),
])  # fmt: skip
def test_pages_that_never_end_end_a_reader(mount, each, options, number, words):
    """Pages of EACH items: a listing, and its file."""
    numbers = itertools.count()

    def key(body):
        values = body["ExpressionAttributeValues"].values()
        place = next(numbers) if body.get("ScanIndexForward", True) else 10**9 - next(numbers)
        sk = {"S": f"JOB#2026-04-16T10:15:00Z#{place:012d}"}
        return {"pk": next(value for value in values if value["S"].startswith("PLATFORM#")), "sk": sk}

    def endless(body):
        items = [key(body) for _ in range(each)]
        counts = {"Count": each, "ScannedCount": each, "LastEvaluatedKey": (items or [key(body)])[-1]}
        return counts if body.get("Select") == "COUNT" else {**counts, "Items": items}

    m = mount(*options)
    m.proxy.fault("canned", op="Query", times=None, answer=endless)
    with pytest.raises(OSError) as caught:
        list(os.scandir(m / LIST))
    assert caught.value.errno == number
    with pytest.raises(OSError) as caught:
        os.stat(m / f"{LIST}@jsonl")
    assert caught.value.errno == number
    for path in (LIST, f"{LIST}@jsonl"):
        told = [each for each in m.failures() if each.words["path"] == f"/{path}"]
        assert words in told[-1].reason
