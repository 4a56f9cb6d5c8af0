/* Bodies of requests. Every attribute is aliased: reserved words, dots and dashes are many. */
#include "core/dynamo/request.h"

#include <stdio.h>
#include <stdlib.h>

/* The expressions of one request. Names are told apart, so that an attribute has one alias. */
struct expression {
    struct span *names; /* owned; the spans are the Read's */
    size_t name_count;
    struct buf values; /* members of ExpressionAttributeValues */
    size_t value_count;
};

static void expression_clean_up(struct expression *expression)
{
    free(expression->names);
    buf_clean_up(&expression->values);
}

static bool expression_init(struct expression *expression, const struct read *read)
{
    size_t most = read->where_count + read->filter_count + read->attribute_count;
    expression->names = calloc(most ? most : 1, sizeof *expression->names);
    return expression->names != NULL;
}

const char *dynamo_op_name(enum dynamo_op op)
{
    switch (op) {
    case DYNAMO_GET_ITEM:
        return "GetItem";
    case DYNAMO_BATCH_GET_ITEM:
        return "BatchGetItem";
    case DYNAMO_QUERY:
        return "Query";
    case DYNAMO_DESCRIBE_TABLE:
        return "DescribeTable";
    case DYNAMO_LIST_TABLES:
        return "ListTables";
    }
    return "";
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
    case READ_TABLE:
        break;
    }
    return DYNAMO_DESCRIBE_TABLE;
}

/* Appends `"name":`, after a comma if a member or element stands before it. */
static void add_name(struct buf *out, struct span name)
{
    if (out->size && out->data[out->size - 1] != '{' && out->data[out->size - 1] != '[')
        buf_add_char(out, ',');
    json_write_string(out, name);
    buf_add_char(out, ':');
}

static void add_string(struct buf *out, const char *name, struct span value)
{
    add_name(out, span_text(name));
    json_write_string(out, value);
}

static void add_raw(struct buf *out, const char *name, struct span value)
{
    add_name(out, span_text(name));
    buf_add_span(out, value);
}

static size_t alias_of(struct expression *expression, struct span name)
{
    size_t i = 0;
    while (i < expression->name_count && !span_equal(expression->names[i], name))
        i++;
    if (i == expression->name_count)
        expression->names[expression->name_count++] = name;
    return i;
}

static size_t add_value(struct expression *expression, struct value value)
{
    char alias[24];
    int size = snprintf(alias, sizeof alias, ":v%zu", expression->value_count);
    if (expression->values.size)
        buf_add_char(&expression->values, ',');
    json_write_string(&expression->values, span_of(alias, (size_t)size));
    buf_add_char(&expression->values, ':');
    value_write(&expression->values, value);
    return expression->value_count++;
}

static const char *comparison(enum cond_op op)
{
    switch (op) {
    case COND_LT:
        return "<";
    case COND_LE:
        return "<=";
    case COND_GT:
        return ">";
    case COND_GE:
        return ">=";
    default:
        return "=";
    }
}

static void write_cond(struct expression *expression, const struct cond *cond, struct buf *out)
{
    size_t name = alias_of(expression, cond->attribute);
    size_t value = add_value(expression, cond->value);
    if (cond->op == COND_BEGINS)
        buf_printf(out, "begins_with(#n%zu, :v%zu)", name, value);
    else if (cond->op == COND_BETWEEN)
        buf_printf(out, "#n%zu BETWEEN :v%zu AND :v%zu", name, value,
                   add_value(expression, cond->upper));
    else
        buf_printf(out, "#n%zu %s :v%zu", name, comparison(cond->op), value);
}

static void add_conds(struct expression *expression, const char *member, const struct cond *conds,
                      size_t count, struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    for (size_t i = 0; i < count; i++) {
        if (i)
            buf_add_text(&text, " AND ");
        write_cond(expression, &conds[i], &text);
    }
    if (count)
        add_string(out, member, buf_span(&text));
    out->failed |= text.failed;
}

/* An attribute asked for twice is asked for once: the service refuses paths that overlap. */
static void add_projection(struct expression *expression, const struct read *read, struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    for (size_t i = 0; i < read->attribute_count; i++) {
        size_t known = 0;
        while (!span_equal(read->attributes[known], read->attributes[i]))
            known++;
        if (known < i)
            continue;
        buf_printf(&text, "%s#n%zu", i ? ", " : "", alias_of(expression, read->attributes[i]));
    }
    if (read->attribute_count)
        add_string(out, "ProjectionExpression", buf_span(&text));
    out->failed |= text.failed;
}

static void add_aliases(const struct expression *expression, struct buf *out)
{
    if (expression->name_count) {
        add_raw(out, "ExpressionAttributeNames", SPAN_LITERAL("{"));
        for (size_t i = 0; i < expression->name_count; i++) {
            char alias[24];
            snprintf(alias, sizeof alias, "#n%zu", i);
            add_string(out, alias, expression->names[i]);
        }
        buf_add_char(out, '}');
    }
    if (expression->value_count) {
        add_raw(out, "ExpressionAttributeValues", SPAN_LITERAL("{"));
        buf_add_span(out, buf_span(&expression->values));
        buf_add_char(out, '}');
    }
    out->failed |= expression->values.failed;
}

static void write_key(const struct key *key, struct buf *out)
{
    buf_add_char(out, '{');
    for (size_t i = 0; i < key->count; i++) {
        add_name(out, key->attributes[i].name);
        value_write(out, key->attributes[i].value);
    }
    buf_add_char(out, '}');
}

static void write_keys(const struct read *read, struct buf *out)
{
    buf_add_char(out, '[');
    for (size_t i = 0; i < read->key_count; i++) {
        if (i)
            buf_add_char(out, ',');
        write_key(&read->keys[i], out);
    }
    buf_add_char(out, ']');
}

static void add_consistent(const struct read *read, struct buf *out)
{
    if (read->consistent && !read->index)
        add_raw(out, "ConsistentRead", SPAN_LITERAL("true"));
}

static void add_capacity(struct buf *out)
{
    add_string(out, "ReturnConsumedCapacity", SPAN_LITERAL("TOTAL"));
}

static void write_get_item(struct expression *expression, const struct read *read, struct buf *out)
{
    add_string(out, "TableName", span_text(read->table));
    add_raw(out, "Key", SPAN_LITERAL(""));
    write_key(&read->keys[0], out);
    add_projection(expression, read, out);
    add_aliases(expression, out);
    add_consistent(read, out);
    add_capacity(out);
}

/* What was left unprocessed is asked for again by its keys alone; all else is said anew. */
static void write_batch_get_item(struct expression *expression, const struct read *read,
                                 struct span resume, struct buf *out)
{
    add_raw(out, "RequestItems", SPAN_LITERAL("{"));
    add_name(out, span_text(read->table));
    buf_add_char(out, '{');
    add_raw(out, "Keys", resume);
    if (!resume.size)
        write_keys(read, out);
    add_projection(expression, read, out);
    add_aliases(expression, out);
    add_consistent(read, out);
    buf_add_text(out, "}}");
    add_capacity(out);
}

/* The service counts Limit before the filter, so with a filter it would only make pages small. */
static void add_limit(const struct read *read, struct buf *out)
{
    if (!read->limit || read->limit > INT32_MAX || read->filter_count)
        return;
    add_name(out, SPAN_LITERAL("Limit"));
    buf_printf(out, "%lu", (unsigned long)read->limit);
}

static void write_query(struct expression *expression, const struct read *read, struct span resume,
                        struct buf *out)
{
    add_string(out, "TableName", span_text(read->table));
    if (read->index)
        add_string(out, "IndexName", span_text(read->index));
    add_conds(expression, "KeyConditionExpression", read->where, read->where_count, out);
    add_conds(expression, "FilterExpression", read->filter, read->filter_count, out);
    add_projection(expression, read, out);
    add_aliases(expression, out);
    if (read->descending)
        add_raw(out, "ScanIndexForward", SPAN_LITERAL("false"));
    add_limit(read, out);
    if (resume.size)
        add_raw(out, "ExclusiveStartKey", resume);
    add_consistent(read, out);
    add_capacity(out);
}

static void write_members(struct expression *expression, const struct read *read,
                          struct span resume, struct buf *out)
{
    switch (request_op(read)) {
    case DYNAMO_GET_ITEM:
        write_get_item(expression, read, out);
        break;
    case DYNAMO_BATCH_GET_ITEM:
        write_batch_get_item(expression, read, resume, out);
        break;
    case DYNAMO_QUERY:
        write_query(expression, read, resume, out);
        break;
    case DYNAMO_DESCRIBE_TABLE:
        add_string(out, "TableName", span_text(read->table));
        break;
    case DYNAMO_LIST_TABLES:
        if (resume.size)
            add_raw(out, "ExclusiveStartTableName", resume);
        break;
    }
}

bool request_write(const struct read *read, struct span resume, struct buf *out)
{
    CLEAN_UP(expression_clean_up) struct expression expression = {0};
    if (!expression_init(&expression, read))
        return false;
    buf_add_char(out, '{');
    write_members(&expression, read, resume, out);
    buf_add_char(out, '}');
    return !out->failed;
}
