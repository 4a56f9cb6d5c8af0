"""What the benchmark runs on: release binaries and peers, a mount, a tmpfs, the kernel's count of
FUSE requests, the delaying server."""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import time

from harness import places, servers

HERE = pathlib.Path(__file__).resolve().parent
MAP = HERE / "bench.map.json"
TRACEFS = pathlib.Path("/sys/kernel/tracing")
EVENT = "events/fuse/fuse_request_send"
PATIENCE_S = 30
PEERS = {
    "peer_get": ["peer_get.c", "peer.c"],
    "peer_query": ["peer_query.c", "peer.c"],
    "peer_multi": ["peer_multi.c", "peer.c"],
    "reader": ["reader.c"],
    "delay": ["delay.c"],
}


class Programs:
    """Built in FOLDER: ddbfs as it is released, and the peers against the same core."""

    def __init__(self, folder, ddbfs=None):
        self.folder = folder
        self.build_ddbfs()
        self.ddbfs = ddbfs or folder / "fs" / "ddbfs"
        for name, sources in PEERS.items():
            self.build_peer(name, sources)

    def build_ddbfs(self):
        options = ["--buildtype=release", "-Dtests=false"]
        if not (self.folder / "build.ninja").exists():
            command = ["meson", "setup", *options, str(self.folder), str(places.REPO)]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        command = ["ninja", "-C", str(self.folder)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    def build_peer(self, name, sources):
        flags = ["-std=c17", "-O2", "-D_GNU_SOURCE", f"-I{places.REPO}", f"-I{HERE}"]
        paths = [str(HERE / source) for source in sources]
        libraries = [
            str(self.folder / "core/libddbfs-core.a"),
            "-lcurl",
            "-lcrypto",
            "-lz",
            "-lpthread",
        ]
        command = ["cc", *flags, *paths, *libraries, "-o", str(self.folder / name)]
        subprocess.run(command, check=True)

    def run(self, name, *words, given=None):
        """A peer's numbers, a list for each line it prints."""
        command = [str(self.folder / name), *map(str, words)]
        done = subprocess.run(command, input=given, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr}")
        return [[int(word) for word in line.split()] for line in done.stdout.splitlines()]

    def read(self, mode, paths, scratch, pause_us=0):
        """Reads the paths by the reader; milliseconds for each that it timed."""
        listed = scratch / "paths"
        listed.write_text("".join(f"{path}\n" for path in paths), "utf-8")
        return [line[0] / 1e6 for line in self.run("reader", mode, listed, pause_us)]


class Mount:
    """One mount of its own, which starts knowing nothing; use it by `with`."""

    def __init__(self, programs, environment, folder, *options):
        self.folder = folder
        self.command = [str(programs.ddbfs), "mount", "-f", "--map", str(MAP), *options]
        self.environment = environment

    def __enter__(self):
        self.folder.mkdir(exist_ok=True)
        self.log = open(f"{self.folder}.log", "ab")
        self.process = subprocess.Popen(
            [*self.command, str(self.folder)],
            env=self.environment,
            stderr=self.log,
            preexec_fn=servers.die_with_parent,
        )
        deadline = time.monotonic() + PATIENCE_S
        while not os.path.ismount(self.folder):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the mount did not come; see {self.folder}.log")
            time.sleep(0.01)
        return self

    def __exit__(self, *_):
        subprocess.run(["fusermount3", "-u", str(self.folder)], check=False)
        try:
            self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()

    def path(self, *steps):
        return self.folder.joinpath("prod", "jobs", *steps)

    def stats(self):
        return json.loads((self.folder / ".ddbfs" / "stats.json").read_text("utf-8"))

    def requests(self):
        """What it has asked the service, without the probe before it was mounted."""
        counts = self.stats()["requests"]
        return {name: count for name, count in counts.items() if count and name != "ListTables"}

    def peak_mb(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text("ascii")
        line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024


class Trace:
    """Counts FUSE requests of one mount by the kernel's tracepoint, in a trace instance of its
    own. Without tracefs it counts nothing, and says so."""

    def __init__(self, scratch):
        self.root = scratch / "tracefs"
        self.instance = None

    def __enter__(self):
        self.root.mkdir()
        mounted = subprocess.run(
            ["mount", "-t", "tracefs", "ddbfs-bench", str(self.root)], capture_output=True
        )
        if mounted.returncode == 0:
            self.instance = self.root / "instances" / f"ddbfs-bench-{os.getpid()}"
            self.instance.mkdir()
        return self

    def __exit__(self, *_):
        if self.instance:
            self.write("enable", "0")
            self.instance.rmdir()
            subprocess.run(["umount", str(self.root)], check=False)

    def write(self, name, text):
        (self.instance / EVENT / name).write_text(text, "ascii")

    def count(self, mount, what):
        """The requests that WHAT causes: {"LOOKUP": 1}; None without tracefs."""
        if not self.instance:
            what()
            return None
        device = os.minor(os.stat(mount.folder).st_dev)
        (self.instance / "buffer_size_kb").write_text("16384", "ascii")
        (self.instance / "trace").write_text("", "ascii")
        self.write("filter", f"connection == {device}")
        self.write("enable", "1")
        what()
        self.write("enable", "0")
        return self.tally()

    def tally(self):
        counts = {}
        for line in (self.instance / "trace").read_text("ascii").splitlines():
            if "(FUSE_" in line:
                name = line.split("(FUSE_")[1].split(")")[0]
                counts[name] = counts.get(name, 0) + 1
        return counts


@contextlib.contextmanager
def tmpfs(folder):
    """The peer of whatever is warm."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=512m", "ddbfs-bench", str(folder)]
    subprocess.run(command, check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=False)


def copy_listing(source, folder):
    """The same names and bytes on tmpfs."""
    shutil.copytree(source, folder, copy_function=shutil.copy)


@contextlib.contextmanager
def delayed(programs, server, delay_ms):
    """The url of a server whose every answer comes DELAY_MS later."""
    process = subprocess.Popen(
        [str(programs.folder / "delay"), str(server.port), str(delay_ms)],
        stdout=subprocess.PIPE,
        preexec_fn=servers.die_with_parent,
    )
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.kill()
        process.wait()
