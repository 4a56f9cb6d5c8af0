#include "core/draft/imported_kinds.h"

#include "core/draft/declare.h"

/* The keys of a table without readable kinds. */
struct imported_whole_keys {
    const struct declared_table *table;
    struct attribute_parts *names;
};

static bool imported_kinds_is_own_key(const struct imported_kind *kind, const char *attribute)
{
    return strcmp(kind->keys[0], attribute) == 0 ||
           (kind->keys[1] && strcmp(kind->keys[1], attribute) == 0);
}

/* Key attribute I of an index: first those of the partition key, then those of the sort key. */
static struct declared_key *imported_kinds_index_key(struct declared_index *index, size_t i)
{
    return i < index->partition_count ? &index->partition[i]
                                      : &index->sort[i - index->partition_count];
}

/* KIND's format of an attribute, which must have one type in all kinds. */
static enum kind_key imported_kinds_find_key(struct import_reader *reader,
                                             struct declared_table *table,
                                             const struct imported_kind *kind,
                                             const char *attribute, struct format *format)
{
    enum value_type type = VALUE_S;
    enum kind_key found = kind->key(kind->context, attribute, format, &type);
    if (found != KIND_KEY_FOUND)
        return found;
    /* the type is known if it is declared, or if a kind that was added before has the attribute */
    enum value_type other = declare_find_type(table, attribute);
    bool known = other != VALUE_S || declare_is_table_key(table, span_text(attribute));
    for (struct declared_index *index = table->indexes; index; index = index->next)
        for (size_t i = 0; i < index->partition_count + index->sort_count; i++) {
            const struct declared_key *key = imported_kinds_index_key(index, i);
            known = known || (key->by_kind && strcmp(key->attribute, attribute) == 0);
        }
    if (known && other != type) {
        import_reader_leave_out(reader, kind->at,
                                "its %s is of type %s, but of type %s elsewhere in the table",
                                attribute, value_type_name(type), value_type_name(other));
        return KIND_KEY_LEFT_OUT;
    }
    if (type != VALUE_S)
        import_reader_add_type(reader, table, attribute, type);
    return KIND_KEY_FOUND;
}

/* Adds the kind's record, unless it lacks a key of the table, or another kind has the same formats.
 */
static struct declared_record *imported_kinds_add_record(struct import_reader *reader,
                                                         struct declared_table *table,
                                                         const struct imported_kind *kind)
{
    struct format formats[2] = {0};
    size_t count = kind->keys[1] ? 2 : 1;
    struct declared_type **types_end = &table->types;
    while (*types_end)
        types_end = &(*types_end)->next;
    for (size_t i = 0; i < count; i++) {
        enum kind_key found =
            imported_kinds_find_key(reader, table, kind, kind->keys[i], &formats[i]);
        if (found == KIND_KEY_ABSENT)
            import_reader_leave_out(reader, kind->at, "it has no %s, a key of the table",
                                    kind->keys[i]);
        if (found != KIND_KEY_FOUND) {
            *types_end = NULL; /* a kind that is left out declares no types */
            return NULL;
        }
    }
    const struct declared_record *same = table->records;
    while (same && !(format_alike(&same->keys[0].format, &formats[0]) &&
                     (count < 2 || format_alike(&same->keys[1].format, &formats[1]))))
        same = same->next;
    if (same) {
        import_reader_leave_out(
            reader, kind->at,
            "its keys have the same format as those of \"%s\": no key distinguishes the two",
            same->name);
        return NULL;
    }
    struct declared_record *record = import_reader_add_record(reader, kind->at, table, kind->name);
    for (size_t i = 0; record && i < count; i++) {
        struct declared_key *key =
            import_reader_add_record_key(reader, kind->at, record, kind->keys[i]);
        if (key)
            key->format = formats[i];
    }
    return record;
}

static void imported_kinds_add_to_index(struct import_reader *reader, struct declared_table *table,
                                        struct declared_index *index,
                                        const struct imported_kind *kind)
{
    struct format formats[2 * KEY_MAX_ATTRIBUTES] = {0};
    size_t count = index->partition_count + index->sort_count, found = 0, own = 0;
    const char *missing = NULL;
    for (size_t i = 0; i < count; i++) {
        const char *attribute = imported_kinds_index_key(index, i)->attribute;
        if (imported_kinds_is_own_key(kind, attribute)) {
            own++;
            continue;
        }
        enum kind_key key = imported_kinds_find_key(reader, table, kind, attribute, &formats[i]);
        if (key == KIND_KEY_LEFT_OUT)
            return;
        if (key == KIND_KEY_ABSENT)
            missing = attribute;
        else
            found++;
    }
    if (missing && found > 0)
        import_reader_leave_out(reader, kind->at, "it is not in index %s, because it has no %s",
                                index->name, missing);
    if (missing || own == count)
        return;
    for (size_t i = 0; i < count; i++)
        if (!imported_kinds_is_own_key(kind, imported_kinds_index_key(index, i)->attribute))
            declare_kind_format(reader->arena, imported_kinds_index_key(index, i), kind->name,
                                &formats[i]);
}

void imported_kinds_add(struct import_reader *reader, struct declared_table *table,
                        const struct imported_kind *kind)
{
    struct declared_record *record = imported_kinds_add_record(reader, table, kind);
    if (!record)
        return;
    for (struct declared_index *index = table->indexes; index; index = index->next)
        imported_kinds_add_to_index(reader, table, index, kind);
}

/* Possible separators: no character of identifiers. */
static const char separators[] = "#|:/~;!^$@+=,";

/* Counts the characters that follow a part of a key. */
static void imported_kinds_count_separators(const struct format *format, size_t *counts)
{
    for (size_t i = 1; i < format->count; i++) {
        const struct format_piece *piece = &format->pieces[i];
        const char *at = piece->param ? NULL : strchr(separators, piece->literal.data[0]);
        if (at)
            counts[at - separators]++;
    }
}

static void imported_kinds_choose_separator(struct declared_table *table)
{
    size_t counts[sizeof separators] = {0}, best = 0;
    for (const struct declared_record *record = table->records; record; record = record->next)
        for (size_t i = 0; i < record->key_count; i++)
            imported_kinds_count_separators(&record->keys[i].format, counts);
    for (struct declared_index *index = table->indexes; index; index = index->next)
        for (size_t i = 0; i < index->partition_count + index->sort_count; i++)
            for (const struct declared_kind_format *each =
                     imported_kinds_index_key(index, i)->by_kind;
                 each; each = each->next)
                imported_kinds_count_separators(&each->format, counts);
    for (size_t i = 1; i + 1 < sizeof separators; i++)
        if (counts[i] > counts[best])
            best = i;
    table->separator = separators[best];
}

/* A key attribute as one open part. */
static enum kind_key imported_kinds_find_whole(void *context, const char *attribute,
                                               struct format *format, enum value_type *type)
{
    struct imported_whole_keys *keys = context;
    *type = declare_find_type(keys->table, attribute);
    if (key_template_add_part(keys->names, format, span_text(attribute)))
        return KIND_KEY_LEFT_OUT;
    format->pieces[0].open = *type == VALUE_S;
    return KIND_KEY_FOUND;
}

void imported_kinds_finish(struct import_reader *reader, struct attribute_parts *names,
                           struct json at, struct declared_table *table, const char *const keys[2])
{
    struct imported_whole_keys whole = {table, names};
    struct imported_kind item = {"item", at, {keys[0], keys[1]}, imported_kinds_find_whole, &whole};
    if (!table->records)
        imported_kinds_add(reader, table, &item);
    for (struct declared_index *index = table->indexes, *next; index; index = next) {
        next = index->next;
        for (size_t i = 0; i < index->partition_count + index->sort_count; i++) {
            struct declared_key *key = imported_kinds_index_key(index, i);
            if (declare_is_table_key(table, span_text(key->attribute)) && /* one part in an index */
                key_template_add_part(names, &key->format, span_text(key->attribute)))
                reader->arena->failed = true;
        }
        if (index->partition_count > 0)
            continue;
        import_reader_leave_out(reader, at, "index %s: its partition key is unknown", index->name);
        import_reader_drop_index(table, index);
    }
    for (struct declared_type **type = &table->types; *type;)
        if (declare_is_key(table, span_text((*type)->attribute)))
            type = &(*type)->next;
        else
            *type = (*type)->next; /* a key of a dropped index only */
    imported_kinds_choose_separator(table);
}
