#include "core/map/check.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/map/condition.h"

struct check {
    const struct model *table;
    const char *name;
    const struct table_info *info;
    check_finding_fn *fn;
    void *arg;
};

static void tell(const struct check *check, unsigned line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void tell(const struct check *check, unsigned line, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    check->fn(check->arg, line, text);
}

struct attribute {
    struct span name;
    enum value_type type;
};

/* One side of a key, as the map has it and as the service has it. */
static void check_side(const struct check *check, unsigned line, const char *whose,
                       const char *side, const struct map_key *mine, size_t my_count,
                       const struct attribute *theirs, size_t their_count)
{
    if (my_count > their_count)
        tell(check, line, "%s has no %s key %s", whose, side, mine[their_count].attribute);
    for (size_t i = 0; i < my_count && i < their_count; i++) {
        if (!span_is(theirs[i].name, mine[i].attribute))
            tell(check, line, "the %s key of %s is %.*s, not %s", side, whose,
                 (int)theirs[i].name.size, theirs[i].name.data, mine[i].attribute);
        else if (theirs[i].type != mine[i].type)
            tell(check, line, "%s of %s is of type %s, not %s; say \"types\": { \"%s\": \"%s\" }",
                 mine[i].attribute, whose, value_type_name(theirs[i].type),
                 value_type_name(mine[i].type), mine[i].attribute, value_type_name(theirs[i].type));
    }
}

static size_t partition_of(const struct key_schema *keys, struct attribute out[KEY_MAX_ATTRIBUTES])
{
    for (size_t i = 0; i < keys->partition_count; i++)
        out[i] = (struct attribute){keys->partition[i].name, keys->partition[i].type};
    return keys->partition_count;
}

static size_t sort_of(const struct key_schema *keys, struct attribute out[KEY_MAX_ATTRIBUTES])
{
    for (size_t i = 0; i < keys->sort_count; i++)
        out[i] = (struct attribute){keys->sort[i].name, keys->sort[i].type};
    return keys->sort_count;
}

static void check_base(const struct check *check)
{
    const struct model *table = check->table;
    struct attribute theirs[KEY_MAX_ATTRIBUTES] = {0};
    unsigned line = table->kinds->line;
    size_t count = partition_of(&check->info->keys, theirs);
    check_side(check, line, check->name, "partition", table->keys, 1, theirs, count);
    count = sort_of(&check->info->keys, theirs);
    if (count > 0 && table->key_count == 1)
        tell(check, line, "%s has the sort key %.*s, which the records do not say", check->name,
             (int)theirs[0].name.size, theirs[0].name.data);
    check_side(check, line, check->name, "sort", table->keys + 1, table->key_count - 1, theirs,
               count);
}

static const struct index_info *find_index(const struct table_info *info, const char *name)
{
    for (size_t i = 0; i < info->index_count; i++)
        if (span_is(info->indexes[i].name, name))
            return &info->indexes[i];
    return NULL;
}

static const char *projection_word(enum projection projection)
{
    return projection == PROJECTS_KEYS ? "keys" : projection == PROJECTS_SOME ? "some" : "all";
}

static bool index_holds(const struct index_info *info, const char *attribute)
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

static void check_index(const struct check *check, const struct map_index *mine)
{
    struct attribute theirs[KEY_MAX_ATTRIBUTES] = {0};
    char whose[512];
    const struct index_info *info = find_index(check->info, mine->name);
    if (!info) {
        tell(check, mine->line, "%s has no index %s", check->name, mine->name);
        return;
    }
    snprintf(whose, sizeof whose, "index %s of %s", mine->name, check->name);
    size_t count = partition_of(&info->keys, theirs);
    check_side(check, mine->line, whose, "partition", mine->partition, mine->partition_count,
               theirs, count);
    if (mine->partition_count < count)
        tell(check, mine->line, "the partition key of %s has %zu attributes; the map says %zu",
             whose, count, mine->partition_count);
    count = sort_of(&info->keys, theirs);
    check_side(check, mine->line, whose, "sort", mine->sort, mine->sort_count, theirs, count);
    for (size_t i = 0; i < mine->include_count; i++)
        if (!index_holds(info, mine->includes[i]) && !model_is_key(check->table, mine->includes[i]))
            tell(check, mine->line, "%s does not include %s", whose, mine->includes[i]);
    if (mine->local && !info->local)
        tell(check, mine->line, "%s is a global one; take \"local\" away", whose);
}

/* An index that does not hold whole records, from which records would be shown as if it did. */
static void check_projection(const struct check *check, const struct map_pattern *pattern)
{
    const struct index_info *info =
        pattern->index ? find_index(check->info, pattern->index->name) : NULL;
    if (!info || info->projection == PROJECTS_ALL || pattern->hydrates)
        return;
    tell(check, pattern->line,
         "\"%s\" would show incomplete records: index %s of %s does not project everything, so it "
         "must be hydrated; say \"projects\": \"%s\" of the index",
         pattern->path, pattern->index->name, check->name, projection_word(info->projection));
}

static void check_held(const struct check *check, const struct map_pattern *pattern,
                       const struct index_info *info, const char *member, const char *attribute)
{
    if (index_holds(info, attribute) || model_is_key(check->table, attribute))
        return;
    tell(
        check, pattern->line,
        "\"%s\" of \"%s\" looks at %s, which index %s of %s does not hold, so it takes each record "
        "for one without it",
        member, pattern->path, attribute, pattern->index->name, check->name);
}

struct look {
    const struct check *check;
    const struct map_pattern *pattern;
    const struct index_info *info;
};

static bool check_look(void *arg, const char *attribute)
{
    struct look *look = arg;
    check_held(look->check, look->pattern, look->info, "filter", attribute);
    return true;
}

/* The map may say that the index holds what it does not. A filter would then judge each record as
 * one without the attribute, and a pick would end in an error. */
static void check_looks(const struct check *check, const struct map_pattern *pattern)
{
    const struct index_info *info =
        pattern->index ? find_index(check->info, pattern->index->name) : NULL;
    if (!info)
        return;
    struct look look = {check, pattern, info};
    for (size_t i = 0; i < pattern->filter_count; i++)
        condition_each_attribute(&pattern->filter[i], check_look, &look);
    if (pattern->pick)
        check_held(check, pattern, info, "pick", pattern->pick_attribute);
}

void check_table(const struct model *table, const char *name, const struct table_info *info,
                 check_finding_fn *fn, void *arg)
{
    struct check check = {table, name, info, fn, arg};
    check_base(&check);
    for (const struct map_index *index = table->indexes; index; index = index->next)
        check_index(&check, index);
    for (const struct map_pattern *each = table->patterns; each; each = each->next) {
        check_projection(&check, each);
        check_looks(&check, each);
    }
}
