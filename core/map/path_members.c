#include "core/map/path_members.h"

#include "core/map/condition_members.h"
#include "core/map/entry_names.h"

static struct declared_path *paths_path_of(void *target)
{
    return target;
}

static bool paths_add_kind(struct map_reader *reader, struct json value, struct declared_path *path)
{
    struct declared_name *kind = &path->kinds[path->kind_count];
    kind->at = map_at(reader, value);
    if (!map_read_text(reader, value, "a kind of record", &kind->text))
        return false;
    path->kind_count++;
    return true;
}

static bool paths_make_room(struct map_reader *reader, struct declared_path *path, size_t count)
{
    path->kinds = arena_array(reader->arena, count ? count : 1, sizeof *path->kinds);
    return path->kinds || findings_no_memory(reader->findings);
}

static bool paths_read_record(struct map_reader *reader, struct json value, void *target)
{
    struct declared_path *path = paths_path_of(target);
    if (path->list)
        return map_fail(reader, value,
                        "a path that ends in / is a listing: \"list\", not \"record\"");
    return paths_make_room(reader, path, 1) && paths_add_kind(reader, value, path);
}

static bool paths_read_list(struct map_reader *reader, struct json value, void *target)
{
    struct declared_path *path = paths_path_of(target);
    bool ok = true;
    if (!path->list)
        return map_fail(reader, value, "a listing's path ends in /; \"%s\" does not", path->path);
    if (json_count(value) > MAP_MAX_MEMBERS)
        return map_fail(reader, value, "\"list\" has more than %d kinds", MAP_MAX_MEMBERS);
    if (!paths_make_room(reader, path, json_count(value)))
        return false;
    if (json_is(value, JSON_STRING))
        return paths_add_kind(reader, value, path);
    if (!json_is(value, JSON_ARRAY) || json_count(value) == 0)
        return map_fail(reader, value, "\"list\" is a kind of record, a list of kinds, or \"*\"");
    for (struct json each = json_first(value); json_present(each); each = json_next(each))
        ok = paths_add_kind(reader, each, path) && ok;
    return ok;
}

static bool paths_read_index(struct map_reader *reader, struct json value, void *target)
{
    struct declared_path *path = paths_path_of(target);
    path->index.at = map_at(reader, value);
    return map_read_text(reader, value, "\"index\"", &path->index.text);
}

static bool paths_read_where(struct map_reader *reader, struct json value, void *target)
{
    return map_read_where(reader, value, &paths_path_of(target)->wheres);
}

static bool paths_read_filter(struct map_reader *reader, struct json value, void *target)
{
    return map_read_filter(reader, value, &paths_path_of(target)->filters);
}

static bool paths_read_limit(struct map_reader *reader, struct json value,
                             struct declared_path *path, bool descending)
{
    int64_t limit = 0;
    const char *word = descending ? "\"newest\"" : "\"oldest\"";
    bool all = json_string_is(value, SPAN_LITERAL("all"));
    bool of_path = !all && json_is(value, JSON_STRING);
    struct format count = {0};
    if (of_path && !map_read_format(reader, value, word, &count))
        return false;
    path->limit_param = of_path ? format_whole_param(&count) : NULL;
    if (of_path ? !path->limit_param
                : !all && (!json_read_int(value, &limit) || limit < 1 || limit > ENTRY_LIMIT_MOST))
        return map_fail(reader, value,
                        "%s is a number from 1 to %d, \"all\", or a parameter of the path, "
                        "\"{count}\"",
                        word, ENTRY_LIMIT_MOST);
    if (path->ordered)
        return map_fail(reader, value, "\"newest\" and \"oldest\" exclude each other");
    path->ordered = true;
    path->limit = (uint32_t)limit;
    path->descending = descending;
    return true;
}

static bool paths_read_newest(struct map_reader *reader, struct json value, void *target)
{
    return paths_read_limit(reader, value, target, true);
}

static bool paths_read_oldest(struct map_reader *reader, struct json value, void *target)
{
    return paths_read_limit(reader, value, target, false);
}

static bool paths_read_greatest(struct map_reader *reader, struct json value, void *target)
{
    struct declared_path *path = paths_path_of(target);
    path->pick = PICK_GREATEST;
    return map_read_text(reader, value, "\"greatest\"", &path->pick_attribute);
}

static bool paths_read_least(struct map_reader *reader, struct json value, void *target)
{
    struct declared_path *path = paths_path_of(target);
    path->pick = PICK_LEAST;
    return map_read_text(reader, value, "\"least\"", &path->pick_attribute);
}

static bool paths_read_pick(struct map_reader *reader, struct json value, void *target)
{
    static const struct map_member members[] = {
        {"greatest", paths_read_greatest},
        {"least", paths_read_least},
        {0},
    };
    if (json_count(value) != 1)
        return map_fail(reader, value,
                        "\"pick\" says which one: { \"greatest\": \"last_updated\" }");
    return map_read_members(reader, value, "\"pick\"", members, target);
}

static bool paths_read_attribute(struct map_reader *reader, struct json value, void *target)
{
    return map_read_text(reader, value, "\"attribute\"", &paths_path_of(target)->attribute);
}

static bool paths_read_name(struct map_reader *reader, struct json value, void *target)
{
    paths_path_of(target)->has_name = true;
    return map_read_format(reader, value, "\"name\"", &paths_path_of(target)->name);
}

static bool paths_read_hydrate(struct map_reader *reader, struct json value, void *target)
{
    bool yes;
    if (!map_read_flag(reader, value, "\"hydrate\"", &yes))
        return false;
    paths_path_of(target)->hydrate = yes ? CHOICE_YES : CHOICE_NO;
    return true;
}

static bool paths_read_consistent(struct map_reader *reader, struct json value, void *target)
{
    return map_read_flag(reader, value, "\"consistent\"", &paths_path_of(target)->consistent);
}

static bool paths_read_ties(struct map_reader *reader, struct json value, void *target)
{
    return map_read_flag(reader, value, "\"ties\"", &paths_path_of(target)->ties);
}

static bool paths_read_groups(struct map_reader *reader, struct json value, void *target)
{
    return map_read_flag(reader, value, "\"groups\"", &paths_path_of(target)->groups);
}

static bool paths_read_hidden(struct map_reader *reader, struct json value, void *target)
{
    return map_read_flag(reader, value, "\"hidden\"", &paths_path_of(target)->hidden);
}

static bool paths_read_ttl(struct map_reader *reader, struct json value, void *target)
{
    return map_read_ttl(reader, value, &paths_path_of(target)->ttl_ms);
}

static bool paths_read_mtime(struct map_reader *reader, struct json value, void *target)
{
    return map_read_text(reader, value, "\"mtime\"", &paths_path_of(target)->mtime);
}

/* The list of paths while it grows: by its end, since a table may have many. */
struct path_list {
    struct declared_path **end;
};

static bool paths_read(struct map_reader *reader, const char *text, struct json at,
                       struct json value, void *target)
{
    static const struct map_member members[] = {
        {"record", paths_read_record},       {"list", paths_read_list},
        {"index", paths_read_index},         {"where", paths_read_where},
        {"filter", paths_read_filter},       {"newest", paths_read_newest},
        {"oldest", paths_read_oldest},       {"ties", paths_read_ties},
        {"groups", paths_read_groups},       {"pick", paths_read_pick},
        {"attribute", paths_read_attribute}, {"name", paths_read_name},
        {"hydrate", paths_read_hydrate},     {"consistent", paths_read_consistent},
        {"hidden", paths_read_hidden},       {"ttl", paths_read_ttl},
        {"mtime", paths_read_mtime},         {0},
    };
    struct path_list *list = target;
    struct declared_path *path = arena_alloc(reader->arena, sizeof *path);
    if (!path)
        return findings_no_memory(reader->findings);
    *path = (struct declared_path){
        .path = text,
        .at = map_at(reader, at),
        .list = span_ends(span_text(text), SPAN_LITERAL("/")),
        .ttl_ms = -1,
    };
    /* One that could not be read is left out: nobody refers to a path. */
    if (!map_read_members(reader, value, "a path", members, path))
        return false;
    *list->end = path;
    list->end = &path->next;
    return true;
}

bool map_read_paths(struct map_reader *reader, struct json value, void *paths)
{
    struct path_list list = {paths};
    return map_read_each(reader, value, "\"paths\"", paths_read, &list);
}
