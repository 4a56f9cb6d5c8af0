"""Models that other tools wrote, as maps that `ddbfs map --from` prints: tables that boto3 makes from the
same model, filled by its templates, and every read of theirs as a path, with boto3's answers."""

import itertools
import json
import re

import pytest

from harness import places, plain
from harness.rows import rows

MODELS = places.REPO / "tests/vectors/models"


def read_map_text(text):
    """A printed map without its comments, which stand on lines of their own."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("//")]
    return json.loads("\n".join(lines))


# What a field may hold: few values, so that many records share each.
FIELDS = {
    "published": ["2023-05-01", "2024-01-09", "2024-11-30"],
    "written_at": ["2026-01-01", "2026-01-01T10", "2026-02-03"],
    "loaned_at": ["2026-01-05", "2026-01-17", "2026-03-02"],
    "bought": ["2024-01-05", "2024-02-17"],
    "due": ["2026-02-01", "2026-02-15", "2026-04-01"],
    "state": ["OPEN", "BACK"],
    "score": ["-5", "0", "10", "100.5"],
    "floor": ["0", "1", "2"],
    "watch_key": ["BOOK#1", "BOOK#12", "ROOM#3"],
}
NUMBERS = {"integer", "decimal"}


class Model:
    """The model in AWS's own form, as its documentation describes it; nothing here is ddbfs's."""

    def __init__(self, content):
        self.content = content
        self.tables = content["tables"]

    def entities(self):
        for table in self.tables:
            for name, entity in table["entities"].items():
                yield table, name, entity

    def reads(self):
        for table, name, entity in self.entities():
            for pattern in entity["access_patterns"]:
                yield table, name, entity, pattern


def fields_of(template):
    return re.findall(r"\{(\w+)\}", template or "")


def fill(template, values):
    return re.sub(r"\{(\w+)\}", lambda found: values[found[1]], template)


def attribute(entity, template, values):
    """What a key attribute holds: a number where it is one numeric field alone."""
    types = {field["name"]: field["type"] for field in entity["fields"]}
    whole = re.fullmatch(r"\{(\w+)\}", template)
    kind = "N" if whole and types.get(whole[1]) in NUMBERS else "S"
    return {kind: fill(template, values)}


def keys_of(table, entity):
    """Attribute -> template, of the table and of the indexes that the entity is in."""
    config = table["table_config"]
    keys = {config["partition_key"]: entity["pk_template"]}
    if "sort_key" in config:
        keys[config["sort_key"]] = entity["sk_template"]
    indexes = {index["name"]: index for index in table.get("gsi_list", [])}
    for mapping in entity.get("gsi_mappings", []):
        index = indexes[mapping["name"]]
        keys[index["partition_key"]] = mapping["pk_template"]
        if "sort_key" in index:
            keys[index["sort_key"]] = mapping["sk_template"]
    return keys


def values_of(field):
    return FIELDS.get(field, ["a", "b"])


def items_of(table, name, entity):
    """Items of all combinations of what stands in the entity's own key; what is in its keys in indexes
    goes round."""
    keys = keys_of(table, entity)
    own = fields_of(entity["pk_template"]) + fields_of(entity.get("sk_template"))
    others = sorted({field for template in keys.values() for field in fields_of(template)} - set(own))
    for number, chosen in enumerate(itertools.product(*(values_of(field) for field in dict.fromkeys(own)))):
        values = dict(zip(dict.fromkeys(own), chosen))
        for place, field in enumerate(others):
            values[field] = values_of(field)[(number >> place) % len(values_of(field))]
        item = {field: {"S": value} for field, value in values.items()}
        item |= {key: attribute(entity, template, values) for key, template in keys.items()}
        yield {**item, "kind": {"S": name}, "serial": {"N": str(number)}}


def describe(table):
    """CreateTable's input."""
    config, types = table["table_config"], {}
    for entity in table["entities"].values():
        for key, template in keys_of(table, entity).items():
            (kind,) = attribute(entity, template, dict.fromkeys(fields_of(template), "1"))
            types[key] = kind
    schema = lambda owner: [
        {"AttributeName": owner[member], "KeyType": kind}
        for member, kind in (("partition_key", "HASH"), ("sort_key", "RANGE"))
        if member in owner
    ]
    projection = lambda index: {
        "ProjectionType": index.get("projection", "ALL"),
        **({"NonKeyAttributes": index["included_attributes"]} if "included_attributes" in index else {}),
    }
    used = {each["AttributeName"] for owner in (config, *table.get("gsi_list", [])) for each in schema(owner)}
    described = {
        "TableName": config["table_name"],
        "KeySchema": schema(config),
        "AttributeDefinitions": [{"AttributeName": key, "AttributeType": types[key]} for key in sorted(used)],
        "BillingMode": "PAY_PER_REQUEST",
    }
    if "gsi_list" in table:
        described["GlobalSecondaryIndexes"] = [
            {"IndexName": index["name"], "KeySchema": schema(index), "Projection": projection(index)}
            for index in table["gsi_list"]
        ]
    return described


class Question:
    """One access pattern with values for its parameters, as boto3 asks it."""

    def __init__(self, table, name, entity, pattern, values):
        self.table, self.name, self.entity, self.pattern = table, name, entity, pattern
        self.values = values  # of parameters, in their order
        self.ends = {"between": 2, None: 0}.get(pattern.get("range_condition"), 1)

    def templates(self):
        index = self.pattern.get("index_name")
        if not index:
            config = self.table["table_config"]
            return [(config["partition_key"], self.entity["pk_template"])] + (
                [(config["sort_key"], self.entity["sk_template"])] if "sort_key" in config else []
            )
        keys = next(each for each in self.table["gsi_list"] if each["name"] == index)
        mapping = next(each for each in self.entity["gsi_mappings"] if each["name"] == index)
        return [(keys["partition_key"], mapping["pk_template"])] + (
            [(keys["sort_key"], mapping["sk_template"])] if "sort_key" in keys else []
        )

    def said(self):
        """Parameters that are fields, without the ends of a range."""
        names = [parameter["name"] for parameter in self.pattern["parameters"]]
        return dict(zip(names[: len(names) - self.ends], self.values))

    def condition(self):
        """KeyConditionExpression and its values."""
        (partition, template), *sort = self.templates()
        text, given = "#p = :p", {":p": attribute(self.entity, template, self.said())}
        names, prefix = {"#p": partition}, ""
        operator = self.pattern.get("range_condition")
        if sort and self.pattern["return_type"] != "mixed_data":
            key, template = sort[0]
            for piece in re.split(r"(\{\w+\})", template):
                field = piece[1:-1] if piece.startswith("{") else None
                if field and field not in self.said():
                    break
                prefix += self.said()[field] if field else piece
            typed = lambda value: {
                next(iter(attribute(self.entity, template, dict.fromkeys(fields_of(template), "1")))): prefix + value
            }
            if operator == "begins_with" and not set(fields_of(template)) & set(self.said()):
                prefix = ""  # the tool's repositories take the parameter for the key's whole beginning
            ends = [typed(value) for value in self.values[len(self.values) - self.ends :]] if self.ends else []
            given |= {f":s{number}": end for number, end in enumerate(ends)}
            if operator == "between":
                text += " and #s between :s0 and :s1"
            elif operator == "begins_with":
                text += " and begins_with(#s, :s0)"
            elif operator:
                text += f" and #s {operator} :s0"
            elif set(fields_of(template)) <= set(self.said()):
                text += " and #s = :s0"
                given |= {":s0": typed("")}
            elif prefix:
                text += " and begins_with(#s, :s0)"
                given[":s0"] = {"S": prefix}
            if ":s0" in given:
                names["#s"] = key
        return text, names, given

    def whole_items(self, boto):
        """The items themselves, read by their keys where an index found them."""
        text, names, given = self.condition()
        asked = {"IndexName": self.pattern["index_name"]} if "index_name" in self.pattern else {}
        pages = boto.get_paginator("query").paginate(
            TableName=self.table["table_config"]["table_name"],
            KeyConditionExpression=text,
            ExpressionAttributeNames=names,
            ExpressionAttributeValues=given,
            **asked,
        )
        config = self.table["table_config"]
        own = [config[member] for member in ("partition_key", "sort_key") if member in config]
        found = []
        for item in itertools.chain.from_iterable(page["Items"] for page in pages):
            key = {name: item[name] for name in own}
            found.append(boto.get_item(TableName=config["table_name"], Key=key)["Item"])
        kinds = {self.name}
        if self.pattern["return_type"] == "mixed_data":
            kinds = {
                name
                for name, entity in self.table["entities"].items()
                if entity["pk_template"] == self.entity["pk_template"]
            }
        return [item for item in found if item["kind"]["S"] in kinds]


def value_sets(pattern, entity):
    """Values for a pattern's parameters: fields their own, and ends of ranges some between."""
    ends = {"between": 2, None: 0}.get(pattern.get("range_condition"), 1)
    names = [parameter["name"] for parameter in pattern["parameters"]]
    fields = [values_of(name)[:2] for name in names[: len(names) - ends]]
    said = set(names[: len(names) - ends])
    ranged = []
    if ends:
        index = pattern.get("index_name")
        template = entity.get("sk_template")
        for mapping in entity.get("gsi_mappings", []):
            template = mapping.get("sk_template") if mapping["name"] == index else template
        field = next(each for each in fields_of(template) if each not in said)
        known = values_of(field)
        if pattern["range_condition"] == "between":
            ranged = [[known[0], known[-1]], [known[0], known[1]], [known[1], known[1]]]
        elif pattern["range_condition"] == "begins_with":
            text = template[: template.index(f"{{{field}}}")] if not set(fields_of(template)) & set(said) else ""
            ranged = [[text + known[0][:4]], [text + known[-1]]]
        else:
            ranged = [[known[0]], [known[1]]]
    for chosen in zip(*fields) if fields else [()]:
        for end in ranged or [[]]:
            yield [*chosen, *end]


# Which patterns a map can't have: by name, with a piece of what is said of them.
NOT_READS = {
    "create_branch": "PutItem",
    "list_branches": "Scan",
    "rename_member": "UpdateItem",
    "delete_fine": "DeleteItem",
    "open_loans_of_unknown": "no part of the key can be bound to the parameter \"member_id\"",
    "unfiltered": "its filter has no",
    "scores_beginning": "it has no beginning",
    "events_of_city": "the part of the partition key \"day\"",
}


@pytest.fixture
def printed(ddbfs, tmp_path):
    """printed(FILE) -> what `ddbfs map --from` prints, and what it says is left out."""

    def run(file, expect=0):
        result = ddbfs("map", "--from", file, expect=expect)
        path = tmp_path / f"{file.stem}.map.json"
        path.write_text(result.text)
        assert ddbfs("--map", path, "check", "--offline", path).stderr == ""
        return path, result.stderr

    return run


def records_in(text):
    """One JSON text behind the other."""
    decoder, at = json.JSONDecoder(), 0
    while at < len(text):
        value, at = decoder.raw_decode(text, at)
        at += 1  # the newline
        yield json.dumps(value, sort_keys=True)


def answered(ddbfs, path, places):
    """The records at each of PLACES, a record's path or a listing's, in an order of their own: one command
    lists all of them, and one reads all records."""
    folders = list(dict.fromkeys(place for place in places if place.endswith("/")))
    files = [(place, place) for place in dict.fromkeys(places) if place not in folders]
    lines = ddbfs("--map", path, "ls", "--json", *folders).text.splitlines() if folders else []
    for entry in map(json.loads, lines):
        if entry["type"] == "file":
            files.append((entry["path"].rpartition("/")[0] + "/", entry["path"]))
    found = {place: [] for place in places}
    texts = list(records_in(ddbfs("--map", path, "cat", *[file for _, file in files]).text)) if files else []
    assert len(texts) == len(files)
    for (place, _), text in zip(files, texts):
        found[place].append(text)
    return {place: sorted(each) for place, each in found.items()}


def rendered(items):
    return sorted(json.dumps(json.loads(plain.render(item)), sort_keys=True) for item in items)


def path_of(declared, question):
    """The path that the pattern became, with its parameters filled in."""
    name = question.pattern["name"]
    (path,) = [each for each in declared if each.split("/")[0] == name]
    values = iter(question.values)
    return re.sub(r"\{[\w-]+\}", lambda _: next(values), path)


def test_access_patterns_of_a_data_model(printed, ddbfs, table, boto):
    file = MODELS / "library.schema.json"
    model = Model(json.loads(file.read_text()))
    path, left_out = printed(file, expect=1)
    content = read_map_text(path.read_text())
    (environment,) = content["environments"]
    for each in model.tables:
        items = [item for name, entity in each["entities"].items() for item in items_of(each, name, entity)]
        table(describe(each), items)
    asked, wanted = 0, []
    for each, name, entity, pattern in model.reads():
        directory = each["table_config"]["table_name"]
        declared = content["tables"][directory]["paths"]
        if pattern["name"] in NOT_READS:
            assert not [path for path in declared if path.split("/")[0] == pattern["name"]]
            continue
        matches = 0
        for values in value_sets(pattern, entity):
            question = Question(each, name, entity, pattern, values)
            place = f"/{environment}/{directory}/{path_of(declared, question)}"
            want = question.whole_items(boto)
            if want or place.endswith("/"):
                wanted.append((place, rendered(want)))
            else:
                assert "no such" in ddbfs("--map", path, "cat", place, expect=1).stderr
            matches += len(want)
            asked += 1
        assert matches > 0, pattern["name"]
    assert asked > 80
    got = answered(ddbfs, path, [place for place, _ in wanted])
    assert [(place, got[place], want) for place, want in wanted if got[place] != want] == []
    for name, why in NOT_READS.items():
        lines = [line for line in left_out.splitlines() if why in line]
        assert lines, (name, left_out)
    assert left_out.count("\n") == len(NOT_READS) + 1, left_out  # and what spans tables


# Models that say keys and indexes alone: every item is reached by every path that its keys fill in.


def pattern_of(form, separator):
    """A key's format as a regular expression."""
    pieces = []
    for piece in re.split(r"(\{[^}]*\})", form):
        if piece.startswith("{"):
            name = re.match(r"\{([\w-]+)", piece)[1]
            any_text = ".*" if piece.endswith("*}") else f"[^{re.escape(separator)}]*"
            known = any(f"(?P<{name}>" in each for each in pieces)
            pieces.append(f"(?P={name})" if known else f"(?P<{name}>{any_text})")
        else:
            pieces.append(re.escape(piece))
    return re.compile("".join(pieces), re.S)


def parts_of(table, forms, item):
    """What the parts of these keys are in ITEM; nothing when it has other keys."""
    types, bound = table.get("types", {}), {}
    for key, form in forms.items():
        value = item.get(key, {}).get(types.get(key, "S"))
        found = value is not None and pattern_of(form, table.get("separator", "#")).fullmatch(value)
        if not found:
            return None
        bound |= found.groupdict()
    return bound


def index_forms(index, kind):
    """The formats of an index's keys for a kind; nothing for a kind that is not in it."""
    forms = {}
    for side in ("partition", "sort"):
        written = index.get(side, [])
        named = [written] if isinstance(written, str) else written
        for key in named:
            form = named[key] if isinstance(named, dict) else f"{{{key}}}"
            if isinstance(form, dict) and kind not in form:
                return None
            forms[key] = form[kind] if isinstance(form, dict) else form
    return forms


def kinds_of(table, path):
    said = path.get("list") or path.get("record") or list(table["records"])
    said = [said] if isinstance(said, str) else said
    return list(table["records"]) if said == ["*"] else said


def reached(table, item):
    """The paths that lead to ITEM, filled in: path, and the index that it asks or nothing."""
    for written, path in table["paths"].items():
        if path.get("hidden") or path.get("where") or path.get("groups"):
            continue
        for kind in kinds_of(table, path):
            forms = dict(table["records"][kind])
            if "index" in path:
                more = index_forms(table["indexes"][path["index"]], kind)
                if more is None:
                    continue
                forms = more | forms
            bound = parts_of(table, forms, item)
            names = re.findall(r"\{([\w-]+)\}", written)
            if bound is not None and all(bound.get(name) for name in names):
                yield re.sub(r"\{([\w-]+)\}", lambda found: bound[found[1]], written)
                break


def check_reaches(ddbfs, path, boto, tables):
    """TABLES: description -> items. How many paths were asked."""
    content, wanted = read_map_text(path.read_text()), []
    (environment,) = content["environments"]
    by_name = {table["table"]: (name, table) for name, table in content["tables"].items()}
    for described, items in tables:
        directory, table = by_name[described["TableName"]]
        for item in items:
            own = {each["AttributeName"]: item[each["AttributeName"]] for each in described["KeySchema"]}
            stored = boto.get_item(TableName=described["TableName"], Key=own)["Item"]
            (want,) = rendered([stored])
            places_of = list(reached(table, item))
            assert places_of, (directory, item)
            wanted += [(f"/{environment}/{directory}/{place}", want) for place in places_of]
    got = answered(ddbfs, path, [place for place, _ in wanted])
    assert [(place, got[place]) for place, want in wanted if want not in got[place]] == []
    return len(wanted)


def text_items(description, count=2):
    """Items with all key attributes of a table and its indexes."""
    types = {each["AttributeName"]: each["AttributeType"] for each in description["AttributeDefinitions"]}
    for number in range(count):
        yield {
            name: {"N": str(number)} if kind == "N" else {"S": f"{name}#{number}"}
            for name, kind in types.items()
        }


def create_table_input(properties):
    kept = ("TableName", "KeySchema", "AttributeDefinitions", "GlobalSecondaryIndexes", "LocalSecondaryIndexes")
    return {key: properties[key] for key in kept if key in properties} | {"BillingMode": "PAY_PER_REQUEST"}


def resource(name, keys, types="", indexes=(), local=()):
    """A table as CreateTable takes it: KEYS is "pk sk"; TYPES says "n:N"; INDEXES: (name, keys, projection)."""
    typed = dict(word.split(":") for word in types.split())
    schema = lambda words: [
        {"AttributeName": word, "KeyType": kind} for word, kind in zip(words.split(), ("HASH", "RANGE"))
    ]
    used = dict.fromkeys(" ".join([keys, *(each[1] for each in (*indexes, *local))]).split())
    secondary = lambda given: [
        {"IndexName": index, "KeySchema": schema(words), "Projection": projection}
        for index, words, projection in given
    ]
    properties = {
        "TableName": name,
        "AttributeDefinitions": [
            {"AttributeName": word, "AttributeType": typed.get(word, "S")} for word in used
        ],
        "KeySchema": schema(keys),
    }
    if indexes:
        properties["GlobalSecondaryIndexes"] = secondary(indexes)
    if local:
        properties["LocalSecondaryIndexes"] = secondary(local)
    return properties


ALL = {"ProjectionType": "ALL"}
KEYS = {"ProjectionType": "KEYS_ONLY"}
SOME = {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["total"]}
RESOURCES = [
    resource("dev-users", "userId"),
    resource("dev-orders", "customerId orderId", indexes=[("status-createdAt-index", "status createdAt", ALL)]),
    resource("dev-single", "PK SK", indexes=[("GSI1", "GSI1PK GSI1SK", ALL), ("inverted", "SK PK", KEYS)]),
    resource("dev-counters", "name number", "number:N"),
    resource("dev-numbers", "no", "no:N", indexes=[("by-rank", "game rank", KEYS)]),
    resource("dev-scores", "player at", "points:N", indexes=[("top", "game points", SOME)]),
    resource("dev-local", "box name", local=[("by-size", "box size", ALL)]),
    resource("dev-local-keys", "box name", "size:N", local=[("by-size", "box size", KEYS)]),
    resource("dev-dots.and_dashes", "a.b c-d", indexes=[("e.f", "e.f", ALL)]),
    resource("dev-reserved", "name status", indexes=[("values", "values year", SOME)]),
    resource("dev-sessions", "sessionId", indexes=[("user", "userId sessionId", KEYS)]),
    resource("dev-events", "stream sequence", "sequence:N", indexes=[("day", "day", ALL)]),
]  # fmt: skip


def as_workbench():
    key = lambda properties, schema: {
        name: {
            "AttributeName": each["AttributeName"],
            "AttributeType": next(
                d["AttributeType"]
                for d in properties["AttributeDefinitions"]
                if d["AttributeName"] == each["AttributeName"]
            ),
        }
        for name, each in zip(("PartitionKey", "SortKey"), schema)
    }
    secondary = lambda properties, member: [
        {
            "IndexName": index["IndexName"],
            "KeyAttributes": key(properties, index["KeySchema"]),
            "Projection": index["Projection"],
        }
        for index in properties.get(member, [])
    ]
    tables = [
        {
            "TableName": each["TableName"],
            "KeyAttributes": key(each, each["KeySchema"]),
            "NonKeyAttributes": [],
            "TableFacets": [],
            "GlobalSecondaryIndexes": secondary(each, "GlobalSecondaryIndexes"),
            "LocalSecondaryIndexes": secondary(each, "LocalSecondaryIndexes"),
        }
        for each in RESOURCES
    ]
    return {"ModelName": "Shop", "ModelMetadata": {"Version": "3.0"}, "DataModel": tables}


def test_a_model_does_not_say_how_many_items_there_are(ddbfs):
    assert "DescribeTable" not in ddbfs("map", "--from", MODELS / "workbench.json", expect=None).text


def test_keys_and_indexes(printed, ddbfs, table, boto, tmp_path):
    file = tmp_path / "model.json"
    file.write_text(json.dumps(as_workbench()))
    path, left_out = printed(file)
    assert left_out == ""
    tables = [(create_table_input(each), list(text_items(create_table_input(each)))) for each in RESOURCES]
    for described, items in tables:
        table(described, items)
    assert ddbfs("check", path).stderr == ""
    assert check_reaches(ddbfs, path, boto, tables) >= 3 * len(RESOURCES)


CLINIC = [  # facet, partition key, sort key, other attributes
    ("Clinic", "CLINIC#{clinic}", "PROFILE", []),
    ("Doctor", "CLINIC#{clinic}", "DOCTOR#{doctor}", ["GSI1PK", "GSI1SK"]),
    ("Room", "CLINIC#{clinic}", "ROOM#{floor}#{room}", []),
    ("Opening", "CLINIC#{clinic}", "OPEN#{weekday}", []),
    ("Patient", "PATIENT#{patient}", "PATIENT", ["GSI1PK", "GSI1SK"]),
    ("Visit", "PATIENT#{patient}", "VISIT#{day}#{visit}", ["GSI1PK", "GSI1SK", "fee"]),
    ("Allergy", "PATIENT#{patient}", "ALLERGY#{substance}", []),
    ("Letter", "PATIENT#{patient}", "LETTER#{letter}", []),
    ("Invoice", "INVOICE#{invoice}", "INVOICE", ["fee"]),
    ("Line", "INVOICE#{invoice}", "LINE#{line}", []),
    ("Drug", "DRUG#{drug}", "DRUG", []),
    ("Interaction", "DRUG#{drug}", "WITH#{other}", []),
]


def clinic():
    """A model whose facets state how keys are written, in each of the three ways."""
    facets = []
    for number, (name, partition, sort, attributes) in enumerate(CLINIC):
        written = [str, lambda t: t.replace("{", "${"), lambda t: t.replace("{", "<").replace("}", ">")][number % 3]
        sample = {"PK": {"S": fill(partition, AnyText())}, "SK": {"S": fill(sort, AnyText())}}
        facets.append(
            {
                "FacetName": name,
                "KeyAttributeAlias": {"PartitionKeyAlias": written(partition), "SortKeyAlias": written(sort)},
                "TableData": [sample],
                "NonKeyAttributes": attributes,
            }
        )
    key = lambda name, kind="S": {"AttributeName": name, "AttributeType": kind}
    index = lambda name, partition, sort: {
        "IndexName": name,
        "KeyAttributes": {"PartitionKey": partition, "SortKey": sort},
        "Projection": {"ProjectionType": "ALL"},
    }
    table = {
        "TableName": "Clinic",
        "KeyAttributes": {"PartitionKey": key("PK"), "SortKey": key("SK")},
        "TableFacets": facets,
        "GlobalSecondaryIndexes": [
            index("GSI1", key("GSI1PK"), key("GSI1SK")),
            index("inverted", key("SK"), key("PK")),
            index("fees", key("PK"), key("fee", "N")),
        ],
    }
    return {"ModelName": "Clinic", "DataModel": [table]}


class AnyText(dict):
    def __missing__(self, key):
        return "x"


def clinic_items():
    for name, partition, sort, attributes in CLINIC:
        for one, other in ("a1", "b2"):
            names = fields_of(partition) + fields_of(sort)
            values = dict(zip(names, [one, other, "z"]))
            item = {"PK": {"S": fill(partition, values)}, "SK": {"S": fill(sort, values)}, "kind": {"S": name}}
            item |= {key: {"N": "5"} if key == "fee" else {"S": f"{key}-{one}"} for key in attributes}
            yield item


def test_facets_are_kinds(printed, ddbfs, table, boto, tmp_path):
    file = tmp_path / "clinic.json"
    file.write_text(json.dumps(clinic()))
    path, left_out = printed(file)
    assert left_out == ""
    (declared,) = read_map_text(path.read_text())["tables"].values()
    assert {name for name, *_ in CLINIC} <= set(declared["records"])
    described = resource(
        "Clinic", "PK SK", "fee:N", [("GSI1", "GSI1PK GSI1SK", ALL), ("inverted", "SK PK", ALL), ("fees", "PK fee", ALL)]
    )
    items = {(item["PK"]["S"], item["SK"]["S"]): item for item in clinic_items()}
    table(create_table_input(described), list(items.values()))
    assert ddbfs("check", path).stderr == ""
    assert check_reaches(ddbfs, path, boto, [(described, list(items.values()))]) >= 2 * len(items)


# Filters

DELIVERIES = {
    "tables": [
        {
            "table_config": {"table_name": "Deliveries", "partition_key": "pk", "sort_key": "sk"},
            "entities": {
                "Delivery": {
                    "entity_type": "DELIVERY",
                    "pk_template": "C#{customer}",
                    "sk_template": "D#{id}",
                    "fields": [{"name": name, "type": "string", "required": True} for name in ("customer", "id")],
                    "access_patterns": [],
                }
            },
        }
    ]
}


def filtered(number, expression, *parameters):
    return {
        "pattern_id": number,
        "name": f"p{number}",
        "description": "",
        "operation": "Query",
        "return_type": "entity_list",
        "parameters": [{"name": "customer", "type": "string"}, *({"name": n, "type": t} for n, t in parameters)],
        "filter_expression": expression,
    }


def compare(field, operator, *names):
    members = {"params": list(names)} if operator == "in" else dict(zip(("param", "param2"), names))
    return {"field": field, "operator": operator, **members}


def test_patterns_with_filters_are_paths(ddbfs, ls, table, boto, tmp_path):
    patterns = [
        filtered(
            1,
            {"conditions": [compare("status", "<>", "status"), compare("total", ">=", "least")]},
            ("status", "string"),
            ("least", "decimal"),
        ),
        filtered(2, {"conditions": [compare("fee", "between", "low", "high")]}, ("low", "decimal"), ("high", "decimal")),
        filtered(3, {"conditions": [compare("status", "in", "a", "b")]}, ("a", "string"), ("b", "string")),
        filtered(4, {"conditions": [{"field": "note", "function": "attribute_not_exists"}]}),
        filtered(
            5,
            {
                "conditions": [compare("total", ">", "least"), {"field": "note", "function": "contains", "param": "x"}],
                "logical_operator": "OR",
            },
            ("least", "decimal"),
            ("x", "string"),
        ),
        filtered(6, {"conditions": [{"field": "status", "function": "size", "operator": ">", "param": "n"}]}, ("n", "integer")),
        filtered(7, {"conditions": [{"field": "id", "function": "begins_with", "param": "id"}]}, ("id", "string")),
        filtered(8, {"conditions": [compare("total", ">", "n")] * 2, "logical_operator": "NOT"}, ("n", "decimal")),
    ]
    content = json.loads(json.dumps(DELIVERIES))
    content["tables"][0]["entities"]["Delivery"]["access_patterns"] = patterns
    table(describe(content["tables"][0]))
    for number, status, total, fee, note in ((1, "NEW", 5, 1, None), (2, "DONE", 50, 2, "ring twice"), (3, "LOST", 7, 3, "x")):
        item = {"pk": {"S": "C#me"}, "sk": {"S": f"D#{number}"}, "status": {"S": status}, "id": {"S": f"{number}"}}
        item |= {"total": {"N": str(total)}, "fee": {"N": str(fee)}} | ({"note": {"S": note}} if note else {})
        boto.put_item(TableName="Deliveries", Item=item)
    model = tmp_path / "schema.json"
    model.write_text(json.dumps(content))
    got = ddbfs("map", "--from", model, expect=1)
    assert "access_patterns[5]: its filter has a condition that a map does not have" in got.stderr
    assert "access_patterns[7]: its filter joins its conditions neither by AND nor by OR" in got.stderr
    map_file = tmp_path / "map.json"
    map_file.write_bytes(got.stdout.replace(b'"all": {}', b'"all": { "profile": "controller", "region": "us-east-1" }'))
    found = {
        path: ls(f"/all/Deliveries/{path}", env={"DDBFS_MAP": str(map_file)})
        for path in ("p1/me/DONE/6", "p2/me/2..3", "p3/me/NEW/LOST", "p4/me", "p5/me/40/x", "p7/me/2")
    }
    assert found == {
        "p1/me/DONE/6": ["3"],
        "p2/me/2..3": ["2", "3"],
        "p3/me/NEW/LOST": ["1", "3"],
        "p4/me": ["1"],
        "p5/me/40/x": ["2", "3"],
        "p7/me/2": ["2"],
    }
