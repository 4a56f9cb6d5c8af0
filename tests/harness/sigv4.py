"""Signature Version 4, verified from scratch: what the service would refuse, and in its words."""

import calendar
import hashlib
import hmac
import re
import time

MAX_SKEW_S = 300
SERVICE = "dynamodb"
TARGETS = {"dynamodb": ["content-type", "x-amz-target"], "sts": ["content-type"], "s3": ["x-amz-content-sha256"]}
ALWAYS_SIGNED = ("host", "x-amz-date")
AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=([^,/ ]+)/(\d{8})/([^,/ ]+)/([^,/ ]+)/aws4_request, ?"
    r"SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})"
)


class Refused(Exception):
    """A request the service would not let in: the error's code and message."""

    def __init__(self, code, message):
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


class Key:
    """A secret access key, the session token that has to come with it, if any, and when both expire."""

    def __init__(self, secret, token=None, expires_s=None):
        self.secret = secret
        self.token = token
        self.expires_s = expires_s


def hash_hex(data):
    return hashlib.sha256(data).hexdigest()


def sign(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def signing_key(secret, date, region, service):
    key = ("AWS4" + secret).encode()
    for part in (date, region, service, "aws4_request"):
        key = sign(key, part)
    return key


def canonical_request(method, path, headers, signed, body):
    """HEADERS is the list of pairs as received: a header sent twice has both values, joined."""
    lines = []
    for name in signed:
        values = [" ".join(value.split()) for key, value in headers if key == name]
        lines.append(f"{name}:{','.join(values)}\n")
    return "\n".join([method, path, "", "".join(lines), ";".join(signed), hash_hex(body)])


def string_to_sign(amz_date, scope, canonical):
    return "\n".join(["AWS4-HMAC-SHA256", amz_date, scope, hash_hex(canonical.encode())])


def one(headers, name):
    """The header's value; None when it is missing; refused when it was sent twice."""
    values = [value for key, value in headers if key == name]
    if len(values) > 1:
        raise Refused(
            "InvalidSignatureException", f"the header {name} was sent {len(values)} times"
        )
    return values[0] if values else None


def parse_authorization(headers):
    text = one(headers, "authorization")
    if text is None:
        raise Refused(
            "MissingAuthenticationTokenException", "Request is missing Authentication Token"
        )
    match = AUTHORIZATION.fullmatch(text)
    if not match:
        raise Refused("IncompleteSignatureException", f"Authorization header is malformed: {text}")
    return match.groups()


def check_date(amz_date, scope_date, now_s):
    try:
        sent_s = calendar.timegm(time.strptime(amz_date or "", "%Y%m%dT%H%M%SZ"))
    except ValueError:
        raise Refused(
            "IncompleteSignatureException", f"Date must be in ISO-8601 'basic format': {amz_date}"
        )
    server = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now_s))
    if sent_s < now_s - MAX_SKEW_S:
        text = f"Signature expired: {amz_date} is now earlier than {server} - 5 min."
        raise Refused("InvalidSignatureException", text)
    if sent_s > now_s + MAX_SKEW_S:
        text = f"Signature not yet current: {amz_date} is still later than {server} + 5 min."
        raise Refused("InvalidSignatureException", text)
    if not amz_date.startswith(scope_date):
        text = "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date"
        raise Refused("InvalidSignatureException", text)


def check_scope(region, service, regions, wanted):
    if region not in regions:
        text = f"Credential should be scoped to a valid region, not '{region}'."
        raise Refused("InvalidSignatureException", text)
    if service != wanted:
        text = f"Credential should be scoped to correct service: '{wanted}', not '{service}'."
        raise Refused("InvalidSignatureException", text)


def check_signed_headers(headers, signed, always):
    needed = [*always, *(name for name, _ in headers if name.startswith("x-amz-"))]
    missing = [name for name in needed if name not in signed]
    if missing:
        text = f"'{missing[0]}' must be a 'SignedHeader' in the AWS Authorization."
        raise Refused("InvalidSignatureException", text)
    if signed != sorted(set(signed)):
        raise Refused("InvalidSignatureException", "SignedHeaders are not sorted")
    for name in signed:
        one(headers, name)


def check_key(access_key, token, keys):
    key = keys.get(access_key)
    if key is None or token != key.token:
        text = "The security token included in the request is invalid."
        raise Refused("UnrecognizedClientException", text)
    return key


def verify(method, path, headers, body, keys, regions, now_s, service=SERVICE):
    """Raises Refused unless the request is signed as SERVICE wants it; returns its access key.
    HEADERS are pairs with names in lower case; KEYS maps access keys to Key."""
    access_key, date, region, scoped, names, signature = parse_authorization(headers)
    signed = names.split(";")
    check_signed_headers(headers, signed, [*ALWAYS_SIGNED, *TARGETS.get(service, [])])
    key = check_key(access_key, one(headers, "x-amz-security-token"), keys)
    check_scope(region, scoped, regions, service)
    amz_date = one(headers, "x-amz-date")
    check_date(amz_date, date, now_s)
    canonical = canonical_request(method, path, headers, signed, body)
    text = string_to_sign(amz_date, f"{date}/{region}/{service}/aws4_request", canonical)
    want = sign(signing_key(key.secret, date, region, service), text).hex()
    if not hmac.compare_digest(want, signature):
        text = (
            "The request signature we calculated does not match the signature you provided. "
            "Check your AWS Secret Access Key and signing method. "
            "Consult the service documentation for details."
        )
        raise Refused("InvalidSignatureException", text)
    if key.expires_s is not None and now_s >= key.expires_s:
        text = "The security token included in the request is expired"
        raise Refused("ExpiredTokenException", text)
    return access_key
