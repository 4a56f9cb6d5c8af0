#include "core/author/environments.h"

#include <stdio.h>

enum { MOST_PREFIXES = 50 };

struct split {
    struct span prefixes[MOST_PREFIXES];
    size_t prefix_count;
    size_t tables;
};

/* "prod-" of "prod-Orders"; empty where nothing goes on behind a separator. */
static struct span prefix_of(const char *name)
{
    size_t size = strcspn(name, "-_.");
    return span_of(name, name[size] && name[size + 1] && size > 0 ? size + 1 : 0);
}

static const char *base_of(const char *name)
{
    return name + prefix_of(name).size;
}

/* Names of environments that teams use: one table alone may have such a prefix. */
static bool is_usual(struct span prefix)
{
    static const char *const usual[] = {"prod", "production", "staging", "stage", "stg",
                                        "dev",  "develop",    "test",    "qa",    "uat",
                                        "beta", "sandbox",    "demo",    "live",  "preprod"};
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        if (prefix.size == strlen(usual[i]) + 1 &&
            strncmp(prefix.data, usual[i], prefix.size - 1) == 0)
            return true;
    return false;
}

static bool add_prefix(struct split *split, struct span prefix)
{
    for (size_t i = 0; i < split->prefix_count; i++)
        if (span_equal(split->prefixes[i], prefix))
            return true;
    if (split->prefix_count == MOST_PREFIXES)
        return false;
    split->prefixes[split->prefix_count++] = prefix;
    return true;
}

static bool is_there(const struct declared_map *map, struct span prefix, const char *base)
{
    for (const struct declared_table *table = map->tables; table; table = table->next)
        if (span_equal(prefix_of(table->base_name), prefix) &&
            strcmp(base_of(table->base_name), base) == 0)
            return true;
    return false;
}

/* Whether all names have a prefix, and each prefix has all tables. */
static bool splits(const struct declared_map *map, struct split *split)
{
    for (const struct declared_table *table = map->tables; table; table = table->next) {
        struct span prefix = prefix_of(table->base_name);
        split->tables++;
        if (prefix.size == 0 || !add_prefix(split, prefix))
            return false;
    }
    for (const struct declared_table *table = map->tables; table; table = table->next)
        for (size_t i = 0; i < split->prefix_count; i++)
            if (!is_there(map, split->prefixes[i], base_of(table->base_name)))
                return false;
    if (split->prefix_count == 1)
        return split->tables > 1 || is_usual(split->prefixes[0]);
    for (size_t i = 0; i < split->prefix_count; i++) /* "user-data" and "order-data" */
        if (is_usual(split->prefixes[i]))
            return true;
    return false;
}

static bool add_environment(struct arena *arena, struct declared_map *map, struct span name,
                            struct span prefix, const struct author_where *where)
{
    struct declared_environment **last = &map->environments;
    struct declared_environment *environment = arena_alloc(arena, sizeof *environment);
    if (!environment)
        return false;
    *environment = (struct declared_environment){
        .name = arena_text(arena, name),
        .prefix = prefix.size ? arena_text(arena, prefix) : NULL,
        .profile = where->profile,
        .region = where->region,
        .endpoint = where->endpoint,
    };
    while (*last)
        last = &(*last)->next;
    *last = environment;
    return !arena->failed;
}

/* Takes the prefix off, and the table away where the first environment has told of it. */
static void strip_tables(struct declared_map *map, struct span first)
{
    struct declared_table **link = &map->tables;
    while (*link) {
        struct declared_table *table = *link;
        const char *base = base_of(table->base_name);
        if (!span_equal(prefix_of(table->base_name), first)) {
            *link = table->next;
            continue;
        }
        bool own_name = table->path_name && strcmp(table->path_name, table->base_name) == 0;
        table->base_name = base;
        if (own_name)
            table->path_name = base;
        link = &table->next;
    }
}

bool author_add_environments(struct arena *arena, struct declared_map *map,
                             const struct author_where *where)
{
    struct split split = {0};
    if (!map->tables || !splits(map, &split))
        return add_environment(arena, map, SPAN_LITERAL("all"), span_of("", 0), where);
    for (size_t i = 0; i < split.prefix_count; i++) {
        struct span prefix = split.prefixes[i];
        if (!add_environment(arena, map, span_of(prefix.data, prefix.size - 1), prefix, where))
            return false;
    }
    strip_tables(map, split.prefixes[0]);
    return true;
}
