"""`ddbfs import s3://…`: exports and objects of a bucket, by GetObject alone."""

import gzip
import json
import signal
import threading
import time

import pytest

from harness import buckets, exports

KEYS = ["--keys", "id:S", "--table", "Notes"]
ITEMS = [{"id": {"S": f"n{number}"}, "n": {"N": str(number)}} for number in range(20)]
FIRST, SECOND = exports.START, exports.START + 3600
LONG_PART = 4 << 20


def objects_of(folder, prefix):
    return {f"{prefix}/{path.relative_to(folder)}": path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def objects(tmp_path):
    """A full export and an increment, as a bucket has them."""
    exports.full(tmp_path / "full", ITEMS, FIRST, "Notes")
    new = {**ITEMS[0], "n": {"N": "-1"}}
    changes = [({"id": {"S": "n0"}}, new, ITEMS[0]), ({"id": {"S": "n1"}}, None, ITEMS[1])]
    exports.incremental(tmp_path / "more", changes, FIRST, SECOND, "Notes")
    return {**objects_of(tmp_path / "full", "a b/AWSDynamoDB/1"), **objects_of(tmp_path / "more", "AWSDynamoDB/2")}


def test_an_export_in_a_bucket_is_that_of_a_folder(importer, objects, tmp_path):
    importer(*KEYS, "full", "local.ddb")
    importer("--onto", "local.ddb", "more")
    with buckets.Bucket(objects) as bucket:
        importer(*KEYS, "s3://exports/a b/AWSDynamoDB/1/", "x.ddb", env=bucket.environment())
        other = {"DDBFS_SNAPSHOT": "local.ddb"}  # which is for reading
        importer("--onto", "x.ddb", "s3://exports/AWSDynamoDB/2", env={**bucket.environment(), **other})
        message = importer.refuse("--snapshot", "local.ddb", *KEYS, "s3://exports/x", "y.ddb", env=bucket.environment())
        assert "--snapshot reads no setting of AWS" in message
    versions = "SELECT k1, from_ms, until_ms, item FROM items_1 ORDER BY 1, 2"
    assert importer.read("x.ddb", versions) == importer.read("local.ddb", versions)
    assert len(importer.items("x.ddb")) == 19
    assert {request.split()[0] for request in bucket.requests} == {"GET"}


def test_a_manifest_suffices_where_a_bucket_must_not_be_listed(importer, objects):
    """S3 denies a missing object then; the export has no checksums of its manifests."""
    few = {key: content for key, content in objects.items() if not key.endswith(".checksum")}
    with buckets.Bucket(few, may_list=False) as bucket:
        importer(*KEYS, "s3://exports/a b/AWSDynamoDB/1", "x.ddb", env=bucket.environment())
        assert len(importer.items("x.ddb")) == 20
        message = importer.refuse(*KEYS, "s3://exports/other", "y.ddb", env=bucket.environment())
    assert "the identity in use needs s3:GetObject on arn:aws:s3:::exports/other/manifest-summary.json" in message


def test_one_object_is_read_in_parts(importer):
    lines = "".join(json.dumps({**item, "x": {"S": "y" * 500_000}}) + "\n" for item in ITEMS).encode()
    objects = {"notes.jsonl": lines, "notes.gz": gzip.compress(lines)}
    with buckets.Bucket(objects) as bucket:
        importer(*KEYS, "s3://exports/notes.jsonl", "x.ddb", env=bucket.environment())
        parts = [request for request in bucket.requests if "/notes.jsonl bytes" in request]
        importer(*KEYS, "s3://exports/notes.gz", "y.ddb", env=bucket.environment())
    assert len(parts) == len(lines) // LONG_PART + 1 == 3
    assert importer.items("x.ddb") == importer.items("y.ddb") == [json.loads(line) for line in lines.splitlines()]


def test_a_bucket_of_another_region_is_found(importer, objects):
    with buckets.Bucket(objects, region="us-west-2") as bucket:
        importer(*KEYS, "s3://exports/a b/AWSDynamoDB/1", "x.ddb", env=bucket.environment())
        assert len(importer.items("x.ddb")) == 20


def test_missing_things_are_named(importer, objects):
    with buckets.Bucket(objects) as bucket:
        refuse = lambda url, **env: importer.refuse(*KEYS, url, "x.ddb", env={**bucket.environment(), **env})  # noqa: E731
        assert "s3://exports/other/manifest-summary.json was not found" in refuse("s3://exports/other")
        assert "The specified bucket does not exist" in refuse("s3://nothing/other")
        assert "it has the form s3://bucket/prefix" in refuse("s3://exports")
        assert "check the secret access key" in refuse("s3://exports/a", AWS_SECRET_ACCESS_KEY="wrong")
        del bucket.objects[next(key for key in objects if "/data/" in key and key.startswith("a b"))]
        assert "was not found" in refuse("s3://exports/a b/AWSDynamoDB/1")


def test_an_object_that_changes_is_no_snapshot(importer):
    line = json.dumps({**ITEMS[0], "x": {"S": "y" * 390_000}}) + "\n"
    with buckets.Bucket({"notes": b"".join(line.replace("n0", f"m{at}").encode() for at in range(20))}) as bucket:
        bucket.after_first = lambda: bucket.objects.update(notes=bucket.objects["notes"].replace(b"m19", b"m20"))
        message = importer.refuse(*KEYS, "s3://exports/notes", "x.ddb", env=bucket.environment())
    assert "s3://exports/notes changed while it was read" in message


def test_an_object_that_grows_while_it_is_read_ends(importer):
    """Each part is full, and states that more follows."""
    with buckets.Bucket({"notes": b"n"}) as bucket:

        def grow(_content, headers):
            first = int(headers["range"].split("=")[1].split("-")[0])
            found = f"bytes {first}-{first + LONG_PART - 1}/{first + 2 * LONG_PART}"
            return 206, b"\n" * LONG_PART, {"ETag": '"one"', "Content-Range": found}

        bucket.part = grow
        message = importer.refuse(*KEYS, "s3://exports/notes", "x.ddb", env=bucket.environment())
        parts = [request for request in bucket.requests if "/notes bytes" in request]
    assert "when its first part was read" in message and len(parts) <= 3


def test_ctrl_c_ends_a_wait_for_the_bucket(importer):
    with buckets.Bucket({"notes": b"{}"}) as bucket:
        bucket.after_first = lambda: time.sleep(5)
        process = importer.start(*KEYS, "s3://exports/notes", "x.ddb", env=bucket.environment())
        while not bucket.requests:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=4) == -signal.SIGINT
        process.communicate()
    assert importer.files() == {}


def test_timeout_limits_each_response_of_the_bucket(importer):
    enough = threading.Event()
    with buckets.Bucket({"notes": b"{}"}) as bucket:
        bucket.before_each = lambda: enough.wait(60)
        message = importer.refuse("--timeout", "0.2", *KEYS, "s3://exports/notes", "x.ddb", env=bucket.environment())
        enough.set()
    assert "within 0.2 s" in message


def test_a_changed_byte_in_the_bucket_is_a_wrong_checksum(importer, objects):
    """Also where the bytes are still a gzip file, whose lines are no JSON, or a list of files."""
    data = max((key for key in objects if key.startswith("a b") and "/data/" in key), key=lambda key: len(objects[key]))
    lines = gzip.decompress(objects[data])
    changes = {
        data: (objects[data][:-9] + bytes([objects[data][-9] ^ 1]) + objects[data][-8:], gzip.compress(lines.replace(b"{", b"[", 1))),
        "a b/AWSDynamoDB/1/manifest-files.json": (objects["a b/AWSDynamoDB/1/manifest-files.json"].replace(b"{", b"[", 1),),
    }
    for key, contents in changes.items():
        for content in contents:
            with buckets.Bucket({**objects, key: content}) as bucket:
                message = importer.refuse(*KEYS, "s3://exports/a b/AWSDynamoDB/1", "x.ddb", env=bucket.environment())
            assert f"s3://exports/{key} has the MD5 checksum" in message
