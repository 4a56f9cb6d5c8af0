"""What the tests of the command line share: boto3's answers, costs, and listings as names."""

import json

import pytest

from harness import importer as importers, load, plain, priced, signer as signers, tables


class Oracle:
    """What boto3 gives, asked of the server itself, as the bytes that ddbfs has to print."""

    def __init__(self, boto):
        self.boto = boto

    def item(self, table, partition, sort):
        key = {"pk": {"S": partition}, "sk": {"S": sort}}
        return self.boto.get_item(TableName=table, Key=key)["Item"]

    def record(self, table, partition, sort, secrets=(), compact=False):
        return plain.render(plain.masked(self.item(table, partition, sort), secrets), compact)

    def query(self, table, condition, **given):
        """All items. GIVEN: values of the condition's :name, and of boto3's own capitalised."""
        asked = {name: value for name, value in given.items() if name[0].isupper()}
        values = {f":{name}": {"S": value} for name, value in given.items() if name[0].islower()}
        pages = self.boto.get_paginator("query").paginate(
            TableName=table,
            KeyConditionExpression=condition,
            ExpressionAttributeValues=values,
            **asked,
        )
        return [item for page in pages for item in page["Items"]]


@pytest.fixture
def oracle(boto):
    return Oracle(boto)


@pytest.fixture
def ddbfs(home, proxy):
    """ddbfs("cat", "/prod/...", env=..., expect=0), through the proxy; what it sends keeps to what
    `ddbfs explain` tells."""
    return priced.Ddbfs(home, proxy)


@pytest.fixture
def cost(proxy):
    """cost() -> what was asked since the last call, such as ["Query GSI_JobLookup_v2", "GetItem"]."""

    def take():
        seen = [" ".join(filter(None, (each.op, each.index))) for each in proxy.requests]
        proxy.clear()
        return seen

    return take


@pytest.fixture
def ls(ddbfs):
    """ls(path, options...) -> the names that are listed."""

    def run(path, *options, **how):
        return ddbfs(*options, "ls", path, **how).text.split("\n")[:-1]

    return run


@pytest.fixture
def records(ddbfs):
    """records(folders, *options, env=…) -> [(folder, record as an object)] of every file that they list: one
    command lists all of them, and one reads all files."""

    def read(folders, *options, **how):
        lines = ddbfs(*options, "ls", "--json", *folders, **how).text.splitlines()
        files = [entry["path"] for entry in map(json.loads, lines) if entry["type"] == "file"]
        found = plain.objects(ddbfs(*options, "cat", *files, **how).text) if files else []
        assert len(found) == len(files)
        return [(path.rpartition("/")[0], each) for path, each in zip(files, found)]

    return read


def read_map_text(text):
    """A map without its comments, which stand on lines of their own."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("//")]
    return json.loads("\n".join(lines))


@pytest.fixture
def write_map(tmp_path):
    """write_map(text or object) -> the name of a map file with it."""

    def write(content):
        text = content if isinstance(content, str) else json.dumps(content, indent=1)
        path = tmp_path / "map.json"
        path.write_text(text, "utf-8")
        return path

    return write


@pytest.fixture
def example_map():
    """The example map as an object that a test may change."""
    return read_map_text((load.places.EXAMPLES / "ecommerce.map.json").read_text("utf-8"))


@pytest.fixture
def signer(tmp_path):
    """ddbfs before a service that tells who signed: signer(*options, env=…) -> key id, or message."""
    with signers.Signer(tmp_path) as made:
        yield made


class Things:
    """Records of any key in the table any-Things, which ddbfs sees as /any/things/BOX/NAME."""

    def __init__(self, boto, table, map_file):
        self.boto = boto
        self.table = table
        self.env = {"DDBFS_MAP": str(map_file)}

    def put(self, name, box="box", **attributes):
        """Writes an item of typed ATTRIBUTES; gives what the server then has."""
        key = {"pk": {"S": box}, "sk": {"S": name}}
        self.boto.put_item(TableName=self.table, Item={**key, **attributes})
        return self.boto.get_item(TableName=self.table, Key=key)["Item"]

    def put_many(self, items):
        """Writes ITEMS, pairs of a name and typed attributes, in batches."""
        load.put_all(self.boto, self.table, ({"pk": {"S": "box"}, "sk": {"S": name}, **more} for name, more in items))


@pytest.fixture
def plain_table():
    return tables.plain()


@pytest.fixture
def plain_map():
    return tables.plain_map()


@pytest.fixture
def things(boto, table, write_map):
    return Things(boto, table(tables.plain()), write_map(tables.plain_map()))


@pytest.fixture
def importer(tmp_path):
    return importers.Importer(tmp_path)
