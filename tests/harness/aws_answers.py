"""What the AWS tools themselves say: a program that reads cases (aws_cases.py) as JSON lines, and
answers each, asking a library of theirs in its own process:

    python3 aws_answers.py awscli|botocore <cases >answers

"awscli" is version 2 of the AWS CLI, which puts a botocore of its own in the other's place. Of every case it tells region,
endpoint, key and method of the request that would be sent, which is stopped just before it is; or
the error. The first line tells what the library knows at all."""

import functools
import importlib
import json
import os
import re
import shutil
import sys
import tempfile

NAME = sys.argv[1]
# Of all cases, one after the other: where the caches lie is looked up but once.
HOME = tempfile.mkdtemp()
PATH = os.environ["PATH"]
os.environ["HOME"] = HOME
importlib.import_module("awscli.clidriver" if NAME == "awscli" else "botocore")


class Stopped(Exception):
    """Instead of sending."""


def load(name):
    return importlib.import_module(f"botocore.{name}")


def prepare():
    """Descriptions of services are read once; a library that knows no variables for addresses is
    told those of STS and SSO otherwise."""
    loader = load("loaders").JSONFileLoader
    loader.load_file = functools.lru_cache(maxsize=None)(functools.partial(loader.load_file, loader()))
    loader.load_file = staticmethod(loader.load_file)
    if hasattr(load("configprovider"), "ConfiguredEndpointProvider"):
        return
    session = load("session").Session
    create = session.create_client

    def create_client(self, service_name, *args, **named):
        if service_name in ("sts", "sso"):
            named["endpoint_url"] = os.environ[f"AWS_ENDPOINT_URL_{service_name.upper()}"]
        return create(self, service_name, *args, **named)

    session.create_client = create_client


def knows():
    """Which of the newer features this library has."""
    variables = load("configprovider").BOTOCORE_DEFAUT_SESSION_VARIABLES
    credentials = load("credentials")
    ruleset = load("loaders").create_loader().load_data("partitions")
    return {
        "version": importlib.import_module(NAME).__version__,
        "configured endpoints": hasattr(load("configprovider"), "ConfiguredEndpointProvider"),
        "accounts": "account_id_endpoint_mode" in variables,
        "login": hasattr(credentials, "LoginProvider"),
        "partitions": [each["id"] for each in ruleset["partitions"]],
        "dual stack": [each["id"] for each in ruleset["partitions"] if each["outputs"]["supportsDualStack"]],
    }


def session_of(case):
    if NAME == "awscli":
        session = importlib.import_module("awscli.clidriver").create_clidriver().session
        if case["profile"]:
            session.set_config_variable("profile", case["profile"])
        return session
    return load("session").Session(profile=case["profile"])


def key_of(headers):
    found = headers.get("Authorization", "")
    found = found.decode() if isinstance(found, bytes) else found
    found = re.search(r"Credential=([^/]*)/\d+/([^/]*)/", found)
    return (found[1], found[2]) if found else (None, None)


def watch(client, answer):
    def stop(request, **_):
        answer["endpoint"] = request.url
        answer["key"], answer["signed"] = key_of(request.headers)
        raise Stopped

    client.meta.events.register_first("before-send.dynamodb", stop)


def ask(case):
    answer = {"region": None, "error": None}
    try:
        session = session_of(case)
        region = case["region"] or session.get_config_variable("region")
        if not region:
            return {**answer, "error": "no region"}
        client = session.create_client("dynamodb", region_name=region, endpoint_url=case["endpoint"])
        answer["region"] = client.meta.region_name
        found = session.get_credentials()
        answer["method"] = found and found.method
        watch(client, answer)
        client.list_tables()
    except Stopped:
        pass
    except Exception as error:  # whatever it is, no request was sent
        answer["error"] = f"{type(error).__name__}: {error}"
    return answer


def write_files(case):
    shutil.rmtree(HOME)
    os.mkdir(HOME)
    for name, text in case["files"].items():
        path = os.path.join(HOME, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace("{HOME}", HOME))


def main():
    prepare()
    print(json.dumps(knows()), flush=True)
    for line in sys.stdin:
        case = json.loads(line)
        write_files(case)
        given = {name: value.replace("{HOME}", HOME) for name, value in case["env"].items()}
        os.environ.clear()
        os.environ.update({"PATH": PATH, "HOME": HOME, **given})
        print(json.dumps(ask(case)), flush=True)


try:
    main()
finally:
    shutil.rmtree(HOME)
