"""The fixtures of every test that runs a program: servers, the recording proxy, ddbfs itself."""

import contextlib
import os
import pathlib
import signal
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from harness import load, mounts, places, preloads, proxy as proxies, runner, servers  # noqa: E402

SERVERS = os.environ.get("DDBFS_SERVERS", "dynoxide dynamodb-local").split()


def pytest_configure(config):
    """A worker process ends with the run that started it, and its servers with the worker. A shell starts what it
    runs in the background without SIGINT, which the programs under test would inherit."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(config, "workerinput"):
        servers.die_with_parent()
    config.why_no_name_space = mounts.leave_name_space()


def pytest_sessionstart(session):
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter and not hasattr(session.config, "workerinput") and session.config.option.verbose <= 0:
        session.config.pluginmanager.register(Progress(reporter), "ddbfs-progress")


def is_on_slow_server(item):
    return hasattr(item, "callspec") and item.callspec.params.get("server") == "dynamodb-local"


@pytest.hookimpl(tryfirst=True)  # xdist reads the groups in its own one
def pytest_collection_modifyitems(config, items):
    """Tests marked `long` run only with DDBFS_LONG=1. DynamoDB Local takes seconds to start, so that one
    worker has it, and begins with its tests. Tests marked `waits` are spread among the first of the others: if all
    workers wait at the same time, the processors have nothing to do."""
    if os.environ.get("DDBFS_LONG") != "1":
        left_out = [item for item in items if item.get_closest_marker("long")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
    slow = [item for item in items if is_on_slow_server(item)]
    for item in slow:
        item.add_marker(pytest.mark.xdist_group("dynamodb-local"))
    others = [item for item in items if item not in slow]
    items[:] = slow + spread(others, [item for item in others if item.get_closest_marker("waits")])


def spread(items, some):
    """ITEMS with SOME of them at equal distances in the first three quarters, and the others in their order."""
    others = [item for item in items if item not in some]
    distance = max(1, len(others) * 3 // 4 // max(1, len(some)))
    for number, item in enumerate(some):
        others.insert(number * (distance + 1), item)
    return others


def pytest_report_header(config):
    if config.why_no_name_space:
        return f"mounts: seen by all of this machine, since {config.why_no_name_space}"
    return "mounts: in a name space of their own"


def pytest_generate_tests(metafunc):
    """Tests of the wire protocol run against every server; with DDBFS_LONG=1, all of tests/cli do."""
    own = any("server" in mark.args[0] for mark in metafunc.definition.iter_markers("parametrize"))
    wire = metafunc.definition.get_closest_marker("wire")  # wire(False): not this test of the module
    on_all = (wire and wire.args != (False,)) or (
        os.environ.get("DDBFS_LONG") == "1" and metafunc.definition.path.parent.name == "cli"
    )
    if "server" in metafunc.fixturenames and on_all and not own:
        metafunc.parametrize("server", SERVERS, indirect=True, scope="session")


@pytest.fixture(scope="session")
def server_called():
    """server_called(name): a server with the sample data of all environments, the same for all tests of this
    process."""
    running = {}
    with contextlib.ExitStack() as started:

        def get(name):
            if name not in running:
                running[name] = started.enter_context(servers.running(name))
                load.load_sample(running[name].url)
            return running[name]

        yield get


@pytest.fixture(scope="session")
def server(request, server_called):
    """The first server, or the one that the test's parameter names."""
    return server_called(getattr(request, "param", SERVERS[0]))


@pytest.fixture
def boto(server):
    """boto3's client at the server itself: what is true, whatever the proxy does."""
    return load.client(server.url)


@pytest.fixture
def make_proxy():
    """Makes further proxies: make_proxy(server). They are checked and closed after the test."""
    made = []

    def make(server, **options):
        made.append(proxies.Proxy(server, **options).__enter__())
        return made[-1]

    yield make
    for proxy in made:
        proxy.close()
    problems = [problem for proxy in made for problem in proxy.problems()]
    assert not problems, "\n".join(problems)


@pytest.fixture
def proxy(server, make_proxy):
    """The recording proxy before the server. A forbidden operation or a bad signature that the
    test has not asked for fails it."""
    return make_proxy(server)


@pytest.fixture
def home(tmp_path, proxy):
    return runner.Home(tmp_path / "home", proxy.url)


@pytest.fixture
def ddbfs(home):
    """ddbfs("cat", "/prod/...", env=..., expect=0), through the proxy."""
    return runner.Ddbfs(home)


@pytest.fixture
def release_binary():
    """The program without sanitizers, for tests that look at memory or time."""
    if os.environ.get("DDBFS_RELEASE") == "none":
        pytest.skip("a quick run has no program without sanitizers")
    places.wait_for_release()
    return places.program("DDBFS_RELEASE", "build-release/fs/ddbfs", "build/fs/ddbfs")


@pytest.fixture
def ddbfs_release(home, release_binary):
    return runner.Ddbfs(home, release_binary)


@pytest.fixture(scope="session")
def clock_jump(tmp_path_factory):
    return preloads.preload(tmp_path_factory.mktemp("clock-jump"), "clock_jump")


@pytest.fixture
def clock(clock_jump, tmp_path, proxy):
    """mount(env=clock.env); clock.passes(3600)."""
    return preloads.Clock(clock_jump, tmp_path / "clock", proxy)


@pytest.fixture
def shell(tmp_path, server, make_proxy):
    """Runs a printed aws command as a user would, through a recording proxy of its own."""
    return runner.Shell(runner.Home(tmp_path / "shell-home", make_proxy(server).url))


@pytest.fixture
def table(server):
    """Makes a table for one test: table(description, items) -> its name; dropped afterwards. One of the same
    name, such as that of the row before, is replaced."""
    dynamo, made = load.client(server.url), []

    def make(description, typed_items=(), name=None):
        if (name or description["TableName"]) in made:
            made.remove(name or description["TableName"])
            dynamo.delete_table(TableName=name or description["TableName"])
        made.append(load.create_table(dynamo, description, name))
        load.put_all(dynamo, made[-1], typed_items)
        return made[-1]

    yield make
    for name in made:
        dynamo.delete_table(TableName=name)


# The last word: a Scan or a write that any proxy ever saw fails the run, also when it came
# outside of a test or in another worker process.

WORKERS_VIOLATIONS = []


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node, error):
    WORKERS_VIOLATIONS.extend(getattr(node, "workeroutput", {}).get("violations", []))


def pytest_sessionfinish(session, exitstatus):
    servers.end_resident()
    found = proxies.VIOLATIONS + WORKERS_VIOLATIONS
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["violations"] = found
    elif found:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


class Progress:
    """Prints each failing test with its reason when it fails, and a line after every 250 tests."""

    def __init__(self, reporter):
        self.reporter = reporter
        self.ended = 0

    def pytest_runtest_logreport(self, report):
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            reason = crash.message if crash else str(report.longrepr)
            first = "\n  ".join(reason.splitlines()[:4])[:800]
            self.reporter.write_line(f"\nFAILED {report.nodeid} ({report.when})\n  {first}", red=True)
        if report.when == "teardown":
            self.ended += 1
            if self.ended % 250 == 0:
                self.reporter.write_line(f"   {self.ended} tests have run")

    def pytest_report_teststatus(self, report):
        """No letters: the lines above stand in their place. A test is counted once."""
        if report.passed and report.when != "call":
            return "", "", ""
        return report.outcome, "", report.outcome.upper()


def pytest_terminal_summary(terminalreporter):
    for violation in proxies.VIOLATIONS + WORKERS_VIOLATIONS:
        terminalreporter.write_line(f"FORBIDDEN OPERATION SEEN: {violation}", red=True)
