"""Callers that wait: whoever is interrupted goes at once, and nobody waits for ever.

Nothing here measures time. The proxy holds answers back for HELD_S, longer than any test waits
for a process to go: a process that is gone did not wait for its answer.
"""

import errno
import os
import signal
import subprocess
import sys

import pytest

from harness import mounts

HELD_S = 110  # longer than mounts.wait_until has patience, and shorter than a test may take
INDEX = "kl7a9h55-shopify-e513a8-4"
LATEST = f"prod/jobs/by-index/shopify/{INDEX}/latest"
SETTINGS = "prod/shops/cool-store.myshopify.com/SETTINGS"
OTHER = "prod/shops/cool-store.myshopify.com/API_KEY"


@pytest.fixture
def started():
    """started("cat", path): a child of the test; what is left of them is killed after it."""
    children = []

    def start(*command, **options):
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        children.append(subprocess.Popen(command, **pipes))
        return children[-1]

    yield start
    for child in children:
        child.kill()
        child.communicate()


def wait_for_requests(m, count):
    mounts.wait_until(lambda: len(m.proxy.requests) >= count, f"{count} requests")


def gone(child):
    """Its exit code once it has ended. While the daemon is told of the signal, the kernel shows
    it in state D for a moment; one that stayed there would be there for HELD_S."""
    mounts.wait_until(
        lambda: child.poll() is not None,
        f"process {child.pid} to end, whose state is {mounts.state_of(child.pid)}",
    )
    return child.returncode


@pytest.fixture
def held(mount, proxy):
    """A mount whose service answers nothing that is asked for a long while."""
    m = mount("--timeout", str(HELD_S))
    proxy.fault("delay", times=None, seconds=HELD_S)
    yield m
    proxy.closing.set()  # the delays end


BLOCKED = [("cat", SETTINGS, signal.SIGINT), ("ls", LATEST, signal.SIGTERM), ("stat", SETTINGS, signal.SIGKILL),
           ("cat", SETTINGS, signal.SIGHUP)]  # fmt: skip
OTHERS_BLOCKED = [
    pytest.param(command, path, number, marks=pytest.mark.long)
    for command, path in (("cat", SETTINGS), ("ls", LATEST), ("stat", SETTINGS))
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL, signal.SIGHUP)
    if (command, path, number) not in BLOCKED
]


@pytest.mark.parametrize("command, path, number", BLOCKED + OTHERS_BLOCKED)
def test_a_signal_ends_a_blocked_program_at_once(held, started, command, path, number):
    child = started(command, held / path)
    wait_for_requests(held, 1)
    child.send_signal(number)
    assert gone(child) == -number


def test_a_killed_caller_in_the_kernel_s_queue_goes_with_the_lookup_before_it(held, started):
    first = started("stat", held / SETTINGS)
    wait_for_requests(held, 1)
    queued = [started("stat", held / SETTINGS) for _ in range(5)]
    for child in queued:
        mounts.wait_until(lambda: mounts.state_of(child.pid) == "D", "the kernel's queue")  # noqa: B023
        child.kill()
    assert {mounts.state_of(child.pid) for child in queued} == {"D"}
    first.kill()
    assert {gone(child) for child in (first, *queued)} == {-signal.SIGKILL}


def test_a_blocked_program_can_be_ended_after_it_was_stopped(held, started):
    child = started("cat", held / SETTINGS)
    wait_for_requests(held, 1)
    child.send_signal(signal.SIGSTOP)
    child.send_signal(signal.SIGCONT)
    child.send_signal(signal.SIGKILL)
    assert gone(child) == -signal.SIGKILL


def test_a_signal_that_a_program_handles_does_not_end_its_call(mount, proxy, started, oracle):
    """An alarm, such as any program may have; no other file system fails for it."""
    m = mount()
    fault = proxy.fault("delay", op="GetItem", times=None, seconds=0.5)
    script = "$SIG{ALRM} = sub {}; open(my $f, '<', $ARGV[0]) or die $!; print <$f>;"
    child = started("perl", "-e", script, m / SETTINGS)
    mounts.wait_until(lambda: fault.met, "the request")
    child.send_signal(signal.SIGALRM)
    out, err = child.communicate()
    assert (child.returncode, err) == (0, b"") and out == oracle(f"/{SETTINGS}")


def test_a_handled_signal_does_not_hide_a_deadly_one(held, started):
    script = "$SIG{ALRM} = sub {}; open(my $f, '<', $ARGV[0]); print 'opened'"
    child = started("perl", "-e", script, held / SETTINGS)
    wait_for_requests(held, 1)
    child.send_signal(signal.SIGALRM)
    child.send_signal(signal.SIGKILL)
    assert gone(child) == -signal.SIGKILL


@pytest.mark.parametrize(
    "number", [signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP]
)
def test_a_wish_to_end_counts_though_the_program_handles_it(held, started, number):
    script = "$SIG{shift @ARGV} = sub { exit 7 }; open(my $f, '<', $ARGV[0]);"
    name = signal.Signals(number).name.removeprefix("SIG")
    child = started("perl", "-e", script, name, held / SETTINGS)
    wait_for_requests(held, 1)
    child.send_signal(number)
    assert gone(child) == 7


def test_a_signal_that_a_program_blocks_does_not_end_its_call(mount, proxy, started, oracle):
    """It stays where it is until the program lets it in; the alarm makes the mount look."""
    m = mount()
    fault = proxy.fault("delay", op="GetItem", times=None, seconds=0.5)
    script = """use POSIX; sigprocmask(SIG_BLOCK, POSIX::SigSet->new(SIGTERM)); $SIG{ALRM} = sub {};
        open(my $f, '<', $ARGV[0]) or die $!; print <$f>;"""
    child = started("perl", "-e", script, m / SETTINGS)
    mounts.wait_until(lambda: fault.met, "the request")
    child.send_signal(signal.SIGTERM)
    child.send_signal(signal.SIGALRM)
    out, err = child.communicate()
    assert (child.returncode, err) == (0, b"") and out == oracle(f"/{SETTINGS}")


def test_python_is_interrupted_as_well(held, started):
    child = started(sys.executable, "-c", "import os, sys; os.stat(sys.argv[1])", held / SETTINGS)
    wait_for_requests(held, 1)
    child.send_signal(signal.SIGINT)
    gone(child)
    assert b"KeyboardInterrupt" in child.communicate()[1]


@pytest.mark.parametrize("command, path", [("cat", SETTINGS), ("ls", LATEST)])
def test_one_of_fifty_leaves_the_others_their_answer(mount, proxy, started, command, path):
    m = mount("--timeout", "30")
    fault = proxy.fault("delay", times=None, seconds=2)
    children = [started(command, m / path) for _ in range(50)]
    mounts.wait_until(lambda: fault.met, "the request")
    mounts.wait_until(lambda: m.stats()["cache_joined"] >= 0, "the daemon's word while all wait")
    children[7].send_signal(signal.SIGINT)
    assert gone(children[7]) == -signal.SIGINT
    children.pop(7)
    outputs = {child.communicate() for child in children}
    assert len(outputs) == 1 and outputs.pop()[0]
    assert [child.returncode for child in children] == [0] * 49
    assert sum(m.counts().values()) == 1


def test_names_of_one_directory_are_asked_for_at_the_same_time(held, started):
    folder = held / "prod/shops/cool-store.myshopify.com"
    for number in range(10):
        started("cat", folder / f"USER#{number}")
    asked = lambda: sum(len(each.keys) for each in held.proxy.requests)  # noqa: E731
    mounts.wait_until(lambda: asked() == 10, "ten records to be asked for")


def test_a_listing_and_a_look_up_of_one_directory_do_not_wait_for_each_other(held, started):
    folder = held / "prod/shops/cool-store.myshopify.com"
    started("ls", folder)
    wait_for_requests(held, 1)
    started("cat", folder / "USER#1")
    wait_for_requests(held, 2)


def test_the_first_of_many_who_ask_for_a_name_leaves_the_others_one_request(
    mount, proxy, started, oracle
):
    """The kernel lets them ask one after the other; each joins the question that is under way."""
    m = mount("--timeout", "30")
    fault = proxy.fault("delay", op="GetItem", times=None, seconds=2)
    first = started("cat", m / SETTINGS)
    mounts.wait_until(lambda: fault.met, "the request")
    others = [started("cat", m / SETTINGS) for _ in range(20)]
    first.send_signal(signal.SIGINT)
    assert gone(first) == -signal.SIGINT
    assert {other.communicate()[0] for other in others} == {oracle(f"/{SETTINGS}")}
    assert m.counts() == {"GetItem": 1}


def test_all_who_wait_may_go(held, started):
    children = [started("cat", held / SETTINGS) for _ in range(20)]
    wait_for_requests(held, 1)
    for child in children:
        child.send_signal(signal.SIGKILL)
    assert [gone(child) for child in children] == [-signal.SIGKILL] * 20


def test_who_asks_after_an_interrupt_gets_an_answer(mount, proxy, started, oracle):
    m = mount("--timeout", "30")
    fault = proxy.fault("delay", op="GetItem", times=1, seconds=1)
    child = started("cat", m / SETTINGS)
    mounts.wait_until(lambda: fault.met, "the request")
    child.send_signal(signal.SIGINT)
    gone(child)
    assert (m / SETTINGS).read_bytes() == oracle(f"/{SETTINGS}")
    assert m.counts() == {"GetItem": 1}


def test_a_listing_goes_on_for_the_next_after_an_interrupt(mount, proxy, started):
    m = mount("--timeout", "30")
    fault = proxy.fault("delay", op="Query", times=1, seconds=1)
    child = started("ls", m / LATEST)
    mounts.wait_until(lambda: fault.met, "the request")
    child.send_signal(signal.SIGINT)
    assert gone(child) == -signal.SIGINT
    names = os.listdir(m / LATEST)
    assert len(names) == len(set(names)) > 0


@pytest.mark.parametrize("path, call", [(SETTINGS, os.stat), (LATEST, os.listdir)])
def test_a_deadline_ends_in_a_time_out(mount, proxy, path, call):
    m = mount("--timeout", "0.5")
    proxy.fault("delay", times=None, seconds=HELD_S)
    with pytest.raises(OSError) as caught:
        call(m / path)
    assert caught.value.errno == errno.ETIMEDOUT
    assert "ETIMEDOUT" in m.errors() and path in m.errors()
    proxy.closing.set()


def test_those_who_queue_for_one_name_do_not_wait_one_after_another(mount, proxy, started):
    """The kernel lets one of them ask at a time: each would find the time-out anew."""
    m = mount("--timeout", "2")
    proxy.fault("delay", times=None, seconds=HELD_S)
    children = [started("cat", m / SETTINGS) for _ in range(10)]
    for child in children:
        assert child.wait(timeout=60) != 0
    assert len(proxy.requests) <= 2
    proxy.closing.set()


def test_whoever_comes_later_gets_an_answer_of_its_own(mount, proxy, started, oracle):
    """A process that is told a failure did not queue, however soon it comes after."""
    m = mount("--timeout", "1.2")
    fault = proxy.fault("delay", op="GetItem", times=None, seconds=HELD_S)
    with pytest.raises(OSError):
        os.stat(m / SETTINGS)
    proxy.faults.remove(fault)
    child = started("cat", m / SETTINGS)
    assert child.communicate()[0] == oracle(f"/{SETTINGS}")
    proxy.closing.set()


def test_who_queues_behind_an_interrupted_caller_has_one_deadline(mount, proxy, started):
    """It has waited since that one began, and what that one asked is not asked again."""
    m = mount("--timeout", "1")
    proxy.fault("delay", times=None, seconds=HELD_S)
    script = "import os, sys, time\nbegan = time.monotonic()\ntry: os.stat(sys.argv[1])\n"
    script += "except OSError as problem: print(problem.errno, time.monotonic() - began)"
    first = started("cat", m / SETTINGS)
    wait_for_requests(m, 1)
    others = [started(sys.executable, "-c", script, m / SETTINGS) for _ in range(5)]
    mounts.wait_until(lambda: all(mounts.state_of(o.pid) == "D" for o in others), "the queue")
    first.send_signal(signal.SIGINT)
    gone(first)
    for other in others:
        error, _ = other.communicate()[0].split()
        assert int(error) == errno.ETIMEDOUT
    assert len(proxy.requests) == 1
    proxy.closing.set()


def test_a_slow_table_does_not_delay_warm_reads_of_another(mount, proxy, started):
    m = mount("--timeout", str(HELD_S))
    whole = (m / SETTINGS).read_bytes()
    proxy.fault("delay", table="prod-EcomIndexerJobsTable", times=None, seconds=HELD_S)
    blocked = [started("ls", m / f"prod/jobs/by-index/shopify/x{n}/latest") for n in range(8)]
    wait_for_requests(m, 9)
    for _ in range(100):
        assert (m / SETTINGS).read_bytes() == whole
    assert all(child.poll() is None for child in blocked)
    proxy.closing.set()


def test_a_slow_table_does_not_hold_back_cold_reads_of_another(mount, proxy, started):
    m = mount("--timeout", str(HELD_S))
    proxy.fault("delay", table="prod-EcomIndexerJobsTable", times=None, seconds=HELD_S)
    blocked = [started("ls", m / f"prod/jobs/by-index/shopify/x{n}/latest") for n in range(8)]
    wait_for_requests(m, 8)
    assert (m / OTHER).read_bytes()
    assert all(child.poll() is None for child in blocked)
    proxy.closing.set()


def test_unmounting_ends_those_who_wait(held, started):
    children = [started("cat", held / SETTINGS), started("ls", held / LATEST)]
    wait_for_requests(held, 2)
    held.signal(signal.SIGTERM)
    assert held.wait() == 0
    assert [gone(child) > 0 for child in children] == [True, True]
