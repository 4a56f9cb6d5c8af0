#include "core/draft/electro_keys.h"

#include <strings.h>

/* The keys of one entity, by those that are cut in as many pieces as most of them. */
struct entity_keys {
    struct column *column;
    struct span entity;
    size_t first; /* row */
    size_t pieces;
};

struct span electro_entity(const struct sampled_item *specimen)
{
    const struct sampled_item_attribute *mark =
        sampled_item_find(specimen, SPAN_LITERAL("__edb_e__"));
    return mark && mark->tag == TYPED_S && mark->value.data ? mark->value : span_of("", 0);
}

/* Whether the key at ROW is one of those. */
static bool electro_keys_is_among(const struct entity_keys *keys, size_t row)
{
    return keys->column->shapes[row].count == keys->pieces &&
           span_equal(electro_entity(keys->column->specimens[row]), keys->entity);
}

static size_t electro_keys_most_pieces(const struct column *column, struct span entity)
{
    size_t counts[KEY_SHAPE_MAX_TOKENS + 1] = {0}, best = 0;
    for (size_t row = 0; row < column->count; row++)
        if (span_equal(electro_entity(column->specimens[row]), entity))
            counts[column->shapes[row].count]++;
    for (size_t i = 1; i <= KEY_SHAPE_MAX_TOKENS; i++)
        if (counts[i] > counts[best] || best == 0)
            best = i;
    return best;
}

static const struct token *electro_keys_piece_at(const struct entity_keys *keys, size_t row,
                                                 size_t at)
{
    return &keys->column->shapes[row].tokens[at];
}

/* Whether each of the keys has "LABEL_" at AT, in any case. */
static bool electro_keys_all_begin(const struct entity_keys *keys, size_t at, struct span label)
{
    for (size_t row = keys->first; row < keys->column->count; row++) {
        if (!electro_keys_is_among(keys, row))
            continue;
        struct span text = electro_keys_piece_at(keys, row, at)->text;
        if (text.size <= label.size || text.data[label.size] != '_' ||
            strncasecmp(text.data, label.data, label.size) != 0)
            return false;
    }
    return true;
}

static bool electro_keys_all_equal(const struct entity_keys *keys, size_t at)
{
    struct span text = electro_keys_piece_at(keys, keys->first, at)->text;
    for (size_t row = keys->first; row < keys->column->count; row++)
        if (electro_keys_is_among(keys, row) &&
            !span_equal(electro_keys_piece_at(keys, row, at)->text, text))
            return false;
    return true;
}

/* The attribute whose name stands before the value at AT, the longest of several: "shop_id" rather
 * than "shop". */
static struct span electro_keys_label_at(const struct entity_keys *keys, size_t at)
{
    struct span best = span_of("", 0);
    for (size_t row = keys->first; row < keys->column->count; row++) {
        const struct sampled_item *specimen = keys->column->specimens[row];
        for (size_t i = 0; electro_keys_is_among(keys, row) && i < specimen->count; i++) {
            struct span name = specimen->attributes[i].name;
            if (name.size > best.size && electro_keys_all_begin(keys, at, name))
                best = name;
        }
    }
    return best;
}

/* "employee_1": the entity and its version, which an attribute of the entity's name may also begin.
 */
static bool electro_keys_is_entity_piece(const struct entity_keys *keys, size_t at)
{
    struct span text = electro_keys_piece_at(keys, keys->first, at)->text;
    struct span entity = keys->entity;
    const struct sampled_item_attribute *version =
        sampled_item_find(keys->column->specimens[keys->first], SPAN_LITERAL("__edb_v__"));
    if (text.size > 0 && text.data[0] == '$')
        text = span_from(text, 1);
    if (!electro_keys_all_equal(keys, at) || text.size < entity.size + 2 ||
        text.data[entity.size] != '_' || strncasecmp(text.data, entity.data, entity.size) != 0)
        return false;
    return !version || span_equal(version->value, span_from(text, entity.size + 1));
}

static void electro_keys_resolve_piece(const struct entity_keys *keys, size_t at, struct span label,
                                       bool literal)
{
    size_t prefix = literal || label.size == 0 ? 0 : label.size + 1;
    for (size_t row = keys->first; row < keys->column->count; row++) {
        struct token *token = &keys->column->shapes[row].tokens[at];
        if (!electro_keys_is_among(keys, row))
            continue;
        *token = (struct token){
            .text = span_from(token->text, prefix),
            .label = span_of(token->text.data, prefix),
            .attribute = literal ? span_of("", 0) : label,
            .literal = literal,
        };
    }
}

/* A piece that is the same in all keys is a collection, the service or the entity; only a label
 * makes it a value, and never in front of the entity. */
static void electro_keys_take_apart_it(const struct entity_keys *keys)
{
    size_t begin = 0;
    for (size_t at = 0; at < keys->pieces; at++)
        if (electro_keys_is_entity_piece(keys, at)) {
            begin = at + 1;
            break;
        }
    for (size_t at = 0; at < keys->pieces; at++) {
        struct span label = at < begin ? span_of("", 0) : electro_keys_label_at(keys, at);
        electro_keys_resolve_piece(keys, at, label,
                                   label.size == 0 && electro_keys_all_equal(keys, at));
    }
    for (size_t row = keys->first; row < keys->column->count; row++)
        if (!electro_keys_is_among(keys, row) &&
            span_equal(electro_entity(keys->column->specimens[row]), keys->entity))
            keys->column->shapes[row].count = 0;
}

static bool electro_keys_is_first_of(const struct column *column, size_t row, struct span entity)
{
    for (size_t before = 0; before < row; before++)
        if (span_equal(electro_entity(column->specimens[before]), entity))
            return false;
    return entity.size > 0;
}

void electro_keys_take_apart(struct column *column)
{
    for (size_t row = 0; row < column->count; row++) {
        struct span entity = electro_entity(column->specimens[row]);
        if (!electro_keys_is_first_of(column, row, entity))
            continue;
        struct entity_keys keys = {column, entity, row, electro_keys_most_pieces(column, entity)};
        while (keys.first < column->count && !electro_keys_is_among(&keys, keys.first))
            keys.first++;
        if (keys.first < column->count)
            electro_keys_take_apart_it(&keys);
    }
}
