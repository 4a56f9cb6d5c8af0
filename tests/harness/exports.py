"""Exports of a table to S3 as folders: full and incremental, with the variants that AWS writes."""

import base64
import datetime
import gzip
import hashlib
import json
import random
import string

ARN = "arn:aws:dynamodb:eu-west-1:123456789012:table/{table}"
START = 1793491200  # 2026-11-01T00:00:00Z


def iso(seconds):
    moment = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    text = moment.strftime("%Y-%m-%dT%H:%M:%S")
    return f"{text}.{moment.microsecond // 1000:03}Z" if moment.microsecond else text + "Z"


def md5(content):
    return base64.b64encode(hashlib.md5(content).digest()).decode()


class Export:
    """One export. HOW: `files` with lines, `empty` ones beside them, gzip `members` of a file, the `prefix` in
    the bucket, whether keys are written `keys_with_prefix`, and the ending of the `checksum` files, or None."""

    def __init__(self, folder, table, number, how, chance):
        self.folder = folder
        self.table = table
        self.number = f"0169368582746{number}-2d8752fd"
        self.how = {"files": 2, "empty": 1, "members": 1, "prefix": "", "keys_with_prefix": True,
                    "checksum": ".checksum", **how}  # fmt: skip
        self.chance = chance

    def key(self, name):
        prefix = self.how["prefix"]
        start = f"{prefix}/" if prefix and self.how["keys_with_prefix"] else ""
        return f"{start}AWSDynamoDB/{self.number}/{name}"

    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    def write_manifest(self, name, content):
        self.write(f"{name}.json", content)
        if self.how["checksum"]:
            self.write(name + self.how["checksum"], md5(content).encode())

    def packed(self, lines):
        """LINES in gzip members."""
        count = self.how["members"]
        parts = [lines[at::count] for at in range(count)]
        return b"".join(gzip.compress("".join(part).encode(), mtime=0) for part in parts)

    def write_all(self, objects, summary):
        lines = [json.dumps(each, separators=(",", ":"), ensure_ascii=False) + "\n" for each in objects]
        self.chance.shuffle(lines)
        count = self.how["files"]
        files = [lines[at::count] for at in range(count)] + [[]] * self.how["empty"]
        manifest = []
        for part in files:
            name = "".join(self.chance.choices(string.ascii_lowercase, k=26))
            content = self.packed(part)
            self.write(f"data/{name}.json.gz", content)
            manifest.append({"itemCount": len(part), "md5Checksum": md5(content), "etag": "x-1",
                             "dataFileS3Key": self.key(f"data/{name}.json.gz")})  # fmt: skip
        self.write("_started", b"")
        self.write_manifest("manifest-files", "".join(json.dumps(each) + "\n" for each in manifest).encode())
        base = {"exportArn": f"{ARN.format(table=self.table)}/export/{self.number}",
                "startTime": iso(START), "endTime": iso(START), "tableArn": ARN.format(table=self.table),
                "tableId": "12345678-aaaa-bbbb-cccc-1234567890ab", "s3Bucket": "bucket",
                "s3Prefix": self.how["prefix"] or None, "s3SseAlgorithm": "AES256", "s3SseKmsKeyId": None,
                "manifestFilesS3Key": self.key("manifest-files.json"), "billedSizeBytes": 0,
                "itemCount": len(lines), "outputFormat": "DYNAMODB_JSON"}  # fmt: skip
        self.write_manifest("manifest-summary", json.dumps({**base, **summary}).encode())
        return self.folder


def full(folder, items, at, table="Orders", number=0, chance=None, **how):
    """A full export of ITEMS at the moment AT, in seconds since 1970."""
    export = Export(folder, table, number, how, chance or random.Random(0))
    summary = {"version": "2020-06-30", "exportTime": iso(at)}
    return export.write_all([{"Item": item} for item in items], summary)


def change(keys, new, old, view, at):
    line = {"Metadata": {"WriteTimestampMicros": {"N": str(int(at * 1e6))}}, "Keys": keys}
    if new is not None:
        line["NewImage"] = new
    if old is not None and view == "NEW_AND_OLD_IMAGES":
        line["OldImage"] = old
    return line


def incremental(folder, changes, since, until, table="Orders", number=1, view="NEW_AND_OLD_IMAGES", chance=None,
                **how):  # fmt: skip
    """An incremental export: CHANGES are (keys, new item or None, old item or None)."""
    export = Export(folder, table, number, how, chance or random.Random(0))
    summary = {"version": "2023-08-01", "exportFromTime": iso(since), "exportToTime": iso(until),
               "outputView": view, "exportType": "INCREMENTAL_EXPORT"}  # fmt: skip
    return export.write_all([change(*each, view, since) for each in changes], summary)


class History:
    """The writes of a table in their order, replayed to any moment."""

    def __init__(self, chance, keys=4):
        self.chance = chance
        self.names = ("pk", "sk")
        self.keys = [({"S": f"p{number % 3}"}, {"N": str(number * 7 - 9)}) for number in range(keys)]
        self.writes = []  # (moment, key, item or None)

    def value(self, depth=0):
        kinds = ["S", "N", "B", "BOOL", "NULL", "SS", "NS"] + (["M", "L"] if depth < 2 else [])
        kind = self.chance.choice(kinds)
        text = "".join(self.chance.choices("abc é\"\\\n\t𝄞{}[],:", k=self.chance.randrange(6)))
        number = str(self.chance.choice([0, 1, -1, "1.5", "12345678901234567890123456789012345678", "1E-100"]))
        return {kind: {"S": text, "N": number, "B": base64.b64encode(text.encode()).decode(), "BOOL": True,
                       "NULL": True, "SS": [f"{text}1", f"{text}2"], "NS": ["1", "-2.5"],
                       "M": {text + str(at): self.value(depth + 1) for at in range(2)} if kind == "M" else 0,
                       "L": [self.value(depth + 1) for _ in range(2)] if kind == "L" else 0}[kind]}  # fmt: skip

    def key_of(self, key):
        return dict(zip(self.names, key))

    def write(self, moment):
        key = self.chance.choice(self.keys)
        names = [f"a{number}" for number in range(self.chance.randrange(4))]
        item = {**self.key_of(key), **{name: self.value() for name in names}}
        if self.chance.random() < 0.7:  # in the index
            item["status"] = {"S": self.chance.choice("xyz")}
        self.writes.append((moment, json.dumps(key), None if self.chance.random() < 0.3 else item))

    def state(self, moment):
        """The items before MOMENT, by their keys."""
        items = {}
        for at, key, item in self.writes:
            if at < moment:
                items[key] = item
        return {key: item for key, item in items.items() if item is not None}

    def changes(self, since, until):
        """The net changes of a window; a key that exists neither before nor behind has none."""
        before, behind = self.state(since), self.state(until)
        touched = {key for at, key, _ in self.writes if since <= at < until}
        return [(self.key_of(json.loads(key)), behind.get(key), before.get(key)) for key in sorted(touched)
                if key in before or key in behind]  # fmt: skip
