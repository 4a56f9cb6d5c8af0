"""A live mount whose sign-in ends: what its readers get, what they are told to type, and that signing in
in another terminal heals the next read, without a remount."""

import concurrent.futures
import errno
import json
import threading

import pytest

from harness import mounts, signin, sigv4, sts

SETTINGS = "prod/shops/cool-store.myshopify.com/SETTINGS"
PORTAL, TOKEN, SIGNIN = "/federation/credentials", "/token", "/v1/token"
HOUR_S = 3600


class Way:
    """How one signs in: CONFIG of the profile, the COMMAND, the ways in which it ENDS, and for how long
    what it gave LASTS. CACHE is the command's file, and CONTENT what it would write there now."""

    def __init__(self, services, key_file):
        self.services = services
        self.key_file = key_file
        services.use(self.config)

    def sign_in(self):
        self.cache.write(self.content())


class Session(Way):
    config, command, lasts_s = signin.SSO_SESSION, "aws sso login --profile controller", 6 * HOUR_S
    ends = {
        "signed out": "you are not signed in to SSO session corp",
        "refused": "the sign-in to SSO session corp is no longer valid",
        "expired": "the sign-in to SSO session corp has expired, and is not renewed",
    }
    cache = property(lambda self: self.services.sso)

    def content(self, lasts_s=8 * HOUR_S):
        return self.services.token(lasts_s)

    def end(self, how, clock):
        if how == "signed out":
            self.cache.remove()
        elif how == "refused":
            self.services.good.clear()
        else:
            self.services.refresh = "another one"
            clock.passes(3 * HOUR_S)


class Legacy(Session):
    config = signin.SSO_LEGACY
    ends = {
        "signed out": f"you are not signed in to SSO at {signin.START_URL}",
        "refused": "the sign-in to SSO is no longer valid",
        "expired": f"the sign-in to SSO at {signin.START_URL} has expired",
    }
    cache = property(lambda self: self.services.legacy)


class Login(Way):
    config, command, lasts_s = signin.LOGIN, "aws login --profile controller", 900
    ends = {
        "signed out": "you are not signed in to this profile's login_session",
        "expired": "the session of aws login is over",
    }
    cache = property(lambda self: self.services.session)

    def content(self):
        return self.services.session_content(self.key_file)

    def end(self, how, _clock):
        if how == "signed out":
            self.cache.remove()
        else:
            self.services.refresh = "another one"


class RoleOverSession(Session):
    """A role of another account, for which a profile of SSO signs."""

    config = signin.SSO_SESSION.replace("profile controller", "profile base") + (
        f"\n[profile controller]\nregion = us-east-1\nrole_arn = {sts.ARN}reader\nsource_profile = base\n"
    )
    command = "aws sso login --profile base"


WAYS = {"role over sso": RoleOverSession, "sso-session": Session, "without a session": Legacy, "aws login": Login}


@pytest.fixture
def services(home, proxy):
    def know(key, secret, token):
        proxy.keys[key] = sigv4.Key(secret, token)

    with signin.SignIn(home, proxy) as played, sts.Sts(proxy.keys, know, proxy.now_s) as roles:
        played.roles_service = roles
        yield played


@pytest.fixture
def install_aws(home):
    """install_aws(2): what a user of that version has in the PATH."""

    def install(major):
        program = home.folder / "bin" / "aws"
        if major == 2:
            program.write_bytes(b"\x7fELF")
        else:
            package = home.folder / "lib/python3/dist-packages/awscli-1.22.34.egg-info"
            package.mkdir(parents=True)

    return install


@pytest.fixture
def way(request, services, tmp_path, install_aws):
    install_aws(2)
    made = WAYS[request.param](services, signin.make_key(tmp_path / "session-key.pem"))
    made.sign_in()
    return made


@pytest.fixture
def signed_in(mount, way, clock, services):
    """A mount that has read something with what the sign-in gave."""
    m = mount(env={**services.environment, **services.roles_service.environment, **clock.env})
    assert read(m)
    services.asked()
    return m


def read(m):
    """What the kernel and the mount have kept does not count."""
    m.refresh()
    return (m / SETTINGS).read_bytes()


def refused(m):
    """The errno at the mount, and the reason that it leaves."""
    m.refresh()
    with pytest.raises(OSError) as caught:
        (m / SETTINGS).read_bytes()
    code = errno.errorcode[caught.value.errno]
    failure = m.failures()[-1]
    assert (failure.words["errno"], failure.words["path"]) == (code, f"/{SETTINGS}")
    return code, failure.reason


def endings():
    return [(name, how) for name, way in WAYS.items() for how in way.ends]


@pytest.mark.parametrize("way, how", endings(), indirect=["way"])
def test_signing_in_again_heals_a_live_mount(signed_in, way, clock, proxy, services, how):
    m = signed_in
    first = proxy.requests[-1].access_key
    way.end(how, clock)
    clock.passes(way.lasts_s)
    asked = len(proxy.requests)
    for _ in range(2):
        code, reason = refused(m)
        assert code == "EKEYEXPIRED" and way.ends[how] in reason
        assert reason.endswith(f"; sign in: {way.command}")
    assert len(proxy.requests) == asked, "DynamoDB is not asked without credentials"
    assert len(services.asked()) <= 1, "what was refused is not shown to the service again"
    way.sign_in()
    assert read(m)
    assert proxy.requests[-1].access_key not in (first, None)


@pytest.mark.parametrize("way", WAYS, indirect=True)
def test_a_file_that_is_written_in_place_heals_when_it_is_whole(signed_in, way, clock):
    m, path = signed_in, way.cache.path
    way.end("signed out", clock)
    clock.passes(way.lasts_s)
    assert refused(m)[0] == "EKEYEXPIRED"
    whole = json.dumps(way.content()).encode()
    with open(path, "wb", buffering=0) as file:
        for half in (b"", whole[:60], whole[60:-1]):
            file.write(half)
            code, reason = refused(m)
            assert code == "EACCES" and f"{path}" in reason and "is no JSON object" in reason
            assert reason.endswith(f"; sign in: {way.command}")
        file.write(whole[-1:])
        assert read(m)


@pytest.mark.parametrize("way", WAYS, indirect=True)
def test_the_portal_gone_and_back(signed_in, way, clock, services):
    """A service that fails is no sign-in that has ended."""
    m = signed_in
    way.sign_in()
    services.portal = services.login = services.tokens = lambda _: (503, {"message": "Busy"})
    clock.passes(max(way.lasts_s, 6 * HOUR_S))
    code, reason = refused(m)
    assert code == "EIO" and "failed" in reason and "sign in" not in reason
    services.portal, services.login = services.give_role, services.give_login
    services.tokens = services.give_token
    assert read(m)


def test_version_1_is_named(mount, services, clock, install_aws, home):
    install_aws(1)
    services.use(signin.SSO_SESSION)
    services.sign_in()
    m = mount(env={**services.environment, **services.roles_service.environment, **clock.env})
    services.sso.remove()
    services.role.remove()
    clock.passes(6 * HOUR_S)
    code, reason = refused(m)
    aws = home.folder / "bin/aws"
    assert code == "EKEYEXPIRED"
    assert reason.endswith(
        "; sign in: aws sso login --profile controller "
        f"(of the AWS CLI, version 2; {aws} is version 1.22)"
    )


# Several environments.

TWO = signin.SSO_SESSION + f"""
[profile viewer]
region = us-east-1
sso_session = corp
sso_account_id = {signin.ACCOUNT}
sso_role_name = Viewer
"""
OTHERS = SETTINGS.replace("prod", "staging")


def of_viewer(text):
    """The example map, whose second environment has a profile of its own."""
    head, tail = text.split('"staging-"', 1)
    return head + '"staging-"' + tail.replace("controller", "viewer", 1)


def test_profiles_of_one_session_refresh_its_token_once(mount, make_map, services, clock, proxy):
    services.use(TWO)
    services.roles.add(("Viewer", signin.ACCOUNT))
    services.sign_in(2 * HOUR_S, mine={"number": 9007199254740993})
    m = mount(map_file=make_map(of_viewer), env={**services.environment, **services.roles_service.environment, **clock.env})
    assert read(m)
    services.asked()
    both = threading.Event()
    services.tokens = lambda request: both.wait(60) and services.give_token(request)
    services.role.remove()
    clock.passes(6 * HOUR_S)
    m.refresh()
    asked = m.stats()["cache_misses"]
    with concurrent.futures.ThreadPoolExecutor(2) as readers:
        first = readers.submit((m / SETTINGS).read_bytes)
        mounts.wait_until(lambda: services.service.requests, "the refresh")
        second = readers.submit((m / OTHERS).read_bytes)
        mounts.wait_until(lambda: m.stats()["cache_misses"] == asked + 2, "both readers")
        both.set()
        assert first.result() and second.result()
    assert sorted(services.asked()) == [PORTAL, PORTAL, TOKEN]
    assert len({request.access_key for request in proxy.requests[-2:]}) == 2
    assert services.sso.read()["mine"] == {"number": 9007199254740993}
