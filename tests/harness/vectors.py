"""Tables with vector indexes. boto3 does not know these, so the requests are plain JSON."""

import json
import math
import urllib.error
import urllib.request

DIMENSIONS = 3


def send(url, op, body):
    """The response's JSON, sent as boto3 would send it to a local server, which checks no signature."""
    headers = {
        "Content-Type": "application/x-amz-json-1.0",
        "X-Amz-Target": f"DynamoDB_20120810.{op}",
        "X-Amz-Date": "20260101T000000Z",
        "Authorization": "AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/dynamodb/aws4_request, "
        "SignedHeaders=host, Signature=x",
    }
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        raise AssertionError(f"{op}: {error.read().decode()}") from error


def index(name, distance="COSINE", partition=None, projection="KEYS_ONLY"):
    """What CreateTable is told of a vector index of the attribute `embedding`."""
    told = {
        "IndexName": name,
        "VectorAttribute": {"AttributeName": "embedding"},
        "Dimensions": DIMENSIONS,
        "DistanceFunction": distance,
        "Projection": {"ProjectionType": projection},
    }
    if partition:
        told["SearchSchema"] = [{"AttributeName": partition, "SearchSchemaElementType": "HASH"}]
    return told


def vector(*numbers):
    return {"L": [{"N": str(number)} for number in numbers]}


def document(number):
    """An item whose vector is the farther from that of number 0 the greater NUMBER is."""
    angle = number / 20
    return {
        "pk": {"S": f"p{number % 3}"},
        "sk": {"S": f"s{number}"},
        "lang": {"S": "en" if number % 2 else "de"},
        "title": {"S": f"Title {number}"},
        "embedding": vector(round(math.cos(angle), 6), round(math.sin(angle), 6), 0),
    }


def create(url, name, indexes, items=(), partition="S", sort="S"):
    """The table NAME with pk and sk (None: without), with INDEXES and ITEMS."""
    types = {"pk": partition, **({"sk": sort} if sort else {})}
    keys = [{"AttributeName": "pk", "KeyType": "HASH"}]
    keys += [{"AttributeName": "sk", "KeyType": "RANGE"}] if sort else []
    if any("SearchSchema" in each for each in indexes):
        types["lang"] = "S"
    description = {
        "TableName": name,
        "AttributeDefinitions": [{"AttributeName": key, "AttributeType": each} for key, each in types.items()],
        "KeySchema": keys,
        "BillingMode": "PAY_PER_REQUEST",
        **({"VectorIndexes": indexes} if indexes else {}),
    }
    send(url, "CreateTable", description)
    while not is_ready(send(url, "DescribeTable", {"TableName": name})["Table"]):
        pass
    for item in items:
        send(url, "PutItem", {"TableName": name, "Item": item})
    return name


def is_ready(table):
    return all(each["IndexStatus"] == "ACTIVE" for each in table.get("VectorIndexes", []))


def nearest(url, table, name, item, count, partition=None):
    """The oracle: the results of the server itself for ITEM's vector."""
    request = {
        "TableName": table,
        "IndexName": name,
        "SearchVector": item["embedding"]["L"],
        "TopK": count,
        "ReturnConsumedCapacity": "TOTAL",
    }
    if partition:
        request["SearchConditionExpression"] = "#p = :p"
        request["ExpressionAttributeNames"] = {"#p": partition}
        request["ExpressionAttributeValues"] = {":p": item[partition]}
    return send(url, "SearchVectors", request)["SearchResults"]
