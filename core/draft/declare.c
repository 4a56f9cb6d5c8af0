#include "core/draft/declare.h"

#include "core/base/ascii.h"
#include "core/base/buf.h"

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

struct format declare_format(struct arena *arena, const char *text)
{
    struct format format;
    const char *wrong = format_parse(arena, span_text(text), &format);
    return wrong ? (struct format){0} : format;
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

const char *declare_param_name(struct arena *arena, struct span name)
{
    CLEAN_UP(buf_clean_up) struct buf made = {0};
    if (name.size == 0 || ascii_is_digit(name.data[0]))
        buf_add_char(&made, '_');
    for (size_t i = 0; i < name.size; i++)
        buf_add_char(&made, ascii_is_letter(name.data[i]) || ascii_is_digit(name.data[i])
                                ? name.data[i]
                                : '_');
    arena->failed = arena->failed || made.failed;
    return arena_text(arena, buf_span(&made));
}

const char *declare_other_name(struct arena *arena, const char *name, const char *word,
                               unsigned number)
{
    CLEAN_UP(buf_clean_up) struct buf other = {0};
    if (number == 2)
        buf_printf(&other, "%s_%s", name, word);
    else
        buf_printf(&other, "%s_%u", name, number);
    arena->failed = arena->failed || other.failed;
    return arena_text(arena, buf_span(&other));
}
