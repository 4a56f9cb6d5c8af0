#include "core/map/table_members.h"

#include <stdio.h>

#include "core/base/escape.h"
#include "core/map/companion.h"
#include "core/map/link_members.h"
#include "core/map/path_members.h"

static struct declared_table *tables_table_of(void *target)
{
    return target;
}

static bool tables_read_base_name(struct map_reader *reader, struct json value, void *target)
{
    bool ok = map_read_text(reader, value, "\"table\"", &tables_table_of(target)->base_name);
    tables_table_of(target)->broken = tables_table_of(target)->broken || !ok;
    return ok;
}

static bool tables_read_separator(struct map_reader *reader, struct json value, void *target)
{
    const char *text;
    if (!map_read_text(reader, value, "\"separator\"", &text))
        return false;
    if (strlen(text) != 1)
        return map_fail(reader, value, "\"separator\" is one character");
    tables_table_of(target)->separator = text[0];
    return true;
}

static bool tables_read_record_key(struct map_reader *reader, const char *attribute, struct json at,
                                   struct json value, void *target)
{
    struct declared_record *record = target;
    if (record->key_count == 2)
        return map_fail(reader, at, "a table's key has one or two attributes");
    struct declared_key *key = &record->keys[record->key_count++];
    *key = (struct declared_key){.attribute = attribute, .at = map_at(reader, at)};
    return map_read_key_format(reader, value, &key->format);
}

static bool tables_read_record(struct map_reader *reader, const char *name, struct json at,
                               struct json value, void *target)
{
    struct declared_record **last = target;
    struct declared_record *record = arena_alloc(reader->arena, sizeof *record);
    if (!record)
        return findings_no_memory(reader->findings);
    *record = (struct declared_record){.name = name, .at = map_at(reader, at)};
    while (*last)
        last = &(*last)->next;
    *last = record;
    record->broken =
        !json_is(value, JSON_OBJECT)
            ? !map_fail(reader, value, "a record is its key attributes with their formats")
            : !map_read_each(reader, value, "a record", tables_read_record_key, record);
    return !record->broken;
}

static bool tables_read_records(struct map_reader *reader, struct json value, void *target)
{
    bool ok = map_read_each(reader, value, "\"records\"", tables_read_record,
                            &tables_table_of(target)->records);
    tables_table_of(target)->broken = tables_table_of(target)->broken || !ok;
    return ok;
}

/* The attributes of one side of an index while they are read. */
struct key_side {
    struct declared_key *keys;
    size_t *count;
};

/* Room for one more attribute; NULL with a finding. The service knows four a side. */
static struct declared_key *tables_add_key(struct map_reader *reader, struct json at,
                                           const char *attribute, struct key_side *side)
{
    if (*side->count == KEY_MAX_ATTRIBUTES) {
        map_fail(reader, at, "a side of an index has at most four attributes");
        return NULL;
    }
    struct declared_key *key = &side->keys[(*side->count)++];
    *key = (struct declared_key){.attribute = attribute, .at = map_at(reader, at)};
    return key;
}

static bool tables_read_kind_format(struct map_reader *reader, const char *kind, struct json at,
                                    struct json value, void *target)
{
    struct declared_kind_format **last = target;
    struct declared_kind_format *format = arena_alloc(reader->arena, sizeof *format);
    if (!format)
        return findings_no_memory(reader->findings);
    *format = (struct declared_kind_format){.kind = kind, .at = map_at(reader, at)};
    while (*last)
        last = &(*last)->next;
    *last = format;
    return map_read_key_format(reader, value, &format->format);
}

/* "ORDER#{id}", or, where kinds differ, { "order": "ORDER#{id}", "product": "FEATURED" }. */
static bool tables_read_index_key(struct map_reader *reader, const char *attribute, struct json at,
                                  struct json format, void *target)
{
    struct declared_key *key = tables_add_key(reader, at, attribute, target);
    if (!key || !json_is(format, JSON_OBJECT))
        return key && map_read_key_format(reader, format, &key->format);
    if (json_count(format) == 0)
        return map_fail(reader, format, "say a kind's format: { \"order\": \"ORDER#{id}\" }");
    return map_read_each(reader, format, "a key's formats", tables_read_kind_format, &key->by_kind);
}

/* "job_id" is short for { "job_id": "{job_id}" }. */
static bool tables_read_plain_key(struct map_reader *reader, struct json value,
                                  struct key_side *side)
{
    const char *attribute;
    if (!map_read_text(reader, value, "an index's key attribute", &attribute))
        return false;
    struct declared_key *key = tables_add_key(reader, value, attribute, side);
    if (!key)
        return false;
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    buf_printf(&text, "{%s}", attribute);
    if (text.failed)
        return findings_no_memory(reader->findings);
    const char *wrong = format_parse(reader->arena, buf_span(&text), &key->format);
    return !wrong || map_fail(reader, value, "\"%s\" needs a format: { \"%s\": \"{…}\" }: %s",
                              attribute, attribute, wrong);
}

static bool tables_read_side(struct map_reader *reader, struct json value, struct key_side side)
{
    bool ok = true;
    if (json_is(value, JSON_OBJECT))
        return map_read_each(reader, value, "an index's key", tables_read_index_key, &side);
    if (!json_is(value, JSON_ARRAY))
        return tables_read_plain_key(reader, value, &side);
    for (struct json each = json_first(value); json_present(each); each = json_next(each))
        ok = tables_read_plain_key(reader, each, &side) && ok;
    return ok;
}

static bool tables_read_partition(struct map_reader *reader, struct json value, void *target)
{
    struct declared_index *index = target;
    return tables_read_side(reader, value,
                            (struct key_side){index->partition, &index->partition_count});
}

static bool tables_read_sort(struct map_reader *reader, struct json value, void *target)
{
    struct declared_index *index = target;
    return tables_read_side(reader, value, (struct key_side){index->sort, &index->sort_count});
}

static bool tables_read_projects(struct map_reader *reader, struct json value, void *target)
{
    struct declared_index *index = target;
    if (json_string_is(value, SPAN_LITERAL("all")))
        index->projects = PROJECTS_ALL;
    else if (json_string_is(value, SPAN_LITERAL("some")))
        index->projects = PROJECTS_SOME;
    else if (json_string_is(value, SPAN_LITERAL("keys")))
        index->projects = PROJECTS_KEYS;
    else if (!json_is(value, JSON_ARRAY))
        return map_fail(reader, value,
                        "\"projects\" is \"all\", \"some\", \"keys\", or a list of the attributes "
                        "that are included");
    else
        return map_read_texts(reader, value, "\"projects\"", &index->includes,
                              &index->include_count);
    return true;
}

static bool tables_read_local(struct map_reader *reader, struct json value, void *target)
{
    struct declared_index *index = target;
    return map_read_flag(reader, value, "\"local\"", &index->local);
}

static bool tables_read_index(struct map_reader *reader, const char *name, struct json at,
                              struct json value, void *target)
{
    static const struct map_member members[] = {
        {"partition", tables_read_partition},
        {"sort", tables_read_sort},
        {"projects", tables_read_projects},
        {"local", tables_read_local},
        {0},
    };
    struct declared_index **list = target;
    struct declared_index *index = arena_alloc(reader->arena, sizeof *index);
    if (!index)
        return findings_no_memory(reader->findings);
    *index =
        (struct declared_index){.name = name, .projects = PROJECTS_SOME, .at = map_at(reader, at)};
    while (*list)
        list = &(*list)->next;
    *list = index;
    index->broken = !map_read_members(reader, value, "an index", members, index);
    if (!index->broken && index->partition_count == 0)
        index->broken =
            !map_fail(reader, at, "index \"%s\" needs its \"partition\" attribute", name);
    return !index->broken;
}

static bool tables_read_indexes(struct map_reader *reader, struct json value, void *target)
{
    return map_read_each(reader, value, "\"indexes\"", tables_read_index,
                         &tables_table_of(target)->indexes);
}

static bool tables_read_type_name(struct map_reader *reader, struct json value,
                                  enum value_type *out)
{
    for (*out = VALUE_S; *out <= VALUE_BOOL; (*out)++)
        if (json_string_is(value, span_text(value_type_name(*out))))
            return true;
    return map_fail(reader, value, "a type is \"S\", \"N\", \"B\" or \"BOOL\"");
}

static bool tables_read_type(struct map_reader *reader, const char *attribute, struct json at,
                             struct json value, void *target)
{
    struct declared_type **list = target;
    struct declared_type *type = arena_alloc(reader->arena, sizeof *type);
    if (!type)
        return findings_no_memory(reader->findings);
    *type = (struct declared_type){.attribute = attribute, .at = map_at(reader, at)};
    if (!tables_read_type_name(reader, value, &type->type))
        return false;
    while (*list)
        list = &(*list)->next;
    *list = type;
    return true;
}

static bool tables_read_types(struct map_reader *reader, struct json value, void *target)
{
    return map_read_each(reader, value, "\"types\"", tables_read_type,
                         &tables_table_of(target)->types);
}

static bool tables_read_values(struct map_reader *reader, struct json value, void *target)
{
    struct declared_param *param = target;
    return map_read_texts(reader, value, "\"values\"", &param->values, &param->value_count);
}

static bool tables_read_only(struct map_reader *reader, struct json value, void *target)
{
    struct declared_param *param = target;
    return map_read_flag(reader, value, "\"only\"", &param->only);
}

static bool tables_read_owner(struct map_reader *reader, struct json value, void *target)
{
    struct declared_param *param = target;
    return map_read_text(reader, value, "\"owner\"", &param->owner);
}

static bool tables_read_match(struct map_reader *reader, struct json value, void *target)
{
    struct declared_param *param = target;
    param->match_at = map_at(reader, value);
    return map_read_text(reader, value, "\"match\"", &param->match);
}

static bool tables_read_hint(struct map_reader *reader, struct json value, void *target)
{
    struct declared_param *param = target;
    return map_read_text(reader, value, "\"hint\"", &param->hint);
}

static bool tables_read_param_type(struct map_reader *reader, struct json value, void *target)
{
    struct declared_param *param = target;
    param->typed = true;
    return tables_read_type_name(reader, value, &param->type);
}

static bool tables_read_param(struct map_reader *reader, const char *name, struct json at,
                              struct json value, void *target)
{
    static const struct map_member members[] = {
        {"values", tables_read_values},
        {"only", tables_read_only},
        {"owner", tables_read_owner},
        {"match", tables_read_match},
        {"hint", tables_read_hint},
        {"type", tables_read_param_type},
        {0},
    };
    struct declared_param **list = target;
    struct declared_param *param = arena_alloc(reader->arena, sizeof *param);
    if (!param)
        return findings_no_memory(reader->findings);
    *param = (struct declared_param){.name = name, .at = map_at(reader, at)};
    while (*list)
        list = &(*list)->next;
    *list = param;
    param->broken = !map_read_members(reader, value, "a parameter", members, param);
    if (!param->broken && param->only && param->value_count == 0)
        param->broken = !map_fail(reader, at,
                                  "{%s} has \"only\" the \"values\" that are listed, and "
                                  "none is: say them, or take \"only\" away",
                                  name);
    return !param->broken;
}

static bool tables_read_params(struct map_reader *reader, struct json value, void *target)
{
    return map_read_each(reader, value, "\"params\"", tables_read_param,
                         &tables_table_of(target)->params);
}

static bool tables_read_secret(struct map_reader *reader, struct json value, void *target)
{
    struct declared_table *table = target;
    return map_read_texts(reader, value, "\"secret\"", &table->secrets, &table->secret_count);
}

static bool tables_read_mtime(struct map_reader *reader, struct json value, void *target)
{
    return map_read_text(reader, value, "\"mtime\"", &tables_table_of(target)->mtime);
}

static bool tables_read_ttl(struct map_reader *reader, struct json value, void *target)
{
    return map_read_ttl(reader, value, &tables_table_of(target)->ttl_ms);
}

static bool tables_read_links(struct map_reader *reader, struct json value, void *target)
{
    return map_read_links(reader, value, &tables_table_of(target)->links);
}

static bool tables_read_paths(struct map_reader *reader, struct json value, void *target)
{
    tables_table_of(target)->has_paths = true;
    return map_read_paths(reader, value, &tables_table_of(target)->paths);
}

static bool tables_read(struct map_reader *reader, const char *name, struct json at,
                        struct json value, void *target)
{
    static const struct map_member members[] = {
        {"table", tables_read_base_name}, {"records", tables_read_records},
        {"indexes", tables_read_indexes}, {"types", tables_read_types},
        {"params", tables_read_params},   {"separator", tables_read_separator},
        {"secret", tables_read_secret},   {"mtime", tables_read_mtime},
        {"ttl", tables_read_ttl},         {"links", tables_read_links},
        {"paths", tables_read_paths},     {0},
    };
    struct declared_table **last = target;
    struct declared_table *table = arena_alloc(reader->arena, sizeof *table);
    if (!table)
        return findings_no_memory(reader->findings);
    *table = (struct declared_table){
        .path_name = name, .separator = '#', .ttl_ms = MAP_TTL_MS, .at = map_at(reader, at)};
    bool ok =
        (escape_is_unneeded(span_text(name)) && name[0] != '.' && strlen(name) <= NAME_LIMIT) ||
        map_fail(reader, at,
                 "a table's name is one directory: at most %d bytes, no /, %%, control "
                 "character or leading dot",
                 NAME_LIMIT);
    ok = map_read_members(reader, value, "a table", members, table) && ok;
    if (!json_is(value, JSON_OBJECT))
        return false;
    table->broken = table->broken || reader->misspelt;
    while (*last)
        last = &(*last)->next;
    *last = table;
    return ok;
}

bool map_read_tables(struct map_reader *reader, struct json value, void *tables)
{
    return map_read_each(reader, value, "\"tables\"", tables_read, tables);
}
