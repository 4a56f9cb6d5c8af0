#include "core/draft/inferred_indexes.h"

#include "core/draft/electro_keys.h"
#include "core/draft/inferred_parts.h"

static bool inferred_indexes_is_table_key(const struct inferring *inferring, const char *attribute)
{
    const struct declared_record *record = inferring->described->records;
    for (size_t i = 0; i < record->key_count; i++)
        if (strcmp(record->keys[i].attribute, attribute) == 0)
            return true;
    return false;
}

static bool inferred_indexes_is_text_key(const struct inferring *inferring, const char *attribute)
{
    for (const struct declared_type *type = inferring->described->types; type; type = type->next)
        if (strcmp(type->attribute, attribute) == 0)
            return type->type == VALUE_S;
    return true;
}

/* How one kind writes an index's attribute. COUNT gets in how many records it has it. */
static bool inferred_indexes_index_format(struct inferring *inferring, struct inferred_kind *kind,
                                          const char *attribute, struct format *out, size_t *count)
{
    struct part_name names[KEY_SHAPE_MAX_TOKENS] = {0};
    size_t *row_of = arena_array(&inferring->work, kind->count, sizeof *row_of);
    size_t *rows = arena_array(&inferring->work, kind->count, sizeof *rows);
    const struct sampled_item **have = arena_array(&inferring->work, kind->count, sizeof *have);
    struct column column = {
        .table = inferring->described,
        .attribute = span_text(attribute),
        .separator = inferring->separator,
        .specimens = have,
        .shapes = arena_array(&inferring->work, kind->count, sizeof(struct key_shape)),
        .known = &inferring->vocabulary,
    };
    if (inferring->work.failed)
        return false;
    for (size_t i = 0; i < kind->count; i++) {
        const struct sampled_item *specimen = inferring->specimens[kind->rows[i]];
        const struct sampled_item_attribute *key = sampled_item_find(specimen, column.attribute);
        row_of[i] = SIZE_MAX;
        if (!key || key->tag != TYPED_S || key->value.size == 0)
            continue;
        rows[column.count] = row_of[i] = column.count;
        have[column.count++] = specimen;
    }
    *count = column.count;
    if (column.count == 0)
        return true;
    column.is_lower = inferring->columns[0].is_lower;
    column_take_apart(&column);
    column_find_words_of_kind(&column);
    electro_keys_take_apart(&column);
    struct key_shape shape = column.shapes[0];
    for (size_t i = 0; i < column.count; i++)
        for (size_t t = 0; t < shape.count; t++)
            shape.tokens[t].open = shape.tokens[t].open || column.shapes[i].tokens[t].open;
    return part_names_find(&column, rows, column.count, inferring->arena, names) &&
           inferred_parts_resolve(inferring, kind, &column, row_of, &shape, names, false) &&
           inferred_parts_format(inferring, &column, &shape, names, out);
}

static bool inferred_indexes_add_kind_format(struct inferring *inferring,
                                             struct declared_kind_format **last, const char *kind,
                                             const struct format *format)
{
    struct declared_kind_format *made = arena_alloc(inferring->arena, sizeof *made);
    if (!made)
        return false;
    *made = (struct declared_kind_format){.kind = kind, .format = *format};
    while (*last)
        last = &(*last)->next;
    *last = made;
    return true;
}

/* One format where all records have the attribute and write it alike; else one for each kind that
 * has it, and whole keys for what else there may be. */
static bool inferred_indexes_infer_index_key(struct inferring *inferring, struct declared_key *key,
                                             struct buf *note)
{
    struct declared_kind_format *by_kind = NULL;
    size_t have = 0;
    bool alike = true;
    for (struct inferred_kind *kind = inferring->kinds; kind; kind = kind->next) {
        struct format format;
        size_t count = 0;
        if (!inferred_indexes_index_format(inferring, kind, key->attribute, &format, &count))
            return false;
        have += count;
        alike = alike && count == kind->count;
        if (count == 0)
            continue;
        alike = alike && (!by_kind || format_equal(&by_kind->format, &format));
        if (!inferred_indexes_add_kind_format(inferring, &by_kind, kind->record->name, &format))
            return false;
    }
    buf_printf(note, "%s%zu of %zu sampled records have %s", note->size ? "; " : "", have,
               inferring->count, key->attribute);
    if (!by_kind)
        return true; /* nothing is known of it */
    if (alike && have == inferring->count) {
        key->format = by_kind->format;
        return true;
    }
    const struct declared_record *other = inferring->table->records;
    while (other->next)
        other = other->next;
    if (!inferred_indexes_add_kind_format(inferring, &by_kind, other->name, &key->format))
        return false;
    key->by_kind = by_kind;
    key->format = (struct format){0};
    return true;
}

static bool inferred_indexes_infer_side(struct inferring *inferring, struct declared_key *keys,
                                        size_t count, struct buf *note)
{
    for (size_t i = 0; i < count; i++)
        if (!inferred_indexes_is_table_key(inferring, keys[i].attribute) &&
            inferred_indexes_is_text_key(inferring, keys[i].attribute) &&
            !inferred_indexes_infer_index_key(inferring, &keys[i], note))
            return false;
    return true;
}

bool inferred_indexes_make(struct inferring *inferring)
{
    struct declared_index **last = &inferring->table->indexes;
    const struct declared_index *from = inferring->described->indexes;
    *last = NULL;
    for (; from; from = from->next) {
        CLEAN_UP(buf_clean_up) struct buf note = {0};
        struct declared_index *index = arena_alloc(inferring->arena, sizeof *index);
        if (!index)
            return false;
        *index = *from;
        index->next = NULL;
        if (inferring->kinds &&
            (!inferred_indexes_infer_side(inferring, index->partition, index->partition_count,
                                          &note) ||
             !inferred_indexes_infer_side(inferring, index->sort, index->sort_count, &note)))
            return false;
        if (note.size > 0) {
            CLEAN_UP(buf_clean_up) struct buf whole = {0};
            buf_printf(&whole, "%s%s%s.", from->note ? from->note : "", from->note ? " " : "",
                       buf_text(&note));
            index->note = inference_text(inferring, &whole);
        }
        *last = index;
        last = &index->next;
    }
    return !inferring->arena->failed;
}
