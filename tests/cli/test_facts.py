"""What the service says of a table as a whole: schema.json, ttl.json, backups.json, exports.json and stream.json
beside its items, and the state of the table in its README."""

import json

import pytest

from harness import tables
from harness.rows import rows

BARE = {"DDBFS_MAP": None}
FILES = ["schema.json", "ttl.json", "backups.json", "exports.json", "stream.json", "changes.jsonl"]
CONTINUOUS = {
    "ContinuousBackupsStatus": "ENABLED",
    "PointInTimeRecoveryDescription": {
        "PointInTimeRecoveryStatus": "ENABLED",
        "RecoveryPeriodInDays": 35,
        "EarliestRestorableDateTime": 1760000000.5,
    },
}


@pytest.fixture
def things(table):
    return table(tables.plain(), [{"pk": {"S": "box"}, "sk": {"S": "one"}}])


@pytest.fixture
def bare(ddbfs):
    """ddbfs without any map."""
    return lambda *arguments, **how: ddbfs(*arguments, env=BARE, **how)


def backup(number):
    arn = f"arn:aws:dynamodb:us-east-1:123456789012:table/any-Things/backup/{number:04}"
    return {"TableName": "any-Things", "BackupArn": arn, "BackupName": f"nightly-{number}"}


def canned_backups(count, a_page=2):
    """ListBackups of COUNT backups, as the service pages them."""
    all_of_them = [backup(number) for number in range(count)]

    def answer(body):
        assert body["BackupType"] == "ALL"
        start = body.get("ExclusiveStartBackupArn")
        at = next((i + 1 for i, each in enumerate(all_of_them) if each["BackupArn"] == start), 0)
        page = all_of_them[at : at + a_page]
        more = {"LastEvaluatedBackupArn": page[-1]["BackupArn"]} if at + len(page) < count else {}
        return {"BackupSummaries": page, **more}

    return answer


def canned_exports(count, a_page=25):
    """ListExports of COUNT exports, as the service pages them."""

    def answer(body):
        assert set(body) <= {"TableArn", "NextToken"} and body["TableArn"].endswith(":table/any-Things")
        at = int(body.get("NextToken", 0))
        page = range(at, min(at + a_page, count))
        exports = [
            {"ExportArn": f"{body['TableArn']}/export/{n:04}", "ExportStatus": "COMPLETED", "ExportType": "FULL_EXPORT"}
            for n in page
        ]
        more = {"NextToken": str(page.stop)} if page.stop < count else {}
        return {"ExportSummaries": exports, **more}

    return answer


@pytest.fixture
def exports(proxy):
    """A service that knows exports; the local servers don't. It has as many as one page of the AWS tools,
    which read no further one."""
    proxy.fault("canned", op="ListExports", times=None, answer=canned_exports(25))


@pytest.fixture
def backups(proxy):
    """A service that knows backups; the local servers don't."""
    proxy.fault("canned", op="ListBackups", times=None, answer=canned_backups(5))
    answer = {"ContinuousBackupsDescription": CONTINUOUS}
    proxy.fault("canned", op="DescribeContinuousBackups", times=None, answer=lambda _body: answer)


def test_only_the_schema_is_listed(bare, things, cost):
    """The others take requests, which may be denied or not known."""
    listed = bare("ls", "-l", f"/tables/{things}").text
    assert [name for name in FILES if name in listed] == ["schema.json"]
    assert cost() == ["DescribeTable"]


def test_the_readme_tells_keys_counts_and_files(bare, table, proxy, cost):
    schema = tables.plain()
    schema["AttributeDefinitions"].append({"AttributeName": "on", "AttributeType": "N"})
    keys = [{"AttributeName": "sk", "KeyType": "HASH"}, {"AttributeName": "on", "KeyType": "RANGE"}]
    held = {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["note"]}
    schema["GlobalSecondaryIndexes"] = [{"IndexName": "by-day", "KeySchema": keys, "Projection": held}]
    name = table(schema)

    def change(body):
        body["Table"].update(ItemCount=1234, TableSizeBytes=56789)

    proxy.fault("alter", op="DescribeTable", times=None, change=change)
    told = bare("cat", f"/tables/{name}/README").text
    assert f"{name} has 1234 items with 56789 bytes" in told and "six hours old" in told
    assert "Its key: pk (S), sk (S)." in told
    assert "Global index by-day: sk (S); in the order of on (N); holds keys, note." in told
    assert all(each in told for each in FILES)
    assert cost() == ["DescribeTable"]


def below(told, path):
    """What README says of PATH; of a listing behind its cost."""
    lines = [line.strip() for line in told.splitlines()]
    indents = [len(line) - len(line.lstrip()) for line in told.splitlines()]
    at = lines.index(path)
    end = next((i for i in range(at + 1, len(lines)) if indents[i] <= indents[at]), len(lines))
    return lines[at + (2 if "{pk}" in path else 1) : end]


IN_ORDER = "last key first; in a mount ls sorts by name: ls -U keeps the order"


def test_the_readme_tells_once_what_a_window_cuts(bare, table):
    schema = tables.table("any-Things", sort="N")
    schema["AttributeDefinitions"].append({"AttributeName": "on", "AttributeType": "S"})
    schema["AttributeDefinitions"].append({"AttributeName": "at", "AttributeType": "S"})
    schema["GlobalSecondaryIndexes"] = [
        {
            "IndexName": f"by-{sort}",
            "KeySchema": [
                {"AttributeName": "pk", "KeyType": "HASH"},
                {"AttributeName": sort, "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "ALL"},
        }
        for sort in ("on", "at")
    ]
    told = bare("cat", f"/tables/{table(schema)}/README").text
    assert below(told, "items/{pk}/") == ["windows 1"]
    assert below(told, "by/by-on/{pk}/") == below(told, "by/by-at/{pk}/") == ["windows 2"]
    first, second = told.split("\n  windows 1\n")[1].split("\n  windows 2: those of windows 1, and\n")
    assert below(first, "last/") == ["the last 100", IN_ORDER]
    assert below(first, "last:{count}/") == ["the last {count}", IN_ORDER]
    assert below(first, "first/") == ["the first 100"]
    assert below(first, "{from}..{to}/") == ["both ends included"]
    assert below(first, "after:{key}/") == ["the next 1000 behind {key}; continue with the last name"]
    assert below(second, "{from}..{to}/") == ["both ends included, and all that begins with {to}"]
    assert below(second, "{prefix}*/") == ["all that begins with {prefix}; quote the * in a shell"]
    assert "last/" not in second
    assert below(second, "after:{key}/") == [
        "the next 1000 behind {key}, and those with the same key as the last; "
        "continue with the index's sort key of the last"
    ]
    assert told.count("after:{key}/") == 2, "and nowhere else"


def test_bytes_are_left_out_where_nobody_counts_them(bare, things, proxy):
    def change(body):
        body["Table"].update(ItemCount=92, TableSizeBytes=0)

    proxy.fault("alter", op="DescribeTable", times=None, change=change)
    told = bare("cat", f"/tables/{things}/README").text
    assert f"{things} has 92 items (DescribeTable" in told


def test_the_schema_is_what_the_service_wrote(bare, things, proxy, cost):
    """Members in its order and blanks of its own: not printed anew."""
    text = '{"Table" :{"TableName":"any-Things","Z":[1, 2.50],"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}]'
    text += ',"AttributeDefinitions":[{"AttributeType":"S","AttributeName":"pk"}],"A":{"é":1e3}}}'
    proxy.fault("raw", op="DescribeTable", body=text.encode())
    assert bare("cat", f"/tables/{things}/schema.json").text == text[len('{"Table" :') : -1] + "\n"
    assert cost() == ["DescribeTable"]


def test_the_schema_is_that_of_the_service(bare, things, boto):
    got = json.loads(bare("cat", f"/tables/{things}/schema.json").text)
    told = boto.describe_table(TableName=things)["Table"]
    assert got["TableName"] == things and got["KeySchema"] == told["KeySchema"]
    assert got["ItemCount"] == told["ItemCount"]


def test_what_its_items_expire_by(bare, things, proxy, cost):
    answer = {"TimeToLiveDescription": {"TimeToLiveStatus": "ENABLED", "AttributeName": "gone_at"}}
    proxy.fault("canned", op="DescribeTimeToLive", answer=lambda _body: answer)
    got = json.loads(bare("cat", f"/tables/{things}/ttl.json").text)
    assert got == answer["TimeToLiveDescription"]
    assert sorted(cost()) == ["DescribeTable", "DescribeTimeToLive"]


def test_its_backups_of_both_kinds(bare, things, backups, cost):
    got = json.loads(bare("cat", f"/tables/{things}/backups.json").text)
    assert [each["BackupName"] for each in got["BackupSummaries"]] == [f"nightly-{n}" for n in range(5)]
    assert got["ContinuousBackupsDescription"] == CONTINUOUS
    asked = cost()
    assert asked.count("ListBackups") == 3 and asked.count("DescribeContinuousBackups") == 1
    assert len(asked) == 5


def test_its_exports_page_by_page(bare, things, proxy, cost):
    proxy.fault("canned", op="ListExports", times=None, answer=canned_exports(60))
    described = json.loads(bare("cat", f"/tables/{things}/schema.json").text)
    proxy.clear()
    got = json.loads(bare("cat", f"/tables/{things}/exports.json").text)["ExportSummaries"]
    assert [each["ExportArn"][-4:] for each in got] == [f"{n:04}" for n in range(60)]
    assert proxy.requests[1].body["TableArn"] == described["TableArn"]
    assert cost() == ["DescribeTable"] + ["ListExports"] * 3


def test_a_table_without_exports(bare, things, proxy):
    proxy.fault("canned", op="ListExports", answer=canned_exports(0))
    assert bare("cat", f"/tables/{things}/exports.json").text == '{"ExportSummaries":[]}\n'


def test_exports_of_another_table_are_refused(bare, things, proxy):
    answer = {"ExportSummaries": [{"ExportArn": "arn:aws:dynamodb:us-east-1:1:table/Other/export/1"}]}
    proxy.fault("canned", op="ListExports", answer=lambda _body: answer)
    result = bare("cat", f"/tables/{things}/exports.json", expect=1)
    assert result.stdout == b"" and "not DynamoDB's" in result.stderr


def test_a_service_that_states_no_arn_has_no_exports(bare, things, proxy):
    proxy.fault("alter", op="DescribeTable", times=None, change=lambda body: body["Table"].pop("TableArn"))
    result = bare("cat", f"/tables/{things}/exports.json", expect=1)
    assert "ListExports takes the table's ARN" in result.stderr and "ListExports" not in proxy.ops


def test_a_server_without_exports_says_so_and_bothers_no_listing(bare, things, proxy):
    """The local server's own answer. The file is not listed, so that ls and find never ask for it."""
    result = bare("cat", f"/tables/{things}/exports.json", expect=1)
    assert result.stdout == b"" and "does not know ListExports" in result.stderr
    proxy.clear()
    assert "exports.json" not in bare("ls", f"/tables/{things}").text
    assert "ListExports" not in proxy.ops


def test_a_table_without_backups(bare, things, backups, proxy):
    proxy.heal()
    proxy.fault("canned", op="ListBackups", answer=lambda _body: {"BackupSummaries": []})
    answer = {"ContinuousBackupsDescription": {"ContinuousBackupsStatus": "ENABLED"}}
    proxy.fault("canned", op="DescribeContinuousBackups", answer=lambda _body: answer)
    text = bare("cat", f"/tables/{things}/backups.json").text
    assert text == '{"BackupSummaries":[],"ContinuousBackupsDescription":%s}\n' % json.dumps(
        answer["ContinuousBackupsDescription"]
    )


ARN = "arn:aws:dynamodb:us-east-1:123456789012:table/any-Things/stream/2026-11-19T10:00:00.000"
STREAM = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}


def shard(number):
    return {"ShardId": f"shardId-{number:04}", "SequenceNumberRange": {"StartingSequenceNumber": str(number)}}


def canned_shards(count, a_page=100):
    """DescribeStream of a stream with COUNT shards, as the service pages them."""

    def answer(body):
        assert body["StreamArn"] == ARN
        start = body.get("ExclusiveStartShardId")
        at = int(start.rpartition("-")[2]) + 1 if start else 0
        page = [shard(number) for number in range(at, min(at + a_page, count))]
        more = {"LastEvaluatedShardId": page[-1]["ShardId"]} if at + len(page) < count else {}
        return {"StreamDescription": {"StreamArn": ARN, "StreamStatus": "ENABLED", "Shards": page, **more}}

    return answer


def describe_with(proxy, **members):
    proxy.fault("alter", op="DescribeTable", times=None, change=lambda body: body["Table"].update(members))


def test_its_stream_with_all_shards(bare, things, proxy, cost):
    describe_with(proxy, StreamSpecification=STREAM, LatestStreamArn=ARN, LatestStreamLabel="2026-11-19")
    proxy.fault("canned", op="DescribeStream", times=None, answer=canned_shards(250))
    got = json.loads(bare("cat", f"/tables/{things}/stream.json").text)
    assert got["StreamSpecification"] == STREAM and got["LatestStreamArn"] == ARN
    stream = got["StreamDescription"]
    assert stream["Shards"] == [shard(number) for number in range(250)]
    assert stream["StreamStatus"] == "ENABLED" and "LastEvaluatedShardId" not in stream
    assert cost() == ["DescribeTable", "DescribeStream", "DescribeStream", "DescribeStream"]


def test_its_stream_on_a_server(bare, table, boto):
    schema = tables.plain()
    schema["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
    name = table(schema, name="any-Streamed")  # DynamoDB Local keeps the stream of a name
    told = boto.describe_table(TableName=name)["Table"]
    got = json.loads(bare("cat", f"/tables/{name}/stream.json").text)
    assert got["LatestStreamArn"] == told["LatestStreamArn"]
    assert got["StreamSpecification"] == told["StreamSpecification"]
    assert got["StreamDescription"]["TableName"] == name and got["StreamDescription"]["Shards"]


def test_a_table_without_a_stream(bare, things, cost):
    assert bare("cat", f"/tables/{things}/stream.json").text == '{"StreamSpecification":{"StreamEnabled":false}}\n'
    assert cost() == ["DescribeTable"]


def test_a_stream_that_was_disabled(bare, things, proxy):
    """Its shards stay for a day."""
    describe_with(proxy, LatestStreamArn=ARN)
    proxy.fault("canned", op="DescribeStream", times=1, answer=canned_shards(1))
    got = json.loads(bare("cat", f"/tables/{things}/stream.json").text)
    assert got["StreamSpecification"] == {"StreamEnabled": False}
    assert got["StreamDescription"]["Shards"] == [shard(0)]
    proxy.fault("error", op="DescribeStream", code="ResourceNotFoundException", times=1)
    got = json.loads(bare("cat", f"/tables/{things}/stream.json").text)
    assert got == {"StreamSpecification": {"StreamEnabled": False}, "LatestStreamArn": ARN}


def test_a_stream_that_should_exist_and_does_not_is_an_error(bare, things, proxy):
    describe_with(proxy, StreamSpecification=STREAM, LatestStreamArn=ARN)
    proxy.fault("error", op="DescribeStream", code="ResourceNotFoundException", times=1)
    done = bare("cat", f"/tables/{things}/stream.json", expect=1)
    assert done.stdout == b"" and "ResourceNotFoundException" in done.stderr


def test_a_file_without_an_end_is_for_mounts(bare, things):
    for command in ("cat", "ls"):
        done = bare(command, f"/tables/{things}/changes.jsonl", expect=1)
        assert done.stdout == b"" and "use ddbfs tail with the directory of the table" in done.stderr
    told = bare("explain", f"/tables/{things}/changes.jsonl").text
    assert "DescribeStream of the stream of any-Things" in told and "GetRecords 1800 times an hour" in told


@rows("name, op", [("ttl.json", "DescribeTimeToLive"), ("backups.json", "ListBackups"), ("exports.json", "ListExports")])
def test_an_operation_that_is_not_known_is_an_error(bare, things, proxy, name, op):
    proxy.fault("error", op=op, code="UnknownOperationException", times=None)
    answer = {"ContinuousBackupsDescription": CONTINUOUS}  # its own error could come first
    proxy.fault("canned", op="DescribeContinuousBackups", times=None, answer=lambda _body: answer)
    result = bare("cat", f"/tables/{things}/{name}", expect=1)
    assert result.stdout == b"" and f"does not know {op}" in result.stderr


@rows(
    "name, op",
    [
        ("ttl.json", "DescribeTimeToLive"),
        ("backups.json", "ListBackups"),
        ("backups.json", "DescribeContinuousBackups"),
        ("exports.json", "ListExports"),
    ],
)
def test_no_permission_names_what_is_missing(bare, things, backups, proxy, name, op):
    proxy.heal()
    proxy.fault("denied", op=op, times=None)
    others = canned_backups(0)
    proxy.fault("canned", op="ListBackups", times=None, answer=others)
    answer = {"ContinuousBackupsDescription": CONTINUOUS}
    proxy.fault("canned", op="DescribeContinuousBackups", times=None, answer=lambda _body: answer)
    result = bare("cat", f"/tables/{things}/{name}", expect=1)
    assert result.stdout == b"" and f"dynamodb:{op}" in result.stderr


def test_explain_tells_commands_and_cost(bare, things):
    told = bare("explain", f"/tables/{things}/schema.json").text
    assert "DescribeTable of any-Things" in told and "aws dynamodb describe-table --table-name any-Things" in told
    told = bare("explain", f"/tables/{things}/ttl.json").text
    assert "cost   1 request" in told and "describe-time-to-live --table-name any-Things" in told
    told = bare("explain", f"/tables/{things}/stream.json").text
    assert "cost   1 request" in told and "aws dynamodbstreams describe-stream --stream-arn" in told
    told = bare("explain", f"/tables/{things}/backups.json").text
    assert "cost   2 requests" in told and "read unit" not in told
    assert "list-backups --table-name any-Things --backup-type ALL" in told
    assert "; aws dynamodb describe-continuous-backups --table-name any-Things" in told
    told = bare("explain", f"/tables/{things}/exports.json").text
    assert "cost   1 request" in told and "ListExports of any-Things" in told
    assert "list-exports --table-arn arn:aws:dynamodb:" in told and ":table/any-Things" in told


def test_a_map_s_own_tables_have_none(ddbfs):
    assert not set(FILES) & set(ddbfs("ls", "/prod/jobs").text.split())
    ddbfs("cat", "/prod/jobs/schema.json", expect=3)


def test_below_an_environment(ddbfs, things):
    assert json.loads(ddbfs("cat", f"/prod/tables/{things}/schema.json").text)["TableName"] == things


@rows("name", ["schema.json", "ttl.json", "backups.json", "exports.json"])
def test_printed_commands_send_the_very_requests(bare, things, backups, exports, proxy, shell, name):
    said = json.loads(bare("explain", "--json", f"/tables/{things}/{name}").text)["aws"]
    proxy.clear()
    bare("cat", f"/tables/{things}/{name}")
    asked = [(each.op, each.body) for each in proxy.requests]
    proxy.clear()
    shell(said)
    by_name = lambda pair: (pair[0], str(pair[1]))  # noqa: E731
    own = [pair for pair in asked if name == "schema.json" or pair[0] != "DescribeTable"]
    assert sorted([(each.op, each.body) for each in proxy.requests], key=by_name) == sorted(own, key=by_name)


def test_the_printed_command_of_a_stream_finds_it(bare, table, shell, proxy):
    """By the table, whose description ddbfs has already."""
    schema = tables.plain()
    schema["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
    path = f"/tables/{table(schema, name='any-Streamed')}/stream.json"
    said = json.loads(bare("explain", "--json", path).text)["aws"]
    told = json.loads(bare("cat", path).text)["StreamDescription"]
    proxy.clear()
    got = json.loads(shell(said).text)["StreamDescription"]
    assert (got["StreamArn"], got["Shards"]) == (told["StreamArn"], told["Shards"])
    assert proxy.ops == ["DescribeTable", "DescribeStream"]


# The table's state in its README.

STATE = {
    "BillingModeSummary": {"BillingMode": "PAY_PER_REQUEST"},
    "OnDemandThroughput": {"MaxReadRequestUnits": 400, "MaxWriteRequestUnits": -1},
    "WarmThroughput": {"ReadUnitsPerSecond": 12000, "WriteUnitsPerSecond": 4000, "Status": "ACTIVE"},
    "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
    "LatestStreamArn": "arn:aws:dynamodb:us-east-1:123456789012:table/any-Things/stream/2026-11-19T00:00:00.000",
    "Replicas": [{"RegionName": "eu-west-1", "ReplicaStatus": "ACTIVE"}, {"RegionName": "us-east-2", "ReplicaStatus": "CREATING"}],
    "GlobalTableWitnesses": [{"RegionName": "eu-west-3", "WitnessStatus": "ACTIVE"}],
    "MultiRegionConsistency": "STRONG",
    "VectorIndexes": [
        {
            "IndexName": "alike",
            "VectorAttribute": {"AttributeName": "embedding"},
            "Dimensions": 768,
            "DistanceFunction": "COSINE",
            "IndexStatus": "CREATING",
            "Backfilling": True,
        }
    ],
}


def test_the_readme_tells_the_state_of_the_table(bare, things, proxy, cost):
    proxy.fault("alter", op="DescribeTable", times=None, change=lambda body: body["Table"].update(STATE))
    told = bare("cat", f"/tables/{things}/README").text
    for line in (
        "Throughput: on demand, at most 400 RCU per second (its on-demand maximum); "
        "12000 RCU and 4000 WCU per second at once (its warm throughput).",
        "Stream: enabled, NEW_IMAGE: each change has the item after it, and not the one before. "
        "ddbfs tail and --live follow it.",
        "Replicas: eu-west-1 (ACTIVE), us-east-2 (CREATING), eu-west-3 (a witness, without items, ACTIVE); "
        "their consistency is strong: a consistent read sees the writes of all regions.",
        "Vector index alike: embedding, 768 dimensions, COSINE; not ready: CREATING, Backfilling: "
        "searches fail until it is filled.",
    ):
        assert line in told.splitlines()
    assert cost() == ["DescribeTable"]


def test_the_readme_of_an_index_that_is_filled_says_so(bare, table, proxy):
    schema = tables.plain()
    keys = [{"AttributeName": "sk", "KeyType": "HASH"}]
    schema["GlobalSecondaryIndexes"] = [
        {"IndexName": "turned", "KeySchema": keys, "Projection": {"ProjectionType": "ALL"}}
    ]
    name = table(schema)

    def change(body):
        units = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 6}
        state = {"IndexStatus": "CREATING", "Backfilling": True, "ProvisionedThroughput": units}
        body["Table"].pop("BillingModeSummary", None)
        body["Table"]["GlobalSecondaryIndexes"][0].update(state)

    proxy.fault("alter", op="DescribeTable", times=None, change=change)
    told = bare("cat", f"/tables/{name}/README").text.splitlines()
    assert "Index turned is CREATING, so that queries of it fail." in told
    assert "Throughput of index turned: 5 RCU and 6 WCU per second." in told
    drafted = " ".join(bare("map", name).text.replace("//", " ").split())
    assert "Index turned is CREATING, so that queries of it fail." in drafted


def test_the_schema_has_the_state_as_the_service_wrote_it(bare, things, proxy):
    proxy.fault("alter", op="DescribeTable", times=None, change=lambda body: body["Table"].update(STATE))
    got = json.loads(bare("cat", f"/tables/{things}/schema.json").text)
    assert {name: got[name] for name in STATE} == STATE


def test_a_description_too_large_to_keep_is_told_of(bare, things, proxy):
    proxy.fault("alter", op="DescribeTable", times=None, change=lambda body: body["Table"].update(Note="x" * 70000))
    told = bare("cat", f"/tables/{things}/README").text
    assert "Its description is large: schema.json has its throughput, stream and replicas." in told


def test_a_replica_s_stream_and_consistency_are_in_a_drafted_map(bare, things, proxy):
    proxy.fault("alter", op="DescribeTable", times=None, change=lambda body: body["Table"].update(STATE))
    drafted = " ".join(bare("map", things).text.replace("//", " ").split())
    assert "Stream: enabled, NEW_IMAGE" in drafted and "their consistency is strong" in drafted
