"""What a listing of large records takes."""

import re
import sys

import pytest

from harness import places, runner
from harness.rows import rows

RECORDS = 100
RECORD_BYTES = 300_000

# A child's peak counts that of the process it was forked from, so a small one stands in between.
MEASURE = """\
import os, sys
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(pid, 0)
print(usage.ru_maxrss, file=sys.stderr)
sys.exit(os.waitstatus_to_exitcode(status))
"""

# The contents of one slice of the listing (30 MB), one answer of it, and what is on its way. Measured:
# 55 MB; when all answers of a slice were held at a time, 70 MB.
LIMIT_KB = 68 * 1024

MAP = {
    "environments": {"any": {"prefix": "any-", "profile": "controller", "region": "us-east-1"}},
    "tables": {
        "large": {
            "table": "Large",
            "records": {"one": {"pk": "{box}", "sk": "{n}"}},
            "indexes": {"by-tag": {"partition": "tag", "sort": "sk", "projects": "keys"}},
            "paths": {"tagged/{tag}/": {"list": "one", "index": "by-tag"}},
        }
    },
}


@pytest.fixture
def large(table, write_map):
    keys = [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}]
    by_tag = [
        {"AttributeName": "tag", "KeyType": "HASH"},
        {"AttributeName": "sk", "KeyType": "RANGE"},
    ]
    table(
        {
            "TableName": "any-Large",
            "AttributeDefinitions": [
                {"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk", "tag")
            ],
            "KeySchema": keys,
            "GlobalSecondaryIndexes": [
                {
                    "IndexName": "by-tag",
                    "KeySchema": by_tag,
                    "Projection": {"ProjectionType": "KEYS_ONLY"},
                }
            ],
            "BillingMode": "PAY_PER_REQUEST",
        },
        [
            {
                "pk": {"S": "box"},
                "sk": {"S": f"{n:03d}"},
                "tag": {"S": "all"},
                "text": {"S": "x" * RECORD_BYTES},
            }
            for n in range(RECORDS)
        ],
    )
    return {"DDBFS_MAP": str(write_map(MAP))}


def test_large_records_are_held_an_answer_at_a_time(ddbfs_release, proxy, large):
    proxy.fault("unprocessed", op="BatchGetItem", times=1, keep=54)  # 16 MB, as the service does
    command = [sys.executable, "-I", "-S", "-c", MEASURE, str(ddbfs_release.binary)]
    done = runner.run(
        [*command, "ls", "-l", "/any/large/tagged/all"], ddbfs_release.home.environment(large)
    )
    assert done.code == 0, done
    assert len(done.text.splitlines()) == RECORDS
    assert proxy.ops.count("BatchGetItem") >= 2
    assert int(done.stderr) < LIMIT_KB


def promised_mb():
    """What docs/mount.md states beside the usual constant."""
    text = (places.REPO / "docs/mount.md").read_text("utf-8")
    return int(re.search(r"before it has taken (\d+) MB", text)[1])


BATCH = b'{"Responses":{"any-Large":[%s]}}'
HOSTILE = {
    "values": lambda: BATCH % (b"0," * (31 << 20) + b"0"),
    "one text": lambda: BATCH % (b'"' + b"x" * (62 << 20) + b'"'),
    "levels": lambda: b"[" * (62 << 20),
    "items": lambda: BATCH % (b"{}," * (20 << 20) + b"{}"),
}


@rows("kind", HOSTILE)
def test_what_only_a_hostile_server_sends_is_refused_in_time(ddbfs_release, proxy, large, kind):
    proxy.fault("raw", op="BatchGetItem", times=None, body=HOSTILE[kind]())
    command = [sys.executable, "-I", "-S", "-c", MEASURE, str(ddbfs_release.binary)]
    done = runner.run(
        [*command, "--timeout", "60", "ls", "-l", "/any/large/tagged/all"],
        ddbfs_release.home.environment(large),
    )
    assert done.code == 1 and done.text == "", done
    assert int(done.stderr.split()[-1]) < promised_mb() << 10
