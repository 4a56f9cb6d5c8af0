"""TLS: a peer that cannot be trusted is asked for once and told nothing; what may heal is tried again."""

import hashlib
import subprocess

import pytest

from harness import networks, runner, services, signin, tls
from harness.signer import keys
from harness.rows import rows

SETTINGS = "/prod/shops/cool-store.myshopify.com/SETTINGS"
PLAIN_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return tls.Authority(tmp_path_factory.mktemp("tls"))


def trusting(authority, **more):
    return {"AWS_CA_BUNDLE": str(authority.bundle), **more}


UNTRUSTED = {
    "unknown authority": ({}, False, ["is not trusted", "AWS_CA_BUNDLE"]),
    "wrong host": ({"names": "DNS:example.org"}, True, ["is not trusted", "localhost"]),
    "expired": ({"days": -1}, True, ["is not trusted", "expired"]),
}


@rows("kind", UNTRUSTED)
def test_a_certificate_that_is_not_trusted_is_asked_for_once(ddbfs, authority, kind):
    made, trusted, says = UNTRUSTED[kind]
    env = trusting(authority) if trusted else {}
    with tls.Peer(authority.context(**made), PLAIN_ANSWER) as peer:
        result = ddbfs("--endpoint-url", peer.url, "cat", SETTINGS, env=env, expect=1)
    assert all(word in result.stderr for word in says), result
    assert "tried" not in result.stderr and peer.accepted == 1 and peer.was_told_nothing()


def test_authorities_that_cannot_be_read_are_looked_for_once(ddbfs, authority):
    with tls.Peer(authority.context(), PLAIN_ANSWER) as peer:
        env = {"AWS_CA_BUNDLE": "/nowhere/authorities.pem"}
        result = ddbfs("--endpoint-url", peer.url, "cat", SETTINGS, env=env, expect=1)
    assert "check AWS_CA_BUNDLE" in result.stderr and "tried" not in result.stderr
    assert peer.was_told_nothing()


def test_a_system_without_authorities_is_told_what_to_install(ddbfs, authority):
    if subprocess.run(["unshare", "-m", "true"], check=False).returncode != 0:
        pytest.skip("no name space of mounts")
    with tls.Peer(authority.context(), PLAIN_ANSWER) as peer:
        words = ["mount -t tmpfs none /etc/ssl/certs && exec \"$@\"", "sh", ddbfs.binary]
        command = ["unshare", "-m", "sh", "-c", *words, "--endpoint-url", peer.url, "cat", SETTINGS]
        result = runner.run([str(word) for word in command], ddbfs.home.environment())
    assert f"the certificate of localhost:{peer.port} cannot be checked: " in result.stderr
    assert "; check AWS_CA_BUNDLE and the profile's ca_bundle, or install the package ca-certificates" in result.stderr
    assert result.code == 1 and peer.was_told_nothing()


def test_a_handshake_that_is_cut_off_is_tried_again(ddbfs):
    with tls.Peer() as peer:
        result = ddbfs("--endpoint-url", peer.url, "cat", SETTINGS, expect=1)
    assert "(tried 4 times)" in result.stderr and peer.accepted == 4 and peer.was_told_nothing()


def test_who_answers_tls_in_plain_text_is_told_nothing(ddbfs):
    """Somebody in between says that there is no TLS here."""
    with tls.Peer(answer=PLAIN_ANSWER) as peer:
        result = ddbfs("--endpoint-url", peer.url, "cat", SETTINGS, expect=1)
    assert "TLS with localhost" in result.stderr and peer.was_told_nothing()


def moved_to(url, status=307):
    lines = [f"HTTP/1.1 {status} Moved", f"Location: {url}", "Content-Length: 0", "Connection: close"]
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


@rows("to", ["http://localhost", "https://localhost", "http://127.0.0.1", "https://127.0.0.1"])
@rows("status", [301, 302, 303, 307, 308])
def test_nobody_is_sent_elsewhere(ddbfs, authority, status, to):
    with tls.Peer(answer=PLAIN_ANSWER) as other:
        with tls.Peer(authority.context(), moved_to(f"{to}:{other.port}/", status)) as peer:
            env = trusting(authority)
            result = ddbfs("--endpoint-url", peer.url, "cat", SETTINGS, env=env, expect=1)
    assert f"not DynamoDB's (HTTP {status}" in result.stderr
    assert peer.accepted == 1 and other.accepted == 0


# Those who give credentials: STS, SSO's portal and its token service, and AWS Sign-In. What they are told is
# a secret, or signed.

ROLE = f"[profile controller]\nrole_arn = arn:aws:iam::{signin.ACCOUNT}:role/Reader\nsource_profile = base\n"
GIVERS = {
    "STS": ("AWS_ENDPOINT_URL_STS", lambda givers, _: givers.use(f"{ROLE}[profile base]\n{keys('BASE')}")),
    "the portal": ("AWS_ENDPOINT_URL_SSO", lambda givers, _: givers.sign_in()),
    "SSO's tokens": ("AWS_ENDPOINT_URL_SSO_OIDC", lambda givers, _: givers.sign_in(-60)),
    "AWS Sign-In": ("AWS_ENDPOINT_URL_SIGNIN", lambda givers, file: givers.open_session(file, -60)),
}
PEERS = {
    "unknown authority": (True, {}, False),
    "wrong host": (True, {"names": "DNS:example.org"}, True),
    "expired": (True, {"days": -1}, True),
    "plain text": (False, {}, True),
}


@pytest.fixture
def givers(home, proxy, tmp_path):
    """givers(kind, url): the environment of a profile whose credentials that one gives, who is asked at URL.
    Everybody else is the good service, which nothing leads to."""
    with signin.SignIn(home, proxy) as good:

        def use(kind, url):
            name, begin = GIVERS[kind]
            good.use(signin.LOGIN if kind == "AWS Sign-In" else signin.SSO_SESSION)
            begin(good, signin.make_key(tmp_path / "session-key.pem"))
            return {**good.environment, name: url}

        yield use
        assert good.asked() == []


@rows("peer", PEERS)
@rows("kind", GIVERS)
def test_a_giver_of_credentials_that_is_not_trusted_is_told_nothing(ddbfs, proxy, authority, givers, kind, peer):
    speaks_tls, made, trusted = PEERS[peer]
    context = authority.context(**made) if speaks_tls else None
    with tls.Peer(context, PLAIN_ANSWER) as giver:
        env = {**givers(kind, giver.url), **(trusting(authority) if trusted else {})}
        result = ddbfs("cat", SETTINGS, env=env, expect=1)
    assert giver.accepted >= 1 and giver.was_told_nothing(), result
    assert f"localhost:{giver.port}" in result.stderr and proxy.requests == []


@rows("to", ["http://localhost", "https://127.0.0.1"])
@rows("kind", GIVERS)
def test_a_giver_of_credentials_sends_nobody_elsewhere(ddbfs, proxy, authority, givers, kind, to):
    with tls.Peer(answer=PLAIN_ANSWER) as other:
        with tls.Peer(authority.context(), moved_to(f"{to}:{other.port}/")) as giver:
            env = {**givers(kind, giver.url), **trusting(authority)}
            ddbfs("cat", SETTINGS, env=env, expect=1)
    assert giver.accepted >= 1 and not giver.was_told_nothing()
    assert other.accepted == 0 and proxy.requests == []


@rows("named", ["AWS_CA_BUNDLE", "REQUESTS_CA_BUNDLE"])
def test_an_authority_that_is_named_is_trusted(ddbfs, authority, make_proxy, server, named):
    proxy = make_proxy(server, tls=authority.context())
    env = {"AWS_ENDPOINT_URL_DYNAMODB": proxy.url, named: str(authority.bundle)}
    assert b"active_index" in ddbfs("cat", SETTINGS, env=env).stdout
    assert proxy.ops == ["GetItem"]


def test_a_clock_is_corrected_over_tls(ddbfs, authority, make_proxy, server):
    proxy = make_proxy(server, tls=authority.context())
    proxy.allow_refusals = True
    proxy.clock_offset_s = 3600
    ddbfs("cat", SETTINGS, env=trusting(authority, AWS_ENDPOINT_URL_DYNAMODB=proxy.url))
    assert [record.status for record in proxy.requests] == [400, 200]


def test_a_clock_is_not_corrected_by_a_plain_response_of_another_machine(ddbfs, make_proxy, server):
    try:
        network = networks.Network()
    except OSError as why:
        pytest.skip(f"no network name space: {why}")
    network.add_address("192.0.2.1")
    proxy = network.inside(lambda: make_proxy(server, host="192.0.2.1"))
    proxy.allow_refusals = True
    proxy.clock_offset_s = 3600
    words, pipes = ["--endpoint-url", proxy.url, "cat", SETTINGS], {"stdout": -1, "stderr": -1, "text": True}
    command = ddbfs.start(*words, preexec_fn=network.enter, **pipes)
    _, told = command.communicate(timeout=60)
    network.close()
    assert command.returncode == 1 and "and this machine's clock" in told, told
    assert [record.status for record in proxy.requests] == [400] * 2, "the second one with fresh credentials"


def test_an_authority_that_the_profile_names_is_trusted(ddbfs, home, authority, make_proxy, server):
    proxy = make_proxy(server, tls=authority.context())
    home.config.write_text(f"{home.config.read_text()}\nca_bundle = {authority.bundle}\n")
    env = {"AWS_ENDPOINT_URL_DYNAMODB": proxy.url}
    assert b"active_index" in ddbfs("--profile", "session", "cat", SETTINGS, env=env).stdout
    assert proxy.ops == ["GetItem"]
    said = ddbfs("--profile", "session", "cat", SETTINGS, env={**env, "AWS_CA_BUNDLE": "/nowhere.pem"}, expect=1)
    assert "check AWS_CA_BUNDLE" in said.stderr, "the variable goes before the profile"


def test_sso_and_sts_trust_it_too(home, authority):
    """Of the profile's authorities, and of nobody else's."""
    keys = {"accessKeyId": "ASIASSO", "secretAccessKey": "s", "sessionToken": "t", "expiration": 4e12}
    me = {"GetCallerIdentityResponse": {"GetCallerIdentityResult": {"Account": "1", "Arn": "me", "UserId": "u"}}}
    answer = lambda request: (200, me if request.method == "POST" else {"roleCredentials": keys})
    signin.Cache(home.folder / ".aws/sso/cache" / f"{hashlib.sha1(b'corp').hexdigest()}.json").write(
        {"accessToken": "T", "expiresAt": signin.instant(3600)}
    )
    with services.Service(answer, tls=authority.context()) as service:
        env = {"AWS_ENDPOINT_URL": service.url, "AWS_PROFILE": "controller", "DDBFS_MAP": None}
        ask = lambda **how: runner.Ddbfs(home)("config", "--whoami", "--json", env=env, **how).text
        home.config.write_text(signin.SSO_SESSION)
        assert "is not trusted" in ask(expect=1)
        trusting = f"sso_session = corp\nca_bundle = {authority.bundle}"
        home.config.write_text(signin.SSO_SESSION.replace("sso_session = corp", trusting))
        assert '"arn":{"value":"me"' in ask()


def test_a_session_is_resumed(ddbfs, authority, make_proxy, server):
    proxy = make_proxy(server, tls=authority.context())
    env = trusting(authority, AWS_ENDPOINT_URL_DYNAMODB=proxy.url)
    proxy.fault("cut", op="GetItem", times=2)  # ends the connection
    ddbfs("cat", SETTINGS, env=env)
    assert proxy.accepted == 3 and proxy.resumed == 2


# Proxies.


@pytest.fixture
def tunnel():
    with tls.Peer(answer=b"HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n") as peer:
        yield peer


USED = {
    "HTTPS_PROXY": ("https://dynamodb.example.invalid", "HTTPS_PROXY"),
    "https_proxy": ("https://dynamodb.example.invalid", "https_proxy"),
    "HTTP_PROXY": ("http://dynamodb.example.invalid", "HTTP_PROXY"),
    "http_proxy": ("http://dynamodb.example.invalid", "http_proxy"),
}


@pytest.mark.parametrize("kind", USED)
def test_a_proxy_is_asked(ddbfs, tunnel, kind):
    endpoint, name = USED[kind]
    env = {name: f"localhost:{tunnel.port}", "AWS_MAX_ATTEMPTS": "1"}
    result = ddbfs("--endpoint-url", endpoint, "cat", SETTINGS, env=env, expect=1)
    assert tunnel.accepted == 1 and "dynamodb.example.invalid" in result.stderr
    if endpoint.startswith("https:"):
        assert tunnel.seen.startswith(b"CONNECT dynamodb.example.invalid:443 ")
        assert tunnel.was_told_nothing()


LEFT_OUT = {
    "ALL_PROXY": {"ALL_PROXY": "http://127.0.0.1:1", "all_proxy": "http://127.0.0.1:1"},
    "no_proxy": {"http_proxy": "http://127.0.0.1:1", "no_proxy": "x.org, 127.0.0.1"},
    "NO_PROXY": {"HTTP_PROXY": "http://127.0.0.1:1", "NO_PROXY": "*"},
    "an empty one": {"HTTP_PROXY": "http://127.0.0.1:1", "http_proxy": ""},
    "of another scheme": {"HTTPS_PROXY": "http://127.0.0.1:1"},
}


@rows("kind", LEFT_OUT)
def test_a_proxy_is_left_out(ddbfs, proxy, kind):
    ddbfs("cat", SETTINGS, env=LEFT_OUT[kind])
    assert proxy.ops == ["GetItem"]


@rows(
    "address", ["socks9://user:Secr3t@h:1", "http://user:Secr3t@[h", "http://user:Secr3t@h:x"]
)
def test_a_proxy_whose_address_is_none_is_told_without_it(ddbfs, address):
    env = {"HTTPS_PROXY": address, "AWS_MAX_ATTEMPTS": "1"}
    url = "https://dynamodb.example.invalid"
    result = ddbfs("-vv", "--endpoint-url", url, "cat", SETTINGS, env=env, expect=1)
    assert "the proxy for dynamodb.example.invalid:443 has no address" in result.stderr
    assert "HTTPS_PROXY" in result.stderr and "Secr3t" not in result.stderr


def test_a_proxy_that_is_not_there_is_named(ddbfs):
    env = {"HTTPS_PROXY": "http://127.0.0.1:1", "AWS_MAX_ATTEMPTS": "1"}
    url = "https://dynamodb.example.invalid"
    result = ddbfs("--endpoint-url", url, "cat", SETTINGS, env=env, expect=1)
    assert "the proxy for dynamodb.example.invalid:443 refuses the connection" in result.stderr
    assert "NO_PROXY" in result.stderr
