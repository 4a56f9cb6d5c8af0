"""`ddbfs map --from FILE`: models of OneTable, ElectroDB and dynamodb-toolbox, a dozen kinds of record
each. Their items are made here by each tool's rules, written down from its documentation, and every path of
the printed map is compared with what boto3 finds."""

import json
import pathlib
import re

import pytest

from harness import plain
from harness.rows import rows

from .conftest import read_map_text

MODELS = pathlib.Path(__file__).parent / "imports"


def string(values):
    return {name: {"N": str(v)} if isinstance(v, int) else {"S": v} for name, v in values.items()}


# Items by the tools' rules.


def onetable_items():
    account = {"accountId": "01HXA", "name": "Acme", "plan": "team"}
    project = {"accountId": "01HXA", "projectId": "P1"}
    make = lambda kind, pk, sk, **rest: string({"pk": pk, "sk": sk, "_type": kind, **rest})
    yield make("Account", "account#01HXA", "account#", **account, gs1pk="plan#team", gs1sk="account#01HXA")
    yield make("Account", "account#01HXB", "account#", gs1pk="plan#team", gs1sk="account#01HXB")
    for user, mail in (("u1", "ann@example.com"), ("u2", "bob@example.com")):
        yield make("User", "account#01HXA", f"user#{user}", email=mail, gs1pk=f"User#{user}", gs1sk="user#")
    yield make("Invitation", "account#01HXA", "invitation#eve@example.com", email="eve@example.com")
    for each in ("P1", "P2"):
        yield make("Project", "account#01HXA", f"project#{each}", gs1pk=f"project#{each}", gs1sk="project#")
    for task, status in (("t1", "open"), ("t2", "done"), ("t3", "open")):
        yield make(
            "Task",
            "project#P1",
            f"task#{task}",
            title=task,
            dueAt=f"2026-05-0{task[1]}T10:00:00.000Z",
            gs1pk="assignee#u1",
            gs1sk=f"task#{status}#{task}",
        )
    for comment in ("c1", "c2"):
        yield make(
            "Comment",
            "project#P1",
            f"comment#t1#{comment}",
            gs2pk="author#u2",
            gs2sk=f"comment#{comment}",
        )
    yield make("Label", "project#P1", "label#red", label="red")
    for task in ("t1", "t2"):
        yield make("Labelled", f"task#{task}", "label#red", gs2pk="label#red", gs2sk=f"task#{task}")
    for number, state in ((7, "due"), (42, "paid"), (123456, "due")):
        key = f"invoice#{number:06}"
        yield make("Invoice", "account#01HXA", key, number=number, gs1pk=f"invoices#{state}", gs1sk=key)
        yield make("InvoiceLine", key, "line#001", line=1)
        yield make("InvoiceLine", key, "line#012", line=12)
    yield make("Session", "session#s3cr", "session#", gs1pk="User#u1", gs1sk="session#s3cr")
    for event in ("e1", "e2"):
        yield make("Event", "events#2026-05-01", f"2026-05-01T09:0{event[1]}:00.000Z#{event}")


def electrodb_items():
    lower = lambda **keys: {name: value.lower() for name, value in keys.items()}
    yield "taskapp", string(
        {
            **lower(pk="$TaskApp#organizationId_Nike", sk="$organization_1"),
            **lower(gsi1pk="$TaskApp", gsi1sk="$organization_1#organizationId_Nike"),
            "organizationId": "Nike",
        }
    )
    for employee, team, salary in (("Ann", "jupiter", 5000), ("Bob", "mercury", 120000), ("Cy", "jupiter", 70)):
        yield "taskapp", string(
            {
                **lower(pk=f"$TaskApp#employeeId_{employee}", sk="$employee_1"),
                **lower(gsi1pk="$TaskApp#organizationId_Nike"),
                **lower(gsi1sk=f"$workplaces#employee_1#employeeId_{employee}"),
                **lower(gsi2pk=f"$TaskApp#team_{team}", gsi2sk=f"$employee_1#salary_{salary:06}"),
                **lower(gsi3pk=f"$TaskApp#employeeId_{employee}", gsi3sk="$assignments#employee_1"),
                "employeeId": employee,
            }
        )
    for office in ("HQ", "Lab"):
        yield "taskapp", string(
            {
                **lower(pk="$TaskApp#country_US", sk=f"$office_2#city_Portland#o_{office}"),
                **lower(gsi1pk="$TaskApp#organizationId_Nike", gsi1sk=f"$workplaces#office_2#o_{office}"),
                "officeId": office,
            }
        )
    for task, employee in (("T1", "Ann"), ("T2", "Ann"), ("T3", "Bob")):
        yield "taskapp", string(
            {
                **lower(pk=f"$TaskApp#taskId_{task}", sk=f"$task_1#project_Moon#employeeId_{employee}"),
                **lower(gsi1pk="$TaskApp#project_Moon", gsi1sk=f"$task_1#employeeId_{employee}#taskId_{task}"),
                **lower(gsi3pk=f"$TaskApp#employeeId_{employee}"),
                **lower(gsi3sk=f"$assignments#task_1#project_Moon#taskId_{task}"),
                "taskId": task,
            }
        )
    for note in ("n1", "n2"):
        key = lower(pk="$TaskApp#taskId_T1", sk=f"$discussion#noteId_{note}#note_1")
        yield "taskapp", string({**key, "noteId": note})
        key = lower(pk="$TaskApp#taskId_T1", sk=f"$discussion#noteId_{note}#emoji_wave#reaction_1")
        yield "taskapp", string({**key, "noteId": note, "emoji": "wave"})
    for customer in ("C1", "c2"):
        yield "taskapp", string(
            {
                "pk": f"CUSTOMER#{customer}",
                "sk": "PROFILE",
                "gsi1pk": f"mail#{customer}@shop.example".lower(),
                "gsi1sk": f"CUSTOMER#{customer}".upper(),
                "customerId": customer,
            }
        )
    for day, state in ((1, "open"), (2, "paid"), (3, "open")):
        at = f"2026-05-0{day}T08:00:00Z"
        yield "taskapp", string(
            {
                "pk": "CUSTOMER#C1",
                "sk": f"PURCHASE#{at}",
                "gsi2pk": f"STATE#{state}",
                "gsi2sk": f"{at}#C1",
                "state": state,
            }
        )
    yield "taskapp", string({"pk": "$taskapp_calendar#country_us", "sk": "$HOLIDAY_1#DAY_2026-07-04"})
    for name in ("visits", "sales"):
        yield "taskapp", string({"pk": "$taskapp", "sk": f"$counter_1#name_{name}", "name": name})
    yield "taskapp-settings", string({"id": "$taskapp$setting_1#settingid_theme", "settingId": "Theme"})
    for at in (100, 20, 3):
        yield "taskapp-readings", string({"sensor": "S-1", "at": at})


def toolbox_items():
    made = {"_md": "2026-05-01T10:00:00.000Z"}
    make = lambda kind, **values: ("PokeTable", string({"_et": kind, **made, **values}))
    for pokemon, level, species in (("pikachu", 12, "fire"), ("squirtle", 7, "water"), ("ember", 40, "fire")):
        yield make(
            "Pokemon",
            pk=f"POKEMON#{pokemon}",
            sk="ROOT",
            name=pokemon.title(),
            level=level,
            trainerId="ash",
            gsi1pk=f"SPECIES#{species}",
            gsi1sk=f"CAUGHT#2026-0{level % 9 + 1}-01",
        )
    for move in ("thunder", "tackle"):
        yield make("Move", pk="POKEMON#pikachu", sk=f"MOVE#{move}", name=f"m-{move}")
    yield make("Egg", pk="POKEMON#pikachu", sk="EGG#ID#1")
    for trainer in ("ash", "misty"):
        yield make(
            "Trainer",
            pk=f"TRAINER#{trainer}",
            sk="PROFILE",
            name=trainer,
            gsi1pk="REGION#kanto",
            gsi1sk=f"2026-{trainer}",
        )
    yield make("Badge", pk="TRAINER#ash", sk="BADGE#boulder")
    yield make("Friend", pk="TRAINER#ash", sk="FRIEND#misty#OF")
    yield make("Gym", pk="GYM#pewter", sk="ROOT")
    yield make("Leader", pk="GYM#pewter", sk="LEADER#brock")
    yield make("Item", pk="ITEM:potion", sk="ROOT")
    for shop in ("s1", "s2"):
        yield make("Shop", pk="SHOPS", sk=shop)
    for number in (1, 2, 10):
        yield "ArenaTable", string({**made, "arenaId": 5, "round": number, "winner": "ash"})


LEFT_OUT = {
    "onetable": [
        "line 18, models.Account.name: the items that make it unique are no kind of the map",
        "line 110, models.Setting.sk.value: a part comes from within another attribute",
        "line 114, models.Digest.pk.value: its value is computed by a function",
    ],
    "electrodb": [
        "line 222, [12].indexes.secrets.pk: a part is padded other than by zeros in front of a number",
    ],
    "toolbox": [
        "line 13, [11].schema.attributes.pk: its value is linked to other attributes by a function",
        "line 14, [12].schema.attributes.pk: it is computed by the entity's function computeKey, or hidden",
        "line 15, [13].schema.attributes.pk: its value is transformed by a function",
        "line 16, [14].schema.attributes.pk: its default is computed by a function",
    ],
}
ITEMS = {
    "onetable": [("teams", item) for item in onetable_items()],
    "electrodb": list(electrodb_items()),
    "toolbox": list(toolbox_items()),
}
# What the tables are, by hand: keys, numbers, indexes, local indexes, and what indexes hold.
TABLES = {
    "onetable": {
        "teams": {
            "keys": ["pk", "sk"],
            "indexes": {"gs1": ["gs1pk", "gs1sk"], "byEmail": ["email"]},
            "slim": {"gs2": ["gs2pk", "gs2sk"]},
            "local": {"ls1": ["pk", "dueAt"]},
        }
    },
    "electrodb": {
        "taskapp": {
            "keys": ["pk", "sk"],
            "indexes": {f"gsi{n}pk-gsi{n}sk-index": [f"gsi{n}pk", f"gsi{n}sk"] for n in (1, 2, 3)},
        },
        "taskapp-settings": {"keys": ["id"]},
        "taskapp-readings": {"keys": ["sensor", "at"], "numbers": ["at"]},
    },
    "toolbox": {
        "PokeTable": {
            "keys": ["pk", "sk"],
            "numbers": ["level"],
            "indexes": {"byTrainer": ["trainerId", "level"], "gsi1": ["gsi1pk", "gsi1sk"]},
            "local": {"byName": ["pk", "name"]},
        },
        "ArenaTable": {"keys": ["arenaId", "round"], "numbers": ["arenaId", "round"]},
    },
}
FORMATS = list(TABLES)


def description(name, keys, numbers=(), indexes=(), slim=(), local=()):
    schema = lambda names: [
        {"AttributeName": each, "KeyType": kind} for each, kind in zip(names, ("HASH", "RANGE"))
    ]
    secondary = lambda named, holds: [
        {"IndexName": each, "KeySchema": schema(names), "Projection": holds}
        for each, names in dict(named).items()
    ]
    whole = {"ProjectionType": "ALL"}
    included = {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["title"]} if slim else whole
    used = {*keys}.union(*dict(indexes).values(), *dict(slim).values(), *dict(local).values())
    made = {
        "TableName": name,
        "KeySchema": schema(keys),
        "AttributeDefinitions": [
            {"AttributeName": each, "AttributeType": "N" if each in numbers else "S"}
            for each in sorted(used)
        ],
        "BillingMode": "PAY_PER_REQUEST",
    }
    if indexes:
        made["GlobalSecondaryIndexes"] = secondary(indexes, whole)
        made["GlobalSecondaryIndexes"] += secondary(slim, {"ProjectionType": "KEYS_ONLY"})
    if local:
        made["LocalSecondaryIndexes"] = secondary(local, included)
    return made


@pytest.fixture
def imported(ddbfs, table, write_map):
    """imported(format) -> (the map's file, the map as an object), of a model whose tables are there."""

    def make(of):
        for name, said in TABLES[of].items():
            table(description(name, **said), [item for each, item in ITEMS[of] if each == name])
        names = ["teams"] if of == "onetable" else []
        text = ddbfs("map", "--from", MODELS / f"{of}.json", *names, expect=1).text
        return write_map(text), read_map_text(text)

    return make


# What is printed.


@rows("of", FORMATS)
def test_what_is_left_out_is_told_twice(ddbfs, cost, of):
    """In the map's first comment, and on standard error. Nobody is asked."""
    result = ddbfs("map", "--from", MODELS / f"{of}.json", expect=1)
    said = [line.split(".json: ", 1)[1] for line in result.stderr.splitlines()]
    comment = result.text[: result.text.index("\n{")]
    listed = re.sub(r"\n// (?!- )", " ", comment).split("\n// - ")
    assert said == LEFT_OUT[of]
    assert listed[1:] == LEFT_OUT[of]
    assert cost() == []


@rows("of", FORMATS)
def test_printed_map_is_well_formed(ddbfs, write_map, cost, of):
    text = ddbfs("map", "--from", MODELS / f"{of}.json", expect=1).text
    ddbfs("check", "--offline", write_map(text))
    assert cost() == []


def test_a_model_that_is_imported_whole_ends_in_success(ddbfs, tmp_path):
    model = json.loads((MODELS / "electrodb.json").read_text())[:-1]
    (tmp_path / "model.json").write_text(json.dumps(model))
    result = ddbfs("map", "--from", tmp_path / "model.json")
    assert "// All of the model was imported." in result.text
    assert result.stderr == ""


# Live tables.


@rows("of", FORMATS)
def test_live_tables_agree_with_the_model(ddbfs, imported, cost, of):
    imported(of)
    cost()
    names = list(TABLES[of])
    result = ddbfs("map", "--from", MODELS / f"{of}.json", *names, expect=1)
    assert "live tables" not in result.text
    assert len(result.stderr.splitlines()) == len(LEFT_OUT[of])
    assert cost() == ["DescribeTable"] * len(names)


def test_differences_from_the_live_table_are_told(ddbfs, table):
    table(description("PokeTable", ["pk", "sk"], indexes={"byTrainer": ["trainerId"]}), [])
    result = ddbfs("map", "--from", MODELS / "toolbox.json", "PokeTable", expect=1)
    assert "// The live tables differ:" in result.text
    assert "PokeTable: " in result.stderr and "gsi1" in result.stderr


def test_a_table_that_the_model_does_not_describe(ddbfs, table):
    table(description("Other", ["pk"]), [])
    result = ddbfs("map", "--from", MODELS / "toolbox.json", "Other", expect=1)
    assert result.text == ""
    assert "describes no table of that name" in result.stderr


# What can't be read.


@rows(
    "text, reason",
    [
        ("", "model.json:1:1: this is not JSON: "),
        ('{"a":', "model.json:1:6: this is not JSON: "),
        ("{}", "nothing was imported; the format is not known; these can be imported: "),
        ("[" * 600 + "]" * 600, "this is not JSON: "),
        ('{"format":"onetable:1.1.0","models":{}}', "has nothing that can be imported: line 1"),
    ],
)
def test_what_is_no_model(ddbfs, tmp_path, text, reason):
    (tmp_path / "model.json").write_text(text)
    result = ddbfs("map", "--from", tmp_path / "model.json", expect=1)
    assert result.text == ""
    assert reason in result.stderr


def test_a_model_that_is_not_there(ddbfs, tmp_path):
    result = ddbfs("map", "--from", tmp_path / "none.json", expect=1)
    assert "none.json can't be read: No such file or directory" in result.stderr


def test_ten_thousand_models_are_read_as_far_as_a_map_goes(ddbfs, tmp_path):
    models = {f"M{n}": {"pk": {"value": f"m{n}#${{id}}"}, "sk": {"value": "m"}} for n in range(10000)}
    primary = {"primary": {"hash": "pk", "sort": "sk"}}
    model = {"format": "onetable:1.1.0", "indexes": primary, "models": models}
    (tmp_path / "model.json").write_text(json.dumps(model))
    result = ddbfs("map", "--from", tmp_path / "model.json", expect=1)
    assert "everywhere: 8500 more were left out and are not listed" in result.stderr
    assert len(read_map_text(result.text)["tables"]["table"]["records"]) >= 1000


# Every path of the printed map.


def expression(format, separator):
    """A key's format as a regular expression."""
    made = ""
    for piece in re.split(r"(\{[^}]*\})", format):
        part = re.fullmatch(r"\{([\w-]+)(\*?)(:\w+)?\}", piece)
        if not part:
            made += re.escape(piece)
        elif part[2]:
            made += f"(?P<{part[1]}>.*)"
        else:
            made += f"(?P<{part[1]}>[^{re.escape(separator)}]*)"
    return made


def parts_of(item, keys, separator):
    """What the parts of an item's keys are; None when it does not have these formats."""
    parts = {}
    for attribute, format in keys.items():
        value = next(iter(item.get(attribute, {"": None}).values()))
        match = value is not None and re.fullmatch(expression(format, separator), value)
        if not match:
            return None
        for part, text in match.groupdict().items():
            if re.search(r"\{" + part + r":0\d+\}", format):
                text = text.lstrip("0")
            parts[part] = text
    return parts


def kind_of(table, item):
    """The first kind whose keys the item has, and its parts."""
    for kind, keys in table["records"].items():
        parts = parts_of(item, keys, table.get("separator", "#"))
        if parts is not None:
            return kind, parts
    return None, None


@rows("of", FORMATS)
def test_every_item_is_of_the_kind_that_the_model_says(imported, of):
    _, content = imported(of)
    tables = {table["table"]: table for table in content["tables"].values()}
    names = {"_type", "_et"}
    for name, item in ITEMS[of]:
        kind, _ = kind_of(tables[name], item)
        said = [item[each]["S"] for each in names if each in item]
        assert kind and (not said or said == [kind]), item


@rows("of", FORMATS)
def test_every_item_is_found_by_its_key(ddbfs, boto, imported, of):
    file, content = imported(of)
    paths = {table["table"]: name for name, table in content["tables"].items()}
    for name, said in TABLES[of].items():
        found = boto.scan(TableName=name)["Items"]
        assert len(found) == len([each for each, _ in ITEMS[of] if each == name])
        wanted = {}
        for each in found:
            key = {attribute: each[attribute] for attribute in said["keys"]}
            item = boto.get_item(TableName=name, Key=key)["Item"]
            keys = [next(iter(value.values())) for value in key.values()]
            wanted["/".join(["/all", paths[name], "items", *keys])] = plain.render(item, first=said["keys"])
        got = ddbfs("--map", file, "cat", *wanted).stdout
        assert got == b"".join(wanted.values()), list(wanted)


def index_format(index, kind):
    """Attribute -> format of the keys of an index, for a kind; None if it has none."""
    formats = {}
    for side in ("partition", "sort"):
        said = index.get(side, {})
        said = {said: None} if isinstance(said, str) else dict.fromkeys(said) if isinstance(said, list) else said
        for attribute, format in said.items():
            if isinstance(format, dict):
                format = format.get(kind)
                if format is None:
                    return None
            formats[attribute] = format
    return formats


def rows_of(boto, table, index_name):
    """The whole items that the table, or an index, has by boto3, with their kinds and parts."""
    keys = list(next(iter(table["records"].values())))
    key_of = lambda item: [item[each] for each in keys]
    only = {"IndexName": index_name} if index_name else {}
    held = [key_of(item) for item in boto.scan(TableName=table["table"], **only)["Items"]]
    for each in boto.scan(TableName=table["table"])["Items"]:
        key = {attribute: each[attribute] for attribute in keys}
        item = boto.get_item(TableName=table["table"], Key=key)["Item"]
        if key_of(item) not in held:
            continue
        kind, parts = kind_of(table, item)
        if index_name:
            formats = index_format(table["indexes"][index_name], kind)
            assert formats is not None, f"{item} is in {index_name}"
            own = {a: f for a, f in formats.items() if f and a not in keys}
            more = parts_of(item, own, table.get("separator", "#"))
            assert more is not None, f"{item} is in {index_name}"
            parts = {**parts, **more}
        yield kind, parts, item


def readable_paths(content):
    for name, table in content["tables"].items():
        for path, said in table["paths"].items():
            first = path.split("/")[0]
            if first in ("items", "by") or not path.endswith("/") or said.get("where"):
                continue
            yield name, table, path, said


@rows("of", FORMATS)
def test_every_readable_path_leads_to_what_boto3_finds(ddbfs, boto, imported, of):
    """Whatever the kinds' formats say can be asked, is asked with the parts of each item."""
    file, content = imported(of)
    wanted = {}
    for name, table, path, said in readable_paths(content):
        params = re.findall(r"\{([\w-]+)\*?(?::\w+)?\}", path)
        kinds = said.get("list", list(table["records"]))
        kinds = [kinds] if isinstance(kinds, str) else kinds
        rows = list(rows_of(boto, table, said.get("index")))
        for kind, parts, _ in rows:
            if (kinds != ["*"] and kind not in kinds) or not all(each in parts for each in params):
                continue
            filled = re.sub(r"\{([\w-]+)[^}]*\}", lambda m: parts[m[1]], path)
            folder = f"/all/{name}/{filled}"
            if folder in wanted or "/" in "".join(parts[each] for each in params):
                continue
            same = {each: parts[each] for each in params}
            wanted[folder] = [
                plain.render(item, first=list(table["records"][kind]))
                for other, more, item in rows
                if (kinds == ["*"] or other in kinds) and same.items() <= more.items()
            ]
    got = {folder: [] for folder in wanted}
    listed = [json.loads(line) for line in ddbfs("--map", file, "ls", "--json", *wanted).text.splitlines()]
    files = [each["path"] for each in listed if each["type"] == "file"]
    texts = re.findall(rb"\{\n.*?\n\}\n", ddbfs("--map", file, "cat", *files).stdout, re.S)
    assert len(texts) == len(files) > 0
    for path, text in zip(files, texts):
        got[path.rpartition("/")[0] + "/"].append(text)
    assert [folder for folder, expected in wanted.items() if sorted(got[folder]) != sorted(expected)] == []


# Secrets.

PLAIN = {"type": "string"}
SECRETS = {
    "onetable": {
        "format": "onetable:1.1.0",
        "indexes": {"primary": {"hash": "pk", "sort": "sk"}},
        "models": {
            "User": {
                "pk": {"type": "string", "value": "user#${id}", "hidden": True},
                "sk": {"type": "string", "value": "user#"},
                "id": PLAIN,
                "apiToken": {"type": "string", "map": "tok"},
                "diary": {"type": "string", "crypt": True, "map": "d"},
                "notes": {"type": "string", "hidden": True, "map": "private.notes"},
                "passwordCount": {"type": "number"},
                "password": {"type": "string"},
            }
        },
    },
    "electrodb": {
        "model": {"entity": "user", "version": "1", "service": "app"},
        "table": "Users",
        "attributes": {
            "id": PLAIN,
            "apiToken": {"type": "string", "field": "tok"},
            "diary": {"type": "string", "hidden": True, "field": "d"},
            "password": PLAIN,
            "hasPassword": {"type": "boolean"},
        },
        "indexes": {"own": {"pk": {"field": "pk", "composite": ["id"]}, "sk": {"field": "sk", "composite": []}}},
    },
    "toolbox": {
        "entityName": "User",
        "schema": {
            "type": "item",
            "attributes": {
                "id": {"type": "string", "key": True, "savedAs": "pk"},
                "diary": {"type": "string", "hidden": True, "savedAs": "d"},
                "password": PLAIN,
                "secretCount": {"type": "number"},
            },
        },
        "table": {"tableName": "Users", "partitionKey": {"name": "pk", "type": "string"}},
    },
    "data-model": {
        "tables": [
            {
                "table_config": {"table_name": "Users", "partition_key": "pk"},
                "entities": {
                    "User": {
                        "pk_template": "USER#{id}",
                        "fields": [
                            {"name": "id", "type": "string"},
                            {"name": "password", "type": "string"},
                            {"name": "secret_count", "type": "integer"},
                        ],
                        "access_patterns": [],
                    }
                },
            }
        ]
    },
    "workbench": {
        "ModelName": "Users",
        "DataModel": [
            {
                "TableName": "Users",
                "KeyAttributes": {"PartitionKey": {"AttributeName": "token", "AttributeType": "S"}},
                "NonKeyAttributes": [
                    {"AttributeName": "password", "AttributeType": "S"},
                    {"AttributeName": "secret_count", "AttributeType": "N"},
                ],
            }
        ],
    },
}
SECRET = {"onetable": ["tok", "d", "private", "password"], "electrodb": ["tok", "d", "password"], "toolbox": ["d", "password"]}


@rows("of", list(SECRETS))
def test_secrets_are_kept(ddbfs, tmp_path, of):
    """What the model calls encrypted or hidden, and what is called as secrets are, under the name that the
    table has for it; no keys, and no numbers by their names."""
    (tmp_path / "model.json").write_text(json.dumps(SECRETS[of]))
    text = ddbfs("map", "--from", tmp_path / "model.json").text
    (made,) = read_map_text(text)["tables"].values()
    secrets = SECRET.get(of, ["password"])
    assert made["secret"] == secrets
    said = re.sub(r"\s*\n\s*//\s*", " ", text)
    assert f'"secret": encrypted or hidden in the model, or named like a secret: {", ".join(secrets)}.' in said


# What goes with it, and what does not.


def test_a_model_goes_with_no_samples_and_no_patterns(ddbfs, cost):
    model = MODELS / "toolbox.json"
    got = ddbfs("map", "--from", model, "--sample", "/tables/PokeTable/items/x/", expect=2)
    assert got.text == "" and "--from and --sample don't go together; see ddbfs map --help" in got.stderr
    got = ddbfs("init", "--yes", "--from", model, "Poke*", expect=2)
    assert got.text == "" and "use its full name; see ddbfs init --help" in got.stderr
    assert cost() == []


def test_no_map_is_printed_of_a_table_that_is_not_there(ddbfs):
    got = ddbfs("map", "--from", MODELS / "onetable.json", "nope", expect=1)
    assert got.text == "" and "nope" in got.stderr


def test_live_names_give_environments(ddbfs, table):
    """By the rule of `ddbfs map`; the model's tables that nobody asked for begin as the others do."""
    names = ["prod-ArenaTable", "prod-PokeTable"]
    for name in names:
        table(description(name, **TABLES["toolbox"][name[5:]]), [])
    first_map = read_map_text(ddbfs("map", *names).text)
    assert list(first_map["environments"]) == ["prod"]
    for asked in (names, names[:1]):
        made = read_map_text(ddbfs("map", "--from", MODELS / "toolbox.json", *asked, expect=1).text)
        assert made["environments"] == first_map["environments"]
        assert {"PokeTable", "ArenaTable"} == {each["table"] for each in made["tables"].values()}


@rows(
    "text, said",
    [
        ("Resources: {T: {Type: AWS::DynamoDB::Table}}", "no key formats; run \"ddbfs map TABLE\""),
        ('{"resource": {"aws_dynamodb_table": {}}}', "no key formats; run \"ddbfs map TABLE\""),
        ('// mine\n{"environments": {"e": {}}, "tables": {}}', "this is a map, not a model"),
        ('{"environments": {"e": {}}, "tables": {}}', "this is a map, not a model"),
    ],
)
def test_what_somebody_takes_for_a_model(ddbfs, tmp_path, text, said):
    (tmp_path / "model.json").write_text(text)
    got = ddbfs("map", "--from", tmp_path / "model.json", expect=1)
    assert got.text == "" and said in got.stderr


def test_init_says_why_it_wrote_nothing(ddbfs, tmp_path):
    where = {"XDG_CONFIG_HOME": str(tmp_path)}
    got = ddbfs("init", "--yes", "--from", MODELS / "toolbox.json", env=where, expect=1)
    assert '"tables"' in got.text and not list(tmp_path.glob("ddbfs/*"))
    assert f"{tmp_path}/ddbfs/map.json: was not written: parts of the model were not imported" in got.stderr
    assert "toolbox.json … > FILE" in got.stderr
    got = ddbfs("init", "--yes", "--from", tmp_path / "none", env=where, expect=1)
    assert "was not written: the map is incomplete" in got.stderr


# One name for what is written alike.


def accounts(**user):
    """A model whose two kinds have one partition key, and call its part otherwise."""
    text = lambda value: {"type": "string", "value": value}
    models = {
        "Account": {"pk": text("account#${id}"), "sk": text("account#"), "id": PLAIN},
        "User": {"pk": text("account#${accountId}"), "accountId": PLAIN, "id": PLAIN, **user},
    }
    primary = {"primary": {"hash": "pk", "sort": "sk"}}
    return {"format": "onetable:1.1.0", "indexes": primary, "models": models}


def test_keys_that_are_written_alike_are_one_directory(ddbfs, tmp_path):
    model = accounts(sk={"type": "string", "value": "user#${id}"})
    (tmp_path / "model.json").write_text(json.dumps(model))
    text = ddbfs("map", "--from", tmp_path / "model.json").text
    (made,) = read_map_text(text)["tables"].values()
    assert made["records"]["Account"]["pk"] == made["records"]["User"]["pk"] == "account#{accountId}"
    assert made["records"]["User"]["sk"] == "user#{id}"
    assert "All of account#{accountId}: Account, User." in text
    assert "The model's name of {accountId} in these keys is {id}." in text
    assert [each for each in made["paths"] if each.startswith("account")][0] == "account/{accountId}/"
    assert "account-2" not in text


def test_what_no_name_suits_is_told_of_both(ddbfs, tmp_path):
    model = accounts(sk={"type": "string", "value": "user#${id}"})
    model["models"]["Account"]["accountId"] = PLAIN
    model["models"]["Account"]["sk"]["value"] = "account#${accountId}"
    (tmp_path / "model.json").write_text(json.dumps(model))
    text = ddbfs("map", "--from", tmp_path / "model.json").text
    assert "All of account#{id}: Account, User." in text
    assert "All of account#{accountId}: Account, User." in text


def test_an_index_that_no_entity_is_in_lists_by_whole_keys(ddbfs, ls, table, boto, tmp_path):
    key = lambda name, kind="string": {"name": name, "type": kind}
    attributes = {"box": {"type": "string", "savedAs": "pk"}, "name": {"type": "string", "savedAs": "sk"}}
    indexes = {
        "byLevel": {"type": "local", "sortKey": key("level", "number")},
        "byKind": {"type": "global", "partitionKey": key("_et")},
    }
    entity = {
        "entityName": "thing",
        "schema": {"attributes": attributes},
        "table": {"tableName": "Boxes", "partitionKey": key("pk"), "sortKey": key("sk"), "indexes": indexes},
    }
    model = tmp_path / "model.json"
    model.write_text(json.dumps(entity))
    schema = lambda *names: [
        {"AttributeName": name, "KeyType": kind} for name, kind in zip(names, ("HASH", "RANGE"), strict=False)
    ]
    index = lambda name, *names: {
        "IndexName": name,
        "KeySchema": schema(*names),
        "Projection": {"ProjectionType": "ALL"},
    }
    table(
        {
            "TableName": "Boxes",
            "KeySchema": schema("pk", "sk"),
            "AttributeDefinitions": [
                {"AttributeName": name, "AttributeType": "N" if name == "level" else "S"}
                for name in ("pk", "sk", "level", "_et")
            ],
            "BillingMode": "PAY_PER_REQUEST",
            "LocalSecondaryIndexes": [index("byLevel", "pk", "level")],
            "GlobalSecondaryIndexes": [index("byKind", "_et")],
        }
    )
    for name, level in (("a", 10), ("b", 9)):
        item = {"pk": {"S": "x"}, "sk": {"S": name}, "level": {"N": str(level)}, "_et": {"S": "thing"}}
        boto.put_item(TableName="Boxes", Item=item)
    got = ddbfs("map", "--from", model)
    file = tmp_path / "map.json"
    file.write_bytes(got.stdout.replace(b'"all": {}', b'"all": { "profile": "controller", "region": "us-east-1" }'))
    env = {"DDBFS_MAP": str(file)}
    assert ls("/all/Boxes/by/byLevel/x", env=env) == ["9,b", "10,a"]
    assert sorted(ls("/all/Boxes/by-thing", env=env)) == ["x,a", "x,b"]
