"""Libraries of tests/mount that stand before the C library: other clocks, older kernels, stalled names."""

import struct
import subprocess

from . import places, runner


def preload(folder, name):
    """The environment of a daemon in which NAME.c of tests/mount stands before the C library."""
    library = folder / f"{name}.so"
    source = places.REPO / f"tests/mount/{name}.c"
    command = ["cc", "-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-o", library, source]
    subprocess.run(command, check=True)
    asan = runner.SANITIZERS["ASAN_OPTIONS"] + ":verify_asan_link_order=0"
    return {"LD_PRELOAD": str(library), "ASAN_OPTIONS": asan}


class Clock:
    """The clocks of a daemon that is started with `env`; they jump when the test says so. PROXY, the
    service, knows what time it is."""

    def __init__(self, env, file, proxy):
        self.file = file
        self.proxy = proxy
        self.passed_ms = self.slept_ms = 0
        self.env = {**env, "CLOCK_JUMP_FILE": str(file)}
        self.write()

    def write(self):
        with open(self.file, "r+b" if self.file.exists() else "wb") as out:
            out.write(struct.pack("=qq", self.passed_ms, self.passed_ms + self.slept_ms))
        self.proxy.clock_offset_s = (self.passed_ms + self.slept_ms) / 1000

    def passes(self, seconds):
        self.passed_ms += int(seconds * 1000)
        self.write()

    def sleeps(self, seconds):
        """As `passes`, but for the clock that stands still while a machine sleeps."""
        self.slept_ms += int(seconds * 1000)
        self.write()
