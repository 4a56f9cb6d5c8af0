"""A table with plain keys, and the map that shows its records, for tests that want records and names
of any kind."""

import json


def table(name, partition="S", sort="S"):
    """What CreateTable is told: the keys are `pk` and `sk`, of those types."""
    types = {"pk": partition, "sk": sort}
    return {
        "TableName": name,
        "AttributeDefinitions": [
            {"AttributeName": key, "AttributeType": each} for key, each in types.items()
        ],
        "KeySchema": [
            {"AttributeName": "pk", "KeyType": "HASH"},
            {"AttributeName": "sk", "KeyType": "RANGE"},
        ],
        "BillingMode": "PAY_PER_REQUEST",
    }


def plain():
    """The table any-Things, which is seen as /any/things/BOX/NAME by plain_map()."""
    return table("any-Things")


def plain_map(**members):
    """With these members of the table besides its own."""
    return {
        "environments": {"any": {"prefix": "any-", "profile": "controller", "region": "us-east-1"}},
        "tables": {
            "things": {
                "table": "Things",
                "records": {"thing": {"pk": "{box*}", "sk": "{name*}"}},
                "paths": {"{box}/": {}},
                **members,
            }
        },
    }


def canned_names(count):
    """ListTables of COUNT tables, as the service pages them."""
    names = [f"Table-{number:04d}" for number in range(count)]

    def answer(body):
        start = body.get("ExclusiveStartTableName")
        at = names.index(start) + 1 if start else 0
        page = names[at : at + body.get("Limit", 100)]
        more = {"LastEvaluatedTableName": page[-1]} if at + len(page) < count else {}
        return {"TableNames": page, **more}

    return answer


def item(name, note, box="box"):
    """One of its typed items."""
    return {"pk": {"S": box}, "sk": {"S": name}, "note": {"S": note}}


def write_map(path, **members):
    """plain_map as a file."""
    path.write_text(json.dumps(plain_map(**members)), "utf-8")
    return path
