#include "core/live/live_memory.h"

#include <stdlib.h>

#include "core/json/writer.h"

/* The results of queries of one partition. */
struct live_partition {
    struct dict_node node;
    struct list entries; /* of struct live_entry, by IN_PARTITION */
    char key[];
};

/* An item, or the result of a query. */
struct live_entry {
    struct dict_node node;
    struct list_node in_budget;
    struct list_node in_partition; /* of a query */
    struct live_memory *memory;
    struct live_partition *partition; /* of a query */
    struct live_query *query;         /* owned; NULL: it is an item */
    struct live_row *row;             /* owned; NULL: the item does not exist */
    int64_t at_ms;
    size_t bytes; /* that the budget has counted */
    char key[];
};

struct live_memory {
    const struct live_schema *schema;
    struct live_budget *budget;
    struct dict entries;    /* of struct live_entry, owned */
    struct dict partitions; /* of struct live_partition, owned */
    struct live_memory_stats stats;
};

/* The kinds of entries have keys of their own. */
enum { KEY_OF_ITEM = 'i', KEY_OF_QUERY = 'q' };

struct live_memory *live_memory_new(const struct live_schema *schema, struct live_budget *budget)
{
    struct live_memory *memory = calloc(1, sizeof *memory);
    if (!memory)
        return NULL;
    memory->schema = schema;
    memory->budget = budget;
    if (dict_init(&memory->entries) && dict_init(&memory->partitions))
        return memory;
    live_memory_destroy(memory);
    return NULL;
}

/* Entries. */

static void live_memory_charge(struct live_budget *budget, size_t more, size_t less)
{
    budget->used += more - less;
    if (budget->charge)
        budget->charge(budget->charge_arg, more, less);
}

static void live_memory_leave_partition(struct live_entry *entry)
{
    struct live_partition *partition = entry->partition;
    list_remove(&entry->in_partition);
    entry->partition = NULL;
    if (!partition || !list_is_empty(&partition->entries))
        return;
    dict_remove(&entry->memory->partitions, &partition->node);
    free(partition);
}

static void live_memory_drop(struct live_entry *entry)
{
    struct live_memory *memory = entry->memory;
    *(entry->query ? &memory->stats.queries : &memory->stats.items) -= 1;
    live_memory_charge(memory->budget, 0, entry->bytes);
    live_memory_leave_partition(entry);
    list_remove(&entry->in_budget);
    dict_remove(&memory->entries, &entry->node);
    live_query_destroy(entry->query);
    live_row_unref(entry->row);
    free(entry);
}

/* Brings the budget's count of ENTRY up to date. */
static void live_memory_count(struct live_entry *entry)
{
    size_t bytes = sizeof *entry + entry->node.key.size;
    bytes += entry->query ? entry->query->bytes : 0;
    bytes += entry->row ? sizeof *entry->row + entry->row->size : 0;
    live_memory_charge(entry->memory->budget, bytes, entry->bytes);
    entry->bytes = bytes;
}

/* ENTRY becomes the last to be dropped. */
static void live_memory_use(struct live_entry *entry)
{
    list_remove(&entry->in_budget);
    list_append(&entry->memory->budget->entries, &entry->in_budget);
}

/* May drop any entry. */
static void live_memory_keep_budget(struct live_budget *budget)
{
    budget->was_short = budget->was_short || budget->used > budget->most;
    while (budget->used > budget->most && !list_is_empty(&budget->entries))
        live_memory_drop(LIST_FIRST(&budget->entries, struct live_entry, in_budget));
}

void live_memory_clear(struct live_memory *memory)
{
    struct dict_node *node;
    for (size_t from = 0; (node = dict_any(&memory->entries, &from));)
        live_memory_drop((struct live_entry *)node);
}

void live_memory_destroy(struct live_memory *memory)
{
    if (!memory)
        return;
    if (memory->entries.chains)
        live_memory_clear(memory);
    dict_clean_up(&memory->entries);
    dict_clean_up(&memory->partitions);
    free(memory);
}

static void live_memory_write_key(int kind, struct span key, struct buf *out)
{
    buf_add_char(out, (char)kind);
    buf_add_span(out, key);
}

/* The entry of KEY (live_memory_write_key); NULL for none, and for one from before SINCE_MS, which
 * is dropped. */
static struct live_entry *live_memory_find(struct live_memory *memory, const struct buf *key,
                                           int64_t since_ms)
{
    struct dict_node *node = key->failed ? NULL : dict_find(&memory->entries, buf_span(key));
    struct live_entry *entry = node ? (struct live_entry *)node : NULL;
    if (!entry || entry->at_ms >= since_ms)
        return entry;
    live_memory_drop(entry);
    return NULL;
}

/* A new entry of KEY, which the table does not have; NULL when memory ran out. */
static struct live_entry *live_memory_add(struct live_memory *memory, const struct buf *key,
                                          int64_t at_ms)
{
    struct live_entry *entry = key->failed ? NULL : calloc(1, sizeof *entry + key->size);
    if (!entry)
        return NULL;
    memcpy(entry->key, key->data, key->size);
    entry->node.key = span_of(entry->key, key->size);
    entry->memory = memory;
    entry->at_ms = at_ms;
    dict_add(&memory->entries, &entry->node);
    list_append(&memory->budget->entries, &entry->in_budget);
    *(key->data[0] == KEY_OF_QUERY ? &memory->stats.queries : &memory->stats.items) += 1;
    return entry;
}

/* Items. */

static void live_memory_write_typed_key(const struct key *key, struct buf *out)
{
    struct json_writer json = json_writer_to(out);
    json_writer_begin_object(&json, NULL, JSON_TIGHT);
    for (size_t i = 0; i < key->count; i++) {
        json_writer_add_name(&json, key->attributes[i].name);
        value_write(json_writer_add_value(&json, NULL), key->attributes[i].value);
    }
    json_writer_end(&json);
}

/* The row of KEY in a result of a query of its partition; a reference, or NULL. */
static struct live_row *live_memory_find_in_queries(struct live_memory *memory, struct span text,
                                                    const struct key *key, int64_t since_ms)
{
    CLEAN_UP(buf_clean_up) struct buf typed = {0}, partition = {0};
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    live_memory_write_typed_key(key, &typed);
    if (!json_parse(&doc, buf_span(&typed), JSON_STRICT, NULL) ||
        !live_schema_write_partition(memory->schema, &memory->schema->indexes[0], json_root(&doc),
                                     &partition))
        return NULL;
    struct dict_node *node = dict_find(&memory->partitions, buf_span(&partition));
    if (!node)
        return NULL;
    LIST_EACH (struct live_entry, each, &((struct live_partition *)node)->entries, in_partition) {
        struct live_row *row = each->at_ms >= since_ms
                                   ? live_query_find_item(each->query, text, json_root(&doc))
                                   : NULL;
        if (row) {
            live_memory_use(each);
            return live_row_ref(row);
        }
    }
    return NULL;
}

bool live_memory_find_item(struct live_memory *memory, const struct key *key, int64_t since_ms,
                           struct live_row **row)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    buf_add_char(&text, KEY_OF_ITEM);
    live_schema_write_read_key(key, &text);
    if (text.failed)
        return false;
    struct live_entry *entry = live_memory_find(memory, &text, since_ms);
    if (entry) {
        *row = live_row_ref(entry->row);
        live_memory_use(entry);
        return true;
    }
    *row = live_memory_find_in_queries(memory, span_from(buf_span(&text), 1), key, since_ms);
    return *row;
}

/* Replaces the item. False when memory ran out. */
static bool live_memory_set_row(struct live_entry *entry, struct span text)
{
    struct live_row *row = text.size ? live_row_new(text, 0) : NULL;
    if (text.size && !row)
        return false;
    live_row_unref(entry->row);
    entry->row = row;
    return true;
}

void live_memory_store_item(struct live_memory *memory, struct span key, struct span text,
                            int64_t at_ms)
{
    CLEAN_UP(buf_clean_up) struct buf own = {0};
    live_memory_write_key(KEY_OF_ITEM, key, &own);
    struct live_entry *entry = live_memory_find(memory, &own, INT64_MIN);
    if (!entry)
        entry = live_memory_add(memory, &own, at_ms);
    if (!entry)
        return;
    entry->at_ms = at_ms;
    if (!live_memory_set_row(entry, text)) {
        live_memory_drop(entry);
        return;
    }
    live_memory_count(entry);
    live_memory_use(entry);
    live_memory_keep_budget(memory->budget);
}

/* Queries. */

const struct live_query *live_memory_find_query(struct live_memory *memory, const struct read *read,
                                                int64_t since_ms)
{
    CLEAN_UP(buf_clean_up) struct buf key = {0};
    buf_add_char(&key, KEY_OF_QUERY);
    read_identity(read, &key);
    struct live_entry *entry = live_memory_find(memory, &key, since_ms);
    if (!entry)
        return NULL;
    live_memory_use(entry);
    return entry->query;
}

/* The partition of the query's items; NULL when memory ran out, or if the query has no single one.
 */
static struct live_partition *live_memory_partition(struct live_memory *memory,
                                                    const struct live_query *query)
{
    CLEAN_UP(buf_clean_up) struct buf key = {0};
    if (!live_schema_write_read_partition(memory->schema, query->index, query->read, &key) ||
        key.failed)
        return NULL;
    struct dict_node *node = dict_find(&memory->partitions, buf_span(&key));
    if (node)
        return (struct live_partition *)node;
    struct live_partition *partition = calloc(1, sizeof *partition + key.size);
    if (!partition)
        return NULL;
    memcpy(partition->key, key.data, key.size);
    partition->node.key = span_of(partition->key, key.size);
    dict_add(&memory->partitions, &partition->node);
    return partition;
}

void live_memory_store_query(struct live_memory *memory, struct live_query *query, int64_t at_ms)
{
    CLEAN_UP(buf_clean_up) struct buf key = {0};
    buf_add_char(&key, KEY_OF_QUERY);
    read_identity(query->read, &key);
    struct live_entry *entry = live_memory_find(memory, &key, INT64_MIN);
    if (entry)
        live_memory_drop(entry);
    struct live_partition *partition = key.failed ? NULL : live_memory_partition(memory, query);
    entry = partition ? live_memory_add(memory, &key, at_ms) : NULL;
    if (!entry) {
        if (partition && list_is_empty(&partition->entries)) {
            dict_remove(&memory->partitions, &partition->node);
            free(partition);
        }
        live_query_destroy(query);
        return;
    }
    entry->query = query;
    entry->partition = partition;
    list_append(&partition->entries, &entry->in_partition);
    live_memory_count(entry);
    live_memory_keep_budget(memory->budget);
}

/* Changes. */

/* False when memory ran out, also below: then it is not known what the change concerns. */
static bool live_memory_apply_to_item(struct live_memory *memory, const struct live_image *image)
{
    CLEAN_UP(buf_clean_up) struct buf key = {0};
    live_memory_write_key(KEY_OF_ITEM, image->key, &key);
    struct live_entry *entry = live_memory_find(memory, &key, INT64_MIN);
    if (!entry)
        return !key.failed;
    struct span text = json_present(image->after) ? json_raw(image->after) : span_text("");
    bool kept = image->after_known && live_memory_set_row(entry, text);
    *(kept ? &memory->stats.patched : &memory->stats.dropped) += 1;
    if (kept)
        live_memory_count(entry);
    else
        live_memory_drop(entry);
    return true;
}

static bool live_memory_apply_to_partition(struct live_memory *memory,
                                           const struct live_index *index, struct json item,
                                           const struct live_image *image)
{
    CLEAN_UP(buf_clean_up) struct buf key = {0};
    if (!json_present(item))
        return true;
    bool is_in_index = live_schema_write_partition(memory->schema, index, item, &key);
    struct dict_node *node =
        is_in_index && !key.failed ? dict_find(&memory->partitions, buf_span(&key)) : NULL;
    if (!node)
        return !key.failed;
    LIST_EACH_SAFE (struct live_entry, each, &((struct live_partition *)node)->entries,
                    in_partition) {
        bool kept = live_query_patch(each->query, image);
        *(kept ? &memory->stats.patched : &memory->stats.dropped) += 1;
        if (!kept)
            live_memory_drop(each);
        else
            live_memory_count(each);
    }
    return true;
}

/* All results of INDEX: the change does not show which of them have the item. */
static void live_memory_drop_index(struct live_memory *memory, const struct live_index *index)
{
    LIST_EACH_SAFE (struct live_entry, each, &memory->budget->entries, in_budget)
        if (each->memory == memory && each->query && each->query->index == index) {
            memory->stats.dropped++;
            live_memory_drop(each);
        }
}

/* The key of an item in the table never changes, but that in an index does: then the item leaves
 * one partition, and comes into another one. */
static bool live_memory_apply_to_index(struct live_memory *memory, const struct live_index *index,
                                       const struct live_image *image)
{
    if (!image->before_known || !image->after_known) {
        live_memory_drop_index(memory, index);
        return true;
    }
    return live_memory_apply_to_partition(memory, index, image->before, image) &&
           live_memory_apply_to_partition(memory, index, image->after, image);
}

void live_memory_apply(struct live_memory *memory, const struct live_image *image)
{
    bool ok =
        live_memory_apply_to_item(memory, image) &&
        live_memory_apply_to_partition(memory, &memory->schema->indexes[0], image->keys, image);
    for (size_t i = 1; ok && i < memory->schema->index_count; i++)
        ok = live_memory_apply_to_index(memory, &memory->schema->indexes[i], image);
    if (!ok)
        live_memory_clear(memory);
    live_memory_keep_budget(memory->budget);
}

struct live_memory_stats live_memory_stats(const struct live_memory *memory)
{
    return memory->stats;
}
