#include "core/check/table_check.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/map/condition_template.h"

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

/* A key attribute of the live table. */
struct live_attribute {
    struct span name;
    enum value_type type;
};

/* Compares one side of a key: MINE is the map's. */
static void table_check_side(const struct table_check *check, unsigned line, const char *whose,
                             const char *side, const struct map_key *mine, size_t my_count,
                             const struct live_attribute *theirs, size_t their_count)
{
    if (my_count > their_count)
        table_check_report(check, line, "%s has no %s key %s", whose, side,
                           mine[their_count].attribute);
    for (size_t i = 0; i < my_count && i < their_count; i++) {
        if (!span_is(theirs[i].name, mine[i].attribute))
            table_check_report(check, line, "the %s key of %s is %.*s, not %s", side, whose,
                               (int)theirs[i].name.size, theirs[i].name.data, mine[i].attribute);
        else if (theirs[i].type != mine[i].type)
            table_check_report(
                check, line,
                "%s of %s is of type %s, not %s; declare \"types\": { \"%s\": \"%s\" }",
                mine[i].attribute, whose, value_type_name(theirs[i].type),
                value_type_name(mine[i].type), mine[i].attribute, value_type_name(theirs[i].type));
    }
}

static size_t table_check_partition_of(const struct key_schema *keys,
                                       struct live_attribute out[KEY_MAX_ATTRIBUTES])
{
    for (size_t i = 0; i < keys->partition_count; i++)
        out[i] = (struct live_attribute){keys->partition[i].name, keys->partition[i].type};
    return keys->partition_count;
}

static size_t table_check_sort_of(const struct key_schema *keys,
                                  struct live_attribute out[KEY_MAX_ATTRIBUTES])
{
    for (size_t i = 0; i < keys->sort_count; i++)
        out[i] = (struct live_attribute){keys->sort[i].name, keys->sort[i].type};
    return keys->sort_count;
}

static void table_check_base(const struct table_check *check)
{
    const struct model *table = check->table;
    struct live_attribute theirs[KEY_MAX_ATTRIBUTES] = {0};
    unsigned line = table->kinds->line;
    size_t count = table_check_partition_of(&check->info->keys, theirs);
    table_check_side(check, line, check->name, "partition", table->keys, 1, theirs, count);
    count = table_check_sort_of(&check->info->keys, theirs);
    if (count > 0 && table->key_count == 1)
        table_check_report(check, line,
                           "%s has the sort key %.*s, which the map's \"records\" lack",
                           check->name, (int)theirs[0].name.size, theirs[0].name.data);
    table_check_side(check, line, check->name, "sort", table->keys + 1, table->key_count - 1,
                     theirs, count);
}

static const struct index_info *table_check_find_index(const struct table_info *info,
                                                       const char *name)
{
    for (size_t i = 0; i < info->index_count; i++)
        if (span_is(info->indexes[i].name, name))
            return &info->indexes[i];
    return NULL;
}

static const char *table_check_projection_word(enum projection projection)
{
    return projection == PROJECTS_KEYS ? "keys" : projection == PROJECTS_SOME ? "some" : "all";
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
    struct live_attribute theirs[KEY_MAX_ATTRIBUTES] = {0};
    char whose[512];
    const struct index_info *info = table_check_find_index(check->info, mine->name);
    if (!info) {
        table_check_report(check, mine->line, "%s has no index %s", check->name, mine->name);
        return;
    }
    snprintf(whose, sizeof whose, "index %s of %s", mine->name, check->name);
    size_t count = table_check_partition_of(&info->keys, theirs);
    table_check_side(check, mine->line, whose, "partition", mine->partition, mine->partition_count,
                     theirs, count);
    if (mine->partition_count < count)
        table_check_report(check, mine->line,
                           "the partition key of %s has %zu attributes, but %zu in the map", whose,
                           count, mine->partition_count);
    count = table_check_sort_of(&info->keys, theirs);
    table_check_side(check, mine->line, whose, "sort", mine->sort, mine->sort_count, theirs, count);
    for (size_t i = 0; i < mine->include_count; i++)
        if (!table_check_index_holds(info, mine->includes[i]) &&
            !model_is_key(check->table, mine->includes[i]))
            table_check_report(check, mine->line, "%s does not include %s", whose,
                               mine->includes[i]);
    if (mine->local && !info->local)
        table_check_report(check, mine->line, "%s is a global index; remove \"local\"", whose);
}

/* Reports a path that would show items of an index as whole although the index does not hold them.
 */
static void table_check_projection(const struct table_check *check,
                                   const struct map_pattern *pattern)
{
    const struct index_info *info =
        pattern->index ? table_check_find_index(check->info, pattern->index->name) : NULL;
    if (!info || info->projection == PROJECTS_ALL || pattern->hydrates)
        return;
    table_check_report(
        check, pattern->line,
        "\"%s\" would show incomplete items, because index %s of %s does not project all "
        "attributes; it must be hydrated: declare \"projects\": \"%s\" in the index",
        pattern->path, pattern->index->name, check->name,
        table_check_projection_word(info->projection));
}

static void table_check_held(const struct table_check *check, const struct map_pattern *pattern,
                             const struct index_info *info, const char *member,
                             const char *attribute)
{
    if (table_check_index_holds(info, attribute) || model_is_key(check->table, attribute))
        return;
    table_check_report(check, pattern->line,
                       "\"%s\" of \"%s\" tests %s, which index %s of %s does not hold, so that "
                       "each item would seem to "
                       "lack it",
                       member, pattern->path, attribute, pattern->index->name, check->name);
}

struct table_look {
    const struct table_check *check;
    const struct map_pattern *pattern;
    const struct index_info *info;
};

static bool table_check_look(void *arg, const char *attribute)
{
    struct table_look *look = arg;
    table_check_held(look->check, look->pattern, look->info, "filter", attribute);
    return true;
}

/* Compares the attributes that filters and picks test with those that the live index holds. For a
 * filter, each item would seem to lack the attribute; a pick would fail. */
static void table_check_looks(const struct table_check *check, const struct map_pattern *pattern)
{
    const struct index_info *info =
        pattern->index ? table_check_find_index(check->info, pattern->index->name) : NULL;
    if (!info)
        return;
    struct table_look look = {check, pattern, info};
    for (size_t i = 0; i < pattern->filter_count; i++)
        condition_each_attribute(&pattern->filter[i], table_check_look, &look);
    if (pattern->pick)
        table_check_held(check, pattern, info, "pick", pattern->pick_attribute);
}

void table_check_run(const struct model *table, const char *name, const struct table_info *info,
                     check_finding_fn *fn, void *arg)
{
    struct table_check check = {table, name, info, fn, arg};
    table_check_base(&check);
    for (const struct map_index *index = table->indexes; index; index = index->next)
        table_check_index(&check, index);
    for (const struct map_pattern *each = table->patterns; each; each = each->next) {
        table_check_projection(&check, each);
        table_check_looks(&check, each);
    }
}
