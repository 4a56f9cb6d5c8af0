"""The recording proxy does what the other tests trust it to do; boto3 is its client here."""

import datetime
import http.client
import json
import socket
import time
import zlib

import boto3
import botocore.config
import botocore.exceptions
import pytest

from harness import proxy as proxies, servers

TABLE = "prod-EcomIndexerJobsTable"
SHOP = "PLATFORM#shopify#SHOP#kl7a9h55-shopify-e513a8-4"
SETTINGS = {
    "TableName": "prod-ShopifyEntitiesTable",
    "Key": {"pk": {"S": "SHOP#cool-store.myshopify.com"}, "sk": {"S": "SETTINGS"}},
}
CONTROLLER = "DEMOCONTROLLERKEY001"


def jobs_query(**more):
    return {
        "TableName": TABLE,
        "KeyConditionExpression": "pk = :p",
        "ExpressionAttributeValues": {":p": {"S": SHOP}},
        **more,
    }


def make_client(proxy, access_key=CONTROLLER, region="us-east-1", **changed):
    key = proxies.KEYS.get(access_key)
    config = botocore.config.Config(retries={"total_max_attempts": 1}, proxies={}, read_timeout=5)
    given = {
        "aws_access_key_id": access_key,
        "aws_secret_access_key": key.secret if key else "unknown",
        "aws_session_token": key.token if key else None,
        **changed,
    }
    return boto3.client(
        "dynamodb", endpoint_url=proxy.url, region_name=region, config=config, **given
    )


@pytest.fixture
def client(proxy):
    return make_client(proxy)


def refusal(call, *arguments, **named):
    """The code and message of the error that a call must end in."""
    with pytest.raises(botocore.exceptions.ClientError) as caught:
        call(*arguments, **named)
    return caught.value.response["Error"]["Code"], caught.value.response["Error"]["Message"]


def all_pages(client, **query):
    """The items of all pages, and how many pages there were."""
    items, pages, start = [], 0, {}
    while True:
        page = client.query(**query, **start)
        items += page["Items"]
        pages += 1
        if "LastEvaluatedKey" not in page:
            return items, pages
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}


# Lots.


def test_a_fault_meets_a_share_of_requests(proxy, client):
    fault = proxy.fault("gzip", times=None, chance=0.5)
    for _ in range(40):
        client.get_item(**SETTINGS)
    drawn = [each.lot < 0.5 for each in proxy.requests]
    assert fault.met == sum(drawn) and 0 < fault.met < len(drawn)
    assert [bool(each.faults) for each in proxy.requests] == drawn


# Signatures.


def test_a_good_signature_passes(client, boto):
    assert client.get_item(**SETTINGS)["Item"] == boto.get_item(**SETTINGS)["Item"]


def test_a_session_token_is_part_of_the_signature(proxy, boto):
    client = make_client(proxy, "DEMOSESSIONKEY000001")
    assert client.get_item(**SETTINGS)["Item"] == boto.get_item(**SETTINGS)["Item"]


def test_a_wrong_secret_is_refused(proxy):
    proxy.allow_refusals = True
    client = make_client(proxy, aws_secret_access_key="another")
    assert refusal(client.get_item, **SETTINGS)[0] == "InvalidSignatureException"


def test_an_unknown_key_is_refused(proxy):
    proxy.allow_refusals = True
    client = make_client(proxy, "DEMOUNKNOWNKEY000001")
    assert refusal(client.get_item, **SETTINGS)[0] == "UnrecognizedClientException"


@pytest.mark.parametrize("token", [None, "another-token"])
def test_a_missing_or_wrong_token_is_refused(proxy, token):
    proxy.allow_refusals = True
    client = make_client(proxy, "DEMOSESSIONKEY000001", aws_session_token=token)
    assert refusal(client.get_item, **SETTINGS)[0] == "UnrecognizedClientException"


def test_another_region_is_refused(proxy):
    proxy.allow_refusals = True
    code, message = refusal(make_client(proxy, region="eu-west-1").get_item, **SETTINGS)
    assert code == "InvalidSignatureException" and "eu-west-1" in message


@pytest.mark.parametrize("offset_s, words", [(400, "Signature expired"), (-400, "not yet current")])
def test_a_clock_more_than_five_minutes_off_is_refused(proxy, client, offset_s, words):
    proxy.allow_refusals = True
    proxy.clock_offset_s = offset_s
    code, message = refusal(client.get_item, **SETTINGS)
    assert code == "InvalidSignatureException" and words in message


def test_four_minutes_off_is_fine(proxy, client):
    proxy.clock_offset_s = 240
    assert "Item" in client.get_item(**SETTINGS)


def test_the_date_header_is_the_clock_of_the_service(proxy, client):
    proxy.clock_offset_s = 200
    date = client.get_item(**SETTINGS)["ResponseMetadata"]["HTTPHeaders"]["date"]
    seen = datetime.datetime.strptime(date, "%a, %d %b %Y %H:%M:%S GMT")
    ahead = seen.replace(tzinfo=datetime.timezone.utc).timestamp() - time.time()
    assert 150 < ahead < 250


def tampered(client, change):
    """The client alters each request after it was signed."""

    def before_send(request, **_):
        change(request)

    client.meta.events.register("before-send.dynamodb", before_send)
    return client


def drop_from_signed(request, name):
    text = request.headers["Authorization"].decode("ascii")
    request.headers["Authorization"] = text.replace(f"{name};", "")


CHANGES = {
    "body": lambda request: setattr(
        request, "body", request.body.replace(b"SETTINGS", b"API_KEY1")
    ),
    "target": lambda request: request.headers.__setitem__(
        "X-Amz-Target", "DynamoDB_20120810.Query"
    ),
    "content-type": lambda request: request.headers.__setitem__("Content-Type", "application/json"),
    "unsigned content-type": lambda request: drop_from_signed(request, "content-type"),
    "unsigned date": lambda request: drop_from_signed(request, "x-amz-date"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_tampered_request_is_refused(proxy, client, what):
    proxy.allow_refusals = True
    code, _ = refusal(tampered(client, CHANGES[what]).get_item, **SETTINGS)
    assert code == "InvalidSignatureException"
    assert proxy.refusals and proxy.requests[0].status == 400


def plain_post(proxy, headers, body=b"{}"):
    connection = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=5)
    connection.request("POST", "/", body, headers)
    answer = connection.getresponse()
    status, text = answer.status, answer.read()
    connection.close()
    return status, text


def test_no_signature_is_refused(proxy):
    proxy.allow_refusals = True
    status, text = plain_post(proxy, {"X-Amz-Target": "DynamoDB_20120810.ListTables"})
    assert status == 400
    assert json.loads(text)["__type"].endswith("#MissingAuthenticationTokenException")


def test_a_refused_signature_is_a_problem_unless_allowed(proxy):
    refusal(make_client(proxy, aws_secret_access_key="another").get_item, **SETTINGS)
    assert any("InvalidSignatureException" in problem for problem in proxy.problems())
    proxy.allow_refusals = True
    assert proxy.problems() == []


# Records.


def test_every_request_is_recorded(proxy, client):
    client.get_item(**SETTINGS)
    by_id = {"IndexName": "GSI_JobLookup_v2", "KeyConditionExpression": "job_id = :j"}
    client.query(TableName=TABLE, ExpressionAttributeValues={":j": {"S": "x"}}, **by_id)
    got, asked = proxy.requests
    assert (got.op, got.table, got.index, got.status) == (
        "GetItem",
        SETTINGS["TableName"],
        None,
        200,
    )
    assert (asked.op, asked.table, asked.index) == ("Query", TABLE, "GSI_JobLookup_v2")
    assert got.body["Key"] == SETTINGS["Key"] and got.access_key == CONTROLLER
    assert got.request_bytes > 50 and got.response_bytes > 100 and got.request_id
    assert proxy.connections() == 1 and proxy.accepted == 1


def test_connections_are_told_apart(proxy):
    for _ in range(3):
        make_client(proxy).list_tables()
    assert proxy.connections() == 3 and proxy.ops == ["ListTables"] * 3


def test_a_batch_is_recorded_with_its_table(proxy, client):
    client.batch_get_item(RequestItems={SETTINGS["TableName"]: {"Keys": [SETTINGS["Key"]]}})
    assert proxy.requests[0].table == SETTINGS["TableName"]


def test_the_server_s_own_errors_pass_through(proxy, client):
    code, _ = refusal(client.get_item, **{**SETTINGS, "TableName": "prod-Nowhere"})
    assert code == "ResourceNotFoundException"
    assert proxy.requests[0].error == "ResourceNotFoundException"


def test_checksum_date_and_request_id_are_always_sent(client):
    headers = client.list_tables()["ResponseMetadata"]["HTTPHeaders"]
    assert headers["x-amz-crc32"].isdigit() and headers["x-amzn-requestid"] and headers["date"]


# Forbidden operations.

ITEM = {"pk": {"S": "x"}, "sk": {"S": "y"}}
FORBIDDEN = {
    "Scan": lambda client: client.scan(TableName=TABLE),
    "PutItem": lambda client: client.put_item(TableName=TABLE, Item=ITEM),
    "DeleteItem": lambda client: client.delete_item(TableName=TABLE, Key=ITEM),
    "UpdateItem": lambda client: client.update_item(TableName=TABLE, Key=ITEM),
    "DeleteTable": lambda client: client.delete_table(TableName=TABLE),
    "ExecuteStatement": lambda client: client.execute_statement(Statement="DELETE FROM x"),
}


@pytest.mark.parametrize("op", FORBIDDEN)
def test_a_forbidden_operation_is_refused_and_remembered(proxy, client, boto, op):
    before = boto.describe_table(TableName=TABLE)["Table"]["ItemCount"]
    assert refusal(FORBIDDEN[op], client)[0] == "ForbiddenByTestProxy"
    assert [op in problem for problem in proxy.problems()] == [True]
    assert len(proxies.VIOLATIONS) == 1
    assert len(proxy.take_violations()) == 1
    assert proxy.problems() == [] and proxies.VIOLATIONS == []
    assert boto.describe_table(TableName=TABLE)["Table"]["ItemCount"] == before
    assert "Item" not in boto.get_item(TableName=TABLE, Key=ITEM)


def test_a_scan_passes_where_a_test_allows_it(proxy, client):
    proxy.allow_scan = True
    assert client.scan(TableName=TABLE)["Count"] > 0
    assert proxy.problems() == []
    proxy.reset()
    assert refusal(FORBIDDEN["Scan"], client)[0] == "ForbiddenByTestProxy"
    proxy.take_violations()


@pytest.mark.parametrize("target", [None, "DynamoDBStreams_20120810.ListTables", "GetItem"])
def test_anything_else_is_a_violation(proxy, target):
    status, _ = plain_post(proxy, {"X-Amz-Target": target} if target else {})
    assert status == 403 and len(proxy.take_violations()) == 1


# Faults.

ERRORS = {
    "throttle": "ProvisionedThroughputExceededException",
    "server_error": "InternalServerError",
    "expired": "ExpiredTokenException",
    "denied": "AccessDeniedException",
    "error": "ValidationException",
}


@pytest.mark.parametrize("kind", ERRORS)
def test_an_error_is_answered_as_often_as_asked(proxy, client, kind):
    proxy.fault(kind, op="GetItem", times=2)
    assert refusal(client.get_item, **SETTINGS)[0] == ERRORS[kind]
    assert refusal(client.get_item, **SETTINGS)[0] == ERRORS[kind]
    assert "Item" in client.get_item(**SETTINGS)
    assert [record.faults for record in proxy.requests] == [[kind], [kind], []]


def test_a_fault_meets_only_what_it_names(proxy, client):
    proxy.fault("denied", op="Query", table=TABLE, index="GSI_JobLookup_v2", times=None)
    assert "Item" in client.get_item(**SETTINGS)
    assert client.query(**jobs_query())["Count"] > 0
    condition = {
        "KeyConditionExpression": "job_id = :j",
        "ExpressionAttributeValues": {":j": {"S": "x"}},
    }
    lookup = {"TableName": TABLE, "IndexName": "GSI_JobLookup_v2", **condition}
    for _ in range(3):
        assert "index/GSI_JobLookup_v2" in refusal(client.query, **lookup)[1]
    proxy.heal()
    assert client.query(**lookup)["Count"] == 0


def test_a_server_error_has_the_status_asked_for(proxy, client):
    proxy.fault("server_error", status=503)
    refusal(client.list_tables)
    assert proxy.requests[0].status == 503


def signed_get_item(proxy):
    """The headers and body of a GetItem that boto3 has signed and sent."""
    seen = []
    client = make_client(proxy)
    client.meta.events.register("before-send.dynamodb", lambda request, **_: seen.append(request))
    client.get_item(**SETTINGS)
    texts = {k: v.decode() if isinstance(v, bytes) else v for k, v in seen[0].headers.items()}
    return {k: v for k, v in texts.items() if k.lower() != "accept-encoding"}, seen[0].body


def raw_answer(proxy, kind=None, accept_encoding="identity", **options):
    """The answer to a signed GetItem as it is transferred; KIND is the fault that it meets."""
    headers, body = signed_get_item(proxy)
    if kind:
        proxy.fault(kind, **options)
    connection = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=5)
    connection.request("POST", "/", body, {**headers, "Accept-Encoding": accept_encoding})
    return connection, connection.getresponse()


def test_html_comes_with_status_200(proxy):
    connection, answer = raw_answer(proxy, "html")
    assert answer.status == 200 and answer.headers["content-type"] == "text/html"
    assert answer.headers["x-amz-crc32"] is None and answer.read().startswith(b"<!DOCTYPE")
    connection.close()


def test_a_cut_body_is_shorter_than_it_says(proxy):
    connection, answer = raw_answer(proxy, "cut", keep=20)
    with pytest.raises(http.client.IncompleteRead) as caught:
        answer.read()
    assert len(caught.value.partial) == 20
    connection.close()


def test_a_wrong_checksum_is_wrong(proxy):
    connection, answer = raw_answer(proxy, "wrong_crc")
    assert zlib.crc32(answer.read()) != int(answer.headers["x-amz-crc32"])
    connection.close()


def test_without_a_fault_the_checksum_is_right(proxy):
    connection, answer = raw_answer(proxy)
    assert zlib.crc32(answer.read()) == int(answer.headers["x-amz-crc32"])
    connection.close()


def test_gzip_compresses_and_sums_the_compressed_bytes(proxy, boto):
    connection, answer = raw_answer(proxy, "gzip", accept_encoding="gzip")
    body = answer.read()
    assert answer.headers["content-encoding"] == "gzip"
    assert zlib.crc32(body) == int(answer.headers["x-amz-crc32"])
    item = json.loads(zlib.decompress(body, wbits=31))["Item"]
    assert item == boto.get_item(**SETTINGS)["Item"]
    connection.close()


def test_gzip_only_comes_to_who_accepts_it(proxy):
    connection, answer = raw_answer(proxy, "gzip")
    assert answer.headers["content-encoding"] is None and b"Item" in answer.read()
    connection.close()


def test_a_reset_connection_is_reset(proxy, client):
    proxy.fault("reset")
    with pytest.raises(botocore.exceptions.ConnectionClosedError):
        client.list_tables()
    assert proxy.requests[0].status == "reset"
    assert client.list_tables()["TableNames"]


def test_a_delay_delays(proxy, client):
    proxy.fault("delay", seconds=0.3)
    client.list_tables()
    assert proxy.requests[0].took_s >= 0.3


def test_page_size_makes_many_pages_of_the_same_items(proxy, client, boto):
    proxy.fault("page_size", op="Query", times=None, items=7)
    items, pages = all_pages(client, **jobs_query())
    assert items == boto.query(**jobs_query())["Items"] and pages >= len(items) // 7


@pytest.mark.parametrize("forward", [True, False])
def test_empty_pages_lose_nothing(proxy, client, boto, forward):
    query = jobs_query(ScanIndexForward=forward)
    proxy.fault("empty_pages", op="Query", times=3)
    items, pages = all_pages(client, **query)
    assert items == boto.query(**query)["Items"] and pages == 4


def test_empty_pages_between_full_ones_lose_nothing(proxy, client, boto):
    proxy.fault("page_size", op="Query", times=None, items=10)
    for _ in range(3):
        proxy.fault("empty_pages", op="Query", times=2)
        items, pages = all_pages(client, **jobs_query())
        assert items == boto.query(**jobs_query())["Items"] and pages == 2 + len(items) // 10 + 1


def job_keys(boto, count):
    query = jobs_query(ProjectionExpression="pk, sk", Limit=count)
    return boto.query(**query)["Items"]


def all_batches(client, asked):
    got, batches = [], 0
    while asked:
        answer = client.batch_get_item(RequestItems=asked)
        got += answer["Responses"].get(TABLE, [])
        asked = answer.get("UnprocessedKeys")
        batches += 1
    return got, batches


def test_unprocessed_keys_come_back_until_all_are_answered(proxy, client, boto):
    keys = job_keys(boto, 8)
    proxy.fault("unprocessed", times=None)
    got, batches = all_batches(client, {TABLE: {"Keys": keys, "ProjectionExpression": "pk, sk"}})
    assert batches == 4  # eight, four, two, one
    assert sorted(item["sk"]["S"] for item in got) == [key["sk"]["S"] for key in keys]


def test_a_batch_may_answer_nothing_at_all(proxy, client, boto):
    proxy.fault("unprocessed", keep=0)
    got, batches = all_batches(client, {TABLE: {"Keys": job_keys(boto, 3)}})
    assert len(got) == 3 and batches == 2


def test_faults_hold_together(proxy, client, boto):
    proxy.fault("gzip", times=None)
    proxy.fault("page_size", op="Query", times=None, items=9)
    proxy.fault("empty_pages", op="Query", times=1)
    proxy.fault("throttle", op="Query", times=1)
    assert refusal(client.query, **jobs_query())[0] == ERRORS["throttle"]
    assert all_pages(client, **jobs_query())[0] == boto.query(**jobs_query())["Items"]


def test_a_fault_that_does_not_exist_is_an_error(proxy):
    with pytest.raises(ValueError):
        proxy.fault("typo")


# Life.


def test_a_closed_proxy_leaves_no_listener(server, make_proxy):
    proxy = make_proxy(server)
    proxy.close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", proxy.port), timeout=5)


def test_a_stopped_server_is_gone(tmp_path):
    with servers.running("dynoxide") as server:
        assert server.answers()
    assert server.process.poll() is not None and not server.answers()
