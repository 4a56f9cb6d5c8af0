"""docs/guides/access-patterns.md, word for word: its items in tables, its excerpts as one map, and each
command with what stands below it."""

import json
import re
import shlex

import pytest

from harness import places
from harness.rows import rows

GUIDE = places.REPO / "docs/guides/access-patterns.md"
SECTIONS = re.split(r"^## ", GUIDE.read_text(), flags=re.M)[1:]


def block(section, language):
    return re.search(rf"^```{language}\n(.*?)^```", section, re.M | re.S)[1]


def cells(line):
    return [cell.strip().strip("`") for cell in line.strip().strip("|").split("|")]


def excerpt(section):
    """The excerpt's table: its directory and what is said of it."""
    ((directory, table),) = json.loads("{" + block(section, "jsonc") + "}").items()
    return directory, table


def names(written):
    """The attributes of one side of an index."""
    return [written] if isinstance(written, str) else list(written)


def indexes_of(table):
    for name, index in table.get("indexes", {}).items():
        yield name, names(index["partition"]), names(index.get("sort", []))


def items_of(section, types):
    header, _, *rows = [line for line in section.splitlines() if line.startswith("|")]
    for row in rows:
        texts = zip(cells(header), cells(row))
        yield {name: {types.get(name, "S"): text} for name, text in texts if text}


def schema(partition, sort):
    return [{"AttributeName": each, "KeyType": "HASH"} for each in partition] + [
        {"AttributeName": each, "KeyType": "RANGE"} for each in sort
    ]


def described(table):
    """CreateTable's input for what the excerpt says."""
    keys = list(next(iter(table["records"].values())))
    indexes = [
        {
            "IndexName": name,
            "KeySchema": schema(partition, sort),
            "Projection": {"ProjectionType": "ALL"},
        }
        for name, partition, sort in indexes_of(table)
    ]
    used = {each["AttributeName"] for one in indexes for each in one["KeySchema"]} | set(keys)
    types = table.get("types", {})
    return {
        "TableName": table["table"],
        "KeySchema": schema(keys[:1], keys[1:]),
        "AttributeDefinitions": [
            {"AttributeName": each, "AttributeType": types.get(each, "S")} for each in sorted(used)
        ],
        "BillingMode": "PAY_PER_REQUEST",
        **({"GlobalSecondaryIndexes": indexes} if indexes else {}),
    }


def has_several(table):
    return any(len(partition) > 1 or len(sort) > 1 for _, partition, sort in indexes_of(table))


def answered_by_hand(table, items):
    """Query of an index with several attributes a side, which the server does not know: all equalities and
    one beginning of ITEMS, in the order of the sort key."""
    ((_, _, sort),) = indexes_of(table)

    def answer(body):
        attribute = lambda word: body["ExpressionAttributeNames"].get(word, word)
        value = lambda word: body["ExpressionAttributeValues"][word]["S"]
        found = items
        condition = body["KeyConditionExpression"]
        for word, given in re.findall(r"(#?\w+) = (:\w+)", condition):
            found = [each for each in found if each[attribute(word)]["S"] == value(given)]
        for word, given in re.findall(r"begins_with\((#?\w+), (:\w+)\)", condition):
            found = [each for each in found if each[attribute(word)]["S"].startswith(value(given))]
        found = sorted(found, key=lambda each: [each[name]["S"] for name in sort])
        return {"Items": found, "Count": len(found), "ScannedCount": len(found)}

    return answer


def commands(section):
    """Each command with the lines below it."""
    for each in re.split(r"^\$ ", block(section, "console"), flags=re.M)[1:]:
        command, _, output = each.partition("\n")
        yield command, output


@pytest.fixture
def guide_map(write_map):
    tables = dict(excerpt(section) for section in SECTIONS)
    return write_map({"environments": {"demo": {}}, "tables": tables})


def title(section):
    return section.splitlines()[0].replace(" ", "-")


def test_the_excerpts_are_one_map(ddbfs, guide_map):
    assert len(SECTIONS) == 9
    assert ddbfs("check", "--offline", guide_map).stderr == ""


@rows("section", SECTIONS, ids=title)
def test_what_a_section_shows(ddbfs, guide_map, table, proxy, section):
    _, declared = excerpt(section)
    items = list(items_of(section, declared.get("types", {})))
    if has_several(declared):
        proxy.fault("canned", op="Query", times=None, answer=answered_by_hand(declared, items))
    else:
        table(described(declared), items)
    shown = list(commands(section))
    assert shown
    for command, output in shown:
        program, *arguments = shlex.split(command)
        assert program == "ddbfs"
        assert ddbfs("--map", guide_map, *arguments).text == output, command
