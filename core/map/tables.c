/* The "tables" of a map: records, indexes, parameters, secrets. */
#include "core/map/tables.h"

#include <stdio.h>

#include "core/map/route.h"

/* A table while it is read: its paths speak of its records and indexes, and its types of its
 * keys, wherever in the file those stand. */
struct draft {
    struct map_table *table;
    struct json paths;
    struct json types;
};

static bool read_base_name(struct map_reader *reader, struct json value, void *target)
{
    struct draft *draft = target;
    return map_read_text(reader, value, "\"table\"", &draft->table->base_name);
}

static bool read_separator(struct map_reader *reader, struct json value, void *target)
{
    struct draft *draft = target;
    const char *text;
    if (!map_read_text(reader, value, "\"separator\"", &text))
        return false;
    if (strlen(text) != 1)
        return map_fail(reader, value, "\"separator\" is one character");
    draft->table->separator = text[0];
    return true;
}

static bool add_key(struct map_reader *reader, struct map_table *table, struct json at,
                    const char *attribute)
{
    if (table->key_count == 2)
        return map_fail(reader, at, "a table's key has one or two attributes");
    table->keys[table->key_count++] = (struct map_key){.attribute = attribute};
    return true;
}

/* A kind while it is read. */
struct kind_draft {
    const struct map_table *table;
    struct map_kind *kind;
};

static bool set_key_format(struct map_reader *reader, const char *attribute, struct json at,
                           struct json value, void *target)
{
    struct kind_draft *draft = target;
    const struct map_table *table = draft->table;
    for (size_t i = 0; i < table->key_count; i++)
        if (strcmp(table->keys[i].attribute, attribute) == 0)
            return map_read_format(reader, value, "a key's format", &draft->kind->keys[i]);
    return map_fail(reader, at,
                    "all records of a table have the same key attributes; \"%s\" is new",
                    attribute);
}

static bool read_first_keys(struct map_reader *reader, struct map_table *table, struct json object)
{
    for (struct json at = json_first(object); json_present(at); at = json_next(json_next(at))) {
        const char *attribute;
        if (!map_read_text(reader, at, "a key attribute", &attribute) ||
            !add_key(reader, table, at, attribute))
            return false;
    }
    return true;
}

static bool read_kind(struct map_reader *reader, const char *name, struct json at,
                      struct json value, void *target)
{
    struct map_table *table = target;
    struct map_kind *kind = arena_alloc(&reader->map->arena, sizeof *kind);
    if (!kind)
        return error_no_memory(reader->err);
    *kind = (struct map_kind){.name = name, .line = map_line(reader, at)};
    if (!json_is(value, JSON_OBJECT))
        return map_fail(reader, value, "a record is its key attributes with their formats");
    if (!table->kinds && !read_first_keys(reader, table, value))
        return false;
    if (json_count(value) != table->key_count || table->key_count == 0)
        return map_fail(reader, at, "record \"%s\" needs a format for each key attribute", name);
    struct kind_draft draft = {table, kind};
    if (!map_read_each(reader, value, "a record", set_key_format, &draft))
        return false;
    struct map_kind **last = &table->kinds;
    while (*last)
        last = &(*last)->next;
    *last = kind;
    return true;
}

static bool read_records(struct map_reader *reader, struct json value, void *target)
{
    struct draft *draft = target;
    return map_read_each(reader, value, "\"records\"", read_kind, draft->table);
}

/* The attributes of one side of an index while they are read. */
struct side {
    struct map_key *keys;
    size_t *count;
};

static bool add_index_key(struct map_reader *reader, const char *attribute, struct json at,
                          struct json format, void *target)
{
    struct side *side = target;
    if (*side->count == KEY_MAX_ATTRIBUTES)
        return map_fail(reader, at, "a side of an index has at most four attributes");
    struct map_key *key = &side->keys[(*side->count)++];
    key->attribute = attribute;
    return map_read_format(reader, format, "a key's format", &key->format);
}

/* "job_id" is short for { "job_id": "{job_id}" }. */
static bool add_plain_key(struct map_reader *reader, struct json value, struct side *side)
{
    const char *attribute;
    if (!map_read_text(reader, value, "an index's key attribute", &attribute))
        return false;
    if (*side->count == KEY_MAX_ATTRIBUTES)
        return map_fail(reader, value, "a side of an index has at most four attributes");
    struct map_key *key = &side->keys[(*side->count)++];
    key->attribute = attribute;
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    buf_printf(&text, "{%s}", attribute);
    if (text.failed)
        return error_no_memory(reader->err);
    const char *wrong = format_parse(&reader->map->arena, buf_span(&text), &key->format);
    return !wrong || map_fail(reader, value, "\"%s\" needs a format: { \"%s\": \"{…}\" }: %s",
                              attribute, attribute, wrong);
}

static bool read_side(struct map_reader *reader, struct json value, struct side side)
{
    if (json_is(value, JSON_OBJECT))
        return map_read_each(reader, value, "an index's key", add_index_key, &side);
    if (!json_is(value, JSON_ARRAY))
        return add_plain_key(reader, value, &side);
    for (struct json each = json_first(value); json_present(each); each = json_next(each))
        if (!add_plain_key(reader, each, &side))
            return false;
    return true;
}

static bool read_partition(struct map_reader *reader, struct json value, void *target)
{
    struct map_index *index = target;
    return read_side(reader, value, (struct side){index->partition, &index->partition_count});
}

static bool read_sort(struct map_reader *reader, struct json value, void *target)
{
    struct map_index *index = target;
    return read_side(reader, value, (struct side){index->sort, &index->sort_count});
}

static bool read_projects(struct map_reader *reader, struct json value, void *target)
{
    struct map_index *index = target;
    if (json_string_is(value, SPAN_LITERAL("all")))
        index->projects = PROJECTS_ALL;
    else if (json_string_is(value, SPAN_LITERAL("some")))
        index->projects = PROJECTS_SOME;
    else if (json_string_is(value, SPAN_LITERAL("keys")))
        index->projects = PROJECTS_KEYS;
    else
        return map_fail(reader, value, "\"projects\" is \"all\", \"some\" or \"keys\"");
    return true;
}

static bool read_index(struct map_reader *reader, const char *name, struct json at,
                       struct json value, void *target)
{
    static const struct map_member members[] = {
        {"partition", read_partition},
        {"sort", read_sort},
        {"projects", read_projects},
        {0},
    };
    struct map_table *table = target;
    struct map_index *index = arena_alloc(&reader->map->arena, sizeof *index);
    if (!index)
        return error_no_memory(reader->err);
    *index = (struct map_index){.name = name,
                                .projects = PROJECTS_SOME,
                                .line = map_line(reader, at),
                                .next = table->indexes};
    table->indexes = index;
    if (!map_read_members(reader, value, "an index", members, index))
        return false;
    return index->partition_count > 0 ||
           map_fail(reader, at, "index \"%s\" needs its \"partition\" attribute", name);
}

static bool read_indexes(struct map_reader *reader, struct json value, void *target)
{
    struct draft *draft = target;
    return map_read_each(reader, value, "\"indexes\"", read_index, draft->table);
}

static bool read_values(struct map_reader *reader, struct json value, void *target)
{
    struct map_param *param = target;
    const char **texts;
    if (!map_read_texts(reader, value, "\"values\"", &texts, &param->value_count))
        return false;
    struct span *values = arena_array(&reader->map->arena, param->value_count, sizeof *values);
    for (size_t i = 0; values && i < param->value_count; i++)
        values[i] = span_text(texts[i]);
    param->values = values;
    return values || error_no_memory(reader->err);
}

static bool read_match(struct map_reader *reader, struct json value, void *target)
{
    struct map_param *param = target;
    const char *text;
    if (!map_read_text(reader, value, "\"match\"", &text))
        return false;
    int wrong = regcomp(&param->regex, text, REG_EXTENDED | REG_NOSUB);
    if (wrong) {
        char why[128];
        regerror(wrong, &param->regex, why, sizeof why);
        return map_fail(reader, value, "\"match\" is no regular expression: %s", why);
    }
    param->match = text;
    return true;
}

static bool read_hint(struct map_reader *reader, struct json value, void *target)
{
    struct map_param *param = target;
    return map_read_text(reader, value, "\"hint\"", &param->hint);
}

static bool read_param(struct map_reader *reader, const char *name, struct json at,
                       struct json value, void *target)
{
    static const struct map_member members[] = {
        {"values", read_values},
        {"match", read_match},
        {"hint", read_hint},
        {0},
    };
    struct map_table *table = target;
    struct map_param *param = arena_alloc(&reader->map->arena, sizeof *param);
    if (!param)
        return error_no_memory(reader->err);
    param->name = name;
    param->line = map_line(reader, at);
    param->next = table->params;
    table->params = param;
    return map_read_members(reader, value, "a parameter", members, param);
}

static bool read_params(struct map_reader *reader, struct json value, void *target)
{
    struct draft *draft = target;
    return map_read_each(reader, value, "\"params\"", read_param, draft->table);
}

static bool read_secret(struct map_reader *reader, struct json value, void *target)
{
    struct draft *draft = target;
    return map_read_texts(reader, value, "\"secret\"", &draft->table->secrets,
                          &draft->table->secret_count);
}

static bool read_table_mtime(struct map_reader *reader, struct json value, void *target)
{
    struct draft *draft = target;
    return map_read_text(reader, value, "\"mtime\"", &draft->table->mtime);
}

static bool read_table_ttl(struct map_reader *reader, struct json value, void *target)
{
    struct draft *draft = target;
    return map_read_ttl(reader, value, &draft->table->ttl_ms);
}

static bool keep_paths(struct map_reader *reader, struct json value, void *target)
{
    (void)reader;
    struct draft *draft = target;
    draft->paths = value;
    return true;
}

static bool keep_types(struct map_reader *reader, struct json value, void *target)
{
    (void)reader;
    struct draft *draft = target;
    draft->types = value;
    return true;
}

/* How many keys of one side bear the type now. */
static size_t set_types(struct map_key *keys, size_t count, const char *attribute,
                        enum value_type type)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(keys[i].attribute, attribute) == 0) {
            keys[i].type = type;
            found++;
        }
    }
    return found;
}

static bool read_type(struct map_reader *reader, const char *attribute, struct json at,
                      struct json value, void *target)
{
    struct map_table *table = target;
    enum value_type type = VALUE_S;
    while (type <= VALUE_B && !json_string_is(value, span_text(value_type_name(type))))
        type++;
    if (type > VALUE_B)
        return map_fail(reader, value, "a key's type is \"S\", \"N\" or \"B\"");
    size_t found = set_types(table->keys, table->key_count, attribute, type);
    for (struct map_index *index = table->indexes; index; index = index->next)
        found += set_types(index->partition, index->partition_count, attribute, type) +
                 set_types(index->sort, index->sort_count, attribute, type);
    return found > 0 ||
           map_fail(reader, at, "\"%s\" is no key attribute of the table or its indexes",
                    attribute);
}

static const char *any_format(struct arena *arena, struct map_table *table, size_t i,
                              struct format *out)
{
    bool shared = i == 0;
    for (struct map_kind *kind = table->kinds; kind; kind = kind->next)
        shared = shared && format_equal(&kind->keys[i], &table->kinds->keys[i]);
    if (shared) {
        *out = table->kinds->keys[i];
        return NULL;
    }
    return format_parse(arena, span_text(i == 0 ? "{partition-key*}" : "{sort-key*}"), out);
}

/* The kind that every record of the table is of. */
static bool add_any_kind(struct map_reader *reader, struct map_table *table)
{
    struct arena *arena = &reader->map->arena;
    table->any = arena_alloc(arena, sizeof *table->any);
    if (!table->any)
        return error_no_memory(reader->err);
    table->any->name = "*";
    for (size_t i = 0; i < table->key_count; i++)
        if (any_format(arena, table, i, &table->any->keys[i]))
            return error_no_memory(reader->err);
    return true;
}

static bool finish_table(struct map_reader *reader, struct draft *draft, struct json at)
{
    struct map_table *table = draft->table;
    if (!table->base_name)
        return map_fail(reader, at, "table \"%s\" needs \"table\", its name without the prefix",
                        table->path_name);
    if (!table->kinds)
        return map_fail(reader, at, "table \"%s\" needs \"records\", how its keys are written",
                        table->path_name);
    if (!json_present(draft->paths))
        return map_fail(reader, at, "table \"%s\" has no \"paths\"", table->path_name);
    if (json_present(draft->types) &&
        !map_read_each(reader, draft->types, "\"types\"", read_type, table))
        return false;
    return add_any_kind(reader, table) && map_read_paths(reader, draft->paths, table) &&
           route_build(reader->map, table, reader->err);
}

static bool read_table(struct map_reader *reader, const char *name, struct json at,
                       struct json value, void *target)
{
    static const struct map_member members[] = {
        {"table", read_base_name},
        {"records", read_records},
        {"indexes", read_indexes},
        {"types", keep_types},
        {"params", read_params},
        {"separator", read_separator},
        {"secret", read_secret},
        {"mtime", read_table_mtime},
        {"ttl", read_table_ttl},
        {"paths", keep_paths},
        {0},
    };
    struct map *map = target;
    struct map_table *table = arena_alloc(&map->arena, sizeof *table);
    if (!table)
        return error_no_memory(reader->err);
    *table = (struct map_table){
        .path_name = name, .separator = '#', .ttl_ms = MAP_TTL_MS, .line = map_line(reader, at)};
    struct map_table **last = &map->tables;
    while (*last)
        last = &(*last)->next;
    *last = table;
    if (strchr(name, '/') || name[0] == '.')
        return map_fail(reader, at, "a table's name is one directory: no /, no leading dot");
    struct draft draft = {.table = table};
    return map_read_members(reader, value, "a table", members, &draft) &&
           finish_table(reader, &draft, at);
}

bool map_read_tables(struct map_reader *reader, struct json value, void *map)
{
    return map_read_each(reader, value, "\"tables\"", read_table, map);
}
