#include "core/plan/item_parts.h"

#include "core/item/item.h"

bool item_parts_read_key(const struct map_key *key, struct json item, struct arena *arena,
                         struct value *out)
{
    CLEAN_UP(buf_clean_up) struct buf bytes = {0};
    bool read = value_read(item_attribute(item, span_text(key->attribute)), &bytes, out);
    arena->failed = arena->failed || bytes.failed;
    if (!read || out->type != key->type)
        return false;
    out->bytes = arena_copy(arena, out->bytes);
    return !arena->failed;
}

/* Whether FORMAT has a part that WANTED has and PARTS lacks. */
static bool index_parts_adds_parts(const struct format *format, const struct format *wanted,
                                   const struct bindings *parts)
{
    for (size_t i = 0; i < format->count; i++) {
        const char *param = format->pieces[i].param;
        if (param && format_has(wanted, param) && !bindings_find(parts, param))
            return true;
    }
    return false;
}

bool item_parts_add_of_index(const struct model *table, const struct map_index *index,
                             const struct map_kind *kind, const struct format *wanted,
                             struct json item, struct arena *arena, struct bindings *parts)
{
    const struct map_key *key;
    for (size_t i = 0; (key = model_index_key(index, i)); i++) {
        struct value value;
        struct bindings own = {0};
        const struct format *format = model_key_format(table, key, kind);
        if (!item_parts_read_key(key, item, arena, &value) || !format)
            return false;
        if (!index_parts_adds_parts(format, wanted, parts))
            continue;
        if (!format_match_key(format, value.bytes, table->separator, &own) ||
            !bindings_agree(&own, &own))
            return false;
        for (size_t k = 0; k < own.count; k++) {
            const struct binding *part = &own.items[k];
            if (!format_has(wanted, part->param) || bindings_find(parts, part->param))
                continue;
            if (!bindings_add(parts, part->param, part->value))
                return false;
            parts->items[parts->count - 1].type = part->type;
        }
    }
    return true;
}

/* Whether every key that begins with PREFIX has FORMAT: only its last, open part is not in PREFIX.
 */
static bool item_parts_begins_whole(const struct format *format, struct span prefix, char separator,
                                    const struct bindings *path)
{
    const struct format_piece *last = &format->pieces[format->count - 1];
    struct bindings parts = {0};
    return last->param && last->open && !last->letters && !bindings_find(path, last->param) &&
           format_match_key(format, prefix, separator, &parts) &&
           parts.items[parts.count - 1].value.size == 0 && bindings_agree(path, &parts);
}

static bool item_parts_cond_states(const struct cond *cond, const struct format *format,
                                   char separator, const struct bindings *path)
{
    struct bindings parts = {0};
    if (cond->op == COND_BEGINS)
        return item_parts_begins_whole(format, cond->value.bytes, separator, path);
    return cond->op == COND_EQ && format_match_key(format, cond->value.bytes, separator, &parts) &&
           bindings_agree(path, &parts);
}

bool item_parts_are_implied(const struct model *table, const struct read *query,
                            const struct map_kind *kind, size_t i, const struct bindings *path)
{
    const struct map_key *key = &table->keys[i];
    const struct format *format = &kind->keys[i];
    for (size_t w = 0; w < query->where_count; w++)
        if (span_is(query->where[w].attribute, key->attribute) &&
            item_parts_cond_states(&query->where[w], format, table->separator, path))
            return true;
    /* Whether the whole key is one part without a value, so that any key matches; numbers and
     * binaries are one part. */
    const char *param = format_whole_param(format);
    bool anything = key->type != VALUE_S || (param && format->pieces[0].open);
    return anything && param && !format->pieces[0].letters && !bindings_find(path, param);
}

size_t item_parts_count(const struct model *table, const struct map_kind *kind, const char *param)
{
    size_t count = 0;
    for (size_t i = 0; i < table->key_count; i++)
        for (size_t k = 0; k < kind->keys[i].count; k++)
            count += kind->keys[i].pieces[k].param && !strcmp(kind->keys[i].pieces[k].param, param);
    return count;
}

bool item_parts_repeat(const struct model *table, const struct map_kind *kind,
                       const struct bindings *path)
{
    for (size_t i = 0; i < table->key_count; i++)
        for (size_t k = 0; k < kind->keys[i].count; k++) {
            const char *param = kind->keys[i].pieces[k].param;
            if (param && !bindings_find(path, param) && item_parts_count(table, kind, param) > 1)
                return true;
        }
    return false;
}

static bool item_parts_is_stated(const struct model *table, const struct read *query,
                                 const struct map_kind *kind, const struct bindings *path)
{
    bool implied = !item_parts_repeat(table, kind, path);
    for (size_t i = 0; i < table->key_count && implied; i++)
        implied = item_parts_are_implied(table, query, kind, i, path);
    return implied;
}

/* If an item matches several kinds, the one with the most literal bytes decides. So no entry's name
 * may have parts of the index's key, which the item might lack. */
bool item_parts_all_count(const struct map_pattern *pattern, const struct read *query,
                          const struct bindings *path)
{
    bool all = false;
    if (pattern->excluded_count > 0)
        return false;
    for (size_t i = 0; i < pattern->entry_count; i++) {
        if (pattern->entries[i].indexed.count > 0)
            return false;
        all = all || item_parts_is_stated(pattern->table, query, pattern->entries[i].kind, path);
    }
    return all;
}
