"""A credential_process under a mount: it delays nobody else, is run once for all who wait, and ends."""

import errno
import os
import signal
import threading

import pytest

from harness import mounts, signin

SETTINGS = "shops/cool-store.myshopify.com/SETTINGS"


@pytest.fixture
def process(home, tmp_path):
    """The program of profile `slow`: it counts its runs, and waits until the file GO is there."""
    program = tmp_path / "program"
    program.write_text(f"""#!/bin/sh
echo $$ >>{tmp_path}/runs
while [ ! -e {tmp_path}/go ]; do sleep 0.05; done
echo $$ >>{tmp_path}/given
cat {tmp_path}/printed
""")
    program.chmod(0o755)
    (tmp_path / "printed").write_text(
        '{"Version": 1, "AccessKeyId": "DEMOCONTROLLERKEY001",'
        ' "SecretAccessKey": "demo/controller+secret/0001"}'
    )
    home.config.write_text(
        home.config.read_text() + f"\n[profile slow]\nregion = us-east-1\ncredential_process = {program}\n"
    )
    return tmp_path


@pytest.fixture
def slow_staging(make_map):
    before = '"staging":      { "prefix": "staging-", "profile": "controller"'
    return make_map(lambda text: text.replace(before, before.replace("controller", "slow")))


def runs(process):
    return (process / "runs").read_text().split() if (process / "runs").exists() else []


def is_running(number):
    return not mounts.has_ended(int(number))


def read_all(paths, outcomes):
    def read(path):
        try:
            outcomes.append(len(path.read_bytes()))
        except OSError as why:
            outcomes.append(why.errno)

    threads = [threading.Thread(target=read, args=(path,)) for path in paths]
    for thread in threads:
        thread.start()
    return threads


def test_it_delays_nobody_else(mount, slow_staging, process):
    m = mount("--timeout", "60", map_file=slow_staging)
    outcomes = []
    readers = read_all([m / "staging" / SETTINGS] * 8, outcomes)
    mounts.wait_until(lambda: any(map(is_running, runs(process))), "the program")
    assert (m / "prod" / SETTINGS).read_bytes() and os.listdir(m / ".ddbfs")
    assert outcomes == []
    (process / "go").touch()
    for reader in readers:
        reader.join()
    assert len(outcomes) == 8 and min(outcomes) > 200
    assert len((process / "given").read_text().split()) == 1, "once for all who waited"


def test_who_gives_up_leaves_it_to_the_next(mount, slow_staging, process):
    """A program that needs longer than --timeout is not begun anew for each who reads."""
    m = mount("--timeout", "1", map_file=slow_staging)
    for _ in range(2):
        with pytest.raises(OSError) as caught:
            (m / "staging" / SETTINGS).read_bytes()
        assert caught.value.errno == errno.ETIMEDOUT and "there were no credentials in time" in m.errors()
    assert any(map(is_running, runs(process)))
    (process / "go").touch()
    mounts.wait_until(lambda: not any(map(is_running, runs(process))), "the program's end")

    def read():
        try:
            return (m / "staging" / SETTINGS).read_bytes()
        except TimeoutError:
            return None

    mounts.wait_until(read, "what it printed")
    assert len(runs(process)) == 1


def test_unmounting_ends_it(mount, slow_staging, process):
    m = mount("--timeout", "60", map_file=slow_staging)
    readers = read_all([m / "staging" / SETTINGS], [])
    mounts.wait_until(lambda: any(map(is_running, runs(process))), "the program")
    m.exit_code = None
    m.signal(signal.SIGTERM)
    for reader in readers:
        reader.join()
    mounts.wait_until(lambda: not any(map(is_running, runs(process))), "the program's end")


def test_one_that_fails_heals(mount, slow_staging, process):
    (process / "go").touch()
    good = (process / "printed").read_text()
    (process / "printed").write_text("no session")
    m = mount(map_file=slow_staging)
    for _ in range(3):
        with pytest.raises(PermissionError):
            (m / "staging" / SETTINGS).read_bytes()
    assert "printed no JSON object" in m.errors() and "no session" not in m.errors()
    assert len(runs(process)) <= 2, "a failure is not asked for again at once"
    (process / "printed").write_text(good.replace("}", f', "Expiration": "{signin.instant(3600)}"}}'))

    def heals():
        try:
            return (m / "staging" / SETTINGS).read_bytes()
        except PermissionError:
            return None

    mounts.wait_until(heals, "the next run")
