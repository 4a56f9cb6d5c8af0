#include "core/read/key_parts.h"

#include "core/plan/item_match.h"
#include "core/plan/item_parts.h"

/* Key attribute number I: of the table, and behind these of the index. NULL behind the last. */
static const struct map_key *key_parts_attribute(const struct place *place, size_t i)
{
    const struct map_index *index = place->route->list->index;
    size_t own = place->table->key_count;
    return i < own ? &place->table->keys[i] : index ? model_index_key(index, i - own) : NULL;
}

bool key_parts_has(const struct key_parts *parts, struct span name)
{
    for (size_t i = 0; i < parts->count; i++)
        if (span_equal(parts->parts[i].name, name))
            return true;
    return false;
}

/* Adds each part of FORMAT, unless it is known. */
static void key_parts_add(struct key_parts *parts, const struct format *format)
{
    for (size_t i = 0; i < format->count; i++) {
        const struct format_piece *piece = &format->pieces[i];
        struct span name = span_text(piece->param);
        bool is_text = piece->type == VALUE_S && piece->pad == 0;
        if (piece->param && !key_parts_has(parts, name))
            parts->parts[parts->count++] = (struct form_part){name, is_text};
    }
}

bool key_parts_find(const struct place *place, struct arena *arena, struct key_parts *out)
{
    const struct map_pattern *list = place->route->list;
    const struct map_key *key;
    size_t keys = KEY_MAX_BASE_ATTRIBUTES + 2 * KEY_MAX_ATTRIBUTES;
    size_t most = list->entry_count * keys * FORMAT_MAX_PIECES;
    out->parts = arena_array(arena, most, sizeof *out->parts);
    out->values = arena_array(arena, most, sizeof *out->values);
    out->count = 0;
    if (arena->failed)
        return false;
    for (size_t i = 0; (key = key_parts_attribute(place, i)); i++)
        for (size_t e = 0; e < list->entry_count; e++) {
            const struct format *format =
                model_key_format(place->table, key, list->entries[e].kind);
            if (format)
                key_parts_add(out, format);
        }
    return true;
}

struct sql_value key_parts_value(const struct model *model, const struct binding *part)
{
    const struct format_piece *spelling = model_spelling(model, part->param);
    if (part->type == VALUE_N || (part->type == VALUE_S && spelling && spelling->pad > 0))
        return sql_value_of_number(part->value);
    if (part->type == VALUE_B)
        return (struct sql_value){.type = SQL_BLOB, .attribute = SQL_OF_B, .bytes = part->value};
    return (struct sql_value){.type = SQL_TEXT, .attribute = SQL_OF_S, .bytes = part->value};
}

bool key_parts_read(struct key_parts *parts, const struct place *place, struct json item,
                    struct arena *arena)
{
    const struct map_pattern *list = place->route->list;
    const struct map_entry *entry = NULL;
    const struct map_key *attribute;
    struct bindings found = {0};
    struct key key;
    if (item_match_key(place->table, item, arena, &key))
        entry = item_match_entry(place->table, list, &key, &place->bindings, &found);
    for (size_t i = place->table->key_count;
         entry && list->index && (attribute = key_parts_attribute(place, i)); i++) {
        const struct format *format = model_key_format(place->table, attribute, entry->kind);
        if (format) /* an item whose attribute has another format lacks its parts */
            item_parts_add_of_index(place->table, list->index, entry->kind, format, item, arena,
                                    &found);
    }
    memset(parts->values, 0, parts->count * sizeof *parts->values);
    for (size_t i = 0; i < parts->count; i++)
        for (size_t k = 0; k < found.count; k++)
            if (span_is(parts->parts[i].name, found.items[k].param))
                parts->values[i] = key_parts_value(place->table, &found.items[k]);
    return !arena->failed;
}
