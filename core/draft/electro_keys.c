#include "core/draft/electro_keys.h"

#include <strings.h>

/* The keys of one entity with the most frequent number of tokens. */
struct entity_keys {
    struct column *column;
    struct span entity;
    size_t first; /* row */
    size_t tokens;
};

struct span electro_keys_find_entity(const struct sampled_item *item)
{
    const struct sampled_attribute *mark = sampled_item_find(item, SPAN_LITERAL("__edb_e__"));
    return mark && mark->tag == TYPED_S && mark->value.data ? mark->value : span_of("", 0);
}

/* Whether the key at ROW is one of these keys. */
static bool electro_keys_is_among(const struct entity_keys *keys, size_t row)
{
    return keys->column->shapes[row].count == keys->tokens &&
           span_equal(electro_keys_find_entity(keys->column->items[row]), keys->entity);
}

static const struct token *electro_keys_token(const struct entity_keys *keys, size_t row, size_t at)
{
    return &keys->column->shapes[row].tokens[at];
}

/* Whether each of the keys has "LABEL_" at AT, in any case. */
static bool electro_keys_all_begin(const struct entity_keys *keys, size_t at, struct span label)
{
    for (size_t row = keys->first; row < keys->column->count; row++) {
        if (!electro_keys_is_among(keys, row))
            continue;
        struct span text = electro_keys_token(keys, row, at)->text;
        if (text.size <= label.size || text.data[label.size] != '_' ||
            strncasecmp(text.data, label.data, label.size) != 0)
            return false;
    }
    return true;
}

static bool electro_keys_all_equal(const struct entity_keys *keys, size_t at)
{
    struct span text = electro_keys_token(keys, keys->first, at)->text;
    for (size_t row = keys->first; row < keys->column->count; row++)
        if (electro_keys_is_among(keys, row) &&
            !span_equal(electro_keys_token(keys, row, at)->text, text))
            return false;
    return true;
}

/* The longest attribute name before the value at AT: "shop_id" rather than "shop". */
static struct span electro_keys_find_label(const struct entity_keys *keys, size_t at)
{
    struct span best = span_of("", 0);
    for (size_t row = keys->first; row < keys->column->count; row++) {
        const struct sampled_item *item = keys->column->items[row];
        for (size_t i = 0; electro_keys_is_among(keys, row) && i < item->count; i++) {
            struct span name = item->attributes[i].name;
            if (name.size > best.size && electro_keys_all_begin(keys, at, name))
                best = name;
        }
    }
    return best;
}

/* Whether the token at AT is "employee_1", the entity and its version. It could also be an
 * attribute with the entity's name. */
static bool electro_keys_is_entity_token(const struct entity_keys *keys, size_t at)
{
    struct span text = electro_keys_token(keys, keys->first, at)->text;
    struct span entity = keys->entity;
    const struct sampled_attribute *version =
        sampled_item_find(keys->column->items[keys->first], SPAN_LITERAL("__edb_v__"));
    if (text.size > 0 && text.data[0] == '$')
        text = span_from(text, 1);
    if (!electro_keys_all_equal(keys, at) || text.size < entity.size + 2 ||
        text.data[entity.size] != '_' || strncasecmp(text.data, entity.data, entity.size) != 0)
        return false;
    return !version || span_equal(version->value, span_from(text, entity.size + 1));
}

static void electro_keys_resolve_token(const struct entity_keys *keys, size_t at, struct span label,
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

/* A token that is the same in all keys is a collection, the service or the entity. With a label
 * behind the entity it is a value. */
static void electro_keys_split_entity(const struct entity_keys *keys)
{
    size_t begin = 0;
    for (size_t at = 0; at < keys->tokens; at++)
        if (electro_keys_is_entity_token(keys, at)) {
            begin = at + 1;
            break;
        }
    for (size_t at = 0; at < keys->tokens; at++) {
        struct span label = at < begin ? span_of("", 0) : electro_keys_find_label(keys, at);
        electro_keys_resolve_token(keys, at, label,
                                   label.size == 0 && electro_keys_all_equal(keys, at));
    }
    for (size_t row = keys->first; row < keys->column->count; row++)
        if (!electro_keys_is_among(keys, row) &&
            span_equal(electro_keys_find_entity(keys->column->items[row]), keys->entity))
            keys->column->shapes[row].count = 0;
}

void electro_keys_split_column(struct column *column)
{
    for (size_t row = 0; row < column->count; row++) {
        struct span entity = electro_keys_find_entity(column->items[row]);
        bool first = entity.size > 0;
        for (size_t before = 0; first && before < row; before++)
            first = !span_equal(electro_keys_find_entity(column->items[before]), entity);
        if (!first)
            continue;
        struct entity_keys keys = {.column = column, .entity = entity, .first = row};
        size_t counts[KEY_SHAPE_MAX_TOKENS + 1] = {0};
        for (size_t other = row; other < column->count; other++)
            if (span_equal(electro_keys_find_entity(column->items[other]), entity))
                counts[column->shapes[other].count]++;
        for (size_t i = 1; i <= KEY_SHAPE_MAX_TOKENS; i++)
            if (counts[i] > counts[keys.tokens] || keys.tokens == 0)
                keys.tokens = i;
        while (keys.first < column->count && !electro_keys_is_among(&keys, keys.first))
            keys.first++;
        if (keys.first < column->count)
            electro_keys_split_entity(&keys);
    }
}
