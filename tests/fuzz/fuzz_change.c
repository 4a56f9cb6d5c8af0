/* Fuzzing of the records of a stream: any array of them is changes that the memory of a table
 * takes, or errors. An item that a change shows whole is known as that, or not at all. */
#include <stdint.h>
#include <stdlib.h>

#include "core/item/item.h"
#include "core/live/live_memory.h"
#include "core/stream/change.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

/* A table by pk, sk, with an index by g, s. */
static struct live_schema *make_schema(void)
{
    const struct index_info index = {.name = SPAN_LITERAL("I"),
                                     .keys = {.partition = {{SPAN_LITERAL("g"), VALUE_S}},
                                              .sort = {{SPAN_LITERAL("s"), VALUE_N}},
                                              .partition_count = 1,
                                              .sort_count = 1},
                                     .projection = PROJECTS_ALL};
    const struct table_info info = {.keys = {.partition = {{SPAN_LITERAL("pk"), VALUE_S}},
                                             .sort = {{SPAN_LITERAL("sk"), VALUE_S}},
                                             .partition_count = 1,
                                             .sort_count = 1},
                                    .indexes = &index,
                                    .index_count = 1};
    struct live_schema *schema = live_schema_new(&info);
    require(schema);
    return schema;
}

/* Stores the empty result of a query of one partition: LIMIT 0 for all, else the first ones. */
static void store_query(struct live_memory *memory, struct live_schema *schema, const char *index,
                        uint32_t limit)
{
    struct read *read = read_new(READ_QUERY, "T", index);
    require(read);
    read_add_where(read, &(struct cond){.attribute = span_text(index ? "g" : "pk"),
                                        .op = COND_EQ,
                                        .value = {VALUE_S, SPAN_LITERAL("p")}});
    read_add_sort(read, span_text(index ? "s" : "sk"));
    read->limit = limit;
    read->descending = limit;
    struct live_query *query = live_query_new(schema, live_schema_find(schema, index), read);
    require(query);
    query->is_complete = true;
    live_memory_store_query(memory, query, 1);
    read_destroy(read);
}

/* The key as a Read has it. False if ITEM has none. */
static bool read_key(struct json item, struct buf bytes[2], struct key *out)
{
    static const char *const names[] = {"pk", "sk"};
    *out = (struct key){.count = 2};
    for (size_t i = 0; i < 2; i++) {
        out->attributes[i].name = span_text(names[i]);
        if (!value_read(item_attribute(item, span_text(names[i])), &bytes[i],
                        &out->attributes[i].value))
            return false;
    }
    return true;
}

static void check_item(struct live_memory *memory, const struct live_image *image)
{
    struct buf bytes[2] = {{0}, {0}};
    struct live_row *row = NULL;
    struct key key;
    if (read_key(image->keys, bytes, &key) && live_memory_find_item(memory, &key, 0, &row) && row)
        require(span_equal(live_row_text(row), json_raw(image->after)));
    live_row_unref(row);
    buf_clean_up(&bytes[0]);
    buf_clean_up(&bytes[1]);
}

/* Takes RECORD; LAST is the change before it. */
static void take(struct live_memory *memory, const struct live_schema *schema, struct json record,
                 struct change *last)
{
    CLEAN_UP(buf_clean_up) struct buf key = {0};
    struct error err = {0};
    struct change change;
    if (!change_read(record, &change, &err)) {
        require(err.kind == ERROR_BAD_ANSWER);
        return;
    }
    int order = change_order(change.sequence, last->sequence);
    require(order != 0 || change_order(last->sequence, change.sequence) == 0);
    *last = change;
    if (!live_schema_write_key(schema, change.keys, &key))
        return;
    bool existed = change.kind != CHANGE_INSERT, exists = change.kind != CHANGE_REMOVE;
    const struct live_image image = {
        .key = buf_span(&key),
        .hash = live_schema_hash(schema, buf_span(&key)),
        .keys = change.keys,
        .before = existed ? change.before : (struct json){0},
        .after = exists ? change.after : (struct json){0},
        .before_known = !existed || json_present(change.before),
        .after_known = !exists || json_present(change.after),
    };
    live_memory_store_item(memory, image.key, SPAN_LITERAL("{}"), 1);
    live_memory_apply(memory, &image);
    if (image.after_known)
        check_item(memory, &image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    struct span text = span_of((const char *)data, size);
    struct live_budget budget = {.most = 1 << 20};
    struct change last = {.sequence = SPAN_LITERAL("0")};
    if (!json_parse(&doc, text, JSON_STRICT, NULL) || !json_is(json_root(&doc), JSON_ARRAY))
        return 0;
    struct live_schema *schema = make_schema();
    struct live_memory *memory = live_memory_new(schema, &budget);
    require(memory);
    store_query(memory, schema, NULL, 0);
    store_query(memory, schema, NULL, 2);
    store_query(memory, schema, "I", 0);
    for (struct json each = json_first(json_root(&doc)); json_present(each); each = json_next(each))
        take(memory, schema, each, &last);
    live_memory_destroy(memory);
    live_schema_unref(schema);
    require(budget.used == 0 && list_is_empty(&budget.entries));
    return 0;
}
