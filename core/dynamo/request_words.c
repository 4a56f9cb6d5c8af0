/* Requests in words. */
#include "core/dynamo/request_words.h"

#include "core/dynamo/request.h"

static void request_words_write_query(const struct read *read, struct buf *out)
{
    buf_printf(out, "Query %s%s%s%s where ", read->index ? "index " : "",
               read->index ? read->index : "", read->index ? " of " : "", read->table);
    conds_write_words(read->where, read->where_count, out);
    if (read->filter_count) {
        buf_add_text(out, ", then keep only ");
        conds_write_words(read->filter, read->filter_count, out);
    }
    if (read->descending)
        buf_add_text(out, ", in descending order");
    if (read->limit)
        buf_printf(out, ", at most %lu%s", (unsigned long)read->limit,
                   read->ties ? " and those that share the last one's sort key" : "");
    if (read->counts)
        buf_add_text(out, ", only how many");
}

static void request_words_write_attributes(const struct read *read, struct buf *out)
{
    for (size_t i = 0; i < read->attribute_count; i++) {
        buf_add_text(out, i ? ", " : ", only ");
        buf_add_span(out, read->attributes[i]);
    }
}

static void request_words_write_items(const struct read *read, enum read_keys keys, struct buf *out)
{
    if (keys == KEYS_FROM_ANSWER || read->key_count > 1) {
        buf_printf(out, "BatchGetItem from %s, %d keys a request", read->table, READ_MAX_KEYS);
    } else if (keys == KEY_FROM_ANSWER) {
        buf_printf(out, "GetItem from %s by the key that came back", read->table);
    } else {
        buf_printf(out, "GetItem from %s with ", read->table);
        key_write_words(&read->keys[0], out);
    }
    request_words_write_attributes(read, out);
}

static void request_words_write_scan(const struct read *read, struct buf *out)
{
    buf_printf(out, "Scan %s", read->table);
    request_words_write_attributes(read, out);
    if (read->segments)
        buf_printf(out, ", in %lu segments at once", (unsigned long)read->segments);
}

void dynamo_write_words(const struct read *read, enum read_keys keys, struct buf *out)
{
    switch (read->kind) {
    case READ_QUERY:
        request_words_write_query(read, out);
        break;
    case READ_ITEMS:
        request_words_write_items(read, keys, out);
        break;
    case READ_SCAN:
        request_words_write_scan(read, out);
        break;
    case READ_TABLES:
        buf_add_text(out, dynamo_op_name(request_op(read)));
        break;
    case READ_TABLE:
    case READ_EXPIRY:
    case READ_BACKUPS:
    case READ_RECOVERY:
        buf_printf(out, "%s of %s", dynamo_op_name(request_op(read)), read->table);
        break;
    }
    buf_add_text(out, read->consistent ? ", consistently" : "");
}
