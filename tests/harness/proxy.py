"""The recording proxy between a client under test and a server.

It verifies every signature, records every request, lets through the reading operations of the closed
list and no other (a Scan where a test allows it), and makes faults on demand. A forbidden operation is refused, and kept in VIOLATIONS for
the end of the test and of the whole run.
"""

import itertools
import http.client
import json
import random
import socket
import threading
import time

from . import faults, sigv4, wire

ALLOWED = {"GetItem", "BatchGetItem", "Query", "DescribeTable", "ListTables"} | {
    "DescribeTimeToLive",
    "ListBackups",
    "DescribeContinuousBackups",
    "SearchVectors",
    "TransactGetItems",
    "ListExports",
}
STREAMS = {"DescribeStream", "GetShardIterator", "GetRecords"}
TARGETS = {"DynamoDB_20120810": ALLOWED | {"Scan"}, "DynamoDBStreams_20120810": STREAMS}

# What no proxy of this process has been forgiven: the last word of the run.
VIOLATIONS = []

# Drawn by each request, for faults that meet some of them. The same in each run.
LOTS = random.Random(1)

KEYS = {
    "DEMOCONTROLLERKEY001": sigv4.Key("demo/controller+secret/0001"),
    "DEMODEFAULTKEY000001": sigv4.Key("demo/default+secret/0000001"),
    "DEMOSESSIONKEY000001": sigv4.Key("demo/session+secret/0000001", "demo-session-token/1+2=="),
}


class Record:
    """One request as it was seen and what was answered. BODY is the parsed JSON, or None."""

    def __init__(self, request, connection):
        target = request.header("x-amz-target") or ""
        self.connection = connection
        self.lot = LOTS.random()
        self.target = target
        self.op = operation_of(target)
        self.body = parsed(request.body)
        self.table = table_of(self.body)
        self.keys = keys_of(self.body)
        self.index = (self.body or {}).get("IndexName")
        self.request_bytes = len(request.body)
        self.access_key = None
        self.status = None
        self.error = None
        self.units = 0  # that it consumed, as the answer tells
        self.response_bytes = 0
        self.request_id = None
        self.faults = []
        self.began_s = time.monotonic()
        self.took_s = None

    def __repr__(self):
        place = f"{self.table}/{self.index}" if self.index else self.table
        return f"<{self.op} {place} -> {self.status} {self.error or ''}>"


def parsed(body):
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def units_of(answer):
    """What an answer says it consumed; a batch says so table by table."""
    told = answer.get("ConsumedCapacity") or []
    return sum(each.get("CapacityUnits", 0) for each in (told if isinstance(told, list) else [told]))


def operation_of(target):
    """The operation, if it is one of the closed list and its service is right."""
    service, _, operation = target.partition(".")
    return operation if operation in TARGETS.get(service, ()) else None


def parts_of(body):
    """The items of a transaction."""
    return [each["Get"] for each in (body or {}).get("TransactItems", [])]


def table_of(body):
    """The table a request names; the first one of a batch or a transaction."""
    if not body:
        return None
    several = [*body.get("RequestItems", {}), *(each["TableName"] for each in parts_of(body))]
    by_arn = body.get("TableArn", "").split(":table/")[-1]
    return body.get("TableName") or by_arn or next(iter(several), None)


def keys_of(body):
    """The keys of the records that a request names, of one or of many."""
    batch = (body or {}).get("RequestItems", {}).values()
    keys = [key for wanted in batch for key in wanted.get("Keys", [])]
    keys += [each["Key"] for each in parts_of(body)]
    return keys or [key for key in [(body or {}).get("Key")] if key]


class Exchange:
    """A request on its way to the server, as faults see it and may change it."""

    def __init__(self, proxy, request, record, upstream):
        self.proxy = proxy
        self.request = request
        self.record = record
        self.upstream = upstream
        self.given = record.body
        self.body = record.body and faults.restore_position(record.body, proxy.positions)

    def probe(self, body):
        """Asks the server something of the proxy's own."""
        return self.upstream.forward(self.request, json.dumps(body).encode())

    def forward(self):
        if self.body is self.given:
            return self.upstream.forward(self.request, self.request.body)
        return self.probe(self.body)


class Proxy:
    """One proxy before one server; start it by `with`. Everything it has seen is in `requests`. With
    TLS, a server's context, it speaks that."""

    def __init__(self, server, keys=None, region="us-east-1", tls=None, host="127.0.0.1"):
        self.server = server
        self.tls = tls
        self.resumed = 0  # connections whose TLS session was one of before
        self.keys = dict(KEYS if keys is None else keys)
        self.regions = {region}
        self.clock_offset_s = 0  # the service's clock is this far ahead of ours
        self.allow_scan = False  # a test of what --allow-scan allows
        self.allow_refusals = False  # a test of bad credentials: a refused signature is no failure
        self.requests = []
        self.violations = []
        self.refusals = []
        self.accepted = 0
        self.positions = {}
        self.faults = []
        self.closing = threading.Event()
        self.lock = threading.Lock()
        self.sockets = set()
        self.threads = []
        self.numbers = itertools.count(1)
        self.deaf_until = 0  # connections up to this number are heard no more
        self.unheard = 0  # requests that came over those
        self.host = host
        self.port = 0
        self.listen()
        self.url = f"https://localhost:{self.port}" if tls else f"http://{host}:{self.port}"

    def listen(self):
        """At the port it had before, if it had one."""
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        self.listener = socket.create_server((self.host, self.port), family=family, backlog=256)
        self.port = self.listener.getsockname()[1]

    def __enter__(self):
        threading.Thread(target=self.accept, args=(self.listener,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self.closing.is_set():
            return
        self.closing.set()
        if self.listener.fileno() >= 0:
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        with self.lock:
            sockets, threads = list(self.sockets), list(self.threads)
        for connection in sockets:
            shut(connection)
        for thread in threads:
            thread.join(10)

    # Its connections.

    def drop(self):
        """Ends every connection, as a server does that is started anew."""
        with self.lock:
            sockets = list(self.sockets)
        for connection in sockets:
            shut(connection)

    def leave(self):
        """Nobody listens any more, and those who were connected are not."""
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.drop()

    def come_back(self):
        self.listen()
        self.__enter__()

    def go_deaf(self):
        """Connections that are open stay so, but nothing is heard over them: a router has forgotten
        them, or the client's machine has slept. New ones are heard."""
        with self.lock:
            self.deaf_until = next(self.numbers)

    # What a test asks and says.

    def fault(self, kind, op=None, table=None, index=None, access_key=None, times=1, chance=1.0, **options):
        """The next TIMES requests (None: all) that match meet this fault; see faults.py."""
        match = {"op": op, "table": table, "index": index, "access_key": access_key}
        fault = faults.Fault(kind, times, match, options, chance)
        with self.lock:
            self.faults.append(fault)
        return fault

    def heal(self):
        with self.lock:
            self.faults.clear()

    def clear(self):
        """Forgets the requests seen so far; violations are never forgotten."""
        with self.lock:
            self.requests.clear()

    def reset(self):
        """As new, for the next test, but for violations nobody has taken."""
        self.heal()
        self.clear()
        self.refusals.clear()
        self.accepted = 0
        self.clock_offset_s = 0
        self.allow_refusals = False
        self.allow_scan = False

    @property
    def ops(self):
        return [record.op for record in self.requests]

    def connections(self):
        """How many connections carried the recorded requests."""
        return len({record.connection for record in self.requests})

    def take_violations(self):
        """The violations of a test that made them on purpose; they are forgiven."""
        taken, self.violations = self.violations, []
        for violation in taken:
            VIOLATIONS.remove(violation)
        return taken

    def problems(self):
        """What a test must not leave behind, as text; empty when all is well."""
        found = [f"forbidden: {violation}" for violation in self.violations]
        if not self.allow_refusals:
            found += [f"bad signature: {refusal}" for refusal in self.refusals]
        return found

    # One thread a connection.

    def accept(self, listener):
        while not self.closing.is_set():
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            self.begin(connection)

    def begin(self, connection):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        number = next(self.numbers)
        thread = threading.Thread(target=self.serve, args=(connection, number), daemon=True)
        with self.lock:
            self.accepted += 1
            self.sockets.add(connection)
            self.threads = [known for known in self.threads if known.is_alive()] + [thread]
            thread.start()

    def serve(self, connection, number):
        upstream = wire.Upstream("127.0.0.1", self.server.port)
        try:
            if self.tls:
                connection = self.secure(connection)
            with connection, connection.makefile("rb") as stream:
                while self.serve_one(connection, stream, number, upstream):
                    pass
        except (OSError, ValueError):
            pass  # the client went away, or the proxy closes
        finally:
            upstream.close()
            with self.lock:
                self.sockets.discard(connection)

    def secure(self, plain):
        """The connection as it is known from now on."""
        connection = self.tls.wrap_socket(plain, server_side=True)
        with self.lock:
            self.sockets.discard(plain)
            self.sockets.add(connection)
            self.resumed += connection.session_reused
        return connection

    def serve_one(self, connection, stream, number, upstream):
        request = wire.read_request(stream)
        if request is None or self.closing.is_set():
            return False
        if number <= self.deaf_until:
            self.unheard += 1
            self.closing.wait()
            return False
        record = Record(request, number)
        with self.lock:
            self.requests.append(record)
        response = self.answer(request, record, upstream)
        wire.add_own_headers(response, self.now_s())
        self.finish(record, response)
        return wire.send_response(connection, response)

    def finish(self, record, response):
        record.response_bytes = len(response.body)
        record.request_id = response.headers["x-amzn-requestid"]
        answer = parsed(response.body) or {}
        record.error = (answer.get("__type") or "").split("#")[-1] or None
        record.units = units_of(answer)
        record.took_s = time.monotonic() - record.began_s
        record.status = "reset" if response.reset else response.status

    def now_s(self):
        return time.time() + self.clock_offset_s

    def answer(self, request, record, upstream):
        if not record.op or (record.op == "Scan" and not self.allow_scan):
            return self.forbid(record, request)
        try:
            record.access_key = self.verify(request)
        except sigv4.Refused as refused:
            self.refusals.append(f"{record.op}: {refused}")
            return wire.error(400, refused.code, refused.message, wire.AUTH_TYPE)
        exchange = Exchange(self, request, record, upstream)
        try:
            return self.descend(exchange, self.meeting(record))
        except (OSError, http.client.HTTPException) as problem:
            return wire.error(502, "ProxyFailure", f"{self.server}: {problem!r}")

    def verify(self, request):
        arguments = (request.method, request.path, request.headers, request.body)
        return sigv4.verify(*arguments, self.keys, self.regions, self.now_s())

    def forbid(self, record, request):
        violation = f"{request.method} {request.path} {record.target or 'without a target'}"
        with self.lock:
            self.violations.append(violation)
            VIOLATIONS.append(violation)
        return wire.error(403, "ForbiddenByTestProxy", f"{violation} is no reading operation")

    def meeting(self, record):
        """The faults that may meet this request, the outermost first."""
        with self.lock:
            met = [fault for fault in self.faults if fault.meets(record)]
        return sorted(met, key=lambda fault: fault.layer)

    def descend(self, exchange, pending):
        """Through one fault after the other to the server. A fault is used up only when it is
        reached: an outer one may have answered before."""
        if not pending:
            return exchange.forward()
        fault, rest = pending[0], pending[1:]
        with self.lock:
            reached = fault.meets(exchange.record)
            fault.met += reached
        if not reached:
            return self.descend(exchange, rest)
        exchange.record.faults.append(fault.kind)
        return fault.apply(exchange, lambda: self.descend(exchange, rest))


def shut(connection):
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass  # it is closed already
