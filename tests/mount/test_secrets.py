"""No secret leaves the process, whatever source the credentials come from: not into the log at its
most talkative, standard error, /.ddbfs, a command line, or a core file. A source is one row."""

import json
import os
import pathlib
import resource
import signal
import time
import types

import pytest

from harness import machine, mounts, services, signin, sigv4

SETTINGS = "prod/shops/cool-store.myshopify.com/SETTINGS"
HOUR_S = 3600
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


class Portal(signin.SignIn):
    """Gives the suite's credentials, and tokens of an hour, to the profile `default`."""

    def __init__(self, home, config):
        super().__init__(home, types.SimpleNamespace(now_s=time.time))
        self.token_lasts_s = self.login_lasts_s = HOUR_S
        self.use(config.replace("profile controller", "default"))

    def new_keys(self, *_):
        self.number += 1
        return KEY, SECRET, TOKEN


# Of the token in the file, and of the one that it is refreshed to.
OF_SSO = ["token-1-of-the-portal", "refresh-1-of-the-token", "the-secret-of-the-client",
          "token-2-of-the-portal", "refresh-2-of-the-token"]  # fmt: skip
OF_LOGIN = ["refresh-1-of-the-session", "refresh-2-of-the-session"]
SESSION_KEY = """\
-----BEGIN EC PRIVATE KEY-----
MHcCAQEEIK36+pMJjpx51GYrdSO3XI4iudYZtQ3wExj0DgGLspeXoAoGCCqGSM49
AwEHoUQDQgAEm/V9golapTtOsmawIARBeowwSAUSBafB2DkEBsMpmi4Kp0vDq8Tu
M9qq8YCS5LBZGXD00G/JCr9O1XaJrFgkSA==
-----END EC PRIVATE KEY-----
"""


def sso(home, add):
    portal = add(Portal(home, signin.SSO_SESSION))
    portal.sign_in(600)
    return portal.environment


def login(home, add):
    portal = add(Portal(home, signin.LOGIN))
    key = home.folder / "session-key.pem"
    key.write_text(SESSION_KEY)
    portal.open_session(key, 240)
    return portal.environment


def process(home, _add):
    """It says the secret on standard error, too, which is shown when it fails; here it does not."""
    given = {"Version": 1, "AccessKeyId": KEY, "SecretAccessKey": SECRET, "SessionToken": TOKEN}
    (home.folder / "given").write_text(json.dumps(given))
    home.credentials.write_text("")
    home.config.write_text(
        "[default]\nregion = us-east-1\ncredential_process = "
        f"sh -c 'cat {home.folder}/given; cat {home.folder}/given >&2'\n"
    )
    return {}


BASE_SECRET = "suite-secret/of+who-signs/for-the-role-0005"
WEB_TOKEN = "eyJzdWl0ZSI6InRva2VuIn0.of-the-web-identity_0006"


def sts(add):
    def answer(request):
        action = request.form()["Action"]
        keys = {"AccessKeyId": KEY, "SecretAccessKey": SECRET, "SessionToken": TOKEN, "Expiration": 4e9}
        return 200, {f"{action}Response": {f"{action}Result": {"Credentials": keys}}}

    return {"AWS_ENDPOINT_URL_STS": add(services.Service(answer)).url}


ROLE = "[default]\nregion = us-east-1\nrole_arn = arn:aws:iam::123456789012:role/reader\n"


def role(home, add):
    home.config.write_text(f"{ROLE}source_profile = base\n")
    home.credentials.write_text(
        f"[base]\naws_access_key_id = BASE\naws_secret_access_key = {BASE_SECRET}\n"
    )
    return sts(add)


def web_identity(home, add):
    path = home.folder / "token"
    path.write_text(WEB_TOKEN)
    home.config.write_text(f"{ROLE}web_identity_token_file = {path}\n")
    home.credentials.write_text("")
    return sts(add)


SOURCES = {
    "the environment": Source(environment),
    "a profile": Source(profile),
    "a role": Source(role, [BASE_SECRET]),
    "web identity": Source(web_identity, [WEB_TOKEN]),
    "a profile without a token": Source(profile_without_a_token, token=None),
    "a program": Source(process),
    "a container": Source(container, more=[SHOWN]),
    "a machine": Source(metadata, more=[METADATA_TOKEN]),
    "sso": Source(sso, more=OF_SSO),
    "aws login": Source(login, more=OF_LOGIN + SESSION_KEY.splitlines()[1:-1]),
}


FILES = (environment, profile, profile_without_a_token)  # which nobody is asked for


@pytest.fixture
def services_of_source():
    """The services that the source has started; they are ended after the test."""
    started = []
    yield started
    for service in started:
        service.__exit__()


@pytest.fixture(params=SOURCES)
def source(request, home, proxy, make_map, services_of_source):
    """(the source, its environment, a map whose environments name no profile)"""
    source = SOURCES[request.param]

    def add(service):
        services_of_source.append(service.__enter__())
        return services_of_source[-1]

    proxy.keys[KEY] = sigv4.Key(SECRET, source.token)
    env = source.prepare(home, add)
    text = lambda text: text.replace('"profile": "controller", ', "")  # noqa: E731
    return source, env, make_map(text)


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
    env = {**env, "AWS_MAX_ATTEMPTS": "2"}
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
    for form in ([], ["--json"]):
        told += ddbfs("-v", "-v", "config", *form, map_file, env=env, expect=None).text
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


def quote(request):
    """A refusal by somebody who shows all that was sent."""
    sent = f"{request.headers} {request.body.decode()} {request.query}"
    return 400, {"message": sent, "error_description": sent, "code": "NotToday"}


ASKED = [name for name, each in SOURCES.items() if each.prepare not in FILES]


@pytest.mark.parametrize("source", ASKED, indirect=True)
def test_what_a_service_quotes_is_not_shown(mount, proxy, source, services_of_source):
    """Of those that give credentials."""
    source, env, map_file = source
    m = mount("-v", "-v", map_file=map_file, env=env)
    for service in services_of_source:
        getattr(service, "service", service).answer = quote
    proxy.fault("expired", times=None)
    for _ in range(2):
        with pytest.raises(OSError):
            (m / SETTINGS).read_bytes()
    assert not found(source, m.log() + m.errors() + m.lines())


def allow_cores():
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))


@pytest.mark.parametrize("source", list(SOURCES)[:1], indirect=True)
@pytest.mark.parametrize("number", [signal.SIGQUIT, signal.SIGABRT, signal.SIGSEGV])
def test_no_core_file(ddbfs, proxy, source, tmp_path, number):
    ends_without_core(ddbfs, source, tmp_path, number)


@pytest.mark.long
@pytest.mark.parametrize("source", list(SOURCES)[1:], indirect=True)
@pytest.mark.parametrize("number", [signal.SIGQUIT, signal.SIGABRT, signal.SIGSEGV])
def test_no_core_file_with_credentials_of_any_source(ddbfs, proxy, source, tmp_path, number):
    ends_without_core(ddbfs, source, tmp_path, number)


def ends_without_core(ddbfs, source, tmp_path, number):
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




# Memory.


def memory_of(pid):
    """All that the process may write to, as root sees it; but the stack, where the dynamic linker and
    signals put registers, which nobody can wipe (docs/internals/aws-call.md)."""
    found = []
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps, open(f"/proc/{pid}/mem", "rb") as memory:
        for line in maps:
            where, rights, *_ = line.split()
            if not rights.startswith("rw") or "[v" in line or "[stack" in line:
                continue
            first, last = (int(part, 16) for part in where.split("-"))
            try:
                memory.seek(first)
                found.append(memory.read(last - first))
            except OSError:
                continue
    return b"".join(found)


def is_there(memory, text):
    return text.encode() in memory


@pytest.mark.parametrize("config", [signin.SSO_SESSION, signin.LOGIN], ids=["sso", "aws login"])
def test_no_memory_keeps_what_has_been_used(ddbfs_release, home, proxy, clock, tmp_path, config):
    """Of a mount whose credentials were renewed, those in use are there, and nothing else: no others, and
    no token that they were had with."""
    with signin.SignIn(home, proxy) as portal:
        portal.use(config)
        key_file = signin.make_key(tmp_path / "session-key.pem")
        if config is signin.SSO_SESSION:
            portal.sign_in(2 * HOUR_S)
        else:
            portal.open_session(key_file)
        env = {**portal.environment, **clock.env}
        m = mounts.Mount(ddbfs_release, tmp_path / "m", proxy, env=env).wait_ready()
        try:
            for _ in range(3):
                clock.passes(8 * HOUR_S)
                m.refresh()
                assert (m / SETTINGS).read_bytes()
            memory = memory_of(m.pid)
        finally:
            m.clean_up()
    in_use = proxy.keys.pop(proxy.requests[-1].access_key)
    assert is_there(memory, in_use.secret) and is_there(memory, in_use.token)
    secrets = [text for key in proxy.keys.values() for text in (key.secret, key.token) if text]
    secrets += [f"token-{n}-of-the-portal" for n in range(1, portal.number + 1)]
    for n in range(1, portal.number + 1):
        secrets += [f"refresh-{n}-of-the-token", f"refresh-{n}-of-the-session"]
    secrets += ["the-secret-of-the-client", *key_file.read_text().splitlines()[1:-1]]
    assert [secret for secret in secrets if is_there(memory, secret)] == []
