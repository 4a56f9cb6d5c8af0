"""The benchmark's data: a table of jobs of about a kilobyte each, 100,000 of one shop and 10,000
of another, as a database that dynoxide serves. Made once and kept in the cache."""

from harness import load, places

SHOPS = {"many": 100_000, "some": 10_000}
TABLE = "prod-BenchJobs"
SECONDS_A_DAY = 86_400


def key_schema(partition, sort):
    return [
        {"AttributeName": partition, "KeyType": "HASH"},
        {"AttributeName": sort, "KeyType": "RANGE"},
    ]


DESCRIPTION = {
    "TableName": TABLE,
    "AttributeDefinitions": [
        {"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk", "shop", "created_at")
    ],
    "KeySchema": key_schema("pk", "sk"),
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "ByShop",
            "KeySchema": key_schema("shop", "created_at"),
            "Projection": {"ProjectionType": "KEYS_ONLY"},
        }
    ],
    "BillingMode": "PAY_PER_REQUEST",
}


def created(number):
    day, second = divmod(number * 2, SECONDS_A_DAY)
    hours, rest = divmod(second, 3600)
    return f"2026-04-{day + 1:02d}T{hours:02d}:{rest // 60:02d}:{rest % 60:02d}.000Z"


def name(number):
    """The job's name in the mount, which is what stands behind JOB# in its sort key."""
    return f"{created(number)}#{number:08x}-0000-4000-8000-{number:012x}"


def keys(shop, numbers):
    """A "PK SK" line for each, as the peers read them."""
    return "".join(f"SHOP#{shop} JOB#{name(number)}\n" for number in numbers)


def job(shop, number):
    texts = {
        "pk": f"SHOP#{shop}",
        "sk": f"JOB#{name(number)}",
        "job_id": name(number).split("#")[1],
        "created_at": created(number),
        "shop": shop,
        "status": "COMPLETED",
        "job_type": "INCREMENTAL",
        "message": "x" * 220,
    }
    for stage in range(6):
        texts[f"stage_{stage}"] = f"finished after {number % 97 + stage} s without any error"
    counts = {each: {"N": str(number * 7)} for each in ("read", "written", "skipped")}
    return {**{each: {"S": text} for each, text in texts.items()}, "counts": {"M": counts}}


def database():
    """A name of its own says what is in it; to be copied, since serving writes to the file."""
    folder = places.CACHE / "bench-jobs-110000-1"
    folder.mkdir(parents=True, exist_ok=True)
    with load.packages.locked(folder):
        if not (folder / "done").exists():
            everything = (job(shop, n) for shop, count in SHOPS.items() for n in range(count))
            load.dynoxide_database(folder, DESCRIPTION, everything)
            (folder / "done").touch()
    return folder / "big.db"
