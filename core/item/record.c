#include "core/item/record.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/arena.h"
#include "core/base/crypto.h"
#include "core/item/typed.h"

/* Versions: SHA-256, shortened, over a form that has one spelling for each content. A value is its
 * tag and its bytes after their size; a container is its tag, its count and its members, sorted
 * unless it is a list. */

struct speller {
    struct buf *out; /* NULL: the item is only checked */
    struct arena arena;
};

static bool record_spell_value(struct speller *speller, struct json value);

/* No size exceeds 32 bits, because no text does. */
static void record_spell_size(struct speller *speller, size_t size)
{
    uint32_t little = htole32((uint32_t)size);
    if (speller->out)
        buf_add(speller->out, &little, sizeof little);
}

static void record_spell_bytes(struct speller *speller, struct span bytes)
{
    record_spell_size(speller, bytes.size);
    if (speller->out)
        buf_add_span(speller->out, bytes);
}

static void record_spell_char(struct speller *speller, char c)
{
    if (speller->out)
        buf_add_char(speller->out, c);
}

static bool record_spell_map(struct speller *speller, struct json map)
{
    struct typed_members members;
    if (!typed_members(map, &speller->arena, &members))
        return false;
    record_spell_size(speller, members.count);
    for (size_t i = 0; i < members.count; i++) {
        record_spell_bytes(speller, members.list[i].name);
        if (!record_spell_value(speller, members.list[i].value))
            return false;
    }
    return true;
}

static bool record_spell_value(struct speller *speller, struct json value)
{
    struct typed typed = typed_open(value);
    struct json content = typed.content;
    struct typed_set set;
    struct span bytes;
    record_spell_char(speller, (char)typed.tag);
    switch (typed.tag) {
    case TYPED_S:
    case TYPED_N:
    case TYPED_B:
        if (!(typed.tag == TYPED_B ? typed_bytes : typed_text)(content, &speller->arena, &bytes))
            return false;
        record_spell_bytes(speller, bytes);
        return true;
    case TYPED_BOOL:
        record_spell_char(speller, json_is(content, JSON_TRUE) ? 1 : 0);
        return true;
    case TYPED_NULL:
        return true;
    case TYPED_M:
        return record_spell_map(speller, content);
    case TYPED_L:
        record_spell_size(speller, json_count(content));
        for (struct json each = json_first(content); json_present(each); each = json_next(each))
            if (!record_spell_value(speller, each))
                return false;
        return true;
    case TYPED_SS:
    case TYPED_NS:
    case TYPED_BS:
        if (!typed_set(typed, &speller->arena, &set))
            return false;
        record_spell_size(speller, set.count);
        for (size_t i = 0; i < set.count; i++)
            record_spell_bytes(speller, set.list[i]);
        return true;
    case TYPED_NONE:
        break;
    }
    return false;
}

bool item_version(struct json item, struct version *out)
{
    CLEAN_UP(buf_clean_up_secret) struct buf spelled = {0};
    struct speller speller = {.out = &spelled};
    uint8_t digest[DIGEST_SIZE];
    bool ok = buf_reserve(&spelled, json_raw(item).size) && record_spell_map(&speller, item);
    arena_clean_up(&speller.arena);
    if (!ok || spelled.failed || !digest_sha256(buf_span(&spelled), digest))
        return false;
    memcpy(out->bytes, digest, sizeof out->bytes);
    return true;
}

/* Whether ITEM is a typed item at all depths. False, too, when memory ran out. */
static bool record_is_item(struct json item)
{
    struct speller speller = {0};
    bool ok = record_spell_map(&speller, item);
    arena_clean_up(&speller.arena);
    return ok;
}

/* Records. */

struct record {
    size_t references;
    struct record_origin origin;
    struct json_doc doc; /* over the text below */
    size_t size;
    char text[];
};

/* Of each of a record's two allocations. */
enum { HEAP_OVERHEAD = 16 };

/* Wipes the text, which may hold a secret. */
static void record_destroy(struct record *record)
{
    json_clean_up(&record->doc);
    throttles_unref(record->origin.throttled);
    explicit_bzero(record->text, record->size);
    free(record);
}

/* Appends the name of the first attribute whose value is not typed. */
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
    if (!record_is_item(item)) {
        record_refuse(item, origin->request_id, err);
        return NULL;
    }
    struct span text = json_raw(item);
    struct record *record = malloc(sizeof *record + text.size);
    if (record) {
        *record = (struct record){.references = 1, .origin = *origin, .size = text.size};
        throttles_ref(record->origin.throttled);
        memcpy(record->text, text.data, text.size);
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

size_t record_memory(const struct record *record)
{
    return sizeof *record + record->size + json_memory(&record->doc) + (size_t)2 * HEAP_OVERHEAD +
           throttles_memory(record->origin.throttled);
}
