"""One map whose environments have profiles of their own: each signs with its own credentials, and one
that fails is its own affair, at the start too."""

import concurrent.futures
import errno
import subprocess

import pytest

from harness import mounts, signin

RECORD = "shops/cool-store.myshopify.com/SETTINGS"
ENVIRONMENTS = {"static": "default", "sso": "controller", "login": "operator"}
LINES = ",\n".join(
    f'    "{name}": {{ "prefix": "prod-", "profile": "{profile}", "region": "us-east-1" }}'
    for name, profile in ENVIRONMENTS.items()
)
OPERATOR = f"\n[profile operator]\nregion = us-east-1\nlogin_session = {signin.LOGIN_SESSION}\n"
SIGN_IN = "sign in: aws sso login --profile controller"


def of_three(text):
    """The example map with other environments."""
    head, rest = text.split('"environments": {\n', 1)
    return head + '"environments": {\n' + LINES + "\n  },\n" + rest.split("  },\n", 1)[1]


@pytest.fixture
def services(home, proxy, tmp_path):
    with signin.SignIn(home, proxy) as played:
        keys = home.credentials.read_text()
        played.use(signin.SSO_SESSION + OPERATOR)
        home.credentials.write_text(keys.partition("[controller]")[0])
        (home.folder / "bin/aws").write_bytes(b"\x7fELF")
        played.key_file = signin.make_key(tmp_path / "session-key.pem")
        yield played


@pytest.fixture
def three(make_map):
    return make_map(of_three)


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "root"
    folder.mkdir()
    yield folder
    mounts.take_away(folder)


def keys_of(m, proxy, *names):
    """Which key has signed each environment's request, all of them read at once."""
    m.refresh()
    proxy.clear()
    with concurrent.futures.ThreadPoolExecutor(len(names)) as readers:
        done = {name: readers.submit((m / name / RECORD).read_bytes) for name in names}
        failed = {name for name, each in done.items() if each.exception()}
    assert not failed, m.errors()
    return {request.access_key for request in proxy.requests}


def test_each_signs_with_its_own(mount, three, services, proxy, clock):
    services.sign_in()
    services.open_session(services.key_file)
    m = mount(map_file=three, env={**services.environment, **clock.env})
    first = keys_of(m, proxy, *ENVIRONMENTS)
    assert first == {"DEMODEFAULTKEY000001", services.given["sso"], services.given["login"]}
    clock.passes(7 * 3600)
    second = keys_of(m, proxy, *ENVIRONMENTS)
    assert second == {"DEMODEFAULTKEY000001", services.given["sso"], services.given["login"]}
    assert first & second == {"DEMODEFAULTKEY000001"}
    assert m.log() == ""


def test_one_that_fails_is_its_own_affair(mount, three, services, proxy, clock):
    services.sign_in()
    services.open_session(services.key_file)
    m = mount(map_file=three, env={**services.environment, **clock.env})
    keys_of(m, proxy, *ENVIRONMENTS)
    services.sso.remove()
    clock.passes(7 * 3600)
    m.refresh()
    with pytest.raises(OSError) as caught:
        (m / "sso" / RECORD).read_bytes()
    assert caught.value.errno == errno.EKEYEXPIRED
    assert keys_of(m, proxy, "static", "login") == {
        "DEMODEFAULTKEY000001", services.given["login"]}  # fmt: skip
    (failure,) = m.failures()
    assert failure.words["path"] == f"/sso/{RECORD}" and failure.reason.endswith(SIGN_IN)
    services.sign_in()
    assert keys_of(m, proxy, "sso") == {services.given["sso"]}


# The start.


def test_a_mount_begins_without_those_that_fail(mount, three, services, proxy):
    m = mount(map_file=three, env=services.environment)
    first, second = m.log().splitlines()
    assert first == (
        "ddbfs: warning: mounting without /sso for now: you are not signed in to SSO session corp; "
        f"{SIGN_IN}"
    )
    assert second == (
        "ddbfs: warning: mounting without /login for now: you are not signed in to this profile's "
        "login_session; sign in: aws login --profile operator"
    )
    assert keys_of(m, proxy, "static") == {"DEMODEFAULTKEY000001"}
    services.sign_in()
    assert keys_of(m, proxy, "sso") == {services.given["sso"]}


def test_each_is_asked_once_at_the_start(ddbfs, root, three, services, proxy):
    services.sign_in()
    services.open_session(services.key_file)
    ddbfs("mount", "--map", three, root, env=services.environment)
    assert proxy.ops == ["DescribeTable"] * 3
    assert len({request.access_key for request in proxy.requests}) == 3
    assert subprocess.run(["fusermount3", "-u", root]).returncode == 0


@pytest.mark.parametrize("front", [[], ["-f"]], ids=["in the background", "in front"])
def test_nothing_is_mounted_when_none_answers(ddbfs, root, three, services, home, proxy, front):
    home.credentials.write_text("")
    result = ddbfs("mount", *front, "--map", three, root, env=services.environment, expect=1)
    first, second, third = result.stderr.splitlines()
    assert first.startswith("ddbfs: /static: profile default (named by the map's environment static) ")
    assert second == f"ddbfs: /sso: you are not signed in to SSO session corp; {SIGN_IN}"
    assert third.startswith("ddbfs: /login: you are not signed in ")
    assert not mounts.is_mounted(root) and proxy.requests == []


@pytest.mark.parametrize("front", [[], ["-f"]], ids=["in the background", "in front"])
def test_a_map_of_one_profile_whose_sign_in_is_over(ddbfs, root, services, proxy, front):
    result = ddbfs("mount", *front, root, env=services.environment, expect=1)
    assert result.stderr == f"ddbfs: you are not signed in to SSO session corp; {SIGN_IN}\n"
    assert not mounts.is_mounted(root) and proxy.requests == []


def test_one_that_is_slow_is_not_waited_for(mount, three, services, proxy):
    services.sign_in()
    services.open_session(services.key_file)
    proxy.fault("delay", access_key="DEMODEFAULTKEY000001", times=None, seconds=600,
                until=lambda _: not proxy.faults)  # fmt: skip
    m = mount("--timeout", "60", map_file=three, env=services.environment)
    assert m.log() == "ddbfs: warning: /static has not responded yet; mounting anyway\n"
    assert len(keys_of(m, proxy, "sso", "login")) == 2
    proxy.heal()
    assert keys_of(m, proxy, "static") == {"DEMODEFAULTKEY000001"}
