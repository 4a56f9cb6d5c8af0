"""A stream whose shards split, made of the one shard that a local server has: for the proxy before that server.

A shard of the stream has those changes whose key's hash begins with the shard's bits. When it splits, it ends
behind the page that it answers next, and two shards with one more bit begin there.
"""

import json
import threading
import zlib

from . import wire

OPERATIONS = ("DescribeStream", "GetShardIterator", "GetRecords")
PAGE = 4  # shards of one description, so that descriptions have pages
END = "end"  # the iterator behind all changes of a shard that has ended


class Shard:
    """ID; BITS of the hashes of its keys; FIRST and LAST, the sequence numbers between which its changes are:
    behind FIRST (None: from the beginning), up to LAST (None: it is open)."""

    def __init__(self, number, parent, bits, first):
        self.id = f"shardId-{number:020d}-split"
        self.parent = parent
        self.bits = bits
        self.first = first
        self.last = None
        self.splits = False

    def has(self, record):
        key = json.dumps(record["dynamodb"]["Keys"], sort_keys=True).encode()
        if not format(zlib.crc32(key), "032b").startswith(self.bits):
            return False
        number = int(record["dynamodb"]["SequenceNumber"])
        return (self.first is None or number > self.first) and (self.last is None or number <= self.last)


class Splits:
    """All streams behind PROXY; install it by install(). split() splits one open shard of each stream."""

    def __init__(self):
        self.lock = threading.Lock()
        self.streams = {}  # the ARN: the id of the real shard, and the shards
        self.made = 0

    def install(self, proxy):
        for operation in OPERATIONS:
            proxy.fault("handled", op=operation, times=None, handler=self.handle)
        return self

    def split(self, choose=min):
        """Its next page with changes ends it."""
        with self.lock:
            for _, shards in self.streams.values():
                ready = [each for each in shards if each.last is None and not each.splits]
                if ready:
                    choose(ready, key=lambda each: len(each.bits)).splits = True

    def handle(self, exchange, go_on):
        return getattr(self, f"answer_{exchange.record.op}")(exchange, go_on)

    def find(self, arn, shard_id):
        return next(each for each in self.streams[arn][1] if each.id == shard_id)

    def add(self, arn, parent, bits, first):
        self.made += 1
        self.streams[arn][1].append(Shard(self.made, parent, bits, first))

    def answer_DescribeStream(self, exchange, go_on):
        body = dict(exchange.body)
        start = body.pop("ExclusiveStartShardId", None)
        arn = body["StreamArn"]
        exchange.body = body
        response = go_on()
        if response.status != 200:
            return response
        answer = response.json()
        described = answer["StreamDescription"]
        with self.lock:
            if arn not in self.streams:
                real, = described["Shards"]
                self.streams[arn] = (real["ShardId"], [])
                self.add(arn, None, "", None)
            shards = self.streams[arn][1]
        begin = 1 + next((i for i, each in enumerate(shards) if each.id == start), -1)
        page = shards[begin : begin + PAGE]
        described["Shards"] = [self.describe(each) for each in page]
        described.pop("LastEvaluatedShardId", None)
        if shards[begin + PAGE :]:
            described["LastEvaluatedShardId"] = page[-1].id
        response.replace_json(answer)
        return response

    @staticmethod
    def describe(shard):
        known = {"ShardId": shard.id, "SequenceNumberRange": {"StartingSequenceNumber": str((shard.first or 0) + 1)}}
        if shard.last is not None:
            known["SequenceNumberRange"]["EndingSequenceNumber"] = str(shard.last)
        return {**known, "ParentShardId": shard.parent.id} if shard.parent else known

    def answer_GetShardIterator(self, exchange, go_on):
        body = dict(exchange.body)
        arn = body["StreamArn"]
        shard = self.find(arn, body["ShardId"])
        body["ShardId"] = self.streams[arn][0]
        if body["ShardIteratorType"] == "LATEST" and shard.last is not None:
            return wire.Response(200, json.dumps({"ShardIterator": f"{arn}|{shard.id}|{END}"}).encode())
        if body["ShardIteratorType"] == "TRIM_HORIZON" and shard.first is not None:
            body["ShardIteratorType"] = "AFTER_SEQUENCE_NUMBER"
            body["SequenceNumber"] = str(shard.first)
        exchange.body = body
        response = go_on()
        if response.status == 200:
            answer = response.json()
            answer["ShardIterator"] = f"{arn}|{shard.id}|{answer['ShardIterator']}"
            response.replace_json(answer)
        return response

    def answer_GetRecords(self, exchange, go_on):
        arn, shard_id, place = exchange.body["ShardIterator"].split("|", 2)
        shard = self.find(arn, shard_id)
        if place == END:
            return wire.Response(200, json.dumps({"Records": []}).encode())
        exchange.body = {**exchange.body, "ShardIterator": place}
        response = go_on()
        if response.status != 200:
            return response
        answer = response.json()
        records = answer["Records"]
        with self.lock:
            if shard.splits and shard.last is None and records:
                shard.last = int(records[-1]["dynamodb"]["SequenceNumber"])
                for bit in "01":
                    self.add(arn, shard, shard.bits + bit, shard.last)
        answer["Records"] = [each for each in records if shard.has(each)]
        has_ended = shard.last is not None and (
            not records or int(records[-1]["dynamodb"]["SequenceNumber"]) >= shard.last)  # fmt: skip
        following = answer.pop("NextShardIterator", None)
        if following and not has_ended:
            answer["NextShardIterator"] = f"{arn}|{shard.id}|{following}"
        response.replace_json(answer)
        return response
