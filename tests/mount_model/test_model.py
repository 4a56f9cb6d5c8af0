"""Random operations against a real mount, and against a plain model of what each may see.

DDBFS_SEED repeats a run, DDBFS_SOAK makes it last so many seconds.
"""

import os
import secrets
import threading
import time

import pytest

from mount_model import player, things

OPERATIONS = 500 if os.environ.get("DDBFS_LONG") == "1" else 200
PLAYERS = 4
SECONDS = 45  # where the machine is slow, fewer operations must do


@pytest.fixture
def seed():
    chosen = int(os.environ.get("DDBFS_SEED") or secrets.randbelow(10**9))
    print(f"DDBFS_SEED={chosen}")
    return chosen


@pytest.fixture
def make_world(boto, table, mount, proxy, tmp_path):
    def make(*options):
        name = table(things.description())
        map_file = things.write_map(tmp_path / "things.map.json", name)
        live = mount("--timeout", "2", "--cache-size", "1M", *options, map_file=map_file)
        world = player.World(boto, name, live, proxy)
        world.learn_names()
        time.sleep(things.TTL_S)
        return world

    return make


def play(one, operations):
    """OPERATIONS of them, or as many as there is time for; a soak goes on until its time is up."""
    soak = int(os.environ.get("DDBFS_SOAK", 0))
    end = time.monotonic() + (soak or SECONDS)
    done = 0
    while time.monotonic() < end and (soak or done < operations):
        one.step()
        done += 1
    one.finish()
    return done


def test_one_player_sees_only_what_the_model_allows(make_world, seed):
    one = player.Player(make_world(), seed)
    done = play(one, OPERATIONS)
    print(done, "operations:", one.summary())
    assert done >= 50


def test_players_at_the_same_time_see_only_what_the_model_allows(make_world, seed):
    world, problems = make_world(), []

    def run(number):
        try:
            play(player.Player(world, seed + number, alone=False), OPERATIONS // PLAYERS)
        except BaseException as problem:  # a thread's failure is the test's
            problems.append(problem)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(PLAYERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if problems:
        raise problems[0]
