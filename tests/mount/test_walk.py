"""A random walk of whatever people do to a mount at the same time, and then one of the ways to end it.

DDBFS_WALKS makes so many of them, DDBFS_SEED repeats one. Nothing is timed: each step ends well within
the bound that hangs are told by.
"""

import os
import random
import secrets
import signal
import subprocess
import sys

import pytest

from harness import mounts

SHOP = "prod/shops/cool-store.myshopify.com"
LATEST = "prod/jobs/by-index/shopify/kl7a9h55-shopify-e513a8-4/latest"
STEPS = 40
BOUND_S = 40  # a refresh, a reader or the end took more than a minute in seven of ten walks

LOOK_UP = """
import os, random, sys
root, device, names = sys.argv[1], int(sys.argv[2]), random.Random(int(sys.argv[3]))
known = ["prod", "prod/shops", "%s/SETTINGS", "%s/API_KEY", "%s/.git", "%s"]
while True:
    name = names.choice([*known, f"prod/shops/s{names.randrange(5000)}.example"])
    try: os.stat(f"{root}/{name}")
    except OSError:
        if os.stat(root).st_dev != device: break
""" % (SHOP, SHOP, SHOP, LATEST)  # fmt: skip

SEEK = """
import ctypes, os, random, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.opendir.restype = libc.readdir.restype = ctypes.c_void_p
libc.telldir.restype = ctypes.c_long
path, numbers = os.fsencode(sys.argv[1]), random.Random(int(sys.argv[2]))
while folder := libc.opendir(path):
    stream, places = ctypes.c_void_p(folder), []
    for _ in range(200):
        places.append(libc.telldir(stream))
        if not libc.readdir(stream) or numbers.random() < 0.05:
            libc.seekdir(stream, ctypes.c_long(numbers.choice(places)))
        if ctypes.get_errno() == 107: sys.exit()
    libc.closedir(stream)
"""


def seeds():
    given = os.environ.get("DDBFS_SEED")
    count = 1 if given else int(os.environ.get("DDBFS_WALKS", 1))
    return [int(given)] if given else list(range(count))


class Walk:
    def __init__(self, mount, chance):
        self.mount = mount
        self.chance = chance
        self.device = os.stat(mount.root).st_dev
        self.others = []  # loops that end with the mount
        self.tasks = []  # commands that end by themselves

    def start(self, script, *words):
        command = [sys.executable, "-c", script, *map(str, words), str(self.chance.randrange(10**6))]
        self.others.append(subprocess.Popen(command, stderr=subprocess.DEVNULL))

    def look_up(self):
        if len(self.others) < 6:
            self.start(LOOK_UP, self.mount.root, self.device)

    def seek(self):
        if len(self.others) < 6:
            self.start(SEEK, self.mount / self.chance.choice([LATEST, SHOP]))

    def refresh(self):
        path = self.chance.choice(["", "prod", "prod/shops", SHOP, f"{SHOP}/SETTINGS", LATEST])
        self.tasks.append(self.mount.ddbfs.start("refresh", self.mount / path, stderr=-3))

    def read_map_again(self):
        self.mount.signal(signal.SIGHUP)

    def grep(self):
        command = ["grep", "-rc", "e", self.mount / self.chance.choice([LATEST, SHOP])]
        self.tasks.append(subprocess.Popen(command, stdout=-3, stderr=-3))

    def interrupt(self):
        if self.tasks:
            self.chance.choice(self.tasks).send_signal(signal.SIGINT)

    def know_names(self):
        for number in self.chance.sample(range(5000), 300):
            os.stat(self.mount / f"prod/shops/s{number}.example")

    def kill(self):
        if self.others:
            gone = self.others.pop(self.chance.randrange(len(self.others)))
            gone.kill()
            gone.wait(BOUND_S)

    def step(self):
        steps = [self.look_up, self.seek, self.refresh, self.refresh, self.read_map_again]
        self.chance.choice([*steps, self.grep, self.interrupt, self.know_names, self.kill])()
        if len(self.tasks) > 8:
            self.tasks.pop(0).wait(BOUND_S)

    def end(self):
        number = self.chance.choice([signal.SIGTERM, signal.SIGINT, signal.SIGQUIT, None])
        if number:
            self.mount.signal(number)
        else:
            subprocess.run(["fusermount3", "-uz", self.mount.root], check=True)
            self.mount.signal(signal.SIGTERM)
        self.mount.process.wait(BOUND_S)
        for each in self.tasks + self.others:
            each.wait(BOUND_S)


@pytest.mark.parametrize("seed", seeds())
def test_a_walk_ends_whatever_was_done(mount, kernel, seed):
    if seed == 0 and "DDBFS_WALKS" not in os.environ:
        seed = secrets.randbelow(10**9)
    print(f"DDBFS_SEED={seed}")
    walk = Walk(mount("--timeout", "3", env=kernel), random.Random(seed))
    try:
        for _ in range(STEPS):
            walk.step()
        walk.end()
    finally:
        for each in walk.tasks + walk.others:
            each.kill()
    assert not mounts.is_mounted(walk.mount.root)
