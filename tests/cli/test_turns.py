"""Many paths: asked side by side, printed in their order, and never more in memory than a window."""

import json
import re
import subprocess

import pytest

from harness.rows import rows

SHOP = "/prod/shops/cool-store.myshopify.com"
SETTINGS = f"{SHOP}/SETTINGS"
WINDOW = 100  # of `cat`
BY_STATUS = "/prod/jobs/by-status/kl7a9h55-shopify-e513a8-4"


@pytest.fixture
def box(things):
    """Paths of 60 records, and what each of them holds."""
    made = {}
    for number in range(60):
        name = f"thing-{number:02}"
        things.put(name, number={"N": str(number)})
        made[f"/any/things/box/{name}"] = number
    return made


def numbers_of(text):
    return [json.loads(line)["number"] for line in text.splitlines()]


@pytest.fixture
def jobs(oracle):
    """Ids of jobs, and their paths: each is found by a query of its own."""
    items = oracle.query("prod-EcomIndexerJobsTable", "shop_id = :s", s="kl7a9h55-shopify-e513a8-4",
                         IndexName="GSI_JobsByStatus_v2")  # fmt: skip
    ids = [item["sk"]["S"].rpartition("#")[2] for item in items[:10]]
    return {f"/prod/jobs/by-id/{each}": each for each in ids}


def ids_of(text):
    return [json.loads(line)["job_id"] for line in text.splitlines()]


def test_many_are_asked_at_the_same_time(ddbfs, proxy, jobs):
    """Each waits until all are asked: one after the other, none would end before its time-out."""
    proxy.fault("delay", op="Query", times=None, seconds=20, until=lambda _: len(proxy.requests) >= 10)
    text = ddbfs("--timeout", "60", "cat", "--format", "compact", *jobs).text
    assert ids_of(text) == list(jobs.values())
    queries = [each for each in proxy.requests if each.op == "Query"]
    assert len(queries) == 10
    assert max(each.began_s for each in queries) < min(each.began_s + each.took_s for each in queries)


def test_order_is_that_of_the_paths(ddbfs, proxy, jobs):
    """The first answer comes last."""
    proxy.fault("delay", times=1, seconds=20, until=lambda _: len(proxy.requests) > 1)
    text = ddbfs("--timeout", "60", "--format", "compact", "cat", *jobs).text
    assert ids_of(text) == list(jobs.values())


def test_no_more_is_asked_than_the_window(ddbfs, proxy, things):
    """While one path waits for its answer, those behind it are held, and bounded."""
    box = {f"/any/things/box/thing-{number:03}": number for number in range(WINDOW * 2)}
    for path, number in box.items():
        things.put(path.rpartition("/")[2], number={"N": str(number)})
    seen = []

    def is_another_or_all_is_quiet(exchange):
        if "thing-000" not in json.dumps(exchange.body):
            return True
        asked = sum(len(record.keys) for record in proxy.requests)
        seen.append(asked)
        return len(seen) > 200 and seen[-100] == asked

    proxy.fault("delay", times=None, seconds=30, until=is_another_or_all_is_quiet)
    text = ddbfs("--timeout", "60", "--format", "compact", "cat", *box, env=things.env).text
    held = next(each.keys[0]["sk"]["S"] for each in proxy.requests if each.faults)
    before = list(box).index(f"/any/things/box/{held}")
    assert max(seen) <= before + WINDOW and numbers_of(text) == list(box.values())


def test_errors_come_in_order_too(ddbfs):
    paths = ["/prod/nope", SETTINGS, f"{SHOP}/none", "/nope", f"{SHOP}/API_KEY"]
    result = ddbfs("cat", *paths, expect=3)
    assert [line.split(": ")[1] for line in result.stderr.splitlines()] == [
        "/prod/nope", f"{SHOP}/none", "/nope",
    ]  # fmt: skip
    assert result.stdout == ddbfs("cat", SETTINGS, f"{SHOP}/API_KEY").stdout


def test_reader_that_goes_away_ends_the_asking(ddbfs, proxy, things, box):
    paths = list(box) * 20
    process = ddbfs.start("cat", *paths, env=things.env, stdout=subprocess.PIPE)
    process.stdout.read(1)
    process.stdout.close()
    assert process.wait(60) in (0, 1)


def test_lists_of_several_follow_one_another(ddbfs, proxy):
    statuses = ("PENDING", "IN_PROGRESS", "FAILED", "COMPLETED")
    folders = [f"{BY_STATUS}/{status}" for status in statuses]
    each = [ddbfs("ls", "-l", folder).text for folder in folders]
    proxy.fault("delay", times=1, seconds=20, until=lambda _: len(proxy.requests) >= 4)
    assert ddbfs("--timeout", "60", "ls", "-l", *folders).text == "".join(each)


def test_lists_of_many_pages_are_whole(ddbfs, proxy, things, box):
    proxy.fault("page_size", times=None, items=7)
    text = ddbfs("ls", *["/any/things/box"] * 3, env=things.env).text
    assert text.split() == [path.rpartition("/")[2] for path in box] * 3


def test_a_page_is_asked_for_in_its_turn(ddbfs, proxy, things, box):
    """A listing whose turn has not come holds one page and asks for no other."""
    for number in range(3):
        things.put(f"other-{number}", box="other", number={"N": "1"})
    proxy.fault("page_size", times=None, items=7)
    first = proxy.fault("delay", times=1, seconds=20, until=lambda _: len(proxy.requests) >= 2)
    ddbfs("--timeout", "60", "ls", "/any/things/other", "/any/things/box", env=things.env)
    assert first.met == 1
    started = [record for record in proxy.requests if "ExclusiveStartKey" not in record.body]
    assert proxy.requests[:2] == started


# The status, and errors as JSON


def test_nothing_worse_than_a_miss(ddbfs, proxy):
    ddbfs("cat", SETTINGS, f"{SHOP}/none", expect=3)
    proxy.fault("denied", times=1)
    ddbfs("cat", SETTINGS, expect=1)


@rows("order", [1, -1])
def test_the_worst_counts(ddbfs, order):
    paths = [f"{SHOP}/none", "/prod/jobs", SETTINGS]  # a miss, a directory, a record
    ddbfs("cat", *paths[::order], expect=1)


def errors_of(result):
    return [json.loads(line) for line in result.stderr.splitlines()]


def test_errors_are_json(ddbfs, proxy):
    proxy.fault("denied", times=1)
    (error,) = errors_of(ddbfs("cat", "--json", SETTINGS, expect=1))
    assert error.pop("text").count("not authorized") == 1
    assert error.pop("request_id") == proxy.requests[-1].request_id
    assert "ddbfs policy" in error.pop("hint")
    assert error == {"path": SETTINGS, "kind": "denied", "errno": "EACCES",
                     "fixable_by": "human", "operation": "GetItem", "table": "prod-ShopifyEntitiesTable",
                     "code": "AccessDeniedException"}  # fmt: skip


@rows("command", ["cat", "ls", "explain"])
def test_a_miss_is_json(ddbfs, command):
    path = '/prod/no"pe'
    (error,) = errors_of(ddbfs(command, "--json", path, expect=3))
    assert error["path"] == path and error["kind"] == "not-found" and error["errno"] == "ENOENT"


def test_a_directory_that_is_not_listable_is_json(ddbfs):
    result = ddbfs("ls", "--json", "/prod/jobs/by-id/{job_id}", expect=1)
    assert errors_of(result)[0]["errno"] == "EOPNOTSUPP"


def test_a_wrong_map_is_json(ddbfs, write_map):
    (error,) = errors_of(ddbfs("--map", write_map("{"), "cat", "--json", SETTINGS, expect=1))
    assert error["kind"] == "invalid" and "path" not in error


def test_check_tells_errors_as_json(ddbfs, proxy):
    proxy.fault("denied", op="DescribeTable", times=1)
    result = ddbfs("check", "--json", expect=1)
    assert [error["kind"] for error in errors_of(result)] == ["denied"]


# Words that were nearly right


@rows(
    "path, meant",
    [
        ("/prdo/jobs", "prod"),
        ("/prod/job", "jobs"),
        ("/prod/jobs/by-ids", "by-id"),
        ("/prod/jobs/by_index/shopify", "by-index"),
    ],
)
def test_what_was_meant_is_told(ddbfs, path, meant):
    assert f'(did you mean "{meant}"?)' in ddbfs("ls", path, expect=3).stderr


@rows("words, meant", [(["lss"], "ls"), (["ls", "--jsom"], "--json"),
                                          (["ls", "--tmeout=3"], "--timeout")])  # fmt: skip
def test_which_command_or_option_was_meant_is_told(ddbfs, words, meant):
    assert f'(did you mean "{meant}"?)' in ddbfs(*words, expect=2).stderr


# Help


@rows("how", [["help", "ls"], ["ls", "--help"], ["--help", "ls"], ["-h", "ls"]])
def test_help_of_a_command(ddbfs, how):
    text = ddbfs(*how).text
    assert text.startswith("usage: ddbfs ls [-l] [OPTION…] [PATH…]\n")
    assert "\n  ddbfs ls -l /prod" in text and "--map" in text and "--cache-size" not in text


def test_help_of_a_command_that_asks_nobody_has_no_profile(ddbfs):
    assert "--profile" not in ddbfs("help", "refresh").text


def test_help_of_all(ddbfs):
    text = ddbfs("help").text
    assert text == ddbfs("--help").text
    first, some = text.split("\noptions of some commands\n")
    assert len(first.splitlines()) <= 46 and "--map FILE" in first and "--columns" in some
    assert ddbfs("help", "help").text.startswith("usage: ddbfs help [COMMAND]\n")


def test_help_fits_a_terminal(ddbfs):
    text = ddbfs("help").text
    commands = re.findall(r"^  ([a-z]+)  ", text, re.M)
    assert len(commands) >= 17 and "3 not found" in text
    for page in (text, *(ddbfs(command, "--help").text for command in commands)):
        assert [line for line in page.splitlines() if len(line) > 80] == []


def test_help_of_no_command(ddbfs):
    assert 'no such command: lss (did you mean "ls"?)' in ddbfs("help", "lss", expect=2).stderr
    ddbfs("help", "ls", "cat", expect=2)
