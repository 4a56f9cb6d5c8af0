"""Plays random operations on a mount and holds what it sees against the model."""

import contextlib
import errno
import json
import os
import random
import time

from mount_model import dirstream, things
from mount_model.model import Look, Thing

BOX = "b1"
SIZES = (0, 10, 1000, 5000, 70_000, 250_000)

# What an injected fault may be called; "not there" is not among them.
FAULT_ERRNOS = {errno.EAGAIN, errno.EIO, errno.ECONNRESET, errno.ETIMEDOUT}
PRESENT = object()
STALE = object()


def read_file(path):
    """Its bytes and its size. By plain read(2): Python takes EAGAIN for the end of a file."""
    fd = os.open(path, os.O_RDONLY)
    try:
        parts = []
        while part := os.read(fd, 1 << 20):
            parts.append(part)
        return b"".join(parts), os.fstat(fd).st_size
    finally:
        os.close(fd)


class World:
    """The table, the mount and the proxy before it, and everything that ever was in the table."""

    def __init__(self, boto, table, mount, proxy):
        self.boto = boto
        self.table = table
        self.mount = mount
        self.proxy = proxy
        self.things = {name: Thing(BOX, name) for name in things.NASTY}
        self.views = [f"m/things/{BOX}", f"m/things/by-tag/{BOX}"]
        self.files = {}  # view -> key -> name of its file

    def put(self, thing, version, payload):
        item = things.typed(thing.box, thing.name, version, payload)
        thing.change(version, lambda: self.boto.put_item(TableName=self.table, Item=item))

    def delete(self, thing):
        key = things.key(thing.box, thing.name)
        thing.change(None, lambda: self.boto.delete_item(TableName=self.table, Key=key))

    def learn_names(self):
        """Each record tells the key that its file's name stands for. No two share a name."""
        for thing in self.things.values():
            self.put(thing, 0, "")
        for view in self.views:
            folder = self.mount / view
            pairs = {things.read_plain((folder / f).read_bytes())[0]: f for f in self.listed(view)}
            assert pairs.keys() == self.things.keys()
            self.files[view] = pairs

    def listed(self, view):
        return [name for name in os.listdir(self.mount / view) if name != "README"]

    def key_of(self, view, file):
        return next(key for key, name in self.files[view].items() if name == file)


class Player:
    """One reader and writer. SEED decides all that it does, but not when."""

    def __init__(self, world, seed, alone=True):
        self.world = world
        self.random = random.Random(seed)
        self.alone = alone
        self.faulty = False
        self.held = []  # open files: (thing, descriptor, version, the first bytes)
        self.counts = {}
        self.version = self.random.randrange(10**9)

    # What is done, and how often.

    OPERATIONS = {
        "stat": 12,
        "read_whole": 16,
        "read_pieces": 8,
        "read_companion": 6,
        "list": 6,
        "scan": 5,
        "seek": 5,
        "hold": 6,
        "let_go": 6,
        "write": 14,
        "delete": 6,
        "refresh": 4,
        "refresh_all": 1,
        "wait": 4,
        "fault": 5,
    }

    def step(self):
        operation = self.random.choices(*zip(*self.OPERATIONS.items()))[0]
        self.counts[operation] = self.counts.get(operation, 0) + 1
        with self.faults():
            getattr(self, operation)()

    @contextlib.contextmanager
    def faults(self):
        """An operation that met an injected fault may fail, but only with an errno of its own."""
        faulty = self.faulty
        try:
            yield
        except OSError as problem:
            told = f"{errno.errorcode.get(problem.errno)} {problem}"
            assert faulty and problem.errno in FAULT_ERRNOS, told
        if faulty:
            self.world.proxy.heal()
            self.faulty = False

    def pick(self):
        view = self.random.choice(self.world.views)
        thing = self.world.things[self.random.choice(things.NASTY)]
        return view, thing, self.world.mount / view / self.world.files[view][thing.name]

    def look(self, thing, see):
        """What SEE gives, or None for "not there", is what the model allows."""
        with Look() as look:
            try:
                version = see()
            except FileNotFoundError:
                version = None
            except OSError as problem:
                if problem.errno != errno.ESTALE:
                    raise
                version = STALE
        if version is STALE:  # the bytes were dropped, and a newer version has come
            allowed = thing.allowed(look.began, look.ended, things.TTL_S)
            assert len(allowed) > 1, "stale: " + thing.describe(look.began, look.ended)
        elif version is PRESENT:  # seen to exist, without its version
            allowed = thing.allowed(look.began, look.ended, things.TTL_S)
            assert allowed - {None}, "is there: " + thing.describe(look.began, look.ended)
        else:
            look.judge(thing, version, things.TTL_S)
        return version

    def check(self, thing, content, read=things.read_plain):
        name, version = read(content)
        assert name == thing.name
        return version

    # Looking.

    def stat(self):
        _, thing, path = self.pick()

        def see():
            stat = os.stat(path)
            assert stat.st_size > 0 and stat.st_nlink == 1 and stat.st_mode & 0o777 == 0o444
            return PRESENT

        self.look(thing, see)

    def read_whole(self):
        _, thing, path = self.pick()

        def see():
            content, size = read_file(path)
            assert size == len(content)
            return self.check(thing, content)

        self.look(thing, see)

    def read_pieces(self):
        """In any order, some of them twice."""
        _, thing, path = self.pick()

        def see():
            fd = os.open(path, os.O_RDONLY)
            try:
                return self.check(thing, self.pieces(fd))
            finally:
                os.close(fd)

        self.look(thing, see)

    def pieces(self, fd):
        size, piece = os.fstat(fd).st_size, self.random.choice((777, 4096, 65_536))
        content = bytearray(size)
        offsets = list(range(0, size, piece))
        for offset in self.random.sample(offsets, len(offsets)) + offsets[:1]:
            end = min(offset + piece, size)
            while offset < end:  # what the kernel has comes first, and an error behind it
                got = os.pread(fd, end - offset, offset)
                assert got, f"{size} bytes were promised, and at {offset} nothing comes"
                content[offset : offset + len(got)] = got
                offset += len(got)
        assert os.pread(fd, 10, size) == b""
        return bytes(content)

    def read_companion(self):
        _, thing, path = self.pick()
        which = self.random.choice(("@typed", "@/version", "@/payload"))

        def see():
            content, _ = read_file(f"{path}{which}")
            if which == "@typed":
                return self.check(thing, content, things.read_typed)
            return int(content) if which == "@/version" else PRESENT

        self.look(thing, see)

    # Listing.

    def judge_listing(self, view, look, names):
        assert len(names) == len(set(names)), f"twice in {view}: {sorted(names)}"
        seen = {self.world.key_of(view, name) for name in names}
        look.judge_listing(self.world.things.values(), seen, things.TTL_S)

    def list(self):
        view = self.random.choice(self.world.views)
        with Look() as look:
            names = self.world.listed(view)
        self.judge_listing(view, look, names)

    def scan(self):
        """A listing, and a stat of what it gave: each is there, or was a moment ago."""
        view = self.random.choice(self.world.views)
        with Look() as look, os.scandir(self.world.mount / view) as scan:
            entries = [entry for entry in scan if entry.name != "README"]
        self.judge_listing(view, look, [entry.name for entry in entries])
        for entry in self.random.sample(entries, min(5, len(entries))):
            thing = self.world.things[self.world.key_of(view, entry.name)]
            self.look(thing, lambda entry=entry: os.stat(entry.path) and PRESENT)

    def seek(self):
        """Positions stay valid as long as the directory is open, whatever changes meanwhile."""
        view = self.random.choice(self.world.views)
        with Look() as look, dirstream.DirStream(self.world.mount / view) as stream:
            positions, names = self.read_stream(stream)
            if self.random.random() < 0.3 and self.alone:
                self.write()
            if names:
                at = self.random.randrange(len(names))
                stream.seek(positions[at])
                assert stream.rest() == [n for n in names[at:] if n not in (b".", b"..")]
            stream.rewind()
            again = stream.rest()
        names = [name for name in names if name not in (b".", b"..")]
        assert again == names
        self.judge_listing(view, look, [os.fsdecode(n) for n in names if n != b"README"])

    def read_stream(self, stream):
        positions, names = [stream.tell()], []
        while (name := stream.next()) is not None:
            names.append(name)
            positions.append(stream.tell())
        return positions, names

    # Holding a file open across whatever comes.

    def hold(self):
        _, thing, path = self.pick()
        fds = []

        def see():
            fds.append(os.open(path, os.O_RDONLY))
            return PRESENT

        if self.look(thing, see) is not PRESENT:
            return
        size = self.random.choice((0, 16, 5000))
        try:
            start = os.pread(fds[0], size, 0)
        except OSError as problem:
            os.close(fds[0])
            if problem.errno != errno.ESTALE:
                raise
            return
        self.held.append((thing, fds[0], start))

    def let_go(self):
        """To its end it is one version, and the one that it began as; or it is stale."""
        if not self.held:
            return
        thing, fd, start = self.held.pop(self.random.randrange(len(self.held)))
        try:
            content = self.pieces(fd)
            version = self.check(thing, content)
            assert content.startswith(start)
            assert version in {span.version for span in thing.spans}
        except OSError as problem:
            if problem.errno != errno.ESTALE:
                raise
        finally:
            os.close(fd)

    # Changing.

    def write(self):
        _, thing, _ = self.pick()
        with thing.lock:
            self.version += 1
            self.world.put(thing, self.version, "p" * self.random.choice(SIZES))

    def delete(self):
        _, thing, _ = self.pick()
        with thing.lock:
            self.world.delete(thing)

    # Time, refresh, faults.

    def wait(self):
        time.sleep(self.random.uniform(0, things.TTL_S * 1.3))

    def refresh(self):
        """Nothing from before is seen afterwards, at this path."""
        view, thing, path = self.pick()
        if not self.alone:
            return
        began = time.monotonic()
        self.world.mount.refresh(path.relative_to(self.world.mount.root))
        with Look() as look:
            try:
                version = self.check(thing, read_file(path)[0])
            except FileNotFoundError:
                version = None
        seen = [s.version for s in thing.spans if s.ended >= began and s.began <= look.ended]
        assert version in seen, f"after refresh: {version} {thing.describe(began, look.ended)}"

    def refresh_all(self):
        if not self.alone:
            return
        began = time.monotonic()
        self.world.mount.refresh()
        for thing in self.world.things.values():
            thing.refreshed = began

    def fault(self):
        """The next operation meets it: once, so that a retry helps, or for as long as it takes."""
        if not self.alone:
            return
        kind = self.random.choice(("throttle", "server_error", "reset"))
        op = self.random.choice((None, "Query", "GetItem", "BatchGetItem"))
        self.world.proxy.fault(kind, op=op, times=self.random.choice((1, 3, None)))
        self.faulty = True

    def finish(self):
        self.world.proxy.heal()
        self.faulty = False
        while self.held:
            self.let_go()

    def summary(self):
        return json.dumps(dict(sorted(self.counts.items())))
