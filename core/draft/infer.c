#include "core/draft/infer.h"

#include <stdlib.h>

#include "core/base/ascii.h"
#include "core/draft/attribute_clues.h"
#include "core/draft/declare.h"
#include "core/draft/electro_keys.h"
#include "core/draft/inferred_indexes.h"
#include "core/item/secret_clues.h"

/* More than MOST_KINDS kinds show that values of the keys are taken for words. A parameter has
 * known values if MOST_VALUES words or fewer are in at least LEAST_FOR_VALUES items. */
enum { MOST_KINDS = 64, LONGEST_KIND = 40, MOST_VALUES = 10, LEAST_FOR_VALUES = 10 };

struct inference {
    const struct declared_table *described;
    struct arena arena; /* owns the items, which may hold secrets */
    struct sampled_item *items, **last;
    size_t stored, count;
    size_t bytes;
    bool is_complete;
};

struct inference *inference_new(const struct declared_table *described)
{
    struct inference *inference = calloc(1, sizeof *inference);
    if (!inference)
        return NULL;
    inference->described = described;
    inference->last = &inference->items;
    return inference;
}

void inference_destroy(struct inference *inference)
{
    if (!inference)
        return;
    arena_clean_up(&inference->arena);
    free(inference);
}

void inference_note_end(struct inference *inference)
{
    inference->is_complete = inference->stored == inference->count;
}

size_t inference_count(const struct inference *inference)
{
    return inference->count;
}

bool inference_add(struct inference *inference, struct json item)
{
    size_t size = json_raw(item).size;
    inference->count++;
    if (inference->stored == INFER_MOST_ITEMS || inference->bytes + size > INFER_MOST_BYTES)
        return true;
    struct sampled_item *sampled = sampled_item_new(item, &inference->arena);
    if (!sampled)
        return !inference->arena.failed;
    *inference->last = sampled;
    inference->last = &sampled->next;
    inference->stored++;
    inference->bytes += size;
    return true;
}

/* Appends "3 sampled items": the evidence of a declaration. */
static void infer_add_sample(const struct inferred_table *inferred, struct buf *out)
{
    buf_printf(out, "%zu sampled item%s", inferred->count, inferred->count == 1 ? "" : "s");
}

/* Kinds: items whose keys have the same words at the same places are of one kind. */

/* Whether ElectroDB wrote all items, and no key of the table has an upper-case letter. */
static bool infer_is_electro_lower(const struct inferred_table *inferred)
{
    for (size_t row = 0; row < inferred->count; row++) {
        const struct sampled_item *item = inferred->items[row];
        if (electro_keys_find_entity(item).size == 0)
            return false;
        for (size_t i = 0; i < inferred->key_count; i++) {
            const struct sampled_attribute *key =
                sampled_item_find(item, inferred->columns[i].attribute);
            for (size_t c = 0; key && c < key->value.size; c++)
                if (ascii_is_upper(key->value.data[c]))
                    return false;
        }
    }
    return true;
}

/* Splits the table's keys, and finds the separator and the words. */
static bool infer_read_columns(struct inferred_table *inferred)
{
    const struct declared_record *record = inferred->described->records;
    inferred->key_count = record->key_count;
    for (size_t i = 0; i < record->key_count; i++)
        inferred->columns[i] = (struct column){
            .table = inferred->described,
            .attribute = span_text(record->keys[i].attribute),
            .sorts = i == 1,
            .items = inferred->items,
            .shapes = arena_array(&inferred->work, inferred->count, sizeof(struct key_shape)),
            .count = inferred->count,
        };
    if (inferred->work.failed)
        return false;
    bool is_lower = infer_is_electro_lower(inferred);
    inferred->separator = key_shape_find_separator(inferred->columns, inferred->key_count);
    for (size_t i = 0; i < inferred->key_count; i++) {
        struct column *column = &inferred->columns[i];
        column->separator = inferred->separator;
        column->is_lower = is_lower;
        key_shape_split_column(column);
        if (!key_shape_find_words(column, &inferred->work))
            return false;
    }
    if (!key_shape_find_vocabulary(&inferred->vocabulary, inferred->columns, inferred->key_count,
                                   &inferred->work))
        return false;
    for (size_t i = 0; i < inferred->key_count; i++) {
        inferred->columns[i].known = &inferred->vocabulary;
        key_shape_find_known_words(&inferred->columns[i]);
        electro_keys_split_column(&inferred->columns[i]);
    }
    return true;
}

static struct inferred_kind *infer_add_kind(struct inferred_table *inferred,
                                            const struct key_shape shapes[2])
{
    struct inferred_kind **last = &inferred->kinds;
    struct inferred_kind *kind = arena_alloc(&inferred->work, sizeof *kind);
    if (!kind)
        return NULL;
    kind->rows = arena_array(&inferred->work, inferred->count, sizeof *kind->rows);
    for (size_t i = 0; i < inferred->key_count; i++)
        kind->shapes[i] = shapes[i];
    while (*last)
        last = &(*last)->next;
    *last = kind;
    inferred->kind_count++;
    return kind->rows ? kind : NULL;
}

static void infer_drop_kind(struct inferred_table *inferred, const struct inferred_kind *kind)
{
    struct inferred_kind **link = &inferred->kinds;
    while (*link != kind)
        link = &(*link)->next;
    *link = kind->next;
    inferred->kind_count--;
}

static void infer_add_row(struct inferred_kind *kind, const struct key_shape shapes[2], size_t row)
{
    kind->rows[kind->count++] = row;
    for (size_t side = 0; side < 2; side++)
        for (size_t i = 0; i < kind->shapes[side].count; i++)
            kind->shapes[side].tokens[i].open =
                kind->shapes[side].tokens[i].open || shapes[side].tokens[i].open;
}

/* Puts each item into the kind of its words. An item whose keys have no form is of no kind. */
static bool infer_group_items(struct inferred_table *inferred)
{
    for (size_t row = 0; row < inferred->count; row++) {
        struct key_shape shapes[2] = {0};
        bool form = false, whole = true;
        struct inferred_kind *kind = inferred->kinds;
        for (size_t i = 0; i < inferred->key_count; i++) {
            shapes[i] = inferred->columns[i].shapes[row];
            form = form || key_shape_has_form(&shapes[i]);
            whole = whole && shapes[i].count > 0;
        }
        if (!whole && electro_keys_find_entity(inferred->items[row]).size > 0)
            continue;
        while (kind && !(key_shape_alike(&kind->shapes[0], &shapes[0]) &&
                         key_shape_alike(&kind->shapes[1], &shapes[1])))
            kind = kind->next;
        if (!kind && (!form || inferred->kind_count == MOST_KINDS))
            continue;
        if (!kind)
            kind = infer_add_kind(inferred, shapes);
        if (!kind)
            return false;
        infer_add_row(kind, shapes, row);
    }
    return true;
}

/* "INDEX#DEFAULT_CONFIGS" beside "INDEX#{index_name}": a tag in the place of an attribute's value,
 * in an item that lacks the attribute, makes a kind of its own. */
static bool infer_split_kind(struct inferred_table *inferred, struct inferred_kind *kind)
{
    size_t side = inferred->key_count - 1, kept = 0;
    const struct key_shape *shape = &kind->shapes[side];
    size_t last = shape->count - 1;
    if (shape->count < 2 || shape->tokens[last].literal ||
        kind->names[side][last].attribute.size == 0)
        return true;
    struct inferred_kind *first = NULL;
    for (size_t i = 0; i < kind->count; i++) {
        size_t row = kind->rows[i];
        const struct token *token = &inferred->columns[side].shapes[row].tokens[last];
        if (token->open || !clue_is_tag(token->text) ||
            sampled_item_find(inferred->items[row], kind->names[side][last].attribute) ||
            inferred->kind_count == MOST_KINDS) {
            kind->rows[kept++] = row;
            continue;
        }
        struct key_shape shapes[2] = {0};
        for (size_t k = 0; k < inferred->key_count; k++)
            shapes[k] = inferred->columns[k].shapes[row];
        shapes[side].tokens[last].literal = true;
        struct inferred_kind *apart = first;
        while (apart && !key_shape_alike(&apart->shapes[side], &shapes[side]))
            apart = apart->next;
        if (!apart)
            apart = infer_add_kind(inferred, shapes);
        if (!apart)
            return false;
        infer_add_row(apart, shapes, row);
        first = first ? first : apart;
    }
    kind->count = kept;
    for (; first; first = first->next)
        if (!inferred_parts_name_kind(inferred, first))
            return false;
    return true;
}

/* Whether a word, an attribute or a date shows the format of KIND's key SIDE. */
static bool infer_is_understood(const struct inferred_kind *kind, size_t side)
{
    for (size_t i = 0; i < kind->shapes[side].count; i++) {
        const struct token *token = &kind->shapes[side].tokens[i];
        if (token->literal || kind->names[side][i].attribute.size > 0 || clue_is_date(token->text))
            return true;
    }
    return false;
}

static size_t infer_list_literals(const struct key_shape *shape,
                                  struct span words[KEY_SHAPE_MAX_TOKENS])
{
    size_t count = 0;
    for (size_t i = 0; i < shape->count; i++)
        if (shape->tokens[i].literal)
            words[count++] = shape->tokens[i].text;
    return count;
}

/* Whether KIND is a single item with the words of another kind and more parts. */
static bool infer_is_odd_one(const struct inferred_table *inferred,
                             const struct inferred_kind *kind)
{
    size_t last = inferred->key_count - 1;
    struct span words[KEY_SHAPE_MAX_TOKENS], others[KEY_SHAPE_MAX_TOKENS];
    size_t count = infer_list_literals(&kind->shapes[last], words);
    for (const struct inferred_kind *other = inferred->kinds; other; other = other->next) {
        bool same = kind->count == 1 && other->count > 1 && count > 0 &&
                    key_shape_alike(&other->shapes[0], &kind->shapes[0]) &&
                    other->shapes[last].count < kind->shapes[last].count &&
                    infer_list_literals(&other->shapes[last], others) == count;
        for (size_t i = 0; same && i < count; i++)
            same = span_equal(words[i], others[i]);
        if (same)
            return true;
    }
    return false;
}

/* Gives the parts of all kinds their first names. Drops kinds that no word distinguishes:
 * "{sk}#{sk_2}" would match the items of all other kinds. False when memory ran out. */
static bool infer_name_parts(struct inferred_table *inferred)
{
    size_t before = inferred->kind_count, last = inferred->key_count - 1;
    struct inferred_kind *kind = inferred->kinds, *next;
    for (size_t i = 0; i < before; i++, kind = kind->next)
        if (!inferred_parts_name_kind(inferred, kind) || !infer_split_kind(inferred, kind))
            return false;
    inferred_parts_share_names(inferred, last);
    for (kind = inferred->kinds; kind; kind = next) {
        next = kind->next;
        bool odd = infer_is_odd_one(inferred, kind);
        if (!odd && infer_is_understood(kind, last))
            continue;
        bool beside = false; /* partitions like these have items of a kind that is understood */
        for (const struct inferred_kind *other = inferred->kinds; other; other = other->next)
            beside = beside || (infer_is_understood(other, last) &&
                                key_shape_alike(&other->shapes[0], &kind->shapes[0]));
        if (odd || !infer_is_understood(kind, 0) || (kind->shapes[last].count > 1 && beside))
            infer_drop_kind(inferred, kind);
    }
    return true;
}

/* The match of items and kinds, by the formats of the kinds, as a mount will match them. */

/* The fitting kind with the most literal bytes; NULL: no kind fits. TIE: another kind has as many.
 * Only the form counts: whether a part has the same value at each place is checked later. */
static struct inferred_kind *infer_match_item(const struct inferred_table *inferred, size_t row,
                                              bool *tie)
{
    struct inferred_kind *best = NULL;
    size_t most = 0;
    *tie = false;
    for (struct inferred_kind *kind = inferred->kinds; kind; kind = kind->next) {
        size_t bytes = 0;
        for (size_t i = 0; i < kind->record->key_count; i++)
            bytes += format_literal_bytes(&kind->record->keys[i].format);
        bool fits = !best || bytes >= most;
        for (size_t i = 0; fits && i < kind->record->key_count; i++) {
            const struct declared_key *key = &kind->record->keys[i];
            struct bindings parts = {0};
            const struct sampled_attribute *attribute =
                sampled_item_find(inferred->items[row], span_text(key->attribute));
            fits = attribute &&
                   (attribute->tag != TYPED_S ||
                    format_match_key(&key->format, attribute->value, inferred->separator, &parts));
        }
        if (!fits)
            continue;
        *tie = best && bytes == most;
        best = kind;
        most = bytes;
    }
    return best;
}

/* Gives each kind its items. If two kinds fit an item equally well, or if a kind has no items,
 * drops one kind and returns false: the caller repeats. */
static bool infer_match_items(struct inferred_table *inferred)
{
    for (struct inferred_kind *kind = inferred->kinds; kind; kind = kind->next)
        kind->count = 0;
    for (size_t row = 0; row < inferred->count; row++) {
        bool tie;
        struct inferred_kind *kind = infer_match_item(inferred, row, &tie);
        if (tie) {
            infer_drop_kind(inferred, kind);
            return false;
        }
        if (kind)
            kind->rows[kind->count++] = row;
    }
    for (struct inferred_kind *kind = inferred->kinds; kind; kind = kind->next)
        if (kind->count == 0) {
            infer_drop_kind(inferred, kind);
            return false;
        }
    return true;
}

/* The name of a kind: by attributes of its items such as "__edb_e__", "_type", "EntityType", else
 * by the words of its keys. */

static bool infer_is_kind_name(struct span text)
{
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        if (!ascii_is_letter(c) && (i == 0 || (!ascii_is_digit(c) && c != '_' && c != '-')))
            return false;
    }
    return text.size > 0 && text.size <= LONGEST_KIND;
}

/* The one value of the attribute NAME in all items of KIND; empty when they have no common value.
 */
static struct span infer_find_mark(const struct inferred_table *inferred,
                                   const struct inferred_kind *kind, struct span name)
{
    struct span value = span_of("", 0);
    for (size_t i = 0; i < kind->count; i++) {
        const struct sampled_attribute *attribute =
            sampled_item_find(inferred->items[kind->rows[i]], name);
        if (!attribute || attribute->tag != TYPED_S || !infer_is_kind_name(attribute->value) ||
            (i > 0 && !span_equal(attribute->value, value)))
            return span_of("", 0);
        value = attribute->value;
    }
    return value;
}

/* Whether the attribute NAME has a different value in each of several kinds: a "type" may also be a
 * property, which kinds share, or which has several values in one kind. */
static bool infer_is_mark(const struct inferred_table *inferred, struct span name)
{
    for (const struct inferred_kind *kind = inferred->kinds; kind; kind = kind->next) {
        struct span value = infer_find_mark(inferred, kind, name);
        if (value.size == 0)
            return false;
        for (const struct inferred_kind *other = inferred->kinds; other != kind;
             other = other->next)
            if (span_equal(infer_find_mark(inferred, other, name), value))
                return false;
    }
    return inferred->kinds && inferred->kinds->next;
}

/* The name that the items of KIND state; empty when they state none, or that of another kind. */
static struct span infer_find_stated_name(const struct inferred_table *inferred,
                                          const struct inferred_kind *kind)
{
    const struct sampled_item *first = inferred->items[kind->rows[0]];
    for (size_t i = 0; i < first->count; i++) {
        struct span name = first->attributes[i].name;
        enum clue_kind clue = clue_of_kind(name);
        if (clue == KIND_NOT_NAMED || (clue == KIND_MAY_BE_NAMED && !infer_is_mark(inferred, name)))
            continue;
        struct span value = infer_find_mark(inferred, kind, name);
        bool taken = false;
        for (const struct inferred_kind *other = inferred->kinds; other; other = other->next)
            taken = taken ||
                    (other != kind && span_equal(infer_find_mark(inferred, other, name), value));
        if (value.size > 0 && !taken)
            return value;
    }
    return span_of("", 0);
}

static void infer_add_words(const struct key_shape *shape, struct buf *out)
{
    for (size_t i = 0; i < shape->count; i++) {
        if (!shape->tokens[i].literal || shape->tokens[i].text.size == 0)
            continue;
        if (out->size > 0)
            buf_add_char(out, '_');
        for (size_t c = 0; c < shape->tokens[i].text.size; c++) {
            char each = shape->tokens[i].text.data[c];
            bool joins = each == '-' || each == ' ';
            buf_add_char(out, ascii_is_upper(each) ? (char)(each - 'A' + 'a') : joins ? '_' : each);
        }
    }
}

static bool infer_has_record(const struct inferred_table *inferred, const char *name)
{
    for (const struct inferred_kind *kind = inferred->kinds; kind; kind = kind->next)
        if (kind->record->name && strcmp(kind->record->name, name) == 0)
            return true;
    return false;
}

static void infer_name_record(struct inferred_table *inferred, struct inferred_kind *kind)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    inferred_parts_add_word(infer_find_stated_name(inferred, kind), &name);
    if (name.size == 0)
        infer_add_words(&kind->shapes[1], &name);
    if (name.size == 0 || infer_has_record(inferred, buf_text(&name))) {
        buf_truncate(&name, 0);
        infer_add_words(&kind->shapes[0], &name);
        infer_add_words(&kind->shapes[1], &name);
    }
    if (name.size == 0)
        buf_add_text(&name, inferred->described->records->name);
    size_t size = name.size;
    for (unsigned n = 2; infer_has_record(inferred, buf_text(&name)) && !name.failed; n++) {
        buf_truncate(&name, size);
        buf_printf(&name, "_%u", n);
    }
    kind->record->name = declare_text(inferred->arena, &name);
}

/* Records. */

/* The kind's formats, with the present names of its parts. */
static bool infer_make_formats(struct inferred_table *inferred, struct inferred_kind *kind)
{
    for (size_t i = 0; i < inferred->key_count; i++)
        if (kind->shapes[i].count > 0 &&
            !inferred_parts_format(inferred, &inferred->columns[i], &kind->shapes[i],
                                   kind->names[i], &kind->record->keys[i].format))
            return false;
    return true;
}

/* Whether all items of KIND have the part's attribute. They may lack it: a part of the partition
 * key may have its name from another kind. */
static bool infer_is_stated(const struct inferred_table *inferred, const struct inferred_kind *kind,
                            const struct part_name *name)
{
    if (!name->name || name->attribute.size == 0)
        return false;
    for (size_t i = 0; i < kind->count; i++)
        if (!sampled_item_find(inferred->items[kind->rows[i]], name->attribute))
            return false;
    return true;
}

static void infer_note_record(struct inferred_table *inferred, struct inferred_kind *kind)
{
    CLEAN_UP(buf_clean_up) struct buf note = {0};
    size_t count = 0;
    buf_printf(&note, "%zu of ", kind->count);
    infer_add_sample(inferred, &note);
    buf_add_char(&note, '.');
    for (size_t side = 0; side < inferred->key_count; side++) {
        for (size_t i = 0; i < kind->shapes[side].count; i++) {
            const struct part_name *name = &kind->names[side][i];
            bool noted = !infer_is_stated(inferred, kind, name);
            for (size_t s = 0; s <= side; s++) /* each name once */
                for (size_t k = 0; k < (s == side ? i : kind->shapes[s].count) && !noted; k++)
                    noted = infer_is_stated(inferred, kind, &kind->names[s][k]) &&
                            strcmp(kind->names[s][k].name, name->name) == 0;
            if (!noted)
                buf_printf(&note, "%s{%s}",
                           count++ ? ", " : " The items have attributes with the values of ",
                           name->name);
        }
    }
    buf_add_text(&note, count ? "." : "");
    kind->record->note = declare_text(inferred->arena, &note);
}

/* The kind of all items that fit no other kind. */
static bool infer_add_other(struct inferred_table *inferred, struct declared_record **last)
{
    struct declared_record *other = arena_alloc(inferred->arena, sizeof *other);
    CLEAN_UP(buf_clean_up) struct buf note = {0};
    size_t others = inferred->count;
    if (!other)
        return false;
    for (const struct inferred_kind *kind = inferred->kinds; kind; kind = kind->next)
        others -= kind->count;
    *other = *inferred->described->records;
    other->name = infer_has_record(inferred, "other") ? "other_record" : "other";
    other->next = NULL;
    buf_printf(&note, "All items that fit no kind above, by their whole keys: %zu of ", others);
    infer_add_sample(inferred, &note);
    buf_add_char(&note, '.');
    other->note = declare_text(inferred->arena, &note);
    *last = other;
    return other->note;
}

/* Declares a record for each kind that has items of its own, and "other" for the rest. The kinds
 * that stay have their final items and parts. If no kind stays, the table's record does. False when
 * memory ran out. */
static bool infer_make_records(struct inferred_table *inferred)
{
    const struct declared_record *whole = inferred->described->records;
    struct declared_record **last = &inferred->table->records;
    for (struct inferred_kind *kind = inferred->kinds; kind; kind = kind->next) {
        kind->record = arena_alloc(inferred->arena, sizeof *kind->record);
        for (size_t i = 0; kind->record && i < inferred->key_count; i++)
            kind->record->keys[kind->record->key_count++] = whole->keys[i];
        if (!kind->record || !infer_make_formats(inferred, kind))
            return false;
    }
    while (!infer_match_items(inferred))
        continue;
    if (!inferred->kinds)
        return true;
    for (struct inferred_kind *kind = inferred->kinds; kind; kind = kind->next) {
        for (size_t i = 0; i < inferred->key_count; i++)
            if (!inferred_parts_resolve(inferred, kind, &inferred->columns[i], kind->rows,
                                        &kind->shapes[i], kind->names[i], i == 0))
                return false;
        if (!infer_make_formats(inferred, kind))
            return false;
        infer_name_record(inferred, kind);
        infer_note_record(inferred, kind);
        *last = kind->record;
        last = &kind->record->next;
    }
    return infer_add_other(inferred, last);
}

/* Parameters with few values: parts that have one of some words in many items. */

static int infer_compare_values(const void *a, const void *b)
{
    return span_compare(*(const struct span *)a, *(const struct span *)b);
}

/* Declares the values of the part NAME as known, if they are few. A sample can't prove that there
 * are no others. The values of a part that is named like a secret are never listed. */
static bool infer_make_param(struct inferred_table *inferred, const char *name)
{
    struct span known[MOST_VALUES];
    size_t count = 0, items = 0;
    bool few = !secret_clue_in_name(span_text(name));
    for (const struct inferred_kind *kind = inferred->kinds; kind; kind = kind->next) {
        const struct inferred_part *part = inferred_parts_find(kind, name);
        for (size_t i = 0; part && i < kind->count; i++) {
            size_t at = 0;
            if (!part->values[i].data)
                continue;
            items++;
            while (at < count && !span_equal(known[at], part->values[i]))
                at++;
            if (at < count)
                continue;
            few = few && count < MOST_VALUES && clue_is_word(part->values[i]);
            if (few)
                known[count++] = part->values[i];
        }
    }
    if (!few || count < 2 || items < LEAST_FOR_VALUES || items < 3 * count)
        return true;
    qsort(known, count, sizeof known[0], infer_compare_values);
    CLEAN_UP(buf_clean_up) struct buf note = {0};
    struct declared_param *param = arena_alloc(inferred->arena, sizeof *param);
    if (!param)
        return false;
    *param = (struct declared_param){.name = name, .next = inferred->table->params};
    param->values = arena_array(inferred->arena, count, sizeof *param->values);
    for (size_t i = 0; param->values && i < count; i++)
        param->values[param->value_count++] = arena_text(inferred->arena, known[i]);
    buf_printf(&note, "The values in %zu sampled items; there may be others.", items);
    param->note = declare_text(inferred->arena, &note);
    inferred->table->params = param;
    return !inferred->arena->failed;
}

static bool infer_make_params(struct inferred_table *inferred)
{
    for (const struct inferred_kind *kind = inferred->kinds; kind; kind = kind->next)
        for (const struct inferred_part *part = kind->parts; part; part = part->next) {
            const struct declared_param *param = inferred->table->params;
            while (param && strcmp(param->name, part->name) != 0)
                param = param->next;
            if (!param && !infer_make_param(inferred, part->name))
                return false;
        }
    return true;
}

/* Attributes with the names of parts. */

/* Whether some item of KIND (NULL: of no kind) has the attribute NAME, and no part of that name. A
 * key attribute of an index is no part. */
static bool infer_has_beside(const struct inferred_table *inferred,
                             const struct inferred_kind *kind, const char *name,
                             const bool *has_kind)
{
    bool is_key = declare_is_index_key(inferred->described, span_text(name));
    const struct inferred_part *part = kind && !is_key ? inferred_parts_find(kind, name) : NULL;
    for (size_t i = 0; kind && i < inferred->key_count; i++)
        if (format_has(&kind->record->keys[i].format, name))
            return false;
    for (size_t i = 0; i < (kind ? kind->count : inferred->count); i++) {
        size_t row = kind ? kind->rows[i] : i;
        if ((kind || !has_kind[row]) && !(part && part->values[i].data) &&
            sampled_item_find(inferred->items[row], span_text(name)))
            return true;
    }
    return false;
}

static bool infer_make_attribute(struct inferred_table *inferred, const char *name,
                                 const bool *has_kind)
{
    struct declared_attribute *made = arena_alloc(inferred->arena, sizeof *made);
    struct declared_name *kinds =
        arena_array(inferred->arena, inferred->kind_count + 1, sizeof *kinds);
    const struct declared_record *record = inferred->table->records;
    if (!made || !kinds)
        return false;
    *made = (struct declared_attribute){
        .name = name, .kinds = kinds, .next = inferred->table->attributes};
    inferred->table->attributes = made;
    for (const struct inferred_kind *kind = inferred->kinds; record; record = record->next) {
        if (infer_has_beside(inferred, kind, name, has_kind))
            kinds[made->kind_count++].text = record->name;
        kind = kind ? kind->next : NULL;
    }
    return true;
}

/* States, for each part, which kinds have an attribute of its name where their keys lack it. */
static bool infer_make_attributes(struct inferred_table *inferred)
{
    bool *has_kind = arena_array(&inferred->work, inferred->count, sizeof *has_kind);
    if (!has_kind)
        return false;
    for (const struct inferred_kind *kind = inferred->kinds; kind; kind = kind->next)
        for (size_t i = 0; i < kind->count; i++)
            has_kind[kind->rows[i]] = true;
    for (const struct inferred_kind *kind = inferred->kinds; kind; kind = kind->next)
        for (const struct inferred_part *part = kind->parts; part; part = part->next) {
            const struct declared_attribute *known = inferred->table->attributes;
            while (known && strcmp(known->name, part->name) != 0)
                known = known->next;
            if (!known && !infer_make_attribute(inferred, part->name, has_kind))
                return false;
        }
    return true;
}

static void infer_note_table(struct inferred_table *inferred)
{
    struct declared_table *table = inferred->table;
    CLEAN_UP(buf_clean_up) struct buf note = {0};
    buf_printf(&note, "%s%s%s of ", table->note ? table->note : "", table->note ? " " : "",
               inferred->kinds ? "The key formats are those" : "No words were found in the keys");
    infer_add_sample(inferred, &note);
    if (inferred->all > inferred->count)
        buf_printf(&note, " (of %zu that were read)", inferred->all);
    buf_add_text(&note, inferred->kinds
                            ? "; review them before others rely on them."
                            : ", such as USER in \"USER#1\": keys stay whole until their formats "
                              "are written here by hand.");
    sampled_items_declare_traits(inferred->items, inferred->count, inferred->arena, table, &note);
    table->note = declare_text(inferred->arena, &note);
}

struct declared_table *inference_end(struct inference *inference, struct arena *arena)
{
    struct inferred_table inferred = {
        .described = inference->described,
        .table = arena_alloc(arena, sizeof *inferred.table),
        .arena = arena,
        .count = inference->stored,
        .all = inference->count,
    };
    const struct sampled_item **items =
        arena_array(&inferred.work, inference->stored, sizeof(struct sampled_item *));
    size_t count = 0;
    bool ok = inferred.table && items;
    for (const struct sampled_item *each = inference->items; ok && each; each = each->next)
        items[count++] = each;
    inferred.items = items;
    if (ok)
        *inferred.table = *inference->described;
    if (ok && inference->stored > 0) {
        ok = infer_read_columns(&inferred) && infer_group_items(&inferred) &&
             infer_name_parts(&inferred) && infer_make_records(&inferred) &&
             inferred_indexes_make(&inferred) && infer_make_params(&inferred) &&
             (!inference->is_complete ||
              (infer_make_attributes(&inferred) && inferred_indexes_find_held(&inferred)));
        if (ok && inferred.kinds) {
            inferred.table->separator = inferred.separator;
            inferred.table->paths = NULL;
        }
        if (ok)
            infer_note_table(&inferred);
    }
    arena_clean_up(&inferred.work);
    return ok && !arena->failed ? inferred.table : NULL;
}
