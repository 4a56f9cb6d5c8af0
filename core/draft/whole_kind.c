#include "core/draft/whole_kind.h"

#include "core/draft/declare.h"
#include "core/draft/declared_views.h"
#include "core/draft/generic_view.h"

/* The part that is all of the key, and in it as it is. */
static const char *whole_kind_plain_part(const struct format *format)
{
    const char *part = format_whole_param(format);
    return part && !format->pieces[0].pad && !format->pieces[0].letters ? part : NULL;
}

static const char *whole_kind_whole_part(const struct declared_table *table,
                                         const struct declared_key *key)
{
    const char *part = whole_kind_plain_part(&key->format);
    bool open =
        part && (key->format.pieces[0].open || generic_type(table, key->attribute) != VALUE_S);
    return open ? part : NULL;
}

static const struct declared_record *whole_kind_find(const struct declared_table *table)
{
    for (const struct declared_record *each = table->records; each; each = each->next) {
        bool whole = each->key_count > 0;
        for (size_t i = 0; i < each->key_count; i++)
            whole = whole && whole_kind_whole_part(table, &each->keys[i]);
        if (whole)
            return each;
    }
    return NULL;
}

static bool whole_kind_keys_have(const struct declared_key *keys, size_t count,
                                 const char *attribute)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(keys[i].attribute, attribute) == 0)
            return true;
    return false;
}

/* Whether NAME is a key attribute: a condition on a part of that name would look like one on it. */
static bool whole_kind_is_attribute(const struct declared_table *table, const char *name)
{
    if (table->records &&
        whole_kind_keys_have(table->records->keys, table->records->key_count, name))
        return true;
    for (const struct declared_index *each = table->indexes; each; each = each->next)
        if (whole_kind_keys_have(each->partition, each->partition_count, name) ||
            whole_kind_keys_have(each->sort, each->sort_count, name))
            return true;
    return false;
}

static const struct declared_param *whole_kind_values_of(const struct declared_table *table,
                                                         const char *part)
{
    const struct declared_param *each = table->params;
    while (each && (strcmp(each->name, part) != 0 || each->value_count == 0))
        each = each->next;
    return each;
}

/* Whether PART, which is all of ATTRIBUTE in some kind, has values that are known, and other kinds
 * write the attribute in another way: what is any of them is not called so. */
static bool whole_kind_is_narrow(const struct declared_table *table, const char *attribute,
                                 const char *part)
{
    bool otherwise = false;
    for (const struct declared_record *each = table->records; each; each = each->next)
        for (size_t i = 0; i < each->key_count; i++)
            otherwise = otherwise || (strcmp(each->keys[i].attribute, attribute) == 0 &&
                                      !whole_kind_plain_part(&each->keys[i].format));
    return otherwise && whole_kind_values_of(table, part);
}

/* The same of a key of an index. */
static bool whole_kind_is_narrow_in(const struct declared_table *table,
                                    const struct declared_key *key, const char *part)
{
    bool otherwise = false;
    for (const struct declared_kind_format *each = key->by_kind; each; each = each->next)
        otherwise = otherwise || !whole_kind_plain_part(&each->format);
    return otherwise && whole_kind_values_of(table, part);
}

/* The part that some kind has for all of the attribute, by which it is known then. */
static const char *whole_kind_known_part(const struct declared_table *table, const char *attribute)
{
    for (const struct declared_record *each = table->records; each; each = each->next)
        for (size_t i = 0; i < each->key_count; i++)
            if (strcmp(each->keys[i].attribute, attribute) == 0 &&
                whole_kind_plain_part(&each->keys[i].format) &&
                !whole_kind_is_narrow(table, attribute,
                                      whole_kind_plain_part(&each->keys[i].format)))
                return whole_kind_plain_part(&each->keys[i].format);
    return NULL;
}

static const char *whole_kind_name_part(struct arena *arena, const struct declared_table *table,
                                        const char *attribute)
{
    const char *wanted = declare_param_name(arena, span_text(attribute)), *name = wanted;
    for (unsigned n = 2; name; n++) {
        const char *free = view_free_param(arena, table, name);
        bool other = strcmp(name, attribute) != 0 && whole_kind_is_attribute(table, name);
        if (free && strcmp(free, name) == 0 && !other && strcmp(name, RANK_PARAM) != 0)
            return name;
        name = free ? declare_other_name(arena, wanted, "key", n) : NULL;
    }
    return NULL;
}

static struct format whole_kind_open_format(struct arena *arena, const char *part)
{
    struct format_piece *piece = arena_alloc(arena, sizeof *piece);
    if (!piece || !part)
        return (struct format){0};
    *piece = (struct format_piece){.param = part, .open = true};
    return (struct format){piece, 1};
}

static bool whole_kind_has_record(const struct declared_table *table, const char *name)
{
    for (const struct declared_record *each = table->records; each; each = each->next)
        if (strcmp(each->name, name) == 0)
            return true;
    return false;
}

static const struct declared_record *whole_kind_add(struct arena *arena,
                                                    struct declared_table *table)
{
    const struct declared_record *first = table->records;
    const char *name = "other";
    for (unsigned n = 2; name && whole_kind_has_record(table, name); n++)
        name = declare_other_name(arena, "other", "records", n);
    struct declared_record made = {
        .key_count = first->key_count,
        .note = "Whatever is of no other kind, and all of them by their whole keys."};
    for (size_t i = 0; i < first->key_count; i++) {
        const char *attribute = first->keys[i].attribute;
        const char *part = whole_kind_known_part(table, attribute);
        made.keys[i] = (struct declared_key){
            .attribute = attribute,
            .format = whole_kind_open_format(
                arena, part ? part : whole_kind_name_part(arena, table, attribute))};
    }
    struct declared_record *record = declare_record(arena, table, name ? name : "");
    if (!record)
        return NULL;
    made.name = record->name;
    *record = made;
    return record;
}

/* Instead of what KEY says of the kind, if it does. */
static void whole_kind_add_format(struct arena *arena, struct declared_key *key, const char *kind,
                                  const struct format *format)
{
    struct declared_kind_format **last = &key->by_kind;
    while (*last && strcmp((*last)->kind, kind) != 0)
        last = &(*last)->next;
    if (*last) {
        (*last)->format = *format;
        return;
    }
    *last = arena_alloc(arena, sizeof **last);
    if (*last)
        **last = (struct declared_kind_format){.kind = kind, .format = *format};
}

/* Whether KEY, where it is not written whole, or another attribute has a part called PART. */
static bool whole_kind_states_otherwise(const struct declared_key *key, const char *attribute,
                                        const char *part)
{
    bool same = strcmp(key->attribute, attribute) == 0;
    if (format_has(&key->format, part) && !(same && whole_kind_plain_part(&key->format)))
        return true;
    for (const struct declared_kind_format *each = key->by_kind; each; each = each->next)
        if (format_has(&each->format, part) && !(same && whole_kind_plain_part(&each->format)))
            return true;
    return false;
}

/* Whether PART, which is all of ATTRIBUTE, is also called what is something else: a path that says
 * the one would seem to say the other. */
static bool whole_kind_is_ambiguous(const struct declared_table *table, const char *attribute,
                                    const char *part)
{
    for (const struct declared_record *each = table->records; each; each = each->next)
        for (size_t i = 0; i < each->key_count; i++)
            if (whole_kind_states_otherwise(&each->keys[i], attribute, part))
                return true;
    for (const struct declared_index *each = table->indexes; each; each = each->next) {
        for (size_t i = 0; i < each->partition_count; i++)
            if (whole_kind_states_otherwise(&each->partition[i], attribute, part))
                return true;
        for (size_t i = 0; i < each->sort_count; i++)
            if (whole_kind_states_otherwise(&each->sort[i], attribute, part))
                return true;
    }
    return false;
}

/* The part that an index which was completed before has for the attribute. */
static const char *whole_kind_part_before(const struct declared_table *table,
                                          const struct declared_record *record,
                                          const char *attribute)
{
    for (const struct declared_index *each = table->indexes; each; each = each->next) {
        for (size_t i = 0; i < each->partition_count; i++)
            if (strcmp(each->partition[i].attribute, attribute) == 0 &&
                generic_part(record, &each->partition[i]))
                return generic_part(record, &each->partition[i]);
        for (size_t i = 0; i < each->sort_count; i++)
            if (strcmp(each->sort[i].attribute, attribute) == 0 &&
                generic_part(record, &each->sort[i]))
                return generic_part(record, &each->sort[i]);
    }
    return NULL;
}

/* Gives RECORD a format of its own for each key of an index that is written in parts. */
static void whole_kind_complete(struct arena *arena, struct declared_table *table,
                                const struct declared_record *record, struct declared_key *keys,
                                size_t count)
{
    for (size_t i = 0; i < count && !arena->failed; i++) {
        struct declared_key *key = &keys[i];
        if (generic_part(record, key) ||
            whole_kind_keys_have(record->keys, record->key_count, key->attribute))
            continue;
        const char *part = whole_kind_part_before(table, record, key->attribute);
        if (!part || whole_kind_is_ambiguous(table, key->attribute, part))
            part = whole_kind_name_part(arena, table, key->attribute);
        struct format whole = whole_kind_open_format(arena, part);
        const struct declared_record *each =
            key->by_kind || key->format.count == 0 ? NULL : table->records;
        for (; each; each = each->next)
            if (each != record)
                whole_kind_add_format(arena, key, each->name, &key->format);
        key->format = (struct format){0};
        whole_kind_add_format(arena, key, record->name, &whole);
    }
}

/* Gives the parts of RECORD's keys names of their own. */
static void whole_kind_report_apart(struct arena *arena, struct declared_table *table,
                                    const struct declared_record *record)
{
    struct declared_record *mine = table->records;
    while (mine != record)
        mine = mine->next;
    for (size_t i = 0; i < mine->key_count; i++) {
        struct declared_key *key = &mine->keys[i];
        const char *part = format_whole_param(&key->format);
        if (whole_kind_is_ambiguous(table, key->attribute, part) ||
            whole_kind_is_narrow(table, key->attribute, part))
            key->format =
                whole_kind_open_format(arena, whole_kind_name_part(arena, table, key->attribute));
    }
}

/* The same for one side of an index. */
static void whole_kind_report_side_apart(struct arena *arena, struct declared_table *table,
                                         const struct declared_record *record,
                                         struct declared_key *keys, size_t count)
{
    for (size_t i = 0; i < count && !arena->failed; i++) {
        struct declared_kind_format *each = keys[i].by_kind;
        while (each && strcmp(each->kind, record->name) != 0)
            each = each->next;
        const char *part = each ? format_whole_param(&each->format) : NULL;
        if (part && (whole_kind_is_ambiguous(table, keys[i].attribute, part) ||
                     whole_kind_is_narrow_in(table, &keys[i], part)))
            each->format = (struct format){0}; /* as if it had none */
    }
}

const struct declared_record *whole_kind(struct arena *arena, struct declared_table *table)
{
    const struct declared_record *record = whole_kind_find(table);
    if (!record && table->records)
        record = whole_kind_add(arena, table);
    if (record)
        whole_kind_report_apart(arena, table, record);
    for (struct declared_index *each = table->indexes; record && each; each = each->next) {
        whole_kind_report_side_apart(arena, table, record, each->partition, each->partition_count);
        whole_kind_report_side_apart(arena, table, record, each->sort, each->sort_count);
    }
    for (struct declared_index *each = table->indexes; record && each; each = each->next) {
        whole_kind_complete(arena, table, record, each->partition, each->partition_count);
        whole_kind_complete(arena, table, record, each->sort, each->sort_count);
    }
    return arena->failed ? NULL : record;
}
