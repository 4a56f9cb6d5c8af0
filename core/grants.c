#include "core/grants.h"

#include "core/aws/arn.h"
#include "core/dynamo/policy_document.h"
#include "core/map/map.h"
#include "core/plan/plan.h"

/* One environment, while its grants are collected. */
struct granted {
    struct policy *policy;
    struct buf region, account; /* "*" where they are not known */
    struct buf prefix;          /* of its tables' names */
};

static void grants_granted_clean_up(struct granted *granted)
{
    buf_clean_up(&granted->region);
    buf_clean_up(&granted->account);
    buf_clean_up(&granted->prefix);
}

static void grants_grant(struct granted *granted, enum dynamo_op op, const struct model *table,
                         const char *index)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0}, arn = {0};
    if (table)
        buf_printf(&name, "%s%s", buf_text(&granted->prefix), table->base_name);
    arn_write(&arn, buf_text(&granted->region), buf_text(&granted->account),
              table ? buf_text(&name) : NULL, index);
    policy_grant(granted->policy, op, buf_span(&arn));
    granted->policy->failed |= name.failed || arn.failed;
}

static void grants_grant_table(struct granted *granted, const struct model *table)
{
    struct plan_operations needed;
    plan_find_operations(table, &needed);
    if (needed.get)
        grants_grant(granted, DYNAMO_GET_ITEM, table, NULL);
    if (needed.batch_get)
        grants_grant(granted, DYNAMO_BATCH_GET_ITEM, table, NULL);
    if (needed.query)
        grants_grant(granted, DYNAMO_QUERY, table, NULL);
    for (const struct map_index *index = table->indexes; index; index = index->next)
        if (plan_queries_index(table, index))
            grants_grant(granted, DYNAMO_QUERY, table, index->name);
    grants_grant(granted, DYNAMO_DESCRIBE_TABLE, table, NULL); /* mount's first call; check */
}

/* Which tables there are only the service knows: "table/…/" matches their indexes, too. */
static void grants_grant_all_tables(struct granted *granted, bool scan)
{
    CLEAN_UP(buf_clean_up) struct buf any = {0};
    arn_write(&any, buf_text(&granted->region), buf_text(&granted->account), "*", NULL);
    for (int op = 0; op < DYNAMO_OPS; op++)
        if (dynamo_op_is_of_account((enum dynamo_op)op))
            grants_grant(granted, (enum dynamo_op)op, NULL, NULL);
        else if (op != DYNAMO_SCAN || scan)
            policy_grant(granted->policy, (enum dynamo_op)op, buf_span(&any));
    granted->policy->failed |= any.failed;
}

bool grants_write(struct sources *sources, const struct map *map, const char *environment,
                  const struct grants_more *more, bool compact, struct buf *out, struct error *err)
{
    CLEAN_UP(policy_clean_up) struct policy policy = {0};
    struct bindings values;
    bool found = map_is_none(map) && !environment;
    if (found) {
        CLEAN_UP(grants_granted_clean_up) struct granted granted = {.policy = &policy};
        sources_locate(sources, NULL, &granted.region, &granted.account);
        grants_grant_all_tables(&granted, more->scan);
        policy.failed |= granted.region.failed || granted.account.failed;
    }
    for (const struct map_environment *each = map->environments; each; each = each->next) {
        CLEAN_UP(grants_granted_clean_up) struct granted granted = {.policy = &policy};
        if (!map_environment_is_named(map, each, environment, &values))
            continue;
        found = true;
        sources_locate(sources, each, &granted.region, &granted.account);
        format_expand(&each->prefix, &values, &granted.prefix);
        for (size_t i = 0; i < map->model_count; i++)
            grants_grant_table(&granted, map->models[i]);
        /* The names of such environments are found among those of the tables. */
        if (!format_is_literal(&each->name))
            grants_grant(&granted, DYNAMO_LIST_TABLES, NULL, NULL);
        if (more->tables)
            grants_grant_all_tables(&granted, more->scan);
        policy.failed |= granted.region.failed || granted.account.failed || granted.prefix.failed;
    }
    if (map_is_none(map) && !found)
        return error_set(err, ERROR_INVALID, "without a map there is no environment \"%s\"",
                         environment);
    if (!found)
        return map_refuse_environment(map, environment, err);
    return policy_write(&policy, compact, out) || error_no_memory(err);
}
