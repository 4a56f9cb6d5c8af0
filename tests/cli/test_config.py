"""`ddbfs config`: what a person sees who asks whose credentials are used, where, and who said so."""

import hashlib
import json
import re
import threading

import pytest

from harness import runner, services
from harness.signer import keys
from harness.rows import rows

MAP = """{
 "environments": {
  "prod": {"prefix": "prod-", "profile": "controller"},
  "staging": {"prefix": "staging-", "region": "eu-west-1", "endpoint": "http://127.0.0.1:8000"},
  "dev-{branch}": {"prefix": "dev-{branch}-"}
 },
 "tables": {"things": {"table": "Things",
                       "records": {"thing": {"pk": "{box}", "sk": "{name}"}},
                       "paths": {"{box}/": {}}}}
}"""

CONFIG = """\
[default]
region = us-east-1
max_attempts = 2

[profile controller]
region = eu-central-1
aws_account_id = 123456789012
"""
CREDENTIALS = f"""\
[default]
{keys("AKIADEFAULTDEFAULT01", token="TOKENOFDEFAULT")}
[controller]
{keys("AKIACONTROLLERCTRL77", aws_account_id="123456789012")}
"""

SEEN = """\
prod
  profile        controller                                               the map's environment prod
  region         eu-central-1                                             ~/.aws/config [profile controller]
  endpoint       https://123456789012.ddb.eu-central-1.amazonaws.com      the region and the account
  credentials    shared-credentials-file                                  ~/.aws/credentials [controller]
  access_key_id  ****************RL77
  account_id     123456789012                                             the credentials

staging
  profile        default                                                  no profile is named
  region         eu-west-1                                                the map's environment staging
  endpoint       http://127.0.0.1:8000                                    the map's environment staging
  credentials    shared-credentials-file                                  ~/.aws/credentials [default]
  access_key_id  ****************LT01
  max_attempts   2                                                        ~/.aws/config [default]

dev-{branch}
  profile        default                                                  no profile is named
  region         us-east-1                                                ~/.aws/config [default]
  endpoint       https://dynamodb.us-east-1.amazonaws.com                 the region
  credentials    shared-credentials-file                                  ~/.aws/credentials [default]
  access_key_id  ****************LT01
  max_attempts   2                                                        ~/.aws/config [default]
"""
ME = {"Account": "123456789012", "UserId": "AIDAME", "Arn": "arn:aws:iam::123456789012:user/me"}


def identity(_request):
    return 200, {"GetCallerIdentityResponse": {"GetCallerIdentityResult": ME}}


def refusal(code, status=403):
    return lambda _: (status, {"Error": {"Code": code, "Message": "So it is.", "Type": "Sender"}, "RequestId": "R"})


SSO = """
[profile sso]
region = us-east-1
sso_session = corp
sso_account_id = 123456789012
sso_role_name = Reader
services = fake
[sso-session corp]
sso_region = us-east-1
sso_start_url = https://corp.example/start
[services fake]
sso =
  endpoint_url = %s
"""
SSO_FILE = hashlib.sha1(b"corp").hexdigest() + ".json"
NOTHING = {"AWS_ENDPOINT_URL_DYNAMODB": None, "AWS_REGION": None, "DDBFS_MAP": None}


@pytest.fixture
def home(tmp_path):
    """Nothing in it but two profiles; no server is asked."""
    made = runner.Home(tmp_path / "home", "unused")
    made.config.write_text(CONFIG)
    made.credentials.write_text(CREDENTIALS)
    return made


@pytest.fixture
def config(home, write_map):
    """config(options..., env=…) of the map above; the environment says nothing else."""
    run, map_file = runner.Ddbfs(home), write_map(MAP)

    def ask(*options, env=None, **how):
        return run("config", *options, env={**NOTHING, "DDBFS_MAP": map_file, **(env or {})}, **how)

    return ask


@pytest.fixture
def told(config):
    """told(options…) -> {environment: {fact: (value, origin)}} of --json."""

    def ask(*options, **how):
        lines = [json.loads(line) for line in config("--json", *options, **how).text.splitlines()]
        return {line.pop("environment"): line for line in lines}

    return ask


def squeezed(text):
    """Blanks between columns as two."""
    return [re.sub(r"(?<=\S) {2,}", "  ", line) for line in text.splitlines()]


def test_what_is_seen(config):
    assert squeezed(config().text) == squeezed(SEEN)


def test_columns_stand_below_each_other(config):
    blocks = config().text.split("\n\n")
    for block in blocks:
        rows = block.strip("\n").split("\n")[1:]
        starts = {len(row) - len(row[17:].lstrip()) for row in rows}
        assert starts == {17}
        values = [row[17:].split("  ")[0] for row in rows]
        origins = {row.index(row[17 + len(value) :].strip()) for row, value in zip(rows, values)
                   if row[17 + len(value) :].strip()}  # fmt: skip
        assert origins == {17 + max(map(len, values)) + 2}


def test_as_json(told):
    found = told()
    assert list(found) == ["prod", "staging", "dev-{branch}"]
    assert found["prod"] == {
        "profile": {"value": "controller", "origin": "the map's environment prod"},
        "region": {"value": "eu-central-1", "origin": "~/.aws/config [profile controller]"},
        "endpoint": {"value": "https://123456789012.ddb.eu-central-1.amazonaws.com",
                     "origin": "the region and the account"},
        "credentials": {"value": "shared-credentials-file",
                        "origin": "~/.aws/credentials [controller]"},
        "access_key_id": {"value": "****************RL77"},
        "account_id": {"value": "123456789012", "origin": "the credentials"},
    }  # fmt: skip


def test_environments_that_come_to_the_same_are_told_each_by_its_own_words(told, write_map):
    same = {"profile": "controller", "region": "eu-west-1", "endpoint": "http://127.0.0.1:8000"}
    environments = {name: {"prefix": f"{name}-", **same} for name in ("prod", "staging")}
    both = write_map(json.dumps({**json.loads(MAP), "environments": environments}))
    facts_of = told("--map", both)
    assert list(facts_of) == ["prod", "staging"]
    for name, facts in facts_of.items():
        for which in ("profile", "region", "endpoint"):
            assert facts[which]["origin"] == f"the map's environment {name}"


def test_no_secret_is_in_it(config):
    for options in ([], ["--json"], ["-v"]):
        result = config(*options)
        for secret in ("secret/of+it", "TOKENOFDEFAULT", "AKIADEFAULT", "AKIACONTROLLER"):
            assert secret not in result.text + result.stderr


def test_one_environment(told):
    assert list(told("--env", "staging")) == ["staging"]


def test_an_environment_of_a_parameter_is_called_as_it_was_asked_for(told):
    assert list(told("--env", "dev-search-v2")) == ["dev-search-v2"]


def test_an_environment_that_the_map_has_not(config):
    said = config("--env", "nope", expect=1).stderr
    assert 'no environment "nope"; it has prod, staging, dev-{branch}' in said


def test_options_go_before_the_map(told):
    found = told("--profile", "default", "--region", "us-west-2", "--endpoint-url", "http://localhost:9")
    for each in found.values():
        assert each["profile"] == {"value": "default", "origin": "--profile"}
        assert each["region"] == {"value": "us-west-2", "origin": "--region"}
        assert each["endpoint"] == {"value": "http://localhost:9", "origin": "--endpoint-url"}


def test_the_environment_is_named(told):
    env = {"AWS_ACCESS_KEY_ID": "AKIAENVIRONMENTENV42", "AWS_SECRET_ACCESS_KEY": "s", "AWS_REGION": "r-1",
           "AWS_CREDENTIAL_EXPIRATION": "2999-01-01T00:00:00Z", "AWS_ACCOUNT_ID": "111122223333",
           "AWS_USE_FIPS_ENDPOINT": "true", "AWS_CA_BUNDLE": "/ca.pem"}  # fmt: skip
    found = told("--env", "dev-x", env=env)["dev-x"]
    left = found["expires"].pop("left_s")
    assert 30e9 < left < 31e9
    assert found == {
        "profile": {"value": "default", "origin": "no profile is named"},
        "region": {"value": "r-1", "origin": "AWS_REGION"},
        "endpoint": {"value": "https://dynamodb-fips.r-1.amazonaws.com", "origin": "the region"},
        "credentials": {"value": "env", "origin": "AWS_ACCESS_KEY_ID"},
        "access_key_id": {"value": "****************NV42"},
        "expires": {"value": "2999-01-01T00:00:00Z"},
        "account_id": {"value": "111122223333", "origin": "AWS_ACCOUNT_ID"},
        "use_fips_endpoint": {"value": "true", "origin": "AWS_USE_FIPS_ENDPOINT"},
        "ca_bundle": {"value": "/ca.pem", "origin": "AWS_CA_BUNDLE"},
        "max_attempts": {"value": "2", "origin": "~/.aws/config [default]"},
    }


def test_how_long_it_lasts_in_words(config):
    env = {"AWS_ACCESS_KEY_ID": "AKIA", "AWS_SECRET_ACCESS_KEY": "s",
           "AWS_CREDENTIAL_EXPIRATION": "2999-01-01T00:00:00Z"}  # fmt: skip
    assert "2999-01-01T00:00:00Z (in 35" in config("--env", "dev-x", env=env).text


def test_one_that_fails_says_why_in_its_place_and_the_others_go_on(config, told, home):
    home.credentials.write_text(f"[default]\n{keys('AKIADEFAULTDEFAULT01')}")
    found = told(expect=1)
    assert found["prod"]["error"]["errno"] == "EACCES"
    assert "profile controller has no credentials" in found["prod"]["error"]["text"]
    assert found["prod"]["region"]["value"] == "eu-central-1" and "access_key_id" not in found["prod"]
    assert found["prod"]["endpoint"]["value"] == "https://dynamodb.eu-central-1.amazonaws.com"
    assert "error" not in found["staging"] and "access_key_id" in found["staging"]
    result = config(expect=1)
    assert "\n  error          profile controller has no credentials" in result.text
    assert result.stderr == ""


def test_a_profile_that_is_missing_names_who_asked_for_it(told, home):
    home.config.write_text("[default]\nregion = us-east-1\n")
    home.credentials.write_text(f"[default]\n{keys('AKIADEFAULTDEFAULT01')}")
    found = told("--env", "prod", expect=1)["prod"]
    assert found["profile"] == {"value": "controller", "origin": "the map's environment prod"}
    assert "named by the map's environment prod" in found["error"]["text"] and "region" not in found


def test_without_a_region_the_rest_is_told(told, home):
    home.config.write_text("")
    found = told("--env", "dev-x", expect=1)["dev-x"]
    assert "no region" in found["error"]["text"] and found["profile"]["value"] == "default"


def test_without_any_map_the_profile_in_force_is_told(config, told):
    env = {"DDBFS_MAP": None, "AWS_PROFILE": "controller"}
    found = told(env=env)
    assert list(found) == [None]
    assert found[None]["profile"] == {"value": "controller", "origin": "AWS_PROFILE"}
    assert found[None]["access_key_id"]["value"].endswith("RL77")
    assert config(env=env).text.startswith("without a map\n  profile ")
    assert "no map" in config("--env", "prod", env=env, expect=1).stderr


def test_a_map_that_is_named_is_used(config, write_map):
    assert config(write_map(MAP), env={"DDBFS_MAP": None}).text == config().text
    assert "can't read the map" in config("nowhere.json", expect=1).stderr
    assert "one map" in config("a", "b", expect=2).stderr


def test_roles_in_a_circle_are_told(told, home):
    role = "[profile {}]\nrole_arn = arn:aws:iam::123456789012:role/r\nsource_profile = {}\nregion = us-east-1\n"
    home.config.write_text(role.format("one", "two") + role.format("two", "three") + role.format("three", "two"))
    found = told("--env", "dev-x", env={"AWS_PROFILE": "one"}, expect=1)["dev-x"]
    assert found["error"]["errno"] == "EACCES" and "two" in found["error"]["text"]


def test_files_that_are_broken_are_told(told, home):
    home.credentials.write_text("[default\n")
    found = told("--env", "prod", expect=1)["prod"]
    assert "line 1" in found["error"]["text"] and found["profile"]["value"] == "controller"


def test_controls_in_values_are_not_obeyed(config, home):
    home.config.write_text("[default]\nregion = us-east-1\nca_bundle = /a\x1b[31mb\n")
    text = config("--env", "dev-x").text
    assert "\x1b" not in text and "/a%1B[31mb" in text


def test_a_source_that_does_not_answer_ends_with_the_timeout(told, home):
    """Of SSO's portal nothing comes; the others are told."""
    release = threading.Event()
    with services.Service(lambda _: release.wait(60) and (200, {})) as portal:
        home.config.write_text(CONFIG + SSO % portal.url)
        folder = home.folder / ".aws/sso/cache"
        folder.mkdir(parents=True)
        token = {"accessToken": "T", "expiresAt": "2999-01-01T00:00:00Z"}
        (folder / SSO_FILE).write_text(json.dumps(token))
        env = {"AWS_PROFILE": "sso"}
        found = told("--timeout", "0.5", env=env, expect=1)
        release.set()
    assert found["staging"]["error"]["errno"] == "ETIMEDOUT"
    assert "error" not in found["prod"]



def test_who_one_is(config, told):
    with services.Service(identity) as sts:
        env = {"AWS_ENDPOINT_URL_STS": sts.url}
        found = told("--env", "prod", "--whoami", env=env)["prod"]
        text = config("--env", "prod", "--whoami", env=env).text
    assert found["account_id"] == {"value": ME["Account"], "origin": "STS"}
    assert found["arn"] == {"value": ME["Arn"], "origin": "STS"}
    assert found["user_id"] == {"value": ME["UserId"], "origin": "STS"}
    assert re.search(r"\n  arn +arn:aws:iam::123456789012:user/me +STS\n", text)
    assert b"Action=GetCallerIdentity" in sts.requests[0].body
    assert "AKIACONTROLLERCTRL77" in sts.requests[0].headers["authorization"]


def test_without_whoami_nobody_is_asked(told):
    with services.Service(identity) as sts:
        told(env={"AWS_ENDPOINT_URL_STS": sts.url})
    assert sts.requests == []


# What STS says -> the errno, and what is said to do.
REFUSALS = {
    "ExpiredToken": ("EKEYEXPIRED", "the session has expired: STS says: So it is"),
    "InvalidClientTokenId": ("EACCES", "check ~/.aws/credentials [controller], and the region"),
    "SignatureDoesNotMatch": ("EACCES", "check the secret access key and this machine's clock"),
    "AccessDenied": ("EACCES", "STS says: So it is"),
}


@rows("code", REFUSALS)
def test_who_one_is_not(told, code):
    errno, says = REFUSALS[code]
    with services.Service(refusal(code)) as sts:
        found = told("--env", "prod", "--whoami", env={"AWS_ENDPOINT_URL_STS": sts.url}, expect=1)["prod"]
    assert found["error"]["errno"] == errno and says in found["error"]["text"]
    assert found["error"]["code"] == code and found["access_key_id"]["value"].endswith("RL77")


def test_sts_that_is_not_there_is_told(told):
    with services.Service(identity) as gone:
        pass
    found = told("--env", "prod", "--whoami", env={"AWS_ENDPOINT_URL_STS": gone.url}, expect=1)["prod"]
    assert found["error"]["errno"] == "ECONNREFUSED"
