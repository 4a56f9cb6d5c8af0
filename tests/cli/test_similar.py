"""ITEM@similar: the items whose vectors are nearest to an item's own, from the table's vector index."""

import itertools
import json
import subprocess

import pytest

from harness import snapshots, vectors
from harness.rows import rows

BARE = {"DDBFS_MAP": None}
NUMBERS = itertools.count()
COUNT = 24
REFUSED, NOT_FOUND = 1, 3


@pytest.fixture
def create(server, boto):
    """create(indexes, items) -> the name of a new table, which is deleted after the test."""
    made = []

    def make(indexes, items=None, **how):
        items = [vectors.document(number) for number in range(COUNT)] if items is None else items
        made.append(vectors.create(server.url, f"any-Docs{next(NUMBERS)}", indexes, items, **how))
        return made[-1]

    yield make
    for name in made:
        boto.delete_table(TableName=name)


@pytest.fixture
def docs(create):
    return create([vectors.index("by-meaning")])


@pytest.fixture
def two(create):
    return create([vectors.index("by-meaning"), vectors.index("by-lang", "EUCLIDEAN", "lang", "ALL")])


@pytest.fixture
def bare(ddbfs):
    """ddbfs without any map."""
    return lambda *arguments, **how: ddbfs(*arguments, env=BARE, **how)


def item(table, number, more="@similar"):
    return f"/tables/{table}/items/p{number % 3}/s{number}{more}"


def keys_of(results):
    return [f"{each['Item']['pk']['S']},{each['Item']['sk']['S']}" for each in results]


def names_of(results, digits):
    return [f"{rank:0{digits}}_{key}" for rank, key in enumerate(keys_of(results), 1)]


@rows("more, count, digits", [("", 10, 2), ("/5", 5, 1), ("/10", 10, 2), ("/100", COUNT, 3), ("/1", 1, 1)])
def test_the_names_are_the_service_s_results_in_its_order(bare, server, docs, more, count, digits):
    found = vectors.nearest(server.url, docs, "by-meaning", vectors.document(4), min(count, 100))
    assert bare("ls", item(docs, 4) + more).text.split() == names_of(found, digits)
    assert found[0]["Item"]["sk"] == {"S": "s4"}, "the item itself is among them"


def test_it_is_one_request_for_the_item_and_one_search(bare, docs, cost, proxy):
    bare("ls", item(docs, 4))
    search = next(each for each in proxy.requests if each.op == "SearchVectors")
    assert cost() == ["DescribeTable", "GetItem", "SearchVectors by-meaning"]
    assert search.body["SearchVector"] == vectors.document(4)["embedding"]["L"] and search.body["TopK"] == 10
    assert sorted(search.body["ExpressionAttributeNames"].values()) == ["pk", "sk"]
    bare("ls", "-l", item(docs, 4, "@similar/7"))
    assert cost() == ["DescribeTable", "GetItem", "SearchVectors by-meaning", "BatchGetItem"]


def test_an_entry_is_the_item_at_its_own_path(bare, docs):
    for name in bare("ls", item(docs, 4, "@similar/3")).text.split():
        partition, sort = name[2:].split(",")
        own = f"/tables/{docs}/items/{partition}/{sort}"
        for companion in ("", "@typed"):
            entry = item(docs, 4, f"@similar/3/{name}{companion}")
            assert bare("cat", entry).stdout == bare("cat", own + companion).stdout
        told = json.loads(bare("cat", item(docs, 4, f"@similar/3/{name}@info")).text)
        assert told["key"] == {"pk": {"S": partition}, "sk": {"S": sort}}


def test_a_name_that_is_no_result_is_not_found(bare, docs):
    right = bare("ls", item(docs, 4)).text.split()[2]
    for wrong in ("09" + right[2:], right + "x", "3" + right[2:]):
        failed = bare("cat", item(docs, 4, f"@similar/{wrong}"), expect=NOT_FOUND).stderr
        assert "does not find an item of this name" in failed


@rows("distance", ["COSINE", "EUCLIDEAN", "DOT_PRODUCT"])
def test_files_of_all_have_ranks_scores_and_the_distance(bare, server, create, distance):
    table = create([vectors.index("by-meaning", distance)])
    found = vectors.nearest(server.url, table, "by-meaning", vectors.document(7), 4)
    lines = [json.loads(line) for line in bare("cat", item(table, 7, "@similar/4@jsonl")).text.splitlines()]
    assert [each["@rank"] for each in lines] == [1, 2, 3, 4]
    assert [each["@score"] for each in lines] == [each["Score"] for each in found]
    assert {each["@distance"] for each in lines} == {distance}
    assert [f"{each['pk']},{each['sk']}" for each in lines] == keys_of(found)
    assert all(each["title"] and each["embedding"] for each in lines), "the items are whole"
    scores = bare("cat", item(table, 7, "@similar/4@csv:@score")).text.split()
    assert scores == ["@score", *(repr(each["Score"]) for each in found)]
    assert bare("cat", item(table, 7, "@similar/4@count")).text == "4\n"
    assert "Title 7" in bare("cat", item(table, 7, "@similar@table:title,@rank")).text


def test_info_has_the_scores_the_cost_and_the_equal_command(bare, server, docs):
    found = vectors.nearest(server.url, docs, "by-meaning", vectors.document(4), 3)
    told = json.loads(bare("cat", item(docs, 4, "@similar/3@info")).text)
    assert [each["score"] for each in told["results"]] == [each["Score"] for each in found]
    assert [each["name"] for each in told["results"]] == names_of(found, 1)
    assert (told["index"], told["vector"], told["distance"]) == ("by-meaning", "embedding", "COSINE")
    assert told["search_bytes"] == 1024 and told["capacity"] == 0 and told["requests"] == 1
    assert told["item"]["capacity"] == 0.5 and told["item"]["age_ms"] >= 0
    assert "aws dynamodb search-vectors" in told["aws"] and "--top-k 3" in told["aws"]


@pytest.fixture
def fake_aws(tmp_path):
    """A program `aws` that prints the item for get-item, and its own words for search-vectors, which the
    installed one does not know."""
    program = tmp_path / "bin" / "aws"
    program.parent.mkdir()
    stored = json.dumps({"Item": vectors.document(5)})
    script = f"#!/bin/sh\ncase $2 in get-item) cat <<'END'\n{stored}\nEND\n;; *) "
    script += 'python3 -c \'import json, sys; print(json.dumps({"SearchResults": [sys.argv[1:]]}))\' "$@" ;; esac\n'
    program.write_text(script, "utf-8")
    program.chmod(0o755)
    return program.parent


def test_the_printed_command_sends_the_same_request(bare, two, proxy, fake_aws):
    path = item(two, 5, "@similar:by-lang/3@info")
    command = json.loads(bare("cat", path).text)["aws"]
    sent = next(each.body for each in proxy.requests if each.op == "SearchVectors")
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True,
                          env={"PATH": f"{fake_aws}:/usr/bin:/bin"})  # fmt: skip
    assert not done.stderr, command
    words = json.loads(done.stdout)
    given = dict(zip(words, words[1:]))
    assert words[:2] == ["dynamodb", "search-vectors"] and given["--top-k"] == str(sent["TopK"])
    assert (given["--table-name"], given["--index-name"]) == (sent["TableName"], sent["IndexName"])
    assert json.loads(given["--search-vector"]) == sent["SearchVector"]
    assert given["--search-condition-expression"] == sent["SearchConditionExpression"]
    assert json.loads(given["--expression-attribute-values"]) == sent["ExpressionAttributeValues"]
    assert json.loads(given["--expression-attribute-names"]) == sent["ExpressionAttributeNames"]


def test_explain_prices_it_before_a_request_is_sent(bare, docs, cost):
    told = bare("explain", item(docs, 4)).text
    assert "SearchVectors in index by-meaning of" in told and "at least 1024 search bytes" in told
    assert "BatchGetItem" in told and "an AWS CLI of August 2026 or later" in told
    json_told = json.loads(bare("explain", "--json", item(docs, 4)).text)
    assert json_told["bound"]["searches"] == 1 and json_told["bound"]["least_search_bytes"] == 1024
    assert set(cost()) == {"DescribeTable"}


def test_several_indexes_need_a_name(bare, server, two):
    failed = bare("ls", item(two, 4), expect=REFUSED).stderr
    assert "several vector indexes: by-meaning, by-lang; type the one that is meant: @similar:by-meaning" in failed
    found = vectors.nearest(server.url, two, "by-meaning", vectors.document(4), 10)
    assert bare("ls", item(two, 4, "@similar:by-meaning")).text.split() == names_of(found, 2)
    assert 'no vector index "other"; it has by-meaning, by-lang' in bare(
        "ls", item(two, 4, "@similar:other"), expect=1
    ).stderr


def test_one_index_may_be_named(bare, docs):
    assert bare("ls", item(docs, 4, "@similar:by-meaning/3")).text == bare("ls", item(docs, 4, "@similar/3")).text


def test_a_partition_has_the_item_s_value(bare, server, two, proxy):
    found = vectors.nearest(server.url, two, "by-lang", vectors.document(4), 5, "lang")
    assert bare("ls", item(two, 4, "@similar:by-lang/5")).text.split() == names_of(found, 1)
    search = next(each.body for each in proxy.requests if each.op == "SearchVectors")
    assert search["ExpressionAttributeValues"] == {":v0": {"S": "de"}}
    told = json.loads(bare("cat", item(two, 4, "@similar:by-lang@info")).text)
    assert told["partition"] == "lang" and "where lang is the item's" in told["reads"][1]


MAP = {
    "environments": {"any": {"prefix": "any-", "profile": "controller", "region": "us-east-1"}},
    "tables": {
        "docs": {
            "table": None,
            "secret": ["title"],
            "records": {"doc": {"pk": "p{part}", "sk": "s{number}"}},
            "paths": {"doc/{part}/{number}": {}, "part/{part}/": {}},
        }
    },
}


@pytest.fixture
def mapped(ddbfs, two, tmp_path):
    """ddbfs with a map of the table with two indexes."""
    declared = json.loads(json.dumps(MAP))
    declared["tables"]["docs"]["table"] = two.removeprefix("any-")
    file = tmp_path / "docs.json"
    file.write_text(json.dumps(declared), "utf-8")
    return lambda *arguments, **how: ddbfs(*arguments, env={"DDBFS_MAP": file}, **how)


def test_it_works_for_the_tables_of_a_map(mapped, server, two, cost):
    found = vectors.nearest(server.url, two, "by-meaning", vectors.document(4), 3)
    for path in ("/any/docs/doc/1/4", "/any/docs/part/1/4"):
        assert mapped("ls", f"{path}@similar:by-meaning/3").text.split() == names_of(found, 1)
    assert cost()[:3] == ["DescribeTable", "GetItem", "SearchVectors by-meaning"]
    name = names_of(found, 1)[1]
    entry = json.loads(mapped("cat", f"/any/docs/doc/1/4@similar:by-meaning/3/{name}").text)
    assert f"{entry['pk']},{entry['sk']}" == name[2:] and entry["title"] != found[1]["Item"].get("title")
    assert "Title" not in mapped("cat", "/any/docs/doc/1/4@similar:by-meaning/3@jsonl").text, "secrets are masked"
    assert "several vector indexes" in mapped("ls", "/any/docs/doc/1/4@similar", expect=REFUSED).stderr
    told = json.loads(mapped("explain", "--json", "/any/docs/doc/1/4@similar:by-meaning").text)
    assert told["bound"]["descriptions"] == 1 and told["bound"]["searches"] == 1


def test_a_recording_has_no_secret_of_a_search(mapped, server, two, tmp_path):
    """The partition of an index comes with each result, and it is a secret here."""
    stored = {**vectors.document(4), "lang": {"S": "a-secret-language"}}
    vectors.send(server.url, "PutItem", {"TableName": two, "Item": stored})
    open_file, secret_file = tmp_path / "open.ddb", tmp_path / "secret.ddb"
    declared = json.loads(json.dumps(MAP))
    declared["tables"]["docs"] |= {"table": two.removeprefix("any-"), "secret": ["lang"]}
    secret_map = tmp_path / "secret.json"
    secret_map.write_text(json.dumps(declared), "utf-8")
    path = "/any/docs/doc/1/4@similar:by-lang/3"
    mapped("ls", "--record", open_file, path)
    assert b"a-secret-language" in open_file.read_bytes()
    mapped("--map", secret_map, "ls", "--record", secret_file, path)
    assert b"a-secret-language" not in secret_file.read_bytes()


def test_policy_grants_searches_when_asked(mapped, two):
    granted = json.loads(mapped("policy", "--similar").text)["Statement"]
    searches = [each for each in granted if "dynamodb:SearchVectors" in each["Action"]]
    assert [each["Resource"] for each in searches] == [[f"arn:aws:dynamodb:us-east-1:*:table/{two}/index/*"]]
    assert searches[0]["Action"] == ["dynamodb:SearchVectors"] and "Condition" not in searches[0]
    assert "SearchVectors" not in mapped("policy").text


def bad(**change):
    return {**vectors.document(99), "pk": {"S": "p0"}, "sk": {"S": "s99"}, **change}


def without(name):
    return {key: value for key, value in bad().items() if key != name}


@rows(
    "stored, more, part",
    [
        (without("embedding"), "@similar:by-meaning", "lacks the attribute embedding"),
        (without("lang"), "@similar:by-lang", "no lang of type S"),
    ],
)
def test_an_item_that_the_index_lacks_is_not_searched_for(bare, server, two, cost, stored, more, part):
    vectors.send(server.url, "PutItem", {"TableName": two, "Item": stored})
    assert part in bare("ls", item(two, 99, more), expect=REFUSED).stderr
    assert "SearchVectors" not in " ".join(cost())


@rows(
    "vector, part",
    [
        ({"S": "none"}, "is no vector"),
        ({"L": [{"N": "1"}, {"S": "2"}, {"N": "3"}]}, "is no vector"),
        (vectors.vector(1, 2), "has 2 numbers, and the vector index by-meaning has 3 dimensions"),
    ],
)
def test_what_is_no_vector_of_the_index_is_refused(bare, docs, proxy, vector, part):
    """The server refuses to store such items, so the proxy changes one."""

    def change(body):
        body["Item"]["embedding"] = vector

    proxy.fault("alter", op="GetItem", times=None, change=change)
    assert part in bare("ls", item(docs, 4), expect=REFUSED).stderr
    assert "SearchVectors" not in proxy.ops


def test_a_table_without_a_vector_index_is_refused_without_a_search(bare, create, cost):
    table = create([], [vectors.document(4)])
    failed = bare("ls", item(table, 4), expect=REFUSED).stderr
    assert f"table {table} has no vector index" in failed and "UpdateTable" in failed
    assert cost() == ["DescribeTable"]


@rows("change", [{"IndexStatus": "CREATING"}, {"IndexStatus": "ACTIVE", "Backfilling": True}])
def test_an_index_that_is_not_ready_is_not_searched(bare, docs, proxy, change):
    proxy.fault(
        "alter", op="DescribeTable", times=None, change=lambda body: body["Table"]["VectorIndexes"][0].update(change)
    )
    assert "not ready for searches" in bare("ls", item(docs, 4), expect=REFUSED).stderr
    assert set(proxy.ops) == {"DescribeTable"}
    assert "not ready for searches" in bare("cat", f"/tables/{docs}/by/by-meaning/README").text


def test_an_unknown_distance_function_is_refused(bare, docs, proxy):
    def change(body):
        body["Table"]["VectorIndexes"][0]["DistanceFunction"] = "MANHATTAN"

    proxy.fault("alter", op="DescribeTable", times=None, change=change)
    assert "distance function MANHATTAN, which this version does not know" in bare(
        "ls", item(docs, 4), expect=1
    ).stderr


@rows(
    "code, message, part",
    [
        ("ValidationException", "Cannot search backfilling vector index: by-meaning", "not ready for searches"),
        ("ValidationException", "The table does not have the specified index: by-meaning", "try again in a minute"),
        ("UnknownOperationException", "", "does not know SearchVectors"),
        ("AccessDeniedException", "no", "dynamodb:SearchVectors"),
        ("ThrottlingException", "slow down", "is throttled"),
    ],
)
def test_a_refused_search_has_its_reason(bare, docs, proxy, code, message, part):
    proxy.fault("error", op="SearchVectors", times=None, code=code, message=message)
    assert part in bare("ls", item(docs, 4), expect=REFUSED).stderr


def results(body):
    return body["SearchResults"]


def swap(body):
    results(body)[0], results(body)[2] = results(body)[2], results(body)[0]


def repeat(body):
    results(body)[1]["Item"] = results(body)[0]["Item"]


def drop_key(body):
    del results(body)[1]["Item"]["sk"]


def add(body):
    results(body).append({**results(body)[-1], "Item": {"pk": {"S": "more"}, "sk": {"S": "more"}}})


def spoil_score(body):
    results(body)[0]["Score"] = "0.5"


@rows(
    "change, part",
    [
        (swap, "scores that are not in order"),
        (repeat, "an item that had come before"),
        (drop_key, "a result without its key"),
        (add, "11 results, and 10 were requested"),
        (spoil_score, "is not DynamoDB's"),
    ],
)
def test_a_wrong_response_is_an_error(bare, docs, proxy, change, part):
    proxy.fault("alter", op="SearchVectors", times=None, change=change)
    assert part in bare("ls", item(docs, 4), expect=REFUSED).stderr


def test_an_item_of_another_partition_is_an_error(bare, two, proxy):
    def change(body):
        results(body)[0]["Item"]["lang"] = {"S": "xx"}

    proxy.fault("alter", op="SearchVectors", times=None, change=change)
    assert "an item whose lang does not match" in bare("ls", item(two, 4, "@similar:by-lang"), expect=REFUSED).stderr


def test_an_item_that_no_longer_exists_is_left_out_or_not_found(bare, docs, proxy):
    """The index may be behind the table."""

    def change(body):
        results(body)[1]["Item"] = {"pk": {"S": "gone"}, "sk": {"S": "gone"}}

    proxy.fault("alter", op="SearchVectors", times=None, change=change)
    assert "2_gone,gone" in bare("ls", item(docs, 4, "@similar/3")).text
    assert len(bare("ls", "-l", item(docs, 4, "@similar/3")).text.splitlines()) == 2
    gone = bare("cat", item(docs, 4, "@similar/3/2_gone,gone"), expect=NOT_FOUND).stderr
    assert "no item with" in gone


def test_an_attribute_with_the_name_of_a_column_is_an_error(bare, docs, server):
    stored = {**vectors.document(4), "@score": {"N": "1"}}
    vectors.send(server.url, "PutItem", {"TableName": docs, "Item": stored})
    assert 'the attribute "@score"' in bare("cat", item(docs, 4, "@similar@csv"), expect=REFUSED).stderr
    assert bare("ls", "-l", item(docs, 4)).text


@rows(
    "more, code, part",
    [
        ("@similar/0", NOT_FOUND, "numbers of results from 1 to 100"),
        ("@similar/101", REFUSED, "1 to 100 items, and not 101"),
        ("@similar/5/5", NOT_FOUND, "not found here"),
        ("@similar/foo", NOT_FOUND, "not found here"),
        ("@similar@sqlite", NOT_FOUND, "similar items have no @sqlite"),
        ("@similar@summary", NOT_FOUND, "similar items have no @summary"),
    ],
)
def test_a_wrong_name_has_its_reason(bare, docs, more, code, part):
    assert part in bare("ls", item(docs, 4, more), expect=code).stderr


KEYS = ["plain", "a/b", "x@info", "y@similar", "z@csv:a", "with,comma", "%", "~", "l" * 300, "ü" * 200]


def test_every_key_has_a_name_that_opens(bare, create):
    items = [
        {"pk": {"S": key}, "embedding": vectors.vector(1, number / 100, 0)} for number, key in enumerate(KEYS)
    ]
    table = create([vectors.index("by-meaning")], items, sort=None)
    path = f"/tables/{table}/items/plain@similar"
    names = bare("ls", path).text.splitlines()
    assert len(names) == len(KEYS) and all(len(name.encode()) <= 255 for name in names)
    for name, key in zip(names, KEYS):
        assert json.loads(bare("cat", f"{path}/{name}").text)["pk"] == key
    assert bare("ls", f"/tables/{table}/items/y%40similar@similar/1").text == "1_y%40similar\n"


@rows("types", [("N", "B"), ("B", "N")])
def test_keys_of_all_types_open(bare, create, types):
    values = {"N": lambda number: {"N": str(number)}, "B": lambda number: {"B": ["AAE=", "/w==", "YS9i"][number]}}
    items = [
        {"pk": values[types[0]](number), "sk": values[types[1]](number), "embedding": vectors.vector(1, number, 0)}
        for number in range(3)
    ]
    table = create([vectors.index("by-meaning")], items, partition=types[0], sort=types[1])
    first = bare("ls", f"/tables/{table}/items/{'1' if types[0] == 'N' else 'base64:AAE='}").text.split()[0]
    path = f"/tables/{table}/items/{'1' if types[0] == 'N' else 'base64:AAE='}/{first}@similar"
    for name in bare("ls", path).text.split():
        assert json.loads(bare("cat", f"{path}/{name}@typed").text)["embedding"]


def test_the_index_s_directory_explains_it(bare, two):
    assert sorted(bare("ls", f"/tables/{two}/by").text.split()) == ["by-lang/", "by-meaning/"]
    assert bare("ls", f"/tables/{two}/by/by-lang").text.split() == ["README", "{vector}/"]
    told = bare("cat", f"/tables/{two}/by/by-lang/README").text
    assert "It can't be listed" in told and "ITEM@similar:by-lang/" in told and "the same lang" in told
    for name, code in (("{vector}", REFUSED), ("anything", NOT_FOUND)):
        failed = bare("ls", f"/tables/{two}/by/by-lang/{name}", expect=code).stderr
        assert "answers only searches by a vector" in failed
    assert "Vector index by-lang: embedding, 3 dimensions, EUCLIDEAN; ACTIVE" in bare("cat", f"/tables/{two}/README").text
    assert "nearest to this item's own" in bare("cat", item(two, 4, "@similar:by-lang/README")).text


def test_a_snapshot_has_none(ddbfs, tmp_path):
    file = snapshots.sample(tmp_path / "orders.ddb")
    settings = f"/prod/{snapshots.SETTINGS}"
    failed = ddbfs("--snapshot", file, "ls", settings + "@similar", expect=REFUSED).stderr
    assert "a snapshot has no vector index" in failed


@pytest.mark.parametrize("server", ["dynamodb-local"], indirect=True)
def test_dynamodb_local_has_no_vector_index(ddbfs):
    path = "/prod/shops/cool-store.myshopify.com/SETTINGS@similar"
    assert "has no vector index" in ddbfs("ls", path, expect=REFUSED).stderr


def test_a_search_without_a_result_is_an_error(bare, docs, proxy):
    """An index that has the item finds at least that one."""
    proxy.fault("alter", op="SearchVectors", times=None, change=lambda body: body.update(SearchResults=[]))
    for words in (("ls",), ("cat",)):
        told = bare(*words, item(docs, 4, "@similar" if words == ("ls",) else "@similar@jsonl"), expect=1).stderr
        assert "the vector index by-meaning of table" in told and "try again in some seconds" in told


def test_a_vector_index_cannot_be_followed(bare, docs):
    told = bare("tail", f"/tables/{docs}/by/by-meaning", expect=1).stderr
    assert "is of a vector index, which lists no items; follow the table" in told
