"""Tables and items into a server, by boto3 and without a proxy; the sample data among them."""

import base64
import functools
import http.client
import json
import os
import subprocess
import threading
import time

import boto3
import botocore.config

from . import packages, places

REGION = "us-east-1"
BATCH = 25
SIGNED = f"AWS4-HMAC-SHA256 Credential=oracle/20261120/{REGION}/dynamodb/aws4_request, SignedHeaders=host, Signature=0"
WRITE = {
    "Content-Type": "application/x-amz-json-1.0",
    "X-Amz-Target": "DynamoDB_20120810.BatchWriteItem",
    "X-Amz-Date": "20261120T000000Z",
    "Authorization": SIGNED,
}


@functools.cache
def client(url, region=REGION, access_key="oracle", secret_key="oracle"):
    """boto3 as an oracle: it asks the server itself and sees nothing of a proxy's faults. One for all
    tests: boto3 needs longer to make a client than to send a request. The server checks the parameters; boto3
    would need a third of the time of a batch for that."""
    config = botocore.config.Config(
        retries={"mode": "standard"}, max_pool_connections=4, proxies={}, parameter_validation=False
    )
    return boto3.client(
        "dynamodb",
        endpoint_url=url,
        region_name=region,
        aws_access_key_id=access_key,
        aws_secret_access_key=secret_key,
        config=config,
    )


def tables():
    """The sample's table descriptions, without an environment's prefix."""
    return json.loads((places.EXAMPLES / "tables.json").read_text("utf-8"))


def environments():
    """Environment -> the text a line must contain to be in it."""
    return json.loads((places.EXAMPLES / "sample.json").read_text("utf-8"))["environments"]


def items(table, environment="prod"):
    """The typed items of one sample table, in one environment."""
    text = environments()[environment]
    lines = (places.EXAMPLES / f"ecommerce.{table}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line)["Item"] for line in lines if text in line]


def make_demo(file):
    """Writes the snapshot of the sample data, as the quickstart does."""
    program = places.program("DDBFS", "build-asan/fs/ddbfs", "build/fs/ddbfs")
    done = subprocess.run(["sh", places.EXAMPLES / "make_demo.sh", file], capture_output=True, text=True,
                          env={**os.environ, "DDBFS": str(program)})  # fmt: skip
    assert done.returncode == 0, done.stderr


def provisioned(description):
    """The same table for a server that knows no on-demand capacity."""
    capacity = {"ProvisionedThroughput": {"ReadCapacityUnits": 100, "WriteCapacityUnits": 100}}
    indexes = description.get("GlobalSecondaryIndexes", [])
    table = {**description, **capacity}
    table.pop("BillingMode", None)
    if indexes:
        table["GlobalSecondaryIndexes"] = [{**index, **capacity} for index in indexes]
    return table


def create_table(dynamo, description, name=None):
    """Creates it under NAME, or its own, and waits until it is active."""
    name = name or description["TableName"]
    dynamo.create_table(**provisioned({**description, "TableName": name}))
    while dynamo.describe_table(TableName=name)["Table"]["TableStatus"] != "ACTIVE":
        time.sleep(0.02)
    return name


@functools.cache
def connection(url, thread):
    """A connection of THREAD's own, which stays."""
    return http.client.HTTPConnection(url.rpartition("/")[2], timeout=60)


def text_of_bytes(value):
    return base64.b64encode(value).decode("ascii") if isinstance(value, (bytes, bytearray)) else list(value)


def write_batch(url, asked):
    """The response to a BatchWriteItem, or None if it fails: boto3 needs five times as much time for a batch."""
    link, body = connection(url, threading.get_ident()), json.dumps({"RequestItems": asked}, default=text_of_bytes)
    try:
        link.request("POST", "/", body, WRITE)
        response = link.getresponse()
        text = response.read()
        return json.loads(text) if response.status == 200 else None
    except (OSError, http.client.HTTPException):
        link.close()
        return None


def put_batch(dynamo, table, batch):
    asked = {table: [{"PutRequest": {"Item": item}} for item in batch]}
    while asked:
        done = write_batch(dynamo.meta.endpoint_url, asked)
        asked = (done or dynamo.batch_write_item(RequestItems=asked)).get("UnprocessedItems")


def put_all(dynamo, table, typed_items):
    """Writes any number of typed items; takes an iterator, and holds one batch of it."""
    batch = []
    for item in typed_items:
        batch.append(item)
        if len(batch) == BATCH:
            put_batch(dynamo, table, batch)
            batch = []
    if batch:
        put_batch(dynamo, table, batch)


def load_sample(url):
    dynamo = client(url)
    for environment in environments():
        for description in tables():
            base = description["TableName"]
            name = create_table(dynamo, description, f"{environment}-{base}")
            put_all(dynamo, name, items(base, environment))


def write_export(folder, name, typed_items):
    """The items as an export's data file, which `dynoxide import` reads."""
    data = folder / name / "data"
    data.mkdir(parents=True)
    with open(data / "items.json", "w", encoding="utf-8") as out:
        out.writelines(json.dumps({"Item": item}) + "\n" for item in typed_items)


def dynoxide_database(folder, description, typed_items):
    """A dynoxide database file with one big table: ten times faster than writing by requests.
    To serve it: servers.running("dynoxide", database=...)."""
    write_export(folder / "export", description["TableName"], typed_items)
    schema, database = folder / "schema.json", folder / "big.db"
    schema.write_text(json.dumps([description]), "utf-8")
    command = [str(packages.dynoxide()), "import", "--source", str(folder / "export")]
    command += ["--schema", str(schema), "--output", str(database), "--force"]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, capture_output=True)
    return database
