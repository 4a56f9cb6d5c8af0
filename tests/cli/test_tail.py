"""ddbfs tail: the changes of items, as lines and as JSON, from the streams of their tables."""

import datetime
import itertools
import json
import os
import signal
import subprocess
import threading
import time
import uuid

import pytest

from harness import mounts, tables, terminal
from harness.rows import rows

pytestmark = pytest.mark.wire

BOTH = "NEW_AND_OLD_IMAGES"
MEMBERS = {
    "secret": ["token"],
    "indexes": {"by-state": {"partition": "state", "sort": "sk", "projects": "all"}},
    "paths": {"{box}/": {}, "state/{state}/": {"index": "by-state"}},
}
KEYS = [("state", "HASH"), ("sk", "RANGE")]
INDEX = {
    "IndexName": "by-state",
    "KeySchema": [{"AttributeName": name, "KeyType": kind} for name, kind in KEYS],
    "Projection": {"ProjectionType": "ALL"},
}
NUMBER = "12345678901234567890123456789012345678"


def described(view=BOTH):
    schema = tables.plain()
    schema["AttributeDefinitions"].append({"AttributeName": "state", "AttributeType": "S"})
    schema["GlobalSecondaryIndexes"] = [INDEX]
    if view:
        schema["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": view}
    return schema


def item(name, **attributes):
    texts = {attribute: {"S": value} if isinstance(value, str) else value for attribute, value in attributes.items()}
    return {"pk": {"S": "box"}, "sk": {"S": name}, **texts}


class Things:
    """The table of one test, as /any/things, and its items as they change."""

    def __init__(self, boto, name, map_file):
        self.boto = boto
        self.name = name
        self.env = {"DDBFS_MAP": map_file}

    def put(self, name, **attributes):
        self.boto.put_item(TableName=self.name, Item=item(name, **attributes))

    def remove(self, name):
        key = {attribute: item(name)[attribute] for attribute in ("pk", "sk")}
        self.boto.delete_item(TableName=self.name, Key=key)


@pytest.fixture
def make_things(boto, table, tmp_path):
    """Each has a name of its own: dynoxide adds to the stream of an earlier table of the same name."""

    def make(view=BOTH, members=MEMBERS):
        base = f"Things-{uuid.uuid4().hex[:12]}"
        name = table(described(view), name=f"any-{base}")
        return Things(boto, name, tables.write_map(tmp_path / f"{base}.json", table=base, **members))

    return make


@pytest.fixture
def things(make_things):
    return make_things()


@pytest.fixture
def oldest(ddbfs):
    """oldest(things, count, *words): what tail prints of the stream so far, COUNT changes of it, without the time."""

    def run(things, count, *words, paths=("/any/things",), expect=0):
        words = ("tail", "--oldest", "--limit", str(count), *words, *paths)
        done = ddbfs.run_plain(*words, env=things.env, expect=expect)
        if "--json" not in words:
            done.lines = [line.partition(" ")[2] for line in done.text.splitlines()]
        else:
            done.lines = [json.loads(line) for line in done.text.splitlines()]
        return done

    return run


class Tail:
    """A tail that runs: its lines as they come."""

    def __init__(self, ddbfs, proxy, things, *words, polls=1, **how):
        self.process = ddbfs.start("tail", *words, env=things.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, **how)  # fmt: skip
        # A reader of a shard is at its place when it has read from it once.
        polled = lambda: len({each.body["ShardIterator"] for each in proxy.requests if each.op == "GetRecords"})  # noqa: E731
        mounts.wait_until(lambda: polled() >= polls or self.process.poll() is not None, "the first poll")

    def line(self):
        return self.process.stdout.readline()

    def end(self, number=signal.SIGINT):
        if self.process.poll() is None:
            self.process.send_signal(number)
        self.rest, self.told = self.process.communicate(timeout=60)
        return self.process.returncode


@pytest.fixture
def follow(ddbfs, proxy):
    """follow(things, *words) -> a Tail that is at its place."""
    made = []

    def start(things, *words, **how):
        proxy.clear()
        made.append(Tail(ddbfs, proxy, things, *words, **how))
        return made[-1]

    yield start
    for each in made:
        each.end(signal.SIGKILL)


def change_three_times(things):
    things.put("one", state="NEW", count={"N": "1"})
    things.put("one", state="DONE", note={"M": {"of": {"L": [{"N": NUMBER}]}}})
    things.remove("one")


def test_each_change_is_a_line(things, oldest):
    change_three_times(things)
    assert oldest(things, 3).lines == [
        'INSERT box/one   +count: 1, +state: "NEW"',
        f'MODIFY box/one   -count: 1, +note: {{"of":[{NUMBER}]}}, state: "NEW" -> "DONE"',
        f'REMOVE box/one   -note: {{"of":[{NUMBER}]}}, -state: "DONE"',
    ]


def test_changes_appear_while_it_runs(things, follow):
    tail = follow(things, "/any/things")
    things.put("one", state="NEW")
    assert 'INSERT box/one   +state: "NEW"' in tail.line()
    things.put("one", state="DONE")
    assert 'MODIFY box/one   state: "NEW" -> "DONE"' in tail.line()


def test_a_line_begins_with_the_time_of_the_change(things, oldest, boto):
    things.put("one")
    streams = boto.describe_table(TableName=things.name)["Table"]["LatestStreamLabel"]
    assert streams
    line = oldest(things, 1).text
    assert line[4] == "-" and line[19:22] == "Z I"


def test_json_has_both_images(things, oldest):
    change_three_times(things)
    inserted, modified, removed = oldest(things, 3, "--json").lines
    keys = {"pk": "box", "sk": "one"}
    before = {**keys, "count": 1, "state": "NEW"}
    after = {**keys, "note": {"of": [int(NUMBER)]}, "state": "DONE"}
    known = ("kind", "expired", "path", "keys", "old", "new", "changed")
    path = "/any/things/box/one"
    assert [{name: each[name] for name in known if name in each} for each in (inserted, modified, removed)] == [
        {"kind": "INSERT", "expired": False, "path": path, "keys": keys, "old": None, "new": before},
        {"kind": "MODIFY", "expired": False, "path": path, "keys": keys, "old": before, "new": after,
         "changed": ["count", "note", "state"]},
        {"kind": "REMOVE", "expired": False, "path": path, "keys": keys, "old": after, "new": None},
    ]  # fmt: skip
    assert inserted["sequence"] != modified["sequence"] and inserted["shard"] == modified["shard"]
    assert NUMBER in oldest(things, 3, "--json").text


def test_secrets_are_masked(things, oldest):
    things.put("one", token="s3cret")
    things.put("one", token="s3cret-2", state="NEW")
    for words in ((), ("--json",)):
        assert "s3cret" not in oldest(things, 2, *words).text
    assert oldest(things, 2).lines[1] == 'MODIFY box/one   +state: "NEW", token: ******** (changed)'
    assert oldest(things, 2, "--json").lines[1]["changed"] == ["state", "token"]
    assert '+token: "s3cret"' in oldest(things, 2, "--show-secrets").text


def test_secrets_are_those_of_the_path_that_shows_the_item(things, oldest):
    """A table by its name has no secrets, and comes second."""
    things.put("one", token="s3cret")
    paths = [f"/any/tables/{things.name}/items/other", "/any/things"]
    assert "s3cret" not in oldest(things, 1, "--json", paths=paths).text


def test_each_path_opens(things, oldest, ddbfs):
    names = ["plain", "a/b", "100%", ".hidden", "x" * 300, "é#|", "tail ~"]
    for name in names:
        things.put(name, state="NEW", note=name)
    for path in ("/any/things", "/any/things/state", f"/any/tables/{things.name}"):
        found = [each["path"] for each in oldest(things, len(names), "--json", paths=[path]).lines]
        notes = [json.loads(ddbfs.run_plain("cat", each, env=things.env).text)["note"] for each in found]
        assert notes == names


def test_an_item_of_no_kind_has_the_path_of_any_table(make_things, oldest, ddbfs):
    things = make_things(members={"records": {"thing": {"pk": "BOX#{box}", "sk": "{name*}"}}})
    things.put("one", note="n")
    [line] = oldest(things, 1, "--json").lines
    assert line["path"] == f"/any/tables/{things.name}/items/box/one"
    assert json.loads(ddbfs.run_plain("cat", line["path"], env=things.env).text)["note"] == "n"


def test_a_listing_shows_what_enters_and_what_leaves(things, oldest):
    things.put("one", state="NEW")
    things.put("one", state="NEW", note="n")
    things.put("one", state="DONE")
    things.put("one", state="NEW")
    things.remove("one")
    assert oldest(things, 5, paths=["/any/things/state/NEW/"]).lines == [
        'INSERT box#one   +state: "NEW"',
        'MODIFY box#one   +note: "n"',
        'MODIFY (left) /any/things/box/one   -note: "n", state: "NEW" -> "DONE"',
        'MODIFY box#one   state: "DONE" -> "NEW"',
        'REMOVE box#one   -state: "NEW"',
    ]
    left = oldest(things, 5, "--json", paths=["/any/things/state/NEW"]).lines[2]
    assert left["left"] is True and left["path"] == "/any/things/box/one"


def test_a_change_from_one_path_to_another_is_in_the_other(things, oldest):
    things.put("one", state="NEW")
    things.put("one", state="DONE")
    paths = ["/any/things/state/NEW", "/any/things/state/DONE"]
    assert oldest(things, 2, paths=paths).lines == [
        'INSERT /any/things/state/NEW/box#one   +state: "NEW"',
        'MODIFY /any/things/state/DONE/box#one   state: "NEW" -> "DONE"',
    ]


def test_an_item_shows_itself_alone(things, oldest):
    things.put("one", state="NEW")
    things.put("two", state="NEW")
    things.put("one", state="DONE")
    assert oldest(things, 2, paths=["/any/things/box/one"]).lines == [
        'INSERT one   +state: "NEW"',
        'MODIFY one   state: "NEW" -> "DONE"',
    ]


def test_several_paths_have_whole_names(things, oldest):
    things.put("one", state="NEW")
    things.put("two", state="DONE")
    paths = ["/any/things/box/one", "/any/things/state/DONE/"]
    assert [line.split()[1] for line in oldest(things, 2, paths=paths).lines] == [
        "/any/things/box/one",
        "/any/things/state/DONE/box#two",
    ]


def test_two_tables_are_followed_at_once(things, follow, boto, table):
    others = Things(boto, table(described(), name=f"any-Others-{uuid.uuid4().hex[:12]}"), None)
    for each in (things, others):  # DynamoDB Local reports a gap at the first change of an empty stream
        each.put("zero")
    tail = follow(things, "--json", "/any/things", f"/any/tables/{others.name}", polls=2)
    things.put("one")
    first = json.loads(tail.line())["path"]
    others.put("two")
    assert {first, json.loads(tail.line())["path"]} == {
        "/any/things/box/one",
        f"/any/tables/{others.name}/items/box/two",
    }


def test_where_tests_the_item_after_its_change_and_before_its_removal(things, oldest):
    change_three_times(things)
    things.put("two", state="NEW")
    where = ("--where", 'state = "DONE"')
    assert [line.split("   ")[0] for line in oldest(things, 2, *where).lines] == ["MODIFY box/one", "REMOVE box/one"]


@rows(
    "where, reason",
    [
        ("state =", "--where: "),
        ('token = "x"', "token"),
    ],
)
def test_a_wrong_filter_is_refused(things, ddbfs, where, reason):
    done = ddbfs.run_plain("tail", "--where", where, "/any/things", env=things.env, expect=None)
    assert done.code in (1, 2) and reason in done.stderr


def test_since_begins_in_the_past(things, ddbfs):
    change_three_times(things)
    for since in ("1h", "90s", "30m"):
        done = ddbfs.run_plain("tail", "--since", since, "--limit", "3", "/any/things", env=things.env)
        assert len(done.text.splitlines()) == 3


@rows(
    "words, reason",
    [
        (["--since", "25h"], "takes a time of the last 24 hours"),
        (["--since", "soon"], "takes a time of the last 24 hours"),
        (["--since", "2999-01-01T00"], "in the future"),
        (["--since", "1h", "--oldest"], "exclude each other"),
        ([], "tail needs a path"),
    ],
)
def test_wrong_usage(ddbfs, words, reason):
    paths = ["/prod/jobs"] if words else []
    done = ddbfs.run_plain("tail", *words, *paths, expect=2)
    assert reason in done.stderr


@rows(
    "path, reason",
    [
        ("/prod", "has several tables"),
        ("/", "has several tables"),
        ("/prod/tables", "has several tables"),
        ("/prod/jobs/README", "neither a directory nor an item"),
        ("/prod/jobs/by-id/1f3c@", "neither a directory nor an item"),
        ("/prod/jbos", "did you mean"),
    ],
)
def test_other_paths_are_refused(ddbfs, path, reason):
    done = ddbfs.run_plain("tail", path, expect=None)
    assert done.code in (1, 3) and reason in done.stderr


def test_a_closed_pipe_ends_it_at_once(things, follow):
    """No change has to come for it."""
    tail = follow(things, "--json", "/any/things")
    things.put("one")
    tail.line()
    tail.process.stdout.close()
    assert tail.process.wait(60) == 0


def test_ctrl_c_ends_it(things, follow):
    assert follow(things, "/any/things").end() == -signal.SIGINT


def test_two_readers_are_warned_of_once(things, oldest):
    change_three_times(things)
    done = oldest(things, 3)
    assert done.stderr.count("a shard of a stream supports two readers") == 1


def test_a_table_without_a_stream_has_the_command(make_things, ddbfs):
    things = make_things(view=None)
    done = ddbfs.run_plain("tail", "/any/things", env=things.env, expect=1)
    command = (
        f"aws dynamodb update-table --table-name {things.name} --stream-specification "
        "StreamEnabled=true,StreamViewType=NEW_AND_OLD_IMAGES --profile controller --region us-east-1"
    )
    assert "has no stream; a person who may change the table enables one: " + command in done.stderr
    done = ddbfs.run_plain("tail", "--json", "/any/things", env=things.env, expect=1)
    assert json.loads(done.stderr.splitlines()[-1])["errno"] == "ENODEV"


def test_an_entry_of_a_listing_that_the_item_leaves(things, oldest):
    """The key does not decide whether the listing has it."""
    things.put("one", state="NEW")
    things.put("one", state="DONE")
    things.put("one", state="DONE", note="n")
    things.put("one", state="NEW")
    path = "/any/things/state/NEW/box#one"
    assert oldest(things, 3, paths=[path]).lines == [
        'INSERT box#one   +state: "NEW"',
        'MODIFY (left) /any/things/box/one   state: "NEW" -> "DONE"',
        'MODIFY box#one   -note: "n", state: "DONE" -> "NEW"',
    ]


@rows("way", [{"newest": 1}, {"pick": {"greatest": "rank"}}])
def test_a_file_that_shows_one_of_several_names_each(make_things, oldest, way):
    """The path of the file would open another item."""
    things = make_things(members={"paths": {"{box}/": {}, "last/{box}": way}})
    things.put("one", rank={"N": "1"})
    things.put("two", rank={"N": "2"})
    things.remove("one")
    found = [each["path"] for each in oldest(things, 3, "--json", paths=["/any/things/last/box"]).lines]
    assert found == ["/any/things/box/one", "/any/things/box/two", "/any/things/box/one"]


def test_a_key_of_another_type_than_in_the_map_is_an_error(make_things, oldest):
    things = make_things(members={"types": {"sk": "N"}, "paths": {"{box}/": {}}})
    things.put("one")
    for words in ((), ("--json", "--fetch")):
        told = oldest(things, 1, *words, expect=1).stderr
        assert "is of type S, but of type N in the map; add " in told


def test_a_later_run_goes_on_where_the_last_line_says(things, follow, ddbfs):
    tail = follow(things, "--json", "/any/things")
    change_three_times(things)
    line = json.loads(tail.line())
    tail.end()
    words = ("tail", "--json", "--since", line["resume"], "--limit", "3", "/any/things")
    again = [json.loads(each) for each in ddbfs.run_plain(*words, env=things.env).text.splitlines()]
    assert line["sequence"] in [each["sequence"] for each in again] and len(again) == 3


def test_the_time_to_resume_is_that_of_all_tables(make_things, follow, proxy):
    """The second table can't be read yet."""
    first, second = make_things(), make_things()
    wrong = proxy.fault("server_error", times=None)
    described = itertools.count()
    wrong.meets = lambda each: each.op == "DescribeTable" and each.table == second.name and next(described) > 0
    paths = [f"/any/tables/{each.name}" for each in (first, second)]
    tail = follow(first, "--json", "--since", "10m", "--timeout", "1", *paths)
    for name in ("one", "two", "three"):
        first.put(name)
        line = json.loads(tail.line())
        while line.get("keys", {}).get("sk") != name:  # DynamoDB Local reports a gap at first
            line = json.loads(tail.line())
        time.sleep(2.5)
    resume = datetime.datetime.fromisoformat(line["resume"].replace("Z", "+00:00"))
    assert time.time() - resume.timestamp() > 9 * 60


def test_since_from_before_the_last_day_is_a_gap(things, ddbfs):
    things.put("one")
    words = ("tail", "--since", "2020-01-01", "--limit", "1", "/any/things")
    done = ddbfs.run_plain(*words, env=things.env)
    assert "INSERT box/one" in done.text
    assert done.stderr.count("changes are missing here: a stream has the changes of the last 24 hours") == 1


def test_the_time_to_resume_is_never_before_since(things, ddbfs):
    """Else a script that is started again and again would go further back each time."""
    things.put("one")
    now = datetime.datetime.now(datetime.timezone.utc)
    since = (now - datetime.timedelta(minutes=3)).strftime("%Y-%m-%dT%H:%M:%SZ")
    done = ddbfs.run_plain("tail", "--json", "--since", since, "--limit", "1", "/any/things", env=things.env)
    assert json.loads(done.text)["resume"] == since


def test_a_misspelt_path_is_noted(ddbfs, make_things, follow):
    members = {**MEMBERS, "params": {"state": {"values": ["NEW", "DONE"]}}}
    things = make_things(members=members)
    tail = follow(things, "/any/things/state/DOEN/")
    tail.end()
    assert '"DOEN" is not one of the values that the map declares for {state}' in tail.told


def test_a_stream_that_is_younger_than_since_is_a_gap(things, ddbfs, proxy):
    things.put("one")
    ago = time.time() - 1800
    proxy.fault("alter", op="DescribeTable", times=None, change=lambda body: body["Table"].update(CreationDateTime=ago - 7200))
    proxy.fault("alter", op="DescribeStream", times=None,
                change=lambda body: body["StreamDescription"].update(CreationRequestDateTime=ago))  # fmt: skip
    for since, gaps in (("1h", 1), ("10m", 0)):
        done = ddbfs.run_plain("tail", "--since", since, "--limit", "1", "/any/things", env=things.env)
        assert "INSERT box/one" in done.text
        assert done.stderr.count("changes are missing here: the stream of table") == gaps, done.stderr


class TestKeysOnly:
    @pytest.fixture
    def things(self, make_things):
        return make_things("KEYS_ONLY")

    def test_lines_have_names_and_a_note(self, things, oldest):
        change_three_times(things)
        done = oldest(things, 3)
        assert done.lines == ["INSERT box/one", "MODIFY box/one", "REMOVE box/one"]
        assert done.stderr.count("the stream has keys only; --fetch reads each changed item") == 1
        first = oldest(things, 3, "--json").lines[0]
        assert "new" not in first and first["old"] is None and first["keys"] == {"pk": "box", "sk": "one"}

    def test_fetch_reads_the_items_in_one_batch(self, things, oldest, proxy):
        for name, note in (("one", "n"), ("two", "n"), ("one", "m")):
            things.put(name, note=note)
        things.put("gone")
        things.remove("gone")
        proxy.clear()
        done = oldest(things, 5, "--fetch")
        assert done.lines == [
            'INSERT box/one   +note: "m"',
            'INSERT box/two   +note: "n"',
            'MODIFY box/one   now note: "m"',
            "INSERT box/gone   the item does not exist any more",
            "REMOVE box/gone",
        ]
        reads = [each for each in proxy.requests if each.op in ("GetItem", "BatchGetItem")]
        assert [each.op for each in reads] == ["BatchGetItem"]
        asked = reads[0].body["RequestItems"][things.name]
        assert len(asked["Keys"]) == 3 and asked["ConsistentRead"] is True

    def test_fetched_json_says_so(self, things, oldest):
        things.put("one", note="n")
        [line] = oldest(things, 1, "--json", "--fetch").lines
        assert line["fetched"] is True and line["new"]["note"] == "n" and line["old"] is None

    def test_a_filter_needs_fetch(self, things, oldest):
        things.put("one", note="n")
        things.put("two", note="m")
        where = ("--where", 'note = "m"')
        done = oldest(things, 1, *where, expect=1)
        assert "the stream has no new images, which --where tests; add --fetch" in done.stderr
        assert oldest(things, 1, *where, "--fetch").lines == ['INSERT box/two   +note: "m"']

    def test_a_removal_that_no_filter_can_test_is_printed(self, things, oldest):
        things.put("one", note="n")
        things.remove("one")
        done = oldest(things, 2, "--where", 'note = "m"', "--fetch")
        assert done.lines == ["INSERT box/one   the item does not exist any more", "REMOVE box/one"]
        assert done.stderr.count("--where cannot test items that were removed, because the stream has no old") == 1
        assert done.stderr.count("of items that were removed before they could be read") == 1

    def test_a_listing_of_an_index_needs_fetch(self, things, oldest):
        things.put("one", state="NEW")
        things.put("two", state="DONE")
        path = ["/any/things/state/DONE"]
        done = oldest(things, 1, paths=path, expect=1)
        assert "which items are in /any/things/state/DONE depends on state; add --fetch" in done.stderr
        done = oldest(things, 1, "--fetch", paths=path)
        assert done.lines == ['INSERT box#two   +state: "DONE"']
        assert "items that leave it are not reported" in done.stderr

    def test_a_path_that_may_show_an_item_is_an_error_without_fetch(self, make_things, oldest):
        """Other paths of the directory are decided by the key."""
        members = {"paths": {"{box}/old/": {"where": {"sk": "a*"}}, "{box}/done/": {"filter": {"state": "DONE"}}}}
        things = make_things("KEYS_ONLY", members)
        things.put("a1", state="NEW")
        assert oldest(things, 1, paths=["/any/things/box"]).lines == ["INSERT old/a1"]
        things.put("b1", state="DONE")
        told = oldest(things, 2, paths=["/any/things/box"], expect=1).stderr
        assert "which items are in /any/things/box depends on" in told
        done = oldest(things, 2, "--fetch", paths=["/any/things/box"])
        assert done.lines == ['INSERT old/a1   +state: "NEW"', 'INSERT done/b1   +state: "DONE"']
        things.remove("b1")
        things.put("a2")
        done = oldest(things, 3, "--fetch", paths=["/any/things/box"])
        gone, last = done.lines[1:]
        assert gone.endswith("/items/box/b1   the item does not exist any more") and last == "INSERT old/a2"
        assert "removed before they could be read cannot be tested" in done.stderr
        assert "items that leave it are not reported" in done.stderr

    def test_an_old_image_alone_does_not_tell_that_an_item_has_left(self, make_things, oldest):
        members = {"paths": {"{box}/old/": {"where": {"sk": "a*"}}, "{box}/done/": {"filter": {"state": "DONE"}}}}
        things = make_things("OLD_IMAGE", members)
        things.put("b1", state="DONE")
        things.put("b1", state="DONE", note="n")
        words = ("--kind", "modify")
        assert "depends on" in oldest(things, 1, *words, paths=["/any/things/box"], expect=1).stderr
        done = oldest(things, 1, *words, "--fetch", paths=["/any/things/box"])
        assert done.lines == ['MODIFY done/b1   +note: "n"']

    def test_a_failed_read_is_repeated(self, things, follow, proxy):
        tail = follow(things, "--fetch", "--timeout", "1", "/any/things")
        fault = proxy.fault("server_error", op="GetItem", times=None)
        also = proxy.fault("server_error", op="BatchGetItem", times=None)
        things.put("one", note="n")
        told = tail.process.stderr.readline()
        while "it is tried again" not in told:
            told = tail.process.stderr.readline()
        assert fault and also
        proxy.heal()
        assert 'INSERT box/one   +note: "n"' in tail.line()

    def test_a_denied_read_ends_it(self, things, follow, proxy):
        tail = follow(things, "--fetch", "/any/things")
        proxy.fault("denied", op="GetItem", times=None)
        things.put("one", note="n")
        assert tail.process.wait(60) == 1
        assert "dynamodb:GetItem" in tail.process.stderr.read()


@rows(
    "view, lines, note",
    [
        (
            "NEW_IMAGE",
            ['INSERT box/one   +note: "n"', 'MODIFY box/one   now note: "m"', "REMOVE box/one"],
            "the stream has no old images",
        ),
        (
            "OLD_IMAGE",
            ["INSERT box/one", 'MODIFY box/one   before note: "n"', 'REMOVE box/one   -note: "m"'],
            "the stream has no new images",
        ),
    ],
)
def test_one_image_is_shown_as_such(make_things, oldest, view, lines, note):
    things = make_things(view)
    things.put("one", note="n")
    things.put("one", note="m")
    things.remove("one")
    done = oldest(things, 3)
    assert done.lines == lines
    assert done.stderr.count(note) == 1


def expire(body):
    """What the service writes into the record of an item that it has deleted because of its TTL."""
    for record in body["Records"]:
        if record["eventName"] == "REMOVE":
            record["userIdentity"] = {"Type": "Service", "PrincipalId": "dynamodb.amazonaws.com"}


def test_changes_of_some_kinds(things, oldest, proxy):
    change_three_times(things)
    assert [line.split()[0] for line in oldest(things, 2, "--kind", "modify,remove").lines] == ["MODIFY", "REMOVE"]
    assert [line["kind"] for line in oldest(things, 1, "--json", "--kind", "insert").lines] == ["INSERT"]
    proxy.fault("alter", op="GetRecords", times=None, change=expire)
    assert oldest(things, 1, "--kind", "expired").lines[0].startswith("REMOVE (expired)")


def test_a_path_that_is_a_file(things, oldest):
    """Its changes are named as it is: by its name alone, or for programs by its path."""
    change_three_times(things)
    for path in ("/any/things/box/one", "/any/things/box/one@typed"):
        name = path.rpartition("/")[2]
        assert [line.split()[:2] for line in oldest(things, 3, paths=(path,)).lines] == [
            ["INSERT", name], ["MODIFY", name], ["REMOVE", name]]  # fmt: skip
        assert {line["path"] for line in oldest(things, 3, "--json", paths=(path,)).lines} == {path}


def test_changes_that_wait_for_items_come_before_the_end(make_things, ddbfs, proxy):
    """The stream ends while the item of its last change is read."""
    things = make_things("KEYS_ONLY")
    things.put("one", state="NEW")
    proxy.fault("delay", op="GetItem", seconds=2, times=None)
    proxy.fault("delay", op="BatchGetItem", seconds=2, times=None)
    proxy.fault("alter", op="DescribeStream", times=None,
                change=lambda body: body["StreamDescription"].update(StreamStatus="DISABLED"))  # fmt: skip
    proxy.fault("alter", op="GetRecords", times=None, change=lambda body: body.pop("NextShardIterator", None))
    done = ddbfs.run_plain("tail", "--oldest", "--fetch", "/any/things", env=things.env, expect=1)
    assert "INSERT box/one" in done.text and "was disabled, and all of its changes were read" in done.stderr


def test_changes_that_wait_for_items_come_before_a_gap(make_things, follow, proxy):
    """A gap is seen while the item of the change before it is read."""
    things = make_things("KEYS_ONLY")
    tail = follow(things, "--json", "--fetch", "/any/things")
    seen = threading.Event()
    for op in ("GetItem", "BatchGetItem"):
        proxy.fault("delay", op=op, seconds=20, until=lambda _: seen.is_set())
    things.put("one", state="NEW")
    while not {"GetItem", "BatchGetItem"} & set(proxy.ops):
        time.sleep(0.01)
    trimmed = proxy.fault("error", op="GetRecords", code="TrimmedDataAccessException", message="the data was trimmed")
    while not trimmed.met:
        time.sleep(0.01)
    proxy.clear()
    while "GetRecords" not in proxy.ops:
        time.sleep(0.01)
    seen.set()
    assert [json.loads(tail.line())["kind"] for _ in range(2)] == ["INSERT", "gap"]


def test_the_past_of_a_stream_that_was_disabled(things, oldest, proxy):
    things.put("one", state="NEW")
    proxy.fault("alter", op="DescribeTable", times=None, change=lambda body: body["Table"].pop("StreamSpecification"))
    assert oldest(things, 1).lines == ['INSERT box/one   +state: "NEW"']


def test_an_expired_item_is_marked(things, oldest, proxy):
    things.put("one")
    things.remove("one")
    proxy.fault("alter", op="GetRecords", times=None, change=expire)
    assert oldest(things, 2).lines == ["INSERT box/one", "REMOVE (expired) box/one"]
    assert [line["expired"] for line in oldest(things, 2, "--json").lines] == [False, True]


def test_many_changes_that_wait_for_items_stop_further_ones(make_things, follow, proxy):
    things = make_things("OLD_IMAGE")
    count, size = 60, 300_000
    for number in range(count):
        things.put("one", note=f"{number:02d}" + "x" * size)
    seen = threading.Event()
    proxy.fault("page_size", op="GetRecords", times=None, items=3)
    for op in ("GetItem", "BatchGetItem"):
        proxy.fault("delay", op=op, times=None, seconds=60, until=lambda _: seen.is_set())
    tail = follow(things, "--json", "--oldest", "--fetch", "--limit", str(count), "/any/things")
    came = lambda: sum(each.response_bytes for each in proxy.requests if each.op == "GetRecords")  # noqa: E731
    mounts.wait_until(lambda: came() > 8 << 20, "many changes")
    time.sleep(1)
    assert came() < 12 << 20
    seen.set()
    lines = [json.loads(tail.line()) for _ in range(count)]
    assert [line["kind"] for line in lines] == ["INSERT"] + ["MODIFY"] * (count - 1)
    assert {line["new"]["note"][:2] for line in lines} == {f"{count - 1}"}
    assert [line["old"]["note"][:2] for line in lines[1:]] == [f"{number:02d}" for number in range(count - 1)]


def test_lost_changes_are_reported_in_both_streams(things, follow, proxy):
    tail = follow(things, "--json", "/any/things")
    things.put("none")
    assert json.loads(tail.line())["path"] == "/any/things/box/none"
    proxy.fault("error", op="GetRecords", code="TrimmedDataAccessException", message="the data was trimmed")
    gap = json.loads(tail.line())
    assert gap["kind"] == "gap" and gap["path"] == "/any/things" and gap["text"]
    things.put("one")
    while json.loads(tail.line())["path"] != "/any/things/box/one":
        pass  # the server has the change before the gap, too
    tail.end()
    assert "changes are missing here" in tail.told


def test_trouble_and_recovery_are_reported(things, follow, proxy):
    tail = follow(things, "--timeout", "1", "/any/things")
    proxy.fault("server_error", op="GetRecords", times=None)
    told = ""
    while "it is tried again" not in told:
        told = tail.process.stderr.readline()
    things.put("one")
    proxy.heal()
    assert "INSERT box/one" in tail.line()
    while "it works again" not in told:
        told = tail.process.stderr.readline()


def test_a_start_in_trouble_does_not_claim_that_nothing_is_lost(things, follow, proxy):
    proxy.fault("server_error", op="DescribeTable", times=None)
    tail = follow(things, "--timeout", "1", "/any/things", polls=0)
    told = tail.process.stderr.readline()
    assert "it is tried again, and changes before it works are not printed" in told
    things.put("lost")
    proxy.heal()
    while "it works, and" not in told:
        told = tail.process.stderr.readline()
    assert "changes from now on are printed" in told
    things.put("one")
    assert "INSERT box/one" in tail.line()


@rows("op", ["DescribeStream", "GetShardIterator", "GetRecords"])
def test_a_denied_operation_ends_it(things, ddbfs, proxy, op):
    proxy.fault("denied", op=op, times=None)
    done = ddbfs.run_plain("tail", "/any/things", env=things.env, expect=1)
    assert f"dynamodb:{op}" in done.stderr
    proxy.heal()


def test_the_status_is_printed_from_time_to_time(things, follow, clock):
    things.env |= clock.env
    tail = follow(things, "-v", "/any/things")
    clock.passes(11)
    told = ""
    while "lag " not in told:
        told = tail.process.stderr.readline()
    assert "1 shard, 0 changes printed, " in told and " requests/hour" in told
    tail.end()
    assert "GetRecords" not in tail.told


def test_the_status_is_on_the_terminal(things, ddbfs, proxy, home):
    command = [str(ddbfs.binary), "tail", "-v", "/any/things"]
    with terminal.Terminal(command, home.environment(things.env), typed=True) as t:
        t.wait_for("lag ")
        assert "requests/hour" in t.shown or t.wait_for("requests/hour") is None
        os.killpg(t.process.pid, signal.SIGINT)
        assert t.end() == -signal.SIGINT


def test_lines_are_cut_on_a_terminal(things, ddbfs, home):
    things.put("one", note="x" * 500)
    command = [str(ddbfs.binary), "tail", "--oldest", "--limit", "1", "/any/things"]
    with terminal.Terminal(command, home.environment(things.env), rows=24) as t:
        t.wait_for("…")
        assert t.end() == 0
        line = next(line for line in t.shown.splitlines() if "INSERT" in line)
    assert len(line) == 80 and line.endswith("x…")


def test_a_snapshot_does_not_change(ddbfs, tmp_path, things):
    things.put("one")
    snapshot = tmp_path / "one.ddb"
    ddbfs.run_plain("ls", "--record", snapshot, "/any/things/box", env=things.env)
    done = ddbfs.run_plain("tail", "--snapshot", snapshot, "/any/things", env=things.env, expect=1)
    assert "is of a recording, which does not change" in done.stderr


def test_the_mirror_of_a_model_that_changes_at_random(things, follow):
    """What the lines say is what happened: the items are made again from them."""
    tail = follow(things, "--json", "/any/things")
    want = {}
    for number in range(60):
        name = f"n{number * 7 % 11}"
        if number % 5 == 4 and name in want:
            things.remove(name)
            del want[name]
        else:
            things.put(name, note=str(number))
            want[name] = str(number)
    got = {}
    for _ in range(60):
        line = json.loads(tail.line())
        name = line["keys"]["sk"]
        assert (line["old"] or {}).get("note") == got.get(name)
        if line["new"]:
            got[name] = line["new"]["note"]
        else:
            del got[name]
        if got == want and name == "n6":
            break
    assert got == want
