#include "core/grants.h"

#include <stdlib.h>

#include "core/aws/arn.h"
#include "core/dynamo/request.h"
#include "core/json/writer.h"
#include "core/map/map.h"
#include "core/plan/plan.h"

/* The operations that are granted on one resource. Those that read items share a grant, and those
 * of streams another one. Each other operation has a grant of its own, and so has a Scan: a user
 * removes it by removing one statement. */
struct policy_grant {
    char *resource; /* owned */
    unsigned ops;   /* bits, 1 << enum dynamo_op */
};

/* {0} grants nothing. */
struct policy {
    struct policy_grant *grants; /* owned; in the order in which they were added */
    size_t count;
    bool failed; /* memory ran out */
};

static void grants_clean_up_policy(struct policy *policy)
{
    for (size_t i = 0; i < policy->count; i++)
        free(policy->grants[i].resource);
    free(policy->grants);
    *policy = (struct policy){0};
}

/* Grants OP on RESOURCE, an ARN or "*", which is copied. */
static void grants_add(struct policy *policy, enum dynamo_op op, struct span resource)
{
    unsigned items = 1u << DYNAMO_GET_ITEM | 1u << DYNAMO_BATCH_GET_ITEM | 1u << DYNAMO_QUERY;
    unsigned streams =
        1u << DYNAMO_DESCRIBE_STREAM | 1u << DYNAMO_GET_SHARD_ITERATOR | 1u << DYNAMO_GET_RECORDS;
    unsigned alike = items & 1u << op ? items : streams & 1u << op ? streams : 1u << op;
    for (size_t i = 0; i < policy->count; i++)
        if ((policy->grants[i].ops & alike) && span_is(resource, policy->grants[i].resource)) {
            policy->grants[i].ops |= 1u << op;
            return;
        }
    struct policy_grant *grants =
        reallocarray(policy->grants, policy->count + 1, sizeof *policy->grants);
    char *copy = strndup(resource.data, resource.size);
    if (grants)
        policy->grants = grants;
    if (!grants || !copy) {
        policy->failed = true;
        free(copy);
        return;
    }
    policy->grants[policy->count++] = (struct policy_grant){copy, 1u << op};
}

/* Writes the statement for all resources on which OPS are granted. */
static void grants_write_statement(const struct policy *policy, unsigned ops, bool compact,
                                   struct json_writer *json)
{
    CLEAN_UP(buf_clean_up) struct buf sid = {0};
    enum json_style lines = compact ? JSON_TIGHT : JSON_LINES;
    for (unsigned op = 0; op < DYNAMO_OPS; op++)
        if (ops & 1u << op)
            buf_add_text(&sid, dynamo_op_name((enum dynamo_op)op));
    json_writer_begin_object(json, NULL, lines);
    json_writer_add_string(json, "Sid", buf_span(&sid));
    json_writer_add_text(json, "Effect", "Allow");
    json_writer_begin_array(json, "Action", compact ? JSON_TIGHT : JSON_SPACED);
    for (unsigned op = 0; op < DYNAMO_OPS; op++)
        if (ops & 1u << op)
            buf_printf(json_writer_add_value(json, NULL), "\"dynamodb:%s\"",
                       dynamo_op_name((enum dynamo_op)op));
    json_writer_end(json);
    json_writer_begin_array(json, "Resource", lines);
    for (size_t i = 0; i < policy->count; i++)
        if (policy->grants[i].ops == ops)
            json_writer_add_text(json, NULL, policy->grants[i].resource);
    json_writer_end(json);
    json_writer_end(json);
    json->out->failed |= sid.failed;
}

static bool grants_is_first_of_its_ops(const struct policy *policy, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (policy->grants[i].ops == policy->grants[at].ops)
            return false;
    return true;
}

/* Appends the document, one statement for the resources with the same operations. False when memory
 * ran out. */
static bool grants_write_policy(const struct policy *policy, bool compact, struct buf *out)
{
    enum json_style lines = compact ? JSON_TIGHT : JSON_LINES;
    struct json_writer json = json_writer_to(out);
    json_writer_begin_object(&json, NULL, lines);
    json_writer_add_text(&json, "Version", "2012-10-17");
    json_writer_begin_array(&json, "Statement", lines);
    for (size_t i = 0; i < policy->count; i++)
        if (grants_is_first_of_its_ops(policy, i))
            grants_write_statement(policy, policy->grants[i].ops, compact, &json);
    json_writer_end(&json);
    json_writer_end(&json);
    buf_add_char(out, '\n');
    return !policy->failed && !out->failed;
}

/* One environment, while its grants are collected. */
struct granted {
    struct policy *policy;
    struct buf region, account; /* "*" if not known */
    struct buf prefix;          /* of its tables' names */
};

static void grants_clean_up(struct granted *granted)
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
    grants_add(granted->policy, op, buf_span(&arn));
    granted->policy->failed |= name.failed || arn.failed;
}

/* Its operations have the streams of a table as their resources, and not the table. */
static void grants_grant_streams(struct granted *granted, const struct model *table)
{
    static const enum dynamo_op ops[] = {DYNAMO_DESCRIBE_STREAM, DYNAMO_GET_SHARD_ITERATOR,
                                         DYNAMO_GET_RECORDS};
    CLEAN_UP(buf_clean_up) struct buf name = {0}, arn = {0};
    buf_printf(&name, "%s%s", buf_text(&granted->prefix), table->base_name);
    arn_write(&arn, buf_text(&granted->region), buf_text(&granted->account), buf_text(&name), NULL);
    buf_add_text(&arn, "/stream/*");
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
        grants_add(granted->policy, ops[i], buf_span(&arn));
    granted->policy->failed |= name.failed || arn.failed;
}

static void grants_grant_table(struct granted *granted, const struct model *table, bool similar)
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
    if (similar)
        grants_grant(granted, DYNAMO_SEARCH_VECTORS, table, "*");
    grants_grant(granted, DYNAMO_DESCRIBE_TABLE, table,
                 NULL); /* the first call of a mount; check */
}

/* The names of the tables are not known: a "*" in the ARN matches all of them and their indexes. */
static void grants_grant_all_tables(struct granted *granted, bool scan)
{
    CLEAN_UP(buf_clean_up) struct buf any = {0};
    arn_write(&any, buf_text(&granted->region), buf_text(&granted->account), "*", NULL);
    for (int op = 0; op < DYNAMO_OPS; op++)
        if (dynamo_op_is_of_account((enum dynamo_op)op))
            grants_grant(granted, (enum dynamo_op)op, NULL, NULL);
        else if (op != DYNAMO_SCAN || scan)
            grants_add(granted->policy, dynamo_op_permission((enum dynamo_op)op), buf_span(&any));
    granted->policy->failed |= any.failed;
}

bool grants_write(struct sources *sources, const struct map *map, const char *environment,
                  const struct grants_more *more, bool compact, struct buf *out, struct error *err)
{
    CLEAN_UP(grants_clean_up_policy) struct policy policy = {0};
    struct bindings values;
    bool found = map_is_none(map) && !environment;
    if (found && !snapshots_are_present(sources_snapshots(sources), NULL)) {
        CLEAN_UP(grants_clean_up) struct granted granted = {.policy = &policy};
        sources_locate(sources, NULL, &granted.region, &granted.account);
        grants_grant_all_tables(&granted, more->scan);
        policy.failed |= granted.region.failed || granted.account.failed;
    }
    for (const struct map_environment *each = map->environments; each; each = each->next) {
        CLEAN_UP(grants_clean_up) struct granted granted = {.policy = &policy};
        if (!map_environment_is_named(map, each, environment, &values))
            continue;
        found = true;
        if (snapshots_are_present(sources_snapshots(sources), each))
            continue;
        sources_locate(sources, each, &granted.region, &granted.account);
        format_expand(&each->prefix, &values, &granted.prefix);
        for (size_t i = 0; i < map->model_count; i++) {
            grants_grant_table(&granted, map->models[i], more->similar);
            if (more->live || each->live)
                grants_grant_streams(&granted, map->models[i]);
        }
        /* Environments with a parameter are found by the names of the tables. */
        if (!format_is_literal(&each->name))
            grants_grant(&granted, DYNAMO_LIST_TABLES, NULL, NULL);
        if (more->tables)
            grants_grant_all_tables(&granted, more->scan);
        policy.failed |= granted.region.failed || granted.account.failed || granted.prefix.failed;
    }
    if (map_is_none(map) && !found)
        return error_set(
            err, ERROR_INVALID,
            "environment \"%s\" does not exist: no map is in use; pass one: --map FILE",
            environment);
    if (!found)
        return map_refuse_environment(map, environment, err);
    if (policy.count == 0 && !policy.failed)
        return error_set(err, ERROR_INVALID,
                         "no permission is needed: all items come from snapshots");
    return grants_write_policy(&policy, compact, out) || error_no_memory(err);
}
