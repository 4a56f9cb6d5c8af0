"""What the tests of documents share: a folder to mount on."""

import os

import pytest

from harness import mounts


@pytest.fixture
def mountpoint(tmp_path):
    if not os.path.exists("/dev/fuse"):
        pytest.skip("there is no /dev/fuse")
    folder = tmp_path / "mnt"
    folder.mkdir()
    yield str(folder)
    mounts.take_away(folder)
