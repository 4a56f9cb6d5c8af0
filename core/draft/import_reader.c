#include "core/draft/import_reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <strings.h>

#include "core/base/escape.h"
#include "core/draft/declare.h"
#include "core/item/secret_clues.h"
#include "core/map/companion.h"

/* Appends the names and indexes from FROM down to AT: "models.User.sk". */
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

/* The place where a value begins. It is found fast if calls are in the order of the file. */
static struct finding_at import_reader_at(struct import_reader *reader, struct json at)
{
    json_position_move(&reader->last, reader->doc, json_offset(at));
    return finding_at(&reader->last);
}

void import_reader_leave_out(struct import_reader *reader, struct json at, const char *why, ...)
{
    CLEAN_UP(buf_clean_up) struct buf way = {0}, where = {0};
    char text[512];
    if (++reader->notes > IMPORT_MAX_NOTES)
        return;
    va_list args;
    va_start(args, why);
    vsnprintf(text, sizeof text, why, args);
    va_end(args);
    struct left_out *note = arena_alloc(reader->arena, sizeof *note);
    if (!note)
        return;
    import_reader_add_way(json_root(reader->doc), json_offset(at), &way);
    buf_printf(&where, "line %u", import_reader_at(reader, at).line);
    if (way.size > 0)
        buf_printf(&where, ", %s", buf_text(&way));
    where.failed = where.failed || way.failed;
    *note = (struct left_out){.where = declare_text(reader->arena, &where),
                              .why = arena_text(reader->arena, span_text(text))};
    *reader->next_left_out = note;
    reader->next_left_out = &note->next;
}

const char *import_reader_text(struct import_reader *reader, struct json value)
{
    CLEAN_UP(buf_clean_up) struct buf unescaped = {0};
    if (!json_read_string(value, &unescaped))
        return NULL;
    struct span text = buf_span(&unescaped);
    if (unescaped.failed)
        reader->arena->failed = true;
    if (unescaped.failed || text.size == 0 || memchr(text.data, '\0', text.size))
        return NULL;
    return arena_text(reader->arena, text);
}

/* A directory's name that no other table has: WANTED, if a name can hold that; a number may follow.
 */
static const char *import_reader_free_path_name(struct import_reader *reader, struct span wanted)
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
    for (unsigned number = 2; !name.failed; number++) {
        bool taken = span_is(buf_span(&name), "tables"); /* the directory of all tables */
        for (struct declared_table *each = reader->out->tables; each; each = each->next)
            taken = taken || span_is(buf_span(&name), each->path_name);
        if (!taken)
            break;
        buf_truncate(&name, stem);
        buf_printf(&name, "-%u", number);
    }
    return declare_text(reader->arena, &name);
}

struct declared_table *import_reader_add_table(struct import_reader *reader, struct json at,
                                               const char *path_name, const char *base_name)
{
    if (++reader->tables > IMPORT_MAX_TABLES) {
        import_reader_leave_out(reader, at, "a model has at most %d tables", IMPORT_MAX_TABLES);
        return NULL;
    }
    struct declared_table *table = arena_alloc(reader->arena, sizeof *table);
    const char *name = import_reader_free_path_name(reader, span_text(path_name));
    if (!table || !name)
        return NULL;
    *table = (struct declared_table){
        .path_name = name, .base_name = base_name, .separator = '#', .ttl_ms = MAP_TTL_MS};
    table->at = import_reader_at(reader, at);
    *reader->next_table = table;
    reader->next_table = &table->next;
    return table;
}

void import_reader_drop_table(struct import_reader *reader, struct declared_table *table)
{
    struct declared_table **last = &reader->out->tables;
    while (*last != table)
        last = &(*last)->next;
    *last = NULL;
    reader->next_table = last;
}

/* Whether another declaration, called NAME, can be added; else notes the reason. */
static bool import_reader_has_room(struct import_reader *reader, struct json at, bool found,
                                   bool room, const char *what, const char *name)
{
    if (found)
        import_reader_leave_out(reader, at, "there is another %s called \"%s\"", what, name);
    else if (!room)
        import_reader_leave_out(reader, at, "an imported table has no room for another %s", what);
    return !found && room;
}

struct declared_record *import_reader_add_record(struct import_reader *reader, struct json at,
                                                 struct declared_table *table, const char *name)
{
    struct declared_record **last = &table->records;
    bool found = false;
    size_t count = 0;
    for (; *last && !found; last = &(*last)->next, count++)
        found = strcmp((*last)->name, name) == 0;
    if (!import_reader_has_room(reader, at, found, count < IMPORT_MAX_KINDS, "kind of item", name))
        return NULL;
    struct declared_record *record = arena_alloc(reader->arena, sizeof *record);
    if (record)
        *record = (struct declared_record){.name = name, .at = import_reader_at(reader, at)};
    return *last = record;
}

struct declared_key *import_reader_add_record_key(struct import_reader *reader, struct json at,
                                                  struct declared_record *record,
                                                  const char *attribute)
{
    if (record->key_count == 2) {
        import_reader_leave_out(reader, at, "a table's key can have one or two attributes");
        return NULL;
    }
    struct declared_key *key = &record->keys[record->key_count++];
    *key = (struct declared_key){.attribute = attribute, .at = import_reader_at(reader, at)};
    return key;
}

struct declared_index *import_reader_add_index(struct import_reader *reader, struct json at,
                                               struct declared_table *table, const char *name)
{
    struct declared_index **last = &table->indexes;
    bool found = false;
    size_t count = 0;
    for (; *last && !found; last = &(*last)->next, count++)
        found = strcmp((*last)->name, name) == 0;
    if (!import_reader_has_room(reader, at, found, count < IMPORT_MAX_INDEXES, "index", name))
        return NULL;
    struct declared_index *index = arena_alloc(reader->arena, sizeof *index);
    if (index)
        *index = (struct declared_index){
            .name = name, .projects = PROJECTS_SOME, .at = import_reader_at(reader, at)};
    return *last = index;
}

struct declared_index *import_reader_find_index(struct declared_table *table, const char *name)
{
    for (struct declared_index *index = table->indexes; index; index = index->next)
        if (strcmp(index->name, name) == 0)
            return index;
    return NULL;
}

struct declared_key *import_reader_add_index_key(struct import_reader *reader, struct json at,
                                                 struct declared_index *index, bool sort,
                                                 const char *attribute)
{
    size_t *count = sort ? &index->sort_count : &index->partition_count;
    if (*count == KEY_MAX_ATTRIBUTES) {
        import_reader_leave_out(reader, at, "a side of an index can have at most four attributes");
        return NULL;
    }
    struct declared_key *key = sort ? &index->sort[*count] : &index->partition[*count];
    ++*count;
    *key = (struct declared_key){.attribute = attribute, .at = import_reader_at(reader, at)};
    return key;
}

void import_reader_add_type(struct import_reader *reader, struct declared_table *table,
                            const char *attribute, enum value_type type)
{
    for (const struct declared_type *each = table->types; each; each = each->next)
        if (strcmp(each->attribute, attribute) == 0)
            return;
    declare_type(reader->arena, table, attribute, type);
}

void import_reader_add_includes(struct import_reader *reader, struct declared_index *index,
                                struct json names)
{
    const char **texts = arena_array(reader->arena, json_count(names), sizeof *texts);
    size_t count = 0;
    for (struct json each = json_first(names); texts && json_present(each);
         each = json_next(each)) {
        const char *text = import_reader_text(reader, each);
        if (text)
            texts[count++] = text;
        else
            import_reader_leave_out(reader, each, "an attribute's name must be a text");
    }
    index->projects = PROJECTS_SOME;
    index->includes = count ? texts : NULL;
    index->include_count = count;
}

/* The parameter of PART, added unless it exists. NULL when memory ran out. */
static struct declared_param *import_reader_add_param(struct import_reader *reader,
                                                      struct declared_table *table,
                                                      const char *part)
{
    struct declared_param **last = &table->params;
    for (; *last; last = &(*last)->next)
        if (strcmp((*last)->name, part) == 0)
            return *last;
    struct declared_param *param = arena_alloc(reader->arena, sizeof *param);
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

bool import_reader_add_param_type(struct import_reader *reader, struct declared_table *table,
                                  const char *part, enum value_type type)
{
    struct declared_param *param = import_reader_add_param(reader, table, part);
    if (!param || (param->typed && param->type != type))
        return false;
    param->typed = true;
    param->type = type;
    return true;
}

void import_reader_add_values(struct import_reader *reader, struct declared_table *table,
                              const char *part, struct json values)
{
    struct declared_param *param = import_reader_add_param(reader, table, part);
    size_t room = param ? param->value_count + json_count(values) : 0;
    if (!param || room > IMPORT_MAX_VALUES_KNOWN)
        return;
    const char **texts = arena_array(reader->arena, room, sizeof *texts);
    if (!texts)
        return;
    for (size_t i = 0; i < param->value_count; i++)
        texts[i] = param->values[i];
    param->values = texts;
    for (struct json each = json_first(values); json_present(each); each = json_next(each)) {
        const char *text = import_reader_text(reader, each);
        bool known = !text;
        for (size_t i = 0; !known && i < param->value_count; i++)
            known = strcmp(param->values[i], text) == 0;
        if (!known)
            param->values[param->value_count++] = text;
    }
}

/* Secrets. */

/* Declares the attribute NAME as a secret. False when there are too many. */
static bool import_reader_declare_secret(struct arena *arena, struct declared_table *table,
                                         const char *name)
{
    for (size_t i = 0; i < table->secret_count; i++)
        if (strcmp(table->secrets[i], name) == 0)
            return true;
    if (table->secret_count == IMPORT_MAX_SECRETS)
        return false;
    const char **longer = arena_array(arena, table->secret_count + 1, sizeof *longer);
    if (!longer)
        return true; /* the arena is marked */
    for (size_t i = 0; i < table->secret_count; i++)
        longer[i] = table->secrets[i];
    longer[table->secret_count++] = name;
    table->secrets = longer;
    return true;
}

static bool import_reader_is_secret_name(struct import_reader *reader, struct json name)
{
    const char *text = import_reader_text(reader, name);
    return text && secret_clue_in_name(span_text(text));
}

void import_reader_add_secret(struct import_reader *reader, struct declared_table *table,
                              struct json name, struct json stored, struct json attribute)
{
    static const char *const no_texts[] = {"number",  "boolean", "date", "integer",
                                           "decimal", "N",       "NS",   "BOOL"};
    struct json workbench = json_member(attribute, "AttributeType");
    struct span type;
    bool stated = json_is(json_member(attribute, "crypt"), JSON_TRUE) ||
                  json_is(json_member(attribute, "hidden"), JSON_TRUE);
    bool named =
        import_reader_is_secret_name(reader, name) || import_reader_is_secret_name(reader, stored);
    if (json_plain_string(json_member(attribute, "type"), &type) ||
        json_plain_string(workbench, &type))
        for (size_t i = 0; i < sizeof no_texts / sizeof no_texts[0]; i++)
            named = named && (type.size != strlen(no_texts[i]) ||
                              strncasecmp(type.data, no_texts[i], type.size) != 0);
    const char *text = stated || named ? import_reader_text(reader, stored) : NULL;
    if (!text)
        return;
    size_t size = strcspn(text, "."); /* of "data.email", all of "data" is masked */
    if (size > 0 && text[size])
        text = arena_text(reader->arena, span_of(text, size));
    if (text && !import_reader_declare_secret(reader->arena, table, text))
        import_reader_leave_out(reader, name, "at most %d attributes are secret",
                                IMPORT_MAX_SECRETS);
}

void import_reader_add_secrets(struct import_reader *reader, struct declared_table *table,
                               struct json attributes, const char *stored)
{
    for (struct json name = json_first(attributes), each; json_present(name);
         name = json_next(each)) {
        each = json_next(name);
        struct json other = json_member(each, stored);
        import_reader_add_secret(reader, table, name, json_present(other) ? other : name, each);
    }
}

void import_reader_finish_secrets(struct arena *arena, struct declared_table *table)
{
    CLEAN_UP(buf_clean_up) struct buf note = {0};
    size_t kept = 0, noted = 0;
    for (const struct declared_index *index = table->indexes; index; index = index->next)
        for (size_t i = 0; i < index->include_count; i++)
            if (secret_clue_in_name(span_text(index->includes[i])))
                import_reader_declare_secret(arena, table, index->includes[i]);
    for (size_t i = 0; i < table->secret_count; i++)
        if (!declare_is_key(table, span_text(table->secrets[i])))
            table->secrets[kept++] = table->secrets[i];
    table->secret_count = kept;
    buf_printf(&note, "%s%s", table->note ? table->note : "", table->note ? " " : "");
    buf_add_text(&note, "\"secret\": encrypted or hidden in the model, or named like a secret:");
    for (size_t i = 0; i < table->secret_count; i++) {
        CLEAN_UP(buf_clean_up) struct buf sampled = {0};
        buf_printf(&sampled, "\"secret\": %s looks ", table->secrets[i]);
        if (!table->note || sampled.failed || !strstr(table->note, buf_text(&sampled)))
            buf_printf(&note, "%s %s", noted++ ? "," : "", table->secrets[i]);
    }
    buf_add_char(&note, '.');
    arena->failed = arena->failed || note.failed;
    if (noted > 0)
        table->note = arena_text(arena, buf_span(&note));
}
