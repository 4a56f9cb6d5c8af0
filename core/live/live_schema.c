#include "core/live/live_schema.h"

#include <stdlib.h>

#include "core/item/item.h"

static void live_schema_copy_keys(struct arena *arena, const struct key_schema *from,
                                  struct key_schema *to)
{
    *to = *from;
    for (size_t i = 0; i < to->partition_count; i++)
        to->partition[i].name = arena_copy(arena, from->partition[i].name);
    for (size_t i = 0; i < to->sort_count; i++)
        to->sort[i].name = arena_copy(arena, from->sort[i].name);
}

static void live_schema_copy_index(struct arena *arena, const struct index_info *from,
                                   struct live_index *to)
{
    struct span *included = arena_array(arena, from->included_count, sizeof *included);
    to->name = arena_copy(arena, from->name);
    to->projection = from->projection;
    live_schema_copy_keys(arena, &from->keys, &to->keys);
    for (size_t i = 0; included && i < from->included_count; i++)
        included[to->included_count++] = arena_copy(arena, from->included[i]);
    to->included = included;
}

static bool live_schema_fill(struct live_schema *schema, const struct table_info *info)
{
    schema->indexes = arena_array(&schema->arena, info->index_count + 1, sizeof *schema->indexes);
    if (!schema->indexes)
        return false;
    schema->indexes[0].projection = PROJECTS_ALL;
    live_schema_copy_keys(&schema->arena, &info->keys, &schema->indexes[0].keys);
    schema->index_count = 1;
    for (size_t i = 0; i < info->index_count; i++)
        live_schema_copy_index(&schema->arena, &info->indexes[i],
                               &schema->indexes[schema->index_count++]);
    return !schema->arena.failed;
}

struct live_schema *live_schema_new(const struct table_info *info)
{
    struct live_schema *schema = calloc(1, sizeof *schema);
    if (!schema)
        return NULL;
    *schema = (struct live_schema){.references = 1, .seed = dict_seed_new()};
    if (live_schema_fill(schema, info))
        return schema;
    live_schema_unref(schema);
    return NULL;
}

struct live_schema *live_schema_ref(struct live_schema *schema)
{
    if (schema)
        schema->references++;
    return schema;
}

void live_schema_unref(struct live_schema *schema)
{
    if (!schema || --schema->references > 0)
        return;
    arena_discard(&schema->arena);
    free(schema);
}

static bool live_schema_has_name(const struct span *names, size_t count, struct span name)
{
    for (size_t i = 0; i < count; i++)
        if (span_equal(names[i], name))
            return true;
    return false;
}

static bool live_schema_has_keys(const struct key_schema *own, const struct key_schema *other)
{
    bool same =
        own->partition_count == other->partition_count && own->sort_count == other->sort_count;
    for (size_t i = 0; same && i < own->partition_count; i++)
        same = span_equal(own->partition[i].name, other->partition[i].name) &&
               own->partition[i].type == other->partition[i].type;
    for (size_t i = 0; same && i < own->sort_count; i++)
        same = span_equal(own->sort[i].name, other->sort[i].name) &&
               own->sort[i].type == other->sort[i].type;
    return same;
}

static bool live_schema_has_index(const struct live_schema *schema, const struct index_info *info)
{
    for (size_t i = 1; i < schema->index_count; i++) {
        const struct live_index *own = &schema->indexes[i];
        if (!span_equal(own->name, info->name))
            continue;
        bool same = own->projection == info->projection &&
                    own->included_count == info->included_count &&
                    live_schema_has_keys(&own->keys, &info->keys);
        for (size_t k = 0; same && k < info->included_count; k++)
            same = live_schema_has_name(own->included, own->included_count, info->included[k]);
        return same;
    }
    return false;
}

bool live_schema_is_of(const struct live_schema *schema, const struct table_info *info)
{
    bool same = schema->index_count == info->index_count + 1 &&
                live_schema_has_keys(&schema->indexes[0].keys, &info->keys);
    for (size_t i = 0; same && i < info->index_count; i++)
        same = live_schema_has_index(schema, &info->indexes[i]);
    return same;
}

const struct live_index *live_schema_find(const struct live_schema *schema, const char *name)
{
    for (size_t i = 0; i < schema->index_count; i++)
        if (span_is(schema->indexes[i].name, name ? name : ""))
            return &schema->indexes[i];
    return NULL;
}

/* Keys. Each value has its length in front, so that no value can pass for two. */

static void live_schema_add_value(struct value value, struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    value_write_identity(value, &text);
    buf_add_number(out, text.size);
    buf_add_char(out, ':');
    buf_add_span(out, buf_span(&text));
    out->failed = out->failed || text.failed;
}

/* False if ITEM has no value of that type. */
static bool live_schema_add_attribute(struct json item, struct span name, enum value_type type,
                                      struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf bytes = {0};
    struct value value;
    bool ok = value_read(item_attribute(item, name), &bytes, &value) && value.type == type;
    out->failed = out->failed || bytes.failed;
    if (ok)
        live_schema_add_value(value, out);
    return ok;
}

bool live_schema_write_key(const struct live_schema *schema, struct json item, struct buf *out)
{
    const struct key_schema *keys = &schema->indexes[0].keys;
    for (size_t i = 0; i < keys->partition_count; i++)
        if (!live_schema_add_attribute(item, keys->partition[i].name, keys->partition[i].type, out))
            return false;
    for (size_t i = 0; i < keys->sort_count; i++)
        if (!live_schema_add_attribute(item, keys->sort[i].name, keys->sort[i].type, out))
            return false;
    return true;
}

void live_schema_write_read_key(const struct key *key, struct buf *out)
{
    for (size_t i = 0; i < key->count; i++)
        live_schema_add_value(key->attributes[i].value, out);
}

uint64_t live_schema_hash(const struct live_schema *schema, struct span key)
{
    return dict_hash(schema->seed, key);
}

/* Partitions. */

static void live_schema_begin_partition(const struct live_schema *schema,
                                        const struct live_index *index, struct buf *out)
{
    buf_add_number(out, (uint64_t)(index - schema->indexes));
    buf_add_char(out, ' ');
}

bool live_schema_write_partition(const struct live_schema *schema, const struct live_index *index,
                                 struct json item, struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf ignored = {0};
    const struct key_schema *keys = &index->keys;
    live_schema_begin_partition(schema, index, out);
    for (size_t i = 0; i < keys->partition_count; i++)
        if (!live_schema_add_attribute(item, keys->partition[i].name, keys->partition[i].type, out))
            return false;
    for (size_t i = 0; i < keys->sort_count; i++)
        if (!live_schema_add_attribute(item, keys->sort[i].name, keys->sort[i].type, &ignored)) {
            out->failed = out->failed || ignored.failed;
            return false;
        }
    out->failed = out->failed || ignored.failed;
    return true;
}

static const struct cond *live_schema_find_equality(const struct read *read, struct span name)
{
    for (size_t i = 0; i < read->where_count; i++)
        if (read->where[i].op == COND_EQ && read->where[i].step_count == 0 &&
            span_equal(read->where[i].attribute, name))
            return &read->where[i];
    return NULL;
}

bool live_schema_write_read_partition(const struct live_schema *schema,
                                      const struct live_index *index, const struct read *read,
                                      struct buf *out)
{
    live_schema_begin_partition(schema, index, out);
    for (size_t i = 0; i < index->keys.partition_count; i++) {
        const struct cond *cond = live_schema_find_equality(read, index->keys.partition[i].name);
        if (!cond || cond->value.type != index->keys.partition[i].type)
            return false;
        live_schema_add_value(cond->value, out);
    }
    return true;
}

/* Projections. */

static bool live_schema_is_key(const struct key_schema *keys, struct span name)
{
    for (size_t i = 0; i < keys->partition_count; i++)
        if (span_equal(keys->partition[i].name, name))
            return true;
    for (size_t i = 0; i < keys->sort_count; i++)
        if (span_equal(keys->sort[i].name, name))
            return true;
    return false;
}

struct live_wanted {
    const struct live_schema *schema;
    const struct live_index *index; /* NULL: a read by keys */
    const struct read *read;        /* NULL: all attributes */
};

static bool live_schema_has_attribute(const struct live_wanted *wanted, struct span name)
{
    const struct live_index *index = wanted->index;
    return index->projection == PROJECTS_ALL || live_schema_is_key(&index->keys, name) ||
           live_schema_is_key(&wanted->schema->indexes[0].keys, name) ||
           (index->projection == PROJECTS_SOME &&
            live_schema_has_name(index->included, index->included_count, name));
}

struct live_search {
    struct span name;
    bool found;
};

static bool live_schema_compare_attribute(void *arg, struct span attribute)
{
    struct live_search *search = arg;
    search->found = span_equal(attribute, search->name);
    return !search->found;
}

/* Whether READ returns the attribute NAME of an item that has it: what it wants, and what its own
 * conditions and keys test (core/dynamo/request.c). */
static bool live_schema_wants(const struct read *read, struct span name)
{
    struct live_search search = {.name = name};
    bool wanted = read->attribute_count == 0 ||
                  live_schema_has_name(read->attributes, read->attribute_count, name) ||
                  live_schema_has_name(read->sort, read->sort_count, name) ||
                  live_schema_has_name(read->own_key, read->own_key_count, name);
    for (size_t i = 0; !wanted && !search.found && i < read->where_count; i++)
        cond_each_attribute(&read->where[i], live_schema_compare_attribute, &search);
    for (size_t i = 0; !wanted && !search.found && !read->index && i < read->filter_count; i++)
        cond_each_attribute(&read->filter[i], live_schema_compare_attribute, &search);
    for (size_t i = 0; !wanted && read->key_count && i < read->keys[0].count; i++)
        search.found = search.found || span_equal(read->keys[0].attributes[i].name, name);
    return wanted || search.found;
}

static void live_schema_write_wanted(const struct live_wanted *wanted, struct json item,
                                     struct buf *out)
{
    const char *comma = "";
    buf_add_char(out, '{');
    for (struct json name = json_first(item), value; json_present(name); name = json_next(value)) {
        CLEAN_UP(buf_clean_up) struct buf text = {0};
        value = json_next(name);
        out->failed = out->failed || !json_read_string(name, &text) || text.failed;
        if ((wanted->read && !live_schema_wants(wanted->read, buf_span(&text))) ||
            (wanted->index && !live_schema_has_attribute(wanted, buf_span(&text))))
            continue;
        buf_add_text(out, comma);
        buf_add_span(out, json_raw(name));
        buf_add_char(out, ':');
        buf_add_span(out, json_raw(value));
        comma = ",";
    }
    buf_add_char(out, '}');
}

void live_schema_project_index(const struct live_schema *schema, const struct live_index *index,
                               struct json item, struct buf *out)
{
    const struct live_wanted wanted = {schema, index, NULL};
    live_schema_write_wanted(&wanted, item, out);
}

void live_schema_project(const struct live_schema *schema, const struct live_index *index,
                         const struct read *read, struct json item, struct buf *out)
{
    const struct live_wanted wanted = {schema, index, read};
    if (index->projection == PROJECTS_ALL && read->attribute_count == 0)
        buf_add_span(out, json_raw(item));
    else
        live_schema_write_wanted(&wanted, item, out);
}

void live_schema_project_item(const struct read *read, struct json item, struct buf *out)
{
    const struct live_wanted wanted = {NULL, NULL, read};
    if (read->attribute_count == 0)
        buf_add_span(out, json_raw(item));
    else
        live_schema_write_wanted(&wanted, item, out);
}
