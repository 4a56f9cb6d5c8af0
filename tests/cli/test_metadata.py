"""Credentials of a machine's role, from its metadata service: version 2, version 1, the settings."""

import json
import socket

import pytest
from harness import machine, services
from harness.machine import OFF, ROLES, TOKEN

ROLE = ROLES + "the-role"
V2 = [("PUT", TOKEN), ("GET", ROLES), ("GET", ROLE)]
ENDPOINT = "AWS_EC2_METADATA_SERVICE_ENDPOINT"


@pytest.fixture
def ec2():
    with machine.Machine() as started:
        yield started


def agrees(signer, ec2, env):
    """What botocore finds, which asks the same service."""
    return machine.botocore_key(signer.home.environment({**ec2.environment, **env}))


def test_version_2(signer, ec2):
    assert signer(env=ec2.environment) == "MACHINE"
    assert signer.token() == "token-of-it=="
    assert ec2.asked() == V2
    assert agrees(signer, ec2, {}) == "MACHINE"


@pytest.mark.parametrize("status", [403, 404, 405])
def test_version_1(signer, ec2, status):
    ec2.tokens, ec2.only_v2 = status, False
    assert signer(env=ec2.environment) == "MACHINE"
    assert ec2.asked() == V2
    assert "x-aws-ec2-metadata-token" not in ec2.requests[-1].headers
    assert agrees(signer, ec2, {}) == "MACHINE"
    told = signer(env={**ec2.environment, "AWS_EC2_METADATA_V1_DISABLED": "true"})
    assert f"sends no token (HTTP {status})" in told


@pytest.mark.parametrize("status", [400, 500, 503])
def test_no_version_1_when_the_service_fails(signer, ec2, status):
    ec2.tokens, ec2.only_v2 = status, False
    told = signer(env=ec2.environment)
    assert "no credentials" in told and f"HTTP {status}" in told
    assert ec2.asked() == [("PUT", TOKEN)]


@pytest.mark.parametrize("word", ["true", "TRUE", "True", "1", "false", ""])
def test_turned_off(signer, ec2, word):
    found = signer(env={**ec2.environment, OFF: word})
    asked = ec2.asked()
    assert ("MACHINE" in found) == (word.lower() != "true")
    assert bool(asked) == (word.lower() != "true")
    assert agrees(signer, ec2, {OFF: word}) == ("MACHINE" if asked else "")


def test_settings_of_a_profile(signer, ec2):
    signer.config.write_text(
        f"[profile x]\nregion = us-east-1\nec2_metadata_service_endpoint = {ec2.url}\n"
        "metadata_service_timeout = 7\nmetadata_service_num_attempts = 2\n"
        "ec2_metadata_v1_disabled = true\n"
    )
    env = {OFF: None}
    assert signer("--profile", "x", env=env) == "MACHINE"
    ec2.tokens = 403
    assert "sends no token" in signer("--profile", "x", env=env)


@pytest.mark.parametrize(
    "name, value, why",
    [
        (ENDPOINT, "nowhere", "is no address"),
        (ENDPOINT, "http://user:Secr3t@h/", "is no address"),
        (ENDPOINT + "_MODE", "IPv5", "takes IPv4 or IPv6"),
        ("AWS_METADATA_SERVICE_TIMEOUT", "0.5", "takes a whole number"),
        ("AWS_METADATA_SERVICE_TIMEOUT", "-1", "takes a whole number"),
        ("AWS_METADATA_SERVICE_NUM_ATTEMPTS", "often", "takes a whole number"),
    ],
)
def test_settings_that_are_none(signer, ec2, name, value, why):
    told = signer(env={**ec2.environment, name: value})
    assert why in told and name in told and "Secr3t" not in told
    assert agrees(signer, ec2, {name: value}) == ""


@pytest.mark.parametrize("attempts", [1, 3])
def test_tries(signer, attempts):
    with services.Service(lambda _: (500, "")) as broken:
        signer(env={ENDPOINT: broken.url, OFF: None, "AWS_METADATA_SERVICE_NUM_ATTEMPTS": attempts})
        assert len(broken.requests) == attempts


def test_nobody_there(signer):
    """Neither refusing nor silent is a failure: it is no such machine."""
    told = signer(env={ENDPOINT: "http://127.0.0.1:9", OFF: None})
    assert "no credentials: set AWS_ACCESS_KEY_ID" in told and "metadata" not in told
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(1)
        told = signer(env={ENDPOINT: "http://127.0.0.1:%d" % silent.getsockname()[1], OFF: None})
    assert "no credentials: set AWS_ACCESS_KEY_ID" in told and "metadata" not in told


@pytest.mark.parametrize(
    "path, text, why",
    [
        (ROLES, (404, ""), "has no role for it (HTTP 404)"),
        (ROLES, "", "(HTTP 200)"),
        (ROLES, "../../user-data", "names no role"),
        (ROLES, "one\ntwo", "names no role"),
        (ROLE, (500, ""), "(HTTP 500)"),
        (ROLE, "<html>", "(HTTP 200)"),
        (ROLE, {}, "has no AccessKeyId"),
        (ROLE, {"Code": "NoTrust", "Message": "EC2 cannot assume it"}, "EC2 cannot assume it (NoTrust)"),
        (ROLE, machine.keys("A", Expiration="soon"), "no point in time"),
        (ROLE, machine.keys("A", Token=None), "Token"),
        (ROLE, machine.keys("A\r\nX-Evil: b", Code=None), "has no AccessKeyId"),
        (ROLE, b"x" * 20_000_000, "no credentials"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_answers_that_are_none(signer, ec2, path, text, why):
    ec2.texts[path] = text
    told = signer(env=ec2.environment)
    assert why in told and "secret/of+it" not in told
    if path == ROLE and "Evil" not in str(text):  # which botocore would sign with
        assert agrees(signer, ec2, {}) == ""


def test_those_that_have_expired_are_used(signer, ec2):
    ec2.texts[ROLE] = machine.keys("OLD", lasts_s=-3600)
    assert signer(env=ec2.environment) == "OLD"
    assert agrees(signer, ec2, {}) == "OLD"


def test_never_through_a_proxy(signer, ec2):
    with services.Service(lambda _: (200, machine.keys("PROXY"))) as proxy:
        through = {"http_proxy": proxy.url, "HTTP_PROXY": proxy.url, "no_proxy": "", "NO_PROXY": ""}
        signer(env={**ec2.environment, **through})
        assert ec2.asked() == V2
        assert not any("latest" in request.path for request in proxy.requests)


# The region


def region_of(request):
    return request.headers["authorization"].split("/")[2]


NOWHERE = {"AWS_REGION": None}


def test_the_region_of_the_zone(signer, ec2):
    assert signer(env={**ec2.environment, **NOWHERE}) == "MACHINE"
    assert region_of(signer.requests[0]) == "eu-north-1"
    assert ec2.asked() == [("PUT", TOKEN), ("GET", machine.ZONE), *V2]


def test_for_keys_from_elsewhere(signer, ec2):
    env = {"AWS_ACCESS_KEY_ID": "ENV", "AWS_SECRET_ACCESS_KEY": "s"}
    assert signer(env={**ec2.environment, **NOWHERE, **env}) == "ENV"
    assert region_of(signer.requests[0]) == "eu-north-1"


@pytest.mark.parametrize(
    "options, env, config",
    [
        (["--region", "eu-west-1"], {}, ""),
        ([], {"AWS_REGION": "eu-west-1"}, ""),
        ([], {"AWS_DEFAULT_REGION": "eu-west-1"}, ""),
        ([], {}, "[default]\nregion = eu-west-1\n"),
    ],
)
def test_it_is_the_last_that_counts(signer, ec2, options, env, config):
    signer.config.write_text(config)
    assert signer(*options, env={**ec2.environment, **NOWHERE, **env}) == "MACHINE"
    assert region_of(signer.requests[0]) == "eu-west-1"
    assert ec2.asked() == V2


@pytest.mark.parametrize("zone", [(404, ""), "", "a", "x/../y", (500, "")])
def test_no_region_there(signer, ec2, zone):
    ec2.texts[machine.ZONE] = zone
    told = signer(env={**ec2.environment, **NOWHERE})
    assert "no region: pass --region" in told and "; " in told
    assert "no region: pass --region" in signer(env=NOWHERE)  # it is turned off


def test_config_tells_it(signer, ec2):
    result = signer.ddbfs(
        "config", "--json", env=signer.environment({**ec2.environment, **NOWHERE}), expect=0
    )
    found = json.loads(result.text)
    assert found["region"] == {"value": "eu-north-1", "origin": "instance metadata"}
    assert found["credentials"] == {"value": "iam-role", "origin": "instance metadata, role the-role"}
