"""Several items of one moment: cat, diff and explain with --together, against boto3's transact_get_items."""

import json
import threading

import pytest

from harness import mounts, plain, snapshots, tables
from harness.rows import rows

pytestmark = pytest.mark.wire

DOMAIN = "cool-store.myshopify.com"
SHOP = f"/prod/shops/{DOMAIN}"
SETTINGS = f"{SHOP}/SETTINGS"
TOKEN = f"{SHOP}/access-token"
CONFIG = "/prod/index-settings/kl7a9h55/shopify-e513a8-4"
JOB_ID = "1f3c9a52-7b1e-4c57-9d0a-2e6f4b8c1d90"
JOB = f"/prod/jobs/by-id/{JOB_ID}"
ENTRY = f"/prod/jobs/by-index/shopify/kl7a9h55-shopify-e513a8-4/all/2026-04-16T09:41:07.318Z#{JOB_ID}"
BOX = "/any/things/box"
JOBS, SHOPS, INDEXES = "prod-EcomIndexerJobsTable", "prod-ShopifyEntitiesTable", "prod-EcomIndexSettingsTable"


@pytest.fixture
def together(ddbfs):
    """together(path, …, options=(), **how): the command cat --together."""

    def run(*paths, options=(), **how):
        return ddbfs(*options, "cat", "--together", *paths, **how)

    return run


@pytest.fixture
def pair(things):
    """The paths of two items, and the command's environment."""
    for name in ("a", "b"):
        things.put(name, version={"N": "0"})
    return [f"{BOX}/a", f"{BOX}/b"], {"env": things.env}


def versions(text):
    return [each["version"] for each in plain.objects(text)]


def put_both(boto, version, table="any-Things", names=("a", "b")):
    """One transaction that changes both items."""
    boto.transact_write_items(
        TransactItems=[
            {"Put": {"TableName": table, "Item": {**key_of(name), "version": {"N": str(version)}}}} for name in names
        ]
    )


def key_of(name):
    return {"pk": {"S": "box"}, "sk": {"S": name}}


# Results.


def test_items_of_several_tables_are_those_of_boto3(together, boto, cost):
    keys = [
        (SHOPS, f"SHOP#{DOMAIN}", "SETTINGS"),
        (INDEXES, "kl7a9h55", "INDEX#shopify-e513a8-4"),
        (SHOPS, f"SHOP#{DOMAIN}", "API_KEY"),
    ]
    gets = [{"Get": {"TableName": table, "Key": {"pk": {"S": pk}, "sk": {"S": sk}}}} for table, pk, sk in keys]
    true = [each["Item"] for each in boto.transact_get_items(TransactItems=gets)["Responses"]]
    told = together(SETTINGS, CONFIG, f"{SHOP}/API_KEY", options=["--show-secrets"])
    assert told.stdout == b"".join(plain.render(each) for each in true) and not told.stderr
    assert cost() == ["TransactGetItems"]


FILES = [SETTINGS, f"{SETTINGS}@typed", f"{SETTINGS}@/active_index", TOKEN, f"{SHOP}/API_KEY", JOB, ENTRY, CONFIG]


def test_the_files_of_items_are_those_of_cat(together, ddbfs):
    """In the order of the paths; secrets are masked, and a file made for a secret shows it."""
    told = together(*FILES)
    assert told.stdout == ddbfs("cat", *FILES).stdout and b"********" in told.stdout
    compact = together(*FILES, options=["--format", "compact", "--show-secrets"])
    assert compact.stdout == ddbfs("--format", "compact", "--show-secrets", "cat", *FILES).stdout


def test_keys_are_found_first_and_files_of_one_item_share_a_part(together, proxy, cost):
    told = together(*FILES)
    sent = proxy.requests[-1].body["TransactItems"]
    assert sorted(cost()[:-1]) == ["Query", "Query GSI_JobLookup_v2"]
    assert len(sent) == 5, "SETTINGS three times, and the job twice"
    notes = told.stderr.splitlines()
    assert [line.split(": ")[1] for line in notes] == [TOKEN, JOB]
    assert all("before the moment at which all items are read" in line for line in notes)
    assert "the index GSI_JobLookup_v2" in notes[1]


def test_an_attribute_comes_alone_unless_another_path_reads_the_item(together, proxy):
    together(f"{SETTINGS}@/active_index", CONFIG)
    (get, other) = [each["Get"] for each in proxy.requests[0].body["TransactItems"]]
    date = "last_updated"  # by which the map dates the file
    assert sorted(get["ExpressionAttributeNames"].values()) == ["active_index", date, "pk", "sk"]
    assert "ProjectionExpression" not in other
    together(f"{SETTINGS}@/active_index", SETTINGS)
    (get,) = [each["Get"] for each in proxy.requests[1].body["TransactItems"]]
    assert "ProjectionExpression" not in get


def test_a_missing_item_is_missed_alone(together, pair, cost):
    paths, how = pair
    told = together(paths[0], f"{BOX}/none", paths[1], **how, expect=3)
    assert versions(told.text) == [0, 0]
    assert told.stderr == f'ddbfs: {BOX}/none: any-Things has no item with pk = "box" and sk = "none"\n'
    assert cost() == ["TransactGetItems"]


def test_an_item_that_no_query_finds_is_not_part_of_the_moment(together, cost):
    nobody = "/prod/jobs/by-id/00000000-0000-4000-8000-000000000000"
    told = together(nobody, SETTINGS, expect=3)
    assert json.loads(told.text)["sk"] == "SETTINGS"
    assert "the query ran before the moment" in told.stderr
    assert cost() == ["Query GSI_JobLookup_v2", "TransactGetItems"]
    assert not together(nobody, expect=3).stdout and cost() == ["Query GSI_JobLookup_v2"]


def test_an_item_that_left_its_path_after_its_key_was_found_is_not_found(together, boto, table, write_map, proxy):
    """The item is checked against its path as of the moment."""
    index = {
        "IndexName": "by-owner",
        "KeySchema": [{"AttributeName": "owner", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "KEYS_ONLY"},
    }
    description = {**tables.plain(), "GlobalSecondaryIndexes": [index]}
    description["AttributeDefinitions"] = [
        *description["AttributeDefinitions"],
        {"AttributeName": "owner", "AttributeType": "S"},
    ]
    table(description, [{**key_of("a"), "owner": {"S": "me"}}])
    text = tables.plain_map(
        indexes={"by-owner": {"partition": "owner", "projects": "keys"}},
        paths={"{box}/": {}, "of/{owner}": {"record": "thing", "index": "by-owner"}},
    )
    env = {"DDBFS_MAP": str(write_map(text))}
    assert json.loads(together("/any/things/of/me", env=env).text)["owner"] == "me"

    def give_away(_exchange):
        boto.put_item(TableName="any-Things", Item={**key_of("a"), "owner": {"S": "you"}})
        return True

    proxy.fault("delay", op="TransactGetItems", until=give_away)
    told = together("/any/things/of/me", env=env, expect=3)
    assert "it is not (or no longer) in this directory" in told.stderr and not told.stdout


@pytest.mark.wire(False)  # DynamoDB Local accepts ten
def test_a_hundred_items_are_one_request_and_more_are_refused(together, things, cost):
    things.put_many((f"t-{number:03}", {"version": {"N": str(number)}}) for number in range(100))
    paths = [f"{BOX}/t-{number:03}" for number in range(100)]
    assert versions(together(*paths, env=things.env).text) == list(range(100))
    assert cost() == ["TransactGetItems"]
    told = together(*paths, f"{BOX}/one-more", env=things.env, expect=2)
    assert "--together reads at most 100 items, and 101 paths are named" in told.stderr and cost() == []


# One moment.


def test_items_are_never_of_two_moments(together, ddbfs, pair, boto, proxy, cost):
    """A transaction changes both items between two requests of a plain cat, which prints a mixture. There is no
    place between the items of one transaction."""
    paths, how = pair
    proxy.fault("denied", op="BatchGetItem")  # so that each item is a request
    begun = []

    def write(_exchange):
        begun.append(True)
        if len(begun) == 2:
            mounts.wait_until(lambda: any(each.status == 200 for each in proxy.requests), "the first item")
            put_both(boto, 1)
        return True

    proxy.fault("delay", op="GetItem", times=2, until=write)
    assert sorted(versions(ddbfs("cat", *paths, **how).text)) == [0, 1], "the writer writes in between"
    proxy.heal()
    proxy.fault("delay", op="TransactGetItems", until=lambda _: put_both(boto, 2) or True)
    cost()
    assert versions(together(*paths, **how).text) == [2, 2] and cost() == ["TransactGetItems"]


def test_a_reader_beside_a_writer_reads_pairs(together, pair, boto):
    paths, how = pair
    stop, written = threading.Event(), []

    def write():
        while not stop.is_set():
            try:
                put_both(boto, len(written) + 1)
                written.append(True)
            except boto.exceptions.TransactionCanceledException:
                pass

    writer = threading.Thread(target=write)
    writer.start()
    try:
        found = [versions(together(*paths, **how).text) for _ in range(10)]
    finally:
        stop.set()
        writer.join()
    assert all(a == b for a, b in found), found
    assert len({a for a, _ in found}) > 2 and written, "the writer has changed them meanwhile"


# Conflicts.


def test_a_conflict_is_retried(together, pair, proxy, cost):
    paths, how = pair
    proxy.fault("canceled", op="TransactGetItems", times=6, reasons=["None", "TransactionConflict"])
    told = together(*paths, options=["-v"], **how)
    assert versions(told.text) == [0, 0] and cost() == ["TransactGetItems"] * 7
    assert told.stderr.count("code=TransactionConflict") == 6
    assert "TransactGetItems table=any-Things status=200" in told.stderr


def test_a_conflict_without_end_names_the_path(together, pair, proxy):
    paths, how = pair
    proxy.fault("canceled", op="TransactGetItems", times=None, reasons=["None", "TransactionConflict"])
    told = together(*paths, options=["--timeout", "0.5"], **how, expect=1)
    assert not told.stdout and len(proxy.requests) > 2
    assert told.stderr.startswith(f"ddbfs: {paths[1]}: is in conflict: another request writes this item")
    assert "(TransactionConflict)" in told.stderr and f"({len(proxy.requests)} requests in all)" in told.stderr
    told = together(*paths, options=["--timeout", "0.5", "--json"], **how, expect=1)
    error = json.loads(told.stderr)
    assert (error["path"], error["kind"], error["errno"]) == (paths[1], "throttled", "EAGAIN")
    assert (error["code"], error["table"]) == ("TransactionConflict", "any-Things")


def test_each_path_in_conflict_is_named(together, pair, proxy):
    paths, how = pair
    proxy.fault("canceled", op="TransactGetItems", times=None, reasons=["TransactionConflict", "TransactionConflict"])
    told = together(*paths, options=["--timeout", "0.2"], **how, expect=1)
    assert told.stderr.startswith(f"ddbfs: {paths[0]}: ") and f"likewise {paths[1]}" in told.stderr


def test_a_conflict_that_only_the_sentence_states_is_retried_too(together, pair, proxy):
    paths, how = pair
    fault = {"op": "TransactGetItems", "reasons": ["None", "TransactionConflict"], "told": False}
    proxy.fault("canceled", **fault)
    assert versions(together(*paths, **how).text) == [0, 0]
    proxy.fault("canceled", times=None, **fault)
    told = together(*paths, options=["--timeout", "0.2"], **how, expect=1)
    assert "one of the items is in conflict" in told.stderr


OTHER_REASONS = [
    (["None", "ThrottlingError"], "throttled", 4, "is throttled: because of ThrottlingError (ThrottlingError)"),
    (["None", "ProvisionedThroughputExceeded"], "throttled", 4, "is throttled: because of Provisioned"),
    (["None", "ValidationError"], "invalid", 1, "is refused: because of ValidationError (ValidationError)"),
    (["None", "AccessDenied"], "denied", 1, "is refused: because of AccessDenied (AccessDenied)"),
    (["None", "SomethingNew"], "invalid", 1, "is refused: because of SomethingNew (SomethingNew)"),
    (["TransactionConflict", "ValidationError"], "invalid", 1, "is refused"),
    (["TransactionConflict", "ThrottlingError"], "throttled", 4, "is throttled"),
]


@rows("reasons, kind, count, words", OTHER_REASONS)
def test_other_reasons_name_the_path(together, pair, proxy, reasons, kind, count, words):
    paths, how = pair
    proxy.fault("canceled", op="TransactGetItems", times=None, reasons=reasons)
    told = together(*paths, options=["--json", "--timeout", "20"], **how, expect=1)
    error = json.loads(told.stderr)
    assert (error["path"], error["kind"]) == (paths[1], kind) and words in error["text"]
    assert not told.stdout and len(proxy.requests) == count


def test_reasons_of_another_number_are_not_matched_with_paths(together, pair, proxy):
    paths, how = pair
    proxy.fault("canceled", op="TransactGetItems", reasons=["ValidationError"])
    told = together(*paths, **how, expect=1)
    assert told.stderr.startswith("ddbfs: the service refuses this TransactGetItems of any-Things: ")
    assert "name fewer" in told.stderr


# Refusals of the whole request.


def test_a_table_that_does_not_exist_is_one_of_several(together, boto, table, write_map, pair):
    text = tables.plain_map()
    text["tables"]["others"] = {**text["tables"]["things"], "table": "Nothing"}
    env = {"DDBFS_MAP": str(write_map(text))}
    told = together(f"{BOX}/a", "/any/others/box/a", env=env, expect=1)
    assert "one of the tables any-Things, any-Nothing does not exist" in told.stderr
    assert "there are: " in told.stderr and "any-Things" in told.stderr.partition("there are: ")[2]


def test_the_permission_is_that_of_getitem(together, ddbfs, pair, proxy):
    """There is none of the operation itself; `ddbfs policy` grants what is needed."""
    paths, how = pair
    policy = json.loads(ddbfs("policy", "--json", **how).text)
    proxy.fault("policy", times=None, document=policy)
    assert versions(together(*paths, **how).text) == [0, 0]
    proxy.heal()
    without = {**policy, "Statement": [{**each, "Action": ["dynamodb:Query"]} for each in policy["Statement"]]}
    proxy.fault("policy", times=None, document=without)
    told = together(*paths, **how, expect=1)
    assert '"Action": "dynamodb:GetItem"' in told.stderr and "dynamodb:TransactGetItems" not in told.stderr


def test_a_map_without_reads_by_key_grants_them(ddbfs, write_map):
    paths = {"of/{box}": {"record": "thing", "newest": 1}}
    policy = ddbfs("policy", "--json", env={"DDBFS_MAP": str(write_map(tables.plain_map(paths=paths)))}).text
    assert '"dynamodb:GetItem"' in policy and "BatchGetItem" not in policy and "Transact" not in policy


def test_a_server_without_transactions_says_so(together, pair, proxy):
    paths, how = pair
    proxy.fault("error", op="TransactGetItems", code="UnknownOperationException", message="")
    told = together(*paths, **how, expect=1)
    assert "does not know TransactGetItems" in told.stderr


def swap(body):
    body["Responses"].reverse()


def lengthen(body):
    body["Responses"].append({})


def shorten(body):
    body["Responses"].pop()


def add_member(body):
    body["Responses"][0] = {"Itemm": body["Responses"][0]["Item"]}


def drop_key(body):
    del body["Responses"][0]["Item"]["sk"]


def no_list(body):
    body["Responses"] = "none"


@rows("change", [swap, lengthen, shorten, add_member, drop_key, no_list], ids=lambda change: change.__name__)
def test_a_response_that_does_not_answer_is_an_error(together, pair, proxy, change):
    paths, how = pair
    proxy.fault("alter", op="TransactGetItems", change=change)
    told = together(*paths, options=["--json"], **how, expect=1)
    error = json.loads(told.stderr)
    assert error["kind"] == "bad-answer" and not told.stdout and error["operation"] == "TransactGetItems"


def test_a_failed_query_fails_all(together, proxy):
    proxy.fault("denied", op="Query", times=None)
    told = together(SETTINGS, JOB, expect=1)
    assert f"ddbfs: {JOB}: " in told.stderr and "not authorized" in told.stderr
    assert not told.stdout and "TransactGetItems" not in proxy.ops


# Paths that are not items.

NO_ITEMS = [
    (f"{SHOP}@jsonl", "is a listing, whose pages are of different moments"),
    (f"{SHOP}@info", "is a listing"),
    (SHOP, "is a directory; name the items"),
    (f"{SETTINGS}@info", "describes a read of one item by itself"),
    (f"{SHOP}/README", "is not made of an item"),
    (f"/tables/{SHOPS}/ttl.json", "is not made of an item"),
    ("/prod/jobs/by-id/{job_id}", "job_id"),
    ("/prod/nothing", "nothing"),
]


@rows("path, words", NO_ITEMS)
def test_a_path_that_is_no_item_is_refused_before_any_read(together, proxy, path, words):
    told = together(SETTINGS, path, expect=None)
    assert told.code in (1, 3) and told.stderr.startswith(f"ddbfs: {path}: ") and words in told.stderr
    assert not told.stdout and set(proxy.ops) <= {"DescribeTable"}


def test_items_of_tables_without_a_map_are_read_too(together, ddbfs, pair):
    paths = ["/tables/any-Things/items/box/a", "/tables/any-Things/items/box/b"]
    assert together(*paths).stdout == ddbfs("cat", *paths).stdout


def test_what_only_an_index_has_is_refused(together, write_map, proxy):
    text = tables.plain_map(
        indexes={"by-owner": {"partition": "owner", "projects": "keys"}},
        paths={"of/{owner}": {"record": "thing", "index": "by-owner", "hydrate": False}},
    )
    told = together("/any/things/of/me", env={"DDBFS_MAP": str(write_map(text))}, expect=1)
    assert "shows what the index by-owner has of the item" in told.stderr and not proxy.ops


def test_other_settings_are_refused(together, write_map, proxy, server):
    text = tables.plain_map()
    there = {**text["environments"]["any"], "endpoint": server.url}
    text["environments"]["other"] = {**there, "prefix": "any-"}
    told = together(f"{BOX}/a", "/other/things/box/b", env={"DDBFS_MAP": str(write_map(text))}, expect=1)
    assert told.stderr.startswith("ddbfs: /other/things/box/b: is read with other settings (")
    assert server.url in told.stderr and f"than {BOX}/a (--profile controller" in told.stderr
    assert not proxy.ops


def test_environments_of_one_account_are_read_together(together, ddbfs, cost):
    paths = [SETTINGS, SETTINGS.replace("/prod/", "/staging/")]
    assert together(*paths).stdout == ddbfs("cat", *paths).stdout
    assert cost()[0] == "TransactGetItems"


def test_filters_and_limits_are_for_listings(ddbfs):
    for option in (["--where", "a = 1"], ["--limit", "2"]):
        for command in ("cat", "explain"):
            told = ddbfs(command, "--together", *option, SETTINGS, expect=2)
            assert "--where and --limit are for listings" in told.stderr
    assert "--together does not go with this command" in ddbfs("ls", "--together", SETTINGS, expect=2).stderr


# Snapshots and recordings.


@pytest.fixture
def stored(tmp_path):
    """Two tables: the first has two moments, the second one of them."""
    one, other = tables.table("any-Things"), tables.table("any-Others")
    first, second = snapshots.MOMENTS[:2]
    item = lambda name, version: {**key_of(name), "version": {"N": str(version)}}  # noqa: E731
    states = [
        (first, {"any-Things": [item("a", 1), item("b", 1)], "any-Others": [item("a", 1)]}),
        (second, {"any-Things": [item("a", 2), item("b", 2)]}),
    ]
    return snapshots.write(tmp_path / "stored.ddb", [one, other], states)


def test_items_of_a_snapshot_are_of_one_moment_already(together, write_map, stored, proxy):
    text = tables.plain_map()
    text["tables"]["others"] = {**text["tables"]["things"], "table": "Others"}
    env = {"DDBFS_MAP": str(write_map(text)), "DDBFS_SNAPSHOT": str(stored)}
    assert versions(together(f"{BOX}/a", f"{BOX}/b", env=env).text) == [2, 2]
    assert versions(together(f"{BOX}/a", f"{BOX}/c", env=env, expect=3).text) == [2]
    first = snapshots.MOMENTS[0]
    past = [f"/any@at/{first}/{table}/box/a" for table in ("things", "others")]
    assert versions(together(*past, env=env).text) == [1, 1]
    told = together(f"{BOX}/a", "/any/others/box/a", env=env, expect=1)
    assert f"of the moment {first} of a snapshot, and {BOX}/a is of {snapshots.MOMENTS[1]}" in told.stderr
    assert not told.stdout and not proxy.ops


def test_the_past_and_the_present_have_no_common_moment(together, example_map, write_map, stored, pair, proxy):
    text = tables.plain_map()
    text["environments"]["any"]["snapshots"] = str(stored)
    env = {"DDBFS_MAP": str(write_map(text))}
    past = f"/any@at/{snapshots.MOMENTS[0]}/things/box/a"
    told = together(f"{BOX}/a", past, env=env, expect=1)
    assert told.stderr.startswith(f"ddbfs: {past}: is read from a snapshot, and {BOX}/a is not") and not proxy.ops


def test_a_recording_has_the_items_and_no_moment_of_all(together, ddbfs, tmp_path, proxy):
    file = tmp_path / "read.ddb"
    live = together("--record", str(file), SETTINGS, f"{SHOP}/API_KEY", f"{SHOP}/NOTHING", expect=3)
    proxy.clear()
    env = {"DDBFS_SNAPSHOT": str(file)}
    told = ddbfs("cat", SETTINGS, f"{SHOP}/API_KEY", f"{SHOP}/NOTHING", env=env, expect=3)
    assert told.stdout == live.stdout and b"********" in told.stdout
    told = together(SETTINGS, f"{SHOP}/API_KEY", env=env, expect=1)
    assert "is read from a recording, whose responses are of different moments" in told.stderr
    assert not proxy.ops


def test_a_failed_transaction_is_no_failure_of_its_items(together, ddbfs, pair, proxy, tmp_path):
    paths, how = pair
    file = tmp_path / "read.ddb"
    ddbfs("cat", "--record", str(file), *paths, **how)
    proxy.fault("canceled", op="TransactGetItems", times=None, reasons=["None", "TransactionConflict"])
    together("--record", str(file), *paths, options=["--timeout", "0.2"], **how, expect=1)
    env = {**how["env"], "DDBFS_SNAPSHOT": str(file)}
    assert versions(ddbfs("cat", *paths, env=env).text) == [0, 0]


# diff.


def test_two_items_are_compared_at_one_moment(ddbfs, pair, boto, proxy, cost):
    paths, how = pair
    diff = ["diff", "--together", "--ignore", "sk", *paths]
    assert not ddbfs(*diff, **how).stdout and cost() == ["TransactGetItems"]
    proxy.fault("delay", op="TransactGetItems", until=lambda _: put_both(boto, 5) or True)
    assert not ddbfs(*diff, **how).stdout
    boto.put_item(TableName="any-Things", Item={**key_of("b"), "version": {"N": "6"}})
    assert '+  "version": 6' in ddbfs(*diff, **how, expect=1).text
    assert ddbfs("diff", "--together", *paths, **how, expect=1).text == ddbfs("diff", *paths, **how, expect=1).text


def test_diff_of_files_and_secrets_is_that_without_a_moment(ddbfs):
    other = SETTINGS.replace("/prod/", "/staging/")
    for a, b in [(SETTINGS, other), (f"{SETTINGS}@typed", f"{other}@typed"),
                 (f"{SETTINGS}@/plan", f"{other}@/plan"), (f"{SHOP}/USER#71203948812", f"{SHOP}/USER#71203950077"),
                 (TOKEN, f"{SHOP}/API_KEY")]:  # fmt: skip
        told = ddbfs("diff", "--together", a, b, expect=None)
        plainly = ddbfs("diff", a, b, expect=None)
        assert (told.stdout, told.code) == (plainly.stdout, plainly.code)


def test_diff_of_directories_has_no_moment(ddbfs, pair, proxy):
    told = ddbfs("diff", "--together", SHOP, SHOP.replace("prod", "staging"), expect=2)
    assert f"ddbfs: {SHOP}: is a directory; name the items" in told.stderr and not proxy.ops
    paths, how = pair
    told = ddbfs("diff", "--together", paths[0], f"{BOX}/none", **how, expect=2)
    assert not told.stdout and f"ddbfs: {BOX}/none: any-Things has no item" in told.stderr


# explain.


def test_explain_prints_the_double_cost_and_sends_nothing(ddbfs, proxy):
    told = ddbfs("explain", "--together", SETTINGS, CONFIG).text
    assert f"TransactGetItems of 2 items of {SHOPS}, {INDEXES}, all at one moment" in told
    assert f'1. {SHOPS} with pk = "SHOP#{DOMAIN}" and sk = "SETTINGS"' in told
    assert "cost   1 request\n" in told and "4 RCU if nothing is found, at most 400" in told
    assert "2 RCU for each started 4 KB" in told and "aws dynamodb transact-get-items --transact-items '[" in told
    single = json.loads(ddbfs("explain", "--json", f"/tables/{SHOPS}/items/x/y").text)["units"]
    double = json.loads(ddbfs("explain", "--json", "--together", SETTINGS).text)["units"]
    assert (double["least"], double["most"]) == (4 * single["least"], 4 * single["most"]), "2 for 0.5 RCU"
    assert set(proxy.ops) <= {"DescribeTable"}


def test_explain_names_what_is_not_of_the_moment(ddbfs, proxy):
    told = ddbfs("explain", "--together", JOB, SETTINGS).text
    assert "first  Query index GSI_JobLookup_v2" in told
    assert "note   its key is found by a query of the index GSI_JobLookup_v2 before the moment" in told
    assert told.count("note   ") == 1 and "by the key that was found" in told
    found = json.loads(ddbfs("explain", "--together", "--json", JOB, SETTINGS).text)
    assert ["note" in each for each in found["together"]] == [True, False]
    assert found["bound"]["requests"] == 2 and not proxy.ops


def test_the_cost_of_many_items_is_bounded_by_their_size_together(ddbfs, things):
    paths = [f"{BOX}/t-{number:03}" for number in range(100)]
    units = json.loads(ddbfs("explain", "--together", "--json", *paths, env=things.env).text)["units"]
    assert (units["least"], units["most"]) == (200, 2 * (1024 + 100))


COMMANDS = [
    [SETTINGS, CONFIG],
    [JOB, SETTINGS, f"{SETTINGS}@/active_index"],
    [TOKEN, CONFIG, f"{SHOP}/NOTHING", f"{JOB}@/status"],
    [ENTRY, f"{ENTRY}@/status"],
    ["/prod/index-settings/kl7a9h55/shopify-e513a8-4.d/QUERY#a%2Fc filter 50%25", SETTINGS],
]


@rows("paths", COMMANDS)
def test_the_printed_command_prints_the_items(ddbfs, shell, paths):
    command = json.loads(ddbfs("explain", "--together", "--json", *paths).text)["aws"]
    typed = [path if "@/" in path or path == TOKEN else f"{path}@typed" for path in paths]
    true = ddbfs("--show-secrets", "cat", "--together", *typed, expect=None)
    printed = [json.loads(line) if line[0] == "{" else line for line in shell(command).text.splitlines()]
    assert printed == [json.loads(line) if line[0] == "{" else line for line in true.text.splitlines()] != []


def test_the_body_is_that_of_the_printed_command(ddbfs, shell, proxy, make_proxy, server):
    command = json.loads(ddbfs("explain", "--together", "--json", SETTINGS, f"{CONFIG}@/index_name").text)["aws"]
    ddbfs("cat", "--together", SETTINGS, f"{CONFIG}@/index_name")
    own = proxy.requests[-1].body
    proxy.clear()
    shell(command, env={"AWS_ENDPOINT_URL_DYNAMODB": proxy.url})
    assert {**own, "ReturnConsumedCapacity": None} == {**proxy.requests[-1].body, "ReturnConsumedCapacity": None}


def test_explain_of_a_snapshot_is_free(ddbfs, write_map, stored):
    env = {"DDBFS_MAP": str(write_map(tables.plain_map())), "DDBFS_SNAPSHOT": str(stored)}
    told = ddbfs("explain", "--together", f"{BOX}/a", f"{BOX}/b", env=env).text
    assert "0 RCU: a snapshot is read" in told and "aws    " not in told and f"from   {snapshots.MOMENTS[1]}" in told


def test_a_link_is_followed_before_the_moment(together, ddbfs):
    """Links that the item decides; explain does not read the item."""
    link = f"{SETTINGS}@links/settings"
    told = together(link, SETTINGS)
    assert told.stdout == ddbfs("cat", link, SETTINGS).stdout
    assert told.stderr.startswith(f"ddbfs: {link}: the links on the way are followed before the moment")
    told = ddbfs("explain", "--together", link, expect=1)
    assert "is a link; name the item that it leads to" in told.stderr
