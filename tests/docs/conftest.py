"""What the tests of documents share: a folder to mount on."""

import os

import pytest

from harness import load, mounts, places


@pytest.fixture
def mountpoint(tmp_path):
    if not os.path.exists("/dev/fuse"):
        pytest.skip("there is no /dev/fuse")
    folder = tmp_path / "mnt"
    folder.mkdir()
    yield str(folder)
    mounts.take_away(folder)


@pytest.fixture
def stage(tmp_path):
    """A folder like a clone after the quickstart, where the commands of documents are typed."""
    folder = tmp_path / "stage"
    (folder / "build").mkdir(parents=True)
    (folder / "docs").symlink_to(places.REPO / "docs")
    load.make_demo(folder / "build/demo.ddb")
    return folder
