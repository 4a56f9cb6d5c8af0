"""Columns of SQL where a part of a key and an attribute share a name, on maps that `ddbfs map --sample` drafts."""

import pytest

from harness import load, zoo
from harness.rows import rows

PREFIX = "sqlparts-"


def texts(item):
    return {name: {"S": value} for name, value in item.items()}


def word(n):
    return "open" if n % 2 else "done"


def clinic():
    """Doctors by their key, and appointments with the attribute `doctor`."""
    yield from ({"pk": f"DOCTOR#{name}", "sk": "PROFILE", "ward": "w"} for name in "ab")
    yield from ({"pk": f"PATIENT#{n}", "sk": "PROFILE", "name": "x"} for n in range(3))
    yield from ({"pk": f"PATIENT#{n % 3}", "sk": f"APPT#2026-0{n}", "doctor": "ab"[n % 2]} for n in range(1, 9))


def tenants():
    """Users and tasks by `tenant_id`, which an index's key of tasks begins with."""
    yield from ({"tenant_id": "acme", "sk": f"USER#{n}"} for n in range(4))
    yield from ({"tenant_id": "acme", "sk": f"TASK#{n}", "status": word(n), "state_key": f"acme#{word(n)}", "at": f"t{7 * n % 5}"} for n in range(5))
    yield {"tenant_id": "acme", "sk": "TASK#9", "status": "open"}  # not in the index


def posts():
    """The part `postedAt` of posts, which is also the index's attribute, of accounts too."""
    yield from ({"pk": f"PATIENT#{n}", "sk": f"POST#2026-0{n}", "patientId": "p", "postedAt": f"2026-0{n}"} for n in range(1, 5))
    yield from ({"pk": f"ACCOUNT#{n}", "sk": "INFO", "patientId": "p", "postedAt": f"2025-1{n}", "mail": f"m{n}"} for n in range(4))


TABLES = {
    "Clinic": (clinic, ["pk", "sk"], []),
    "Tenants": (tenants, ["tenant_id", "sk"], [("ByState", "state_key", "at")]),
    "Posts": (posts, ["pk", "sk"], [("ByPatient", "patientId", "postedAt")]),
}


@pytest.fixture
def sql(ddbfs, boto, proxy, tmp_path):
    names = []
    proxy.allow_scan = True
    for name, (items, keys, indexes) in TABLES.items():
        used = {*keys, *(attribute for _, *pair in indexes for attribute in pair)}
        description = {
            "TableName": PREFIX + name,
            "AttributeDefinitions": [{"AttributeName": each, "AttributeType": "S"} for each in sorted(used)],
            "KeySchema": zoo.schema(keys[:1], keys[1:]),
            "BillingMode": "PAY_PER_REQUEST",
            **({"GlobalSecondaryIndexes": [zoo.index(each, partition, sort) for each, partition, sort in indexes]} if indexes else {}),
        }
        names.append(load.create_table(boto, description))
        load.put_all(boto, names[-1], [texts(item) for item in items()])
    draft = tmp_path / "draft.json"
    draft.write_text(ddbfs("map", "--allow-scan", "--sample", "100", "--yes", f"{PREFIX}*").text, "utf-8")

    def run(statement, **options):
        return ddbfs("--map", draft, "sql", "--csv", statement, **options)

    run.draft = draft
    yield run
    for name in names:
        boto.delete_table(TableName=name)


@rows("table, condition, count, requests", [
    ("Clinic", "patient_id = '1' and doctor = 'a'", 1, ["Query"]),
    ("Clinic", "patient_id = '1' and doctor is not null", 3, ["Query"]),
    ("Clinic", "pk = 'PATIENT#1' and doctor = 'b'", 2, ["Query"]),
    ("Tenants", "tenant_id = 'acme'", 10, ["Query"]),
    ("Tenants", "tenant_id = 'acme' and status = 'open'", 3, ["Query"]),
    ("Tenants", "state_key = 'acme#open' and at is not null", 2, ["Query ByState"]),
    ("Posts", "patientId = 'p' and postedAt is not null", 8, ["Query ByPatient"]),
    ("Posts", "patientId = 'p' and postedAt >= '2026'", 4, ["Query ByPatient"]),
])  # fmt: skip
def test_a_column_is_the_part_or_else_the_attribute(sql, cost, table, condition, count, requests):
    cost()
    done = sql(f'select count(*) from sqlparts."{table}" where {condition}')
    assert done.text.split() == ["count(*)", str(count)] and not done.stderr
    assert cost() == requests


@rows("table, condition, text", [
    ("Clinic", "doctor = 'a'", "needs one of: pk; patient_id"),
    ("Posts", "patientId = 'p'", "patientId and postedAt"),
])  # fmt: skip
def test_a_condition_that_other_kinds_may_satisfy_is_refused(sql, cost, table, condition, text):
    cost()
    assert text in sql(f'select count(*) from sqlparts."{table}" where {condition}', expect=1).stderr
    assert cost() == []


def drop_member(text, name):
    """The map without the members NAME, each of which ends at the first brace."""
    while f'"{name}": {{' in text:
        begin = text.index(f'"{name}": {{')
        text = text[:begin] + text[text.index("}", begin) + 1 :].removeprefix(",")
    return text


def test_each_kind_may_have_an_attribute_that_the_map_does_not_exclude(sql):
    sql.draft.write_text(drop_member(sql.draft.read_text("utf-8"), "attributes"), "utf-8")
    done = sql("""select count(*) from sqlparts."Clinic" where patient_id = '1'""", expect=1)
    assert 'items of the kind doctor_profile may have the attribute patient_id, unless "attributes" of the map' in done.stderr


@rows("condition, why", [
    ("doctor = 'x' and pk = 'PATIENT#1'", None),
    ("patient_id = '1#2'", "no key can have these values of patient_id"),
    ("pk = NULL", "pk is compared with NULL"),
    ("pk = 'PATIENT#1' and pk = 'PATIENT#2'", "no key can have these values of pk"),
])  # fmt: skip
def test_a_statement_that_no_row_can_satisfy_warns(sql, cost, condition, why):
    cost()
    done = sql(f'select count(*) from sqlparts."Clinic" where {condition}')
    assert done.text.split() == ["count(*)", "0"]
    assert (f"no row of sqlparts.Clinic can match: {why}" in done.stderr) == bool(why)
    assert cost() == ([] if why else ["Query"])
