"""--where and --limit: which of a listing's records are asked for, told apart by boto3's own
FilterExpression; what explain says of it; and what is refused."""

import json
import os
import random

import pytest

from harness import conditions, runner, tables
from harness.rows import rows

pytestmark = pytest.mark.wire

SEED = int(os.environ.get("DDBFS_TEST_SEED", "20261119"))
QUESTIONS = 150 if os.environ.get("DDBFS_LONG") == "1" else 20
INDEX_QUESTIONS = 40 if os.environ.get("DDBFS_LONG") == "1" else 12
JOBS = "prod-EcomIndexerJobsTable"
SHOP = "kl7a9h55-shopify-e513a8-4"
BY_INDEX = f"/prod/jobs/by-index/shopify/{SHOP}"
BY_STATUS = f"/prod/jobs/by-status/{SHOP}"
COOL = "/prod/shops/cool-store.myshopify.com"


@pytest.fixture
def jobs(oracle):
    """jobs(filter="…", **values) -> the job records of the shop that boto3 gives, newest first."""

    def ask(**given):
        return oracle.query(
            JOBS,
            "pk = :pk AND begins_with(sk, :job)",
            pk=f"PLATFORM#shopify#SHOP#{SHOP}",
            job="JOB#",
            ScanIndexForward=False,
            **given,
        )

    return ask


def name_of(job):
    return job["sk"]["S"].removeprefix("JOB#")


# What is found


def test_the_service_and_we_agree_on_random_filters(home, table, boto):
    """Below tables/, where the map says nothing of the attributes."""
    rng = random.Random(SEED)
    print("DDBFS_TEST_SEED", SEED)
    items = [conditions.item_of(number, rng) for number in range(60)]
    stored = [{name: conditions.for_boto(value) for name, value in item.items()} for item in items]
    name, told_apart, wrong = table(conditions.TABLE, stored), 0, []
    ddbfs = runner.Ddbfs(home)
    for _ in range(QUESTIONS):
        condition = conditions.condition_of(rng)
        theirs = conditions.ask(boto, name, conditions.request_of([condition]))
        text = conditions.typed(condition)
        ours = ddbfs("ls", "--where", text, f"/prod/tables/{name}/items/p").text.split()
        told_apart += 0 < len(theirs) < len(items)
        if {int(each) for each in ours} != theirs or len(ours) != len(theirs):
            wrong.append((text, sorted(theirs), ours))
    assert wrong == []
    assert told_apart > QUESTIONS / 4  # the generator makes conditions that tell items apart


@rows("items", [1, 3, 100])
def test_a_filter_over_pages(ls, proxy, jobs, items):
    proxy.fault("page_size", op="Query", times=None, items=items)
    failed = [name_of(job) for job in jobs() if job["status"]["S"] == "FAILED"]
    assert sorted(ls(f"{BY_INDEX}/all", "--where", 'status = "FAILED"')) == sorted(failed) != []


def test_only_records_are_listed(ls):
    """No README, no directories that records bring along."""
    everything = 'pk exists'
    asked = ls(COOL, "--where", everything)
    assert [name for name in ls(COOL) if name not in asked] == ["access-token"]
    assert "SETTINGS" in asked
    assert not [n for n in ls("/prod/index-settings/kl7a9h55", "--where", everything) if n.endswith("/")]


def test_records_by_names_of_their_own_are_among_them(ls):
    asked = ls("/prod/index-settings/by-account/kl7a9h55", "--where", 'sk = "INDEX#DEFAULT_CONFIGS"')
    assert asked == [n for n in ls("/prod/index-settings/by-account/kl7a9h55") if "DEFAULT_CONFIGS" in n]


def test_the_newest_n_are_those_of_the_directory(ls, jobs, write_map, example_map):
    """A filter asks which of a directory's records; it brings none that the directory has not."""
    example_map["tables"]["jobs"]["paths"]["few/{platform}/{shop_id}/"] = {"newest": 5}
    env = {"DDBFS_MAP": str(write_map(example_map))}
    newest = jobs()[:5]
    status = newest[-1]["status"]["S"]
    wanted = [name_of(job) for job in newest if job["status"]["S"] == status]
    assert ls(f"/prod/jobs/few/shopify/{SHOP}", "--where", f'status = "{status}"', env=env) == wanted


def test_ranks_stay_what_they_are_in_the_directory(ls, write_map, example_map):
    pattern = {"newest": "all", "name": "{rank}_{created_at}#{job_id}"}
    example_map["tables"]["jobs"]["paths"]["ranked/{platform}/{shop_id}/"] = pattern
    env = {"DDBFS_MAP": str(write_map(example_map))}
    path = f"/prod/jobs/ranked/shopify/{SHOP}"
    asked = ls(path, "--where", 'status = "FAILED"', env=env)
    assert asked != [] and set(asked) < set(ls(path, env=env))


def test_an_attribute_of_the_key_can_be_asked_for(ls, proxy):
    """The service tests none in a filter, so it is tested here."""
    every = ls(f"{BY_INDEX}/all")
    proxy.clear()
    later = ls(f"{BY_INDEX}/all", "--where", 'sk > "JOB#2026-04-16" and status = "COMPLETED"')
    assert proxy.requests[0].body["FilterExpression"] == "#n2 = :v2"
    assert later != [] and set(later) < {name for name in every if name > "2026-04-16"}


@rows("path", [f"{BY_STATUS}/COMPLETED", f"{BY_INDEX}/status/COMPLETED"])
def test_what_the_index_does_not_hold_is_asked_of_the_record(ls, proxy, jobs, path):
    """Of an index that holds some attributes: `message` is not among them."""
    for attribute in ("error", "not_there_at_all"):
        asked = ls(path, "--where", f"{attribute} does not exist")
        assert sorted(asked) == sorted(ls(path))
        assert ls(path, "--where", f"{attribute} exists") == []
    assert "BatchGetItem" in proxy.ops


def by_kind(projection, **more):
    """The table of random items with an index on it, of one partition."""
    described = tables.table("prod-Conditions", sort="N")
    described["AttributeDefinitions"].append({"AttributeName": "kind", "AttributeType": "S"})
    described["GlobalSecondaryIndexes"] = [
        {
            "IndexName": "by-kind",
            "KeySchema": [{"AttributeName": "kind", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": projection, **more},
        }
    ]
    return described


@rows("projection", ["KEYS_ONLY", "INCLUDE", "ALL"])
def test_random_filters_over_an_index_are_asked_of_records(home, table, boto, write_map, projection):
    """Whatever the index holds, the records themselves are asked."""
    rng = random.Random(SEED + len(projection))
    print("DDBFS_TEST_SEED", SEED)
    items = [conditions.item_of(number, rng) | {"kind": {"S": "k"}} for number in range(130)]
    stored = [{name: conditions.for_boto(value) for name, value in item.items()} for item in items]
    some = ["a", "or", "size"]
    table(by_kind(projection, **({"NonKeyAttributes": some} if projection == "INCLUDE" else {})), stored)
    projects = {"KEYS_ONLY": "keys", "INCLUDE": some, "ALL": "all"}[projection]
    content = {
        "environments": {"prod": {"prefix": "prod-"}},
        "tables": {
            "things": {
                "table": "Conditions",
                "types": {"sk": "N"},
                "records": {"thing": {"pk": "{box}", "sk": "{number}"}},
                "indexes": {"by-kind": {"partition": "kind", "projects": projects}},
                "paths": {"{kind}/": {"index": "by-kind"}, "few/{kind}/": {"index": "by-kind", "newest": 30}},
            }
        },
    }
    env, ddbfs, wrong, told_apart = {"DDBFS_MAP": str(write_map(content))}, runner.Ddbfs(home), [], 0
    every, few = ("/prod/things/k", "/prod/things/few/k")
    shown = {path: set(ddbfs("ls", path, env=env).text.split()) for path in (every, few)}
    for turn in range(INDEX_QUESTIONS):
        condition = conditions.condition_of(rng)
        asked = conditions.request_of([condition])
        theirs = {f"p#{number}" for number in conditions.ask(boto, "prod-Conditions", asked)}
        path, text = (every, few)[turn % 2], conditions.typed(condition)
        ours = ddbfs("ls", "--where", text, path, env=env).text.split()
        told_apart += 0 < len(ours) < len(shown[path])
        if set(ours) != theirs & shown[path] or len(ours) != len(set(ours)):
            wrong.append((text, path, set(ours) ^ (theirs & shown[path])))
    assert wrong == []
    assert told_apart > INDEX_QUESTIONS / 5


def test_limit_counts_what_the_filter_lets_through(ls, jobs):
    done = [name_of(job) for job in jobs() if job["status"]["S"] == "COMPLETED"]
    assert ls(f"{BY_INDEX}/latest", "--where", 'status = "COMPLETED"', "--limit", "3") == done[:3]
    assert len(done) > 3


def test_no_page_is_read_beyond_the_limit(ls, proxy):
    proxy.fault("page_size", op="Query", times=None, items=2)
    assert len(ls(f"{BY_INDEX}/all", "--limit", "3")) == 3
    assert proxy.ops == ["Query", "Query"]
    proxy.requests.clear()
    assert len(ls(f"{BY_INDEX}/all", "--limit", "2", "--where", "pk exists")) == 2
    assert proxy.ops == ["Query"]


def test_a_limit_is_told_to_the_service(ls, proxy):
    ls(f"{BY_INDEX}/all", "--limit", "3")
    assert [each.body.get("Limit") for each in proxy.requests] == [3]


# What is said


def test_explain_says_who_tests_what(ddbfs):
    text = ddbfs("explain", f"{BY_INDEX}/all", "--where", 'status = "FAILED" and sk < "JOB#2026"').text
    assert 'then keep only status = "FAILED"' in text
    assert 'only those with sk < "JOB#2026"' in text
    assert "note   a filter does not reduce the cost" in text
    assert "--filter-expression '#n2 = :v2'" in text


def test_what_explain_prints_can_be_typed(ddbfs):
    said = 'a.\'b c\'[0] is one of 1, "x" or not (d begins with "y" and e does not exist)'
    told = json.loads(ddbfs("explain", "--json", f"{BY_INDEX}/all", "--where", said).text)["filter"]
    again = ddbfs("explain", "--json", f"{BY_INDEX}/all", "--where", told).text
    assert json.loads(again)["filter"] == told == said


@rows("path", [f"{BY_INDEX}/latest", f"{BY_INDEX}/all", f"{BY_STATUS}/COMPLETED"])
@rows(
    "asked",
    [
        ["--where", 'created_at > "2026-04-15"'],
        ["--where", 'status = "COMPLETED" and not_there does not exist', "--limit", "2"],
        ["--where", 'sk begins with "JOB#2026-04"', "--limit", "3"],
        ["--limit", "4"],
    ],
)
@pytest.mark.wire(False)
def test_the_printed_command_prints_the_same(ddbfs, shell, path, asked):
    explained = json.loads(ddbfs("explain", "--json", path, *asked).text)
    items = [json.loads(line) for line in shell(explained["aws"]).text.splitlines()]
    listed = ddbfs("ls", *asked, path).text.split("\n")[:-1]
    assert len(items) == len(listed) > 0
    for item, name in zip(items, listed):
        assert item["job_id"]["S"] in name


# What is refused


def test_a_wrong_filter_is_told_with_its_column(ddbfs, proxy):
    result = ddbfs("ls", "--where", "status = FAILED", f"{BY_INDEX}/all", expect=2)
    assert "--where: column 10: a value" in result.stderr and "not FAILED" in result.stderr
    told = ddbfs("ls", "--json", "--where", "status =", f"{BY_INDEX}/all", expect=2).stderr
    assert json.loads(told)["kind"] == "invalid"
    assert proxy.requests == []


@rows(
    "filter, why",
    [
        ("status = 'FAILED'", "column 10: a text is in double quotes; single quotes are for names"),
        ("status = \u201cFAILED\u201d", "column 10: a text is in straight double quotes"),
        ('status == "FAILED"', "column 9: write one = to test whether two values are equal"),
        ("attempt < " + "1" * 39, "has more than 38 digits"),
        ("attempt < 1e126", "larger than the numbers of DynamoDB"),
        ("or = ", "column 6: a value was expected"),
        ("(" * 60 + "a = 1" + ")" * 60, "too many brackets"),
        ('status = "' + "y" * 5000 + '"', "and may have 4096"),
    ],
)
def test_a_slip_is_told_for_what_it_is(ddbfs, proxy, filter, why):
    assert why in ddbfs("ls", "--where", filter, f"{BY_INDEX}/all", expect=2).stderr
    assert proxy.requests == []


def test_words_of_the_language_are_names_in_quotes(ls):
    for name in ("and", "or", "not"):
        assert len(ls(f"{BY_INDEX}/all", "--where", f"'{name}' does not exist")) == len(ls(f"{BY_INDEX}/all"))


@rows("filter", ['staus = "FAILED"', 'status = "failed"', 'attempt > "2"', 'pk = "nobody"'])
@rows("path", [f"{BY_INDEX}/all", f"{BY_STATUS}/COMPLETED"])
def test_that_nothing_answers_is_told_with_what_was_read(ddbfs, ls, proxy, path, filter):
    """No error: a script takes an empty answer for one."""
    every = len(ls(path))
    proxy.fault("page_size", op="Query", times=None, items=7)
    for command in (["ls", path], ["ls", "--count", path], ["cat", f"{path}@jsonl"]):
        result = ddbfs(*command, "--where", filter)
        assert result.text == ("0\n" if "--count" in command else "")
        assert f"no item matches the filter, and {every} were read" in result.stderr


def test_where_nobody_is_nobody_answers(ddbfs):
    result = ddbfs("ls", "--where", 'status = "FAILED"', f"{BY_STATUS}/NONE")
    assert "there is no item to test the filter on" in result.stderr


@rows("path", ["/", "/prod", "/prod/jobs", f"{COOL}/SETTINGS", f"{COOL}/README"])
def test_what_is_no_listing_is_not_asked(ddbfs, proxy, path):
    result = ddbfs("ls", "--where", "a = 1", path, expect=1)
    assert "is no listing of items" in result.stderr
    assert proxy.requests == []


@rows(
    "filter", ['access_token begins with "s"', 'pk exists and not (api_key = "x")', "access_token.x exists"]
)
def test_a_secret_is_not_asked_for_piece_by_piece(ddbfs, proxy, filter):
    result = ddbfs("ls", "--where", filter, COOL, expect=1)
    assert "is secret, and filters on it would reveal its value" in result.stderr
    assert proxy.requests == []
    ddbfs("--show-secrets", "ls", "--where", filter, COOL)


def test_that_a_secret_is_there_is_no_secret(ls):
    assert ls(COOL, "--where", "api_key exists") == ["API_KEY"]


def test_what_an_index_s_own_listing_does_not_show_can_not_be_asked(ddbfs, write_map, example_map):
    paths = example_map["tables"]["jobs"]["paths"]
    paths["keys/{shop_id}/{status}/"] = {"index": "GSI_JobsByStatus_v2", "newest": "all", "hydrate": False}
    env = {"DDBFS_MAP": str(write_map(example_map))}
    result = ddbfs("ls", "--where", "message exists", f"/prod/jobs/keys/{SHOP}/COMPLETED", env=env, expect=1)
    assert "this path shows the items of index GSI_JobsByStatus_v2" in result.stderr
