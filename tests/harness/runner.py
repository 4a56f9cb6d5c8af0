"""Runs ddbfs, and the aws commands it prints, in an environment where nothing leaks in."""

import functools
import os
import secrets
import subprocess

from . import places, resident_aws, resident_ddbfs, servers

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
SANITIZERS = {
    "ASAN_OPTIONS": "detect_leaks=1:abort_on_error=0:handle_sigill=1:exitcode=99",
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1:exitcode=99",
}
REPORTS = ("ERROR: AddressSanitizer", "ERROR: LeakSanitizer", "runtime error:")

CREDENTIALS = """\
[default]
aws_access_key_id = DEMODEFAULTKEY000001
aws_secret_access_key = demo/default+secret/0000001

[controller]
aws_access_key_id = DEMOCONTROLLERKEY001
aws_secret_access_key = demo/controller+secret/0001

[session]
aws_access_key_id = DEMOSESSIONKEY000001
aws_secret_access_key = demo/session+secret/0000001
aws_session_token = demo-session-token/1+2==

[wrong-secret]
aws_access_key_id = DEMOCONTROLLERKEY001
aws_secret_access_key = this/is+not/the+secret

[unknown-key]
aws_access_key_id = DEMOUNKNOWNKEY000001
aws_secret_access_key = nobody/knows+it
"""
CONFIG = """\
[default]
region = us-east-1

[profile controller]
region = us-east-1

[profile session]
region = us-east-1
"""
# The aws of the apt packages does not read AWS_ENDPOINT_URL_DYNAMODB, so that a wrapper passes it on.
REAL_AWS = """\
#!/bin/sh
exec /usr/bin/aws --endpoint-url "$AWS_ENDPOINT_URL_DYNAMODB" "$@"
"""


@functools.lru_cache(maxsize=None)
def resident_shim():
    """The text of an `aws` that runs in one process of this worker, which the first use starts."""
    name = f"ddbfs-aws-{os.getpid()}-{secrets.token_hex(4)}"
    command = ["/usr/bin/python3", resident_aws.__file__, name]
    # Each call brings its environment; what the tester's own one has for the AWS tools must not fail the start.
    own = {"PATH": PATH, "LANG": "C.UTF-8", "HOME": "/nonexistent", "PYTHONDONTWRITEBYTECODE": "1"}
    servers.start_resident(command, env=own)
    return resident_aws.SHIM % {"address": f"\0{name}"}


class Result:
    """What a command left: standard output as bytes, standard error as text, the exit code."""

    def __init__(self, command, done):
        self.command = command
        self.stdout = done.stdout
        self.stderr = done.stderr.decode("utf-8", "replace")
        self.code = done.returncode

    @property
    def text(self):
        return self.stdout.decode("utf-8")

    def __repr__(self):
        return f"{self.command} -> {self.code}\n{self.stdout[:2000]!r}\n{self.stderr[:4000]}"


class Home:
    """A home folder of a test's own, with the AWS tools' files and an environment to match."""

    def __init__(self, folder, endpoint):
        self.folder = folder
        self.endpoint = endpoint
        (folder / ".aws").mkdir(parents=True)
        self.credentials = folder / ".aws" / "credentials"
        self.config = folder / ".aws" / "config"
        self.credentials.write_text(CREDENTIALS, "ascii")
        self.config.write_text(CONFIG, "ascii")
        (folder / "bin").mkdir()
        self.put_aws(resident_shim())

    def put_aws(self, text):
        """Makes TEXT the aws command of this home: the resident one, or REAL_AWS."""
        (self.folder / "bin/aws").write_text(text, "ascii")
        (self.folder / "bin/aws").chmod(0o755)

    def environment(self, changes=None):
        """CHANGES come last; one that is None removes its variable."""
        own = {
            "HOME": str(self.folder),
            "PATH": f"{self.folder}/bin:{PATH}",
            "LANG": "C.UTF-8",
            "AWS_ENDPOINT_URL_DYNAMODB": self.endpoint,
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_REGION": "us-east-1",
            "AWS_PAGER": "",
            "DDBFS_MAP": str(places.DEFAULT_MAP),
            **SANITIZERS,
            **(changes or {}),
        }
        return {name: str(value) for name, value in own.items() if value is not None}


def run(command, environment, stdin=None, timeout_s=60, cwd=None):
    """Fails when a sanitizer has spoken, whatever the exit code was asked for."""
    given = {"input": stdin} if stdin is not None else {"stdin": subprocess.DEVNULL}
    done = subprocess.run(
        command, env=environment, capture_output=True, timeout=timeout_s, cwd=cwd,
        start_new_session=True,  # without the terminal of whoever runs the tests
        **given,
    )  # fmt: skip
    return checked(Result(command, done))


def checked(result):
    assert not any(report in result.stderr for report in REPORTS), result
    return result


def run_ddbfs(command, environment, stdin=None, timeout_s=60, cwd=None):
    """As `run`, in a fork of the resident program where that makes no difference."""
    done = resident_ddbfs.run(command, environment, cwd, timeout_s) if stdin is None else None
    return checked(Result(command, done)) if done else run(command, environment, stdin, timeout_s, cwd)


COMMANDS = ("ls", "cat", "explain", "mount", "check", "map", "policy", "config", "refresh", "log", "init", "umount",
            "diff", "top", "skill", "completion", "help", "sql")  # fmt: skip


def in_order(words):
    """The same command, which reads the pages of a listing one by one, so that a test can count requests, and
    tell pages apart, however slow the machine is; a test that wants it says so itself."""
    words = [os.fspath(word) for word in words]
    reads = next((word for word in words if word in COMMANDS), "") in ("ls", "cat")
    reads = reads and not any(word.startswith("--parallel") for word in words)
    return ["--parallel", "no", *words] if reads else words


class Ddbfs:
    """ddbfs("cat", "/prod/...", env={...}, expect=0). EXPECT None: any exit code is fine."""

    def __init__(self, home, binary=None):
        self.home = home
        self.binary = binary or places.program("DDBFS", "build-asan/fs/ddbfs", "build/fs/ddbfs")

    def __call__(self, *arguments, env=None, expect=0, stdin=None, timeout_s=60, cwd=None):
        command = [str(self.binary), *in_order(arguments)]
        environment = self.home.environment(env)
        result = run_ddbfs(command, environment, stdin, timeout_s, cwd or self.home.folder)
        assert expect is None or result.code == expect, result
        return result

    def start(self, *arguments, env=None, **options):
        """A process that is not waited for, such as one whose reader goes away."""
        command = [str(self.binary), *in_order(arguments)]
        return subprocess.Popen(command, env=self.home.environment(env), **options)


class Shell:
    """Runs a line as a user would who pasted it: `aws` in it asks the endpoint of HOME."""

    def __init__(self, home):
        self.home = home

    def __call__(self, line, env=None, expect=0, timeout_s=60):
        environment = self.home.environment(env)
        result = run(["/bin/sh", "-c", line], environment, None, timeout_s, self.home.folder)
        assert expect is None or result.code == expect, result
        return result
