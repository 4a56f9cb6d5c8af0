#include "core/draft/inferred_indexes.h"

#include "core/draft/declare.h"
#include "core/draft/electro_keys.h"

/* KIND's format of an index's attribute. COUNT gets how many items of the kind have the attribute.
 */
static bool inferred_indexes_make_format(struct inferred_table *inferred,
                                         struct inferred_kind *kind, const char *attribute,
                                         struct format *out, size_t *count)
{
    struct part_name names[KEY_SHAPE_MAX_TOKENS] = {0};
    size_t *row_of = arena_array(&inferred->work, kind->count, sizeof *row_of);
    size_t *rows = arena_array(&inferred->work, kind->count, sizeof *rows);
    const struct sampled_item **have = arena_array(&inferred->work, kind->count, sizeof *have);
    struct column column = {
        .table = inferred->described,
        .attribute = span_text(attribute),
        .separator = inferred->separator,
        .items = have,
        .shapes = arena_array(&inferred->work, kind->count, sizeof(struct key_shape)),
        .known = &inferred->vocabulary,
    };
    if (inferred->work.failed)
        return false;
    for (size_t i = 0; i < kind->count; i++) {
        const struct sampled_item *item = inferred->items[kind->rows[i]];
        const struct sampled_attribute *key = sampled_item_find(item, column.attribute);
        row_of[i] = SIZE_MAX;
        if (!key || key->tag != TYPED_S || key->value.size == 0)
            continue;
        rows[column.count] = row_of[i] = column.count;
        have[column.count++] = item;
    }
    *count = column.count;
    if (column.count == 0)
        return true;
    column.is_lower = inferred->columns[0].is_lower;
    key_shape_split_column(&column);
    key_shape_find_words_of_kind(&column);
    electro_keys_split_column(&column);
    struct key_shape shape = column.shapes[0];
    for (size_t i = 0; i < column.count; i++)
        for (size_t t = 0; t < shape.count; t++)
            shape.tokens[t].open = shape.tokens[t].open || column.shapes[i].tokens[t].open;
    return inferred_parts_name_column(&column, rows, column.count, inferred->arena, names) &&
           inferred_parts_resolve(inferred, kind, &column, row_of, &shape, names, false) &&
           inferred_parts_format(inferred, &column, &shape, names, out);
}

/* One format if all items have the attribute in that format. Else one for each kind that has the
 * attribute, and whole keys for the kind "other". */
static bool inferred_indexes_make_key(struct inferred_table *inferred, struct declared_key *key,
                                      struct buf *note)
{
    struct declared_key kinds = {0};
    size_t have = 0;
    bool alike = true;
    for (struct inferred_kind *kind = inferred->kinds; kind; kind = kind->next) {
        struct format format;
        size_t count = 0;
        if (!inferred_indexes_make_format(inferred, kind, key->attribute, &format, &count))
            return false;
        have += count;
        alike = alike && count == kind->count;
        if (count == 0)
            continue;
        alike = alike && (!kinds.by_kind || format_equal(&kinds.by_kind->format, &format));
        if (!declare_kind_format(inferred->arena, &kinds, kind->record->name, &format))
            return false;
    }
    buf_printf(note, "%s%zu of %zu sampled items have %s", note->size ? "; " : "", have,
               inferred->count, key->attribute);
    if (!kinds.by_kind)
        return true; /* without evidence the key stays whole */
    if (alike && have == inferred->count) {
        key->format = kinds.by_kind->format;
        return true;
    }
    const struct declared_record *other = inferred->table->records;
    while (other->next)
        other = other->next;
    if (!declare_kind_format(inferred->arena, &kinds, other->name, &key->format))
        return false;
    key->by_kind = kinds.by_kind;
    key->format = (struct format){0};
    return true;
}

static bool inferred_indexes_make_side(struct inferred_table *inferred, struct declared_key *keys,
                                       size_t count, struct buf *note)
{
    for (size_t i = 0; i < count; i++)
        if (!declare_is_table_key(inferred->described, span_text(keys[i].attribute)) &&
            declare_find_type(inferred->described, keys[i].attribute) == VALUE_S &&
            !inferred_indexes_make_key(inferred, &keys[i], note))
            return false;
    return true;
}

/* Whether ITEM, of KIND, has all key attributes of INDEX, and each name of a part has one value in
 * its keys and in key attributes. */
static bool inferred_indexes_has_item(const struct inferred_table *inferred,
                                      const struct declared_record *record,
                                      const struct declared_index *index,
                                      const struct sampled_item *item)
{
    static const enum typed_tag tags[] = {
        [VALUE_S] = TYPED_S, [VALUE_N] = TYPED_N, [VALUE_B] = TYPED_B};
    struct bindings parts = {0};
    size_t count = record->key_count + index->partition_count + index->sort_count;
    for (size_t i = 0; i < count; i++) {
        size_t at = i < record->key_count ? i : i - record->key_count;
        const struct declared_key *key = i < record->key_count ? &record->keys[at]
                                         : at < index->partition_count
                                             ? &index->partition[at]
                                             : &index->sort[at - index->partition_count];
        const struct sampled_attribute *value = sampled_item_find(item, span_text(key->attribute));
        enum value_type type = declare_find_type(inferred->described, key->attribute);
        const struct format *format =
            i < record->key_count ? &key->format : declare_find_format(record, key);
        if (!value || value->tag != tags[type] || !format)
            return false;
        if (type == VALUE_S &&
            (value->value.size == 0 ||
             !format_match_key(format, value->value, inferred->separator, &parts)))
            return false;
    }
    for (size_t i = 0; i < parts.count; i++) {
        const struct sampled_attribute *value =
            sampled_item_find(item, span_text(parts.items[i].param));
        if (value && declare_is_key(inferred->described, value->name) &&
            !span_equal(value->value, parts.items[i].value))
            return false;
    }
    return bindings_agree(&parts, &parts);
}

bool inferred_indexes_find_held(struct inferred_table *inferred)
{
    for (struct declared_index *index = inferred->table->indexes; index; index = index->next) {
        index->has_holds = true;
        index->holds = arena_array(inferred->arena, inferred->kind_count, sizeof *index->holds);
        if (!index->holds)
            return false;
        for (const struct inferred_kind *kind = inferred->kinds; kind; kind = kind->next) {
            bool holds = true;
            for (size_t i = 0; i < kind->count && holds; i++)
                holds = inferred_indexes_has_item(inferred, kind->record, index,
                                                  inferred->items[kind->rows[i]]);
            if (holds)
                index->holds[index->hold_count++].text = kind->record->name;
        }
    }
    return true;
}

bool inferred_indexes_make(struct inferred_table *inferred)
{
    struct declared_index **last = &inferred->table->indexes;
    const struct declared_index *from = inferred->described->indexes;
    *last = NULL;
    for (; from; from = from->next) {
        CLEAN_UP(buf_clean_up) struct buf note = {0};
        struct declared_index *index = arena_alloc(inferred->arena, sizeof *index);
        if (!index)
            return false;
        *index = *from;
        index->next = NULL;
        if (inferred->kinds &&
            (!inferred_indexes_make_side(inferred, index->partition, index->partition_count,
                                         &note) ||
             !inferred_indexes_make_side(inferred, index->sort, index->sort_count, &note)))
            return false;
        if (note.size > 0) {
            CLEAN_UP(buf_clean_up) struct buf whole = {0};
            buf_printf(&whole, "%s%s%s.", from->note ? from->note : "", from->note ? " " : "",
                       buf_text(&note));
            index->note = declare_text(inferred->arena, &whole);
        }
        *last = index;
        last = &index->next;
    }
    return !inferred->arena->failed;
}
