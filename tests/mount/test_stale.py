"""--stale-if-error: in an outage what was read before is shown, and it is told."""

import errno
import json
import os
import time

import pytest

SETTINGS = "prod/shops/cool-store.myshopify.com/SETTINGS"
ALL = "prod/jobs/by-index/shopify/kl7a9h55-shopify-e513a8-4/all"
NAME_TTL_S = 0.15  # the least for which the kernel keeps a name, and a little


@pytest.fixture
def stale(mount, short):
    return mount("--stale-if-error", "3600", "--timeout", "5", map_file=short)


def anew(m, path=SETTINGS):
    """Reads PATH, of which the kernel no longer knows the name."""
    time.sleep(NAME_TTL_S)
    return (m / path).read_bytes()


def error_of(ask, *arguments):
    with pytest.raises(OSError) as caught:
        ask(*arguments)
    return caught.value.errno


OUTAGES = {
    "a failing service": ("server_error", {"status": 503}),
    "a lost connection": ("reset", {}),
    "a throttled table": ("throttle", {}),
}


@pytest.mark.parametrize("kind", OUTAGES)
def test_a_record_is_shown_and_it_is_told(stale, proxy, kind):
    fault, options = OUTAGES[kind]
    record = anew(stale)
    proxy.fault(fault, op="GetItem", times=None, **options)
    proxy.clear()
    assert anew(stale) == record
    assert 2 <= len(proxy.ops) <= 4
    info = json.loads(anew(stale, SETTINGS + "@info"))
    assert info["stale"]["since"] >= info["fetched"] and info["stale"]["why"]
    lines = [line for line in stale.errors().splitlines() if f"path=/{SETTINGS} " in line]
    assert len(lines) == 1 and " note " in lines[0] and "operation=GetItem" in lines[0]
    reason = f": the data of {info['fetched']} was returned, because: "
    assert reason in lines[0] and reason in stale.log()
    assert stale.stats()["stale_answers"] == 2

    proxy.heal()
    assert anew(stale) == record
    assert "stale" not in json.loads(anew(stale, SETTINGS + "@info"))
    assert stale.stats()["stale_answers"] == 2


def test_a_listing_and_its_names(stale, proxy):
    names = sorted(os.listdir(stale / ALL))
    proxy.fault("server_error", times=None)
    time.sleep(NAME_TTL_S)
    assert sorted(os.listdir(stale / ALL)) == names
    assert b"job_id" in anew(stale, f"{ALL}/{names[0]}")
    assert f"note path=/{ALL} operation=Query" in stale.errors()
    proxy.heal()
    time.sleep(NAME_TTL_S)
    proxy.clear()
    assert sorted(os.listdir(stale / ALL)) == names and "Query" in proxy.ops


def test_what_was_never_read_is_an_error(stale, proxy):
    proxy.fault("server_error", times=None)
    assert error_of(anew, stale) == errno.EIO
    assert error_of(os.listdir, stale / ALL) == errno.EIO
    assert "was returned, because" not in stale.errors()


def test_what_was_refreshed_by_hand_is_not_shown(stale, proxy):
    anew(stale)
    proxy.fault("server_error", times=None)
    stale.refresh(SETTINGS)
    assert error_of(anew, stale) == errno.EIO


REFUSALS = {"denied": errno.EACCES, "expired": errno.EKEYEXPIRED, "html": errno.EBADMSG}


@pytest.mark.parametrize("fault", REFUSALS)
def test_who_is_refused_is_shown_nothing(stale, proxy, fault):
    anew(stale)
    os.listdir(stale / ALL)
    proxy.fault(fault, times=None)
    assert error_of(anew, stale) == REFUSALS[fault]
    assert error_of(os.listdir, stale / ALL) == REFUSALS[fault]


def test_it_is_off_unless_it_is_asked_for(mount, proxy, short):
    m = mount(map_file=short)
    anew(m)
    proxy.fault("server_error", times=None)
    assert error_of(anew, m) == errno.EIO


def test_no_older_than_was_said(mount, proxy, clock, short):
    m = mount("--stale-if-error", "60", map_file=short, env=clock.env)
    anew(m)
    proxy.fault("server_error", times=None)
    clock.passes(59)
    anew(m)
    clock.passes(61)
    assert error_of(anew, m) == errno.EIO
