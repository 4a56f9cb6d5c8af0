#include "core/check/table_check.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/map/condition_template.h"
#include "core/source/table_words.h"

struct table_check {
    const struct model *table;
    const char *name;
    const struct table_info *info;
    check_finding_fn *fn;
    void *arg;
};

static void table_check_report(const struct table_check *check, unsigned line, const char *format,
                               ...) __attribute__((format(printf, 3, 4)));

static void table_check_report(const struct table_check *check, unsigned line, const char *format,
                               ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    check->fn(check->arg, line, text);
}

/* Compares one side of a key: MINE, of the map, with that of LIVE. Returns the number of attributes
 * of the latter. */
static size_t table_check_side(const struct table_check *check, unsigned line, const char *whose,
                               bool sort, const struct map_key *mine, size_t count,
                               const struct key_schema *live)
{
    const char *side = sort ? "sort" : "partition";
    size_t live_count = sort ? live->sort_count : live->partition_count;
    if (count > live_count)
        table_check_report(check, line, "%s has no %s key %s", whose, side,
                           mine[live_count].attribute);
    for (size_t i = 0; i < count && i < live_count; i++) {
        struct span name = sort ? live->sort[i].name : live->partition[i].name;
        enum value_type type = sort ? live->sort[i].type : live->partition[i].type;
        if (!span_is(name, mine[i].attribute))
            table_check_report(check, line, "the %s key of %s is %.*s, not %s", side, whose,
                               (int)name.size, name.data, mine[i].attribute);
        else if (type != mine[i].type)
            table_check_report(
                check, line,
                "%s of %s is of type %s, not %s; declare \"types\": { \"%s\": \"%s\" }",
                mine[i].attribute, whose, value_type_name(type), value_type_name(mine[i].type),
                mine[i].attribute, value_type_name(type));
    }
    return live_count;
}

static const struct index_info *table_check_find_index(const struct table_info *info,
                                                       const char *name)
{
    for (size_t i = 0; i < info->index_count; i++)
        if (span_is(info->indexes[i].name, name))
            return &info->indexes[i];
    return NULL;
}

static bool table_check_index_holds(const struct index_info *info, const char *attribute)
{
    bool held = info->projection == PROJECTS_ALL;
    for (size_t i = 0; i < info->keys.partition_count; i++)
        held = held || span_is(info->keys.partition[i].name, attribute);
    for (size_t i = 0; i < info->keys.sort_count; i++)
        held = held || span_is(info->keys.sort[i].name, attribute);
    for (size_t i = 0; i < info->included_count; i++)
        held = held || span_is(info->included[i], attribute);
    return held;
}

static void table_check_index(const struct table_check *check, const struct map_index *mine)
{
    char whose[512];
    const struct index_info *info = table_check_find_index(check->info, mine->name);
    if (!info) {
        table_check_report(check, mine->line, "%s has no index %s", check->name, mine->name);
        return;
    }
    snprintf(whose, sizeof whose, "index %s of %s", mine->name, check->name);
    CLEAN_UP(buf_clean_up) struct buf unready = {0};
    table_words_write_unready(info, &unready);
    if (unready.size > 0)
        table_check_report(check, mine->line, "%s %s", whose, buf_text(&unready));
    size_t live_count = table_check_side(check, mine->line, whose, false, mine->partition,
                                         mine->partition_count, &info->keys);
    if (mine->partition_count < live_count)
        table_check_report(check, mine->line,
                           "the partition key of %s has %zu attributes, but %zu in the map", whose,
                           live_count, mine->partition_count);
    table_check_side(check, mine->line, whose, true, mine->sort, mine->sort_count, &info->keys);
    for (size_t i = 0; i < mine->include_count; i++)
        if (!table_check_index_holds(info, mine->includes[i]) &&
            !model_is_key(check->table, mine->includes[i]))
            table_check_report(check, mine->line, "%s does not include %s", whose,
                               mine->includes[i]);
    if (mine->local && !info->local)
        table_check_report(check, mine->line, "%s is a global index; remove \"local\"", whose);
}

/* A path of an index, whose attributes are compared with those that the live index holds. */
struct index_path {
    const struct table_check *check;
    const struct map_pattern *pattern;
    const struct index_info *info;
    const char *member; /* of the path: "filter" or "pick" */
};

/* Without the attribute in the index, each item would seem to lack it for a filter, and a pick
 * would fail. */
static bool table_check_attribute(void *arg, const char *attribute)
{
    const struct index_path *path = arg;
    if (!table_check_index_holds(path->info, attribute) &&
        !model_is_key(path->check->table, attribute))
        table_check_report(path->check, path->pattern->line,
                           "\"%s\" of \"%s\" tests %s, which index %s of %s does not hold, so that "
                           "each item would seem to lack it",
                           path->member, path->pattern->path, attribute, path->pattern->index->name,
                           path->check->name);
    return true;
}

static void table_check_path(const struct table_check *check, const struct map_pattern *pattern)
{
    static const char *const words[] = {
        [PROJECTS_ALL] = "all", [PROJECTS_SOME] = "some", [PROJECTS_KEYS] = "keys"};
    struct index_path path = {.check = check, .pattern = pattern, .member = "filter"};
    path.info = pattern->index ? table_check_find_index(check->info, pattern->index->name) : NULL;
    if (!path.info)
        return;
    if (path.info->projection != PROJECTS_ALL && !pattern->hydrates)
        table_check_report(
            check, pattern->line,
            "\"%s\" would show incomplete items, because index %s of %s does not project all "
            "attributes; it must be hydrated: declare \"projects\": \"%s\" in the index",
            pattern->path, pattern->index->name, check->name, words[path.info->projection]);
    for (size_t i = 0; i < pattern->filter_count; i++)
        condition_each_attribute(&pattern->filter[i], table_check_attribute, &path);
    path.member = "pick";
    if (pattern->pick)
        table_check_attribute(&path, pattern->pick_attribute);
}

void table_check_run(const struct model *table, const char *name, const struct table_info *info,
                     check_finding_fn *fn, void *arg)
{
    struct table_check check = {table, name, info, fn, arg};
    unsigned line = table->kinds->line;
    table_check_side(&check, line, name, false, table->keys, 1, &info->keys);
    if (info->keys.sort_count > 0 && table->key_count == 1)
        table_check_report(&check, line,
                           "%s has the sort key %.*s, which the map's \"records\" lack", name,
                           (int)info->keys.sort[0].name.size, info->keys.sort[0].name.data);
    table_check_side(&check, line, name, true, table->keys + 1, table->key_count - 1, &info->keys);
    for (const struct map_index *index = table->indexes; index; index = index->next)
        table_check_index(&check, index);
    for (const struct map_pattern *each = table->patterns; each; each = each->next)
        table_check_path(&check, each);
}
