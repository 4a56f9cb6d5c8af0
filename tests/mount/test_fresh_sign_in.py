"""Sign-ins stay fresh, too, with readers who never rest: across the ends of what SSO and aws login gave
nobody sees an error, and each end costs one question, however many readers there are."""

import errno

import pytest

from harness import mounts, readers, signin

PORTAL, TOKEN, SIGNIN = "/federation/credentials", "/token", "/v1/token"
MINUTE_S, HOUR_S = 60, 3600
EXPIRIES = 10


class Source:
    """Credentials that LAST_S; fresh ones cost a question to QUESTION. Each is told what is left when it
    is asked for again: early, while the old are used, or late, when all readers wait for it."""

    def __init__(self, config, question, lasts_s, left_s):
        self.config, self.question = config, question
        self.lasts_s, self.left_s = lasts_s, left_s


SOURCES = {
    "sso, early": Source(signin.SSO_SESSION, PORTAL, HOUR_S, 14 * MINUTE_S),
    "sso, with little left": Source(signin.SSO_SESSION, PORTAL, HOUR_S, 5 * MINUTE_S),
    "sso, when they are over": Source(signin.SSO_SESSION, PORTAL, HOUR_S, -MINUTE_S),
    "aws login, with little left": Source(signin.LOGIN, SIGNIN, 15 * MINUTE_S, 4 * MINUTE_S),
    "aws login, when they are over": Source(signin.LOGIN, SIGNIN, 15 * MINUTE_S, -MINUTE_S),
}


@pytest.fixture
def services(home, proxy):
    with signin.SignIn(home, proxy) as played:
        yield played


@pytest.fixture
def start(mount, services, clock, tmp_path):
    """start(source): a live mount with its credentials; the token lasts for days."""

    def begin(source):
        services.use(source.config)
        services.role_lasts_s = services.login_lasts_s = source.lasts_s
        services.sign_in(30 * 24 * HOUR_S)
        key = signin.make_key(tmp_path / "session-key.pem")
        services.open_session(key, source.lasts_s)
        m = mount(env={**services.environment, **clock.env})
        services.asked()
        return m

    return begin


def key_in_use(proxy):
    return proxy.requests[-1].access_key


@pytest.mark.parametrize("name", SOURCES)
def test_alive_across_ten_expiries(start, services, clock, proxy, name):
    source = SOURCES[name]
    m = start(source)
    with readers.Readers(m) as busy:
        busy.go_on()
        for _ in range(EXPIRIES):
            before = key_in_use(proxy)
            with busy.at_rest():
                clock.passes(source.lasts_s - source.left_s)
                if source.left_s <= 0:
                    proxy.keys.pop(before)  # whoever used it now would be told so
            mounts.wait_until(lambda: services.service.requests, "fresh credentials")
            mounts.wait_until(lambda: key_in_use(proxy) != before, "the use of them")
            busy.go_on()
            assert services.asked() == [source.question]
    assert not busy.failures and not proxy.refusals
    assert len({request.access_key for request in proxy.requests}) == EXPIRIES + 1
    assert {request.status for request in proxy.requests} == {200} and m.errors() == ""


def fail(_request):
    return 503, {"message": "Busy"}


def test_an_early_failure_harms_nobody_and_is_not_repeated(start, services, clock):
    """With fifteen minutes left the old ones are kept; with ten, fresh ones are insisted on."""
    source = SOURCES["sso, early"]
    m = start(source)
    services.portal = fail
    with readers.Readers(m) as busy:
        with busy.at_rest():
            clock.passes(source.lasts_s - 14 * MINUTE_S)
        mounts.wait_until(lambda: len(services.service.requests) == 4, "a question, tried again thrice")
        mounts.wait_until(lambda: "could not be refreshed early" in m.log(), "its end")
        busy.go_on()
        assert len(services.asked()) == 4, "within the minute nobody asks again"
        with busy.at_rest():
            clock.passes(MINUTE_S)
        mounts.wait_until(lambda: m.log().count("could not be refreshed early") == 2, "another")
        busy.go_on()
        assert len(services.asked()) == 4
    assert not busy.failures
    assert "those in use last 8" in m.log(), m.log()  # 840 s, then 780
    clock.passes(4 * MINUTE_S)
    assert busy.look_up(m / "prod/shops/late.example/SETTINGS").endswith(": EIO")
    assert "the SSO portal failed" in m.errors()
    services.portal = services.give_role
    assert busy.look_up(m / "prod/shops/well.example/SETTINGS") is None


REFUSALS = {
    "ExpiredTokenException": lambda proxy, key: setattr(proxy.keys[key], "expires_s", 0),
    "UnrecognizedClientException": lambda proxy, key: proxy.keys.pop(key),
}


@pytest.mark.parametrize("code", REFUSALS)
def test_a_refusal_leads_to_one_question(start, services, proxy, code):
    """As when somebody has revoked the session: the clock tells nothing of it."""
    m = start(SOURCES["sso, early"])
    proxy.allow_refusals = True
    with readers.Readers(m) as busy:
        busy.go_on()
        before = key_in_use(proxy)
        with busy.at_rest():
            REFUSALS[code](proxy, before)
        mounts.wait_until(lambda: services.service.requests, "fresh credentials")
        busy.go_on()
        assert services.asked() == [PORTAL]
    assert not busy.failures
    assert {refusal.split(": ")[1] for refusal in proxy.refusals} == {code}
    assert len(proxy.refusals) <= len(busy.threads), "each reader's request at the most once"


def test_what_is_refused_for_ever_is_told(start, services, proxy, clock):
    """Fresh ones are no better: that is not asked about again for five seconds, however many read."""
    m = start(SOURCES["sso, early"])
    proxy.fault("expired", times=None)
    reads = 12

    def read(n):
        with pytest.raises(OSError) as caught:
            (m / f"prod/shops/s{n}.example/SETTINGS").stat()
        assert caught.value.errno == errno.EKEYEXPIRED

    for n in range(reads):
        read(n)
    asked = services.asked()
    assert asked == [PORTAL] * len(asked) and 1 <= len(asked) < reads
    assert "sign in again: aws sso login --profile controller" in m.errors()
    assert len(proxy.requests) == reads + len(asked), "with what is asked for, one more try"
    clock.passes(5)
    read(reads)
    assert services.asked() == [PORTAL]
