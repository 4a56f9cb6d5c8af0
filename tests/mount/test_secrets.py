"""No secret leaves the process, whatever source the credentials come from: not into the log at its
most talkative, standard error, /.ddbfs, a command line, or a core file. A source is one row."""

import os
import pathlib
import resource
import signal

import pytest

from harness import machine, mounts, sigv4

SETTINGS = "prod/shops/cool-store.myshopify.com/SETTINGS"
EXPIRES = "2099-01-01T00:00:00Z"

# What each source gives; the proxy knows it. No other text in a test is like them.
KEY = "DEMOSECRETSUITE00001"
SECRET = "suite/secret+key/never-to-be-seen-0001"
TOKEN = "suite-session-token/never+to/be-seen-0002=="


class Source:
    """PREPARE(home, add) writes what the source needs and returns the environment that goes with it; ADD
    starts a fake service. MORE are secrets beside key and token: those that the source itself needs."""

    def __init__(self, prepare, more=(), token=TOKEN):
        self.prepare = prepare
        self.token = token
        self.secrets = [SECRET, *([token] if token else []), *more]


def environment(_home, _add):
    return {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_SESSION_TOKEN": TOKEN}


def profile(home, _add):
    home.credentials.write_text(
        f"[default]\naws_access_key_id = {KEY}\naws_secret_access_key = {SECRET}\n"
        f"aws_session_token = {TOKEN}\n"
    )
    return {}


def profile_without_a_token(home, add):
    profile(home, add)
    home.credentials.write_text(home.credentials.read_text().rpartition("aws_session_token")[0])
    return {}


def given(**more):
    return machine.keys(KEY, SecretAccessKey=SECRET, Token=TOKEN, Expiration=EXPIRES, **more)


SHOWN = "Bearer suite-token+shown/to-the-container-0003"
METADATA_TOKEN = "suite-token/of+the-metadata-service-0004=="


def container(home, add):
    service = add(machine.Container(given()))
    service.token = SHOWN
    home.credentials.write_text("")
    path = home.folder / "token"
    path.write_text(SHOWN)
    return {**service.environment, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": path}


def metadata(home, add):
    home.credentials.write_text("")
    service = add(machine.Machine(given()))
    service.metadata_token = METADATA_TOKEN
    return service.environment


SOURCES = {
    "the environment": Source(environment),
    "a profile": Source(profile),
    "a profile without a token": Source(profile_without_a_token, token=None),
    "a container": Source(container, more=[SHOWN]),
    "a machine": Source(metadata, more=[METADATA_TOKEN]),
}


@pytest.fixture(params=SOURCES)
def source(request, home, proxy, make_map):
    """(the source, its environment, a map whose environments name no profile)"""
    source = SOURCES[request.param]
    started = []

    def add(service):
        started.append(service.__enter__())
        return started[-1]

    proxy.keys[KEY] = sigv4.Key(SECRET, source.token)
    env = source.prepare(home, add)
    text = lambda text: text.replace('"profile": "controller", ', "")  # noqa: E731
    yield source, env, make_map(text)
    for service in started:
        service.__exit__()


def found(source, text):
    """The secrets that TEXT has, also cut, quoted for a URL, or as JSON may write them."""
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
    forms = lambda secret: (secret[:20], secret[-20:], secret.replace("/", "\\/")[:20])  # noqa: E731
    return [secret for secret in source.secrets if any(form.encode() in data for form in forms(secret))]


def command_lines():
    lines = b""
    for entry in pathlib.Path("/proc").iterdir():
        try:
            lines += (entry / "cmdline").read_bytes() if entry.name.isdigit() else b""
        except OSError:
            continue  # it has ended meanwhile
    return lines


FAULTS = ["denied", "expired", "html", "throttle", "reset", "server_error"]


def test_no_secret_in_logs_standard_error_or_the_mounts_own_files(mount, ddbfs, proxy, source):
    source, env, map_file = source
    m = mount("-v", "-v", "-v", map_file=map_file, env=env)
    assert (m / SETTINGS).read_bytes() and proxy.requests[-1].access_key == KEY
    told = ""
    for fault in FAULTS:
        m.refresh()
        proxy.fault(fault, times=None)
        with pytest.raises(OSError):
            (m / SETTINGS).read_bytes()
        for form in ([], ["--json"]):
            result = ddbfs("-v", "-v", "--map", map_file, "cat", *form, f"/{SETTINGS}", env=env, expect=1)
            told += result.stderr + result.text
        proxy.heal()
    for own in sorted(os.listdir(m / ".ddbfs")):
        told += (m / ".ddbfs" / own).read_text("utf-8")
    told += m.log()
    assert "ExpiredTokenException" in told and "AccessDeniedException" in told
    assert not found(source, told)
    assert not found(source, command_lines())


def test_a_refusal_that_quotes_the_request_is_cut(mount, proxy, source):
    """The service's own sentence goes on with the canonical request, and so with the token."""
    source, env, map_file = source
    m = mount("-v", map_file=map_file, env=env)
    canonical = f"x-amz-security-token:{source.token or SECRET}"
    for message in (f"The signature differs.\\n\\n'POST\\n/\\n{canonical}'", f"{canonical} is no good"):
        body = f'{{"__type": "InvalidSignatureException", "message": "{message}"}}'.encode()
        proxy.fault("raw", op="GetItem", times=None, status=400, body=body)
        with pytest.raises(PermissionError):
            (m / SETTINGS).read_bytes()
        proxy.heal()
    assert not found(source, m.log() + m.errors() + m.lines())


def allow_cores():
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))


@pytest.mark.parametrize("number", [signal.SIGQUIT, signal.SIGABRT, signal.SIGSEGV])
def test_no_core_file(ddbfs, proxy, source, tmp_path, number):
    """SIGQUIT unmounts, and the others can't be caught; none leaves a core, wherever cores go."""
    source, env, map_file = source
    root, cores = tmp_path / "mnt", tmp_path / "cores"
    root.mkdir()
    cores.mkdir()
    options = "disable_coredump=0:detect_leaks=0:handle_abort=0:handle_segv=0"
    process = ddbfs.start(
        "mount", "-f", "--map", map_file, root,
        env={**env, "ASAN_OPTIONS": options}, cwd=cores, preexec_fn=allow_cores,
    )  # fmt: skip
    try:
        mounts.wait_until(lambda: process.poll() is not None or mounts.is_mounted(root), "the mount")
        assert (root / SETTINGS).read_bytes(), "it has its credentials"
        process.send_signal(number)
        _, status = os.waitpid(process.pid, 0)
        process.returncode = 0  # it has been waited for
        assert not os.WCOREDUMP(status) and list(cores.iterdir()) == []
        assert os.WIFEXITED(status) or os.WTERMSIG(status) == number
    finally:
        mounts.take_away(root)


