"""`ddbfs policy`: the least access policy that a map needs. That it grants whatever is sent, every
test of the command line looks at (harness/priced.py); here, that it grants no more."""

import json
import re

import pytest

from harness import iam, places, runner, tables
from harness.rows import rows

ACCOUNT, INDEX = "kl7a9h55", "shopify-e513a8-4"
SHOP = f"{ACCOUNT}-{INDEX}"
SHOPS = "/prod/shops/cool-store.myshopify.com"

# Together they use all that the example map needs of one environment.
COMMANDS = [
    ["cat", "/prod/jobs/by-id/1f3c9a52-7b1e-4c57-9d0a-2e6f4b8c1d90"],
    ["ls", f"/prod/jobs/by-index/shopify/{SHOP}/latest"],
    ["ls", "-l", f"/prod/jobs/by-status/{SHOP}/FAILED"],
    ["cat", f"/prod/index-settings/{ACCOUNT}/{INDEX}"],
    ["ls", f"/prod/index-settings/{ACCOUNT}"],
    ["ls", f"/prod/index-settings/{ACCOUNT}/{INDEX}.d"],
    ["ls", "/prod/index-settings/by-domain/e513a8-4.myshopify.com"],
    ["cat", f"{SHOPS}/SETTINGS"],
    ["cat", f"{SHOPS}/access-token"],
    ["ls", f"/prod/shops/by-account/{ACCOUNT}"],
    ["check", places.DEFAULT_MAP],
    ["ls", "/"],
]


@pytest.fixture
def plain(home):
    """ddbfs without an eye on what it sends: here much is denied."""
    return runner.Ddbfs(home)


def policy_of(plain, *options, **how):
    return json.loads(plain("policy", *options, **how).text)


def test_it_is_a_policy(plain, proxy):
    document = policy_of(plain)
    assert document["Version"] == "2012-10-17" and list(document) == ["Version", "Statement"]
    sids = [each["Sid"] for each in document["Statement"]]
    assert len(set(sids)) == len(sids) and all(re.fullmatch("[A-Za-z]+", sid) for sid in sids)
    assert proxy.requests == [], "nothing is asked for it"


def test_the_docs_ship_that_of_the_example_map(plain):
    shipped = places.EXAMPLES / "ecommerce.policy.json"
    assert plain("policy", places.DEFAULT_MAP).text == shipped.read_text("utf-8")


def test_json_is_one_line_of_the_same(plain):
    line = plain("policy", "--json").text
    assert line.count("\n") == 1 and json.loads(line) == policy_of(plain)


def test_without_a_map_it_is_that_of_tables(plain, proxy):
    told = policy_of(plain, "--tables", env={"DDBFS_MAP": None})
    granted = {(action, resource.split(":")[-1]) for action, resource in iam.pairs(told)}
    assert ("dynamodb:ListTables", "*") in granted and ("dynamodb:Query", "table/*") in granted
    assert ("dynamodb:ListBackups", "*") in granted and "Scan" not in str(granted)
    assert policy_of(plain, env={"DDBFS_MAP": None}) == told
    plain("policy", "--tables", "--env", "prod", env={"DDBFS_MAP": None}, expect=1)
    assert proxy.requests == []


def test_tables_work_under_it(plain, proxy, table):
    name = table(tables.plain(), [{"pk": {"S": "box"}, "sk": {"S": "one"}}])
    proxy.allow_scan = True
    proxy.fault("policy", times=None, document=policy_of(plain, "--tables", "--allow-scan"))
    for command in (
        ["ls", "/prod/tables"],
        ["ls", f"/prod/tables/{name}"],
        ["ls", "-l", f"/prod/tables/{name}/items/box"],
        ["cat", f"/prod/tables/{name}/items/box/one"],
        ["--allow-scan", "ls", f"/prod/tables/{name}/items"],
    ):
        plain(*command)
    proxy.fault("policy", times=None, document=policy_of(plain, "--tables"))
    lacking = plain("--allow-scan", "ls", f"/prod/tables/{name}/items", expect=1).stderr
    assert "dynamodb:Scan" in lacking


def test_all_works_under_it(plain, proxy):
    proxy.fault("policy", times=None, document=policy_of(plain))
    for command in COMMANDS:
        plain(*command)
    assert {error for error in (each.error for each in proxy.requests)} == {None}


def test_whatever_is_taken_from_it_is_missed(plain, proxy):
    """Every action on every resource; the statement that the error names grants it again."""
    document = policy_of(plain, "--env", "prod")
    document["Statement"].append({"Effect": "Allow", "Action": ["dynamodb:ListTables"], "Resource": ["*"]})
    uses = {}
    for command in COMMANDS[:-2]:
        proxy.clear()
        plain(*command)
        for pair in [pair for each in proxy.requests for pair in iam.asked(each)]:
            uses.setdefault(pair, command)
    prod = [pair for pair in iam.pairs(document) if pair[0] != "dynamodb:DescribeTable"]
    for action, pattern in prod:
        if action == "dynamodb:ListTables":
            uses[action, "*"] = ["ls", "/"]
        resource = pattern.replace(":*:", f":{iam.ACCOUNT}:")
        if action == "dynamodb:BatchGetItem" and (action, resource) not in uses:
            continue  # tests/cli/test_batches.py: without it records are asked for one by one
        command = uses[action, resource]
        proxy.heal()
        rule = proxy.fault("policy", times=None, document=iam.without(document, action, pattern))
        said = plain(*command, expect=1).stderr
        assert "not authorized" in said and action in said
        statement = json.loads(re.search(r"add to its[^{]*(\{[^}]*\})", said)[1])
        assert (statement["Action"], statement["Resource"]) == (action, resource)
        rule.options["document"]["Statement"].append(statement)
        plain(*command)


def test_without_describe_table_check_fails_and_records_are_read(plain, proxy):
    document = policy_of(plain)
    document["Statement"] = [each for each in document["Statement"] if each["Sid"] != "DescribeTable"]
    proxy.fault("policy", times=None, document=document)
    plain("cat", f"{SHOPS}/SETTINGS")
    assert "needs dynamodb:DescribeTable" in plain("check", places.DEFAULT_MAP, expect=1).stderr


def resources(document):
    return {each for statement in document["Statement"] for each in statement["Resource"]}


STREAMS = ["dynamodb:DescribeStream", "dynamodb:GetShardIterator", "dynamodb:GetRecords"]


def test_streams_are_granted_for_live_mounts(plain, write_map, example_map):
    assert not any(action in STREAMS for each in policy_of(plain)["Statement"] for action in each["Action"])
    [granted] = [each for each in policy_of(plain, "--live", "--env", "prod")["Statement"] if each["Action"] == STREAMS]
    assert sorted(arn.rpartition(":")[2] for arn in granted["Resource"]) == [
        "table/prod-EcomIndexSettingsTable/stream/*",
        "table/prod-EcomIndexerJobsTable/stream/*",
        "table/prod-ShopifyEntitiesTable/stream/*",
    ]
    example_map["environments"]["staging"]["live"] = True
    [granted] = [each for each in policy_of(plain, write_map(example_map))["Statement"] if each["Action"] == STREAMS]
    assert all("table/staging-" in arn for arn in granted["Resource"]) and len(granted["Resource"]) == 3


def test_one_environment_alone(plain):
    assert all("table/staging-" in each for each in resources(policy_of(plain, "--env", "staging")))


def test_an_environment_of_a_parameter_by_its_name(plain):
    document = policy_of(plain, "--env", "dev-search-v2")
    tables = {each for each in resources(document) if each != "*"}
    assert tables and all("table/dev-search-v2-" in each for each in tables)
    assert "ListTables" in [each["Sid"] for each in document["Statement"]]


def test_an_environment_of_a_parameter_as_the_map_has_it(plain):
    tables = resources(policy_of(plain, "--env", "dev-{branch}")) - {"*"}
    assert tables and all("table/dev-*-" in each for each in tables)


def test_an_environment_that_the_map_has_not(plain):
    said = plain("policy", "--env", "nope", expect=1).stderr
    assert 'no environment "nope"; it has prod, staging, dev-{branch}' in said
    for command in ("policy", "config"):
        said = plain(command, "--env", "prd", expect=1).stderr
        assert 'no environment "prd" (did you mean "prod"?); it has prod, ' in said


ACCOUNTS = {
    "aws_account_id": "aws_account_id = 111122223333\n",
    "role_arn": "role_arn = arn:aws:iam::111122223333:role/reader\nsource_profile = default\n",
    "sso_account_id": "sso_account_id = 111122223333\n",
}


@rows("key", ACCOUNTS)
def test_the_account_is_the_profiles(plain, home, key):
    home.config.write_text("[profile controller]\nregion = us-east-1\n" + ACCOUNTS[key])
    found = resources(policy_of(plain, "--env", "prod"))
    assert all(each.startswith("arn:aws:dynamodb:us-east-1:111122223333:table/prod-") for each in found)


def test_an_empty_key_of_the_environment_is_nobody_s(plain, home, write_map, example_map):
    home.config.write_text("[default]\nregion = us-east-1\n" + ACCOUNTS["aws_account_id"])
    example_map["environments"] = {"prod": {"prefix": "prod-"}}
    found = resources(policy_of(plain, "--map", write_map(example_map), env={"AWS_ACCESS_KEY_ID": ""}))
    assert all(":111122223333:table/prod-" in each for each in found)


@rows(
    "region, partition",
    [("eu-central-1", "aws"), ("cn-north-1", "aws-cn"), ("us-gov-west-1", "aws-us-gov")],
)
def test_region_and_partition(plain, region, partition):
    found = resources(policy_of(plain, "--region", region, "--env", "prod"))
    assert all(each.startswith(f"arn:{partition}:dynamodb:{region}:*:table/prod-") for each in found)


def test_a_profile_that_is_missing_here_is_no_obstacle(plain, home):
    """Who grants is not always who reads."""
    home.credentials.write_text("")
    home.config.write_text("")
    found = resources(policy_of(plain, "--env", "prod"))
    assert all(each.startswith("arn:aws:dynamodb:us-east-1:*:table/prod-") for each in found)


def test_one_that_is_too_large_for_aws_is_warned_of(plain, write_map, example_map):
    example_map["environments"] = {
        f"e{number}": {"prefix": f"e{number}-", "region": "us-east-1"} for number in range(20)
    }
    result = plain("--map", write_map(example_map), "policy")
    assert json.loads(result.text) and "a managed policy may have 6144" in result.stderr
    assert "warning" not in plain("--map", write_map(example_map), "policy", "--env", "e3").stderr


def test_usage(plain):
    assert "one map" in plain("policy", "a", "b", expect=2).stderr
    assert plain("policy", "nowhere.json", expect=1).stdout == b""
