#include "core/draft/import_reader.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/base/escape.h"
#include "core/map/companion.h"

/* Names and indexes of the way from FROM down to AT, as "models.User.sk". */
static void import_reader_add_way(struct json from, size_t at, struct buf *out)
{
    bool object = json_is(from, JSON_OBJECT);
    size_t number = 0;
    for (struct json each = json_first(from), value; json_present(each);
         each = json_next(value), number++) {
        value = object ? json_next(each) : each;
        if (json_offset(value) + json_raw(value).size <= at)
            continue;
        if (json_offset(each) > at)
            return;
        if (out->size > 200) {
            buf_add_text(out, "…");
            return;
        }
        if (object) {
            struct span name = json_raw(each);
            buf_printf(out, "%s%.*s", out->size ? "." : "", (int)(name.size - 2), name.data + 1);
        } else {
            buf_printf(out, "[%zu]", number);
        }
        if (json_offset(each) < at)
            import_reader_add_way(value, at, out);
        return;
    }
}

struct finding_at import_reader_at(struct import_reader *reading, struct json at)
{
    json_position_move(&reading->last, reading->doc, json_offset(at));
    return finding_at(&reading->last);
}

static const char *import_reader_where_stands(struct import_reader *reading, struct json at)
{
    CLEAN_UP(buf_clean_up) struct buf way = {0};
    CLEAN_UP(buf_clean_up) struct buf where = {0};
    import_reader_add_way(json_root(reading->doc), json_offset(at), &way);
    buf_printf(&where, "line %u", import_reader_at(reading, at).line);
    if (way.size > 0)
        buf_printf(&where, ", %s", buf_text(&way));
    if (way.failed || where.failed)
        reading->arena->failed = true;
    return arena_text(reading->arena, buf_span(&where));
}

static void import_reader_add_note(struct import_reader *reading, const char *where,
                                   const char *why)
{
    struct left_out *note = arena_alloc(reading->arena, sizeof *note);
    if (!note)
        return;
    *note = (struct left_out){.where = where, .why = why};
    *reading->next_left_out = note;
    reading->next_left_out = &note->next;
}

void import_reader_leave_out(struct import_reader *reading, struct json at, const char *why, ...)
{
    char text[512];
    if (++reading->notes > IMPORT_MAX_NOTES)
        return;
    va_list args;
    va_start(args, why);
    vsnprintf(text, sizeof text, why, args);
    va_end(args);
    import_reader_add_note(reading, import_reader_where_stands(reading, at),
                           arena_text(reading->arena, span_text(text)));
}

const char *import_reader_text(struct import_reader *reading, struct json value)
{
    CLEAN_UP(buf_clean_up) struct buf unescaped = {0};
    if (!json_read_string(value, &unescaped))
        return NULL;
    struct span text = buf_span(&unescaped);
    if (unescaped.failed)
        reading->arena->failed = true;
    if (unescaped.failed || text.size == 0 || memchr(text.data, '\0', text.size))
        return NULL;
    return arena_text(reading->arena, text);
}

static bool import_reader_has_table(const struct import_reader *reading, const char *path_name)
{
    for (struct declared_table *each = reading->out->tables; each; each = each->next)
        if (strcmp(each->path_name, path_name) == 0)
            return true;
    return strcmp(path_name, "tables") == 0; /* where all tables stand without a map */
}

/* A directory's name, as like WANTED as can be, that no other table has. */
static const char *import_reader_free_path_name(struct import_reader *reading, struct span wanted)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    if (wanted.size > NAME_LIMIT - 8)
        wanted.size = 0;
    buf_add_span(&name, wanted);
    if (!escape_is_unneeded(buf_span(&name)) || buf_text(&name)[0] == '.' ||
        companion_find_ending(buf_span(&name)) < name.size || name.size == 0) {
        buf_truncate(&name, 0);
        buf_add_text(&name, "table");
    }
    size_t stem = name.size;
    for (unsigned number = 2; !name.failed && import_reader_has_table(reading, buf_text(&name));
         number++) {
        buf_truncate(&name, stem);
        buf_printf(&name, "-%u", number);
    }
    if (name.failed)
        reading->arena->failed = true;
    return arena_text(reading->arena, buf_span(&name));
}

struct declared_table *import_reader_add_table(struct import_reader *reading, struct json at,
                                               const char *path_name, const char *base_name)
{
    if (++reading->tables > IMPORT_MAX_TABLES) {
        import_reader_leave_out(reading, at, "a model has at most %d tables", IMPORT_MAX_TABLES);
        return NULL;
    }
    struct declared_table *table = arena_alloc(reading->arena, sizeof *table);
    const char *name = import_reader_free_path_name(reading, span_text(path_name));
    if (!table || !name)
        return NULL;
    *table = (struct declared_table){
        .path_name = name, .base_name = base_name, .separator = '#', .ttl_ms = MAP_TTL_MS};
    table->at = import_reader_at(reading, at);
    *reading->next_table = table;
    reading->next_table = &table->next;
    return table;
}

void import_reader_drop_table(struct import_reader *reading, struct declared_table *table)
{
    struct declared_table **last = &reading->out->tables;
    while (*last != table)
        last = &(*last)->next;
    *last = NULL;
    reading->next_table = last;
}

static bool import_reader_has_room(struct import_reader *reading, struct json at, bool found,
                                   bool room, const char *what, const char *name)
{
    if (found)
        import_reader_leave_out(reading, at, "there is another %s called \"%s\"", what, name);
    else if (!room)
        import_reader_leave_out(reading, at, "an imported table has no room for another %s", what);
    return !found && room;
}

struct declared_record *import_reader_add_record(struct import_reader *reading, struct json at,
                                                 struct declared_table *table, const char *name)
{
    struct declared_record **last = &table->records;
    bool found = false;
    size_t count = 0;
    for (; *last && !found; last = &(*last)->next, count++)
        found = strcmp((*last)->name, name) == 0;
    if (!import_reader_has_room(reading, at, found, count < IMPORT_MAX_KINDS, "kind of record",
                                name))
        return NULL;
    struct declared_record *record = arena_alloc(reading->arena, sizeof *record);
    if (record)
        *record = (struct declared_record){.name = name, .at = import_reader_at(reading, at)};
    return *last = record;
}

struct declared_key *import_reader_add_record_key(struct import_reader *reading, struct json at,
                                                  struct declared_record *record,
                                                  const char *attribute)
{
    if (record->key_count == 2) {
        import_reader_leave_out(reading, at, "a table's key has one or two attributes");
        return NULL;
    }
    struct declared_key *key = &record->keys[record->key_count++];
    *key = (struct declared_key){.attribute = attribute, .at = import_reader_at(reading, at)};
    return key;
}

struct declared_index *import_reader_add_index(struct import_reader *reading, struct json at,
                                               struct declared_table *table, const char *name)
{
    struct declared_index **last = &table->indexes;
    bool found = false;
    size_t count = 0;
    for (; *last && !found; last = &(*last)->next, count++)
        found = strcmp((*last)->name, name) == 0;
    if (!import_reader_has_room(reading, at, found, count < IMPORT_MAX_INDEXES, "index", name))
        return NULL;
    struct declared_index *index = arena_alloc(reading->arena, sizeof *index);
    if (index)
        *index = (struct declared_index){
            .name = name, .projects = PROJECTS_SOME, .at = import_reader_at(reading, at)};
    return *last = index;
}

struct declared_index *import_reader_find_index(struct declared_table *table, const char *name)
{
    for (struct declared_index *index = table->indexes; index; index = index->next)
        if (strcmp(index->name, name) == 0)
            return index;
    return NULL;
}

struct declared_key *import_reader_add_index_key(struct import_reader *reading, struct json at,
                                                 struct declared_index *index, bool sort,
                                                 const char *attribute)
{
    size_t *count = sort ? &index->sort_count : &index->partition_count;
    if (*count == KEY_MAX_ATTRIBUTES) {
        import_reader_leave_out(reading, at, "a side of an index has at most four attributes");
        return NULL;
    }
    struct declared_key *key = sort ? &index->sort[*count] : &index->partition[*count];
    ++*count;
    *key = (struct declared_key){.attribute = attribute, .at = import_reader_at(reading, at)};
    return key;
}

void import_reader_add_kind_format(struct import_reader *reading, struct declared_key *key,
                                   const char *kind, const struct format *format)
{
    struct declared_kind_format **last = &key->by_kind;
    while (*last)
        last = &(*last)->next;
    struct declared_kind_format *added = arena_alloc(reading->arena, sizeof *added);
    if (added)
        *added = (struct declared_kind_format){.kind = kind, .format = *format};
    *last = added;
}

void import_reader_add_type(struct import_reader *reading, struct declared_table *table,
                            const char *attribute, enum value_type type)
{
    struct declared_type **last = &table->types;
    for (; *last; last = &(*last)->next)
        if (strcmp((*last)->attribute, attribute) == 0)
            return;
    struct declared_type *added = arena_alloc(reading->arena, sizeof *added);
    if (added)
        *added = (struct declared_type){.attribute = attribute, .type = type};
    *last = added;
}

enum value_type import_reader_type_of(const struct declared_table *table, const char *attribute)
{
    for (const struct declared_type *each = table->types; each; each = each->next)
        if (strcmp(each->attribute, attribute) == 0)
            return each->type;
    return VALUE_S;
}

void import_reader_add_includes(struct import_reader *reading, struct declared_index *index,
                                struct json names)
{
    const char **texts = arena_array(reading->arena, json_count(names), sizeof *texts);
    size_t count = 0;
    for (struct json each = json_first(names); texts && json_present(each);
         each = json_next(each)) {
        const char *text = import_reader_text(reading, each);
        if (text)
            texts[count++] = text;
        else
            import_reader_leave_out(reading, each, "an attribute's name is a text");
    }
    index->projects = PROJECTS_SOME;
    index->includes = count ? texts : NULL;
    index->include_count = count;
}

static struct declared_param *import_reader_param_of(struct import_reader *reading,
                                                     struct declared_table *table, const char *part)
{
    struct declared_param **last = &table->params;
    for (; *last; last = &(*last)->next)
        if (strcmp((*last)->name, part) == 0)
            return *last;
    struct declared_param *param = arena_alloc(reading->arena, sizeof *param);
    if (param)
        param->name = part;
    return *last = param;
}

void import_reader_drop_index(struct declared_table *table, const struct declared_index *index)
{
    struct declared_index **next = &table->indexes;
    while (*next != index)
        next = &(*next)->next;
    *next = index->next;
}

bool import_reader_add_param_type(struct import_reader *reading, struct declared_table *table,
                                  const char *part, enum value_type type)
{
    struct declared_param *param = import_reader_param_of(reading, table, part);
    if (!param || (param->typed && param->type != type))
        return false;
    param->typed = true;
    param->type = type;
    return true;
}

static bool import_reader_has_value(const struct declared_param *param, const char *text)
{
    for (size_t i = 0; i < param->value_count; i++)
        if (strcmp(param->values[i], text) == 0)
            return true;
    return false;
}

void import_reader_add_values(struct import_reader *reading, struct declared_table *table,
                              const char *part, struct json values)
{
    struct declared_param *param = import_reader_param_of(reading, table, part);
    size_t room = param ? param->value_count + json_count(values) : 0;
    if (!param || room > IMPORT_MAX_VALUES_KNOWN)
        return;
    const char **texts = arena_array(reading->arena, room, sizeof *texts);
    if (!texts)
        return;
    for (size_t i = 0; i < param->value_count; i++)
        texts[i] = param->values[i];
    param->values = texts;
    for (struct json each = json_first(values); json_present(each); each = json_next(each)) {
        const char *text = import_reader_text(reading, each);
        if (text && !import_reader_has_value(param, text))
            param->values[param->value_count++] = text;
    }
}
