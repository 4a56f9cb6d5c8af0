#include "core/draft/inferred_kinds.h"

#include "core/draft/attribute_clues.h"
#include "core/draft/electro_keys.h"
#include "core/draft/inferred_parts.h"

/* A table with more kinds than these has keys that are taken for words. */
enum { MOST_KINDS = 64 };

static bool inferred_kinds_make_columns(struct inferring *inferring)
{
    const struct declared_record *record = inferring->described->records;
    inferring->key_count = record->key_count;
    for (size_t i = 0; i < record->key_count; i++) {
        inferring->columns[i] = (struct column){
            .table = inferring->described,
            .attribute = span_text(record->keys[i].attribute),
            .sorts = i == 1,
            .specimens = inferring->specimens,
            .shapes = arena_array(&inferring->work, inferring->count, sizeof(struct key_shape)),
            .count = inferring->count,
        };
    }
    return !inferring->work.failed;
}

/* Whether ElectroDB wrote all items, and no key of the table has an upper-case letter. */
static bool inferred_kinds_is_electro_lower(const struct inferring *inferring)
{
    for (size_t row = 0; row < inferring->count; row++) {
        const struct sampled_item *specimen = inferring->specimens[row];
        if (electro_entity(specimen).size == 0)
            return false;
        for (size_t i = 0; i < inferring->key_count; i++) {
            const struct sampled_item_attribute *key =
                sampled_item_find(specimen, inferring->columns[i].attribute);
            for (size_t c = 0; key && c < key->value.size; c++)
                if (key->value.data[c] >= 'A' && key->value.data[c] <= 'Z')
                    return false;
        }
    }
    return true;
}

static bool inferred_kinds_read_columns(struct inferring *inferring)
{
    bool is_lower = inferred_kinds_is_electro_lower(inferring);
    inferring->separator = key_shape_separator(inferring->columns, inferring->key_count);
    for (size_t i = 0; i < inferring->key_count; i++) {
        struct column *column = &inferring->columns[i];
        column->separator = inferring->separator;
        column->is_lower = is_lower;
        column_take_apart(column);
        if (!column_find_words(column, &inferring->work))
            return false;
    }
    if (!vocabulary_find(&inferring->vocabulary, inferring->columns, inferring->key_count,
                         &inferring->work))
        return false;
    for (size_t i = 0; i < inferring->key_count; i++) {
        inferring->columns[i].known = &inferring->vocabulary;
        column_find_known_words(&inferring->columns[i]);
        electro_keys_take_apart(&inferring->columns[i]);
    }
    return true;
}

static struct inferred_kind *inferred_kinds_add_kind(struct inferring *inferring,
                                                     const struct key_shape shapes[2])
{
    struct inferred_kind **last = &inferring->kinds;
    struct inferred_kind *kind = arena_alloc(&inferring->work, sizeof *kind);
    if (!kind)
        return NULL;
    kind->rows = arena_array(&inferring->work, inferring->count, sizeof *kind->rows);
    for (size_t i = 0; i < inferring->key_count; i++)
        kind->shapes[i] = shapes[i];
    while (*last)
        last = &(*last)->next;
    *last = kind;
    inferring->kind_count++;
    return kind->rows ? kind : NULL;
}

static void inferred_kinds_add_row(struct inferred_kind *kind, const struct key_shape shapes[2],
                                   size_t row)
{
    kind->rows[kind->count++] = row;
    for (size_t side = 0; side < 2; side++)
        for (size_t i = 0; i < kind->shapes[side].count; i++)
            kind->shapes[side].tokens[i].open =
                kind->shapes[side].tokens[i].open || shapes[side].tokens[i].open;
}

/* Records whose keys say the same words at the same places are of one kind. */
static bool inferred_kinds_group(struct inferring *inferring)
{
    for (size_t row = 0; row < inferring->count; row++) {
        struct key_shape shapes[2] = {0};
        bool form = false, whole = true;
        struct inferred_kind *kind = inferring->kinds;
        for (size_t i = 0; i < inferring->key_count; i++) {
            shapes[i] = inferring->columns[i].shapes[row];
            form = form || key_shape_has_form(&shapes[i]);
            whole = whole && shapes[i].count > 0;
        }
        if (!whole && electro_entity(inferring->specimens[row]).size > 0)
            continue;
        while (kind && !(key_shape_alike(&kind->shapes[0], &shapes[0]) &&
                         key_shape_alike(&kind->shapes[1], &shapes[1])))
            kind = kind->next;
        if (!kind && (!form || inferring->kind_count == MOST_KINDS))
            continue; /* whole keys: "other" */
        if (!kind)
            kind = inferred_kinds_add_kind(inferring, shapes);
        if (!kind)
            return false;
        inferred_kinds_add_row(kind, shapes, row);
    }
    return true;
}

/* Whether the record at ROW has a tag in the place of a part that is named after an attribute,
 * which it lacks. LAST is the part of SIDE's key. */
static bool inferred_kinds_has_tag(const struct inferring *inferring,
                                   const struct inferred_kind *kind, size_t row, size_t side,
                                   size_t last)
{
    const struct token *token = &inferring->columns[side].shapes[row].tokens[last];
    return !token->open && clue_is_tag(token->text) &&
           !sampled_item_find(inferring->specimens[row], kind->names[side][last].attribute);
}

/* The kind of those of FIRST on that the record at ROW is of, when its token LAST is a literal: one
 * more where there is none yet. NULL when memory ran out. */
static struct inferred_kind *inferred_kinds_move_apart(struct inferring *inferring,
                                                       struct inferred_kind *first, size_t row,
                                                       size_t side, size_t last)
{
    struct key_shape shapes[2] = {0};
    for (size_t k = 0; k < inferring->key_count; k++)
        shapes[k] = inferring->columns[k].shapes[row];
    shapes[side].tokens[last].literal = true;
    struct inferred_kind *apart = first;
    while (apart && !key_shape_alike(&apart->shapes[side], &shapes[side]))
        apart = apart->next;
    if (!apart)
        apart = inferred_kinds_add_kind(inferring, shapes);
    if (apart)
        inferred_kinds_add_row(apart, shapes, row);
    return apart;
}

/* "INDEX#DEFAULT_CONFIGS" beside "INDEX#{index_name}": a tag where others have an attribute's
 * value, in a record that lacks the attribute. */
static bool inferred_kinds_split_kind(struct inferring *inferring, struct inferred_kind *kind)
{
    size_t side = inferring->key_count - 1, kept = 0;
    const struct key_shape *shape = &kind->shapes[side];
    size_t last = shape->count - 1;
    if (shape->count < 2 || shape->tokens[last].literal ||
        kind->names[side][last].attribute.size == 0)
        return true;
    struct inferred_kind *first = NULL;
    for (size_t i = 0; i < kind->count; i++) {
        size_t row = kind->rows[i];
        if (!inferred_kinds_has_tag(inferring, kind, row, side, last) ||
            inferring->kind_count == MOST_KINDS) {
            kind->rows[kept++] = row;
            continue;
        }
        struct inferred_kind *apart = inferred_kinds_move_apart(inferring, first, row, side, last);
        if (!apart)
            return false;
        first = first ? first : apart;
    }
    kind->count = kept;
    for (; first; first = first->next)
        if (!inferred_parts_name(inferring, first))
            return false;
    return true;
}

/* Whether anything shows how KIND writes the key of SIDE: a word, an attribute, a date. */
static bool inferred_kinds_is_understood(const struct inferred_kind *kind, size_t side)
{
    for (size_t i = 0; i < kind->shapes[side].count; i++) {
        const struct token *token = &kind->shapes[side].tokens[i];
        if (token->literal || kind->names[side][i].attribute.size > 0 || clue_is_date(token->text))
            return true;
    }
    return false;
}

/* Whether partitions like those of KIND have records of a kind that is understood. */
static bool inferred_kinds_is_beside_words(const struct inferring *inferring,
                                           const struct inferred_kind *kind)
{
    size_t last = inferring->key_count - 1;
    for (const struct inferred_kind *other = inferring->kinds; other; other = other->next)
        if (inferred_kinds_is_understood(other, last) &&
            key_shape_alike(&other->shapes[0], &kind->shapes[0]))
            return true;
    return false;
}

static size_t inferred_kinds_literals_of(const struct key_shape *shape,
                                         struct span words[KEY_SHAPE_MAX_TOKENS])
{
    size_t count = 0;
    for (size_t i = 0; i < shape->count; i++)
        if (shape->tokens[i].literal)
            words[count++] = shape->tokens[i].text;
    return count;
}

/* Whether KIND, of which there is one record, has the words of another kind, and only more pieces.
 */
static bool inferred_kinds_is_odd_one(const struct inferring *inferring,
                                      const struct inferred_kind *kind)
{
    size_t last = inferring->key_count - 1;
    struct span words[KEY_SHAPE_MAX_TOKENS], others[KEY_SHAPE_MAX_TOKENS];
    size_t count = inferred_kinds_literals_of(&kind->shapes[last], words);
    for (const struct inferred_kind *other = inferring->kinds; other; other = other->next) {
        bool same = kind->count == 1 && other->count > 1 && count > 0 &&
                    key_shape_alike(&other->shapes[0], &kind->shapes[0]) &&
                    other->shapes[last].count < kind->shapes[last].count &&
                    inferred_kinds_literals_of(&other->shapes[last], others) == count;
        for (size_t i = 0; same && i < count; i++)
            same = span_equal(words[i], others[i]);
        if (same)
            return true;
    }
    return false;
}

/* "{sk}#{sk_2}" would have the records of all other kinds: what no word tells from them is known by
 * its whole keys. */
static void inferred_kinds_drop_wordless(struct inferring *inferring)
{
    size_t last = inferring->key_count - 1;
    struct inferred_kind *next;
    for (struct inferred_kind *kind = inferring->kinds; kind; kind = next) {
        bool is_pieces = kind->shapes[last].count > 1;
        next = kind->next;
        bool odd = inferred_kinds_is_odd_one(inferring, kind);
        if (!odd && inferred_kinds_is_understood(kind, last))
            continue;
        if (odd || !inferred_kinds_is_understood(kind, 0) ||
            (is_pieces && inferred_kinds_is_beside_words(inferring, kind)))
            inference_drop_kind(inferring, kind);
    }
}

static bool inferred_kinds_name_and_split(struct inferring *inferring)
{
    size_t before = inferring->kind_count;
    struct inferred_kind *kind = inferring->kinds;
    for (size_t i = 0; i < before; i++, kind = kind->next)
        if (!inferred_parts_name(inferring, kind) || !inferred_kinds_split_kind(inferring, kind))
            return false;
    inferred_parts_name_likewise(inferring, inferring->key_count - 1);
    inferred_kinds_drop_wordless(inferring);
    return true;
}

bool inferred_kinds_find(struct inferring *inferring)
{
    return inferred_kinds_make_columns(inferring) && inferred_kinds_read_columns(inferring) &&
           inferred_kinds_group(inferring) && inferred_kinds_name_and_split(inferring);
}
