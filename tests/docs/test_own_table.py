"""docs/guides/your-own-table.md, typed line by line by somebody without a map."""

import re

from harness import mounts, places, runner

GUIDE = places.REPO / "docs/guides/your-own-table.md"


def session():
    """(command, what it prints) of all blocks, one after the other."""
    for block in re.findall(r"```console\n(.*?)```", GUIDE.read_text("utf-8"), re.S):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            yield command, output.strip("\n")


def said_by(command, home, folder):
    """What COMMAND prints, on both streams, to somebody who has ddbfs in the PATH."""
    ddbfs = places.program("DDBFS", "build-asan/fs/ddbfs", "build/fs/ddbfs")
    line = f'ddbfs() {{ "{ddbfs}" "$@"; }}\n{{ {command}\n}} 2>&1'
    environment = home.environment({"TZ": "UTC", "DDBFS_MAP": None})
    done = runner.run(["sh", "-c", line], environment, cwd=folder)
    assert done.code == 0, done
    return done.text.strip("\n")


def test_the_guide_is_typed_line_by_line(home, mountpoint, tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    steps = list(session())
    assert len(steps) > 10 and steps[0][0] == "ddbfs mount /mnt"
    for command, output in steps:
        said = said_by(command.replace("/mnt", mountpoint), home, folder)
        assert said.replace(mountpoint, "/mnt") == output, command
    assert not mounts.is_mounted(mountpoint)
