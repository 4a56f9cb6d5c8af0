#include "core/live/live_query.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/ascii.h"
#include "core/item/item.h"

struct live_query *live_query_new(struct live_schema *schema, const struct live_index *index,
                                  const struct read *read)
{
    struct live_query *query = calloc(1, sizeof *query);
    if (!query)
        return NULL;
    *query = (struct live_query){
        .read = read_copy(read, NULL),
        .schema = live_schema_ref(schema),
        .index = index,
        .bytes = sizeof *query,
    };
    if (query->read)
        return query;
    live_query_destroy(query);
    return NULL;
}

void live_query_destroy(struct live_query *query)
{
    if (!query)
        return;
    for (size_t i = 0; i < query->count; i++)
        live_row_unref(query->rows[i]);
    free(query->rows);
    read_destroy(query->read);
    live_schema_unref(query->schema);
    free(query);
}

static size_t live_query_row_bytes(const struct live_row *row)
{
    return sizeof *row + row->size + sizeof row;
}

/* Takes over ROW. False, with ROW freed, when memory ran out. */
static bool live_query_insert(struct live_query *query, size_t at, struct live_row *row)
{
    if (query->count == query->capacity) {
        size_t capacity = query->capacity ? 2 * query->capacity : 16;
        struct live_row **rows = reallocarray(query->rows, capacity, sizeof(*rows));
        if (!rows) {
            live_row_unref(row);
            return false;
        }
        query->rows = rows;
        query->capacity = capacity;
    }
    memmove(&query->rows[at + 1], &query->rows[at], (query->count - at) * sizeof(*query->rows));
    query->rows[at] = row;
    query->count++;
    query->bytes += live_query_row_bytes(row);
    return true;
}

static void live_query_remove(struct live_query *query, size_t at)
{
    query->bytes -= live_query_row_bytes(query->rows[at]);
    live_row_unref(query->rows[at]);
    query->count--;
    memmove(&query->rows[at], &query->rows[at + 1], (query->count - at) * sizeof(*query->rows));
}

bool live_query_add(struct live_query *query, struct json item)
{
    CLEAN_UP(buf_clean_up) struct buf key = {0};
    if (!live_schema_write_key(query->schema, item, &key) || key.failed)
        return false;
    struct live_row *row =
        live_row_new(json_raw(item), live_schema_hash(query->schema, buf_span(&key)));
    return row && live_query_insert(query, query->count, row);
}

/* Whether the row number I is that of the item KEY. FAILED when memory ran out. */
static bool live_query_is_of(const struct live_query *query, size_t i, struct span key,
                             bool *failed)
{
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    CLEAN_UP(buf_clean_up) struct buf own = {0};
    bool ok = json_parse(&doc, live_row_text(query->rows[i]), JSON_STRICT, NULL) &&
              live_schema_write_key(query->schema, json_root(&doc), &own) && !own.failed;
    *failed = *failed || !ok;
    return ok && span_equal(buf_span(&own), key);
}

/* The first row of IMAGE's item from number FROM on; COUNT for none. */
static size_t live_query_find(const struct live_query *query, const struct live_image *image,
                              size_t from, bool *failed)
{
    for (size_t i = from; i < query->count && !*failed; i++)
        if (query->rows[i]->hash == image->hash && live_query_is_of(query, i, image->key, failed))
            return i;
    return query->count;
}

/* The order of two items in the result. FAILED if one lacks an attribute of the order, or memory
 * ran out. */
static int live_query_compare(const struct live_query *query, struct json a, struct json b,
                              bool *failed)
{
    CLEAN_UP(buf_clean_up) struct buf bytes_a = {0}, bytes_b = {0};
    const struct read *read = query->read;
    int order = 0;
    for (size_t i = 0; i < read->sort_count && order == 0; i++) {
        struct value x, y;
        buf_truncate(&bytes_a, 0);
        buf_truncate(&bytes_b, 0);
        if (!value_read(item_attribute(a, read->sort[i]), &bytes_a, &x) ||
            !value_read(item_attribute(b, read->sort[i]), &bytes_b, &y)) {
            *failed = true;
            return 0;
        }
        order = value_compare(x, y);
    }
    return read->descending ? -order : order;
}

/* The place of ITEM: behind all rows that do not come after it. */
static size_t live_query_place(const struct live_query *query, struct json item, bool *failed)
{
    size_t from = 0, to = query->count;
    while (from < to && !*failed) {
        CLEAN_UP(json_clean_up) struct json_doc doc = {0};
        size_t middle = from + (to - from) / 2;
        if (!json_parse(&doc, live_row_text(query->rows[middle]), JSON_STRICT, NULL))
            *failed = true;
        else if (live_query_compare(query, json_root(&doc), item, failed) <= 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static bool live_query_hold(const struct cond *conds, size_t count, struct json item, bool *failed)
{
    for (size_t i = 0; i < count; i++)
        if (!cond_holds(&conds[i], item, failed))
            return false;
    return true;
}

/* In a query of the table itself the sort key leads to the place. */
struct live_row *live_query_find_item(const struct live_query *query, struct span key,
                                      struct json item)
{
    bool failed = false;
    const struct read *read = query->read;
    bool is_whole = !read->index && read->attribute_count == 0 &&
                    live_query_hold(read->where, read->where_count, item, &failed);
    size_t at = is_whole ? live_query_place(query, item, &failed) : 0;
    bool found = !failed && at > 0 && live_query_is_of(query, at - 1, key, &failed);
    return found ? query->rows[at - 1] : NULL;
}

/* A filter sees the attributes that the index has, and no others. */
static bool live_query_passes(const struct live_query *query, struct json item, bool *failed)
{
    CLEAN_UP(buf_clean_up_secret) struct buf text = {0};
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    const struct read *read = query->read;
    if (query->index->projection == PROJECTS_ALL || read->filter_count == 0)
        return live_query_hold(read->filter, read->filter_count, item, failed);
    live_schema_project_index(query->schema, query->index, item, &text);
    if (text.failed || !json_parse(&doc, buf_span(&text), JSON_STRICT, NULL)) {
        *failed = true;
        return false;
    }
    return live_query_hold(read->filter, read->filter_count, json_root(&doc), failed);
}

/* Whether the query returns ITEM, which may be absent. */
static bool live_query_admits(const struct live_query *query, struct json item, bool *failed)
{
    CLEAN_UP(buf_clean_up) struct buf partition = {0};
    const struct read *read = query->read;
    if (!json_present(item))
        return false;
    bool is_in_index = live_schema_write_partition(query->schema, query->index, item, &partition);
    *failed = *failed || partition.failed;
    return is_in_index && live_query_hold(read->where, read->where_count, item, failed) &&
           live_query_passes(query, item, failed);
}

/* Whether ITEM is not behind ROW in the result. */
static bool live_query_is_before(const struct live_query *query, struct json item,
                                 const struct live_row *row, bool *failed)
{
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    if (json_parse(&doc, live_row_text(row), JSON_STRICT, NULL))
        return live_query_compare(query, item, json_root(&doc), failed) <= 0;
    *failed = true;
    return false;
}

/* Puts the new image in its place. OLD is the item's row before, which is not in the result any
 * more; or NULL. An item behind the last stored row is not stored: others may be in between. */
static bool live_query_put(struct live_query *query, const struct live_image *image,
                           const struct live_row *old)
{
    CLEAN_UP(buf_clean_up_secret) struct buf text = {0};
    bool failed = false;
    size_t at = live_query_place(query, image->after, &failed);
    bool is_last = !failed && at == query->count && !query->is_complete;
    bool is_behind = is_last && !(old && live_query_is_before(query, image->after, old, &failed));
    if (failed)
        return false;
    if (is_behind)
        return true;
    live_schema_project(query->schema, query->index, query->read, image->after, &text);
    struct live_row *row = text.failed ? NULL : live_row_new(buf_span(&text), image->hash);
    return row && live_query_insert(query, at, row);
}

/* Results without rows, and those that end with equal sort keys, are not changed, but dropped. */
static bool live_query_can_patch(const struct live_query *query)
{
    return !query->read->counts && !query->read->ties;
}

/* The row of IMAGE's item from number FROM on; COUNT for none. In the table itself the place of an
 * item is its key. */
static size_t live_query_find_row(const struct live_query *query, const struct live_image *image,
                                  size_t from, bool *failed)
{
    if (query->read->index)
        return live_query_find(query, image, from, failed);
    size_t at = live_query_place(query, image->keys, failed);
    bool is_it = !*failed && at > from && query->rows[at - 1]->hash == image->hash &&
                 live_query_is_of(query, at - 1, image->key, failed);
    return is_it ? at - 1 : query->count;
}

/* Removes the rows of IMAGE's item: if it moved while its pages were read, there may be several.
 * Returns the last one, with a reference; NULL for none. */
static struct live_row *live_query_take(struct live_query *query, const struct live_image *image,
                                        bool *failed)
{
    struct live_row *row = NULL;
    size_t at = 0;
    while ((at = live_query_find_row(query, image, at, failed)) < query->count) {
        live_row_unref(row);
        row = live_row_ref(query->rows[at]);
        live_query_remove(query, at);
    }
    return row;
}

bool live_query_patch(struct live_query *query, const struct live_image *image)
{
    bool failed = false;
    bool had = !image->before_known || live_query_admits(query, image->before, &failed);
    bool has = !image->after_known || live_query_admits(query, image->after, &failed);
    if (failed || ((had || has) && !live_query_can_patch(query)))
        return false;
    if (!had && !has)
        return true;
    struct live_row *old = live_query_take(query, image, &failed);
    bool ok = !failed && image->after_known && (!has || live_query_put(query, image, old));
    live_row_unref(old);
    return ok && (query->is_complete || query->count >= query->read->limit);
}

/* Other characters may be escaped. */
static bool live_query_is_plain(struct span text)
{
    for (size_t i = 0; i < text.size; i++)
        if (!ascii_is_letter(text.data[i]) && !ascii_is_digit(text.data[i]) &&
            !strchr("#-_.:@", text.data[i]))
            return false;
    return true;
}

struct span live_query_partition_text(const struct live_query *query)
{
    const struct read *read = query->read;
    for (size_t i = 0; i < read->where_count; i++)
        if (read->where[i].op == COND_EQ && read->where[i].value.type == VALUE_S &&
            live_query_is_plain(read->where[i].value.bytes))
            return read->where[i].value.bytes;
    return span_text("");
}
