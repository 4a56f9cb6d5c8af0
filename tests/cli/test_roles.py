"""Assumed roles and web identity: what STS is asked, compared with botocore, what is kept for both, and
what is said when it fails."""

import hashlib
import json
import random
import shutil
import signal
import stat

import pytest
from harness import services, signin, sigv4, sts as stss, terminal
from harness.signer import key_of, keys

ARN = stss.ARN
ROLE = f"role_arn = {ARN}reader\n"
SOURCE = f"[profile p]\n{ROLE}source_profile = base\n[profile base]\n{keys('BASE')}"
ENV_KEYS = {"AWS_ACCESS_KEY_ID": "ENV", "AWS_SECRET_ACCESS_KEY": "secret/of+it"}


@pytest.fixture
def sts():
    base = {name: sigv4.Key("secret/of+it") for name in ("BASE", "ENV", "OWN", "OTHER")}
    with stss.Sts(base) as started:
        yield started


@pytest.fixture
def run(signer, sts):
    """run(config, *options, env=…) -> the key that signed, or the message."""

    def run(config, *options, env=None):
        signer.config.write_text(config)
        return signer(*(options or ("--profile", "p")), env={**sts.environment, **(env or {})})

    return run


@pytest.fixture
def fails(run, sts):
    def check(config, *parts, env=None, options=()):
        told = run(config, *options, env=env)
        assert all(part in told for part in parts), told
        assert "secret/of" not in told and "token-of" not in told
        return told

    return check


def forget(home):
    shutil.rmtree(home.folder / ".aws" / "cli", ignore_errors=True)


def test_a_role(run, sts, signer):
    assert run(SOURCE) == "ASIAREADER1"
    assert signer.token() == "token-of-ASIAREADER1=="
    [request] = sts.requests
    assert request.method == "POST" and request.path == "/"
    form = request.form()
    assert form.pop("RoleSessionName").startswith("ddbfs-session-")
    assert form == {"Action": "AssumeRole", "Version": "2011-06-15", "RoleArn": f"{ARN}reader"}
    [(name, content)] = stss.kept(signer.home).items()
    assert content["Credentials"]["AccessKeyId"] == "ASIAREADER1"
    assert content["Credentials"]["AccountId"] == stss.ACCOUNT
    path = signer.home.folder / ".aws" / "cli" / "cache" / name
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_credentials_are_kept_for_the_next_run(run, sts):
    assert run(SOURCE) == run(SOURCE) == "ASIAREADER1"
    assert len(sts.asked()) == 1


def test_config_tells_where_they_are_from(signer, sts):
    signer.config.write_text(SOURCE)
    result = signer.ddbfs("--profile", "p", "config", "--json", env=signer.environment(sts.environment))
    told = json.dumps(json.loads(result.text))
    assert "assume-role" in told and "config [profile p]" in told and stss.ACCOUNT in told
    assert "secret/of" not in told and "token-of" not in told


# Sources. Each: the config, environment, options, and who is asked for what.

P = "[profile p]\n"
CHAIN = (
    f"[profile p]\n{ROLE}source_profile = b\n[profile b]\nrole_arn = {ARN}b\nsource_profile = base\n"
    f"[profile base]\n{keys('BASE')}"
)
ASKED = [
    ("another profile", SOURCE, {}, [("reader", "BASE")]),
    ("a profile of the credentials file's keys", f"{P}{ROLE}source_profile = file\n", {}, [("reader", "BASE")]),
    ("a chain", CHAIN, {}, [("b", "BASE"), ("reader", "ASIAB1")]),
    ("itself", f"{P}{ROLE}source_profile = p\n{keys('OWN')}", {}, [("reader", "OWN")]),
    ("the environment", f"{P}{ROLE}credential_source = Environment\n", ENV_KEYS, [("reader", "ENV")]),
    ("keys stop a chain",
     f"{P}{ROLE}source_profile = b\n[profile b]\nrole_arn = never\nsource_profile = p\n{keys('OTHER')}",
     {}, [("reader", "OTHER")]),
    ("the environment's keys do not sign for a profile", SOURCE, ENV_KEYS, [("reader", "BASE")]),
]  # fmt: skip


@pytest.mark.parametrize("config, env, asked", [case[1:] for case in ASKED], ids=[case[0] for case in ASKED])
def test_who_signs_for_the_role(run, sts, signer, config, env, asked):
    signer.credentials.write_text(f"[file]\n{keys('BASE')}")
    assert run(config, env=env).startswith("ASIAREADER")
    want = [("AssumeRole", role, key) for role, key in asked]
    assert sts.asked() == want
    forget(signer.home)
    sts.number = 0
    assert stss.botocore_key(signer.home, sts, "p", env=env).startswith("ASIAREADER")
    assert sts.asked() == want


def test_keys_of_the_environment_go_before_a_role(run, sts):
    assert run(SOURCE, "-v", env={**ENV_KEYS, "AWS_PROFILE": "p"}) == "ENV"
    assert sts.asked() == []


def test_sts_is_that_of_the_wanted_profile(run, sts, signer):
    """Its region and endpoint, and not those of the profile that signs."""
    other = services.Service(lambda _: (500, ""))
    config = SOURCE.replace(ROLE, f"{ROLE}region = eu-west-1\n") + f"region = r\nendpoint_url = {other.url}\n"
    assert run(config, env={"AWS_REGION": None}) == "ASIAREADER1"
    assert "/eu-west-1/sts/aws4_request" in sts.requests[0].headers["authorization"]
    config = config.replace("eu-west-1\n", f"eu-west-1\nendpoint_url = {sts.url}\n")
    forget(signer.home)
    assert run(config, env={"AWS_REGION": None, "AWS_ENDPOINT_URL_STS": None}) == "ASIAREADER2"
    other.server.server_close()


WRONG = [
    (f"{P}{ROLE}", "no keys to sign with"),
    (f"{P}{ROLE}source_profile = base\ncredential_source = Environment\n", "has both source_profile and"),
    (f"{P}{ROLE}source_profile = none\n", "source_profile none, which is in neither"),
    (f"{P}{ROLE}source_profile = p\n", "goes in a circle: p -> p;"),
    (f"{CHAIN}".replace("source_profile = base", "source_profile = p"), "in a circle: p -> b -> p;"),
    (f"{P}{ROLE}credential_source = Nowhere\n", "which is not one of Environment"),
    (f"{P}{ROLE}credential_source = Environment\n", "set AWS_ACCESS_KEY_ID"),
    (f"{P}{ROLE}credential_source = EcsContainer\n", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"),
    (f"{P}{ROLE}credential_source = Ec2InstanceMetadata\n", "not an EC2 machine"),
    (f"{P}{ROLE}source_profile = b\n[profile b]\nregion = r\n", "profile b, which is the source_profile"),
    (f"{P}role_arn =\nsource_profile = base\n[profile base]\n{keys('BASE')}", "does not name the role"),
]  # fmt: skip


@pytest.mark.parametrize("config, why", WRONG)
def test_profiles_that_make_no_sense(fails, sts, signer, config, why):
    fails(config, why)
    assert stss.botocore_key(signer.home, sts, "p") == ""
    assert sts.asked() == []


# botocore is asked the same.


def some_profile(rng, name, last):
    lines = [f"[profile {name}]", f"role_arn = {ARN}{rng.choice(['reader', 'path/of/it', 'a_b+c=d,e.f@g-h'])}"]
    if rng.random() < 0.5:
        lines.append(f"role_session_name = {rng.choice(['me', 'me@home', 'x=y,z.+-_'])}")
    if rng.random() < 0.5:
        lines.append("external_id = " + rng.choice(["xy", "a/b:c", "of=it+and@more", "12345", "x-y_z.,"]))
    if rng.random() < 0.5:
        lines.append(f"duration_seconds = {rng.choice(['900', '3600', '+1800', '00901', 'soon', '1.5e3'])}")
    if rng.random() < 0.3:
        lines.append(f"mfa_serial = arn:aws:iam::123456789012:mfa/{rng.choice(['me', 'x@y'])}")
    if rng.random() < 0.3:
        lines.append("region = eu-west-1")
    source = rng.choice(["Environment", "base", *([] if last else ["next"])])
    if source == "Environment":
        lines.append("credential_source = Environment")
    else:
        lines.append(f"source_profile = {f'{name}x' if source == 'next' else source}")
    return "\n".join(lines) + "\n", source == "next"


def some_config(seed):
    rng = random.Random(seed)
    text, name, more = f"[profile base]\n{keys('BASE')}", "p", True
    while more:
        profile, more = some_profile(rng, name, len(name) > 2)
        text += profile
        name += "x"
    return text


def forms(sts):
    """What was asked, but for names of sessions that nobody has chosen, and keys that are counted."""
    told = []
    for request in sts.requests:
        form = request.form()
        if form["RoleSessionName"].split("-session-")[0] in ("ddbfs", "botocore"):
            form["RoleSessionName"] = "session"
        told.append((form, (key_of(request) or "").rstrip("0123456789")))
    sts.requests.clear()
    return told


@pytest.mark.parametrize("seed", range(16))
def test_botocore_asks_the_same_and_keeps_the_same(run, sts, signer, seed):
    config = some_config(seed)
    if "mfa_serial" in config:
        config = "".join(line for line in config.splitlines(True) if "mfa_serial" not in line)
    assert run(config, env=ENV_KEYS).startswith("ASIA"), config
    own, own_names = forms(sts), set(stss.kept(signer.home))
    assert stss.botocore_key(signer.home, sts, "p", env=ENV_KEYS).startswith("ASIA"), config
    assert forms(sts) == [], config  # it uses what ddbfs has kept
    forget(signer.home)
    assert stss.botocore_key(signer.home, sts, "p", env=ENV_KEYS).startswith("ASIA"), config
    assert forms(sts) == own, config
    assert set(stss.kept(signer.home)) == own_names, config
    assert run(config, env=ENV_KEYS).startswith("ASIA"), config
    assert forms(sts) == [], config  # and the other way round


# Web identity.

TOKEN = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJwb2QifQ.of-the-web_identity"


@pytest.fixture
def token(tmp_path, sts):
    path = tmp_path / "token"
    path.write_text(TOKEN)
    sts.tokens = {TOKEN: f"{ARN}reader"}
    return path


def web(token):
    return f"{P}{ROLE}web_identity_token_file = {token}\nrole_session_name = pod\n"


def test_web_identity_of_a_profile(run, sts, signer, token):
    assert run(web(token)) == "ASIAREADER1"
    [request] = sts.requests
    assert "authorization" not in request.headers
    own = request.form()
    assert own["WebIdentityToken"] == TOKEN and own["RoleSessionName"] == "pod"
    sts.requests.clear()
    assert stss.botocore_key(signer.home, sts, "p") == "ASIAREADER1"  # it was kept
    forget(signer.home)
    assert stss.botocore_key(signer.home, sts, "p") == "ASIAREADER2"
    assert sts.requests[0].form() == own
    assert run(web(token)) == "ASIAREADER2"


def variables(token, role="reader"):
    return {"AWS_WEB_IDENTITY_TOKEN_FILE": token, "AWS_ROLE_ARN": f"{ARN}{role}"}


OTHERS = f"[profile p]\n{keys('OTHER')}"


def test_web_identity_of_the_environment(run, sts, signer, token):
    signer.credentials.write_text(f"[default]\n{keys('OTHER')}")
    assert run("", "-v", env=variables(token)) == "ASIAREADER1"
    assert run("", "-v", env={**variables(token), **ENV_KEYS}) == "ENV"
    sts.requests.clear()


def test_it_goes_before_a_profiles_keys_unless_an_option_names_that(run, sts, token):
    env = variables(token)
    assert run(OTHERS, "-v", env={**env, "AWS_PROFILE": "p"}) == "ASIAREADER1"
    assert run(OTHERS, env=env) == "OTHER"


def test_a_profiles_role_goes_before_a_token(run, sts, token):
    assert run(SOURCE, "-v", env={**variables(token, "pod"), "AWS_PROFILE": "p"}) == "ASIAREADER1"
    assert sts.asked() == [("AssumeRole", "reader", "BASE")]


def test_a_token_signs_for_a_role(run, sts, token):
    sts.tokens = {TOKEN: f"{ARN}pod"}
    pod = web(token).replace("profile p", "profile pod").replace("/reader", "/pod")
    assert run(f"{P}{ROLE}source_profile = pod\n{pod}") == "ASIAREADER2"
    assert [asked[1:] for asked in sts.asked()] == [("pod", None), ("reader", "ASIAPOD1")]


@pytest.mark.parametrize("how", ["missing", "empty", "directory"])
def test_tokens_that_are_none(fails, sts, token, how):
    token.unlink()
    if how == "empty":
        token.write_text("\n")
    elif how == "directory":
        token.mkdir()
    fails(web(token), "needs a token (web_identity_token_file)", str(token))
    assert sts.asked() == []


def test_a_token_that_is_refused_is_not_quoted(fails, sts, token):
    sts.tokens = {}
    told = fails(web(token), "InvalidIdentityToken", "check the role's name and the token's subject")
    assert "eyJ" not in told


def test_a_token_for_no_role(fails, token):
    env = {"AWS_WEB_IDENTITY_TOKEN_FILE": token}
    fails("", "AWS_ROLE_ARN, the role for the token, is not", env=env, options=("-v",))


# What STS refuses, and what comes in its place.

REFUSED = [
    ((403, "AccessDenied", "User: arn:aws:iam::123456789012:user/me is not authorized to perform: "
      f"sts:AssumeRole on resource: {ARN}reader"),
     "could not be assumed by profile base: STS says: User: arn:aws:iam::123456789012:user/me is not"),
    ((403, "AccessDenied", "no"), "the role's trust policy a statement that names the signer"),
    ((403, "ExpiredToken", "it is over"), "the session has expired: STS says: it is over (ExpiredToken)"),
    ((403, "InvalidClientTokenId", "who?"), "profile base signs for the role"),
    ((400, "ValidationError", "too long"), "STS says: too long (ValidationError, HTTP 400)"),
    ((403, "RegionDisabledException", "not here"), "not here"),
    ((400, "Throttling", "slowly"), "STS is throttled: slowly"),
    ((500, "InternalFailure", "sorry"), "STS failed: sorry"),
    ((403, "AccessDenied", "your secret/of+BASE"), "AccessDenied"),
]  # fmt: skip


@pytest.mark.parametrize("refusal, why", REFUSED)
def test_what_sts_refuses(run, sts, refusal, why):
    sts.refusals["reader"] = refusal
    assert why in run(SOURCE)
    assert 1 <= len(sts.asked()) <= 4


BROKEN = {
    "empty": lambda _: (200, ""),
    "cut": lambda _: (200, '{"AssumeRoleResponse": {"AssumeRole'),
    "a list": lambda _: (200, "[]"),
    "html": lambda _: (403, "<html>no</html>"),
    "another's": lambda _: (200, {"GetCallerIdentityResponse": {}}),
    "twenty megabytes": lambda _: (200, b" " * 20_000_000),
    "a redirect": lambda _: (302, "", {"Location": "http://127.0.0.1:9/"}),
    "no expiry": lambda _: (200, {"AssumeRoleResponse": {"AssumeRoleResult": {"Credentials": {
        "AccessKeyId": "A", "SecretAccessKey": "S", "SessionToken": "T"}}}}),
    "no token": lambda _: (200, {"AssumeRoleResponse": {"AssumeRoleResult": {"Credentials": {
        "AccessKeyId": "A", "SecretAccessKey": "S", "Expiration": 9e9}}}}),
    "a line's end": lambda _: (200, {"AssumeRoleResponse": {"AssumeRoleResult": {"Credentials": {
        "AccessKeyId": "A\r\nX: y", "SecretAccessKey": "S", "SessionToken": "T", "Expiration": 9e9}}}}),
    "over already": lambda _: (200, {"AssumeRoleResponse": {"AssumeRoleResult": {"Credentials": {
        "AccessKeyId": "A", "SecretAccessKey": "S", "SessionToken": "T", "Expiration": 7}}}}),
}  # fmt: skip


@pytest.mark.parametrize("how", BROKEN)
def test_answers_of_no_use(run, sts, signer, how):
    sts.answers["reader"] = BROKEN[how]
    told = run(SOURCE)
    assert "STS" in told or "larger" in told, told
    assert signer.requests == [] and stss.kept(signer.home) == {}
    assert 1 <= len(sts.asked()) <= 4


def test_trouble_that_passes(run, sts):
    def stumble(_):
        if len(sts.requests) > 2:
            del sts.answers["reader"]
            return sts.answer(sts.requests[-1])
        return 503, "<html>"

    sts.answers["reader"] = stumble
    assert run(SOURCE) == "ASIAREADER1"
    assert len(sts.asked()) == 3


def test_nobody_there(fails):
    fails(SOURCE, "127.0.0.1:9", env={"AWS_ENDPOINT_URL_STS": "http://127.0.0.1:9"})


# What is kept.


def keep(home, sts, arguments, **changes):
    """As the AWS CLI does; the key that stands there."""
    sts.number += 1
    key = f"ASIAKEPT{sts.number}"
    secret, token = f"secret/of+{key}", f"token-of-{key}=="
    sts.keys[key] = sigv4.Key(secret, token)
    content = {"AccessKeyId": key, "SecretAccessKey": secret, "SessionToken": token,
               "Expiration": signin.instant(3600), **changes}  # fmt: skip
    signin.Cache(cache_path(home, arguments)).write({"Credentials": content})
    return key


def cache_path(home, arguments):
    name = hashlib.sha1(json.dumps(arguments, sort_keys=True).encode()).hexdigest()
    return home.folder / ".aws" / "cli" / "cache" / f"{name}.json"


READER = {"RoleArn": f"{ARN}reader"}


@pytest.mark.parametrize("name", ["ü", "a\"b\\c", "x\u2028y", "😀", "a'b"])
def test_names_of_what_is_kept(run, sts, signer, name):
    key = keep(signer.home, sts, {**READER, "ExternalId": name})
    assert run(SOURCE.replace(ROLE, f"{ROLE}external_id = {name}\n")) == key
    assert sts.asked() == []


@pytest.mark.parametrize(
    "changes",
    [{"Expiration": signin.instant(14 * 60)}, {"Expiration": "soon"}, {"SessionToken": None},
     {"AccessKeyId": "A B"}, {"Expiration": 9999999999}],
)  # fmt: skip
def test_what_is_kept_and_of_no_use(run, sts, signer, changes):
    keep(signer.home, sts, READER, **changes)
    assert run(SOURCE).startswith("ASIAREADER")
    assert len(sts.asked()) == 1


def test_a_kept_role_on_the_way(run, sts, signer):
    key = keep(signer.home, sts, {"RoleArn": f"{ARN}b"})
    assert run(CHAIN).startswith("ASIAREADER")
    assert sts.asked() == [("AssumeRole", "reader", key)]


def test_a_kept_role_on_the_way_that_was_revoked(run, sts, signer):
    del sts.keys[keep(signer.home, sts, {"RoleArn": f"{ARN}b"})]
    assert run(CHAIN).startswith("ASIAREADER")
    assert [asked[1] for asked in sts.asked()][-2:] == ["b", "reader"]


def test_a_home_that_cannot_be_written(run, sts, signer):
    (signer.home.folder / ".aws" / "cli").write_text("a file in the way")
    assert run(SOURCE) == "ASIAREADER1"
    assert len(sts.asked()) == 1


def test_a_code_is_needed_and_nobody_can_type_one(fails, sts):
    fails(
        MFA,
        "needs a code of the MFA device arn:aws:iam::123456789012:mfa/me",
        "aws sts get-caller-identity --profile p",
    )
    assert sts.asked() == []


# Codes.

MFA = SOURCE.replace(ROLE, f"{ROLE}mfa_serial = arn:aws:iam::123456789012:mfa/me\n")
PROMPT = "Enter MFA code for arn:aws:iam::123456789012:mfa/me: "


@pytest.fixture
def at_terminal(signer, sts):
    """at_terminal(config, *options) -> a run of ddbfs cat at a terminal."""

    def start(config, *options, env=None):
        signer.config.write_text(config)
        command = [signer.ddbfs.binary, *(options or ("--profile", "p")), "cat", "/any/things/nothing/here"]
        env = signer.home.environment({**signer.environment(sts.environment), **(env or {})})
        return terminal.Terminal(command, env)

    return start


def test_a_code_is_typed_at_the_terminal(at_terminal, run, sts, signer):
    sts.codes = {"987650"}
    with at_terminal(MFA) as t:
        t.wait_for(PROMPT)
        assert not t.echoes()
        t.type("987650\n")
        t.end()
        assert t.echoes() and "987650" not in t.shown + t.stderr
    assert key_of(signer.requests[0]) == "ASIAREADER1"
    form = sts.requests[0].form()
    assert form["TokenCode"] == "987650" and form["SerialNumber"].endswith("mfa/me")
    assert run(MFA) == "ASIAREADER1"  # it was kept, and nobody is asked
    assert len(sts.asked()) == 1


def test_time_for_typing_is_no_time_of_a_request(at_terminal, sts, signer, clock):
    sts.codes = {"123456"}
    with at_terminal(MFA, "--profile", "p", "--timeout", "10", env=clock.env) as t:
        t.wait_for(PROMPT)
        clock.passes(60)
        t.type("123456\n")
        t.end()
    assert key_of(signer.requests[0]) == "ASIAREADER1"


def test_a_wrong_code(at_terminal, sts, signer):
    with at_terminal(MFA) as t:
        t.wait_for(PROMPT)
        t.type("000000\n")
        assert t.end() == 1
    assert "MultiFactorAuthentication failed" in t.stderr and "type the next one" in t.stderr
    assert [asked[1] for asked in sts.asked()] == ["reader"]
    assert signer.requests == []


@pytest.mark.parametrize("typed", ["\n", "  \n", "\x04"])
def test_no_code(at_terminal, sts, typed):
    with at_terminal(MFA) as t:
        t.wait_for(PROMPT)
        t.type(typed)
        assert t.end() == 1
        assert t.echoes()
    assert "no code of the MFA device" in t.stderr
    assert sts.asked() == []


def test_an_interrupt_leaves_the_terminal_as_it_was(at_terminal, sts):
    with at_terminal(MFA) as t:
        t.wait_for(PROMPT)
        t.type("12\x03")
        assert t.end() == -signal.SIGINT
        assert t.echoes()
    assert sts.asked() == []


def test_a_code_for_a_role_on_the_way(at_terminal, sts, signer):
    sts.codes = {"123456"}
    config = CHAIN.replace(f"{ARN}b\n", f"{ARN}b\nmfa_serial = arn:aws:iam::123456789012:mfa/me\n")
    with at_terminal(config) as t:
        t.wait_for(PROMPT)
        t.type("123456\n")
        t.end()
    assert key_of(signer.requests[0]) == "ASIAREADER2"


def test_nobody_is_asked_without_need(at_terminal, sts, signer):
    """Keys of the environment are in force, or there is no device."""
    signer.config.write_text(MFA)
    command = [signer.ddbfs.binary, "cat", "/any/things/nothing/here"]
    env = {**sts.environment, **ENV_KEYS, "AWS_PROFILE": "p"}
    with terminal.Terminal(command, signer.home.environment(signer.environment(env))) as t:
        t.end()
    assert key_of(signer.requests[0]) == "ENV"
    signer.requests.clear()
    with at_terminal(SOURCE) as t:
        t.end()
    assert key_of(signer.requests[0]) == "ASIAREADER1"


def test_a_session_that_botocore_made_with_a_code(run, sts, signer):
    sts.codes = {"123456"}
    signer.config.write_text(MFA)
    assert stss.botocore_key(signer.home, sts, "p", code="123456") == "ASIAREADER1"
    assert run(MFA) == "ASIAREADER1"
    assert len(sts.asked()) == 1
