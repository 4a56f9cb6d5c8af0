"""Fake sign-in services: SSO's portal and its token service, and AWS Sign-In; and the files in which
the AWS CLI leaves what they gave."""

import base64
import datetime
import hashlib
import json
import os
import subprocess
import time

from . import services, sigv4

START_URL = "https://corp.awsapps.com/start"
ACCOUNT = "123456789012"
ROLE = "Reader"
LOGIN_SESSION = f"arn:aws:sts::{ACCOUNT}:assumed-role/Admin/me"
CLIENT = "arn:aws:signin:::devtools/same-device"
SSO_SESSION = f"""\
[profile controller]
region = us-east-1
sso_session = corp
sso_account_id = {ACCOUNT}
sso_role_name = {ROLE}

[sso-session corp]
sso_region = eu-west-1
sso_start_url = {START_URL}
sso_registration_scopes = sso:account:access
"""
SSO_LEGACY = f"""\
[profile controller]
region = us-east-1
sso_start_url = {START_URL}
sso_region = eu-west-1
sso_account_id = {ACCOUNT}
sso_role_name = {ROLE}
"""
LOGIN = f"[profile controller]\nregion = us-east-1\nlogin_session = {LOGIN_SESSION}\n"


def instant(seconds_from_now, now_s=None):
    now_s = time.time() if now_s is None else now_s
    when = datetime.datetime.fromtimestamp(now_s + seconds_from_now, datetime.timezone.utc)
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")


class Cache:
    """One JSON file of the AWS CLI's, written as a whole by renaming, or byte by byte as it comes."""

    def __init__(self, path):
        self.path = path

    def write(self, content):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        draft = self.path.with_suffix(".draft")
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        draft.write_bytes(data)
        os.replace(draft, self.path)

    def read(self):
        return json.loads(self.path.read_bytes())

    def remove(self):
        self.path.unlink()

    def exists(self):
        return self.path.exists()


class SignIn:
    """The services, and a home that is set up to use them; their clock is the proxy's. A test changes
    ROLE_LASTS_S and so on, or puts an answer of its own in PORTAL, TOKENS or LOGIN: a function of the
    request."""

    def __init__(self, home, proxy):
        self.home, self.proxy = home, proxy
        self.service = services.Service(self.answer)
        self.number = 0
        self.good = set()  # tokens that the portal takes
        self.roles = {(ROLE, ACCOUNT)}  # those that it gives
        self.given = {}  # the key id that was given last, by "sso" and "login"
        self.refresh = None  # the refresh token that is taken next
        self.role_lasts_s, self.token_lasts_s, self.login_lasts_s = 6 * 3600, 8 * 3600, 900
        self.portal, self.tokens, self.login = self.give_role, self.give_token, self.give_login
        self.sso = Cache(self.cache("sso/cache", hashlib.sha1, "corp"))
        self.legacy = Cache(self.cache("sso/cache", hashlib.sha1, START_URL))
        self.session = Cache(self.cache("login/cache", hashlib.sha256, LOGIN_SESSION))
        self.role = Cache(self.cache("cli/cache", hashlib.sha1, self.role_arguments("sessionName", "corp")))
        self.legacy_role = Cache(
            self.cache("cli/cache", hashlib.sha1, self.role_arguments("startUrl", START_URL))
        )

    def __enter__(self):
        self.service.__enter__()
        return self

    def __exit__(self, *error):
        self.service.__exit__(*error)

    @staticmethod
    def role_arguments(name, value):
        arguments = {"roleName": ROLE, "accountId": ACCOUNT, name: value}
        return json.dumps(arguments, sort_keys=True, separators=(",", ":"))

    def cache(self, folder, digest, name):
        return self.home.folder / ".aws" / folder / f"{digest(name.encode()).hexdigest()}.json"

    def use(self, config):
        """CONFIG is all that the profile files say; no key stands in them."""
        self.home.config.write_text(config)
        self.home.credentials.write_text("")

    @property
    def environment(self):
        url = self.service.url
        names = ("AWS_ENDPOINT_URL_SSO", "AWS_ENDPOINT_URL_SSO_OIDC", "AWS_ENDPOINT_URL_SIGNIN")
        return {name: url for name in names}

    def instant(self, seconds_from_now):
        return instant(seconds_from_now, self.proxy.now_s())

    # What it has seen.

    def asked(self):
        """The paths that were asked since the last call, in order."""
        paths = [request.path for request in self.service.requests]
        self.service.requests.clear()
        return paths

    # What `aws sso login` and `aws login` do.

    def new_token(self):
        self.number += 1
        token = f"token-{self.number}-of-the-portal"
        self.good.add(token)
        self.refresh = f"refresh-{self.number}-of-the-token"
        return token

    def token(self, lasts_s=8 * 3600, **changes):
        token = {
            "startUrl": START_URL,
            "region": "eu-west-1",
            "accessToken": self.new_token(),
            "expiresAt": self.instant(lasts_s),
            "clientId": "the-client",
            "clientSecret": "the-secret-of-the-client",
            "registrationExpiresAt": self.instant(90 * 86400),
            "refreshToken": self.refresh,
        }
        token.update(changes)
        return {name: value for name, value in token.items() if value is not None}

    def sign_in(self, lasts_s=8 * 3600, **changes):
        self.sso.write(self.token(lasts_s, **changes))

    def new_keys(self, kind=None, lasts_s=None):
        self.number += 1
        key, secret, token = (
            f"ASIADEMOSIGNIN{self.number:06d}",
            f"demo/signed-in+secret/{self.number:07d}",
            f"demo-signed-in-token/{self.number}==",
        )
        expires_s = self.proxy.now_s() + lasts_s if lasts_s else None
        self.proxy.keys[key] = sigv4.Key(secret, token, expires_s)
        self.given[kind] = key
        return key, secret, token

    def session_content(self, key_file, lasts_s=900, **changes):
        key, secret, token = self.new_keys("login", lasts_s)
        self.refresh = f"refresh-{self.number}-of-the-session"
        session = {
            "accessToken": {
                "accessKeyId": key,
                "secretAccessKey": secret,
                "sessionToken": token,
                "accountId": ACCOUNT,
                "expiresAt": self.instant(lasts_s),
            },
            "tokenType": "aws_sigv4",
            "clientId": CLIENT,
            "refreshToken": self.refresh,
            "idToken": "an.id.token",
            "dpopKey": key_file.read_text(),
        }
        session.update(changes)
        return session

    def open_session(self, key_file, lasts_s=900, **changes):
        self.session.write(self.session_content(key_file, lasts_s, **changes))

    # The services.

    def answer(self, request):
        ways = {
            ("GET", "/federation/credentials"): self.portal,
            ("POST", "/token"): self.tokens,
            ("POST", "/v1/token"): self.login,
        }
        way = ways.get((request.method, request.path))
        if not way or "authorization" in request.headers:
            return 400, {"message": f"not for this service: {request}"}
        return way(request)

    def give_role(self, request):
        if request.headers.get("x-amz-sso_bearer_token") not in self.good:
            return 401, {"message": "Session token not found or invalid"}, {
                "x-amzn-ErrorType": "UnauthorizedException"}  # fmt: skip
        if (request.query.get("role_name"), request.query.get("account_id")) not in self.roles:
            return 403, {"message": "No access"}, {"x-amzn-ErrorType": "ForbiddenException"}
        key, secret, token = self.new_keys("sso", self.role_lasts_s)
        expires = int((self.proxy.now_s() + self.role_lasts_s) * 1000)
        return 200, {
            "roleCredentials": {"accessKeyId": key, "secretAccessKey": secret,
                                "sessionToken": token, "expiration": expires}
        }  # fmt: skip

    def give_token(self, request):
        asked = request.json()
        want = {"grantType": "refresh_token", "clientId": "the-client",
                "clientSecret": "the-secret-of-the-client", "refreshToken": self.refresh}  # fmt: skip
        if asked != want:
            return 400, {"error": "invalid_grant", "error_description": "Invalid refresh token"}, {
                "x-amzn-ErrorType": "InvalidGrantException"}  # fmt: skip
        token = self.new_token()
        return 200, {"accessToken": token, "expiresIn": self.token_lasts_s, "tokenType": "Bearer",
                     "refreshToken": self.refresh}  # fmt: skip

    def give_login(self, request):
        want = {"clientId": CLIENT, "grantType": "refresh_token", "refreshToken": self.refresh}
        if request.json() != want or not proves(request, f"{self.service.url}/v1/token", self.proxy.now_s()):
            return 401, {"error": "TOKEN_EXPIRED", "message": "The refresh token has expired."}, {
                "x-amzn-ErrorType": "AccessDeniedException"}  # fmt: skip
        key, secret, token = self.new_keys("login", self.login_lasts_s)
        self.refresh = f"refresh-{self.number}-of-the-session"
        return 200, {
            "accessToken": {"accessKeyId": key, "secretAccessKey": secret, "sessionToken": token},
            "tokenType": "aws_sigv4", "expiresIn": self.login_lasts_s, "refreshToken": self.refresh,
        }  # fmt: skip


# Proofs of possession, verified by openssl.


def part(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def der_number(number):
    number = number.lstrip(b"\0") or b"\0"
    if number[0] & 0x80:
        number = b"\0" + number
    return b"\x02" + bytes([len(number)]) + number


# A public key of P-256 up to its point (RFC 5480).
POINT = bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d03010703420004")


def claims_of(proof, folder):
    """The claims of a proof that its own key has signed; None when it has not."""
    head, claims, signature = proof.split(".")
    key = json.loads(part(head))
    assert (key["typ"], key["alg"]) == ("dpop+jwt", "ES256"), key
    assert (key["jwk"]["kty"], key["jwk"]["crv"]) == ("EC", "P-256"), key
    numbers = part(signature)
    assert len(numbers) == 64, len(numbers)
    both = der_number(numbers[:32]) + der_number(numbers[32:])
    (folder / "key.der").write_bytes(POINT + part(key["jwk"]["x"]) + part(key["jwk"]["y"]))
    (folder / "signature").write_bytes(b"\x30" + bytes([len(both)]) + both)
    (folder / "signed").write_text(f"{head}.{claims}")
    done = subprocess.run(
        ["openssl", "dgst", "-sha256", "-keyform", "DER", "-verify", folder / "key.der",
         "-signature", folder / "signature", folder / "signed"], capture_output=True,
    )  # fmt: skip
    return json.loads(part(claims)) if done.returncode == 0 else None


def proves(request, url, now_s):
    """What can be seen without openssl: for which request the proof is, and when it was made."""
    parts = request.headers.get("dpop", "").split(".")
    claims = json.loads(part(parts[1])) if len(parts) == 3 else {}
    return (
        claims.get("htm") == "POST"
        and claims.get("htu") == url
        and abs(claims.get("iat", 0) - now_s) < 300
    )


def make_key(path):
    command = ["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", path]
    subprocess.run(command, check=True, capture_output=True)
    return path
