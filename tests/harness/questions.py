"""Thirty questions about the sample data: for each its line, as `ddbfs skill` teaches it, its requests and RCU,
and boto3's result; and the same in SQL. docs/guides/agents.md shows some of them."""

import decimal

from boto3.dynamodb.types import TypeDeserializer

from . import load

SHOP = "kl7a9h55-shopify-e513a8-4"
JOB_ID = "1f3c9a52-7b1e-4c57-9d0a-2e6f4b8c1d90"
COOL = "cool-store.myshopify.com"
# The names of long paths in the lines.
VARIABLES = {
    "JOBS": f"/prod/jobs/by-index/shopify/{SHOP}",
    "STATE": f"/prod/jobs/by-status/{SHOP}",
    "JOB": f"/prod/jobs/by-id/{JOB_ID}",
    "SHOPS": "/prod/shops",
    "SETTINGS": "/prod/index-settings",
}


def number(value):
    return int(value) if value == value.to_integral_value() else float(value)


def untyped(value):
    """A Python value without boto3's types of its own."""
    if isinstance(value, decimal.Decimal):
        return number(value)
    if isinstance(value, dict):
        return {name: untyped(each) for name, each in value.items()}
    return [untyped(each) for each in value] if isinstance(value, list) else value


class Truth:
    """The sample data, as boto3 reads it."""

    def __init__(self, boto):
        self.boto = boto

    def query(self, table, condition, env="prod", index=None, **given):
        asked = {f":{name}": {"S": value} for name, value in given.items()}
        more = {"IndexName": index} if index else {}
        pages = self.boto.get_paginator("query").paginate(
            TableName=f"{env}-{table}", KeyConditionExpression=condition,
            ExpressionAttributeValues=asked, ReturnConsumedCapacity="TOTAL", **more,
        )  # fmt: skip
        items = []
        self.units = 0
        for page in pages:
            self.units += page["ConsumedCapacity"]["CapacityUnits"]
            items += page["Items"]
        read = TypeDeserializer().deserialize
        return [{name: untyped(read(value)) for name, value in item.items()} for item in items]

    def jobs(self, since="", until="~", env="prod"):
        condition = "pk = :pk and sk between :since and :until"
        return self.query("EcomIndexerJobsTable", condition, env, pk=f"PLATFORM#shopify#SHOP#{SHOP}",
                          since=f"JOB#{since}", until=f"JOB#{until}")  # fmt: skip

    def state(self, status):
        """Newest first, and whole records."""
        condition = "shop_id = :shop and begins_with(status_created_at, :status)"
        found = self.query("EcomIndexerJobsTable", condition, index="GSI_JobsByStatus_v2", shop=SHOP,
                           status=f"{status}#")  # fmt: skip
        keys = [(each["pk"], each["sk"]) for each in reversed(found)]
        return [self.query("EcomIndexerJobsTable", "pk = :pk and sk = :sk", pk=pk, sk=sk)[0] for pk, sk in keys]

    def job(self):
        return next(job for job in self.jobs() if job["job_id"] == JOB_ID)

    def settings(self, account, index):
        return self.query("EcomIndexSettingsTable", "pk = :pk and sk = :sk", pk=account, sk=f"INDEX#{index}")[0]

    def shop(self, domain, env="prod"):
        return self.query("ShopifyEntitiesTable", "pk = :pk", env, pk=f"SHOP#{domain}")

    def names(self, domain, env):
        """Of a shop's directory; the token is there where a session is."""
        found = self.shop(domain, env)
        sessions = [each for each in found if each["entity_type"] == "SESSION"]
        return [each["sk"] for each in found] + ["access-token"] * bool(sessions)

    def shop_settings(self, domain):
        return next(each for each in self.shop(domain) if each["sk"] == "SETTINGS")


def count_of(values):
    values = list(values)
    return {value: values.count(value) for value in values}


def commonest(values):
    counts = count_of(values)
    return max(counts, key=counts.get)


def lines(values):
    return "\n".join(str(value) for value in values)


def name_of(job):
    """As a listing of one shop on one platform has it."""
    return job["sk"].removeprefix("JOB#")


def last_failed(truth):
    return truth.state("FAILED")[0]


# The question; the line; requests; RCU; the result.
QUESTIONS = [
    # How many.
    ("How many jobs does the index have?",
     'ddbfs cat "$JOBS/all@count"', 1, 4, lambda t: len(t.jobs())),
    ("How many jobs of the shop failed, on all platforms?",
     'ddbfs cat "$STATE/FAILED@count"', 1, 0.5, lambda t: len(t.state("FAILED"))),
    ("How many jobs started on 16 April?",
     'ddbfs cat "$JOBS/on/2026-04-16@count"', 1, 0.5, lambda t: len(t.jobs("2026-04-16", "2026-04-16~"))),
    ("How many jobs are pending, how many in progress?",
     'ddbfs cat "$STATE/PENDING@count" "$STATE/IN_PROGRESS@count"', 2, 1,
     lambda t: lines(len(t.state(each)) for each in ("PENDING", "IN_PROGRESS"))),
    ("How many jobs took more than one attempt?",
     "ddbfs ls --count --where 'attempt > 1' \"$JOBS/all\"", 1, 4,
     lambda t: len([job for job in t.jobs() if job["attempt"] > 1])),
    ("How many sessions does the shop have?",
     f"ddbfs ls --count --where 'entity_type = \"SESSION\"' \"$SHOPS/{COOL}\"", 1, 0.5,
     lambda t: len([each for each in t.shop(COOL) if each["entity_type"] == "SESSION"])),
    # Of each value, the commonest.
    ("How many jobs are in each state?",
     'ddbfs cat "$JOBS/all@summary" | jq -r \'.attributes.status.values[] | "\\(.value) \\(.count)"\' | sort', 1, 4,
     lambda t: lines(sorted(f"{name} {count}" for name, count in count_of(job["status"] for job in t.jobs()).items()))),
    ("Which error is the most common?",
     'ddbfs cat "$STATE/FAILED@summary" | jq -r \'.attributes.error_code.values | max_by(.count).value\'', 2, 2.5,
     lambda t: commonest(job["error_code"] for job in t.state("FAILED"))),
    ("How many jobs of each type on 16 April?",
     'ddbfs cat "$JOBS/on/2026-04-16@jsonl" | jq -rs \'group_by(.job_type)[] | "\\(.[0].job_type) \\(length)"\'', 1, 0.5,
     lambda t: lines(sorted(f"{name} {count}" for name, count in
                            count_of(job["job_type"] for job in t.jobs("2026-04-16", "2026-04-16~")).items()))),
    ("How many documents of each locale were processed?",
     'ddbfs cat "$JOBS/all@jsonl" | jq -rs \'group_by(.settings.locale)[] | "\\(.[0].settings.locale) '
     '\\(map(.progress.processed) | add)"\'', 1, 4,
     lambda t: lines(f"{locale} {sum(job['progress']['processed'] for job in t.jobs() if job['settings']['locale'] == locale)}"
                     for locale in sorted({job["settings"]["locale"] for job in t.jobs()}))),
    # Extremes.
    ("Which job processed the most documents?",
     'ddbfs cat "$JOBS/all@jsonl" | jq -rs \'max_by(.progress.processed).job_id\'', 1, 4,
     lambda t: max(t.jobs(), key=lambda job: job["progress"]["processed"])["job_id"]),
    ("What is the greatest number of attempts?",
     'ddbfs cat "$JOBS/all@summary" | jq .attributes.attempt.max', 1, 4,
     lambda t: max(job["attempt"] for job in t.jobs())),
    ("When did the first job start, and when the last?",
     'ddbfs cat "$JOBS/all@summary" | jq -r \'.oldest.date, .newest.date\'', 1, 4,
     lambda t: lines([min(job["created_at"] for job in t.jobs()), max(job["created_at"] for job in t.jobs())])),
    ("What is the worst latency (p99) of the failed jobs?",
     'ddbfs cat "$STATE/FAILED@jsonl" | jq -s \'map(.stats.latency_ms.p99) | max\'', 2, 2.5,
     lambda t: max(job["stats"]["latency_ms"]["p99"] for job in t.state("FAILED"))),
    ("When was the last sign-in to the shop?",
     f"ddbfs cat --where 'entity_type = \"SESSION\"' \"$SHOPS/{COOL}@summary\" | jq -r .newest.date", 1, 0.5,
     lambda t: max(each["last_updated"] for each in t.shop(COOL) if each["entity_type"] == "SESSION")),
    # Windows, and which of them.
    ("How many jobs started on 14 and 15 April?",
     'ddbfs cat "$JOBS/between/2026-04-14..2026-04-15@count"', 1, 2,
     lambda t: len(t.jobs("2026-04-14", "2026-04-15~"))),
    ("Which jobs of 14 and 15 April are pending?",
     "ddbfs ls --where 'status = \"PENDING\"' \"$JOBS/between/2026-04-14..2026-04-15\"", 1, 2,
     lambda t: lines(name_of(job) for job in t.jobs("2026-04-14", "2026-04-15~") if job["status"] == "PENDING")),
    ("How many documents failed on 16 April?",
     'ddbfs cat "$JOBS/on/2026-04-16@jsonl" | jq -s \'map(.progress.failed) | add\'', 1, 0.5,
     lambda t: sum(job["progress"]["failed"] for job in t.jobs("2026-04-16", "2026-04-16~"))),
    ("Which is the newest job?",
     'ddbfs ls --limit 1 "$JOBS/latest"', 1, 0.5, lambda t: name_of(t.jobs()[-1])),
    ("When did the last three jobs start, and what is their status?",
     'ddbfs cat --limit 3 "$JOBS/latest@csv:created_at,status"', 1, 0.5,
     lambda t: lines(["created_at,status", *(f"{job['created_at']},{job['status']}" for job in t.jobs()[:-4:-1])])),
    # One record.
    ("What is the status of this job?",
     'ddbfs cat "$JOB@/status"', 2, 1, lambda t: t.job()["status"]),
    ("How many documents did this job process?",
     'ddbfs cat "$JOB" | jq .progress.processed', 2, 1, lambda t: t.job()["progress"]["processed"]),
    # What leads to what.
    ("What is the batch size of its index?",
     'ddbfs cat "$JOB@links/settings" | jq .add_docs_config.batch_size', 3, 1.5,
     lambda t: t.settings(t.job()["system_account_id"], t.job()["index_name"])["add_docs_config"]["batch_size"]),
    ("Which plan does the shop of this job have?",
     'ddbfs cat "$JOB@links/shop/SETTINGS@/plan"', 3, 1.5,
     lambda t: t.shop_settings(t.job()["shop_domain"])["plan"]),
    ("Which language does the active index of the shop have?",
     f'ddbfs cat "$SHOPS/{COOL}/SETTINGS@links/settings" | jq -r .create_index_config.language', 2, 1,
     lambda t: t.settings(t.shop_settings(COOL)["system_account_id"],
                          t.shop_settings(COOL)["active_index"])["create_index_config"]["language"]),
    ("Which index is active in the shop of the last failed job?",
     'ddbfs cat "$STATE/FAILED/$(ddbfs ls --limit 1 "$STATE/FAILED")@links/shop/SETTINGS@/active_index"', 3, 1.5,
     lambda t: t.shop_settings(last_failed(t)["shop_domain"])["active_index"]),
    ("Which shops belong to the account?",
     'ddbfs ls "$SHOPS/by-account/kl7a9h55"', 1, 0.5,
     lambda t: lines(sorted(each["shop_domain"] for each in
                            t.query("ShopifyEntitiesTable", "system_account_id = :a", index="GSI_SystemAccountId",
                                    a="kl7a9h55")))),
    # Environments, and costs.
    ("Which branches have tables?",
     "ddbfs ls / | grep ^dev-", 1, 0,
     lambda t: lines(sorted({each.removesuffix("-EcomIndexerJobsTable") + "/" for each in
                             t.boto.list_tables()["TableNames"]
                             if each.startswith("dev-") and each.endswith("-EcomIndexerJobsTable")}))),
    ("Which items of the shop exist in production, but not in staging?",
     "ddbfs diff --json \"$SHOPS/" + COOL + "\" /staging/shops/" + COOL + " | jq -r 'select(.kind == \"removed\").a'", 2, 1,
     lambda t: lines(f"/prod/shops/{COOL}/{name}" for name in t.names(COOL, "prod") if name not in t.names(COOL, "staging"))),
    ("How many RCU does a read of all jobs take?",
     'ddbfs cat "$JOBS/all@info" | jq .capacity', 1, 4, lambda t: (t.jobs(), number(decimal.Decimal(str(t.units))))[1]),
]  # fmt: skip

# In SQL: the statement, with the conditions of CONDITIONS; requests; RCU. Two questions are not about items.
CONDITIONS = {
    "ALL": f"platform = 'shopify' and shop_id = '{SHOP}'",
    "FAILED": f"shop_id = '{SHOP}' and status = 'FAILED'",
    "ID": f"job_id = '{JOB_ID}'",
}
SQL = {
    "How many jobs does the index have?":
        ("select count(*) from prod.jobs where $ALL", 1, 4),
    "How many jobs of the shop failed, on all platforms?":
        ("select count(*) from prod.jobs where $FAILED", 1, 0.5),
    "How many jobs started on 16 April?":
        ("select count(*) from prod.jobs where $ALL and created_at like '2026-04-16%'", 1, 0.5),
    "How many jobs are pending, how many in progress?":
        (f"select count(*) from prod.jobs where shop_id = '{SHOP}' and status in ('PENDING', 'IN_PROGRESS') "
         "group by status order by status desc", 2, 1),
    "How many jobs took more than one attempt?":
        ("select count(*) from prod.jobs where $ALL and attempt > 1", 1, 4),
    "How many sessions does the shop have?":
        (f"select count(*) from prod.shops where domain = '{COOL}' and entity_type = 'SESSION'", 1, 0.5),
    "How many jobs are in each state?":
        ("select status, count(*) from prod.jobs where $ALL group by 1 order by 1", 1, 4),
    "Which error is the most common?":
        ("select error_code from prod.jobs where $FAILED group by 1 order by count(*) desc limit 1", 2, 2.5),
    "How many jobs of each type on 16 April?":
        ("select job_type, count(*) from prod.jobs where $ALL and created_at like '2026-04-16%' group by 1 order by 1", 1, 0.5),
    "How many documents of each locale were processed?":
        ("select settings ->> 'locale' locale, sum(progress ->> 'processed') from prod.jobs where $ALL group by 1 order by 1", 1, 4),
    "Which job processed the most documents?":
        ("select job_id from prod.jobs where $ALL order by progress ->> 'processed' desc limit 1", 1, 4),
    "What is the greatest number of attempts?":
        ("select max(attempt) from prod.jobs where $ALL", 1, 4),
    "When did the first job start, and when the last?":
        ("select min(created_at), max(created_at) from prod.jobs where $ALL", 1, 4),
    "What is the worst latency (p99) of the failed jobs?":
        ("select max(stats ->> '$.latency_ms.p99') from prod.jobs where $FAILED", 2, 2.5),
    "When was the last sign-in to the shop?":
        (f"select max(last_updated) from prod.shops where domain = '{COOL}' and entity_type = 'SESSION'", 1, 0.5),
    "How many jobs started on 14 and 15 April?":
        ("select count(*) from prod.jobs where $ALL and created_at between '2026-04-14' and '2026-04-16'", 1, 2),
    "Which jobs of 14 and 15 April are pending?":
        ("select created_at || '#' || job_id name from prod.jobs where $ALL and created_at between '2026-04-14' and '2026-04-16' "
         "and status = 'PENDING' order by 1", 1, 2),
    "How many documents failed on 16 April?":
        ("select sum(progress ->> 'failed') from prod.jobs where $ALL and created_at like '2026-04-16%'", 1, 0.5),
    "Which is the newest job?":
        ("select created_at || '#' || job_id name from prod.jobs where $ALL order by created_at desc limit 1", 1, 0.5),
    "When did the last three jobs start, and what is their status?":
        ("select created_at, status from prod.jobs where $ALL order by created_at desc limit 3", 1, 0.5),
    "What is the status of this job?":
        ("select status from prod.jobs where $ID", 2, 1),
    "How many documents did this job process?":
        ("select progress ->> 'processed' from prod.jobs where $ID", 2, 1),
    "What is the batch size of its index?":
        ("select s.add_docs_config ->> 'batch_size' from prod.jobs j join prod.\"index-settings\" s "
         "on s.pk = j.system_account_id and s.sk = 'INDEX#' || j.index_name where j.$ID", 3, 1.5),
    "Which plan does the shop of this job have?":
        ("select s.plan from prod.jobs j join prod.shops s on s.domain = j.shop_domain and s.sk = 'SETTINGS' where j.$ID", 3, 1.5),
    "Which language does the active index of the shop have?":
        ("select i.create_index_config ->> 'language' from prod.shops s join prod.\"index-settings\" i "
         f"on i.pk = s.system_account_id and i.sk = 'INDEX#' || s.active_index where s.domain = '{COOL}' and s.sk = 'SETTINGS'", 2, 1),
    "Which index is active in the shop of the last failed job?":
        ("select s.active_index from (select shop_domain from prod.jobs where $FAILED order by created_at desc limit 1) j "
         "join prod.shops s on s.domain = j.shop_domain and s.sk = 'SETTINGS'", 3, 2),
    "Which shops belong to the account?":
        ("select shop_domain from prod.shops where system_account_id = 'kl7a9h55' and sk = 'SETTINGS' order by 1", 1, 0.5),
    "Which items of the shop exist in production, but not in staging?":
        (f"select '/prod/shops/{COOL}/' || sk path from prod.shops where domain = '{COOL}' except "
         f"select '/prod/shops/{COOL}/' || sk from staging.shops where domain = '{COOL}'", 2, 1),
}  # fmt: skip


def statement_of(question):
    """The statement, with the conditions in place of their names."""
    text = SQL[question][0]
    for name, condition in CONDITIONS.items():
        text = text.replace(f"${name}", condition)
    return text
