"""Credentials of a container's endpoint: which is asked, how, and what is said when it fails."""

import os
import threading

import pytest
from harness import machine, services, signer as signers, tls

FULL = "AWS_CONTAINER_CREDENTIALS_FULL_URI"
RELATIVE = "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"
TOKEN = "AWS_CONTAINER_AUTHORIZATION_TOKEN"
TOKEN_FILE = "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"


@pytest.fixture
def container():
    with machine.Container() as started:
        yield started


def test_who_signs(signer, container):
    assert signer(env=container.environment) == "CONTAINER"
    assert signer.token() == "token-of-it=="
    [request] = container.requests
    assert request.method == "GET" and request.headers["accept"] == "application/json"
    assert "authorization" not in request.headers
    key = machine.botocore_key(signer.home.environment(container.environment))
    assert key == "CONTAINER"


def test_a_token(signer, container, tmp_path):
    container.token = "Bearer of-the-variable"
    env = {**container.environment, TOKEN: "Bearer of-the-variable"}
    assert signer(env=env) == "CONTAINER"
    path = tmp_path / "token"
    path.write_text("of-the-file")
    container.token = "of-the-file"
    env[TOKEN_FILE] = path
    assert signer(env=env) == "CONTAINER"
    path.write_text("of-the-file\n")
    told = signer(env=env)
    assert "contains a line end" in told and str(path) in told and "of-the-file" not in told


def test_a_head_that_begins_with_a_space(signer):
    """The retry after a refusal. libcurl below 8.1.1 used freed memory."""
    refusal = b"HTTP/1.1 500 No\r\nX-Kind: refusal\r\nContent-Length: 2\r\n\r\n{}"
    folded = b"HTTP/1.1 200 OK\r\n x: y\r\nContent-Length: 2\r\n\r\n{}"
    with tls.Peer(answer=folded, first=refusal) as peer:
        told = signer(env={FULL: f"http://127.0.0.1:{peer.port}/"})
    assert peer.accepted > 1 and ("malformed header" in told or "has no AccessKeyId" in told), told


@pytest.mark.parametrize("how", ["missing", "directory", "fifo", "unset"])
def test_a_token_file_that_is_none(signer, container, tmp_path, how):
    path = tmp_path / "token"
    if how == "directory":
        path.mkdir()
    elif how == "fifo":
        os.mkfifo(path)
    told = signer(env={**container.environment, TOKEN_FILE: "" if how == "unset" else path})
    assert "no such file" in told or "no regular file" in told
    assert container.requests == []


@pytest.mark.parametrize(
    "credentials, why, tries",
    [
        ((500, ""), "refuses (HTTP 500)", 3),
        pytest.param((404, {"message": "no such role"}), "refuses (HTTP 404): no such role", 3, marks=pytest.mark.long),
        pytest.param((302, "", {"Location": "/elsewhere"}), "refuses (HTTP 302)", 3, marks=pytest.mark.long),
        pytest.param((200, "<html>"), "is no JSON object", 3, marks=pytest.mark.long),
        pytest.param((200, ""), "is no JSON object", 3, marks=pytest.mark.long),
        ((200, "null"), "is no JSON object", 3),
        pytest.param((200, b"\xff\xfe{}"), "is no JSON object", 3, marks=pytest.mark.long),
        ((200, b"x" * 20_000_000), "large", 3),
        ({}, "has no AccessKeyId", 1),
        (machine.keys("A", Token=None), "has no Token", 1),
        (machine.keys("A", Expiration=None), "has no Expiration", 1),
        (machine.keys("A", Expiration="soon"), "no point in time", 1),
        (machine.keys("A", Expiration=4070908800), "has no Expiration", 1),
        (machine.keys("A", lasts_s=-1), "expired already", 1),
        (machine.keys("A\r\nX-Evil: b"), "has no AccessKeyId", 1),
        (machine.keys(["A"]), "has no AccessKeyId", 1),
    ],
    ids=lambda value: str(value)[:40],
)
def test_answers_that_are_none(signer, container, credentials, why, tries):
    """It ends the chain: the machine's role is another identity."""
    container.credentials = credentials
    with machine.Machine() as other:
        told = signer(env={**container.environment, **other.environment})
        assert why in told and other.requests == []
    assert len(container.requests) == tries
    assert "secret/of+it" not in told and "token-of-it" not in told


def test_the_third_try(signer):
    answers = [(500, ""), (200, "{"), (200, machine.keys("CONTAINER"))]
    with services.Service(lambda _: answers.pop(0)) as flaky:
        assert signer(env={FULL: flaky.url}) == "CONTAINER"


def test_nobody_listens(signer):
    told = signer(env={FULL: "http://127.0.0.1:9/x"})
    assert FULL in told and "127.0.0.1" in told


def test_an_endpoint_that_says_nothing(signer):
    end = threading.Event()
    with services.Service(lambda _: (end.wait(60), "")) as slow:
        told = signer("--timeout", "60", env={FULL: slow.url})
        assert FULL in told and len(slow.requests) == 3
        end.set()


@pytest.mark.parametrize(
    "url",
    ["http://example.com/x", "http://169.254.169.254/x", "ftp://127.0.0.1/x", "x", "",
     "http://127.0.0.1@example.com/", "http://localhost.example.com/",
     "http://user:Secr3t@127.0.0.1/x", "https://user:Secr3t@h?/x@y"],
)  # fmt: skip
def test_addresses_that_are_refused(signer, url):
    told = signer(env={FULL: url, TOKEN: "of-the-variable"})
    assert f"{FULL} results in" in told
    assert "of-the-variable" not in told and "Secr3t" not in told


def test_the_relative_address_comes_first(signer, container):
    told = signer(env={**container.environment, RELATIVE: "@example.com/x"})
    assert f"{RELATIVE} results in" in told and container.requests == []


def test_never_through_a_proxy(signer, container):
    with services.Service(lambda _: (200, machine.keys("PROXY"))) as proxy:
        through = {"http_proxy": proxy.url, "HTTP_PROXY": proxy.url, "no_proxy": "", "NO_PROXY": ""}
        signer(env={**container.environment, **through})
        assert len(container.requests) == 1
        assert "/v2/credentials" not in [request.path for request in proxy.requests]


CONFIG_KEYS = f"[profile x]\nregion = us-east-1\n{signers.keys('FILE')}"


@pytest.mark.parametrize(
    "options, env, config, expected",
    [
        ([], {"AWS_ACCESS_KEY_ID": "ENV", "AWS_SECRET_ACCESS_KEY": "s"}, "", "ENV"),
        (["--profile", "x"], {}, CONFIG_KEYS, "FILE"),
        (["--profile", "x"], {}, "[profile x]\nregion = us-east-1\n", "CONTAINER"),
        (["--profile", "x"], {"AWS_ACCESS_KEY_ID": "ENV", "AWS_SECRET_ACCESS_KEY": "s"},
         "[profile x]\nregion = us-east-1\n", "CONTAINER"),
        (["--profile", "y"], {}, "[profile x]\nregion = us-east-1\n", "in neither"),
    ],
)  # fmt: skip
def test_its_place_in_the_order(signer, container, options, env, config, expected):
    signer.config.write_text(config)
    env = {**container.environment, **env}
    assert expected in signer(*options, env=env)
    if "--profile" not in options or expected.isupper():
        profile = options[1] if options else None
        assert machine.botocore_key(signer.home.environment(env), profile) == expected


def test_before_the_machine(signer, container):
    with machine.Machine() as other:
        assert signer(env={**container.environment, **other.environment}) == "CONTAINER"
        assert other.requests == []
