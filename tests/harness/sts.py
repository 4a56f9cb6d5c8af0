"""A fake STS that gives roles to whoever signs for them, or shows a token; and botocore as the one to
compare with, which asks it too."""

import json
import time

from . import resident_botocore, services, sigv4, signin

ARN = "arn:aws:iam::123456789012:role/"
ACCOUNT = "123456789012"


class Sts(services.Service):
    """KEYS are those that may sign; each role's key is added to them. A test changes LASTS_S, puts
    (status, code, message) into REFUSALS by the role's name, or a function of the request in ANSWERS."""

    def __init__(self, keys=None, know=lambda key, secret, token: None, now_s=time.time):
        super().__init__(self.answer)
        self.keys = {"BASE": sigv4.Key("secret/of+it")} if keys is None else keys
        self.know = know  # told of each key that is given
        self.now_s = now_s
        self.lasts_s = 4 * 3600
        self.refusals = {}
        self.answers = {}
        self.tokens = {}  # of web identities: token -> role
        self.codes = set()  # of MFA devices, each good once
        self.number = 0

    @property
    def environment(self):
        return {"AWS_ENDPOINT_URL_STS": self.url}

    def asked(self):
        """What was asked since the last call: (action, role, who signed)."""
        told = []
        for request in self.requests:
            form = request.form()
            told.append((form["Action"], form.get("RoleArn", "").rpartition("/")[2], signer(request)))
        self.requests.clear()
        return told

    def answer(self, request):
        form = request.form()
        name = form.get("RoleArn", "").rpartition("/")[2]
        if name in self.answers:
            return self.answers[name](request)
        status, code, message = self.refusals.get(name) or self.judge(request, form) or (200, "", "")
        as_json = "application/json" in request.headers.get("accept", "")
        if status != 200:
            told = {"Error": {"Code": code, "Message": message, "Type": "Sender"}, "RequestId": "R"}
            return status, told if as_json else to_xml("ErrorResponse", told)
        result = self.result(form, name)
        body = {f"{form['Action']}Result": result, "ResponseMetadata": {"RequestId": "R"}}
        if as_json:
            return 200, {f"{form['Action']}Response": body}
        return 200, to_xml(f"{form['Action']}Response", body)

    def judge(self, request, form):
        """None where all is well."""
        if form["Action"] == "AssumeRoleWithWebIdentity":
            if "authorization" in request.headers:
                return 400, "ValidationError", "a signature is not wanted"
            if self.tokens.get(form["WebIdentityToken"]) != form["RoleArn"]:
                return 400, "InvalidIdentityToken", f"no good: {form['WebIdentityToken']}"
            return None
        try:
            headers = list(request.headers.items())
            arguments = (request.method, request.path, headers, request.body, self.keys)
            sigv4.verify(*arguments, {"us-east-1", "eu-west-1"}, self.now_s(), service="sts")
        except sigv4.Refused as refused:
            codes = {"UnrecognizedClientException": "InvalidClientTokenId",
                     "InvalidSignatureException": "SignatureDoesNotMatch"}  # fmt: skip
            return 403, codes.get(refused.code, refused.code), refused.message
        if "SerialNumber" in form and form.get("TokenCode") not in self.codes:
            return 403, "AccessDenied", (
                "MultiFactorAuthentication failed with invalid MFA one time pass code. ")
        self.codes.discard(form.get("TokenCode"))
        return None

    def result(self, form, name):
        if form["Action"] == "GetCallerIdentity":
            return {"Account": ACCOUNT, "Arn": f"arn:aws:iam::{ACCOUNT}:user/me", "UserId": "AIDA"}
        self.number += 1
        key = f"ASIA{name.upper()}{self.number}"
        secret, token = f"secret/of+{key}", f"token-of-{key}=="
        self.keys[key] = sigv4.Key(secret, token)
        self.know(key, secret, token)
        expires = int(self.now_s()) + self.lasts_s
        arn = f"arn:aws:sts::{ACCOUNT}:assumed-role/{name}/{form['RoleSessionName']}"
        return {
            "Credentials": {"AccessKeyId": key, "SecretAccessKey": secret, "SessionToken": token,
                            "Expiration": Expiry(expires)},
            "AssumedRoleUser": {"AssumedRoleId": "AROA:x", "Arn": arn},
        }  # fmt: skip


class Expiry(int):
    """Seconds in JSON, and a date in XML."""


def signer(request):
    """The id of the key that signed; None where nobody did."""
    return request.headers.get("authorization", "=/").partition("=")[2].partition("/")[0] or None


def to_xml(name, value):
    if isinstance(value, dict):
        value = "".join(to_xml(each, inner) for each, inner in value.items())
    elif isinstance(value, Expiry):
        value = signin.instant(value - time.time())
    return f"<{name}>{value}</{name}>"


# It asks as the AWS CLI does: with its cache, and with a code typed where one is needed.
ORACLE = """
import sys
import botocore.session
from botocore.credentials import JSONFileCache
import os

profile, url, code, cached = sys.argv[1:]
create = botocore.session.Session.create_client
def create_client(self, name, *args, **given):
    return create(self, name, *args, **{**given, "endpoint_url": url})
botocore.session.Session.create_client = create_client
session = botocore.session.Session(profile=profile or None)
resolver = session.get_component("credential_provider")
for name in ("assume-role", "assume-role-with-web-identity"):
    provider = resolver.get_provider(name)
    if cached:
        provider.cache = JSONFileCache(os.path.expanduser("~/.aws/cli/cache"))
    provider._prompter = lambda text: code
found = session.get_credentials()
print(found.get_frozen_credentials().access_key if found else "")
"""


def botocore_key(home, sts, profile="", code="", cached=True, env=None):
    """The id of the key that botocore comes to; "" when it fails."""
    environment = home.environment({"AWS_DEFAULT_REGION": "us-east-1", **sts.environment, **(env or {})})
    return resident_botocore.printed(ORACLE, environment, profile, sts.url, code, "yes" if cached else "")


def kept(home):
    """What stands in the AWS CLI's cache: file name -> content."""
    folder = home.folder / ".aws" / "cli" / "cache"
    return {each.name: json.loads(each.read_text()) for each in folder.glob("*.json")}
