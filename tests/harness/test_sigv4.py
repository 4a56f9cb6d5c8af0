"""The verifier against the project's vectors: what they sign passes, and nothing near it."""

import calendar
import json
import time

import pytest

from harness import places, sigv4

VECTORS = json.loads((places.REPO / "tests/vectors/sigv4-dynamodb.json").read_text("utf-8"))


def headers_of(vector):
    pairs = [
        ("content-type", "application/x-amz-json-1.0"),
        ("host", vector["host"]),
        ("x-amz-date", vector["amz_date"]),
        ("x-amz-target", vector["target"]),
        ("authorization", vector["authorization"]),
    ]
    token = vector["session_token"]
    return pairs + ([("x-amz-security-token", token)] if token else [])


def verify(vector, headers=None, **changed):
    now_s = calendar.timegm(time.strptime(vector["amz_date"], "%Y%m%dT%H%M%SZ"))
    key = sigv4.Key(vector["secret_access_key"], vector["session_token"])
    given = {
        "body": vector["body"].encode(),
        "keys": {vector["access_key_id"]: key},
        "regions": {vector["region"]},
        "now_s": now_s,
        **changed,
    }
    return sigv4.verify("POST", "/", headers or headers_of(vector), **given)


def test_every_vector_passes():
    assert len(VECTORS) > 10
    for vector in VECTORS:
        assert verify(vector) == vector["access_key_id"]


def test_one_bit_of_a_body_is_seen():
    for vector in VECTORS:
        with pytest.raises(sigv4.Refused):
            verify(vector, body=vector["body"].encode() + b" ")


def test_a_header_sent_twice_is_refused():
    for name in ("x-amz-date", "host", "authorization"):
        pairs = headers_of(VECTORS[0])
        pairs += [pair for pair in pairs if pair[0] == name]
        with pytest.raises(sigv4.Refused) as caught:
            verify(VECTORS[0], headers=pairs)
        assert "2 times" in caught.value.message


def test_an_unsigned_amz_header_is_refused():
    with pytest.raises(sigv4.Refused) as caught:
        verify(VECTORS[0], headers=headers_of(VECTORS[0]) + [("x-amz-other", "1")])
    assert "x-amz-other" in caught.value.message


def test_the_window_is_five_minutes():
    now_s = calendar.timegm(time.strptime(VECTORS[0]["amz_date"], "%Y%m%dT%H%M%SZ"))
    assert verify(VECTORS[0], now_s=now_s + 300) and verify(VECTORS[0], now_s=now_s - 300)
    for wrong_s in (now_s + 301, now_s - 301):
        with pytest.raises(sigv4.Refused):
            verify(VECTORS[0], now_s=wrong_s)
