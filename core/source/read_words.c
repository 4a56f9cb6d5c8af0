#include "core/source/read_words.h"

static void read_write_attributes(const struct read *read, struct buf *out)
{
    for (size_t i = 0; i < read->attribute_count; i++) {
        buf_add_text(out, i ? ", " : ", only ");
        buf_add_span(out, read->attributes[i]);
    }
}

static void read_write_query(const struct read *read, struct buf *out)
{
    buf_printf(out, "Query %s%s%s%s where ", read->index ? "index " : "",
               read->index ? read->index : "", read->index ? " of " : "", read->table);
    conds_write_words(read->where, read->where_count, out);
    if (read->filter_count) {
        buf_add_text(out, ", then keep only ");
        conds_write_words(read->filter, read->filter_count, out);
    }
    buf_add_text(out, read->descending ? ", in descending order" : "");
    if (read->limit)
        buf_printf(out, ", at most %lu%s", (unsigned long)read->limit,
                   read->ties ? " and those that share the last one's sort key" : "");
    buf_add_text(out, read->counts ? ", only how many" : "");
}

static void read_write_items(const struct read *read, enum read_keys keys, struct buf *out)
{
    if (keys == KEYS_FROM_ANSWER || read->key_count > 1) {
        buf_printf(out, "BatchGetItem from %s, %d keys a request", read->table, READ_MAX_KEYS);
    } else if (keys == KEY_FROM_ANSWER) {
        buf_printf(out, "GetItem from %s by the key that came back", read->table);
    } else {
        buf_printf(out, "GetItem from %s with ", read->table);
        key_write_words(&read->keys[0], out);
    }
    read_write_attributes(read, out);
}

static void read_write_search(const struct read *read, struct buf *out)
{
    buf_printf(out, "SearchVectors in index %s of %s", read->index, read->table);
    if (read->where_count) {
        buf_add_text(out, " where ");
        if (read->vector.size)
            conds_write_words(read->where, read->where_count, out);
        else /* the item has the value */
            buf_printf(out, "%.*s is the item's", (int)read->where[0].attribute.size,
                       read->where[0].attribute.data);
    }
    buf_printf(out, ", the %lu nearest to the item's vector", (unsigned long)read->limit);
}

void read_write_words(const struct read *read, enum read_keys keys, struct buf *out)
{
    switch (read->kind) {
    case READ_QUERY:
        read_write_query(read, out);
        break;
    case READ_ITEMS:
        read_write_items(read, keys, out);
        break;
    case READ_SCAN:
        buf_printf(out, "Scan %s", read->table);
        read_write_attributes(read, out);
        if (read->segments)
            buf_printf(out, ", in %lu segments at once", (unsigned long)read->segments);
        break;
    case READ_SIMILAR:
        read_write_search(read, out);
        break;
    case READ_TABLES:
        buf_add_text(out, "ListTables");
        break;
    case READ_TABLE:
        buf_printf(out, "DescribeTable of %s", read->table);
        break;
    case READ_EXPIRY:
        buf_printf(out, "DescribeTimeToLive of %s", read->table);
        break;
    case READ_BACKUPS:
        buf_printf(out, "ListBackups of %s", read->table);
        break;
    case READ_TOGETHER:
        buf_printf(out, "TransactGetItems of %zu item%s of ", read->part_count,
                   read->part_count == 1 ? "" : "s");
        read_write_tables(read, ", ", out);
        buf_add_text(out, ", all at one moment");
        break;
    case READ_EXPORTS:
        buf_printf(out, "ListExports of %s, 25 a page", read->table);
        break;
    case READ_RECOVERY:
        buf_printf(out, "DescribeContinuousBackups of %s", read->table);
        break;
    case READ_STREAM:
        buf_printf(out, "DescribeStream of the stream of %s", read->table);
        break;
    case READ_ITERATOR:
        buf_printf(out, "GetShardIterator of a shard of the stream of %s", read->table);
        break;
    case READ_CHANGES:
        buf_printf(out, "GetRecords of the stream of %s", read->table);
        break;
    }
    buf_add_text(out, read->consistent ? ", consistently" : "");
}
