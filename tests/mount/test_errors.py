"""The table of errors (docs/errors.md), row by row: what the command line says and with which status,
what it tells programs, the errno at the mount, and what /.ddbfs/errors and the log keep of it. Every
reason ends in what to do."""

import contextlib
import errno
import hashlib
import json
import os
import re
import time

import pytest

from harness import machine, places, services, signin, sigv4

SHOP = "staging/shops/cool-store.myshopify.com/SETTINGS"
JOB = "staging/jobs/by-id/1f3c9a52-7b1e-4c57-9d0a-2e6f4b8c1d90"
TABLE = "staging-ShopifyEntitiesTable"
JOBS = "staging-EcomIndexerJobsTable"


class Row:
    """KIND, ERRNO and STATUS are what is told; WORDS stand in the reason, TODO behind them. What makes
    it happen: FAULT of the proxy, STAGING instead of the map's second environment, FILES (a function
    of the home), KEYS (a function of the proxy), SERVE (a function of home and answers(function), which
    gives the environment that leads to services)."""

    def __init__(self, kind, number, words, todo, fault=None, options=None, staging=None, files=None,
                 keys=None, path=SHOP, code=None, asked=True, index=None, table=None, status=1, swap=None, serve=None):  # fmt: skip
        self.kind, self.number, self.words, self.todo = kind, number, words, todo
        self.fault, self.options, self.staging, self.files = fault, options or {}, staging, files
        self.keys, self.path, self.code, self.asked = keys, path, code, asked
        self.index, self.status, self.swap, self.serve = index, status, swap, serve
        self.table = table or (JOBS if path == JOB else TABLE)

    @property
    def operation(self):
        return "Query" if self.path == JOB else "GetItem"


def no_keys(home):
    home.config.write_text(home.config.read_text() + "[profile other]\nregion = us-east-1\n")


def half_keys(home):
    with open(home.credentials, "a", encoding="ascii") as file:
        file.write("\n[other]\naws_access_key_id = DEMOCONTROLLERKEY001\n")


def other_secret(proxy):
    proxy.allow_refusals = True
    proxy.keys["DEMOCONTROLLERKEY001"] = sigv4.Key("another/secret")


def add_profile(home, text):
    with open(home.config, "a", encoding="ascii") as file:
        file.write(text.replace("profile controller]", "profile other]"))


def sso(answer=None, lasts_s=3600):
    """Credentials through SSO; with an ANSWER of the portal, somebody is signed in."""

    def serve(home, answers):
        add_profile(home, signin.SSO_SESSION)
        cache = signin.Cache(home.folder / f".aws/sso/cache/{hashlib.sha1(b'corp').hexdigest()}.json")
        if answer:
            cache.write({"accessToken": "t" * 40, "expiresAt": signin.instant(lasts_s)})
        url = answers(answer or (500, "")).url
        return {name: url for name in ("AWS_ENDPOINT_URL_SSO", "AWS_ENDPOINT_URL_SSO_OIDC")}

    return serve


def login(home, _answers):
    add_profile(home, signin.LOGIN)
    return {}


def role(code, text="line = value"):
    """A role that STS does not give, for this reason."""

    def serve(home, answers):
        add_profile(home, f"[profile other]\nregion = us-east-1\nrole_arn = {ROLE}\n{text}\n")
        (home.folder / "token").write_text("a.web.token")
        refusal = {"Error": {"Code": code, "Message": "Not authorized"}, "RequestId": REQUEST_ID}
        return {"AWS_ENDPOINT_URL_STS": answers((403, refusal, {"x-amzn-RequestId": REQUEST_ID})).url}

    return serve


def process(home, _answers):
    add_profile(home, "[profile other]\nregion = us-east-1\ncredential_process = sh -c 'exit 7'\n")
    return {}


def container(home, answers):
    add_profile(home, "[profile other]\nregion = us-east-1\n")
    url = answers((404, {"message": "no such task"})).url
    return {"AWS_CONTAINER_CREDENTIALS_FULL_URI": f"{url}/v2/credentials"}


def metadata(home, answers):
    add_profile(home, "[profile other]\nregion = us-east-1\n")
    service = answers((500, ""))
    service.answer = lambda asked: (200, "token") if asked.path == machine.TOKEN else (500, "")
    return {"AWS_EC2_METADATA_SERVICE_ENDPOINT": service.url, machine.OFF: None}


def no_key(proxy):
    proxy.allow_refusals = True
    del proxy.keys["DEMOCONTROLLERKEY001"]


ROLE = "arn:aws:iam::123456789012:role/Reader"
REQUEST_ID = "0f3c9a52-7b1e-4c57-9d0a-2e6f4b8c1d90"
OTHER = '"prefix": "staging-", "profile": "other", "region": "us-east-1"'
ELSEWHERE = '"prefix": "staging-", "profile": "controller", "region": "us-east-1", "endpoint": "%s"'
MISSING = "ResourceNotFoundException"
THROTTLE = "ProvisionedThroughputExceededException"

# Who can do something about it: whoever knows the tables and the account, or time.
HUMANS = {"denied", "expired", "untrusted", "no-table", "bad-answer", "ambiguous"}
CALLERS = {"not-found", "invalid", "not-listable", "too-large"}


def fixer_of(row):
    return "human" if row.kind in HUMANS else "caller" if row.kind in CALLERS else "retry"


ROWS = {
    "no such item": Row(
        "not-found", errno.ENOENT, "has no item with", "", path=f"{SHOP}X", asked=False, status=3,
    ),
    "no permission": Row(
        "denied", errno.EACCES, f"needs dynamodb:GetItem on {TABLE} in us-east-1",
        'add to its identity-based policy: {"Effect": "Allow", "Action": "dynamodb:GetItem", '
        f'"Resource": "arn:aws:dynamodb:us-east-1:123456789012:table/{TABLE}"}}; ddbfs policy prints all',
        fault="denied", code="AccessDeniedException",
    ),
    "no permission on an index": Row(
        "denied", errno.EACCES, f"needs dynamodb:Query on {JOBS} and its indexes in us-east-1",
        f'"Resource": "arn:aws:dynamodb:us-east-1:123456789012:table/{JOBS}/index/GSI_JobLookup_v2"}}',
        fault="denied", code="AccessDeniedException", path=JOB, index="GSI_JobLookup_v2",
    ),
    "a bad signature": Row(
        "denied", errno.EACCES, "signature", "check the secret access key and this machine's clock",
        keys=other_secret, code="InvalidSignatureException",
    ),
    "an unknown key": Row(
        "denied", errno.EACCES, "the access key or its session token is not valid here",
        "check ~/.aws/credentials [controller], and the region",
        keys=no_key, code="UnrecognizedClientException",
    ),
    "no credentials": Row(
        "denied", errno.EACCES, "profile other has no credentials", "aws configure --profile other",
        staging=OTHER, files=no_keys,
    ),
    "half of the credentials": Row(
        "denied", errno.EACCES, "aws_secret_access_key", "set both", staging=OTHER, files=half_keys,
    ),
    "no such profile": Row(
        "denied", errno.EACCES, "profile other (named by the map's environment staging) is in neither",
        "aws configure --profile other", staging=OTHER, asked=False,
    ),
    "nobody signed in by SSO": Row(
        "expired", errno.EKEYEXPIRED, "you are not signed in to SSO session corp",
        "; sign in: aws sso login --profile other", staging=OTHER, serve=sso(),
    ),
    "an SSO token that has expired": Row(
        "expired", errno.EKEYEXPIRED, "the sign-in to SSO session corp has expired",
        "; sign in: aws sso login --profile other", staging=OTHER, serve=sso((500, ""), -1),
    ),
    "an SSO token that is refused": Row(
        "expired", errno.EKEYEXPIRED, "the sign-in to SSO session corp is no longer valid",
        "; sign in: aws sso login --profile other", staging=OTHER, code="UnauthorizedException",
        serve=sso((401, {"message": "m"}, {"x-amzn-ErrorType": "UnauthorizedException",
                                           "x-amzn-RequestId": REQUEST_ID})),
    ),
    "a role that SSO does not give": Row(
        "denied", errno.EACCES, "you have no role Reader in account 123456789012 by SSO",
        "check sso_role_name and sso_account_id of profile other, or request the role",
        staging=OTHER, code="ForbiddenException",
        serve=sso((403, {"message": "No access"}, {"x-amzn-ErrorType": "ForbiddenException",
                                                   "x-amzn-RequestId": REQUEST_ID})),
    ),
    "a portal that fails": Row(
        "service", errno.EIO, "the SSO portal failed", "try again later", staging=OTHER,
        serve=sso((500, "")),
    ),
    "another's answer for the portal": Row(
        "bad-answer", errno.EBADMSG, "the response is not from the SSO portal",
        "its endpoint, and that no proxy responds in its place", staging=OTHER,
        serve=sso((403, "<html>")),
    ),
    "nobody logged in": Row(
        "expired", errno.EKEYEXPIRED, "you are not signed in to this profile's login_session",
        "; sign in: aws login --profile other", staging=OTHER, serve=login,
    ),
    "a role that may not be assumed": Row(
        "denied", errno.EACCES, "could not be assumed by profile controller", "sts:AssumeRole",
        staging=OTHER, code="AccessDenied", serve=role("AccessDenied", "source_profile = controller"),
    ),
    "a role whose signer has expired": Row(
        "expired", errno.EKEYEXPIRED, "the session has expired", "signs for the role",
        staging=OTHER, code="ExpiredToken", serve=role("ExpiredToken", "source_profile = controller"),
    ),
    "a role without a signer": Row(
        "denied", errno.EACCES, "there are no credentials to sign for the role of profile other",
        "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
        staging=OTHER, serve=role("", "credential_source = Environment"),
    ),
    "a token file that is not there": Row(
        "denied", errno.EACCES, "/no/such/token does not exist",
        "check the path, and the program that writes the file",
        staging=OTHER, serve=role("", "web_identity_token_file = /no/such/token"),
    ),
    "a web identity that has expired": Row(
        "expired", errno.EKEYEXPIRED, "has expired", "the program that writes the file must renew it",
        staging=OTHER, code="ExpiredTokenException",
        serve=role("ExpiredTokenException", "web_identity_token_file = ~/token"),
    ),
    "a process that fails": Row(
        "denied", errno.EACCES, "the credential_process of profile other (sh) failed with exit status 7",
        "; run it by hand", staging=OTHER, serve=process,
    ),
    "a container that has no role": Row(
        "denied", errno.EACCES, "refuses (HTTP 404): no such task", "CONTAINER", staging=OTHER,
        serve=container,
    ),
    "a metadata service that fails": Row(
        "denied", errno.EACCES, "profile other has no credentials: ",
        "the machine's metadata service at", staging=OTHER, serve=metadata,
    ),
    "an expired session": Row(
        "expired", errno.EKEYEXPIRED, "the session has expired",
        "profile controller: write fresh keys and their aws_session_token into it",
        fault="expired", code="ExpiredTokenException",
    ),
    "throttled": Row(
        "throttled", errno.EAGAIN, f"{TABLE} is throttled", "try again later, or more slowly",
        fault="throttle", code=THROTTLE,
    ),
    "a hot partition": Row(
        "throttled", errno.EAGAIN, f"a partition of table {TABLE} is hot",
        "read the items of one partition key more slowly",
        fault="throttle", options={"reasons": ["TableReadKeyRangeThroughputExceeded"]}, code=THROTTLE,
    ),
    "the deadline": Row(
        "timed-out", errno.ETIMEDOUT, "within", "check the network and try again",
        fault="delay", options={"seconds": 60},
    ),
    "no such host": Row(
        "unreachable", errno.EHOSTUNREACH, "the name of", "check",
        staging=ELSEWHERE % "http://no-such-host.invalid",
    ),
    "nobody listens": Row(
        "refused", errno.ECONNREFUSED, "no server listens at", "check the endpoint",
        staging=ELSEWHERE % "http://127.0.0.1:1",
    ),
    "connection lost": Row(
        "reset", errno.ECONNRESET, "was lost", "try again", fault="reset",
    ),
    "no TLS": Row(
        "tls", errno.EPROTO, "TLS with", "check", staging=ELSEWHERE % "https://127.0.0.1:PORT",
    ),
    "a missing table": Row(
        "no-table", errno.ENODEV, "table nope-ShopifyEntitiesTable does not exist in us-east-1",
        f'(did you mean "prod-ShopifyEntitiesTable"?)',
        staging='"prefix": "nope-", "profile": "controller", "region": "us-east-1"',
        code=MISSING, table="nope-ShopifyEntitiesTable",
    ),
    "a missing index": Row(
        "no-table", errno.ENODEV, f"table {JOBS} has no index GSI_JobLookup",
        ' (did you mean "GSI_JobLookup_v2"?); there are: GSI_JobLookup_v2, GSI_JobsByStatus_v2',
        swap=("GSI_JobLookup_v2", "GSI_JobLookup"), path=JOB, index="GSI_JobLookup",
        code="ValidationException",
    ),
    "another's answer": Row(
        "bad-answer", errno.EBADMSG, "the response is not DynamoDB's", "an endpoint of DynamoDB", fault="html",
    ),
    "a wrong checksum": Row(
        "bad-answer", errno.EBADMSG, "the checksum of a response is wrong", "look for a proxy",
        fault="wrong_crc", code="CRC32CheckFailed",
    ),
    "no JSON": Row(
        "bad-answer", errno.EBADMSG, "the response is not DynamoDB's", "an endpoint of DynamoDB", fault="raw", options={"body": b"{]"},
    ),
    "a failing service": Row(
        "service", errno.EIO, "the service failed (HTTP 500)", "try again later",
        fault="server_error", code="InternalServerError",
    ),
    "a request that is refused": Row(
        "invalid", errno.EINVAL, "the service refuses this GetItem of", "ddbfs check",
        fault="error", code="ValidationException",
    ),
}  # fmt: skip


def own_map(row, make_map, proxy):
    def change(text):
        if row.staging:
            own = row.staging.replace("PORT", str(proxy.port))
            text = re.sub(r'"staging": +\{[^}]*\}', lambda _: f'"staging": {{ {own} }}', text)
        return text.replace(*row.swap) if row.swap else text

    return make_map(change)


def arm(row, proxy, home):
    if row.files:
        row.files(home)
    if row.keys:
        row.keys(proxy)
    if row.fault:
        proxy.fault(row.fault, op=row.operation, times=None, **row.options)


def says(row, text):
    """Whether TEXT is the row's reason: what happened, then what to do."""
    return row.words in text and row.todo in text.partition(row.words)[2]


@pytest.fixture
def answers():
    """answers((status, body, headers)): a service that says nothing else."""
    with contextlib.ExitStack() as started:
        yield lambda answer: started.enter_context(services.Service(lambda _: answer))


@pytest.mark.parametrize("name", ROWS)
def test_row(mount, ddbfs, home, proxy, make_map, answers, name):
    row = ROWS[name]
    (home.folder / "bin/aws").write_bytes(b"\x7fELF")  # version 2
    env = row.serve(home, answers) if row.serve else {}
    quick = {"timed-out": ["--timeout", "1"], "throttled": ["--timeout", "3"]}.get(row.kind, [])
    map_file = own_map(row, make_map, proxy)
    m = mount(*quick, map_file=map_file, env=env)
    arm(row, proxy, home)
    number = errno.errorcode[row.number]

    # The command line.
    told = ddbfs("--map", map_file, *quick, "cat", f"/{row.path}", env=env, expect=row.status)
    assert told.stdout == b"" and told.stderr.count("\n") == 1, told
    assert told.stderr.startswith(f"ddbfs: /{row.path}: ") and says(row, told.stderr), told

    # Programs.
    told = ddbfs("--map", map_file, *quick, "cat", "--json", f"/{row.path}", env=env, expect=row.status)
    error = json.loads(told.stderr)
    assert (error["path"], error["kind"], error["errno"]) == (f"/{row.path}", row.kind, number)
    assert says(row, error["text"]), error
    fields = {"operation": row.operation, "table": row.table, "index": row.index} if row.asked else {}
    fields |= {"code": row.code}
    for field, value in fields.items():
        assert error.get(field) == value, (field, error)
    assert set(error) <= {"path", "kind", "errno", "text", "fixable_by", "hint", "request_id", "throttled", *fields}
    assert error["fixable_by"] == fixer_of(row) and error["hint"]
    assert ("grant" in error["hint"]) == ("needs dynamodb:" in error["text"]) and "remount" not in error["hint"]
    assert "request_id" in error or not row.code, error

    # The mount.
    with pytest.raises(OSError) as caught:
        (m / row.path).read_bytes()
    assert errno.errorcode[caught.value.errno] == number
    if row.number == errno.ENOENT:
        assert m.errors() == "" and row.path not in m.log(), "a miss is no failure"
        return
    (failure,) = m.failures()
    assert time.strptime(failure.stamp, "%Y-%m-%dT%H:%M:%SZ")
    words = failure.words
    expected = {"pid": str(os.getpid()), "errno": number, "path": f"/{row.path}", "fixable_by": fixer_of(row)}
    if row.asked:
        expected |= {"operation": row.operation, "table": row.table}
    expected |= {"index": row.index} if row.index else {}
    expected |= {"code": row.code} if row.code else {}
    if "reasons" in row.options:
        resource = f"arn:aws:dynamodb:us-east-1:123456789012:table/{row.table}"
        expected |= {"reason": row.options["reasons"][0], "resource": resource}
    assert words.pop("request", None) or not row.code
    assert words == expected
    assert says(row, failure.reason) and failure.hint == error["hint"]

    # The log.
    assert f"ddbfs: {failure.entry}\n" in m.log()


def test_every_row_of_the_table_is_here():
    """Not here: the interrupt (test_interrupts.py), limits (test_limits.py), writes (test_readonly.py), and errors
    that no fault causes."""
    table = (places.REPO / "docs/errors.md").read_text().partition("## Kinds")[2]
    told = set(re.findall(r"`(E[A-Z]+)`", table.partition("\n\n`fixable_by`")[0]))
    elsewhere = {"EINTR", "EDQUOT", "EMFILE", "ENAMETOOLONG", "ELOOP", "ENOTUNIQ", "EOPNOTSUPP", "EFBIG",
                 "ESTALE", "ENODATA", "EISDIR", "ENOTDIR", "ENOMEM", "ENOSPC", "EROFS"}  # fmt: skip
    assert {errno.errorcode[row.number] for row in ROWS.values()} == told - elsewhere
