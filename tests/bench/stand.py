"""The machinery of the benchmarks: release binaries and peers, servers, mounts, a tmpfs, and the kernel's count of
FUSE requests."""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import time

from bench import jobs
from harness import places, runner, servers

HERE = pathlib.Path(__file__).resolve().parent
MAP = HERE / "bench.map.json"
TRACEFS = pathlib.Path("/sys/kernel/tracing")
EVENT = "events/fuse/fuse_request_send"
PATIENCE_S = 30
LONGEST_S = 300  # of a command
SEQUENTIAL = ("--parallel", "no")  # options of ddbfs: pages one after the other


class Timing:
    """A command's wall time and processor time in seconds, and its most resident memory in bytes."""

    def __init__(self, numbers):
        wall_ns, cpu_ns, peak_kb = map(int, numbers.split())
        self.wall_s, self.cpu_s, self.peak = wall_ns / 1e9, cpu_ns / 1e9, peak_kb * 1024


class Programs:
    """Built in FOLDER: ddbfs as it is released, the peers against the same core, and the zero server."""

    def __init__(self, folder, ddbfs=None):
        self.folder = folder
        options = ["--buildtype=release", "-Dtests=false", "-Dbench=true"]
        if not (folder / "build.ninja").exists():
            self.build("meson", "setup", *options, str(folder), str(places.REPO))
        self.build("ninja", "-C", str(folder))
        self.ddbfs = ddbfs or folder / "fs" / "ddbfs"

    @staticmethod
    def build(*command):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)} failed:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")

    def peer(self, name):
        return self.folder / "tests" / "bench" / name

    def run(self, name, *words, given=None, environment=None):
        """A peer's numbers, a list for each line that it prints."""
        command = [str(self.peer(name)), *map(str, words)]
        options = {"input": given, "env": environment, "capture_output": True, "text": True}
        done = subprocess.run(command, timeout=LONGEST_S, **options)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr}")
        return [[int(word) for word in line.split()] for line in done.stdout.splitlines()]

    def read(self, mode, paths, scratch, pause_us=0):
        """Reads the paths by the reader; milliseconds for each that it timed."""
        listed = scratch / "paths"
        listed.write_text("".join(f"{path}\n" for path in paths), "utf-8")
        return [line[0] / 1e6 for line in self.run("reader", mode, listed, pause_us)]

    def time(self, command, environment, scratch, given=None):
        """The Timing of a command, whose output goes to /dev/null."""
        numbers = scratch / "timing"
        words = [str(self.peer("timed")), str(numbers), *map(str, command)]
        done = subprocess.run(words, env=environment, input=given, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, timeout=LONGEST_S)  # fmt: skip
        if done.returncode != 0:
            why = done.stderr.decode("utf-8", "replace").strip()[-300:]
            raise RuntimeError(f"{' '.join(words[2:])} ended with {done.returncode}: {why}")
        return Timing(numbers.read_text("ascii"))


class Mount:
    """A mount of its own, which starts with an empty cache; use it by `with`."""

    def __init__(self, programs, environment, folder, *options, the_map=MAP):
        self.folder = folder
        with_map = [] if "--no-map" in options else ["--map", str(the_map)]
        self.command = [str(programs.ddbfs), "mount", "-f", *with_map, *options]
        self.environment = environment

    def __enter__(self):
        self.folder.mkdir(exist_ok=True)
        self.log = open(f"{self.folder}.log", "ab")
        self.process = subprocess.Popen(
            [*self.command, str(self.folder)],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stderr=self.log,
            preexec_fn=servers.die_with_parent,
        )
        deadline = time.monotonic() + PATIENCE_S
        while not os.path.ismount(self.folder):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"no mount: {pathlib.Path(self.log.name).read_text()[-300:]}")
            time.sleep(0.01)
        os.statvfs(self.folder)
        return self

    def __exit__(self, *_):
        subprocess.run(["fusermount3", "-u", str(self.folder)], check=False)
        try:
            self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            subprocess.run(["umount", "-l", str(self.folder)], check=False)
            self.process.kill()
            self.process.wait()
        self.log.close()

    def path(self, *steps):
        return self.folder.joinpath("prod", "jobs", *steps)

    def stats(self):
        return json.loads((self.folder / ".ddbfs" / "stats.json").read_text("utf-8"))

    def requests(self):
        """Its requests to the service, without the one before it was mounted."""
        counts = self.stats()["requests"]
        return {name: count for name, count in counts.items() if count and name != "ListTables"}

    def memory(self, field="VmRSS"):
        """The resident bytes of the daemon; field VmHWM: the most so far."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text("ascii")
        line = next(line for line in status.splitlines() if line.startswith(field))
        return int(line.split()[1]) * 1024

    def cpu_s(self):
        """The processor time of all threads of the daemon that live."""
        tasks = pathlib.Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(task.read_text("ascii").split()[0]) for task in tasks) / 1e9


class Trace:
    """Counts FUSE requests of one mount by the kernel's tracepoint, in a trace instance of its own. Without
    tracefs it counts nothing."""

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
    """The peer of all that is warm."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=512m", "ddbfs-bench", str(folder)]
    subprocess.run(command, check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=False)


def copy_listing(source, folder):
    """The same names and bytes on tmpfs."""
    if not folder.exists():
        shutil.copytree(source, folder, copy_function=shutil.copy)
    return folder


@contextlib.contextmanager
def listing_meanwhile(folder):
    """Another process lists FOLDER until the block ends."""
    process = subprocess.Popen(["/bin/ls", "-l", str(folder)], stdout=subprocess.DEVNULL)
    time.sleep(0.3)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


class Stand:
    """The parts that scenarios share."""

    def __init__(self, programs, scratch, quick):
        self.programs = programs
        self.scratch = scratch
        self.quick = quick
        self.home = runner.Home(scratch / "home", "http://127.0.0.1:9")  # each command names its own endpoint
        self.tmpfs = scratch / "tmpfs"
        self.numbers = iter(range(10**9))  # of items that were not read before

    def rounds(self, full, quick):
        return range(quick if self.quick else full)

    @contextlib.contextmanager
    def zero(self, delay_ms=0, serial=False, shops=("many", "some")):
        """The server of prepared pages."""
        wanted = [f"{shop}={jobs.SHOPS[shop]}" for shop in shops]
        options = {"shops": wanted, "delay_ms": delay_ms, "serial": serial, "program": self.programs.peer("zero_server")}
        with servers.running("zero", **options) as server:
            yield server

    @contextlib.contextmanager
    def dynoxide(self):
        """A database server, which finds and checks and encodes; it has the shop "some"."""
        database = self.scratch / "jobs.db"
        if not database.exists():
            shutil.copy(jobs.database(self.programs.peer("zero_server")), database)
        with servers.running("dynoxide", database=database) as server:
            yield server

    def environment(self, url, changes=None):
        return self.home.environment({"AWS_ENDPOINT_URL_DYNAMODB": url, "DDBFS_MAP": None, **(changes or {})})

    def mount(self, url, *options, changes=None, the_map=MAP):
        return Mount(self.programs, self.environment(url, changes), self.scratch / "mnt", *options, the_map=the_map)

    def fresh(self, count):
        """Numbers of items whose names no mount of this run has seen, within the 10,000 of "some"."""
        return [next(self.numbers) % jobs.SHOPS["some"] for _ in range(count)]

    def time(self, *command, url=None):
        environment = self.environment(url) if url else {"LC_ALL": "C", "PATH": os.environ["PATH"]}
        return self.programs.time(command, environment, self.scratch)

    def ddbfs(self, url, *words):
        return self.time(self.programs.ddbfs, *words[:1], "--map", MAP, *words[1:], url=url)

    def read(self, mode, paths, pause_us=0):
        return self.programs.read(mode, paths, self.scratch, pause_us)

    def get_ms(self, url, shop, numbers, *words):
        """With the word "hops", by way of another process."""
        lines = self.programs.run("peer_get", url + "/", jobs.TABLE, *words, given=jobs.keys(shop, numbers))
        return [line[0] / 1e6 for line in lines]

    def multi_ms(self, url, shop, numbers, connections):
        words = (url + "/", jobs.TABLE, connections)
        return self.programs.run("peer_multi", *words, given=jobs.keys(shop, numbers))[0][0] / 1e6

    def query_ms(self, url, shop):
        """All pages by the loop that parses nothing."""
        return self.programs.run("peer_query", url + "/", jobs.TABLE, f"SHOP#{shop}")[0][0] / 1e6

    def print_lines(self, url, shop):
        """The Timing of the loop that parses and prints."""
        return self.time(self.programs.peer("peer_query"), url + "/", jobs.TABLE, f"SHOP#{shop}", "lines", url=url)

    def ls_ms(self, folder):
        return self.time("/bin/ls", "-l", folder).wall_s * 1000

    def grep_ms(self, folder):
        return self.time("/bin/grep", "-r", "-c", "-m1", "COMPLETED", folder).wall_s * 1000
