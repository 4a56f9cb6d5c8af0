"""Faults on demand: what the service, or the network before it, may do to a request.

A fault wraps what would have happened: it gets the exchange and `go_on`, and answers itself or
lets it go on, with another request or to another response. LAYERS orders faults that hold at the
same time, so that a body is compressed after it was made and a delay covers all of it.
"""

import decimal
import gzip
import json
import time

from . import iam, wire


class Fault:
    """A fault and whom it meets. TIMES counts the requests it still meets; None: all of them. CHANCE is the
    share of requests that it meets, by lot."""

    def __init__(self, kind, times, match, options, chance=1.0):
        if kind not in KINDS:
            raise ValueError(f"{kind} is no fault; there are {', '.join(sorted(KINDS))}")
        self.kind = kind
        self.times = times
        self.match = match
        self.options = options
        self.chance = chance
        self.met = 0

    @property
    def layer(self):
        return LAYERS[self.kind]

    def meets(self, record):
        if self.times is not None and self.met >= self.times or record.lot >= self.chance:
            return False
        wanted = {name: value for name, value in self.match.items() if value is not None}
        return all(getattr(record, name) == value for name, value in wanted.items())

    def apply(self, exchange, go_on):
        return KINDS[self.kind](exchange, go_on, **self.options)


def throttle(exchange, _go_on, code="ProvisionedThroughputExceededException", reasons=()):
    """REASONS as the service states them since 2025, each of the table or the index of the request, or
    a pair of a reason and its resource. One kind of refusal spells the member in its own way."""
    text = (
        "The level of configured provisioned throughput for the table was exceeded. "
        "Consider increasing your provisioning level with the UpdateTable API."
    )
    response = wire.error(400, code, text)
    if reasons:
        name = "throttlingReasons" if code == "ThrottlingException" else "ThrottlingReasons"
        pairs = [each if isinstance(each, tuple) else (each, arn_of(exchange.record)) for each in reasons]
        stated = [{"reason": reason, "resource": resource} for reason, resource in pairs]
        response.replace_json({**response.json(), name: stated})
    return response


def arn_of(record):
    """The table of a request, or its index, in the account of the tests."""
    index = f"/index/{record.index}" if record.index else ""
    return f"arn:aws:dynamodb:{iam.REGION}:{iam.ACCOUNT}:table/{record.table}{index}"


def canceled(_exchange, _go_on, reasons=("TransactionConflict",), told=True):
    """A transaction that is canceled for REASONS, one for each item; not TOLD: in the sentence alone."""
    text = "Transaction cancelled, please refer cancellation reasons for specific reasons"
    message = {"TransactionConflict": "Transaction is ongoing for the item"}
    body = {
        "__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
        "Message": f"{text} [{', '.join(reasons)}]",
    }
    if told:
        body["CancellationReasons"] = [
            {"Code": code} if code == "None" else {"Code": code, "Message": message.get(code, f"because of {code}")}
            for code in reasons
        ]
    return wire.Response(400, json.dumps(body).encode())


def server_error(_exchange, _go_on, status=500):
    code = {503: "ServiceUnavailable"}.get(status, "InternalServerError")
    return wire.error(status, code, "The request could not be completed by the service")


def expired(_exchange, _go_on):
    text = "The security token included in the request is expired"
    return wire.error(400, "ExpiredTokenException", text, wire.AUTH_TYPE)


def denied(exchange, _go_on):
    record = exchange.record
    resource = f"arn:aws:dynamodb:us-east-1:123456789012:table/{record.table or '*'}"
    if record.index:
        resource += f"/index/{record.index}"
    action = f"dynamodb:{record.op}"
    text = (
        f"User: arn:aws:iam::123456789012:user/demo is not authorized to perform: {action} on "
        f"resource: {resource} because no identity-based policy allows the {action} action"
    )
    return wire.error(400, "AccessDeniedException", text, wire.AUTH_TYPE)


def policy(exchange, go_on, document):
    """Lets through what DOCUMENT, an access policy, grants, and denies the rest as the service does."""
    lacking = iam.missing(document, exchange.record)
    if not lacking:
        return go_on()
    action, resource = lacking
    on = "" if resource == "*" else f" on resource: {resource}"
    text = (
        f"User: arn:aws:iam::{iam.ACCOUNT}:user/demo is not authorized to perform: {action}{on} "
        f"because no identity-based policy allows the {action} action"
    )
    return wire.error(400, "AccessDeniedException", text, wire.AUTH_TYPE)


def html(_exchange, _go_on, status=200):
    body = b"<!DOCTYPE html>\n<html><body><h1>Sign in to the network</h1></body></html>\n"
    headers = {"content-type": "text/html", "x-amz-crc32": None, "x-amzn-requestid": None}
    return wire.Response(status, body, headers)


def error(_exchange, _go_on, status=400, code="ValidationException", message="an error on demand"):
    return wire.error(status, code, message)


def raw(_exchange, _go_on, status=200, body=b"", content_type=wire.JSON_TYPE):
    """Any body at all, with a checksum that is right."""
    return wire.Response(status, body, {"content-type": content_type})


def canned(exchange, _go_on, answer=None):
    """ANSWER(what was asked) as the body, with a checksum that is right: for a service that is larger,
    or newer, than the server behind the proxy."""
    return wire.Response(200, json.dumps(answer(exchange.body)).encode())


def alter(_exchange, go_on, change=None):
    """The server's own answer, changed in place by CHANGE(body), with a checksum that is right."""
    response = go_on()
    body = response.json()
    change(body)
    response.replace_json(body)
    return response


def cut(_exchange, go_on, keep=None):
    """The first KEEP bytes of the body, half of them by default; then the connection closes."""
    response = go_on()
    response.cut = len(response.body) // 2 if keep is None else keep
    return response


def wrong_crc(_exchange, go_on):
    response = go_on()
    response.headers["x-amz-crc32"] = "12345"
    return response


def reset(_exchange, _go_on):
    response = wire.Response(200, b"")
    response.reset = True
    return response


def delay(exchange, go_on, seconds=1.0, until=None):
    """Holds the request back for so long, or until the function says of it that it is enough."""
    end = time.monotonic() + seconds
    while until and not until(exchange) and time.monotonic() < end and not exchange.proxy.closing.is_set():
        time.sleep(0.005)
    if not until:
        exchange.proxy.closing.wait(seconds)
    return go_on()


def late(_exchange, go_on, seconds=1.0):
    """The server's answer comes so much later: meanwhile it may have become old."""
    response = go_on()
    time.sleep(seconds)
    return response


def handled(exchange, go_on, handler=None):
    """HANDLER(exchange, go_on) answers, and may ask the server."""
    return handler(exchange, go_on)


def folded(_exchange, go_on):
    """The head's first line begins with a space, as if it continued a line."""
    response = go_on()
    response.headers = {" x": "y", **response.headers}
    return response


def slow_head(_exchange, go_on, pace_s=0.05):
    """The head comes byte by byte, so slowly."""
    response = go_on()
    response.pace_s = pace_s
    return response


def compress(exchange, go_on, keep=None):
    """The checksum is of the compressed bytes, as the service sends it; KEEP: of so many, the first."""
    response = go_on()
    if "gzip" in (exchange.request.header("accept-encoding") or ""):
        response.body = gzip.compress(response.body, mtime=0)[:keep]
        response.headers["content-encoding"] = "gzip"
        response.headers.pop("x-amz-crc32", None)
    return response


def page_size(exchange, go_on, items=1):
    """No page has more than ITEMS, so that many pages come."""
    body = dict(exchange.body)
    body["Limit"] = min(body.get("Limit", items), items)
    exchange.body = body
    return go_on()


def made_up_value(value, number, forward):
    """Just before VALUE in the order of the query, and each time a little nearer, for as many times as
    a client that is in no hurry to give up may ask."""
    (tag, content), = value.items()
    if tag == "S" and forward:
        return {"S": f"{content[:-1]}{chr(ord(content[-1]) - 1)}~{number:08d}"}
    if tag == "S":
        return {"S": f"{content}~{99999999 - number:08d}"}
    if tag == "N":
        step = decimal.Decimal(f"0.{50000000 - number:08d}")
        return {"N": str(decimal.Decimal(content) - (step if forward else -step))}
    return value


def made_up_key(body, key, number):
    """A position nobody else uses, in the same partition, where items might have been that did not
    pass the filter."""
    forward = body.get("ScanIndexForward", True)
    partition = list(body.get("ExpressionAttributeValues", {}).values())
    return {
        name: value if value in partition else made_up_value(value, number, forward)
        for name, value in key.items()
    }


def empty_pages(exchange, go_on):
    """Answers an empty page that has more after it. Nothing is lost: the made-up position stands
    for the real one, which is put back when the client comes with it."""
    body, positions = dict(exchange.body), exchange.proxy.positions
    first = exchange.probe({**body, "Limit": 1})
    last = first.json().get("LastEvaluatedKey") if first.status == 200 else None
    if last is None:
        return go_on()
    made_up = made_up_key(body, last, len(positions) + 1)
    positions[json.dumps(made_up, sort_keys=True)] = body.get("ExclusiveStartKey")
    empty = {"Items": [], "Count": 0, "ScannedCount": 0, "LastEvaluatedKey": made_up}
    if body.get("ReturnConsumedCapacity", "NONE") != "NONE":
        empty["ConsumedCapacity"] = {"TableName": body["TableName"], "CapacityUnits": 0.5}
    first.replace_json(empty)
    return first


def restore_position(body, positions):
    """BODY with the real position instead of one that empty_pages made up."""
    start = body.get("ExclusiveStartKey")
    marker = json.dumps(start, sort_keys=True)
    if start is None or marker not in positions:
        return body
    real = positions[marker]
    rest = {name: value for name, value in body.items() if name != "ExclusiveStartKey"}
    return {**rest, "ExclusiveStartKey": real} if real else rest


def split_keys(requested, keep):
    """RequestItems in two: what is asked now, and what comes back as unprocessed."""
    now, later = {}, {}
    for table, wanted in requested.items():
        keys = wanted["Keys"]
        count = max(1, len(keys) // 2) if keep is None else keep
        now[table] = {**wanted, "Keys": keys[:count]}
        if keys[count:]:
            later[table] = {**wanted, "Keys": keys[count:]}
    return {table: wanted for table, wanted in now.items() if wanted["Keys"]}, later


def unprocessed(exchange, go_on, keep=None):
    """BatchGetItem answers half of each table's keys (or KEEP); the rest are UnprocessedKeys."""
    now, later = split_keys(exchange.body["RequestItems"], keep)
    answer = {"Responses": {}}
    response = wire.Response(200, b"")
    if now:
        exchange.body = {**exchange.body, "RequestItems": now}
        response = go_on()
        answer = response.json()
    if response.status == 200:
        answer["UnprocessedKeys"] = {**answer.get("UnprocessedKeys", {}), **later}
        response.replace_json(answer)
    return response


def slow_body(_exchange, go_on, piece_s=0.2):
    """The body comes in large pieces, with a pause behind each."""
    response = go_on()
    response.piece_s = piece_s
    return response


KINDS = {
    "throttle": throttle,
    "canceled": canceled,
    "server_error": server_error,
    "expired": expired,
    "denied": denied,
    "policy": policy,
    "html": html,
    "error": error,
    "raw": raw,
    "canned": canned,
    "alter": alter,
    "cut": cut,
    "wrong_crc": wrong_crc,
    "reset": reset,
    "delay": delay,
    "late": late,
    "handled": handled,
    "folded": folded,
    "slow_head": slow_head,
    "slow_body": slow_body,
    "gzip": compress,
    "page_size": page_size,
    "empty_pages": empty_pages,
    "unprocessed": unprocessed,
}

# The outermost first. What is not named stands between the two: it answers instead of the server.
AROUND = ("delay", "late", "folded", "slow_head", "slow_body", "cut", "wrong_crc", "gzip", "policy")
WITHIN = ("handled", "alter", "page_size", "unprocessed", "empty_pages")
ANSWERS = tuple(kind for kind in KINDS if kind not in AROUND + WITHIN)
LAYERS = {kind: layer for layer, kind in enumerate(AROUND)}
LAYERS |= {kind: len(AROUND) for kind in ANSWERS}
LAYERS |= {kind: len(AROUND) + 1 + layer for layer, kind in enumerate(WITHIN)}
