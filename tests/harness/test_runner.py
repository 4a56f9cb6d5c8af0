"""The runner: a clean environment, an expected exit code, and no sanitizer report unseen."""

import json

import pytest

from harness import runner


@pytest.fixture
def stub(tmp_path):
    """Ddbfs around a shell script instead of ddbfs."""

    def make(script):
        binary = tmp_path / "stub"
        binary.write_text(f"#!/bin/sh\n{script}\n", "ascii")
        binary.chmod(0o755)
        return runner.Ddbfs(runner.Home(tmp_path / "home", "http://127.0.0.1:9"), binary)

    return make


def variables(result):
    return dict(line.split("=", 1) for line in result.text.splitlines())


def test_nothing_leaks_into_the_environment(stub, monkeypatch):
    monkeypatch.setenv("AWS_PROFILE", "somebody")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    seen = variables(stub("env")("ls"))
    assert "AWS_PROFILE" not in seen and "HTTP_PROXY" not in seen
    assert seen["AWS_ENDPOINT_URL_DYNAMODB"] == "http://127.0.0.1:9"
    assert seen["HOME"].endswith("/home")


def test_a_variable_is_set_or_removed(stub):
    seen = variables(stub("env")("ls", env={"AWS_REGION": None, "AWS_PROFILE": "controller"}))
    assert "AWS_REGION" not in seen and seen["AWS_PROFILE"] == "controller"


def test_output_is_bytes_and_errors_are_text(stub):
    result = stub("printf 'a\\377'; echo why >&2; exit 1")("cat", "/x", expect=1)
    assert (result.stdout, result.stderr, result.code) == (b"a\xff", "why\n", 1)


def test_another_exit_code_than_expected_fails(stub):
    failing = stub("exit 1")
    with pytest.raises(AssertionError):
        failing("cat", "/x")
    assert failing("cat", "/x", expect=None).code == 1


@pytest.mark.parametrize("report", runner.REPORTS)
def test_a_sanitizer_report_fails_whatever_was_expected(stub, report):
    with pytest.raises(AssertionError):
        stub(f"echo '==1=={report}: x' >&2; exit 99")("cat", "/x", expect=None)


def test_a_printed_aws_command_runs_through_a_proxy(shell, boto):
    key = '{"pk":{"S":"SHOP#cool-store.myshopify.com"},"sk":{"S":"SETTINGS"}}'
    asked = f"--table-name prod-ShopifyEntitiesTable --key '{key}'"
    line = f"aws dynamodb get-item {asked} --profile controller --region us-east-1"
    item = json.loads(shell(line).text)["Item"]
    assert item == boto.get_item(TableName="prod-ShopifyEntitiesTable", Key=json.loads(key))["Item"]
