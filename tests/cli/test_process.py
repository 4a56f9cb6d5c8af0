"""Credentials that a program prints (credential_process): how it is run, what is made of what it prints,
and that it is ended."""

import json
import os
import signal
import subprocess

import pytest
from harness import machine, mounts, signin
from harness.signer import keys


@pytest.fixture
def process(signer, tmp_path):
    """process(script, …) runs ddbfs with a profile x whose process is that shell script."""
    script = tmp_path / "print credentials"
    script.write_text("")
    script.chmod(0o755)
    signer.config.write_text(
        f"[profile x]\nregion = us-east-1\ncredential_process = '{script}' --as 'some one'\n"
    )

    def run(text, *options, env=None):
        script.write_text(f"#!/bin/sh\n{text}\n")
        return signer(*(options or ["--profile", "x"]), env=env)

    return run


def printed(**more):
    members = {"Version": 1, "AccessKeyId": "PROCESS", "SecretAccessKey": "secret/of+it", **more}
    return f"cat <<'END'\n{json.dumps(members)}\nEND"


def agrees(signer, key, env=None):
    assert machine.botocore_key(signer.home.environment(env), "x") == key


def test_who_signs(signer, process):
    assert process(printed(SessionToken="of-the-process")) == "PROCESS"
    assert signer.token() == "of-the-process"
    agrees(signer, "PROCESS")
    assert process(printed(Expiration=signin.instant(3600))) == "PROCESS"
    assert process(printed(), env={"AWS_PROFILE": "x"}) == "PROCESS"


def test_what_the_program_gets(process, tmp_path):
    """Its words, the environment, nothing to read, no descriptor of ours."""
    seen = tmp_path / "seen"
    text = f'( printf "<%s>" "$@" "$MINE" "$(cat)"; ls /proc/self/fd | wc -l ) >{seen}\n'
    assert process(text + printed(), env={"MINE": "a b"}) == "PROCESS"
    assert seen.read_text() == "<--as><some one><a b><>4\n"  # ls itself has one open


# (the value, the words that it is split into, or None where the CLI refuses)
WORDS = [
    ("{p} a 'b c' \"d e\"", ["a", "b c", "d e"]),
    ("{p} a\\ b", ["a b"]),
    ("{p} \"a\\\"b\\c\\$\"", ['a"b\\c\\$']),
    ("{p} 'a\\b'", ["a\\b"]),
    ("{p} '' \"\"", ["", ""]),
    ("{p} a'b'\"c\"", ["abc"]),
    ("{p} $HOME ~ *; echo x | y & # z", ["$HOME", "~", "*;", "echo", "x", "|", "y", "&", "#", "z"]),
    ("{p} 'a", None),
    ("{p} a\\", None),
]  # fmt: skip


@pytest.mark.parametrize("value, words", WORDS, ids=lambda value: str(value)[:30])
def test_words(signer, tmp_path, value, words):
    script, seen = tmp_path / "p", tmp_path / "seen"
    script.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >{seen}\n{printed()}\n')
    script.chmod(0o755)
    signer.config.write_text(
        f"[profile x]\nregion = us-east-1\ncredential_process = {value.format(p=script)}\n"
    )
    found = signer("--profile", "x")
    if words is None:
        assert "a quote without its end, or a backslash" in found and not seen.exists()
        agrees(signer, "")
        return
    assert found == "PROCESS"
    assert seen.read_text() == "".join(word + "\n" for word in words)
    seen.unlink()
    agrees(signer, "PROCESS")
    assert seen.read_text() == "".join(word + "\n" for word in words)


def test_through_path(signer, tmp_path):
    program = signer.home.folder / "bin" / "my-credentials"
    program.write_text(f"#!/bin/sh\n{printed()}\n")
    program.chmod(0o755)
    signer.config.write_text("[profile x]\nregion = r-1\ncredential_process = my-credentials\n")
    assert signer("--profile", "x") == "PROCESS"
    program.chmod(0o644)
    assert "(my-credentials) cannot be run: Permission denied" in signer("--profile", "x")
    program.unlink()
    told = signer("--profile", "x")
    assert "(my-credentials) cannot be run: No such file or directory; install it" in told
    agrees(signer, "")


@pytest.mark.parametrize(
    "text, why",
    [
        ("exit 3", "failed with exit status 3, and printed no error"),
        ("echo no session >&2; exit 1", "failed with exit status 1: no session"),
        ("printf '\\033[31mred\\n\\nrow\\n' >&2; exit 1", "exit status 1: %1B[31mred row"),
        ("kill -9 $$", "was ended by signal 9 (Killed)"),
        ("", "printed no JSON object"),
        ("echo secret/of+it", "printed no JSON object"),
        ("echo '[]'", "printed no JSON object"),
        ("yes secret/of+it", "printed more than 1 MB"),
        (printed() + "\nexit 1", "failed with exit status 1"),
        (printed(Version=2), "Version is not the number 1"),
        (printed(Version="1"), "Version is not the number 1"),
        (printed(AccessKeyId=None), "without a valid AccessKeyId"),
        (printed(SecretAccessKey=""), "without a valid SecretAccessKey"),
        (printed(AccessKeyId="A\r\nX-Evil: b"), "without a valid AccessKeyId"),
        (printed(SessionToken="a b"), "an invalid SessionToken"),
        (printed(Expiration="soon"), "no point in time"),
        (printed(Expiration=signin.instant(-1)), "expired already"),
    ],
    ids=lambda value: str(value)[:40],
)  # fmt: skip
def test_what_is_said(process, text, why):
    told = process(text)
    assert "the credential_process of profile x (" in told and why in told
    assert "secret/of+it" not in told


@pytest.mark.parametrize(
    "options, env, config, credentials, expected",
    [
        (["--profile", "x"], {}, "", f"[x]\n{keys('FILE')}", "FILE"),
        (["--profile", "x"], {}, keys("CONFIG"), "", "PROCESS"),
        ([], {"AWS_PROFILE": "x", "AWS_ACCESS_KEY_ID": "ENV", "AWS_SECRET_ACCESS_KEY": "s"}, "", "",
         "ENV"),
        (["--profile", "x"], {"AWS_ACCESS_KEY_ID": "ENV", "AWS_SECRET_ACCESS_KEY": "s"}, "", "",
         "PROCESS"),
    ],
)  # fmt: skip
def test_its_place_in_the_order(signer, process, options, env, config, credentials, expected):
    signer.config.write_text(signer.config.read_text() + config)
    signer.credentials.write_text(credentials)
    assert process(printed(), *(options or ["-v"]), env=env) == expected


def test_what_it_leaves_behind_may_hold_its_output(process, tmp_path):
    left = tmp_path / "left"
    assert process(f"sleep 600 &\necho $! >{left}\n" + printed()) == "PROCESS"
    os.kill(int(left.read_text()), signal.SIGKILL)


def test_of_a_role_s_source(signer, process):
    """The program is asked, and not the environment: what STS says is another test's affair."""
    told = process("echo asked >&2; exit 1", "--profile", "role")
    assert "profile role" in told
    signer.config.write_text(
        signer.config.read_text()
        + "[profile role]\nregion = us-east-1\nsource_profile = x\n"
        + "role_arn = arn:aws:iam::123456789012:role/r\n"
    )
    assert "exit status 1: asked" in process("echo asked >&2; exit 1", "--profile", "role")


# It ends


def is_running(path):
    return not mounts.has_ended(int(path.read_text()))


SLEEPS = "echo $$ >{pid}.new; mv {pid}.new {pid}; exec sleep 1000"


def test_it_does_not_outlive_the_deadline_of_a_command(process, tmp_path):
    pid = tmp_path / "pid"
    told = process(SLEEPS.format(pid=pid), "--profile", "x", "--timeout", "2")
    assert "there were no credentials in time" in told
    mounts.wait_until(lambda: not is_running(pid), "the program's end")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_it_does_not_outlive_ddbfs(signer, process, tmp_path, number):
    pid, script = tmp_path / "pid", tmp_path / "print credentials"
    script.write_text(f"#!/bin/sh\n{SLEEPS.format(pid=pid)}\n")
    started = signer.ddbfs.start(
        "--profile", "x", "cat", "/any/things/a/b", env=signer.environment(),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        mounts.wait_until(pid.exists, "the program")
        assert is_running(pid)
    finally:
        os.kill(started.pid, number)
        started.wait()
    mounts.wait_until(lambda: not is_running(pid), "the program's end")
