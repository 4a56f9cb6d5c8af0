"""Access policies as the service would judge by them: what a request asks for, and what grants it."""

import fnmatch

ACCOUNT = "123456789012"
REGION = "us-east-1"


def asked(record):
    """What a recorded request needs, as pairs of an action and a resource."""
    action = f"dynamodb:{record.op}"
    if record.op in ("ListTables", "ListBackups", "ListExports"):
        return [(action, "*")]
    if record.op == "TransactGetItems":  # it has no permission of its own
        names = {each["Get"]["TableName"] for each in record.body["TransactItems"]}
        return [("dynamodb:GetItem", f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/{name}") for name in sorted(names)]
    tables = list(record.body["RequestItems"]) if record.op == "BatchGetItem" else [record.table]
    index = f"/index/{record.index}" if record.index else ""
    return [(action, f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/{table}{index}") for table in tables]


def grants(statement, action, resource):
    assert statement["Effect"] == "Allow", "no other is understood here"
    texts = lambda value: [value] if isinstance(value, str) else value  # noqa: E731
    return any(
        fnmatch.fnmatchcase(action, pattern) for pattern in texts(statement["Action"])
    ) and any(fnmatch.fnmatchcase(resource, pattern) for pattern in texts(statement["Resource"]))


def missing(document, record):
    """The first pair that the request needs and DOCUMENT does not grant, or None."""
    for action, resource in asked(record):
        if not any(grants(each, action, resource) for each in document["Statement"]):
            return action, resource
    return None


def pairs(document):
    """Every action of it with every resource that it is granted on."""
    for statement in document["Statement"]:
        for action in statement["Action"]:
            for resource in statement["Resource"]:
                yield action, resource


def without(document, action, resource):
    """DOCUMENT but for that pair."""
    statements = []
    for each in document["Statement"]:
        for one in each["Action"]:
            left = [other for other in each["Resource"] if (one, other) != (action, resource)]
            if left:
                statements.append({"Effect": "Allow", "Action": [one], "Resource": left})
    return {**document, "Statement": statements}
