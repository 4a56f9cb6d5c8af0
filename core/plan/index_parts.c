#include "core/plan/index_parts.h"

#include "core/item/item.h"

bool index_parts_value(const struct map_key *key, struct json item, struct arena *arena,
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

/* Whether a part of FORMAT stands in WANTED and is not in PARTS. */
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

bool index_parts_take(const struct model *table, const struct map_index *index,
                      const struct map_kind *kind, const struct format *wanted, struct json item,
                      struct arena *arena, struct bindings *parts)
{
    const struct map_key *key;
    for (size_t i = 0; (key = model_index_key(index, i)); i++) {
        struct value value;
        struct bindings own = {0};
        const struct format *format = model_key_format(table, key, kind);
        if (!index_parts_value(key, item, arena, &value) || !format)
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
