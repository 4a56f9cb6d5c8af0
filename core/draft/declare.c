#include "core/draft/declare.h"

#include "core/base/ascii.h"

char *declare_text(struct arena *arena, const struct buf *buf)
{
    arena->failed = arena->failed || buf->failed;
    return arena_text(arena, buf_span(buf));
}

static const char *declare_store(struct arena *arena, const char *text)
{
    return text ? arena_text(arena, span_text(text)) : NULL;
}

struct declared_table *declare_table(struct arena *arena, const char *path_name,
                                     const char *base_name)
{
    struct declared_table *table = arena_alloc(arena, sizeof *table);
    if (!table)
        return NULL;
    *table = (struct declared_table){
        .path_name = declare_store(arena, path_name),
        .base_name = declare_store(arena, base_name),
        .separator = '#',
        .ttl_ms = MAP_TTL_MS,
        .has_paths = true,
    };
    return arena->failed ? NULL : table;
}

struct declared_record *declare_record(struct arena *arena, struct declared_table *table,
                                       const char *name)
{
    struct declared_record *record = arena_alloc(arena, sizeof *record);
    if (!record)
        return NULL;
    record->name = declare_store(arena, name);
    struct declared_record **last = &table->records;
    while (*last)
        last = &(*last)->next;
    *last = record;
    return record;
}

struct declared_index *declare_index(struct arena *arena, struct declared_table *table,
                                     const char *name)
{
    struct declared_index *index = arena_alloc(arena, sizeof *index);
    if (!index)
        return NULL;
    index->name = declare_store(arena, name);
    index->projects = PROJECTS_SOME;
    struct declared_index **last = &table->indexes;
    while (*last)
        last = &(*last)->next;
    *last = index;
    return index;
}

struct declared_type *declare_type(struct arena *arena, struct declared_table *table,
                                   const char *attribute, enum value_type type)
{
    struct declared_type *declared = arena_alloc(arena, sizeof *declared);
    if (!declared)
        return NULL;
    *declared = (struct declared_type){.attribute = declare_store(arena, attribute), .type = type};
    struct declared_type **last = &table->types;
    while (*last)
        last = &(*last)->next;
    *last = declared;
    return declared;
}

struct declared_path *declare_path(struct arena *arena, struct declared_table *table,
                                   const char *path)
{
    struct declared_path *declared = arena_alloc(arena, sizeof *declared);
    if (!declared)
        return NULL;
    *declared = (struct declared_path){
        .path = declare_store(arena, path),
        .list = span_ends(span_text(path), SPAN_LITERAL("/")),
        .ttl_ms = -1,
    };
    struct declared_path **last = &table->paths;
    while (*last)
        last = &(*last)->next;
    *last = declared;
    return declared;
}

void declare_path_kind(struct arena *arena, struct declared_path *path, const char *kind)
{
    path->kinds = arena_alloc(arena, sizeof *path->kinds);
    if (!path->kinds)
        return;
    path->kinds->text = kind;
    path->kind_count = 1;
}

void declare_where(struct arena *arena, struct declared_path *path, const char *target,
                   enum cond_op op, const char *value, const char *upper)
{
    struct declared_condition *condition = arena_alloc(arena, sizeof *condition);
    if (!condition)
        return;
    *condition = (struct declared_condition){
        .target = declare_store(arena, target),
        .op = op,
        .value = declare_format(arena, value),
        .upper = upper ? declare_format(arena, upper) : (struct format){0},
    };
    struct declared_condition **last = &path->wheres;
    while (*last)
        last = &(*last)->next;
    *last = condition;
}

bool declare_kind_format(struct arena *arena, struct declared_key *key, const char *kind,
                         const struct format *format)
{
    struct declared_kind_format **last = &key->by_kind;
    while (*last && strcmp((*last)->kind, kind) != 0)
        last = &(*last)->next;
    if (!*last)
        *last = arena_alloc(arena, sizeof **last);
    if (!*last)
        return false;
    (*last)->kind = kind;
    (*last)->format = *format;
    return true;
}

struct format declare_format(struct arena *arena, const char *text)
{
    struct format format;
    const char *wrong = format_parse(arena, span_text(text), &format);
    return wrong ? (struct format){0} : format;
}

struct format declare_whole_format(struct arena *arena, const char *part, bool open)
{
    struct format_piece *piece = arena_alloc(arena, sizeof *piece);
    if (!piece || !part)
        return (struct format){0};
    *piece = (struct format_piece){.param = part, .open = open};
    return (struct format){piece, 1};
}

const char *declare_param_name(struct arena *arena, struct span name)
{
    CLEAN_UP(buf_clean_up) struct buf made = {0};
    if (name.size == 0 || ascii_is_digit(name.data[0]))
        buf_add_char(&made, '_');
    for (size_t i = 0; i < name.size; i++) {
        char c = name.data[i];
        bool fits = ascii_is_letter(c) || ascii_is_digit(c);
        buf_add_char(&made, fits ? c : '_');
    }
    return declare_text(arena, &made);
}

const char *declare_other_name(struct arena *arena, const char *name, const char *word,
                               unsigned number)
{
    CLEAN_UP(buf_clean_up) struct buf other = {0};
    if (number == 2)
        buf_printf(&other, "%s_%s", name, word);
    else
        buf_printf(&other, "%s_%u", name, number);
    return declare_text(arena, &other);
}

enum value_type declare_find_type(const struct declared_table *table, const char *attribute)
{
    for (const struct declared_type *type = table->types; type; type = type->next)
        if (strcmp(type->attribute, attribute) == 0)
            return type->type;
    return VALUE_S;
}

const struct format *declare_find_format(const struct declared_record *kind,
                                         const struct declared_key *key)
{
    for (size_t i = 0; i < kind->key_count; i++)
        if (strcmp(kind->keys[i].attribute, key->attribute) == 0)
            return &kind->keys[i].format;
    for (const struct declared_kind_format *each = key->by_kind; each; each = each->next)
        if (strcmp(each->kind, kind->name) == 0)
            return &each->format;
    return key->by_kind ? NULL : &key->format;
}

static bool declare_keys_have(const struct declared_key *keys, size_t count, struct span name)
{
    for (size_t i = 0; i < count; i++)
        if (span_is(name, keys[i].attribute))
            return true;
    return false;
}

bool declare_is_table_key(const struct declared_table *table, struct span name)
{
    const struct declared_record *record = table->records;
    return record && declare_keys_have(record->keys, record->key_count, name);
}

bool declare_is_index_key(const struct declared_table *table, struct span name)
{
    for (const struct declared_index *index = table->indexes; index; index = index->next)
        if (declare_keys_have(index->partition, index->partition_count, name) ||
            declare_keys_have(index->sort, index->sort_count, name))
            return true;
    return false;
}

bool declare_is_key(const struct declared_table *table, struct span name)
{
    return declare_is_table_key(table, name) || declare_is_index_key(table, name);
}

bool declare_is_secret(const struct declared_table *table, const char *attribute)
{
    for (size_t i = 0; i < table->secret_count; i++)
        if (strcmp(table->secrets[i], attribute) == 0)
            return true;
    return false;
}

bool declare_has_record(const struct declared_table *table, const char *name)
{
    for (const struct declared_record *each = table->records; each; each = each->next)
        if (strcmp(each->name, name) == 0)
            return true;
    return false;
}
