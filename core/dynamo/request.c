#include "core/dynamo/request.h"

#include <stdio.h>
#include <stdlib.h>

const char *dynamo_op_name(enum dynamo_op op)
{
    switch (op) {
    case DYNAMO_GET_ITEM:
        return "GetItem";
    case DYNAMO_BATCH_GET_ITEM:
        return "BatchGetItem";
    case DYNAMO_QUERY:
        return "Query";
    case DYNAMO_SCAN:
        return "Scan";
    case DYNAMO_SEARCH_VECTORS:
        return "SearchVectors";
    case DYNAMO_DESCRIBE_TABLE:
        return "DescribeTable";
    case DYNAMO_LIST_TABLES:
        return "ListTables";
    case DYNAMO_DESCRIBE_TIME_TO_LIVE:
        return "DescribeTimeToLive";
    case DYNAMO_LIST_BACKUPS:
        return "ListBackups";
    case DYNAMO_DESCRIBE_CONTINUOUS_BACKUPS:
        return "DescribeContinuousBackups";
    case DYNAMO_DESCRIBE_STREAM:
        return "DescribeStream";
    case DYNAMO_GET_SHARD_ITERATOR:
        return "GetShardIterator";
    case DYNAMO_GET_RECORDS:
        return "GetRecords";
    case DYNAMO_TRANSACT_GET_ITEMS:
        return "TransactGetItems";
    case DYNAMO_LIST_EXPORTS:
        return "ListExports";
    }
    return "";
}

enum dynamo_op dynamo_op_permission(enum dynamo_op op)
{
    return op == DYNAMO_TRANSACT_GET_ITEMS ? DYNAMO_GET_ITEM : op;
}

bool dynamo_op_is_of_account(enum dynamo_op op)
{
    return op == DYNAMO_LIST_TABLES || op == DYNAMO_LIST_BACKUPS || op == DYNAMO_LIST_EXPORTS;
}

bool dynamo_op_is_of_streams(enum dynamo_op op)
{
    return op == DYNAMO_DESCRIBE_STREAM || op == DYNAMO_GET_SHARD_ITERATOR ||
           op == DYNAMO_GET_RECORDS;
}

enum dynamo_op request_op(const struct read *read)
{
    switch (read->kind) {
    case READ_ITEMS:
        return read->key_count == 1 ? DYNAMO_GET_ITEM : DYNAMO_BATCH_GET_ITEM;
    case READ_QUERY:
        return DYNAMO_QUERY;
    case READ_TABLES:
        return DYNAMO_LIST_TABLES;
    case READ_SCAN:
        return DYNAMO_SCAN;
    case READ_SIMILAR:
        return DYNAMO_SEARCH_VECTORS;
    case READ_EXPIRY:
        return DYNAMO_DESCRIBE_TIME_TO_LIVE;
    case READ_BACKUPS:
        return DYNAMO_LIST_BACKUPS;
    case READ_RECOVERY:
        return DYNAMO_DESCRIBE_CONTINUOUS_BACKUPS;
    case READ_STREAM:
        return DYNAMO_DESCRIBE_STREAM;
    case READ_ITERATOR:
        return DYNAMO_GET_SHARD_ITERATOR;
    case READ_CHANGES:
        return DYNAMO_GET_RECORDS;
    case READ_TOGETHER:
        return DYNAMO_TRANSACT_GET_ITEMS;
    case READ_EXPORTS:
        return DYNAMO_LIST_EXPORTS;
    case READ_TABLE:
        break;
    }
    return DYNAMO_DESCRIBE_TABLE;
}

/* The aliases of one request. Each attribute has one alias. */
struct aliases {
    struct alias {
        struct span name; /* the Read's */
        bool projected;
    } * names; /* owned */
    size_t name_count;
    size_t value_count;
    struct json_writer values; /* of the request's values; begun with the first */
};

static void request_clean_up_aliases(struct aliases *aliases)
{
    free(aliases->names);
}

static size_t request_alias(struct aliases *aliases, struct span name)
{
    size_t i = 0;
    while (i < aliases->name_count && !span_equal(aliases->names[i].name, name))
        i++;
    if (i == aliases->name_count)
        aliases->names[aliases->name_count++].name = name;
    return i;
}

static size_t request_add_value(struct aliases *aliases, struct value value)
{
    char alias[32];
    size_t i = aliases->value_count++;
    if (i == 0)
        json_writer_begin_object(&aliases->values, NULL, JSON_TIGHT);
    snprintf(alias, sizeof alias, ":v%zu", i);
    value_write(json_writer_add_value(&aliases->values, alias), value);
    return i;
}

static void request_write_path(struct aliases *aliases, const struct cond *cond, struct buf *out)
{
    buf_printf(out, "#n%zu", request_alias(aliases, cond->attribute));
    for (size_t i = 0; i < cond->step_count; i++) {
        const struct cond_step *step = &cond->steps[i];
        if (step->is_index)
            buf_printf(out, "[%lu]", (unsigned long)step->index);
        else
            buf_printf(out, ".#n%zu", request_alias(aliases, step->name));
    }
}

/* An "and" or an "or" of one condition is that condition. */
static const struct cond *request_without_only_children(const struct cond *cond)
{
    while ((cond->op == COND_AND || cond->op == COND_OR) && cond->child_count == 1)
        cond = cond->children;
    return cond;
}

/* The children of "and" and "or" are in brackets, and only if there are
 * several: the service refuses brackets within brackets. */
static void request_write_cond(struct aliases *aliases, const struct cond *cond, struct buf *out)
{
    cond = request_without_only_children(cond);
    const char *word = cond_word(cond->op);
    switch (cond->op) {
    case COND_AND:
    case COND_OR:
        for (size_t i = 0; i < cond->child_count; i++) {
            const char *between = cond->op == COND_AND ? ") AND (" : ") OR (";
            buf_add_text(out, i ? between : "(");
            request_write_cond(aliases, &cond->children[i], out);
        }
        buf_add_char(out, ')');
        return;
    case COND_NOT:
        buf_add_text(out, "NOT (");
        request_write_cond(aliases, cond->children, out);
        buf_add_char(out, ')');
        return;
    case COND_BEGINS:
    case COND_CONTAINS:
    case COND_EXISTS:
    case COND_MISSING:
        buf_add_text(out, cond->op == COND_BEGINS     ? "begins_with("
                          : cond->op == COND_CONTAINS ? "contains("
                          : cond->op == COND_EXISTS   ? "attribute_exists("
                                                      : "attribute_not_exists(");
        request_write_path(aliases, cond, out);
        if (cond->op == COND_BEGINS || cond->op == COND_CONTAINS)
            buf_printf(out, ", :v%zu", request_add_value(aliases, cond->value));
        buf_add_char(out, ')');
        return;
    case COND_IN:
        request_write_path(aliases, cond, out);
        for (size_t i = 0; i < cond->list_count; i++)
            buf_printf(out, "%s:v%zu", i ? ", " : " IN (",
                       request_add_value(aliases, cond->list[i]));
        buf_add_char(out, ')');
        return;
    case COND_BETWEEN:
        request_write_path(aliases, cond, out);
        buf_printf(out, " BETWEEN :v%zu", request_add_value(aliases, cond->value));
        buf_printf(out, " AND :v%zu", request_add_value(aliases, cond->upper));
        return;
    case COND_NE:
        word = "<>";
        break;
    case COND_EQ:
    case COND_LT:
    case COND_LE:
    case COND_GT:
    case COND_GE:
        break;
    }
    request_write_path(aliases, cond, out);
    buf_printf(out, " %s :v%zu", word, request_add_value(aliases, cond->value));
}

/* Joins the conditions by AND. */
static void request_write_conds(struct aliases *aliases, const struct cond *conds, size_t count,
                                struct buf *out)
{
    for (size_t i = 0; i < count; i++) {
        bool brackets = count > 1 && request_without_only_children(&conds[i])->child_count > 1;
        buf_printf(out, "%s%s", i ? " AND " : "", brackets ? "(" : "");
        request_write_cond(aliases, &conds[i], out);
        buf_add_text(out, brackets ? ")" : "");
    }
}

/* The most names that the conditions can have. */
static size_t request_count_names(const struct cond *conds, size_t count)
{
    size_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum +=
            1 + conds[i].step_count + request_count_names(conds[i].children, conds[i].child_count);
    return sum;
}

static void request_project(struct aliases *aliases, struct span name, struct buf *out)
{
    size_t i = request_alias(aliases, name);
    if (!aliases->names[i].projected)
        buf_printf(out, "%s#n%zu", out->size ? ", " : "", i);
    aliases->names[i].projected = true;
}

struct projection_of {
    struct aliases *aliases;
    struct buf *out;
};

static bool request_project_one(void *arg, struct span attribute)
{
    struct projection_of *of = arg;
    request_project(of->aliases, attribute, of->out);
    return true;
}

/* The projection always has the attributes by which a response is verified: the
 * key of a Read by keys; the attributes of the key condition, of the order and
 * of the filter. They cost nothing: the service reads whole items, and every
 * index has its own keys and the table's. An index may lack attributes of the
 * filter, and a request for those would be refused. */
static void request_write_projection(struct aliases *aliases, const struct read *read,
                                     struct buf *out)
{
    const struct key *key = read->kind == READ_ITEMS ? &read->keys[0] : NULL;
    for (size_t i = 0; i < read->attribute_count; i++)
        request_project(aliases, read->attributes[i], out);
    for (size_t i = 0; i < read->where_count && out->size; i++)
        request_project(aliases, read->where[i].attribute, out);
    for (size_t i = 0; i < read->sort_count && out->size; i++)
        request_project(aliases, read->sort[i], out);
    for (size_t i = 0; i < read->own_key_count && out->size; i++)
        request_project(aliases, read->own_key[i], out);
    for (size_t i = 0; i < read->filter_count && out->size && !read->index; i++)
        cond_each_attribute(&read->filter[i], request_project_one,
                            &(struct projection_of){aliases, out});
    for (size_t i = 0; key && i < key->count && out->size; i++)
        request_project(aliases, key->attributes[i].name, out);
}

void request_write_key(const struct key *key, struct buf *out)
{
    struct json_writer json = json_writer_to(out);
    json_writer_begin_object(&json, NULL, JSON_TIGHT);
    for (size_t i = 0; i < key->count; i++) {
        json_writer_add_name(&json, key->attributes[i].name);
        value_write(json_writer_add_value(&json, NULL), key->attributes[i].value);
    }
    json_writer_end(&json);
}

static void request_write_keys(struct request *request, const struct read *read)
{
    struct json_writer json = json_writer_to(&request->keys);
    if (request->op == DYNAMO_GET_ITEM)
        request_write_key(&read->keys[0], &request->keys);
    if (request->op != DYNAMO_BATCH_GET_ITEM)
        return;
    json_writer_begin_array(&json, NULL, JSON_TIGHT);
    for (size_t i = 0; i < read->key_count; i++)
        request_write_key(&read->keys[i], json_writer_add_value(&json, NULL));
    json_writer_end(&json);
}

static void request_write_names(const struct aliases *aliases, struct buf *out)
{
    char alias[32];
    struct json_writer json = json_writer_to(out);
    if (aliases->name_count == 0)
        return;
    json_writer_begin_object(&json, NULL, JSON_TIGHT);
    for (size_t i = 0; i < aliases->name_count; i++) {
        snprintf(alias, sizeof alias, "#n%zu", i);
        json_writer_add_string(&json, alias, aliases->names[i].name);
    }
    json_writer_end(&json);
}

static void request_add_expressions(const struct request *request, struct json_writer *json);

/* Writes the items of a transaction, each with a projection of its own. There is no ConsistentRead:
 * a transaction is consistent. */
static bool request_write_parts(struct request *request, const struct read *read,
                                const char *const *keys)
{
    struct json_writer json = json_writer_to(&request->keys);
    bool ok = true;
    json_writer_begin_array(&json, NULL, JSON_TIGHT);
    for (size_t i = 0; ok && i < read->part_count; i++) {
        CLEAN_UP(request_clean_up) struct request part;
        ok = request_init(&part, read->parts[i]);
        part.consistent = false;
        json_writer_begin_object(&json, NULL, JSON_TIGHT);
        json_writer_begin_object(&json, "Get", JSON_TIGHT);
        json_writer_add_text(&json, "TableName", part.table);
        json_writer_add_raw(&json, "Key",
                            keys && keys[i] ? span_text(keys[i]) : buf_span(&part.keys));
        request_add_expressions(&part, &json);
        json_writer_end(&json);
        json_writer_end(&json);
    }
    json_writer_end(&json);
    return ok && !request->keys.failed;
}

bool request_init_together(struct request *request, const struct read *read,
                           const char *const *keys)
{
    *request = (struct request){.op = DYNAMO_TRANSACT_GET_ITEMS};
    return request_write_parts(request, read, keys);
}

bool request_init(struct request *request, const struct read *read)
{
    if (read->kind == READ_TOGETHER)
        return request_init_together(request, read, NULL);
    size_t most = request_count_names(read->where, read->where_count) +
                  request_count_names(read->filter, read->filter_count) + read->attribute_count +
                  read->sort_count + KEY_MAX_BASE_ATTRIBUTES;
    bool is_stream = dynamo_op_is_of_streams(request_op(read));
    *request = (struct request){
        .op = request_op(read),
        .table = read->kind == READ_TABLES || is_stream ? NULL
                 : read->kind != READ_EXPORTS           ? read->table
                 : read->table_arn                      ? read->table_arn
                                                        : "",
        .stream = is_stream ? &read->stream : NULL,
        .index = read->index,
        .descending = read->descending,
        .consistent = read->consistent,
        .counts = read->counts,
        .segment = read->segment,
        .segments = read->segments,
        .is_partial = read->kind == READ_SIMILAR && read->vector.size == 0,
        .vector = read->vector,
    };
    CLEAN_UP(request_clean_up_aliases)
    struct aliases aliases = {.names = calloc(most, sizeof *aliases.names),
                              .values = json_writer_to(&request->values)};
    if (!aliases.names)
        return false;
    request_write_keys(request, read);
    request_write_conds(&aliases, read->where, read->where_count, &request->key_condition);
    request_write_conds(&aliases, read->filter, read->filter_count, &request->filter);
    request_write_projection(&aliases, read, &request->projection);
    request_write_names(&aliases, &request->names);
    if (aliases.value_count)
        json_writer_end(&aliases.values);
    /* The service counts Limit before the filter: with a filter it would only
     * make pages small. */
    if (read->limit < INT32_MAX && read->filter_count == 0)
        request->limit = read->limit + read->ties; /* one more shows the end of the ties */
    return !request->keys.failed && !request->key_condition.failed && !request->filter.failed &&
           !request->projection.failed && !request->names.failed && !request->values.failed;
}

void request_clean_up(struct request *request)
{
    buf_clean_up(&request->keys);
    buf_clean_up(&request->key_condition);
    buf_clean_up(&request->filter);
    buf_clean_up(&request->projection);
    buf_clean_up(&request->names);
    buf_clean_up(&request->values);
}

/* The common members of GetItem, Query, Scan, each table of a BatchGetItem and
 * each item of a TransactGetItems. */
static void request_add_expressions(const struct request *request, struct json_writer *json)
{
    if (request->key_condition.size)
        json_writer_add_string(json,
                               request->op == DYNAMO_SEARCH_VECTORS ? "SearchConditionExpression"
                                                                    : "KeyConditionExpression",
                               buf_span(&request->key_condition));
    if (request->filter.size)
        json_writer_add_string(json, "FilterExpression", buf_span(&request->filter));
    if (request->projection.size)
        json_writer_add_string(json, "ProjectionExpression", buf_span(&request->projection));
    if (request->names.size)
        json_writer_add_raw(json, "ExpressionAttributeNames", buf_span(&request->names));
    if (request->values.size)
        json_writer_add_raw(json, "ExpressionAttributeValues", buf_span(&request->values));
    if (request->consistent)
        json_writer_add_bool(json, "ConsistentRead", true);
}

/* If the first entries of a query were not enough, its next pages have no
 * limit, unless the payer has little left. A Scan is a sample: each of its
 * pages has the limit. */
static void request_add_position(const struct request *request, struct span resume,
                                 struct json_writer *json)
{
    bool whole = resume.size && request->op != DYNAMO_SCAN;
    uint32_t first = whole ? 0 : request->limit;
    uint32_t limit = request->page ? request->page : first;
    if (resume.size)
        json_writer_add_raw(json, "ExclusiveStartKey", resume);
    if (limit)
        json_writer_add_integer(json, "Limit", limit);
}

const char *request_stream_at(enum stream_at at)
{
    static const char *const words[] = {
        [STREAM_OLDEST] = "TRIM_HORIZON",
        [STREAM_LATEST] = "LATEST",
        [STREAM_AFTER] = "AFTER_SEQUENCE_NUMBER",
    };
    return words[at];
}

static void request_write_stream(const struct request *request, struct span resume,
                                 struct json_writer *json)
{
    const struct read_stream *stream = request->stream;
    if (request->op == DYNAMO_GET_RECORDS) {
        json_writer_add_string(json, "ShardIterator", stream->iterator);
        return;
    }
    json_writer_add_string(json, "StreamArn", stream->arn);
    if (request->op == DYNAMO_GET_SHARD_ITERATOR) {
        json_writer_add_string(json, "ShardId", stream->shard);
        json_writer_add_text(json, "ShardIteratorType", request_stream_at(stream->at));
        if (stream->at == STREAM_AFTER)
            json_writer_add_string(json, "SequenceNumber", stream->sequence);
    } else if (resume.size) {
        json_writer_add_raw(json, "ExclusiveStartShardId", resume);
    }
}

/* Whether it reads items, which consumes capacity. */
static bool request_consumes(enum dynamo_op op)
{
    return op <= DYNAMO_SEARCH_VECTORS || op == DYNAMO_TRANSACT_GET_ITEMS;
}

static void request_write_batch(const struct request *request, struct span resume,
                                struct json_writer *json)
{
    json_writer_begin_object(json, "RequestItems", JSON_TIGHT);
    json_writer_begin_object(json, request->table, JSON_TIGHT);
    json_writer_add_raw(json, "Keys", resume.size ? resume : buf_span(&request->keys));
    request_add_expressions(request, json);
    json_writer_end(json);
    json_writer_end(json);
}

static void request_write_query(const struct request *request, struct span resume,
                                struct json_writer *json)
{
    if (request->index)
        json_writer_add_text(json, "IndexName", request->index);
    if (request->counts)
        json_writer_add_text(json, "Select", "COUNT");
    request_add_expressions(request, json);
    if (request->descending)
        json_writer_add_bool(json, "ScanIndexForward", false);
    request_add_position(request, resume, json);
}

static void request_write_scan(const struct request *request, struct span resume,
                               struct json_writer *json)
{
    request_add_expressions(request, json);
    if (request->segments) {
        json_writer_add_integer(json, "Segment", request->segment);
        json_writer_add_integer(json, "TotalSegments", request->segments);
    }
    request_add_position(request, resume, json);
}

bool request_write(const struct request *request, struct span resume, struct buf *out)
{
    struct json_writer json = json_writer_to(out);
    json_writer_begin_object(&json, NULL, JSON_TIGHT);
    if (request->table && request->op != DYNAMO_BATCH_GET_ITEM)
        json_writer_add_text(&json, request->op == DYNAMO_LIST_EXPORTS ? "TableArn" : "TableName",
                             request->table);
    switch (request->op) {
    case DYNAMO_GET_ITEM:
        json_writer_add_raw(&json, "Key", buf_span(&request->keys));
        request_add_expressions(request, &json);
        break;
    case DYNAMO_BATCH_GET_ITEM:
        request_write_batch(request, resume, &json);
        break;
    case DYNAMO_QUERY:
        request_write_query(request, resume, &json);
        break;
    case DYNAMO_SCAN:
        request_write_scan(request, resume, &json);
        break;
    case DYNAMO_SEARCH_VECTORS:
        json_writer_add_text(&json, "IndexName", request->index);
        json_writer_add_raw(&json, "SearchVector", request->vector);
        json_writer_add_integer(&json, "TopK", request->limit);
        request_add_expressions(request, &json);
        break;
    case DYNAMO_DESCRIBE_TABLE:
    case DYNAMO_DESCRIBE_TIME_TO_LIVE:
    case DYNAMO_DESCRIBE_CONTINUOUS_BACKUPS:
        break;
    case DYNAMO_TRANSACT_GET_ITEMS:
        json_writer_add_raw(&json, "TransactItems", buf_span(&request->keys));
        break;
    case DYNAMO_LIST_TABLES:
        if (resume.size)
            json_writer_add_raw(&json, "ExclusiveStartTableName", resume);
        break;
    case DYNAMO_LIST_BACKUPS: /* ALL: also those that services made */
        json_writer_add_text(&json, "BackupType", "ALL");
        if (resume.size)
            json_writer_add_raw(&json, "ExclusiveStartBackupArn", resume);
        break;
    case DYNAMO_DESCRIBE_STREAM:
    case DYNAMO_GET_SHARD_ITERATOR:
    case DYNAMO_GET_RECORDS:
        request_write_stream(request, resume, &json);
        break;
    case DYNAMO_LIST_EXPORTS:
        if (resume.size)
            json_writer_add_raw(&json, "NextToken", resume);
        break;
    }
    if (request_consumes(request->op))
        json_writer_add_text(&json, "ReturnConsumedCapacity", "TOTAL");
    json_writer_end(&json);
    return !out->failed;
}
