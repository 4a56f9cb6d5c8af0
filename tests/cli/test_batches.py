"""Records that are asked for side by side leave as one request, and one of them can't spoil the
others. Counted at the proxy."""

import json

import pytest

BOX = "/any/things/box"
COUNT = 250


@pytest.fixture
def box(things):
    """The paths of COUNT records, and what `ddbfs cat` has to print for all of them."""
    things.put_many((f"t-{number:03}", {"number": {"N": str(number)}}) for number in range(COUNT))
    return [f"{BOX}/t-{number:03}" for number in range(COUNT)]


@pytest.fixture
def cat(ddbfs, things):
    def run(*paths, **how):
        return ddbfs("--format", "compact", *how.pop("options", ()), "cat", *paths, env=things.env, **how)

    return run


def numbers(text):
    return [json.loads(line)["number"] for line in text.splitlines()]


@pytest.mark.wire
def test_a_hundred_names_are_one_request(cat, cost, proxy, box):
    assert numbers(cat(*box[:100]).text) == list(range(100))
    assert len(proxy.requests[0].keys) == 100
    assert cost() == ["BatchGetItem"]


def test_more_are_a_handful(cat, cost, box):
    assert numbers(cat(*box).text) == list(range(COUNT))
    asked = cost()
    assert len(asked) <= 6 and set(asked) <= {"BatchGetItem", "GetItem"}


def test_one_name_is_one_record(cat, cost, box):
    assert numbers(cat(box[7]).text) == [7]
    assert cost() == ["GetItem"]


def test_other_attributes_do_not_come_along(cat, cost, box):
    """A bare attribute is asked for alone, the records around it as wholes."""
    text = cat(box[0], f"{box[1]}@/number", box[2]).text.splitlines()
    assert (json.loads(text[0])["number"], text[1], json.loads(text[2])["number"]) == (0, "1", 2)
    assert sorted(cost()) == ["BatchGetItem", "GetItem"]


@pytest.mark.wire
def test_those_that_are_not_there_are_missed_alone(cat, box, cost):
    told = cat(box[0], f"{BOX}/none", box[1], f"{BOX}/nope", box[2], expect=3)
    assert numbers(told.text) == [0, 1, 2]
    assert [line.split(": ")[1] for line in told.stderr.splitlines()] == [f"{BOX}/none", f"{BOX}/nope"]
    assert cost() == ["BatchGetItem"]


def test_a_policy_that_grants_one_at_a_time_is_remembered(cat, cost, proxy, box):
    proxy.fault("denied", op="BatchGetItem", times=None)
    told = cat(*box)
    assert numbers(told.text) == list(range(COUNT))
    asked = cost()
    assert (asked.count("BatchGetItem"), asked.count("GetItem")) == (1, COUNT)
    assert told.stderr.count("are read one by one for the next 5 minutes") == 1
    assert '"Action": "dynamodb:BatchGetItem"' in told.stderr, "the statement that would grant it"


def test_what_no_policy_grants_is_denied_one_by_one(cat, proxy, box):
    proxy.fault("denied", times=None)
    told = cat(*box[:3], expect=1)
    assert told.stderr.count("is not authorized to perform: dynamodb:GetItem") == 3


def test_a_server_without_batches_is_asked_one_by_one(cat, cost, proxy, box):
    proxy.fault("error", op="BatchGetItem", times=None, code="UnknownOperationException")
    assert numbers(cat(*box).text) == list(range(COUNT))
    assert cost().count("BatchGetItem") == 1


def spoil(body):
    """An item that was not asked for."""
    items = next(iter(body["Responses"].values())) if "Responses" in body else [body["Item"]]
    for item in items:
        if item["sk"]["S"] == "t-003":
            item["pk"] = {"S": "another"}


def test_one_bad_answer_fails_one(cat, proxy, box):
    proxy.fault("alter", times=None, change=spoil)
    told = cat(*box[:10], expect=1)
    assert numbers(told.text) == [0, 1, 2, *range(4, 10)]
    assert [line.split(": ")[1] for line in told.stderr.splitlines()] == [box[3]]


def test_one_refused_key_fails_one(cat, proxy, box):
    """The service refuses a whole request for the sake of one of its keys."""
    refused = {"code": "ValidationException", "message": "One or more parameter values were invalid"}
    proxy.fault("error", op="BatchGetItem", times=1, **refused)
    proxy.fault("error", op="GetItem", times=1, **refused)
    told = cat(*box[:10], expect=1)
    assert len(numbers(told.text)) == 9 and told.stderr.count("parameter values were invalid") == 1


def test_rounds_that_leave_some_unprocessed(cat, cost, proxy, box):
    proxy.fault("unprocessed", op="BatchGetItem", times=2)
    assert numbers(cat(*box[:100], f"{BOX}/none", expect=3).text) == list(range(100))
    assert cost().count("BatchGetItem") == 3


def test_throttling_is_told_everybody(cat, cost, proxy, box):
    proxy.fault("unprocessed", op="BatchGetItem", times=None, keep=0)
    told = cat(*box[:10], options=("--timeout", "60"), expect=1)
    assert told.text == "" and told.stderr.count("is throttled: 10 keys of 10 stayed unprocessed") == 10
    assert cost() == ["BatchGetItem"] * 4


def test_info_has_the_request_and_its_part_of_the_capacity(cat, proxy, box):
    """Each of small records takes half a unit; the service tells the sum."""
    told = cat(*[f"{path}@info" for path in box[:8]]).text
    infos = [json.loads(each) for each in told.replace("}\n{", "}\n\0{").split("\0")]
    assert [each["request_id"] for each in infos] == [proxy.requests[0].request_id] * 8
    assert [each["capacity"] for each in infos] == [0.5] * 8
    assert proxy.ops == ["BatchGetItem"]
