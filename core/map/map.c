#include "core/map/map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/map/reader.h"
#include "core/map/tables.h"

static bool read_prefix(struct map_reader *reader, struct json value, void *target)
{
    struct map_environment *environment = target;
    return map_read_format(reader, value, "\"prefix\"", &environment->prefix);
}

static bool read_profile(struct map_reader *reader, struct json value, void *target)
{
    struct map_environment *environment = target;
    return map_read_text(reader, value, "\"profile\"", &environment->profile);
}

static bool read_region(struct map_reader *reader, struct json value, void *target)
{
    struct map_environment *environment = target;
    return map_read_text(reader, value, "\"region\"", &environment->region);
}

static bool read_endpoint(struct map_reader *reader, struct json value, void *target)
{
    struct map_environment *environment = target;
    return map_read_text(reader, value, "\"endpoint\"", &environment->endpoint_url);
}

/* Each parameter of the name stands in the prefix, once, and the other way round: so a table's
 * name tells its environment. */
static bool same_params(const struct format *name, const struct format *prefix)
{
    for (size_t i = 0; i < name->count; i++)
        if (name->pieces[i].param && !format_has(prefix, name->pieces[i].param))
            return false;
    for (size_t i = 0; i < prefix->count; i++)
        if (prefix->pieces[i].param && !format_has(name, prefix->pieces[i].param))
            return false;
    return true;
}

static bool check_environment(struct map_reader *reader, struct json at,
                              const struct map_environment *new)
{
    if (!same_params(&new->name, &new->prefix))
        return map_fail(reader, at,
                        "an environment's name and its prefix have the same parameters");
    for (struct map_environment *old = reader->map->environments; old != new; old = old->next)
        if (!format_is_literal(&old->name) && !format_is_literal(&new->name) &&
            format_overlaps(&old->name, &new->name))
            return map_fail(reader, at, "this and the environment in line %u match the same names",
                            old->line);
    return true;
}

static bool read_environment(struct map_reader *reader, const char *name, struct json at,
                             struct json value, void *target)
{
    static const struct map_member members[] = {
        {"prefix", read_prefix},
        {"profile", read_profile},
        {"region", read_region},
        {"endpoint", read_endpoint},
        {0},
    };
    struct map *map = target;
    struct map_environment *environment = arena_alloc(&map->arena, sizeof *environment);
    if (!environment)
        return error_no_memory(reader->err);
    environment->line = map_line(reader, at);
    struct map_environment **last = &map->environments;
    while (*last)
        last = &(*last)->next;
    *last = environment;
    if (strchr(name, '/') || name[0] == '.')
        return map_fail(reader, at, "an environment's name is one directory: no /, no leading dot");
    return map_read_format(reader, at, "an environment's name", &environment->name) &&
           map_read_members(reader, value, "an environment", members, environment) &&
           check_environment(reader, at, environment);
}

static bool read_environments(struct map_reader *reader, struct json value, void *target)
{
    return map_read_each(reader, value, "\"environments\"", read_environment, target);
}

/* For editors only. */
static bool skip_schema(struct map_reader *reader, struct json value, void *target)
{
    (void)target;
    const char *ignored;
    return map_read_text(reader, value, "\"$schema\"", &ignored);
}

static bool read_map(struct map_reader *reader)
{
    static const struct map_member members[] = {
        {"$schema", skip_schema},
        {"environments", read_environments},
        {"tables", map_read_tables},
        {0},
    };
    struct json root = json_root(&reader->doc);
    if (!map_read_members(reader, root, "a map", members, reader->map))
        return false;
    if (!reader->map->environments)
        return map_fail(reader, root,
                        "a map needs \"environments\": { \"prod\": { \"prefix\": … } }");
    if (!reader->map->tables)
        return map_fail(reader, root, "a map needs \"tables\"");
    return true;
}

static bool parse_into(struct map *map, struct span text, struct error *err)
{
    struct map_reader reader = {.map = map, .err = err};
    struct json_fault fault;
    bool ok = json_parse(&reader.doc, text, JSON_COMMENTS, &fault);
    if (ok)
        ok = read_map(&reader);
    else if (strcmp(fault.what, "out of memory") == 0)
        error_no_memory(err);
    else
        map_fail_line(map, err, json_line(&reader.doc, fault.offset), "%s", fault.what);
    json_clean_up(&reader.doc);
    /* Whatever a reader took it for that a text or a format could not be had. */
    if (!ok && map->arena.failed)
        error_no_memory(err);
    return ok;
}

struct map *map_parse(const char *file, struct span text, struct error *err)
{
    struct map *map = calloc(1, sizeof *map);
    if (map) {
        map->file = arena_text(&map->arena, span_text(file));
        map->text = arena_text(&map->arena, text);
    }
    if (!map || map->arena.failed) {
        map_destroy(map);
        error_no_memory(err);
        return NULL;
    }
    if (parse_into(map, text, err))
        return map;
    map_destroy(map);
    return NULL;
}

static bool read_file(const char *file, struct buf *out, struct error *err)
{
    FILE *stream = fopen(file, "re");
    if (!stream)
        return error_set(err, ERROR_INVALID, "can't read the map %s: %s", file, strerror(errno));
    char chunk[8192];
    size_t size;
    while ((size = fread(chunk, 1, sizeof chunk, stream)) > 0)
        buf_add(out, chunk, size);
    bool failed = ferror(stream) != 0;
    fclose(stream);
    if (failed)
        return error_set(err, ERROR_INVALID, "can't read the map %s: %s", file, strerror(errno));
    return !out->failed || error_no_memory(err);
}

struct map *map_load(const char *file, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    if (!read_file(file, &text, err))
        return NULL;
    return map_parse(file, buf_span(&text), err);
}

void map_destroy(struct map *map)
{
    if (!map)
        return;
    for (struct map_table *table = map->tables; table; table = table->next)
        for (struct map_param *param = table->params; param; param = param->next)
            if (param->match)
                regfree(&param->regex);
    arena_clean_up(&map->arena);
    free(map);
}

const struct map_param *map_find_param(const struct map_table *table, const char *name)
{
    for (const struct map_param *param = table->params; param; param = param->next)
        if (strcmp(param->name, name) == 0)
            return param;
    return NULL;
}

const struct map_index *map_find_index(const struct map_table *table, const char *name)
{
    for (const struct map_index *index = table->indexes; index; index = index->next)
        if (strcmp(index->name, name) == 0)
            return index;
    return NULL;
}

bool map_is_secret(const struct map_table *table, struct span attribute)
{
    for (size_t i = 0; i < table->secret_count; i++)
        if (span_is(attribute, table->secrets[i]))
            return true;
    return false;
}

bool map_is_key(const struct map_table *table, const char *attribute)
{
    for (size_t i = 0; i < table->key_count; i++)
        if (strcmp(table->keys[i].attribute, attribute) == 0)
            return true;
    return false;
}

bool map_hydrates(const struct map_pattern *pattern)
{
    if (!pattern->index)
        return false;
    if (pattern->hydrate != CHOICE_UNSAID)
        return pattern->hydrate == CHOICE_YES;
    return pattern->index->projects != PROJECTS_ALL;
}
