"""Scenarios of SQL: 100,000 items grouped, a listing as a database, and a join by 1,000 keys."""

import shlex

from bench import jobs, starts
from bench.results import Row, scenario
from bench.stand import MAP

KEYS = 1000
BY_STAGE = "select stage_0, count(*) n, max(created_at) last from {} group by 1"
GROUPED = BY_STAGE.format("prod.jobs where shop = 'many'")
JOINED = ("select count(b.message) from prod.jobs a join prod.jobs b on b.shop = 'some' and b.created_at = a.created_at "
          "and b.job_id = a.job_id where a.shop = 'few'")  # fmt: skip
RECORDS = "(select value ->> 'stage_0' stage_0, value ->> 'created_at' created_at from lines)"
JQ = "group_by(.stage_0.S)[] | [.[0].stage_0.S, length, (map(.created_at.S) | max)]"
BOTO3 = f"""\
import boto3, collections, os
pages = boto3.client("dynamodb", endpoint_url=os.environ["AWS_ENDPOINT_URL_DYNAMODB"]).get_paginator("query").paginate(
    TableName="{jobs.TABLE}", KeyConditionExpression="pk = :pk", ExpressionAttributeValues={{":pk": {{"S": "SHOP#many"}}}})
counts, last = collections.Counter(), {{}}
for page in pages:
    for item in page["Items"]:
        stage = item["stage_0"]["S"]
        counts[stage] += 1
        last[stage] = max(last.get(stage, ""), item["created_at"]["S"])
for stage in sorted(counts):
    print(stage, counts[stage], last[stage])
"""
LOOP = f"""\
import boto3, os, sys
client = boto3.client("dynamodb", endpoint_url=os.environ["AWS_ENDPOINT_URL_DYNAMODB"])
found = 0
for line in open(sys.argv[1]):
    pk, sk = line.split()
    found += "message" in client.get_item(TableName="{jobs.TABLE}", Key={{"pk": {{"S": pk}}, "sk": {{"S": sk}}}})["Item"]
print(found)
"""
LIST, SERVER, COLUMNS = "/prod/jobs/all/many", "zero_server many=100000", "stage_0,created_at"
IMPORT = ("sqlite3 :memory: '.mode ascii' '.separator \"\\001\" \"\\n\"' 'create table lines(value)' '.import /dev/stdin lines' "
          f"{shlex.quote(BY_STAGE.format(RECORDS))}")  # fmt: skip


def piped(stand, url, line):
    """The Timing of a line of the shell, in which ddbfs has the map."""
    ddbfs = f"{shlex.quote(str(stand.programs.ddbfs))} --map {shlex.quote(str(MAP))}"
    return stand.time("/bin/sh", "-c", line.replace("ddbfs ", f"{ddbfs} ", 1), url=url)


def grouped_row(peer, command, **goal):
    return Row(f"100,000 items grouped, beside {peer}", f'ddbfs sql "{GROUPED}"', peer, command, SERVER, unit="s", **goal)


@scenario(
    grouped_row("`@jsonl` and sqlite3", f"ddbfs cat {LIST}@jsonl | {IMPORT}", ratio=0.8),
    grouped_row("boto3", "python3 -c 'import boto3 …'", ratio=0.1),
    grouped_row("the AWS CLI and jq", f"aws dynamodb query --table-name {jobs.TABLE} … | jq …", ratio=0.1),
    Row("100,000 items grouped: processor time", f'ddbfs sql "{GROUPED}"', "`@jsonl` and sqlite3", f"ddbfs cat {LIST}@jsonl | …",
        SERVER, unit="s", ratio=0.5),
    Row("`LIST@sqlite:…` of 100,000, and a question", f"ddbfs cat {LIST}@sqlite:{COLUMNS} >FILE; sqlite3 FILE …", "`@jsonl` and sqlite3",
        f"ddbfs cat {LIST}@jsonl | {IMPORT}", SERVER, unit="s"),
    Row("the next question to the same file", "sqlite3 FILE …", "`@jsonl` and sqlite3", f"ddbfs cat {LIST}@jsonl | {IMPORT}",
        SERVER, unit="s"),
)  # fmt: skip
def grouped(stand, _, by_lines, by_boto3, by_aws, processor, database, again):
    file = stand.scratch / "records.sqlite"
    question = f"sqlite3 {shlex.quote(str(file))} {shlex.quote(BY_STAGE.format('records'))}"
    values = '{":pk":{"S":"SHOP#many"}}'
    with stand.zero() as server:
        whole = shlex.join(starts.aws(server.url, "query", "--key-condition-expression", "pk = :pk",
                                      "--expression-attribute-values", values))  # fmt: skip
        for turn in stand.rounds(7, 2):
            ours = stand.ddbfs(server.url, "sql", GROUPED)
            lines = piped(stand, server.url, f"ddbfs cat {LIST}@jsonl | {IMPORT}")
            by_lines.ours.append(ours.wall_s)
            by_lines.theirs.append(lines.wall_s)
            processor.ours.append(ours.cpu_s)
            processor.theirs.append(lines.cpu_s)
            database.ours.append(piped(stand, server.url, f"ddbfs cat {LIST}@sqlite:{COLUMNS} >{shlex.quote(str(file))}; {question}").wall_s)
            again.ours.append(piped(stand, server.url, question).wall_s)
            by_boto3.theirs += [stand.time("/usr/bin/python3", "-c", BOTO3, url=server.url).wall_s] if turn < 3 else []
            by_aws.theirs += [piped(stand, server.url, f"{whole} | jq -c '.Items | {JQ}'").wall_s] if turn < 1 else []
    by_boto3.ours = by_aws.ours = by_lines.ours
    database.theirs = again.theirs = by_lines.theirs


def join_row(peer, command, **goal):
    return Row(f"a join of 1,000 keys, 5 ms, beside {peer}", f'ddbfs sql "{JOINED}"', peer, command, "zero_server, 5 ms", **goal)


@scenario(
    join_row("1,000 GetItem of boto3", "python3 -c 'import boto3 …'", ratio=0.05),
    join_row("`ddbfs cat` of 1,000 paths", "xargs ddbfs cat <PATHS", ratio=1),
)
def joined(stand, _, by_boto3, by_cat):
    keys, paths = stand.scratch / "keys", stand.scratch / "joined"
    keys.write_text(jobs.keys("some", range(KEYS)), "ascii")
    paths.write_text("".join(f"/prod/jobs/all/some/{jobs.name(number)}\n" for number in range(KEYS)), "ascii")
    with stand.zero(delay_ms=5, shops=("few", "some")) as server:
        for turn in stand.rounds(9, 3):
            by_boto3.ours.append(stand.ddbfs(server.url, "sql", JOINED).wall_s * 1000)
            by_cat.theirs.append(piped(stand, server.url, f"xargs -n {KEYS} ddbfs cat <{shlex.quote(str(paths))}").wall_s * 1000)
            by_boto3.theirs += [stand.time("/usr/bin/python3", "-c", LOOP, keys, url=server.url).wall_s * 1000] if turn < 3 else []
    by_cat.ours = by_boto3.ours
