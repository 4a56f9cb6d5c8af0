#include "core/map/table_members.h"

#include <stddef.h>
#include <stdio.h>

#include "core/base/escape.h"
#include "core/map/companion.h"
#include "core/map/condition_members.h"
#include "core/map/entry_names.h"

/* Longer names of links would leave no room for a companion's ending. */
enum { LINK_NAME_MAX = 200 };

/* Records and indexes. */

static bool record_read_key(struct map_reader *reader, const char *attribute, struct json at,
                            struct json value, void *out)
{
    struct declared_record *record = out;
    if (record->key_count == 2)
        return map_fail(reader, at, "a table's key has one or two attributes");
    struct declared_key *key = &record->keys[record->key_count++];
    *key = (struct declared_key){.attribute = attribute, .at = map_at(reader, at)};
    return map_read_key_format(reader, value, "a key's format", &key->format);
}

static bool record_read(struct map_reader *reader, const char *name, struct json at,
                        struct json value, void *out)
{
    struct declared_record **last = out;
    struct declared_record *record = map_alloc(reader, sizeof *record);
    if (!record)
        return false;
    *record = (struct declared_record){.name = name, .at = map_at(reader, at)};
    MAP_APPEND(last, record);
    record->broken =
        !json_is(value, JSON_OBJECT)
            ? !map_fail(reader, value, "a record is its key attributes with their formats")
            : !map_read_each(reader, value, "a record", record_read_key, record);
    return !record->broken;
}

/* Kinds of items, of indexes, of paths and of links. */

static bool kinds_add(struct map_reader *reader, struct json value, struct declared_name *kinds,
                      size_t *count)
{
    kinds[*count].at = map_at(reader, value);
    if (!map_read_text(reader, value, "a kind of record", &kinds[*count].text))
        return false;
    ++*count;
    return true;
}

/* One kind, or a list of kinds. FORM is the message for a value of another form. */
static bool kinds_read(struct map_reader *reader, struct json value, const char *what,
                       const char *form, struct declared_name **kinds, size_t *count)
{
    bool is_list = json_is(value, JSON_ARRAY), ok = true;
    if (json_count(value) > MAP_MAX_MEMBERS)
        return map_fail(reader, value, "%s has more than %d kinds", what, MAP_MAX_MEMBERS);
    if (is_list ? json_count(value) == 0 : !json_is(value, JSON_STRING))
        return map_fail(reader, value, "%s is %s", what, form);
    *kinds = arena_array(reader->arena, is_list ? json_count(value) : 1, sizeof **kinds);
    if (!*kinds)
        return findings_no_memory(reader->findings);
    if (!is_list)
        return kinds_add(reader, value, *kinds, count);
    for (struct json each = json_first(value); json_present(each); each = json_next(each))
        ok = kinds_add(reader, each, *kinds, count) && ok;
    return ok;
}

/* The same, perhaps an empty list. */
static bool kinds_read_any(struct map_reader *reader, struct json value, const char *what,
                           struct declared_name **kinds, size_t *count)
{
    return (json_is(value, JSON_ARRAY) && json_count(value) == 0) ||
           kinds_read(reader, value, what, "a kind of record, or a list of kinds", kinds, count);
}

/* One side of an index's key while it is read. */
struct index_side {
    struct declared_key *keys;
    size_t *count;
};

/* Room for one more attribute; NULL with a finding. The service allows four on each side. */
static struct declared_key *index_add_key(struct map_reader *reader, struct json at,
                                          const char *attribute, struct index_side *side)
{
    if (*side->count == KEY_MAX_ATTRIBUTES) {
        map_fail(reader, at, "a side of an index has at most four attributes");
        return NULL;
    }
    struct declared_key *key = &side->keys[(*side->count)++];
    *key = (struct declared_key){.attribute = attribute, .at = map_at(reader, at)};
    return key;
}

static bool index_read_kind_format(struct map_reader *reader, const char *kind, struct json at,
                                   struct json value, void *out)
{
    struct declared_kind_format **last = out;
    struct declared_kind_format *format = map_alloc(reader, sizeof *format);
    if (!format)
        return false;
    *format = (struct declared_kind_format){.kind = kind, .at = map_at(reader, at)};
    MAP_APPEND(last, format);
    return map_read_key_format(reader, value, "a key's format", &format->format);
}

/* "ORDER#{id}", or, where kinds differ, { "order": "ORDER#{id}", "product": "FEATURED" }. */
static bool index_read_key(struct map_reader *reader, const char *attribute, struct json at,
                           struct json format, void *out)
{
    struct declared_key *key = index_add_key(reader, at, attribute, out);
    if (!key)
        return false;
    if (!json_is(format, JSON_OBJECT))
        return map_read_key_format(reader, format, "a key's format", &key->format);
    if (json_count(format) == 0)
        return map_fail(reader, format,
                        "a key's formats are empty; add a kind: { \"order\": \"ORDER#{id}\" }");
    return map_read_each(reader, format, "a key's formats", index_read_kind_format, &key->by_kind);
}

/* "job_id" is short for { "job_id": "{job_id}" }. */
static bool index_read_plain_key(struct map_reader *reader, struct json value,
                                 struct index_side *side)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    const char *attribute;
    if (!map_read_text(reader, value, "an index's key attribute", &attribute))
        return false;
    struct declared_key *key = index_add_key(reader, value, attribute, side);
    if (!key)
        return false;
    buf_printf(&text, "{%s}", attribute);
    if (text.failed)
        return findings_no_memory(reader->findings);
    const char *wrong = format_parse(reader->arena, buf_span(&text), &key->format);
    return !wrong || map_fail(reader, value, "\"%s\" needs a format: { \"%s\": \"{…}\" }: %s",
                              attribute, attribute, wrong);
}

static bool index_read_side(struct map_reader *reader, struct json value, struct index_side side)
{
    bool ok = true;
    if (json_is(value, JSON_OBJECT))
        return map_read_each(reader, value, "an index's key", index_read_key, &side);
    if (!json_is(value, JSON_ARRAY))
        return index_read_plain_key(reader, value, &side);
    for (struct json each = json_first(value); json_present(each); each = json_next(each))
        ok = index_read_plain_key(reader, each, &side) && ok;
    return ok;
}

static bool index_read_partition(struct map_reader *reader, struct json value, const char *what,
                                 void *out)
{
    struct declared_index *index = out;
    (void)what;
    return index_read_side(reader, value,
                           (struct index_side){index->partition, &index->partition_count});
}

static bool index_read_sort(struct map_reader *reader, struct json value, const char *what,
                            void *out)
{
    struct declared_index *index = out;
    (void)what;
    return index_read_side(reader, value, (struct index_side){index->sort, &index->sort_count});
}

static bool index_read_projects(struct map_reader *reader, struct json value, const char *what,
                                void *out)
{
    struct declared_index *index = out;
    if (json_string_is(value, SPAN_LITERAL("all")))
        index->projects = PROJECTS_ALL;
    else if (json_string_is(value, SPAN_LITERAL("some")))
        index->projects = PROJECTS_SOME;
    else if (json_string_is(value, SPAN_LITERAL("keys")))
        index->projects = PROJECTS_KEYS;
    else if (!json_is(value, JSON_ARRAY))
        return map_fail(reader, value,
                        "%s is \"all\", \"some\", \"keys\", or a list of the attributes that are "
                        "included",
                        what);
    else
        return map_read_texts(reader, value, what, &index->includes, &index->include_count);
    return true;
}

static bool index_read_holds(struct map_reader *reader, struct json value, const char *what,
                             void *out)
{
    struct declared_index *index = out;
    index->has_holds = true;
    return kinds_read_any(reader, value, what, &index->holds, &index->hold_count);
}

static bool index_read(struct map_reader *reader, const char *name, struct json at,
                       struct json value, void *out)
{
    static const struct map_member members[] = {
        {"partition", .read = index_read_partition},
        {"sort", .read = index_read_sort},
        {"projects", .read = index_read_projects},
        {"local", map_read_flag, offsetof(struct declared_index, local), NULL},
        {"holds", .read = index_read_holds},
        {0},
    };
    struct declared_index **last = out;
    struct declared_index *index = map_alloc(reader, sizeof *index);
    if (!index)
        return false;
    *index =
        (struct declared_index){.name = name, .projects = PROJECTS_SOME, .at = map_at(reader, at)};
    MAP_APPEND(last, index);
    index->broken = !map_read_members(reader, value, "an index", members, index);
    if (!index->broken && index->partition_count == 0)
        index->broken =
            !map_fail(reader, at, "index \"%s\" needs its \"partition\" attribute", name);
    return !index->broken;
}

/* Types and parameters. */

static bool type_read_name(struct map_reader *reader, struct json value, const char *what,
                           void *out)
{
    enum value_type *type = out;
    (void)what;
    for (*type = VALUE_S; *type <= VALUE_BOOL; (*type)++)
        if (json_string_is(value, span_text(value_type_name(*type))))
            return true;
    return map_fail(reader, value, "a type is \"S\", \"N\", \"B\" or \"BOOL\"");
}

static bool type_read(struct map_reader *reader, const char *attribute, struct json at,
                      struct json value, void *out)
{
    struct declared_type **last = out;
    struct declared_type *type = map_alloc(reader, sizeof *type);
    if (!type)
        return false;
    *type = (struct declared_type){.attribute = attribute, .at = map_at(reader, at)};
    if (!type_read_name(reader, value, "", &type->type))
        return false;
    MAP_APPEND(last, type);
    return true;
}

static bool param_read_values(struct map_reader *reader, struct json value, const char *what,
                              void *out)
{
    struct declared_param *param = out;
    return map_read_texts(reader, value, what, &param->values, &param->value_count);
}

static bool param_read_match(struct map_reader *reader, struct json value, const char *what,
                             void *out)
{
    struct declared_param *param = out;
    param->match_at = map_at(reader, value);
    return map_read_text(reader, value, what, &param->match);
}

static bool param_read_type(struct map_reader *reader, struct json value, const char *what,
                            void *out)
{
    struct declared_param *param = out;
    param->typed = true;
    return type_read_name(reader, value, what, &param->type);
}

static bool param_read(struct map_reader *reader, const char *name, struct json at,
                       struct json value, void *out)
{
    static const struct map_member members[] = {
        {"values", .read = param_read_values},
        {"only", map_read_flag, offsetof(struct declared_param, only), NULL},
        {"owner", map_read_text, offsetof(struct declared_param, owner), NULL},
        {"match", .read = param_read_match},
        {"hint", map_read_text, offsetof(struct declared_param, hint), NULL},
        {"type", .read = param_read_type},
        {0},
    };
    struct declared_param **last = out;
    struct declared_param *param = map_alloc(reader, sizeof *param);
    if (!param)
        return false;
    *param = (struct declared_param){.name = name, .at = map_at(reader, at)};
    MAP_APPEND(last, param);
    param->broken = !map_read_members(reader, value, "a parameter", members, param);
    if (!param->broken && param->only && param->value_count == 0)
        param->broken = !map_fail(
            reader, at, "{%s} has \"only\" but no \"values\"; add them, or remove \"only\"", name);
    return !param->broken;
}

/* Paths. */

static bool path_read_record(struct map_reader *reader, struct json value, const char *what,
                             void *out)
{
    struct declared_path *path = out;
    (void)what;
    if (path->list)
        return map_fail(reader, value,
                        "a path that ends in / is a listing: \"list\", not \"record\"");
    path->kinds = map_alloc(reader, sizeof *path->kinds);
    return path->kinds && kinds_add(reader, value, path->kinds, &path->kind_count);
}

static bool path_read_list(struct map_reader *reader, struct json value, const char *what,
                           void *out)
{
    struct declared_path *path = out;
    if (!path->list)
        return map_fail(reader, value, "a listing's path ends in /; \"%s\" does not", path->path);
    return kinds_read(reader, value, what, "a kind of record, a list of kinds, or \"*\"",
                      &path->kinds, &path->kind_count);
}

static bool path_read_index(struct map_reader *reader, struct json value, const char *what,
                            void *out)
{
    struct declared_path *path = out;
    path->index.at = map_at(reader, value);
    return map_read_text(reader, value, what, &path->index.text);
}

static bool path_read_limit(struct map_reader *reader, struct json value, const char *what,
                            struct declared_path *path)
{
    int64_t limit = 0;
    bool all = json_string_is(value, SPAN_LITERAL("all"));
    bool of_path = !all && json_is(value, JSON_STRING);
    struct format count = {0};
    if (of_path && !map_read_format(reader, value, what, &count))
        return false;
    path->limit_param = of_path ? format_whole_param(&count) : NULL;
    if (of_path ? !path->limit_param
                : !all && (!json_read_int(value, &limit) || limit < 1 || limit > ENTRY_LIMIT_MOST))
        return map_fail(reader, value,
                        "%s is a number from 1 to %d, \"all\", or a parameter of the path, "
                        "\"{count}\"",
                        what, ENTRY_LIMIT_MOST);
    if (path->ordered)
        return map_fail(reader, value, "\"newest\" and \"oldest\" exclude each other");
    path->ordered = true;
    path->limit = (uint32_t)limit;
    return true;
}

static bool path_read_newest(struct map_reader *reader, struct json value, const char *what,
                             void *out)
{
    struct declared_path *path = out;
    if (!path_read_limit(reader, value, what, path))
        return false;
    path->descending = true;
    return true;
}

static bool path_read_oldest(struct map_reader *reader, struct json value, const char *what,
                             void *out)
{
    return path_read_limit(reader, value, what, out);
}

static bool path_read_greatest(struct map_reader *reader, struct json value, const char *what,
                               void *out)
{
    struct declared_path *path = out;
    path->pick = PICK_GREATEST;
    return map_read_text(reader, value, what, &path->pick_attribute);
}

static bool path_read_least(struct map_reader *reader, struct json value, const char *what,
                            void *out)
{
    struct declared_path *path = out;
    path->pick = PICK_LEAST;
    return map_read_text(reader, value, what, &path->pick_attribute);
}

static bool path_read_pick(struct map_reader *reader, struct json value, const char *what,
                           void *out)
{
    static const struct map_member members[] = {
        {"greatest", .read = path_read_greatest},
        {"least", .read = path_read_least},
        {0},
    };
    if (json_count(value) != 1)
        return map_fail(reader, value, "%s has one member: { \"greatest\": \"last_updated\" }",
                        what);
    return map_read_members(reader, value, "\"pick\"", members, out);
}

static bool path_read_name(struct map_reader *reader, struct json value, const char *what,
                           void *out)
{
    struct declared_path *path = out;
    path->has_name = true;
    return map_read_format(reader, value, what, &path->name);
}

static bool path_read_hydrate(struct map_reader *reader, struct json value, const char *what,
                              void *out)
{
    struct declared_path *path = out;
    bool yes;
    if (!map_read_flag(reader, value, what, &yes))
        return false;
    path->hydrate = yes ? CHOICE_YES : CHOICE_NO;
    return true;
}

static bool path_read(struct map_reader *reader, const char *text, struct json at,
                      struct json value, void *out)
{
    static const struct map_member members[] = {
        {"record", .read = path_read_record},
        {"list", .read = path_read_list},
        {"index", .read = path_read_index},
        {"where", map_read_where, offsetof(struct declared_path, wheres), NULL},
        {"filter", map_read_filter, offsetof(struct declared_path, filters), NULL},
        {"newest", .read = path_read_newest},
        {"oldest", .read = path_read_oldest},
        {"ties", map_read_flag, offsetof(struct declared_path, ties), NULL},
        {"groups", map_read_flag, offsetof(struct declared_path, groups), NULL},
        {"pick", .read = path_read_pick},
        {"attribute", map_read_text, offsetof(struct declared_path, attribute), NULL},
        {"name", .read = path_read_name},
        {"hydrate", .read = path_read_hydrate},
        {"consistent", map_read_flag, offsetof(struct declared_path, consistent), NULL},
        {"hidden", map_read_flag, offsetof(struct declared_path, hidden), NULL},
        {"ttl", map_read_ttl, offsetof(struct declared_path, ttl_ms), NULL},
        {"mtime", map_read_text, offsetof(struct declared_path, mtime), NULL},
        {0},
    };
    struct declared_path **last = out;
    struct declared_path *path = map_alloc(reader, sizeof *path);
    if (!path)
        return false;
    *path = (struct declared_path){
        .path = text,
        .at = map_at(reader, at),
        .list = span_ends(span_text(text), SPAN_LITERAL("/")),
        .ttl_ms = -1,
    };
    /* A wrong path is left out: no other member refers to it. */
    if (!map_read_members(reader, value, "a path", members, path))
        return false;
    MAP_APPEND(last, path);
    return true;
}

/* Links. */

static bool link_read_kinds(struct map_reader *reader, struct json value, const char *what,
                            void *out)
{
    struct declared_link *link = out;
    return kinds_read(reader, value, what, "a kind of record, or a list of kinds", &link->kinds,
                      &link->kind_count);
}

static bool link_read_source(struct map_reader *reader, const char *from, struct json at,
                             struct json value, void *out)
{
    struct declared_link_source **last = out;
    struct declared_link_source *source = map_alloc(reader, sizeof *source);
    if (!source)
        return false;
    *source = (struct declared_link_source){.from = from, .at = map_at(reader, at)};
    MAP_APPEND(last, source);
    return map_read_format(reader, value, "a link's \"from\"", &source->format);
}

static bool link_read_from(struct map_reader *reader, struct json value, const char *what,
                           void *out)
{
    if (json_is(value, JSON_OBJECT) && json_count(value) == 0)
        return map_fail(reader, value,
                        "%s is empty; add a part: { \"shop\": \"{account}-{name}\" }", what);
    return map_read_each(reader, value, what, link_read_source, out);
}

/* A text is short for { "to": text }. */
static bool link_read(struct map_reader *reader, const char *name, struct json at,
                      struct json value, void *out)
{
    static const struct map_member members[] = {
        {"to", map_read_text, offsetof(struct declared_link, to), NULL},
        {"record", .read = link_read_kinds},
        {"from", link_read_from, offsetof(struct declared_link, sources), NULL},
        {0},
    };
    struct declared_link **last = out;
    struct declared_link *link = map_alloc(reader, sizeof *link);
    if (!link)
        return false;
    *link = (struct declared_link){.name = name, .at = map_at(reader, at)};
    /* An @ begins the ending of a companion of the target. */
    if (!escape_is_unneeded(span_text(name)) || name[0] == '.' || strchr(name, '@') ||
        companion_find_ending(span_text(name)) < strlen(name) || strlen(name) > LINK_NAME_MAX)
        return map_fail(reader, at,
                        "a link's name is one of a file: at most %d bytes, no /, %%, @, control "
                        "character, leading dot or final ~",
                        LINK_NAME_MAX);
    bool ok = json_is(value, JSON_OBJECT)
                  ? map_read_members(reader, value, "a link", members, link)
                  : map_read_text(reader, value, "a link's path", &link->to);
    if (ok && !link->to)
        ok = map_fail(reader, at, "link \"%s\" needs \"to\", the path that it leads to", name);
    if (!ok) /* A wrong link is left out: no other member refers to it. */
        return false;
    MAP_APPEND(last, link);
    return true;
}

/* Tables. */

static bool table_read_base_name(struct map_reader *reader, struct json value, const char *what,
                                 void *out)
{
    struct declared_table *table = out;
    bool ok = map_read_text(reader, value, what, &table->base_name);
    table->broken = table->broken || !ok;
    return ok;
}

static bool table_read_separator(struct map_reader *reader, struct json value, const char *what,
                                 void *out)
{
    struct declared_table *table = out;
    const char *text;
    if (!map_read_text(reader, value, what, &text))
        return false;
    if (strlen(text) != 1)
        return map_fail(reader, value, "%s is one character", what);
    table->separator = text[0];
    return true;
}

static bool table_read_records(struct map_reader *reader, struct json value, const char *what,
                               void *out)
{
    struct declared_table *table = out;
    bool ok = map_read_each(reader, value, what, record_read, &table->records);
    table->broken = table->broken || !ok;
    return ok;
}

static bool attribute_read(struct map_reader *reader, const char *name, struct json at,
                           struct json value, void *out)
{
    struct declared_attribute **last = out;
    struct declared_attribute *attribute = map_alloc(reader, sizeof *attribute);
    if (!attribute)
        return false;
    *attribute = (struct declared_attribute){.name = name, .at = map_at(reader, at)};
    MAP_APPEND(last, attribute);
    return kinds_read_any(reader, value, "an attribute", &attribute->kinds, &attribute->kind_count);
}

static bool table_read_secrets(struct map_reader *reader, struct json value, const char *what,
                               void *out)
{
    struct declared_table *table = out;
    return map_read_texts(reader, value, what, &table->secrets, &table->secret_count);
}

static bool table_read_paths(struct map_reader *reader, struct json value, const char *what,
                             void *out)
{
    struct declared_table *table = out;
    table->has_paths = true;
    return map_read_each(reader, value, what, path_read, &table->paths);
}

static bool table_read(struct map_reader *reader, const char *name, struct json at,
                       struct json value, void *out)
{
    static const struct map_member members[] = {
        {"table", .read = table_read_base_name},
        {"records", .read = table_read_records},
        {"indexes", NULL, offsetof(struct declared_table, indexes), index_read},
        {"types", NULL, offsetof(struct declared_table, types), type_read},
        {"params", NULL, offsetof(struct declared_table, params), param_read},
        {"attributes", NULL, offsetof(struct declared_table, attributes), attribute_read},
        {"separator", .read = table_read_separator},
        {"secret", .read = table_read_secrets},
        {"mtime", map_read_text, offsetof(struct declared_table, mtime), NULL},
        {"ttl", map_read_ttl, offsetof(struct declared_table, ttl_ms), NULL},
        {"links", NULL, offsetof(struct declared_table, links), link_read},
        {"paths", .read = table_read_paths},
        {0},
    };
    struct declared_table **last = out;
    struct declared_table *table = map_alloc(reader, sizeof *table);
    if (!table)
        return false;
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
    MAP_APPEND(last, table);
    return ok;
}

bool map_read_tables(struct map_reader *reader, struct json value, struct declared_table **tables)
{
    return map_read_each(reader, value, "\"tables\"", table_read, tables);
}
