"""The defects to put back (tests/sim/defects) fit the present tree."""

import subprocess

from harness import places


def test_every_defect_applies():
    patches = sorted((places.REPO / "tests/sim/defects").glob("*.patch"))
    assert patches
    refused = [
        patch.name
        for patch in patches
        if subprocess.run(["git", "apply", "--check", patch], cwd=places.REPO, capture_output=True).returncode != 0
    ]
    assert refused == []
