"""Connections are shared out by table, kept for as long as they are good, and left when they are not.
Counted, not timed: the requests that hang are open while the others are answered."""

import contextlib
import errno
import os
import re
import shutil
import socket
import subprocess
import threading
import time

import pytest

from harness import mounts, tls

CALLERS = 64
SHARE = 16  # connections of one table and region
HUNG = "prod-EcomIndexerJobsTable"
OTHER = "prod/index-settings/kl7a9h55/shopify-e513a8-4"


def look_up(path, outcomes):
    try:
        os.stat(path)
        outcomes.append(0)
    except OSError as why:
        outcomes.append(why.errno)


def test_a_table_that_hangs_leaves_others_their_connections(mount, proxy):
    """Queries, since records by their keys would leave together."""
    m = mount("--timeout", "60")
    enough, outcomes = threading.Event(), []
    proxy.fault("delay", table=HUNG, times=None, seconds=60, until=lambda _: enough.is_set())
    callers = [
        threading.Thread(target=look_up, args=(m / f"prod/jobs/by-id/job-{i}", outcomes))
        for i in range(CALLERS)
    ]
    for caller in callers:
        caller.start()
    hanging = lambda: [each for each in proxy.requests if each.table == HUNG]  # noqa: E731
    mounts.wait_until(lambda: len(hanging()) == SHARE, f"{SHARE} requests that hang")
    os.stat(m / OTHER)
    asked = [each for each in proxy.requests if each.table != HUNG]
    assert [each.status for each in asked] == [200] * len(asked) and asked
    assert [each.status for each in hanging()] == [None] * SHARE
    enough.set()
    for caller in callers:
        caller.join()
    assert outcomes == [errno.ENOENT] * CALLERS
    assert len(hanging()) == CALLERS and proxy.connections() <= SHARE + 1


def test_a_head_that_begins_with_a_space_ends_no_mount(mount, proxy):
    """libcurl below 8.1.1 used freed memory when an earlier response had a head."""
    m = mount()
    proxy.fault("folded", times=None)
    for _ in range(2):
        outcomes = []
        look_up(m / OTHER, outcomes)
        assert outcomes in ([0], [errno.EBADMSG])
    proxy.heal()
    os.stat(m / "prod/shops/cool-store.myshopify.com/SETTINGS")


# How long connections live.

SETTINGS = "prod/shops/cool-store.myshopify.com/SETTINGS"
NAME_TTL_S = 0.15  # the least for which the kernel keeps a name, and a little
HOUR_S = 3600


def read_anew(m, path=SETTINGS):
    """Reads PATH, of which the kernel no longer knows the name."""
    time.sleep(NAME_TTL_S)
    return (m / path).read_bytes()


def test_the_first_read_after_an_hour_costs_no_handshake(mount, proxy, clock, short):
    m = mount(map_file=short, env=clock.env)
    read_anew(m)
    before = proxy.accepted
    for _ in range(3):
        proxy.clear()
        clock.passes(HOUR_S)
        read_anew(m)
        assert proxy.ops == ["GetItem"] and proxy.accepted == before


def test_it_costs_one_where_the_service_has_ended_the_connection(mount, proxy, clock, short):
    m = mount(map_file=short, env=clock.env)
    read_anew(m)
    before = proxy.accepted
    for times in range(1, 4):
        proxy.clear()
        proxy.drop()
        clock.passes(HOUR_S)
        read_anew(m)
        assert proxy.ops == ["GetItem"] and proxy.accepted == before + times
    assert "pid" not in m.errors()


def test_a_connection_that_died_while_the_machine_slept_does_not_cost_the_deadline(
    mount, proxy, clock, short
):
    """Were it waited for, the answer would be ETIMEDOUT."""
    m = mount("--timeout", "20", map_file=short, env=clock.env)
    read_anew(m)
    before = proxy.accepted
    proxy.go_deaf()
    clock.sleeps(8 * HOUR_S)
    read_anew(m)
    assert proxy.unheard == 1 and proxy.accepted == before + 1
    read_anew(m)
    assert proxy.unheard == 1 and proxy.accepted == before + 1
    assert "pid" not in m.errors()


def test_what_was_read_before_a_sleep_is_asked_for_again(mount, proxy, clock):
    """The kernel's own clock stands still meanwhile, so it is asked for another name."""
    m = mount(env=clock.env)
    (m / SETTINGS).read_bytes()
    clock.sleeps(HOUR_S)
    proxy.clear()
    (m / f"{SETTINGS}@typed").read_bytes()
    assert proxy.ops == ["GetItem"]


def test_a_server_that_is_started_anew(mount, proxy, short):
    m = mount("--timeout", "2", map_file=short)
    read_anew(m)
    proxy.leave()
    with pytest.raises(ConnectionRefusedError):
        read_anew(m)
    proxy.come_back()
    assert read_anew(m) and "errno=ECONNREFUSED" in m.errors()


# Addresses.


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_the_address_where_somebody_listens_is_found(mount, make_proxy, server, host):
    """localhost is both."""
    try:
        listening = make_proxy(server, host=host)
    except OSError as why:
        pytest.skip(f"{host}: {why}")
    m = mount("--endpoint-url", f"http://localhost:{listening.port}")
    assert (m / SETTINGS).read_bytes()
    assert listening.accepted >= 1 and "GetItem" in listening.ops


def test_an_address_that_does_not_answer_does_not_cost_the_deadline(mount, make_proxy, server):
    """Whoever asks for a connection to the one is left waiting; the other is tried meanwhile."""
    listening = make_proxy(server)
    with socket.socket(socket.AF_INET6) as full, contextlib.ExitStack() as crowd:
        try:
            full.bind(("::1", listening.port))
        except OSError as why:
            pytest.skip(f"::1: {why}")
        full.listen(0)
        for _ in range(4):
            one = crowd.enter_context(socket.socket(socket.AF_INET6))
            one.setblocking(False)
            one.connect_ex(("::1", listening.port))
        m = mount("--timeout", "4", "--endpoint-url", f"http://localhost:{listening.port}")
        assert (m / SETTINGS).read_bytes()


def open_clock_tls(make_proxy, server, authority, clock):
    """A proxy that speaks TLS, whose service knows what time it is, and what a daemon needs for it."""
    front = make_proxy(server, tls=authority.context())
    clock.proxy = front
    env = {**clock.env, "AWS_CA_BUNDLE": str(authority.bundle)}
    return front, env


def test_a_handshake_that_is_needed_resumes_the_session(mount, make_proxy, server, clock, short, tmp_path):
    """None at all while the service keeps the connection, and a short one where it has ended it; one request each."""
    front, env = open_clock_tls(make_proxy, server, tls.Authority(tmp_path / "tls"), clock)
    m = mount("--endpoint-url", front.url, map_file=short, env=env)
    read_anew(m)
    made, resumed = front.accepted, front.resumed
    clock.passes(HOUR_S)
    read_anew(m)
    assert (front.accepted, front.resumed) == (made, resumed)
    for times in range(1, 4):
        front.drop()
        front.clear()
        clock.passes(HOUR_S)
        read_anew(m)
        assert (front.accepted, front.resumed, front.ops) == (made + times, resumed + times, ["GetItem"])
    assert "pid" not in m.errors()


# Names.


def test_a_name_server_that_does_not_answer_delays_nobody_else(mount, proxy, make_map, short, stalled_names, tmp_path):
    """One environment's name is being looked for; all others are read meanwhile, those from memory and
    those that have to be asked for; and the daemon ends without waiting for it."""
    own = '"prefix": "staging-", "profile": "controller", "region": "us-east-1", "endpoint": "http://service.stalled"'
    text = re.sub(r'"staging": +\{[^}]*\}', lambda _: f'"staging": {{ {own} }}', short.read_text("utf-8"))
    stall = tmp_path / "stall"
    asked = tmp_path / "stall.asked"
    stall.touch()
    m = mount("--timeout", "30", map_file=make_map(lambda _: text), env={**stalled_names, "STALLED_NAMES_FILE": stall})
    known = (m / SETTINGS).read_bytes()
    asked.unlink(missing_ok=True)
    outcomes = []
    caller = threading.Thread(target=look_up, args=(m / SETTINGS.replace("prod", "staging"), outcomes))
    caller.start()
    mounts.wait_until(asked.exists, "somebody who looks for the name")
    proxy.clear()
    assert (m / "prod/jobs/README").read_bytes() and m.stats()["uptime_seconds"] >= 0
    assert read_anew(m) == known and "GetItem" in proxy.ops
    assert outcomes == [], "the name is being looked for still"
    stall.unlink()
    caller.join()
    assert outcomes == [errno.EHOSTUNREACH]


@pytest.mark.skipif(not shutil.which("strace"), reason="there is no strace")
def test_the_loop_resolves_no_name(ddbfs, tmp_path):
    """Whoever waits for a name server must not be the thread that answers all others."""
    url, trace = "http://no-such-host.invalid", tmp_path / "trace"
    command = ["strace", "-f", "-o", trace, "-e", "trace=openat,connect,sendto,sendmmsg,recvfrom"]
    command += [ddbfs.binary, "--timeout", "2", "--endpoint-url", url, "cat", f"/{SETTINGS}"]
    # A sanitizer looks for leaks as a debugger does, of which there can be one at a time.
    env = ddbfs.home.environment({"ASAN_OPTIONS": "detect_leaks=0"})
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    if "ptrace" in done.stderr:
        pytest.skip(done.stderr)
    assert "no-such-host.invalid" in done.stderr, done
    lines = [line.split(None, 1) for line in trace.read_text("utf-8", "replace").splitlines()]
    main = lines[0][0]
    looked = {pid for pid, call in lines if "resolv.conf" in call or "htons(53)" in call}
    assert looked and main not in looked
