"""A mount whose profile assumes a role: the code of a device is typed before it goes to the background, and
a session that is over is mended by the command that the error names."""

import errno
import os
import shutil

import pytest

from harness import mounts, sigv4, sts as stss, terminal

SETTINGS = "prod/shops/cool-store.myshopify.com/SETTINGS"
MFA = f"""\
[profile controller]
region = us-east-1
role_arn = {stss.ARN}reader
source_profile = base
mfa_serial = arn:aws:iam::123456789012:mfa/me
"""
BASE = "[base]\naws_access_key_id = BASE\naws_secret_access_key = secret/of+it\n"


@pytest.fixture
def sts(home, proxy):
    def know(key, secret, token):
        proxy.keys[key] = sigv4.Key(secret, token)

    home.credentials.write_text(BASE)
    home.config.write_text(MFA)
    with stss.Sts(know=know) as started:
        yield started


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "root"
    folder.mkdir()
    yield folder
    mounts.take_away(folder)


@pytest.mark.parametrize("how", [[], ["-f"]])
def test_a_code_is_typed_before_the_mount(ddbfs, home, sts, proxy, root, how):
    sts.codes = {"987650"}
    environment = home.environment(sts.environment)
    command = [ddbfs.binary, "mount", *how, "--map", home.environment()["DDBFS_MAP"], str(root)]
    with terminal.Terminal(command, environment) as t:
        t.wait_for("Enter MFA code for arn:aws:iam::123456789012:mfa/me: ")
        assert not mounts.is_mounted(root)
        t.type("987650\n")
        mounts.wait_until(lambda: mounts.is_mounted(root) or t.process.poll(), "the mount")
        assert (root / SETTINGS).read_bytes()
        assert t.echoes()
        mounts.take_away(root)
        assert t.end() == 0, t.stderr
    assert {request.access_key for request in proxy.requests} == {"ASIAREADER1"}
    assert sts.asked() == [("AssumeRole", "reader", "BASE")]


def test_a_wrong_code_is_told_and_nothing_is_mounted(ddbfs, home, sts, root):
    with terminal.Terminal([ddbfs.binary, "mount", str(root)], home.environment(sts.environment)) as t:
        t.wait_for("Enter MFA code")
        t.type("000000\n")
        assert t.end() == 1
    assert "MultiFactorAuthentication failed" in t.stderr
    assert not mounts.is_mounted(root)


def test_a_session_that_is_over_is_mended_by_the_command_that_is_named(mount, home, sts, proxy, clock):
    """The AWS CLI asks for a code, and keeps what it got; botocore does so in its place."""
    sts.codes = {"987650", "987651"}
    assert stss.botocore_key(home, sts, "controller", code="987650") == "ASIAREADER1"
    m = mount(env={**sts.environment, **clock.env})
    assert (m / SETTINGS).read_bytes()
    assert proxy.requests[-1].access_key == "ASIAREADER1"
    clock.passes(5 * 3600)
    m.refresh()
    with pytest.raises(OSError) as failed:
        (m / SETTINGS).read_bytes()
    assert failed.value.errno == errno.EKEYEXPIRED
    assert "run aws sts get-caller-identity --profile controller" in m.errors()
    shutil.rmtree(home.folder / ".aws" / "cli")  # whose clock is another one
    sts.lasts_s = 12 * 3600
    assert stss.botocore_key(home, sts, "controller", code="987651") == "ASIAREADER2"
    m.refresh()
    assert (m / SETTINGS).read_bytes()
    assert proxy.requests[-1].access_key == "ASIAREADER2"
    assert os.listdir(m / "prod")
