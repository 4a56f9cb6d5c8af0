"""The AWS tools as oracle: in environments by the hundred, `ddbfs config` names the region, the
endpoint, the source and the key that their next request would have.

How many: DDBFS_ORACLE_CASES (100, in a long run 300), from which on: DDBFS_ORACLE_SEED (1). Which tools: those that this
Python has, and the botocore of DDBFS_ORACLE_PYTHON, another interpreter. A case alone:
DDBFS_ORACLE_CASES=1 DDBFS_ORACLE_SEED=17.
"""

import collections
import contextlib
import datetime
import json
import os
import pathlib
import subprocess
import sys

import pytest

from harness import aws_cases, places, runner, services
from harness.signer import key_of
from harness.rows import rows

SEED = int(os.environ.get("DDBFS_ORACLE_SEED", 1))
LONG = os.environ.get("DDBFS_LONG") == "1"
CASES = int(os.environ.get("DDBFS_ORACLE_CASES", 300 if LONG else 40))
MACHINES_REGION = "ap-south-1"
PROGRAM = pathlib.Path(aws_cases.__file__).with_name("aws_answers.py")


def soon():
    return (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=6)).strftime("%Y-%m-%dT%H:%M:%SZ")


def sts(request):
    """Credentials of any role, in the form that is asked for."""
    form = request.form()
    signer = form.get("WebIdentityToken") or key_of(request)
    key, action = aws_cases.key_of_role(form["RoleArn"], signer), form["Action"]
    found = {"AccessKeyId": key, "SecretAccessKey": "s", "SessionToken": "t", "Expiration": soon()}
    user = {"AssumedRoleId": "A:me", "Arn": form["RoleArn"].replace(":iam:", ":sts:")}
    if "json" in request.headers.get("accept", ""):
        found["Expiration"] = int(datetime.datetime.now().timestamp()) + 20000
        answer = {f"{action}Response": {f"{action}Result": {"Credentials": found, "AssumedRoleUser": user}}}
        return 200, answer, {"Content-Type": "application/json"}
    tags = lambda of: "".join(f"<{name}>{value}</{name}>" for name, value in of.items())
    body = (f'<{action}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><{action}Result><Credentials>'
            f"{tags(found)}</Credentials><AssumedRoleUser>{tags(user)}</AssumedRoleUser></{action}Result>"
            f"</{action}Response>")  # fmt: skip
    return 200, body, {"Content-Type": "text/xml"}


def sso(request):
    token = request.headers["x-amz-sso_bearer_token"]
    key = aws_cases.key_of_role(f"{request.query['account_id']}/{request.query['role_name']}", token)
    found = {"accessKeyId": key, "secretAccessKey": "s", "sessionToken": "t", "expiration": 32503680000000}
    return 200, {"roleCredentials": found}, {"Content-Type": "application/json"}


def container(_request):
    found = {"AccessKeyId": "ASIACONTAINER0000C0NT", "SecretAccessKey": "s", "Token": "t", "Expiration": soon()}
    return 200, found


def machine(request):
    if request.method == "PUT":
        return 200, "a-token", {"X-aws-ec2-metadata-token-ttl-seconds": "21600"}
    if request.path.endswith("/security-credentials/"):
        return 200, "the-role"
    if request.path.endswith("/placement/availability-zone/") or request.path.endswith("/placement/availability-zone"):
        return 200, MACHINES_REGION + "b"
    found = {"Code": "Success", "AccessKeyId": "ASIAMACHINE000000MACH", "SecretAccessKey": "s", "Token": "t",
             "Expiration": soon(), "LastUpdated": "2026-01-01T00:00:00Z", "Type": "AWS-HMAC"}  # fmt: skip
    return 200, found


@pytest.fixture(scope="module")
def cases():
    answers = {"STS": sts, "SSO": sso, "CONTAINER": container, "MACHINE": machine}
    with contextlib.ExitStack() as running:
        urls = {name: running.enter_context(services.Service(of)).url for name, of in answers.items()}
        yield [aws_cases.place(aws_cases.make(seed), **urls) for seed in range(SEED, SEED + CASES)]


# Asking them.


def tools():
    """(name, interpreter) of the AWS tools here."""
    found = []
    for name in ("awscli", "botocore"):
        probe = "import awscli; assert awscli.__version__[0] == '2'" if name == "awscli" else "import botocore"
        if subprocess.run([sys.executable, "-c", probe], capture_output=True).returncode == 0:
            found.append((name, sys.executable))
    if os.environ.get("DDBFS_ORACLE_PYTHON"):
        found.append(("botocore", os.environ["DDBFS_ORACLE_PYTHON"]))
    return found


class Tool:
    def __init__(self, name, knows):
        self.name = name
        self.knows = knows

    def __repr__(self):
        return f"{self.name} {self.knows['version']}"


def as_cli_v2(case):
    """botocore alone reads other variables than version 2 of the CLI: AWS_REGION and the order of the
    two that name the profile."""
    env = dict(case["env"])
    if "AWS_REGION" in env:
        env["AWS_DEFAULT_REGION"] = env["AWS_REGION"]
    if "AWS_PROFILE" in env:
        env.pop("AWS_DEFAULT_PROFILE", None)
    return {**case, "env": env}


def ask_tool(name, interpreter, cases):
    text = "".join(json.dumps(case if name == "awscli" else as_cli_v2(case)) + "\n" for case in cases)
    done = subprocess.run([interpreter, PROGRAM, name], input=text, capture_output=True, text=True, timeout=3600)
    knows, *answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(cases), done.stderr
    return Tool(name, knows), answers


def ask_ddbfs(case, home):
    for name, text in case["files"].items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("{HOME}", str(home)))
    given = {name: value.replace("{HOME}", str(home)) for name, value in case["env"].items()}
    options = [word for name in ("profile", "region", "endpoint") if case[name]
               for word in ("--endpoint-url" if name == "endpoint" else f"--{name}", case[name])]  # fmt: skip
    binary = places.program("DDBFS", "build-asan/fs/ddbfs", "build/fs/ddbfs")
    env = {"HOME": str(home), "PATH": runner.PATH, **runner.SANITIZERS, **given}
    result = runner.run([str(binary), *options, "config", "--json"], env)
    return json.loads(result.text)


# Comparing.


def ours(told):
    value = lambda name: told.get(name, {}).get("value")
    if "error" in told:
        return {"error": told["error"]["text"], "region": value("region")}
    return {"error": None, "region": value("region"), "endpoint": value("endpoint"),
            "method": value("credentials"), "key": value("access_key_id")[-4:]}  # fmt: skip


def theirs(answer):
    if answer["error"]:
        return {"error": answer["error"], "region": answer["region"]}
    return {"error": None, "region": answer["region"], "endpoint": answer["endpoint"].removesuffix("/"),
            "method": answer["method"], "key": answer["key"][-4:]}  # fmt: skip


def differences(mine, its):
    """Names of what differs. Of two errors the words do."""
    if mine["error"] and its["error"]:
        return []
    if mine["error"] or its["error"]:
        return ["error"]
    return [name for name in mine if mine[name] != its[name]]


ENDPOINT_WORDS = ("endpoint_url", "services = ", "services=", "AWS_ENDPOINT_URL_DYNAMODB", '"AWS_ENDPOINT_URL"',
                  "ignore_configured", "IGNORE_CONFIGURED")  # fmt: skip


def knows_no_addresses(tool, case, mine, differs):
    said = any(word in json.dumps(case) for word in ENDPOINT_WORDS)
    about_it = differs == ["endpoint"] or "[services" in (mine["error"] or "")
    return not tool.knows["configured endpoints"] and said and about_it


def knows_no_accounts(tool, case, mine, differs):
    told = mine["error"] or differs == ["endpoint"] and mine["endpoint"] or ""
    return not tool.knows["accounts"] and (".ddb." in told or "account_id_endpoint_mode" in told)


def partition_of(mine):
    prefixes = {"us-iso-": "aws-iso", "us-isob-": "aws-iso-b", "eu-isoe-": "aws-iso-e", "us-isof-": "aws-iso-f",
                "eusc-": "aws-eusc"}  # fmt: skip
    return next((name for prefix, name in prefixes.items() if (mine["region"] or "").startswith(prefix)), "aws")


def knows_no_partition(tool, case, mine, differs):
    known = tool.knows["dual stack" if "dualstack" in json.dumps(case).lower() else "partitions"]
    return differs in (["endpoint"], ["error"]) and partition_of(mine) not in known


def has_no_variant(tool, case, mine, differs):
    wanted = "dualstack" in json.dumps(case).lower()
    return differs == ["error"] and partition_of(mine) in ("aws-iso-e", "aws-iso-f") and wanted


def knows_other_local_hosts(tool, case, mine, differs):
    return not tool.knows["accounts"] and "region local has no" in (mine["error"] or "")


def stumbles_over_a_session(tool, case, mine, differs):
    return not tool.knows["accounts"] and mine.get("method") == "assume-role" and "sso_session" in json.dumps(case)


def has_an_empty_region(tool, case, mine, differs):
    return case["env"].get("AWS_REGION") == ""


def has_an_empty_key(tool, case, mine, differs):
    return "an empty aws_access_key_id" in (mine["error"] or "")


def asks_no_machine_for_the_region(tool, case, mine, differs):
    return tool.name == "botocore" and differs == ["error"] and mine["region"] == MACHINES_REGION


# (what is otherwise, and where that is written; of what it is so)
EXCEPTIONS = [
    # Of older tools.
    ("no address is configurable in tools before July 2023", knows_no_addresses),
    ("no host goes by the account in tools before 2024", knows_no_accounts),
    ("a partition is younger than the tool", knows_no_partition),
    ("region local is taken for one that may have other hosts by tools before 2024", knows_other_local_hosts),
    ("a source profile with sso_session ends in an AttributeError in tools before 2024", stumbles_over_a_session),
    # Of botocore: it looks into its older table too, which lacks what its rules have.
    ("dual-stack in iso-e and iso-f is in the rules, and not in the older table", has_no_variant),
    # Of botocore, which is not the whole CLI. FACTS.md: "Region: …, profile, metadata".
    ("the CLI alone asks the machine for its region", asks_no_machine_for_the_region),
    # Of ddbfs, docs/credentials.md: "An empty variable counts as not set", also where it would be
    # an error in the AWS CLI; "A key id that is empty or has no secret is an error".
    ("an empty AWS_REGION counts as none", has_an_empty_region),
    ("an empty access key id is told, not sent", has_an_empty_key),
]


@pytest.fixture(scope="module")
def answers(cases, tmp_path_factory):
    folder = tmp_path_factory.mktemp("homes")
    found = []
    for number, case in enumerate(cases):
        home = folder / str(number)
        home.mkdir()
        found.append(ours(ask_ddbfs(case, home)))
    return found


def exception_for(*of):
    return next((name for name, applies in EXCEPTIONS if applies(*of)), None)


@rows("name, interpreter", tools(), ids=lambda part: str(part))
def test_as_the_aws_tools(cases, answers, name, interpreter):
    tool, said = ask_tool(name, interpreter, cases)
    wrong, excused = [], {}
    for number, (case, mine, answer) in enumerate(zip(cases, answers, said)):
        its = theirs(answer)
        differs = differences(mine, its)
        if not differs:
            continue
        why = exception_for(tool, case, mine, differs)
        if why:
            excused[why] = excused.get(why, 0) + 1
        else:
            wrong.append(f"seed {SEED + number}: {differs}\n  ddbfs {mine}\n  {tool} {its}\n  {json.dumps(case)}")
    methods = collections.Counter(mine.get("method") for mine in answers)
    print(f"{tool}: {len(cases)} cases {dict(methods)}, {len(wrong)} wrong, exceptions: {excused}")
    assert not wrong, f"{len(wrong)} of {len(cases)}\n" + "\n".join(wrong[:50])
