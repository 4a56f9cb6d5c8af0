"""Scenarios that read listings: by size, by the time of a page, in parts, with their memory."""

from bench import jobs, stand as stands
from bench.results import Row, scenario

SERVER = "zero_server --delay-ms {} many=100000"
LOOP = f"peer_query URL {jobs.TABLE} SHOP#many lines"
PAGES = 63  # of 100,000 items
ONE_BY_ONE = " ".join(stands.SEQUENTIAL)
LIST = "/prod/jobs/all/{}"
BOTO3 = """\
import boto3, decimal, json, os, sys
from boto3.dynamodb.conditions import Key
class Numbers(json.JSONEncoder):
    def default(self, value):
        return int(value) if isinstance(value, decimal.Decimal) else super().default(value)
table = boto3.resource("dynamodb", endpoint_url=os.environ["AWS_ENDPOINT_URL_DYNAMODB"]).Table(sys.argv[1])
asked = {"KeyConditionExpression": Key("pk").eq(sys.argv[2])}
while True:
    page = table.query(**asked)
    for item in page["Items"]:
        print(json.dumps(item, cls=Numbers, separators=(",", ":")))
    if "LastEvaluatedKey" not in page:
        break
    asked["ExclusiveStartKey"] = page["LastEvaluatedKey"]
"""


def cat(stand, server, shop, *options):
    return stand.ddbfs(server.url, "cat", *options, LIST.format(shop) + "@jsonl")


@scenario(
    Row("`ls -l` of 10,000, cold", "ls -l MNT/prod/jobs/all/some", "Query loop by libcurl",
        f"peer_query URL {jobs.TABLE} SHOP#some", "dynoxide", ratio=1.15),
    Row("`grep -r` of 10,000, cold", "grep -r -c -m1 COMPLETED MNT/prod/jobs/all/some", "Query loop by libcurl",
        f"peer_query URL {jobs.TABLE} SHOP#some", "dynoxide", ratio=1.25),
    Row("`ls -l` of 10,000, warm", "ls -l MNT/prod/jobs/all/some", "tmpfs", "ls -l of a copy", "dynoxide"),
    Row("`grep -r` of 10,000, warm", "grep -r -c -m1 COMPLETED MNT/prod/jobs/all/some", "tmpfs",
        "grep -r of a copy", "dynoxide", no_worse=1.46),
)  # fmt: skip
def ten_thousand(stand, _, ls, grep, ls_again, grep_again):
    with stand.dynoxide() as server:
        for _ in stand.rounds(5, 2):
            ls.theirs.append(stand.query_ms(server.url, "some"))
            with stand.mount(server.url) as mounted:
                folder = mounted.path("all", "some")
                ls.ours.append(stand.ls_ms(folder))
                copy = stands.copy_listing(folder, stand.tmpfs / "some")
                for _ in range(5):
                    ls_again.ours.append(stand.ls_ms(folder))
                    ls_again.theirs.append(stand.ls_ms(copy))
            grep.theirs.append(stand.query_ms(server.url, "some"))
            with stand.mount(server.url) as mounted:
                folder = mounted.path("all", "some")
                grep.ours.append(stand.grep_ms(folder))
                for _ in range(5):
                    grep_again.ours.append(stand.grep_ms(folder))
                    grep_again.theirs.append(stand.grep_ms(copy))


@scenario(Row("`ls -l` of 10,000 by an index with keys only", "ls -l MNT/prod/jobs/keys/some", "", "",
              "zero_server --delay-ms 5 some=10000"))  # fmt: skip
def keys_only(stand, _, row):
    with stand.zero(5, shops=["some"]) as server:
        for _ in stand.rounds(3, 1):
            with stand.mount(server.url) as mounted:
                row.ours.append(stand.ls_ms(mounted.path("keys", "some")))


def rows_of(delay_ms, in_order_s, ends_s, ends_ratio):
    """Four rows of one delay: `ls -l` and LIST@jsonl, pages one after the other and by default."""
    def name(what, how):
        return f"{what} of 100,000, {delay_ms} ms a page, {how}"

    server, sum_s = SERVER.format(delay_ms), f"{PAGES} × {delay_ms} ms"
    ls, jsonl = "ls -l MNT/prod/jobs/all/many", "/prod/jobs/all/many@jsonl"
    one, default = "pages one after the other", "by default"
    ends = {"ratio": ends_ratio} if ends_s is None else {"most": ends_s}
    ls_peer = ("sum of the delays", sum_s) if delay_ms else ("loop that parses and prints", LOOP)
    return (
        Row(name("`ls -l`", one), f"ddbfs mount {ONE_BY_ONE} MNT; {ls}", *ls_peer, server, "s", most=in_order_s),
        Row(name("`ls -l`", default), f"ddbfs mount MNT; {ls}", "one after the other", "the row above", server, "s", **ends),
        Row(name("`LIST@jsonl`", one), f"ddbfs cat {ONE_BY_ONE} {jsonl}", "loop that parses and prints", LOOP, server,
            "s", most=in_order_s),
        Row(name("`LIST@jsonl`", default), f"ddbfs cat {jsonl}", "one after the other", "the row above", server, "s",
            **ends),
    )  # fmt: skip


def read_by(stand, curves, server, delay_ms, rows):
    """One turn of each row; the mount's processor time per listing, and that of the loop."""
    ls, ls_default, jsonl, jsonl_default = rows
    loop_s = stand.print_lines(server.url, "many").wall_s
    jsonl.theirs.append(loop_s)
    ls.theirs.append(PAGES * delay_ms / 1000 if delay_ms else loop_s)
    for row, options in ((ls, stands.SEQUENTIAL), (ls_default, ())):
        with stand.mount(server.url, *options) as mounted:
            row.ours.append(stand.ls_ms(mounted.path("all", "many")) / 1000)
    for row, options in ((jsonl, stands.SEQUENTIAL), (jsonl_default, ())):
        row.ours.append(cat(stand, server, "many", *options).wall_s)
    ls_default.theirs.append(ls.ours[-1])
    jsonl_default.theirs.append(jsonl.ours[-1])
    curves.add("delay", "sum of the delays", delay_ms, PAGES * delay_ms / 1000)
    curves.add("delay", "libcurl loop that parses and prints", delay_ms, loop_s)
    curves.add("delay", "ddbfs cat LIST@jsonl, sequential", delay_ms, jsonl.ours[-1])
    curves.add("delay", "ddbfs cat LIST@jsonl", delay_ms, jsonl_default.ours[-1])
    curves.add("delay", "ls -l in a mount", delay_ms, ls_default.ours[-1])


def hundred_thousand(stand, curves, rows, delay_ms, rounds):
    with stand.zero(delay_ms, shops=["many"]) as server:
        for _ in rounds:
            read_by(stand, curves, server, delay_ms, rows)


@scenario(*rows_of(50, 3.3, 1.9, None))
def fifty_ms(stand, curves, *rows):
    hundred_thousand(stand, curves, rows, 50, stand.rounds(3, 1))


@scenario(*rows_of(20, 1.41, None, 0.65))
def twenty_ms(stand, curves, *rows):
    hundred_thousand(stand, curves, rows, 20, stand.rounds(5, 2))


@scenario(*rows_of(0, None, None, 1.02))
def no_delay(stand, curves, *rows):
    hundred_thousand(stand, curves, rows, 0, stand.rounds(7, 3))


@scenario(full=True)
def other_delays(stand, curves):
    for delay_ms in (5, 10):
        hundred_thousand(stand, curves, rows_of(delay_ms, None, None, None), delay_ms, range(3))


@scenario(
    Row("`LIST@jsonl` of 100,000, a server that answers one page at a time, 20 ms", "ddbfs cat /prod/jobs/all/many@jsonl",
        "one after the other", f"ddbfs cat {ONE_BY_ONE} /prod/jobs/all/many@jsonl",
        "zero_server --serial --delay-ms 20 many=100000", "s", ratio=1.02),
    Row("`ls -l` of 100,000, a server that answers one page at a time, 20 ms", "ls -l MNT/prod/jobs/all/many",
        "one after the other", f"ddbfs mount {ONE_BY_ONE} MNT; ls -l MNT/prod/jobs/all/many",
        "zero_server --serial --delay-ms 20 many=100000", "s", ratio=1.02),
)  # fmt: skip
def slow_server(stand, _, jsonl, ls):
    with stand.zero(20, serial=True, shops=["many"]) as server:
        for _ in stand.rounds(5, 2):
            for samples, listed, options in ((jsonl.ours, ls.ours, ()), (jsonl.theirs, ls.theirs, stands.SEQUENTIAL)):
                samples.append(cat(stand, server, "many", *options).wall_s)
                with stand.mount(server.url, *options) as mounted:
                    listed.append(stand.ls_ms(mounted.path("all", "many")) / 1000)
        before = server.counts()["Query"]
        cat(stand, server, "many")
        jsonl.note = f"{server.counts()['Query'] - before} pages, of {PAGES} that are needed"


@scenario(
    Row("`LIST@jsonl` of 100,000, 0 ms: processor time", "ddbfs cat /prod/jobs/all/many@jsonl",
        "loop that parses and prints", LOOP, SERVER.format(0), "s", ratio=1.1),
    Row("`LIST@count` of 100,000, 0 ms: processor time", "ddbfs cat /prod/jobs/all/many@count",
        "loop that parses and prints", LOOP, SERVER.format(0), "s"),
    Row("`ls -l` of 100,000, 0 ms: processor time of the mount", "ls -l MNT/prod/jobs/all/many",
        "loop that parses and prints", LOOP, SERVER.format(0), "s"),
)  # fmt: skip
def processor_time(stand, _, jsonl, count, ls):
    with stand.zero(shops=["many"]) as server:
        for _ in stand.rounds(9, 4):
            loop_s = stand.print_lines(server.url, "many").cpu_s
            jsonl.ours.append(cat(stand, server, "many").cpu_s)
            count.ours.append(stand.ddbfs(server.url, "cat", LIST.format("many") + "@count").cpu_s)
            with stand.mount(server.url) as mounted:
                before = mounted.cpu_s()
                stand.ls_ms(mounted.path("all", "many"))
                ls.ours.append(mounted.cpu_s() - before)
            for row in (jsonl, count, ls):
                row.theirs.append(loop_s)


# Time by number of items, beside other programs.


def aws_line(url, shop):
    query = f"/usr/bin/aws --endpoint-url {url} --profile controller dynamodb query --table-name {jobs.TABLE}"
    values = f'{{":p":{{"S":"SHOP#{shop}"}}}}'
    condition = f"--key-condition-expression 'pk = :p' --expression-attribute-values '{values}'"
    return f"{query} {condition} --output json | jq -c '.Items[]'"


def time_by_items(stand, curves, server, shop):
    items = jobs.SHOPS[shop]
    curves.add("items", "ddbfs cat LIST@jsonl", items, cat(stand, server, shop).wall_s)
    curves.add("items", "libcurl loop that parses and prints", items, stand.print_lines(server.url, shop).wall_s)
    with stand.mount(server.url) as mounted:
        curves.add("items", "ls -l in a mount", items, stand.ls_ms(mounted.path("all", shop)) / 1000)
    if stand.quick and items > jobs.SHOPS["some"]:
        return
    boto3 = ["/usr/bin/python3", "-c", BOTO3, jobs.TABLE, f"SHOP#{shop}"]
    curves.add("items", "boto3", items, stand.time(*boto3, url=server.url).wall_s)
    if items <= jobs.SHOPS["many"]:
        line = aws_line(server.url, shop)
        curves.add("items", "aws dynamodb query | jq -c", items, stand.time("/bin/sh", "-c", line, url=server.url).wall_s)


@scenario()
def by_items(stand, curves):
    shops = ("few", "some", "many") if stand.quick else ("few", "some", "many", "most")
    with stand.zero(20, shops=shops) as server:
        for shop in shops:
            for _ in stand.rounds(3 if shop in ("few", "some") else 1, 1):
                time_by_items(stand, curves, server, shop)
