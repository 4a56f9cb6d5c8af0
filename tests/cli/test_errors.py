"""What can go wrong: one sentence that says what to do, the right exit code, and no secret."""

import json
import re

import pytest

from harness import places
from harness.rows import rows

JOB_ID = "1f3c9a52-7b1e-4c57-9d0a-2e6f4b8c1d90"
SETTINGS = "/prod/shops/cool-store.myshopify.com/SETTINGS"
PENDING = "/prod/jobs/by-status/kl7a9h55-shopify-e513a8-4/PENDING"
ALL = "/prod/jobs/by-index/shopify/kl7a9h55-shopify-e513a8-4/all"
SECRETS = (
    "demo/controller+secret/0001",
    "demo/default+secret/0000001",
    "demo/session+secret/0000001",
    "demo-session-token/1+2==",
    "this/is+not/the+secret",
    "Signature=",
    "AWS4-HMAC-SHA256",
    "shpat_",
)
FORM = re.compile(r"ddbfs: (?P<path>[^:\n]+): (?P<why>[^\n]+)\n")


def has_no_secret(result):
    return not any(secret in result.stderr + result.text for secret in SECRETS)


@pytest.fixture
def fails(ddbfs):
    """fails(arguments...) -> the reason; one line in the form that is promised."""

    def run(*arguments, path=SETTINGS, expect=1, **how):
        asked = arguments or ("cat", path)
        result = ddbfs(*asked, expect=expect, **how)
        line = FORM.fullmatch(result.stderr)
        assert line and line["path"] == path and result.stdout == b"", result
        verbose = ddbfs("-v", *asked, expect=None, **how)
        assert has_no_secret(result) and has_no_secret(verbose)
        return line["why"]

    return run


# The map


def complaint(ddbfs, write_map, text):
    """What is said of a wrong map, by a command that would read a record with it."""
    path = write_map(text)
    result = ddbfs("--map", path, "cat", SETTINGS, expect=1)
    assert result.stdout == b"" and result.stderr.count("\n") == 1
    assert result.stderr.startswith(f"ddbfs: {path}:")
    place, why = result.stderr.removeprefix(f"ddbfs: {path}:").split(": ", 1)
    line, column = map(int, place.split(":"))
    assert 1 <= column <= len(text.split("\n")[line - 1]) + 1
    return line, why


EXAMPLE = places.DEFAULT_MAP.read_text("utf-8")
WRONG_MAPS = {
    "no JSON": ("{\n  nonsense\n}", 2, ""),
    "cut short": ('{\n  "environments":\n', 3, "ends too early"),
    "no object": ("[]", 1, "a map is written as an object"),
    "empty": ("", 1, ""),
    "without environments": (
        '{ "tables": { "t": { "table": "T", "records": { "r": { "pk": "{a}" } }, "paths": {} } } }',
        1,
        "environments",
    ),
}


@rows("kind", WRONG_MAPS)
def test_map_that_is_none(ddbfs, write_map, kind):
    text, line, why = WRONG_MAPS[kind]
    said = complaint(ddbfs, write_map, text)
    assert said[0] == line and why in said[1]


WRONG_CHANGES = {
    "unknown member of the map": ('"tables": {', '"tabels": {', "tabels"),
    "unknown member of a path": (
        '"by-id/{job_id}":                                      { "index"',
        '"by-id/{job_id}": { "indx"',
        "indx",
    ),
    "unknown member of an environment": ('{ "prefix": "prod-"', '{ "prefx": "prod-"', "prefx"),
    "unknown index": ('{ "index": "GSI_JobLookup_v2" }', '{ "index": "Nope" }', '"Nope"'),
    "unknown record": ('"record": "defaults"', '"record": "default"', "default"),
    "wrong regular expression": ('"^[^.]+$"', '"["', "regular expression"),
    "wrong projection": ('"projects": "keys"', '"projects": "none"', '"projects" is'),
    "wrong number": ('{ "newest": 100 }', '{ "newest": 0 }', '"newest"'),
    "parameter twice in a path": ("{domain}/access-token", "{domain}/{domain}", ""),
}


@rows("kind", WRONG_CHANGES)
def test_map_with_one_thing_wrong(ddbfs, write_map, kind):
    old, new, why = WRONG_CHANGES[kind]
    assert EXAMPLE.count(old) == 1
    text = EXAMPLE.replace(old, new)
    at = 1 + text[: text.index(new)].count("\n")
    line, said = complaint(ddbfs, write_map, text)
    assert line == at and why in said


def test_map_whose_paths_are_ambiguous(ddbfs, write_map):
    old = '"by-id/{job_id}": '
    other = '"by-id/{other}": { "index": "GSI_JobLookup_v2", "where": { "job_id": "{other}" } },\n'
    text = EXAMPLE.replace(old, other + old)
    first = 1 + text[: text.index(other)].count("\n")
    line, said = complaint(ddbfs, write_map, text)
    assert line == first + 1 and f"line {first}" in said


def test_map_with_a_member_twice(ddbfs, write_map):
    text = EXAMPLE.replace('"mtime": "created_at",', '"mtime": "created_at", "mtime": "ttl",')
    _, said = complaint(ddbfs, write_map, text)
    assert 'has "mtime" twice' in said


def test_no_map_at_all(ddbfs):
    result = ddbfs("cat", SETTINGS, env={"DDBFS_MAP": None}, expect=1)
    assert result.stdout == b"" and "without a map there is tables/ alone" in result.stderr


def test_a_path_of_no_mount_is_not_proven_to_be_missing(ddbfs, tmp_path):
    for env in ({}, {"DDBFS_MAP": None}):
        said = ddbfs("cat", tmp_path / "prod/x", env=env, expect=1).stderr
        assert "if a mount is expected there, it has ended: see ddbfs status" in said
    assert "mounted" not in ddbfs("cat", "/nope/x", expect=3).stderr


def test_map_that_is_not_there(ddbfs):
    result = ddbfs("--map", "nope.json", "cat", SETTINGS, expect=1)
    assert "nope.json" in result.stderr and "No such file" in result.stderr


def test_map_that_is_a_directory(ddbfs, tmp_path):
    result = ddbfs("--map", tmp_path, "cat", SETTINGS, expect=1)
    assert result.stderr.startswith("ddbfs: ") and str(tmp_path) in result.stderr


# Paths

WRONG_PATHS = {
    "unknown environment": ("/nope/jobs", "no environment"),
    "unknown table": ("/prod/nope", "jobs"),
    "unknown directory": ("/prod/jobs/nope", "by-id"),
    "below a record": (f"{SETTINGS}/x", "nothing is below it"),
    "record with a slash at the end": (f"{SETTINGS}/", "remove the final /"),
    "stray percent": ("/prod/shops/a%/SETTINGS", "two hexadecimal digits must follow each %"),
    "escape that is none": ("/prod/shops/a%zz/SETTINGS", "two hexadecimal digits"),
    "directory": ("/prod/jobs", "is a directory"),
    "root": ("/", "is a directory"),
    "domain where an index belongs": (
        "/prod/jobs/by-index/shopify/e513a8-4.myshopify.com/all/x",
        "not the domain",
    ),
    "empty key": ("/prod/jobs/by-id/%", "empty"),
    "key that is no text": ("/prod/jobs/by-id/%FF", "UTF-8"),
    "separator in a part": ("/prod/index-settings/kl7a9h55/a#b", "#"),
}

# A name that the map does not have is a proven miss; a value that it refuses is not.
MISSES = ("unknown environment", "unknown table", "unknown directory")


@rows("kind", WRONG_PATHS)
def test_path_that_cannot_be(fails, proxy, kind):
    path, why = WRONG_PATHS[kind]
    expect = 3 if kind in MISSES else 1
    assert why in fails(path=path, expect=expect)
    assert proxy.requests == []


MISSING = {
    "job": "/prod/jobs/by-id/no-such-job",
    "key with a slash": "/prod/jobs/by-id/a%2Fb",
    "key with NUL": "/prod/jobs/by-id/a%00b",
    "key with a line end": "/prod/jobs/by-id/a%0Ab",
    "index": "/prod/index-settings/kl7a9h55/nope",
    "account": "/prod/index-settings/nope/nope",
    "shop": "/prod/shops/nope.example/SETTINGS",
    "token of no shop": "/prod/shops/nope.example/access-token",
    "attribute": f"{SETTINGS}@/nope",
    "typed": "/prod/jobs/by-id/no-such-job@typed",
    "info": "/prod/jobs/by-id/no-such-job@info",
}


@rows("kind", MISSING)
def test_record_that_is_not_there(fails, kind):
    why = fails(path=MISSING[kind], expect=3)
    assert "has no item" in why or "has no attribute" in why


def test_one_wrong_path_stops_no_other(ddbfs, oracle):
    result = ddbfs("cat", "/prod/nope", SETTINGS, "/nope", expect=3)
    assert result.stdout == oracle.record(
        "prod-ShopifyEntitiesTable", "SHOP#cool-store.myshopify.com", "SETTINGS"
    )
    assert [line.split(": ")[1] for line in result.stderr.splitlines()] == ["/prod/nope", "/nope"]


# Credentials, region, endpoint


def test_no_credentials(fails, home):
    home.credentials.write_text("[controller]\n")
    why = fails()
    assert "profile controller has no credentials" in why and "aws configure" in why


def test_unknown_profile(fails):
    why = fails("--profile", "nobody", "cat", SETTINGS)
    assert "nobody" in why


def test_profile_of_the_map_that_is_unknown_here(fails, home):
    home.credentials.write_text("")
    home.config.write_text("")
    assert "controller" in fails()


def test_wrong_secret(fails, proxy):
    proxy.allow_refusals = True
    why = fails("--profile", "wrong-secret", "cat", SETTINGS)
    assert "InvalidSignatureException" in why and "secret access key" in why


def test_unknown_key(fails, proxy):
    proxy.allow_refusals = True
    why = fails("--profile", "unknown-key", "cat", SETTINGS)
    assert "UnrecognizedClientException" in why and "credentials" in why


def test_session_token_goes_along(ddbfs, proxy):
    ddbfs("--profile", "session", "cat", SETTINGS)
    assert [record.access_key for record in proxy.requests] == ["DEMOSESSIONKEY000001"]


def test_expired_token(fails, proxy):
    proxy.fault("expired", times=None)
    why = fails()
    assert "has expired" in why
    assert "profile controller: write fresh keys and their aws_session_token into it" in why


def test_expired_token_once_is_resolved_again(ddbfs, proxy):
    proxy.fault("expired", times=1)
    ddbfs("cat", SETTINGS)
    assert proxy.ops == ["GetItem", "GetItem"]


def test_denied(fails, proxy):
    proxy.fault("denied", times=None)
    why = fails()
    assert "not authorized" in why
    assert "needs dynamodb:GetItem on prod-ShopifyEntitiesTable in us-east-1" in why


def test_denied_index(fails, proxy):
    proxy.fault("denied", index="GSI_JobLookup_v2", times=None)
    why = fails(path=f"/prod/jobs/by-id/{JOB_ID}")
    assert "dynamodb:Query on prod-EcomIndexerJobsTable and its indexes" in why


def test_denied_list_tables(ddbfs, proxy):
    proxy.fault("denied", op="ListTables", times=None)
    result = ddbfs("ls", "/", expect=1)
    assert result.text in ("", "prod/\nstaging/\ntables/\n")
    assert "dynamodb:ListTables on all tables" in result.stderr


def test_missing_table(fails, write_map):
    path = write_map(EXAMPLE.replace('"prefix": "prod-"', '"prefix": "nope-"'))
    why = fails("--map", path, "cat", SETTINGS)
    assert "table nope-ShopifyEntitiesTable does not exist in us-east-1" in why


def test_answer_that_inflates_to_more_than_any(fails, proxy):
    """32 MB in 32 KB: refused at the bound, whatever comes behind it."""
    proxy.fault("gzip", times=None)
    proxy.fault("raw", body=b" " * (32 * 1024 * 1024), times=None)
    why = fails()
    assert "the response to GetItem is larger than any of the service" in why
    assert proxy.ops[-1] == "GetItem" and proxy.requests[-1].response_bytes < 2**20


def test_missing_index(fails, write_map):
    path = write_map(EXAMPLE.replace("GSI_JobLookup_v2", "GSI_Nope"))
    job = f"/prod/jobs/by-id/{JOB_ID}"
    assert "GSI_Nope" in fails("--map", path, "cat", job, path=job)


def test_refused_connection(fails):
    why = fails("--endpoint-url", "http://127.0.0.1:1", "cat", SETTINGS)
    assert "127.0.0.1:1" in why


def test_unknown_host(fails):
    why = fails("--endpoint-url", "http://no-such-host.invalid", "cat", SETTINGS)
    assert "no-such-host.invalid" in why


@rows("url", ["ftp://127.0.0.1", "nonsense", "file:///etc/passwd", "http://"])
def test_endpoint_that_is_none(fails, url):
    assert "http" in fails("--endpoint-url", url, "cat", SETTINGS)


@rows(
    "url", ["https://user:Secr3t@h/", "https://user:Secr3t/Secr3t@h/", "user:Secr3t@h/"]
)
def test_a_password_in_an_endpoint_is_not_told(fails, url):
    why = fails("--endpoint-url", url, "cat", SETTINGS)
    assert "…@h/" in why and "Secr3t" not in why


def test_a_password_in_an_endpoint_is_in_no_printed_command(ddbfs):
    result = ddbfs("--endpoint-url", "https://user:Secr3t@h/", "explain", SETTINGS)
    assert "…@h/" in result.text and "Secr3t" not in result.stderr + result.text


def test_tls_where_none_is_spoken(fails, proxy):
    url = proxy.url.replace("http:", "https:")
    assert fails("--timeout", "3", "--endpoint-url", url, "cat", SETTINGS)
    assert proxy.requests == []


# The service, and the network before it


def test_throttled_twice(ddbfs, proxy):
    proxy.fault("throttle", times=2)
    ddbfs("cat", SETTINGS)
    assert proxy.ops == ["GetItem"] * 3


THROTTLES = {
    "TableReadProvisionedThroughputExceeded": ("the provisioned read throughput of table {} is used up", "raise its"),
    "TableReadAccountLimitExceeded": ("the account's limit of read throughput is reached by table {}", "Service Quotas"),
    "TableReadKeyRangeThroughputExceeded": ("a partition of table {} is hot", "more slowly"),
    "TableReadMaxOnDemandThroughputExceeded": (
        "the on-demand maximum throughput for reads is reached by table {}",
        "raise its maximum",
    ),
    "TableReadFullMoonExceeded": ("TableReadFullMoonExceeded of arn:aws:dynamodb:us-east-1:123456789012:table/{}", "later"),
}


@rows("reason, words", [(reason, words) for reason, words in THROTTLES.items()])
def test_the_reason_of_throttling_is_told(ddbfs, proxy, reason, words):
    proxy.fault("throttle", times=None, code="ThrottlingException", reasons=[reason])
    slow = {"AWS_MAX_ATTEMPTS": "2"}
    said = ddbfs("cat", SETTINGS, env=slow, expect=1).stderr
    assert words[0].format("prod-ShopifyEntitiesTable") in said and f"ThrottlingException, {reason}" in said
    assert words[1] in said.partition(reason + ")")[2]
    error = json.loads(ddbfs("cat", "--json", SETTINGS, env=slow, expect=1).stderr)
    arn = "arn:aws:dynamodb:us-east-1:123456789012:table/prod-ShopifyEntitiesTable"
    assert error["kind"] == "throttled" and error["throttled"] == [{"reason": reason, "resource": arn}]


def test_a_hot_partition_of_an_index_is_named(ddbfs, proxy):
    proxy.fault("throttle", op="Query", times=None, reasons=["IndexReadKeyRangeThroughputExceeded"])
    said = ddbfs("cat", "/prod/jobs/by-id/1f3c", env={"AWS_MAX_ATTEMPTS": "1"}, expect=1).stderr
    assert "a partition of index GSI_JobLookup_v2 of table prod-EcomIndexerJobsTable is hot" in said


def test_info_has_the_requests_that_were_throttled(ddbfs, proxy):
    hot = "TableReadKeyRangeThroughputExceeded"
    proxy.fault("throttle", op="GetItem", reasons=[hot])
    proxy.fault("throttle", op="GetItem", code="ThrottlingException")
    result = ddbfs("-v", "cat", f"{SETTINGS}@info")
    info = json.loads(result.text)
    assert [(each["requests"], each["reason"]) for each in info["throttled"]] == [
        (1, hot),
        (1, "ThrottlingException"),
    ]
    assert info["throttled"][0]["why"].startswith("a partition of table prod-ShopifyEntitiesTable is hot")
    assert f" reason={hot} " in result.stderr and proxy.ops == ["GetItem"] * 3
    assert "throttled" not in json.loads(ddbfs("cat", f"{SETTINGS}@info").text)


def test_info_of_a_listing_has_the_requests_that_were_throttled(ddbfs, proxy):
    proxy.fault("throttle", op="Query", times=2, reasons=["TableReadMaxOnDemandThroughputExceeded"])
    info = json.loads(ddbfs("cat", "/prod/shops/cool-store.myshopify.com@info").text)
    assert [(each["requests"], each["reason"]) for each in info["throttled"]] == [
        (2, "TableReadMaxOnDemandThroughputExceeded")
    ]


def test_throttled_for_ever(ddbfs, proxy):
    proxy.fault("throttle", times=None)
    result = ddbfs("cat", SETTINGS, expect=1)
    assert result.stdout == b"" and FORM.fullmatch(result.stderr)
    assert "prod-ShopifyEntitiesTable is throttled" in result.stderr
    assert "try again later" in result.stderr and 2 <= len(proxy.requests) <= 4


def test_as_often_as_the_user_says(ddbfs, home, proxy):
    proxy.fault("server_error", times=None)
    for said, requests in (({"AWS_MAX_ATTEMPTS": "1"}, 1), ({"AWS_MAX_ATTEMPTS": "6"}, 6)):
        proxy.clear()
        ddbfs("cat", SETTINGS, env=said, expect=1)
        assert len(proxy.requests) == requests
    home.config.write_text("[profile controller]\nmax_attempts = 2\nretry_mode = adaptive\n")
    proxy.clear()
    ddbfs("cat", SETTINGS, expect=1)
    assert len(proxy.requests) == 2


@rows("status", [500, 502, 503, 504])
def test_service_that_failed_once(ddbfs, proxy, status):
    proxy.fault("server_error", times=1, status=status)
    ddbfs("cat", SETTINGS)
    assert proxy.ops == ["GetItem"] * 2


@rows("status", [200, 403])
def test_answer_that_is_html(fails, proxy, status):
    proxy.fault("html", times=None, status=status)
    why = fails()
    assert "not DynamoDB's" in why and "text/html" in why and proxy.url in why


RETRIED = ["wrong_crc", "reset", "cut"]


@rows("kind", RETRIED)
def test_broken_answer_is_asked_for_again(ddbfs, proxy, kind):
    proxy.fault(kind, times=2)
    ddbfs("cat", SETTINGS)
    assert proxy.ops == ["GetItem"] * 3


@rows("kind", RETRIED)
def test_answer_that_stays_broken(fails, proxy, kind):
    proxy.fault(kind, times=None)
    why = fails()
    word = {"wrong_crc": "checksum"}.get(kind, proxy.url.removeprefix("http://"))
    assert word in why


@rows("keep", [0, 1, 10])
def test_answer_cut_at_its_beginning(fails, proxy, keep):
    proxy.fault("cut", times=None, keep=keep)
    assert fails()


BODIES = {
    "empty": b"",
    "no JSON": b"nonsense",
    "a list": b"[]",
    "no item": b'{"Item": 1}',
    "value that is none": b'{"Item": {"pk": {"X": "1"}}}',
    "invalid UTF-8": b'{"Item": {"pk": {"S": "\xff\xfe"}}}',
    "JSON cut short": b'{"Item": {"pk": {"S": "a"',
    "garbage behind it": b"{} {}",
    "too deep": b'{"Item":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
}


@rows("kind", BODIES)
def test_answer_that_is_not_understood(fails, proxy, kind):
    proxy.fault("raw", times=None, body=BODIES[kind])
    assert fails()


@rows("kind", BODIES)
def test_listing_that_is_not_understood(fails, proxy, kind):
    body = (
        BODIES[kind]
        .replace(b'{"Item": {', b'{"Count": 1, "Items": [{')
        .replace(b'"Item"', b'"Items"')
    )
    proxy.fault("raw", times=None, body=body)
    assert fails("ls", ALL, path=ALL)


def test_refusal_without_a_word(fails, proxy):
    proxy.fault("raw", times=None, status=400, body=b"{}")
    assert "HTTP 400" in fails()


def test_words_of_the_service_are_no_terminal_sequences(ddbfs, proxy):
    proxy.fault("error", times=None, message="\x1b[31mred\nsecond\x07")
    result = ddbfs("cat", SETTINGS, expect=1)
    assert FORM.fullmatch(result.stderr) and "\x1b" not in result.stderr


def test_key_in_the_path_is_no_terminal_sequence(ddbfs):
    result = ddbfs("cat", "/prod/jobs/by-id/%1B[31m", expect=3)
    assert "\x1b" not in result.stderr


def test_request_id_is_told(fails, proxy):
    proxy.fault("denied", times=1)
    said = fails()
    assert re.search(r"request [0-9A-F]+\)$", said) and said.count("AccessDeniedException") == 1


def test_slow_answer_ends_at_the_deadline(ddbfs, proxy):
    proxy.fault("delay", times=None, seconds=30)
    result = ddbfs("--timeout", "0.5", "cat", SETTINGS, expect=1)
    assert result.stdout == b"" and FORM.fullmatch(result.stderr)
    assert "0.5 s" in result.stderr or "500 ms" in result.stderr


def test_answer_within_the_deadline(ddbfs, proxy):
    proxy.fault("delay", times=1, seconds=0.3)
    ddbfs("--timeout", "20", "cat", SETTINGS)
    assert proxy.ops == ["GetItem"]


@rows("path", [SETTINGS, f"/prod/jobs/by-id/{JOB_ID}"])
def test_gzip_makes_no_difference(ddbfs, proxy, path):
    whole = ddbfs("cat", path).stdout
    proxy.fault("gzip", times=None)
    assert ddbfs("cat", path).stdout == whole
    assert proxy.requests[-1].faults == ["gzip"]


def test_gzip_with_a_wrong_checksum_is_asked_for_again(ddbfs, proxy):
    proxy.fault("gzip", times=None)
    proxy.fault("wrong_crc", times=1)
    ddbfs("cat", SETTINGS)
    assert proxy.ops == ["GetItem"] * 2


@rows("ahead_s", [3600, -3600, 23 * 3600])
def test_wrong_clock_is_corrected_once(ddbfs, proxy, ahead_s):
    proxy.allow_refusals = True
    proxy.clock_offset_s = ahead_s
    ddbfs("cat", f"/prod/jobs/by-id/{JOB_ID}")
    assert [record.status for record in proxy.requests] == [400, 200, 200]


def test_a_clock_that_is_wrong_by_more_than_a_day_is_not_corrected(fails, proxy):
    proxy.allow_refusals = True
    proxy.clock_offset_s = 7 * 86_400
    why = fails("cat", SETTINGS)
    assert "this machine's clock is 7.0 days behind the service's; set this machine's clock" in why
    assert [record.status for record in proxy.requests] == [400] * 2, "once for each command"


def test_a_head_that_begins_with_a_space(ddbfs, proxy):
    """libcurl below 8.1.1 used freed memory when an earlier response had a head."""
    proxy.fault("folded", times=None, op="BatchGetItem")
    result = ddbfs("ls", "-l", PENDING, expect=None)
    assert proxy.ops[:2] == ["Query", "BatchGetItem"]
    assert result.code == 0 or (result.code == 1 and "has a malformed header" in result.stderr), result


def test_connection_is_kept(ddbfs, proxy):
    ddbfs("cat", f"/prod/jobs/by-id/{JOB_ID}")
    ddbfs("ls", "-l", PENDING)
    assert len(proxy.requests) == 4 and proxy.connections() == 2


def test_verbose_says_each_request_and_no_secret(ddbfs, proxy):
    result = ddbfs("-v", "--profile", "session", "cat", f"/prod/jobs/by-id/{JOB_ID}")
    lines = result.stderr.splitlines()
    assert [line.split()[1] for line in lines] == ["Query", "GetItem"]
    assert all(record.request_id in line for record, line in zip(proxy.requests, lines))
    assert has_no_secret(result)


# Usage

USAGE = {
    "no command": [],
    "unknown command": ["frobnicate"],
    "unknown option": ["--nope", "ls"],
    "unknown letter": ["-z", "ls"],
    "option of another command": ["cat", "-l", SETTINGS],
    "offline without check": ["ls", "--offline"],
    "option without its value": ["--map"],
    "value where none is taken": ["--version=1"],
    "empty map": ["--map", "", "ls"],
    "empty profile": ["--profile", "", "ls"],
    "timeout that is no number": ["--timeout", "soon", "ls"],
    "timeout of nothing": ["--timeout", "0", "ls"],
    "timeout that is not a number": ["--timeout", "nan", "ls"],
    "unknown format": ["--format", "yaml", "cat", SETTINGS],
    "suffix with a slash": ["--suffix", "/x", "ls"],
    "suffix that is a companion": ["--suffix", "@typed", "ls"],
    "cat of nothing": ["cat"],
    "explain of nothing": ["explain"],
}


@rows("kind", USAGE)
def test_wrong_usage_ends_with_2(ddbfs, proxy, kind):
    result = ddbfs(*USAGE[kind], expect=2)
    assert result.stdout == b"" and proxy.requests == []
    assert re.fullmatch(r"ddbfs: [^\n]+; see ddbfs (cat |explain |ls |check )?--help\n", result.stderr)


# The reader


@rows("command", [["cat", SETTINGS], ["ls", ALL], ["explain", SETTINGS]])
def test_full_disk_is_a_failure(ddbfs, command):
    with open("/dev/full", "wb") as full:
        process = ddbfs.start(*command, stdout=full, stderr=-1)
        said = process.stderr.read().decode()
        process.stderr.close()
        assert process.wait(60) == 1
        assert said.startswith("ddbfs: standard output: "), said


def test_reader_that_went_away(ddbfs, proxy):
    process = ddbfs.start("cat", SETTINGS, stdout=-1, stderr=-1)
    process.stdout.close()
    said = process.stderr.read().decode()
    process.stderr.close()
    assert process.wait(60) in (0, 1) and "Sanitizer" not in said


def test_terminal_obeys_nothing_that_stands_in_a_path(ddbfs):
    result = ddbfs("cat", "/prod/shops/\x1b[31mred", expect=1)
    assert "\x1b" not in result.stderr and "%1B[31mred" in result.stderr


def test_a_long_key_is_cut_between_characters(ddbfs, things):
    result = ddbfs("cat", f"/any/things/box/a{'é' * 100}", env=things.env, expect=None)
    assert 'sk = "aéé' in result.stderr and 'é"…' in result.stderr
