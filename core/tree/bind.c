#include "core/tree/bind.h"

#include <stdlib.h>

#include "core/base/utf8.h"
#include "core/item/record.h"

enum { MAX_PARTITION_BYTES = 2048, MAX_SORT_BYTES = 1024 };

/* The pattern of a place: of the record, or of the listing. */
static const struct map_pattern *pattern_of(const struct place *place)
{
    return place->route->file ? place->route->file : place->route->list;
}

bool bind_has_key(const struct place *place)
{
    return place->shortened.size == 0 && place->route->file &&
           (place->route->entry || place->route->file->by_key);
}

/* Whether a value can be one of TYPE; if not, nobody needs to be asked. */
typedef bool value_test_fn(const char *attribute, enum value_type type, struct span text,
                           struct error *err);

static bool can_be_value(const char *attribute, enum value_type type, struct span text,
                         struct error *err)
{
    int size = text.size > 200 ? 200 : (int)text.size;
    if (type == VALUE_S && !utf8_valid(text))
        return error_set(err, ERROR_NOT_FOUND, "%s is UTF-8 text, which this is not", attribute);
    if (type == VALUE_N && !json_is_number(text))
        return error_set(err, ERROR_NOT_FOUND, "%s is a number, which \"%.*s\" is not", attribute,
                         size, text.data);
    return true;
}

/* The same for keys, which are not empty and not long. */
static bool can_be_key(const char *attribute, enum value_type type, struct span text,
                       struct error *err)
{
    if (text.size == 0)
        return error_set(err, ERROR_NOT_FOUND, "no key attribute (%s) is empty", attribute);
    if (!can_be_value(attribute, type, text, err))
        return false;
    if (text.size > MAX_PARTITION_BYTES)
        return error_set(err, ERROR_NOT_FOUND, "no key is longer than %d bytes",
                         MAX_PARTITION_BYTES);
    return true;
}

static bool check_parts(const struct place *place, const struct format *format, struct span text,
                        struct error *err)
{
    const struct model *table = place->table;
    struct bindings parts = {0};
    if (format_match_key(format, text, table->separator, &parts))
        return true;
    return error_set(err, ERROR_NOT_FOUND,
                     "no %s has the key \"%.*s\": none of its parts holds a \"%c\"",
                     place->route->kind == table->any ? "record" : place->route->kind->name,
                     text.size > 200 ? 200 : (int)text.size, text.data, table->separator);
}

static bool expand_key(const struct place *place, size_t i, struct arena *arena,
                       struct key_attribute *out, struct error *err)
{
    const struct map_key *key = &place->table->keys[i];
    const struct format *format = &place->route->kind->keys[i];
    const struct format *said = place->route->entry ? format : &place->route->file->where[i].value;
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    if (!format_expand(said, &place->bindings, &text))
        return error_set(err, ERROR_NOT_FOUND, "the path does not say the whole key");
    if (text.failed)
        return error_no_memory(err);
    if (!can_be_key(key->attribute, key->type, buf_span(&text), err) ||
        !check_parts(place, format, buf_span(&text), err))
        return false;
    if (i == 1 && text.size > MAX_SORT_BYTES)
        return error_set(err, ERROR_NOT_FOUND, "no sort key is longer than %d bytes",
                         MAX_SORT_BYTES);
    *out = (struct key_attribute){span_text(key->attribute),
                                  {key->type, arena_copy(arena, buf_span(&text))}};
    return !arena->failed || error_no_memory(err);
}

bool bind_key(const struct place *place, struct arena *arena, struct key *out, struct error *err)
{
    *out = (struct key){.count = place->table->key_count};
    for (size_t i = 0; i < out->count; i++)
        if (!expand_key(place, i, arena, &out->attributes[i], err))
            return false;
    return true;
}

/* Expands FROM into OUT, whose bytes go to ARENA. */
static bool expand_cond(const struct place *place, const struct map_cond *from,
                        value_test_fn *can_be, struct arena *arena, struct cond *out,
                        struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf value = {0}, upper = {0};
    if (!format_expand(&from->value, &place->bindings, &value) ||
        !format_expand(&from->upper, &place->bindings, &upper))
        return error_set(err, ERROR_NOT_FOUND, "the path does not say all that is asked for");
    *out = (struct cond){
        .attribute = span_text(from->attribute),
        .op = from->op,
        .value = {from->type, arena_copy(arena, buf_span(&value))},
        .upper = {from->type, arena_copy(arena, buf_span(&upper))},
    };
    if (value.failed || upper.failed || arena->failed)
        return error_no_memory(err);
    if (!can_be(from->attribute, from->type, buf_span(&value), err) ||
        (from->op == COND_BETWEEN && !can_be(from->attribute, from->type, buf_span(&upper), err)))
        return false;
    if (from->op == COND_BETWEEN && value_compare(out->value, out->upper) > 0)
        return error_set(err, ERROR_NOT_FOUND, "the range of %s ends before it begins",
                         from->attribute);
    return true;
}

static bool add_conds(const struct place *place, struct read *read, const struct map_cond *conds,
                      size_t count, value_test_fn *can_be,
                      void (*add)(struct read *, const struct cond *), struct error *err)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    for (size_t i = 0; i < count; i++) {
        struct cond cond;
        if (!expand_cond(place, &conds[i], can_be, &arena, &cond, err))
            return false;
        add(read, &cond);
    }
    return true;
}

/* A file is one record. Two are asked for where one is expected, so that a second is noticed. */
static uint32_t limit_of(const struct map_pattern *pattern)
{
    if (pattern->list || pattern->limit)
        return pattern->limit;
    return pattern->pick == PICK_NONE ? 2 : 0;
}

/* With a bare value wanted, only what leads to it need travel. */
static void project(struct read *read, const struct map_pattern *pattern)
{
    if (!pattern->attribute || pattern->hydrates)
        return;
    for (size_t i = 0; i < pattern->table->key_count; i++)
        read_add_attribute(read, span_text(pattern->table->keys[i].attribute));
    read_add_attribute(read, span_text(pattern->attribute));
    if (pattern->pick && strcmp(pattern->pick_attribute, pattern->attribute) != 0)
        read_add_attribute(read, span_text(pattern->pick_attribute));
}

struct read *bind_query(const struct place *place, struct error *err)
{
    const struct map_pattern *pattern = pattern_of(place);
    char *table = place_table_name(place);
    struct read *read =
        table ? read_new(READ_QUERY, table, pattern->index ? pattern->index->name : NULL) : NULL;
    free(table);
    if (!read) {
        error_no_memory(err);
        return NULL;
    }
    read->descending = pattern->descending;
    read->limit = limit_of(pattern);
    read->consistent = pattern->consistent;
    project(read, pattern);
    if (add_conds(place, read, pattern->where, pattern->where_count, can_be_key, read_add_where,
                  err) &&
        add_conds(place, read, pattern->filter, pattern->filter_count, can_be_value,
                  read_add_filter, err)) {
        if (!read_failed(read))
            return read;
        error_no_memory(err);
    }
    read_destroy(read);
    return NULL;
}

static void project_conds(const struct place *place, struct read *read,
                          const struct map_cond *conds, size_t count, struct span attribute)
{
    for (size_t i = 0; i < count; i++)
        if (!model_is_key(place->table, conds[i].attribute) &&
            !span_is(attribute, conds[i].attribute))
            read_add_attribute(read, span_text(conds[i].attribute));
}

static void project_items(const struct place *place, struct read *read, struct span attribute)
{
    const struct map_pattern *pattern = pattern_of(place);
    read_add_attribute(read, attribute);
    project_conds(place, read, pattern->where, pattern->where_count, attribute);
    project_conds(place, read, pattern->filter, pattern->filter_count, attribute);
}

struct read *bind_items(const struct place *place, const struct key *keys, size_t count,
                        struct span attribute, struct error *err)
{
    char *table = place_table_name(place);
    struct read *read = table ? read_new(READ_ITEMS, table, NULL) : NULL;
    free(table);
    for (size_t i = 0; read && i < count; i++)
        read_add_key(read, &keys[i]);
    if (read && attribute.size)
        project_items(place, read, attribute);
    if (read)
        read->consistent = pattern_of(place)->consistent;
    if (read && !read_failed(read))
        return read;
    read_destroy(read);
    error_no_memory(err);
    return NULL;
}

bool bind_item_key(const struct model *table, struct json item, struct arena *arena,
                   struct key *out)
{
    *out = (struct key){.count = table->key_count};
    for (size_t i = 0; i < table->key_count; i++) {
        CLEAN_UP(buf_clean_up) struct buf bytes = {0};
        struct key_attribute *attribute = &out->attributes[i];
        attribute->name = span_text(table->keys[i].attribute);
        bool read = value_read(item_attribute(item, attribute->name), &bytes, &attribute->value);
        arena->failed = arena->failed || bytes.failed;
        if (!read)
            return false;
        attribute->value.bytes = arena_copy(arena, attribute->value.bytes);
        if (arena->failed || attribute->value.type != table->keys[i].type)
            return false;
    }
    return true;
}

static bool agree(const struct bindings *path, const struct bindings *parts)
{
    for (size_t i = 0; i < parts->count; i++) {
        const struct span *said = bindings_find(path, parts->items[i].param);
        if (said && !span_equal(*said, parts->items[i].value))
            return false;
    }
    return true;
}

/* A part that stands twice says the same both times. */
static bool is_of_kind(const struct model *table, const struct map_kind *kind,
                       const struct key *key, struct bindings *parts)
{
    for (size_t i = 0; i < key->count; i++)
        if (!format_match_key(&kind->keys[i], key->attributes[i].value.bytes, table->separator,
                              parts))
            return false;
    return agree(parts, parts);
}

bool bind_is_kind(const struct place *place, const struct map_kind *kind, const struct key *key,
                  struct bindings *parts)
{
    parts->count = 0;
    return is_of_kind(place->table, kind, key, parts) && agree(&place->bindings, parts);
}

/* A range takes both its ends in; what the map leaves out with "<" is left out here. */
static bool is_excluded(const struct place *place, const struct map_pattern *pattern,
                        const struct bindings *parts)
{
    for (size_t i = 0; i < pattern->excluded_count; i++) {
        CLEAN_UP(buf_clean_up) struct buf end = {0};
        const struct span *part = bindings_find(parts, pattern->excluded[i].param);
        if (part && format_expand(&pattern->excluded[i].value, &place->bindings, &end) &&
            span_equal(*part, buf_span(&end)))
            return true;
    }
    return false;
}

const struct route *bind_entry(const struct place *place, const struct route *listing,
                               const struct key *key, struct bindings *parts)
{
    for (const struct route *child = listing->children; child; child = child->next) {
        if (child->entry && bind_is_kind(place, child->kind, key, parts) &&
            !is_excluded(place, child->file, parts))
            return child;
    }
    return NULL;
}

bool bind_key_is_of(const struct model *table, const struct map_kind *kind, const struct key *key)
{
    struct bindings parts = {0};
    return is_of_kind(table, kind, key, &parts);
}

bool bind_is_declared(const struct model *table, const struct key *key)
{
    for (const struct map_kind *kind = table->kinds; kind; kind = kind->next) {
        struct bindings parts = {0};
        if (is_of_kind(table, kind, key, &parts))
            return true;
    }
    return false;
}

static const struct value *key_value(const struct key *key, struct span attribute)
{
    for (size_t i = 0; i < key->count; i++)
        if (span_equal(key->attributes[i].name, attribute))
            return &key->attributes[i].value;
    return NULL;
}

/* A key attribute is looked up in KEY: the item may hold no more than what was asked for. */
static bool holds(const struct cond *cond, const struct key *key, struct json item,
                  struct error *err)
{
    bool failed = false;
    const struct value *value = key_value(key, cond->attribute);
    bool held = value ? cond_admits(cond, *value) : cond_holds(cond, item, &failed);
    if (failed)
        return error_no_memory(err);
    return held || error_set(err, ERROR_NOT_FOUND,
                             "the record is there, but it is not (or no longer) one of this "
                             "directory");
}

static bool all_hold(const struct place *place, const struct map_cond *conds, size_t count,
                     value_test_fn *can_be, const struct key *key, struct json item,
                     struct error *err)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    for (size_t i = 0; i < count; i++) {
        struct cond cond;
        if (!expand_cond(place, &conds[i], can_be, &arena, &cond, err) ||
            !holds(&cond, key, item, err))
            return false;
    }
    return true;
}

bool bind_holds(const struct place *place, const struct key *key, struct json item,
                struct error *err)
{
    const struct map_pattern *pattern = pattern_of(place);
    if (is_excluded(place, pattern, &place->bindings))
        return error_set(err, ERROR_NOT_FOUND, "the record is there, but not in this directory");
    return all_hold(place, pattern->where, pattern->where_count, can_be_key, key, item, err) &&
           all_hold(place, pattern->filter, pattern->filter_count, can_be_value, key, item, err);
}

/* The beginning of the sort key that a shortened name still shows; false when it shows none. */
static bool shown_prefix(const struct place *place, struct buf *out)
{
    struct span prefix;
    const struct map_entry *entry = place->route->entry;
    return entry->has_sort_prefix && place->table->key_count == 2 &&
           place->table->keys[1].type == VALUE_S &&
           format_expand(&entry->sort_prefix, &place->bindings, out) &&
           name_is_shortened(place->shortened, &prefix) && name_decode(prefix, out) &&
           utf8_valid(buf_span(out)) && out->size > 0;
}

struct read *bind_search(const struct place *place, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf prefix = {0};
    struct read *read = bind_query(place, err);
    if (!read)
        return NULL;
    read->limit = 0;
    if (shown_prefix(place, &prefix)) {
        struct cond cond = {.attribute = span_text(place->table->keys[1].attribute),
                            .op = COND_BEGINS,
                            .value = {VALUE_S, buf_span(&prefix)}};
        read->where_count = 1; /* the partition key comes first */
        read_add_where(read, &cond);
    }
    if (!read_failed(read) && !prefix.failed)
        return read;
    read_destroy(read);
    error_no_memory(err);
    return NULL;
}
