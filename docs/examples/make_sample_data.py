#!/usr/bin/python3
"""Writes the sample data, ecommerce.<Table>.jsonl, beside itself; the same bytes every time.

The rows hold the traps that ACCESS_PATTERNS describes, so that a wrong read shows: an index whose
name begins like another's, a shop on two platforms, a newer USER# row that is no session, shops
without an account. Every token and key is made up.
"""

import datetime
import json
import pathlib
import random

FOLDER = pathlib.Path(__file__).resolve().parent
SEED = 20260416
FIRST_DAY = datetime.datetime(2026, 4, 13, tzinfo=datetime.timezone.utc)
DAYS = 6
TTL = datetime.timedelta(days=30)
KNOWN_JOB = "1f3c9a52-7b1e-4c57-9d0a-2e6f4b8c1d90"

# account, index name, platform, the shop's domain, how many jobs
INDEXES = [
    ("kl7a9h55", "shopify-e513a8-4", "shopify", "e513a8-4.myshopify.com", 40),
    ("kl7a9h55", "shopify-e513a8-4", "ecom", "e513a8-4.myshopify.com", 8),
    ("kl7a9h55", "shopify-cool-store", "shopify", "cool-store.myshopify.com", 16),
    ("kl7a9h55", "products", "ecom", None, 10),
    ("m2x8q1zt", "shopify-oak-and-iron", "shopify", "oak-and-iron.myshopify.com", 12),
    ("m2x8q1zt", "catalog-v2", "ecom", None, 6),
]
STATUSES = ["COMPLETED"] * 11 + ["FAILED"] * 4 + ["IN_PROGRESS"] * 3 + ["PENDING"] * 2
ERRORS = [
    (
        "SHOPIFY_THROTTLED",
        "Shopify answered 429 eight times in a row; the bulk operation was given up",
    ),
    ("MAPPING_CONFLICT", 'field "price" is a number in the index and "12,90 €" in product 8812'),
    (
        "TOKEN_REVOKED",
        "the shop's access token was revoked; the merchant has to install the app again",
    ),
    ("TIMEOUT", "no progress for 900 s while downloading part 3 of 7"),
]
PRODUCTS = [
    "Trail Runner 3",
    "Filterkaffee „Nord“",
    "Table en chêne",
    "Wool Cap ☕",
    "Steel Mug 350 ml",
]


def typed(value):
    """A Python value as DynamoDB's typed JSON; a set is a string set."""
    if value is None:
        return {"NULL": True}
    if isinstance(value, bool):
        return {"BOOL": value}
    if isinstance(value, (int, float)):
        return {"N": str(value).removesuffix(".0")}
    if isinstance(value, str):
        return {"S": value}
    if isinstance(value, (set, frozenset)):
        return {"SS": sorted(value)}
    if isinstance(value, list):
        return {"L": [typed(member) for member in value]}
    return {"M": attributes(value)}


def attributes(record):
    return {name: typed(value) for name, value in record.items()}


def stamp(moment):
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def identifier(rng):
    digits = f"{rng.getrandbits(128):032x}"
    parts = (digits[:8], digits[8:12], "4" + digits[13:16], "a" + digits[17:20], digits[20:])
    return "-".join(parts)


def some_moment(rng):
    return FIRST_DAY + datetime.timedelta(milliseconds=rng.randrange(DAYS * 24 * 3600 * 1000))


def progress(rng, status):
    total = rng.randrange(40, 24000)
    done = {"PENDING": 0, "COMPLETED": total}.get(status, rng.randrange(total))
    failed = 0 if status == "PENDING" else rng.randrange(min(done, 9) + 1)
    return {
        "total": total,
        "processed": done,
        "succeeded": done - failed,
        "failed": failed,
        "percent": round(100 * done / total, 1),
    }


def stats(rng, counts):
    return {
        "batches": 1 + counts["processed"] // 250,
        "bytes_read": counts["processed"] * rng.randrange(700, 2900),
        "shopify": {"api_calls": rng.randrange(4, 90), "throttled": rng.randrange(3)},
        "latency_ms": {"p50": rng.randrange(20, 90), "p99": round(rng.uniform(110, 900), 2)},
    }


def failure(rng):
    code, message = rng.choice(ERRORS)
    sample = {
        "product_id": f"gid://shopify/Product/{rng.randrange(10**12)}",
        "title": rng.choice(PRODUCTS),
    }
    return {"error_code": code, "error_message": message, "error_samples": [sample]}


def settings(rng, index_name):
    return {
        "target_index": index_name,
        "batch_size": rng.choice([100, 250, 500]),
        "locale": rng.choice(["en", "de", "fr"]),
        "dry_run": False,
        "since": None,
    }


def job(rng, where, job_id, created, status):
    account, index_name, platform, domain, _ = where
    shop_id, created_at = f"{account}-{index_name}", stamp(created)
    updated = created + datetime.timedelta(milliseconds=rng.randrange(900, 2700000))
    counts = progress(rng, status)
    record = {
        "pk": f"PLATFORM#{platform}#SHOP#{shop_id}",
        "sk": f"JOB#{created_at}#{job_id}",
        "job_id": job_id,
        "shop_id": shop_id,
        "platform": platform,
        "status": status,
        "status_created_at": f"{status}#{created_at}",
        "created_at": created_at,
        "updated_at": stamp(updated),
        "ttl": int((created + TTL).timestamp()),
        "job_type": rng.choice(["BULK", "WEBHOOK", "INCREMENTAL"]),
        "system_account_id": account,
        "index_name": index_name,
        "attempt": 1 + rng.randrange(3),
        "progress": counts,
        "stats": stats(rng, counts),
        "settings": settings(rng, index_name),
        "labels": {"search", platform, rng.choice(["nightly", "manual", "install"])},
    }
    if domain:
        record["shop_domain"] = domain
    if status in ("COMPLETED", "FAILED"):
        record["finished_at"] = stamp(updated)
    if status == "FAILED":
        record.update(failure(rng))
    return record


def jobs():
    rng = random.Random(SEED)
    known = FIRST_DAY + datetime.timedelta(days=3, hours=9, minutes=41, seconds=7, milliseconds=318)
    yield job(rng, INDEXES[0], KNOWN_JOB, known, "COMPLETED")
    for where in INDEXES:
        for _ in range(where[4] - (where is INDEXES[0])):
            yield job(rng, where, identifier(rng), some_moment(rng), rng.choice(STATUSES))


def index_body(rng, locale):
    return {
        "create_index_config": {"shards": rng.choice([1, 2, 4]), "replicas": 1, "language": locale},
        "search_config": {
            "fields": ["title^3", "vendor", "tags", "body_html"],
            "typo_tolerance": True,
            "boost": {"in_stock": 1.5, "newness": 0.25},
        },
        "collections_config": {"enabled": True, "sort_orders": ["best-selling", "price-asc"]},
        "add_docs_config": {
            "batch_size": rng.choice([100, 250]),
            "id_field": "product_id",
            "flatten_variants": True,
            "drop_fields": ["body_html"],
        },
    }


def root(rng, account, index_name, domain, day):
    record = {"pk": account, "sk": f"INDEX#{index_name}", "index_name": index_name}
    if domain:
        record["shopify_domain"] = domain
    record["updated_at"] = stamp(FIRST_DAY - datetime.timedelta(days=day))
    record.update(index_body(rng, "de" if domain is None else "en"))
    return record


def sub_record(account, index_name, rest, body):
    return {
        "pk": account,
        "sk": f"INDEX#{index_name}#{rest}",
        "updated_at": "2026-04-02T08:00:00.000Z",
        **body,
    }


def profile(account, index_name, name, weight):
    body = {
        "profile": name,
        "weights": {"title": weight, "vendor": 1},
        "facets": {"vendor", "price", "size"},
    }
    return sub_record(account, index_name, f"PROFILE#SEARCH#{name}", body)


def query_rule(account, index_name, text, pinned):
    body = {"query": text, "pinned": pinned, "synonyms": [], "active": True}
    return sub_record(account, index_name, f"QUERY#{text}", body)


def agentic(account, index_name):
    body = {
        "model": "demo-small",
        "temperature": 0.2,
        "tools": ["search", "compare"],
        "max_turns": 4,
    }
    return sub_record(account, index_name, "AGENTIC_CONFIG", body)


def defaults(account, language):
    body = {
        "create_index_config": {"shards": 1, "replicas": 1, "language": language},
        "add_docs_config": {"batch_size": 100},
    }
    return {
        "pk": account,
        "sk": "INDEX#DEFAULT_CONFIGS",
        "updated_at": "2026-01-07T12:30:00.000Z",
        **body,
    }


def index_settings():
    rng = random.Random(SEED + 1)
    first, other = "kl7a9h55", "m2x8q1zt"
    yield defaults(first, "en")
    yield root(rng, first, "shopify-e513a8-4", "e513a8-4.myshopify.com", 3)
    yield profile(first, "shopify-e513a8-4", "default", 3)
    yield profile(first, "shopify-e513a8-4", "mobile", 5)
    yield query_rule(first, "shopify-e513a8-4", "running shoes", ["8812", "8813"])
    yield query_rule(first, "shopify-e513a8-4", "a/c filter 50%", ["17"])
    yield agentic(first, "shopify-e513a8-4")
    yield root(rng, first, "shopify-e513a8-4-next", "e513a8-4.myshopify.com", 1)
    yield profile(first, "shopify-e513a8-4-next", "default", 4)
    yield root(rng, first, "shopify-cool-store", "cool-store.myshopify.com", 9)
    yield profile(first, "shopify-cool-store", "default", 2)
    yield root(rng, first, "products", None, 21)
    yield profile(first, "products", "default", 3)
    yield query_rule(first, "products", "gift", ["4711"])
    yield agentic(first, "products")
    yield defaults(other, "de")
    yield root(rng, other, "shopify-oak-and-iron", "oak-and-iron.myshopify.com", 5)
    yield profile(other, "shopify-oak-and-iron", "default", 3)
    yield root(rng, other, "catalog-v2", None, 30)
    yield query_rule(other, "catalog-v2", "hülsenfrüchte", ["99"])


def shop_row(domain, sk, entity_type, body):
    return {
        "pk": f"SHOP#{domain}",
        "sk": sk,
        "entity_type": entity_type,
        "shop_domain": domain,
        **body,
    }


def session(domain, user_id, last_updated, token):
    body = {
        "user_id": user_id,
        "last_updated": last_updated,
        "access_token": f"shpat_demo_{token}",
        "scope": {"read_products", "read_inventory", "write_script_tags"},
        "online": False,
    }
    return shop_row(domain, f"USER#{user_id}", "SESSION", body)


def invitation(domain, user_id, last_updated):
    """A USER# row that is newer than every session and is none."""
    body = {"user_id": user_id, "last_updated": last_updated, "invited_by": "staff"}
    return shop_row(domain, f"USER#{user_id}", "INVITATION", body)


def api_key(domain, text):
    body = {
        "api_key": f"demo_api_key_{text}",
        "created_at": "2026-02-11T10:00:00.000Z",
        "rate_limit": 40,
    }
    return shop_row(domain, "API_KEY", "API_KEY", body)


def shop_settings(domain, account, active_index):
    body = {
        "ui_components": {"search_bar": True, "filters": ["vendor", "price"], "accent": "#0a7d55"},
        "plan": "growth",
    }
    if account:
        body.update(system_account_id=account, active_index=active_index)
    return shop_row(
        domain, "SETTINGS", "SETTINGS", {**body, "updated_at": "2026-04-12T16:20:00.000Z"}
    )


def shops():
    cool, known, oak = (
        "cool-store.myshopify.com",
        "e513a8-4.myshopify.com",
        "oak-and-iron.myshopify.com",
    )
    light, atelier = "nordlicht-lampen.myshopify.com", "petit-atelier.myshopify.com"
    yield shop_settings(cool, "kl7a9h55", "shopify-cool-store")
    yield api_key(cool, "cool_store")
    yield session(cool, "71203948812", "2026-04-11T07:15:22.101Z", "cool_one")
    yield session(cool, "71203950077", "2026-04-16T18:03:51.440Z", "cool_two_latest")
    yield session(cool, "80011223344", "2026-03-29T12:00:00.000Z", "cool_three")
    yield invitation(cool, "90099887766", "2026-04-17T09:00:00.000Z")
    yield shop_settings(known, "kl7a9h55", "shopify-e513a8-4")
    yield api_key(known, "e513a8_4")
    yield session(known, "60500100200", "2026-04-15T21:10:00.500Z", "e513_latest")
    yield session(known, "60500100300", "2026-04-01T06:45:10.000Z", "e513_old")
    yield shop_settings(oak, "m2x8q1zt", "shopify-oak-and-iron")
    yield api_key(oak, "oak_and_iron")
    yield session(oak, "55500011122", "2026-04-14T13:37:00.000Z", "oak_one_latest")
    yield session(oak, "55500011133", "2026-04-13T13:37:00.000Z", "oak_two")
    yield shop_settings(light, None, None)
    yield session(light, "44400099911", "2026-04-10T10:10:10.000Z", "light_one")
    yield shop_settings(atelier, None, None)
    yield session(atelier, "33300077722", "2026-02-02T02:02:02.000Z", "atelier_one")
    yield session(atelier, "33300077733", "2026-02-20T20:20:20.000Z", "atelier_two_latest")


def write(table, records):
    lines = (json.dumps({"Item": attributes(record)}, ensure_ascii=False) for record in records)
    (FOLDER / f"ecommerce.{table}.jsonl").write_text(
        "".join(line + "\n" for line in lines), "utf-8"
    )


if __name__ == "__main__":
    write("EcomIndexerJobsTable", jobs())
    write("EcomIndexSettingsTable", index_settings())
    write("ShopifyEntitiesTable", shops())
