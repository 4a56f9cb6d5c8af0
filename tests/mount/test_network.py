"""The network is gone, and comes back: readers get an error of the table in time, what is known is read
as ever, and the next read after is good, without a remount."""

import errno
import os
import time

import pytest

from harness import mounts, networks, proxy as proxies, runner

SETTINGS = "prod/shops/cool-store.myshopify.com/SETTINGS"
LIST = "prod/jobs/by-index/shopify/kl7a9h55-shopify-e513a8-4/all"
KNOWN = "prod/index-settings/kl7a9h55/shopify-e513a8-4"
NAME_TTL_S = 0.15  # the least for which the kernel keeps a name, and a little
GONE = {errno.ETIMEDOUT, errno.EHOSTUNREACH, errno.ECONNRESET}
TIMEOUT_S = 3


@pytest.fixture
def network():
    try:
        made = networks.Network()
    except OSError as why:
        pytest.skip(f"no network name space: {why}")
    yield made
    made.set_up(True)
    made.close()


@pytest.fixture
def away(network, server, short, tmp_path):
    """away(*options): a mount in that network, where its service listens."""
    made = []
    proxy = network.inside(lambda: proxies.Proxy(server)).__enter__()
    ddbfs = runner.Ddbfs(runner.Home(tmp_path / "away-home", proxy.url))

    def make(*options):
        options = ("--timeout", str(TIMEOUT_S), *options)
        folder = tmp_path / f"away-{len(made)}"
        made.append(mounts.Mount(ddbfs, folder, proxy, options, short, network=network))
        return made[-1].wait_ready()

    yield make
    network.set_up(True)
    for each in made:
        each.clean_up()
    proxy.close()
    assert not proxy.problems()


def anew(m, path=SETTINGS):
    """Reads PATH, of which the kernel no longer knows the name."""
    time.sleep(NAME_TTL_S)
    return (m / path).read_bytes()


def fails(read, *arguments):
    with pytest.raises(OSError) as caught:
        read(*arguments)
    assert caught.value.errno in GONE, caught.value
    return errno.errorcode[caught.value.errno]


def test_the_next_read_after_is_good(away, network):
    m = away()
    record, names = anew(m), sorted(os.listdir(m / LIST))
    for _ in range(2 if os.environ.get("DDBFS_LONG") == "1" else 1):
        network.set_up(False)
        told = len(m.errors().splitlines())
        numbers = [fails(anew, m), fails(os.listdir, m / LIST)]
        lines = m.errors().splitlines()[told:]
        assert [line.split("errno=")[1].split(" ")[0] for line in lines] == numbers
        assert all("; " in line.partition(": ")[2] for line in lines), "what is to be done"
        network.set_up(True)
        assert anew(m) == record
        assert sorted(os.listdir(m / LIST)) == names


def test_what_is_known_is_read_as_ever(away, network):
    """A file that somebody has open, directories of the map, and what is said of the mount."""
    m = away()
    with open(m / KNOWN, "rb") as known:
        record = known.read()
        network.set_up(False)
        known.seek(0)
        assert known.read() == record
        assert "jobs" in os.listdir(m / "prod") and m.stats()["uptime_seconds"] >= 0
        fails(anew, m)


def test_what_was_read_is_shown_meanwhile_if_that_is_wanted(away, network):
    m = away("--stale-if-error", "3600")
    record, names = anew(m), sorted(os.listdir(m / LIST))
    network.set_up(False)
    assert anew(m) == record
    assert sorted(os.listdir(m / LIST)) == names
    assert m.stats()["stale_answers"] == 2 and "errno=" not in m.errors()
    network.set_up(True)
    assert anew(m) == record
    assert m.stats()["stale_answers"] == 2


def test_it_is_gone_before_anything_was_read(away, network):
    m = away()
    network.set_up(False)
    fails(anew, m, KNOWN)
    network.set_up(True)
    assert anew(m, KNOWN)
