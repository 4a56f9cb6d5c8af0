/* Records: counted copies of items, with where they came from. */
#include "core/item/record.h"

#include <stdio.h>
#include <stdlib.h>

struct record {
    size_t references;
    struct record_origin origin;
    struct version version;
    struct json_doc doc; /* over the text below */
    size_t size;
    char text[];
};

/* What the allocator adds to each of a record's two allocations. */
enum { HEAP_OVERHEAD = 16 };

/* The text may hold a secret, so it is wiped before it is freed. */
static void record_destroy(struct record *record)
{
    json_clean_up(&record->doc);
    explicit_bzero(record->text, record->size);
    free(record);
}

static struct record *record_copy_text(struct span text)
{
    struct record *record = malloc(sizeof *record + text.size);
    if (!record)
        return NULL;
    *record = (struct record){.references = 1, .size = text.size};
    memcpy(record->text, text.data, text.size);
    return record;
}

/* Appends the name of the first attribute that has no value of DynamoDB's. */
static void record_find_fault(struct json item, struct buf *out)
{
    struct json value;
    for (struct json name = json_first(item); json_present(name); name = json_next(value)) {
        CLEAN_UP(buf_clean_up_secret) struct buf scratch = {0};
        value = json_next(name);
        bool understood = item_write_value(value, true, &scratch);
        out->failed = out->failed || scratch.failed;
        if (out->failed || understood)
            continue;
        json_read_string(name, out);
        return;
    }
}

/* Printing ITEM tells whether it could be a record. */
bool record_refuse(struct json item, const char *request_id, struct error *err)
{
    CLEAN_UP(buf_clean_up_secret) struct buf scratch = {0};
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    struct record_view plain = {.compact = true};
    if (item_write(item, &plain, &scratch) || scratch.failed)
        return error_no_memory(err);
    record_find_fault(item, &name);
    if (name.failed)
        return error_no_memory(err);
    error_set(err, ERROR_BAD_ANSWER, "the item that came is not understood%s%s%s",
              name.size ? ": its attribute \"" : "", buf_text(&name),
              name.size ? "\" has no value of DynamoDB's" : "");
    if (err)
        snprintf(err->request_id, sizeof err->request_id, "%s", request_id);
    return false;
}

struct record *record_new(struct json item, const struct record_origin *origin, struct error *err)
{
    struct version version;
    if (!item_version(item, &version)) {
        record_refuse(item, origin->request_id, err);
        return NULL;
    }
    struct record *record = record_copy_text(json_raw(item));
    if (record) {
        record->origin = *origin;
        record->version = version;
        if (json_parse(&record->doc, record_typed(record), JSON_STRICT, NULL))
            return record;
        record_destroy(record);
    }
    error_no_memory(err);
    return NULL;
}

struct record *record_ref(struct record *record)
{
    record->references++;
    return record;
}

void record_unref(struct record *record)
{
    if (record && --record->references == 0)
        record_destroy(record);
}

struct json record_item(const struct record *record)
{
    return json_root(&record->doc);
}

struct span record_typed(const struct record *record)
{
    return span_of(record->text, record->size);
}

const struct record_origin *record_origin(const struct record *record)
{
    return &record->origin;
}

struct version record_version(const struct record *record)
{
    return record->version;
}

size_t record_memory(const struct record *record)
{
    return sizeof *record + record->size + json_memory(&record->doc) + (size_t)2 * HEAP_OVERHEAD;
}
