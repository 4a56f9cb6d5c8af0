#include "core/draft/imported_kinds.h"

/* Of a table of which no kind could be read. */
struct whole_keys {
    const struct declared_table *table;
    struct attribute_parts *names;
};

static bool kinds_is_own_key(const struct kind *kind, const char *attribute)
{
    return strcmp(kind->keys[0], attribute) == 0 ||
           (kind->keys[1] && strcmp(kind->keys[1], attribute) == 0);
}

/* Whether some kind before this one has said how it writes the attribute, as a text then unless
 * the types say otherwise. */
static bool kinds_is_settled(const struct declared_table *table, const char *attribute)
{
    const struct declared_record *first = table->records;
    if (import_reader_type_of(table, attribute) != VALUE_S)
        return true;
    for (size_t i = 0; first && i < first->key_count; i++)
        if (strcmp(first->keys[i].attribute, attribute) == 0)
            return true;
    for (const struct declared_index *index = table->indexes; index; index = index->next)
        for (size_t i = 0; i < KEY_MAX_ATTRIBUTES; i++)
            if ((i < index->partition_count && index->partition[i].by_kind &&
                 strcmp(index->partition[i].attribute, attribute) == 0) ||
                (i < index->sort_count && index->sort[i].by_kind &&
                 strcmp(index->sort[i].attribute, attribute) == 0))
                return true;
    return false;
}

/* Asks KIND for an attribute, which has one type in all kinds. */
static enum kind_key kinds_find_key(struct import_reader *reading, struct declared_table *table,
                                    const struct kind *kind, const char *attribute,
                                    struct format *format)
{
    enum value_type type = VALUE_S;
    enum kind_key found = kind->key(kind->context, attribute, format, &type);
    if (found != KIND_KEY_FOUND)
        return found;
    if (kinds_is_settled(table, attribute) && import_reader_type_of(table, attribute) != type) {
        import_reader_leave_out(reading, kind->at,
                                "its %s is of type %s, but of type %s elsewhere in the table",
                                attribute, value_type_name(type),
                                value_type_name(import_reader_type_of(table, attribute)));
        return KIND_KEY_LEFT_OUT;
    }
    if (type != VALUE_S)
        import_reader_add_type(reading, table, attribute, type);
    return KIND_KEY_FOUND;
}

static const struct declared_record *kinds_same_keys(const struct declared_table *table,
                                                     const struct format *formats, size_t count)
{
    for (const struct declared_record *each = table->records; each; each = each->next)
        if (format_alike(&each->keys[0].format, &formats[0]) &&
            (count < 2 || format_alike(&each->keys[1].format, &formats[1])))
            return each;
    return NULL;
}

static struct declared_record *kinds_add_record(struct import_reader *reading,
                                                struct declared_table *table,
                                                const struct kind *kind)
{
    struct format formats[2] = {0};
    size_t count = kind->keys[1] ? 2 : 1;
    struct declared_type **types_end = &table->types;
    while (*types_end)
        types_end = &(*types_end)->next;
    for (size_t i = 0; i < count; i++) {
        enum kind_key found = kinds_find_key(reading, table, kind, kind->keys[i], &formats[i]);
        if (found == KIND_KEY_ABSENT)
            import_reader_leave_out(reading, kind->at, "it does not say its %s, a key of the table",
                                    kind->keys[i]);
        if (found != KIND_KEY_FOUND) {
            *types_end = NULL; /* a kind that is left out says nothing of the table */
            return NULL;
        }
    }
    const struct declared_record *same = kinds_same_keys(table, formats, count);
    if (same) {
        import_reader_leave_out(reading, kind->at,
                                "its keys are written as those of \"%s\": no key tells which it is",
                                same->name);
        return NULL;
    }
    struct declared_record *record = import_reader_add_record(reading, kind->at, table, kind->name);
    for (size_t i = 0; record && i < count; i++) {
        struct declared_key *key =
            import_reader_add_record_key(reading, kind->at, record, kind->keys[i]);
        if (key)
            key->format = formats[i];
    }
    return record;
}

/* The keys of an index in one row: the partition key's, then the sort key's. */
static struct declared_key *kinds_index_key(struct declared_index *index, size_t i)
{
    return i < index->partition_count ? &index->partition[i]
                                      : &index->sort[i - index->partition_count];
}

static void kinds_add_to_index(struct import_reader *reading, struct declared_table *table,
                               struct declared_index *index, const struct kind *kind)
{
    struct format formats[2 * KEY_MAX_ATTRIBUTES] = {0};
    size_t count = index->partition_count + index->sort_count, found = 0, own = 0;
    const char *missing = NULL;
    for (size_t i = 0; i < count; i++) {
        const char *attribute = kinds_index_key(index, i)->attribute;
        if (kinds_is_own_key(kind, attribute)) {
            own++;
            continue;
        }
        enum kind_key key = kinds_find_key(reading, table, kind, attribute, &formats[i]);
        if (key == KIND_KEY_LEFT_OUT)
            return;
        if (key == KIND_KEY_ABSENT)
            missing = attribute;
        else
            found++;
    }
    if (missing && found > 0)
        import_reader_leave_out(reading, kind->at,
                                "it is not in index %s, as it does not say its %s", index->name,
                                missing);
    if (missing || own == count)
        return;
    for (size_t i = 0; i < count; i++)
        if (!kinds_is_own_key(kind, kinds_index_key(index, i)->attribute))
            import_reader_add_kind_format(reading, kinds_index_key(index, i), kind->name,
                                          &formats[i]);
}

void imported_kinds_add(struct import_reader *reading, struct declared_table *table,
                        const struct kind *kind)
{
    struct declared_record *record = kinds_add_record(reading, table, kind);
    if (!record)
        return;
    for (struct declared_index *index = table->indexes; index; index = index->next)
        kinds_add_to_index(reading, table, index, kind);
}

static bool kinds_is_key_of(const struct declared_table *table, const char *attribute)
{
    const struct declared_record *first = table->records;
    for (size_t i = 0; first && i < first->key_count; i++)
        if (strcmp(first->keys[i].attribute, attribute) == 0)
            return true;
    return false;
}

/* A key of the table is one part in an index, which the kinds spell out. */
static void kinds_resolve_key(struct import_reader *reading, struct attribute_parts *names,
                              const struct declared_table *table, struct declared_key *key)
{
    if (kinds_is_key_of(table, key->attribute) &&
        key_template_add_part(names, &key->format, span_text(key->attribute)))
        reading->arena->failed = true;
}

/* An index without a partition key, which could not be read, is none. */
static void kinds_resolve_indexes(struct import_reader *reading, struct attribute_parts *names,
                                  struct json at, struct declared_table *table)
{
    for (struct declared_index *index = table->indexes, *next; index; index = next) {
        next = index->next;
        for (size_t i = 0; i < index->partition_count + index->sort_count; i++)
            kinds_resolve_key(reading, names, table, kinds_index_key(index, i));
        if (index->partition_count > 0)
            continue;
        import_reader_leave_out(reading, at, "index %s: its partition key is not known",
                                index->name);
        import_reader_drop_index(table, index);
    }
}

static bool kinds_has_key(const struct declared_table *table, const char *attribute)
{
    if (kinds_is_key_of(table, attribute))
        return true;
    for (struct declared_index *index = table->indexes; index; index = index->next)
        for (size_t i = 0; i < index->partition_count + index->sort_count; i++)
            if (strcmp(kinds_index_key(index, i)->attribute, attribute) == 0)
                return true;
    return false;
}

/* Types of what was a key of an index that was dropped. */
static void kinds_drop_idle_types(struct declared_table *table)
{
    struct declared_type **next = &table->types;
    while (*next)
        if (kinds_has_key(table, (*next)->attribute))
            next = &(*next)->next;
        else
            *next = (*next)->next;
}

/* What may be a separator: none of what identifiers are made of. */
static const char separators[] = "#|:/~;!^$@+=,";

/* Counts what follows a part of a key. */
static void kinds_count_separators(const struct format *format, size_t *counts)
{
    for (size_t i = 1; i < format->count; i++) {
        const struct format_piece *piece = &format->pieces[i];
        const char *at = piece->param ? NULL : strchr(separators, piece->literal.data[0]);
        if (at)
            counts[at - separators]++;
    }
}

static void kinds_choose_separator(struct declared_table *table)
{
    size_t counts[sizeof separators] = {0}, best = 0;
    for (const struct declared_record *record = table->records; record; record = record->next)
        for (size_t i = 0; i < record->key_count; i++)
            kinds_count_separators(&record->keys[i].format, counts);
    for (struct declared_index *index = table->indexes; index; index = index->next)
        for (size_t i = 0; i < index->partition_count + index->sort_count; i++)
            for (const struct declared_kind_format *each = kinds_index_key(index, i)->by_kind; each;
                 each = each->next)
                kinds_count_separators(&each->format, counts);
    for (size_t i = 1; i + 1 < sizeof separators; i++)
        if (counts[i] > counts[best])
            best = i;
    table->separator = separators[best];
}

/* The whole of a key attribute, whatever it holds. */
static enum kind_key kinds_find_whole(void *context, const char *attribute, struct format *format,
                                      enum value_type *type)
{
    struct whole_keys *keys = context;
    *type = import_reader_type_of(keys->table, attribute);
    if (key_template_add_part(keys->names, format, span_text(attribute)))
        return KIND_KEY_LEFT_OUT;
    format->pieces[0].open = *type == VALUE_S;
    return KIND_KEY_FOUND;
}

void imported_kinds_finish(struct import_reader *reading, struct attribute_parts *names,
                           struct json at, struct declared_table *table, const char *const keys[2])
{
    struct whole_keys whole = {table, names};
    struct kind item = {"item", at, {keys[0], keys[1]}, kinds_find_whole, &whole};
    if (!table->records)
        imported_kinds_add(reading, table, &item);
    kinds_resolve_indexes(reading, names, at, table);
    kinds_drop_idle_types(table);
    kinds_choose_separator(table);
}
