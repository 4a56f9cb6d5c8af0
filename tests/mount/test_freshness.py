"""Credentials that end stay fresh for as long as the mount is there: under a clock that the test sets,
whatever gives them, and asked for once however many wait. The proxy takes none that have ended."""

import datetime
import errno
import json
import threading
import time

import pytest

from harness import machine, mounts, services, sigv4, sts

pytestmark = pytest.mark.waits

RECORDS = ("prod/shops/cool-store.myshopify.com/SETTINGS", "staging/shops/cool-store.myshopify.com/SETTINGS")
NAME_TTL_S = 0.15  # the least for which the kernel keeps a name, and a little
LASTS_S = 3600
EARLY_S, LEAST_S = 15 * 60, 10 * 60  # as the AWS CLI has them
READERS = 8


class Rotating:
    """Gives another key each time it is asked, which lasts for an hour of the test's clock."""

    def __init__(self, home, proxy):
        self.home, self.proxy = home, proxy
        self.given = []

    def new_keys(self):
        number = len(self.given) + 1
        key, secret, token = f"DEMOROTATING{number:08}", f"secret/{number}", f"token/{number}=="
        ends_s = self.proxy.now_s() + LASTS_S
        self.proxy.keys[key] = sigv4.Key(secret, token, ends_s)
        self.given.append(key)
        ends = datetime.datetime.fromtimestamp(ends_s, datetime.timezone.utc)
        return {"AccessKeyId": key, "SecretAccessKey": secret, "Expiration": f"{ends:%Y-%m-%dT%H:%M:%SZ}",
                "Token": token, "SessionToken": token}  # fmt: skip

    def asked(self):
        return len(self.given)

    def fails(self, failing=True):
        self.failing = failing


class Container(Rotating, machine.Container):
    failing = False

    def __init__(self, home, proxy):
        machine.Container.__init__(self)
        Rotating.__init__(self, home, proxy)

    def give(self, request):
        return (500, "") if self.failing else (200, self.new_keys())


class Machine(Rotating, machine.Machine):
    failing = False

    def __init__(self, home, proxy):
        machine.Machine.__init__(self)
        Rotating.__init__(self, home, proxy)

    def asked_for(self):
        return machine.Machine.asked(self)

    def give(self, request):
        if self.failing:
            return 500, ""
        if request.path == machine.ROLES + "the-role":
            return 200, self.new_keys()
        return machine.Machine.give(self, request)


class Role(Rotating, services.Service):
    """STS, which gives a role to a profile's keys. What was given is in the AWS CLI's cache, too."""

    failing = False
    source = "source_profile = base\n[profile base]\naws_access_key_id = B\naws_secret_access_key = S\n"

    def __init__(self, home, proxy):
        services.Service.__init__(self, self.give)
        Rotating.__init__(self, home, proxy)
        home.config.write_text(f"[default]\nregion = us-east-1\nrole_arn = {sts.ARN}reader\n{self.source}")
        (home.folder / "token").write_text("a.web.token")
        self.environment = {"AWS_ENDPOINT_URL_STS": self.url}

    def give(self, request):
        if self.failing:
            return 403, {"Error": {"Code": "AccessDenied", "Message": "not now"}}
        action = request.form()["Action"]
        return 200, {f"{action}Response": {f"{action}Result": {"Credentials": self.new_keys()}}}


class WebIdentity(Role):
    source = "web_identity_token_file = ~/token\n"


class Program(Rotating):
    """It prints what the test has written last, and each run counts."""

    def __init__(self, home, proxy):
        super().__init__(home, proxy)
        self.runs, self.printed = home.folder / "runs", home.folder / "printed"
        home.config.write_text(
            "[default]\nregion = us-east-1\ncredential_process = "
            f"sh -c 'echo x >>{self.runs}; cat {self.printed}'\n"
        )
        self.environment = {}
        self.rotate()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def rotate(self):
        self.printed.write_text(json.dumps({"Version": 1, **self.new_keys()}))

    def fails(self, failing=True):
        if failing:
            self.printed.write_text("{}")
        else:
            self.rotate()

    def asked(self):
        return len(self.runs.read_text().splitlines())


@pytest.fixture(params=[Container, Machine, Role, WebIdentity, Program], ids=lambda kind: kind.__name__.lower())
def source(request, home, proxy):
    home.credentials.write_text("")
    home.config.write_text("[default]\nregion = us-east-1\n")
    with request.param(home, proxy) as started:
        yield started


@pytest.fixture
def m(mount, source, clock, make_map):
    """Its records are asked for again and again, with credentials of no profile that is named."""
    own = make_map(
        lambda text: text.replace('"profile": "controller", ', "").replace('"mtime"', '"ttl": 0, "mtime"')
    )
    mounted = mount("--timeout", "60", map_file=own, env={**clock.env, **source.environment})
    read_by_many(mounted)
    return mounted


def passes(clock, source, seconds):
    clock.passes(seconds)
    if isinstance(source, Program):
        source.rotate()


def read_by_many(m):
    """All at once: what each got, a size or an errno. Both environments share one session."""
    time.sleep(NAME_TTL_S)
    outcomes, start = [], threading.Barrier(READERS)

    def read(number):
        start.wait()
        try:
            outcomes.append(len((m / RECORDS[number % 2]).read_bytes()))
        except OSError as why:
            outcomes.append(-why.errno)

    threads = [threading.Thread(target=read, args=(number,)) for number in range(READERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


def check_good(outcomes):
    assert len(outcomes) == READERS and min(outcomes) > 200, outcomes


def signers(proxy):
    return {request.access_key for request in proxy.requests}


def test_ten_expiries(m, source, proxy, clock):
    for _ in range(10):
        before = source.asked()
        proxy.clear()
        passes(clock, source, LASTS_S - LEAST_S / 2)
        check_good(read_by_many(m))
        assert source.asked() == before + 1
        assert signers(proxy) == {source.given[-1]}, "nobody goes on with the old ones"
        assert {request.status for request in proxy.requests} == {200}
    assert m.log() == "" and "pid" not in m.errors()


def test_ten_expiries_slept_through(m, source, proxy, clock):
    for _ in range(10):
        before = source.asked()
        proxy.clear()
        clock.sleeps(8 * LASTS_S)
        passes(clock, source, 0)
        check_good(read_by_many(m))
        assert source.asked() == before + 1 and signers(proxy) == {source.given[-1]}
        assert {request.status for request in proxy.requests} == {200}
    assert "pid" not in m.errors()


def test_early_ones_keep_nobody_waiting(m, source, proxy, clock):
    for _ in range(3):
        before, old = source.asked(), signers(proxy)
        passes(clock, source, LASTS_S - (EARLY_S + LEAST_S) / 2)
        proxy.clear()
        check_good(read_by_many(m))
        assert signers(proxy) <= {*old, source.given[-1]}
        mounts.wait_until(lambda: source.asked() == before + 1, "new ones")

        def are_used():
            proxy.clear()
            check_good(read_by_many(m))
            return signers(proxy) == {source.given[-1]}

        mounts.wait_until(are_used, "their use")
        assert source.asked() == before + 1


def test_a_refusal_is_one_fresh_question(m, source, proxy, clock):
    for _ in range(3):
        before = source.asked()
        passes(clock, source, 60)
        old = next(iter(signers(proxy)))
        proxy.fault("expired", access_key=old, times=None)
        proxy.clear()
        check_good(read_by_many(m))
        assert source.asked() == before + 1
        assert signers(proxy) <= {old, source.given[-1]}
        refused = [request for request in proxy.requests if request.access_key == old]
        assert 1 <= len(refused) <= READERS and {request.status for request in refused} == {400}
        proxy.clear()
        check_good(read_by_many(m))
        assert source.asked() == before + 1 and signers(proxy) == {source.given[-1]}
    assert "pid" not in m.errors()


def test_who_gives_none_for_a_while(m, source, proxy, clock):
    """The old ones are used while they last; then it is said why, and it heals."""
    source.fails()
    clock.passes(LASTS_S - (EARLY_S + LEAST_S) / 2)
    check_good(read_by_many(m))
    mounts.wait_until(lambda: "could not be refreshed early" in m.log(), "the warning")
    clock.passes(LEAST_S)
    outcomes = read_by_many(m)
    assert set(outcomes) == {-errno.EACCES}
    before = source.asked()
    source.fails(False)
    clock.passes(60)
    proxy.clear()
    check_good(read_by_many(m))
    assert source.asked() == before + 1 and signers(proxy) == {source.given[-1]}


# The region of the machine, which is asked for before anything is signed.


def test_a_mount_in_the_region_of_its_machine(mount, home, proxy, make_map):
    home.credentials.write_text("")
    home.config.write_text("")
    nowhere = make_map(lambda text: text.replace(', "profile": "controller", "region": "us-east-1"', ''))
    with Machine(home, proxy) as service:
        service.texts[machine.ZONE] = "us-east-1b"  # the proxy takes no signature for another one
        m = mount(map_file=nowhere, env={**service.environment, "AWS_REGION": None})
        check_good(read_by_many(m))
        zones = [path for _, path in service.asked_for() if path == machine.ZONE]
        assert len(zones) == 1 and signers(proxy) == {service.given[0]}
    assert m.log() == ""
