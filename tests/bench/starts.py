"""Scenarios of programs from their start: one item by a new process, a mount without a map, one page parsed."""

import re
import subprocess
import time

from bench import jobs
from bench.results import Row, scenario

PATH = f"/prod/jobs/all/many/{jobs.name(77)}"
KEY = f'{{"pk":{{"S":"SHOP#many"}},"sk":{{"S":"JOB#{jobs.name(77)}"}}}}'
BODY = f'{{"TableName":"{jobs.TABLE}","Key":{KEY}}}'
USER = "DEMOCONTROLLERKEY001:demo/controller+secret/0001"
SERVER = "zero_server many=100000"
BOTO3 = f"""\
import boto3, json, os
client = boto3.client("dynamodb", endpoint_url=os.environ["AWS_ENDPOINT_URL_DYNAMODB"])
print(json.dumps(client.get_item(TableName="{jobs.TABLE}", Key={KEY})["Item"]))
"""


def curl(url):
    """As a script would do it; the headers are those of a GetItem."""
    headers = ["-H", "Content-Type: application/x-amz-json-1.0", "-H", "X-Amz-Target: DynamoDB_20120810.GetItem"]
    return ["/usr/bin/curl", "-sSf", "--aws-sigv4", "aws:amz:us-east-1:dynamodb", "--user", USER, *headers, "-d", BODY, url + "/"]


def aws(url, *words):
    return ["/usr/bin/aws", "--endpoint-url", url, "--profile", "controller", "dynamodb", *words, "--table-name", jobs.TABLE]


def one_item_row(peer, peer_command, **goal):
    return Row(f"one item by a new process, beside {peer}", "ddbfs cat /prod/jobs/all/many/NAME", peer, peer_command,
               SERVER, **goal)  # fmt: skip


@scenario(
    one_item_row("curl", "curl --aws-sigv4 aws:amz:us-east-1:dynamodb -H … -d … URL", no_worse=1),
    one_item_row("boto3", "python3 -c 'import boto3 …'"),
    one_item_row("the AWS CLI", f"aws dynamodb get-item --table-name {jobs.TABLE} --key …", ratio=0.02),
    Row("one item by `cat` in a mount, beside the AWS CLI", "cat MNT/prod/jobs/all/many/NAME", "the AWS CLI",
        f"aws dynamodb get-item --table-name {jobs.TABLE} --key …", SERVER, ratio=0.01),
)  # fmt: skip
def one_item(stand, _, by_curl, by_boto3, by_aws, mounted_cat):
    def time_ms(*command):
        return stand.time(*command, url=server.url).wall_s * 1000

    with stand.zero() as server, stand.mount(server.url) as mounted:
        for turn in stand.rounds(100, 20):
            ours = stand.ddbfs(server.url, "cat", PATH).wall_s * 1000
            by_curl.ours.append(ours)
            by_curl.theirs.append(time_ms(*curl(server.url)))
            path = mounted.path("all", "many", jobs.name(stand.fresh(1)[0]))
            mounted_cat.ours.append(stand.time("/bin/cat", path).wall_s * 1000)
            if turn % 10 == 0:
                by_boto3.theirs.append(time_ms("/usr/bin/python3", "-c", BOTO3))
                by_aws.theirs.append(time_ms(*aws(server.url, "get-item", "--key", KEY)))
        by_boto3.ours = by_aws.ours = by_curl.ours
        mounted_cat.theirs = by_aws.theirs


@scenario(Row("a table without a map: from `ddbfs mount` to the first item", f"ddbfs mount --no-map MNT; cat MNT/tables/"
              f"{jobs.TABLE}/items/SHOP#many/JOB#NAME", "the AWS CLI", "aws dynamodb describe-table; aws dynamodb get-item",
              SERVER, ratio=0.05))  # fmt: skip
def any_table(stand, _, row):
    with stand.zero() as server:
        for _ in stand.rounds(7, 3):
            began = time.perf_counter()
            with stand.mount(server.url, "--no-map", changes={"AWS_PROFILE": "controller"}) as mounted:
                assert (mounted.folder / f"tables/{jobs.TABLE}/items/SHOP#many/JOB#{jobs.name(77)}").read_bytes()
                row.ours.append((time.perf_counter() - began) * 1000)
            described = stand.time(*aws(server.url, "describe-table"), url=server.url).wall_s
            row.theirs.append((described + stand.time(*aws(server.url, "get-item", "--key", KEY), url=server.url).wall_s) * 1000)


@scenario(Row("a page of 1 MB parsed", "json_bench 101: core/json", "cJSON", "json_bench 101: cJSON", ratio=0.5))
def parser(stand, _, row):
    command = [str(stand.programs.peer("json_bench")), "101"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for samples, name in ((row.ours, "core/json"), (row.theirs, "cJSON")):
        samples.append(float(re.search(rf"^{name} +([\d.]+) ms", printed, re.M)[1]))

