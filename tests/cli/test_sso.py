"""Profiles of SSO and sessions of `aws login`, over real requests to services that are played: what is
asked, what is kept, and what is said."""

import gzip
import json
import os
import stat
import time

import pytest

from harness import load, servers, signin

SETTINGS = "/prod/shops/cool-store.myshopify.com/SETTINGS"
SIGN_IN = "aws sso login --profile controller"


@pytest.fixture(scope="session", params=["dynoxide"])
def server(request):
    """One is enough: who signs is not the server's affair."""
    with servers.running(request.param) as started:
        load.load_sample(started.url)
        yield started


@pytest.fixture
def sso(home, proxy):
    with signin.SignIn(home, proxy) as services_of_sso:
        services_of_sso.use(signin.SSO_SESSION)
        yield services_of_sso


@pytest.fixture
def cat(ddbfs, sso):
    """cat() -> the record, signed with a key that the services have given."""

    def run(expect=0, **env):
        result = ddbfs("cat", SETTINGS, env={**sso.environment, **env}, expect=expect)
        assert "Traceback" not in result.stderr
        for secret in ("of-the-portal", "of-the-token", "of-the-session", "demo-signed-in",
                       "demo/signed-in", "the-secret-of-the-client", "BEGIN"):  # fmt: skip
            assert secret not in result.stderr and secret not in result.text
        return result

    return run


@pytest.fixture
def fails(cat, proxy):
    """fails(part…): the reason has these parts; DynamoDB was not asked."""

    def run(*parts, **env):
        before = len(proxy.requests)
        result = cat(expect=1, **env)
        assert all(part in result.stderr for part in parts), result
        assert len(proxy.requests) == before
        return result.stderr

    return run


PORTAL, TOKEN, SIGNIN = "/federation/credentials", "/token", "/v1/token"


# What is asked


def test_credentials_of_the_portal(cat, sso, proxy):
    sso.sign_in()
    assert json.loads(cat().text)["pk"] == "SHOP#cool-store.myshopify.com"
    assert sso.asked() == [PORTAL]
    kept = sso.role.read()
    assert kept["ProviderType"] == "sso" and kept["Credentials"]["AccountId"] == signin.ACCOUNT
    assert stat.S_IMODE(os.stat(sso.role.path).st_mode) == 0o600
    cat()
    assert sso.asked() == []  # the role's credentials are those of before
    assert {request.access_key for request in proxy.requests} == {
        kept["Credentials"]["AccessKeyId"]}  # fmt: skip


def test_a_role_that_the_aws_cli_has_kept(cat, sso):
    """Nobody is signed in any more: the credentials outlive the token."""
    key, secret, token = sso.new_keys()
    sso.role.write({
        "ProviderType": "sso",
        "Credentials": {"AccessKeyId": key, "SecretAccessKey": secret, "SessionToken": token,
                        "Expiration": signin.instant(3600)},
    })  # fmt: skip
    cat()
    assert sso.asked() == []


# Named: all workers have to find the same tests, and each makes its own instants.
@pytest.mark.parametrize(
    "expiration",
    [signin.instant(14 * 60), "soon", None, 7, signin.instant(-9)],
    ids=["too-soon", "no-instant", "none", "number", "past"],
)
def test_a_kept_role_of_no_use(cat, sso, expiration):
    key, secret, token = sso.new_keys()
    sso.sign_in()
    sso.role.write({"Credentials": {"AccessKeyId": key, "SecretAccessKey": secret,
                                    "SessionToken": token, "Expiration": expiration}})  # fmt: skip
    cat()
    assert sso.asked() == [PORTAL]


def test_a_profile_without_a_session(cat, sso, fails):
    sso.use(signin.SSO_LEGACY)
    sso.legacy.write(sso.token(60))
    cat()
    assert sso.asked() == [PORTAL]
    assert sso.legacy_role.exists()
    sso.legacy_role.remove()
    sso.legacy.write(sso.token(-1))
    fails("has expired", SIGN_IN)
    assert sso.asked() == []


def test_a_token_is_refreshed_and_written_back(cat, sso):
    sso.sign_in(14 * 60, mine={"number": 9007199254740993, "list": [1.5]})
    before = sso.sso.read()
    cat()
    assert sso.asked() == [TOKEN, PORTAL]
    after = sso.sso.read()
    assert after["mine"] == before["mine"]
    assert b"9007199254740993" in sso.sso.path.read_bytes()
    assert after["accessToken"] != before["accessToken"]
    assert after["refreshToken"] == sso.refresh
    assert stat.S_IMODE(os.stat(sso.sso.path).st_mode) == 0o600
    assert list(sso.sso.path.parent.iterdir()) == [sso.sso.path]  # no draft is left behind


def test_a_token_with_more_than_fifteen_minutes(cat, sso):
    sso.sign_in(16 * 60)
    cat()
    assert sso.asked() == [PORTAL]


@pytest.mark.parametrize("how", ["refused", "broken", "html", "gone", "twenty megabytes"])
def test_a_refresh_that_fails_is_tolerated(cat, sso, how):
    answers = {
        "refused": lambda _: (400, {"error": "invalid_grant"}),
        "broken": lambda _: (200, "{"),
        "html": lambda _: (502, "<html>"),
        "twenty megabytes": lambda _: (200, b"x" * 20_000_000),
    }
    sso.sign_in(14 * 60)
    sso.tokens = answers.get(how)
    before = sso.sso.path.read_bytes()
    gone = {"AWS_ENDPOINT_URL_SSO_OIDC": "http://127.0.0.1:9"} if how == "gone" else {}
    cat(**gone)
    assert sso.asked()[-1] == PORTAL
    assert sso.sso.path.read_bytes() == before


def test_answers_may_be_compressed(cat, sso):
    sso.sign_in()

    def squeezed(request):
        assert "gzip" in request.headers["accept-encoding"]
        status, body = sso.give_role(request)
        return status, gzip.compress(json.dumps(body).encode()), {"Content-Encoding": "gzip"}

    sso.portal = squeezed
    cat()


def test_a_proxy_is_asked(cat, sso):
    """The portal's host need not be reachable: the proxy is."""
    sso.sign_in()
    portal = sso.service.url
    cat(AWS_ENDPOINT_URL_SSO="http://portal.example", http_proxy=portal, HTTP_PROXY=portal,
        no_proxy="127.0.0.1,localhost", NO_PROXY="127.0.0.1,localhost")  # fmt: skip
    assert sso.asked() == [PORTAL]


# What is said


def test_nobody_is_signed_in(fails, sso, cat):
    fails("you are not signed in to SSO session corp", f"sign in: {SIGN_IN}")
    sso.sign_in()
    cat()


def test_a_token_that_has_expired(fails, sso):
    sso.sign_in(-1, refreshToken=None)
    fails("the sign-in to SSO session corp has expired", SIGN_IN)
    assert sso.asked() == []


def test_a_token_that_has_expired_and_is_refused(fails, sso):
    sso.sign_in(-1)
    sso.refresh = "another one"
    fails("has expired, and is not renewed", "Invalid refresh token (invalid_grant", SIGN_IN)
    assert sso.asked() == [TOKEN]


@pytest.mark.parametrize(
    "content, why",
    [
        (b"", "is no JSON object"),
        (b'{"accessToken": "token-1-of-the-portal", "expi', "is no JSON object"),
        (b"\x7fELF\x02\x01\x01\x00", "is no JSON object"),
        (b"[1]", "is no JSON object"),
        (b'"text"', "is no JSON object"),
        (b'{"accessToken":"\\u0000"}', "is no JSON object"),
        (b'{"accessToken":7}', "has no usable accessToken"),
        (b'{"accessToken":"a\\nb","expiresAt":"2099-01-01T00:00:00Z"}', "has no usable accessToken"),
        (b'{"accessToken":"t","expiresAt":4070908800}', "has no usable expiresAt"),
        (b'{"accessToken":"t","expiresAt":"2099-13-45T99:00:00Z"}', "has no usable expiresAt"),
        (b" " * 2_000_000, "is larger than 1 MB"),
        ("directory", "no regular file"),
        ("fifo", "no regular file"),
        ("loop", "symbolic links"),
    ],
    ids=lambda value: str(value)[:24],
)
def test_a_token_file_that_is_broken(fails, sso, content, why):
    path = sso.sso.path
    path.parent.mkdir(parents=True)
    if content == "directory":
        path.mkdir()
    elif content == "fifo":
        os.mkfifo(path)
    elif content == "loop":
        path.symlink_to(path)
    else:
        path.write_bytes(content)
    fails("no token for SSO session corp", why, str(path), SIGN_IN)
    assert sso.asked() == []


@pytest.mark.parametrize(
    "answer, parts",
    [
        ((401, {}, {"x-amzn-ErrorType": "UnauthorizedException"}), ["no longer valid", SIGN_IN]),
        ((403, {"message": "No access"}, {"x-amzn-ErrorType": "ForbiddenException"}),
         ["you have no role Reader in account 123456789012", "No access", "sso_role_name"]),
        ((404, {"message": "m"}, {"x-amzn-ErrorType": "ResourceNotFoundException"}),
         ["you have no role Reader", "ResourceNotFoundException"]),
        ((500, "<html>"), ["the SSO portal failed", "tried 4 times"]),
        ((403, "<html>", {"Content-Type": "text/html"}), ["no proxy responds in its place"]),
        ((302, "", {"Location": "http://127.0.0.1:9/"}), ["HTTP 302"]),
        ((200, ""), ["no JSON object"]),
        ((200, {"roleCredentials": []}), ["lacks a usable accessKeyId"]),
        ((200, {"roleCredentials": {"accessKeyId": "A", "secretAccessKey": "S",
                                    "sessionToken": "T", "expiration": "tomorrow"}}),
         ["lacks a usable"]),
        ((200, {"roleCredentials": {"accessKeyId": "A", "secretAccessKey": "S",
                                    "sessionToken": "T", "expiration": 1700000000000}}),
         ["expired already", "clock"]),
        ((200, {"roleCredentials": {"accessKeyId": "A\r\nX: y", "secretAccessKey": "S",
                                    "sessionToken": "T", "expiration": 4070908800000}}),
         ["lacks a usable"]),
        ((200, b"x" * 20_000_000), ["large"]),
        ((400, {"message": "the token token-1-of-the-portal is bad"},
          {"x-amzn-ErrorType": "InvalidRequestException"}), ["InvalidRequestException"]),
    ],
    ids=lambda value: str(value)[:40],
)  # fmt: skip
def test_what_the_portal_says(fails, sso, answer, parts):
    sso.sign_in()
    sso.portal = lambda _: answer
    fails(*parts)
    assert len(sso.asked()) <= 4
    assert not sso.role.exists()


@pytest.mark.parametrize(
    "change, parts",
    [
        (("sso_role_name = Reader\n", ""), ["has no sso_role_name"]),
        (("sso_region = eu-west-1\n", ""), ["has no sso_region"]),
        ((f"sso_start_url = {signin.START_URL}\n", ""), ["has no sso_start_url"]),
        (("[sso-session corp]", "[sso-session other]"), ["there is no [sso-session corp]"]),
        (("sso_session = corp\n", "sso_session = corp\nsso_region = us-west-2\n"),
         ["has another sso_region than its [sso-session corp]"]),
        (("sso_region = eu-west-1", "sso_region = x/../evil.example:1/"), ["invalid sso_region"]),
    ],
    ids=lambda value: str(value)[:40],
)  # fmt: skip
def test_what_a_profile_lacks(fails, sso, change, parts):
    sso.use(signin.SSO_SESSION.replace(*change))
    sso.sign_in()
    fails("profile controller", *parts)
    assert sso.asked() == []


def test_a_token_for_another_start_url_is_used_as_the_aws_cli_does(cat, sso):
    sso.sign_in(startUrl="https://other.awsapps.com/start", region="us-west-2")
    cat()
    assert sso.asked() == [PORTAL]


# aws login


@pytest.fixture
def key_file(tmp_path):
    return signin.make_key(tmp_path / "session-key.pem")


@pytest.fixture
def login(sso, key_file):
    sso.use(signin.LOGIN)
    return sso


def test_a_session_of_aws_login(cat, login, key_file):
    login.open_session(key_file, 6 * 60)
    cat()
    assert login.asked() == []


def test_a_session_is_refreshed_and_written_back(cat, login, key_file, tmp_path):
    proofs = []
    login.open_session(key_file, 4 * 60, mine=9007199254740993)
    before = login.session.read()

    def listen(request):
        proofs.append(request.headers["dpop"])
        return login.give_login(request)

    login.login = listen
    cat()
    assert login.asked() == [SIGNIN]
    claims = signin.claims_of(proofs[0], tmp_path)
    assert claims["htu"] == f"{login.service.url}/v1/token" and claims["htm"] == "POST"
    assert abs(claims["iat"] - time.time()) < 100 and len(claims["jti"]) == 36
    other = "AAAA" if proofs[0][-4:] != "AAAA" else "BBBB"
    assert signin.claims_of(proofs[0][:-4] + other, tmp_path) is None
    after = login.session.read()
    assert after["mine"] == 9007199254740993 and after["dpopKey"] == before["dpopKey"]
    assert after["accessToken"]["accountId"] == signin.ACCOUNT
    assert after["accessToken"]["accessKeyId"] != before["accessToken"]["accessKeyId"]
    assert after["refreshToken"] == login.refresh
    cat()
    assert login.asked() == []


def test_a_session_elsewhere(cat, login, key_file, tmp_path):
    login.open_session(key_file)
    folder = tmp_path / "caches"
    folder.mkdir()
    os.rename(login.session.path, folder / login.session.path.name)
    cat(AWS_LOGIN_CACHE_DIRECTORY=folder)


def test_nobody_has_logged_in(fails, login, cat, key_file):
    fails("you are not signed in", "sign in: aws login --profile controller (of the AWS CLI, version 2.32 or later")
    login.open_session(key_file)
    cat()


def test_a_session_that_is_over(fails, login, key_file):
    login.open_session(key_file, -1)
    login.refresh = "another one"
    fails("the session of aws login is over", "TOKEN_EXPIRED", "aws login --profile controller")
    assert login.asked() == [SIGNIN]


@pytest.mark.parametrize(
    "changes, why",
    [
        ({"accessToken": None}, "has no accessToken.accessKeyId"),
        ({"refreshToken": 7}, "has no refreshToken"),
        ({"clientId": ""}, "has no clientId"),
        ({"dpopKey": "x"}, "is no key of P-256"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_session_file_that_is_broken(fails, login, key_file, changes, why):
    login.open_session(key_file, 60, **changes)
    fails("no session of aws login", why, "aws login --profile controller")


def test_a_session_file_that_is_half_written(fails, login, key_file):
    login.open_session(key_file)
    login.session.write(login.session.path.read_bytes()[:100])
    fails("is no JSON object", str(login.session.path))


def test_a_host_that_nobody_listens_at_is_another_error(fails, login, key_file):
    login.open_session(key_file, -1)
    reason = fails("127.0.0.1", AWS_ENDPOINT_URL_SIGNIN="http://127.0.0.1:9")
    assert "aws login" not in reason


# What comes first


def test_sso_comes_before_keys_of_the_profile(cat, sso, home):
    sso.sign_in()
    home.credentials.write_text(
        "[controller]\naws_access_key_id = NOBODY\naws_secret_access_key = NOTHING\n"
    )
    cat()
    assert sso.asked() == [PORTAL]


def test_aws_login_comes_behind_keys_of_the_credentials_file(login, home, fails, cat):
    home.credentials.write_text(
        "[controller]\naws_access_key_id = DEMOCONTROLLERKEY001\n"
        "aws_secret_access_key = demo/controller+secret/0001\n"
    )
    cat()
    assert login.asked() == []
