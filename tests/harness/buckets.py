"""A bucket of S3 on loopback that answers GetObject alone, and checks each signature."""

import re
import time
import urllib.parse

from . import services, sigv4

KEYS = {"AKIABUCKET": sigv4.Key("bucket/secret")}
REGION = "eu-west-1"


def error(status, code, text, headers=None):
    return status, f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>{text}</Message></Error>", headers or {}


class Bucket:
    """with Bucket({"key": b"…"}) as bucket: … bucket.url … bucket.requests: "GET key bytes=0-4194303"."""

    def __init__(self, objects, name="exports", region=REGION, may_list=True):
        self.objects = dict(objects)
        self.may_list = may_list  # if not, a missing object is denied, as S3 does
        self.before_each = None  # called before each response
        self.after_first = None  # called once, behind the first response of an object, or instead of it
        self.name = name
        self.region = region
        self.requests = []
        self.service = services.Service(self.answer)
        self.url = self.service.url

    def environment(self):
        return {
            "AWS_ENDPOINT_URL_S3": self.url,
            "AWS_REGION": REGION,
            "AWS_ACCESS_KEY_ID": "AKIABUCKET",
            "AWS_SECRET_ACCESS_KEY": KEYS["AKIABUCKET"].secret,
        }

    def answer(self, request):
        self.requests.append(f"{request.method} {request.path} {request.headers.get('range', '')}")
        try:
            sigv4.verify(request.method, request.path, list(request.headers.items()), request.body, KEYS,
                         [self.region], time.time(), service="s3")  # fmt: skip
        except sigv4.Refused as refused:
            if "valid region" in str(refused):
                text = "The bucket you are attempting to access must be addressed using the specified endpoint."
                return error(301, "PermanentRedirect", text, {"x-amz-bucket-region": self.region})
            return error(403, "SignatureDoesNotMatch", str(refused))
        assert request.method == "GET"
        _, bucket, key = urllib.parse.unquote(request.path).split("/", 2)
        if bucket != self.name:
            return error(404, "NoSuchBucket", "The specified bucket does not exist")
        if key not in self.objects and not self.may_list:
            return error(403, "AccessDenied", "Access Denied")
        if key not in self.objects:
            return error(404, "NoSuchKey", "The specified key does not exist.")
        if self.before_each:
            self.before_each()
        part = self.part(self.objects[key], request.headers)
        if self.after_first:
            self.after_first()
            self.after_first = None
        return part

    def part(self, content, headers):
        etag = f'"{len(content)}-{hash(content)}"'
        if headers.get("if-match", etag) != etag:
            return error(412, "PreconditionFailed", "At least one of the pre-conditions you specified did not hold")
        first, last = map(int, re.fullmatch(r"bytes=(\d+)-(\d+)", headers["range"]).groups())
        if first >= len(content):
            return error(416, "InvalidRange", "The requested range is not satisfiable")
        part = content[first : last + 1]
        return 206, part, {"ETag": etag, "Content-Range": f"bytes {first}-{first + len(part) - 1}/{len(content)}"}

    def __enter__(self):
        self.service.__enter__()
        return self

    def __exit__(self, *_):
        self.service.__exit__()
