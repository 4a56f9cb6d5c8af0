#include "core/draft/drafted_environments.h"

#include <stdlib.h>

#include "core/base/buf.h"
#include "core/draft/shared_prefixes.h"
#include "core/map/map.h"

struct grouping {
    struct arena *arena;
    struct declared_map *map;
    const struct author_where *where;
    struct declared_table **tables;
    struct named_table *names; /* of the same tables */
    size_t count;
    struct shared_prefixes shared;
};

/* The shape of a table: what its description says but for its name. */

static void environments_add_keys(struct buf *out, const struct declared_key *keys, size_t count)
{
    for (size_t i = 0; i < count; i++)
        buf_printf(out, " %zu:%s", strlen(keys[i].attribute), keys[i].attribute);
    buf_add_char(out, '.');
}

static int environments_compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Adds texts in an order of their own: the service has none for them. */
static void environments_add_sorted(struct arena *arena, struct buf *out, const char *const *texts,
                                    size_t count)
{
    const char **sorted = arena_array(arena, count, sizeof *sorted);
    for (size_t i = 0; sorted && i < count; i++)
        sorted[i] = texts[i];
    if (sorted && count > 0)
        qsort(sorted, count, sizeof *sorted, environments_compare_texts);
    for (size_t i = 0; sorted && i < count; i++)
        buf_printf(out, " %zu:%s", strlen(sorted[i]), sorted[i]);
}

static const char *environments_shape_of_index(struct arena *arena,
                                               const struct declared_index *index)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    buf_printf(&text, "%s %d %d", index->name, (int)index->projects, index->local);
    environments_add_keys(&text, index->partition, index->partition_count);
    environments_add_keys(&text, index->sort, index->sort_count);
    environments_add_sorted(arena, &text, index->includes, index->include_count);
    arena->failed = arena->failed || text.failed;
    return arena_text(arena, buf_span(&text));
}

static const char *environments_shape_of_type(struct arena *arena, const struct declared_type *type)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    buf_printf(&text, "%s %d", type->attribute, (int)type->type);
    arena->failed = arena->failed || text.failed;
    return arena_text(arena, buf_span(&text));
}

static const char *environments_shape_of(struct arena *arena, const struct declared_table *table)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    size_t count = 0;
    for (const struct declared_type *type = table->types; type; type = type->next)
        count++;
    for (const struct declared_index *index = table->indexes; index; index = index->next)
        count++;
    const char **texts = arena_array(arena, count, sizeof *texts);
    if (!texts)
        return NULL;
    count = 0;
    for (const struct declared_type *type = table->types; type; type = type->next)
        texts[count++] = environments_shape_of_type(arena, type);
    for (const struct declared_index *index = table->indexes; index; index = index->next)
        texts[count++] = environments_shape_of_index(arena, index);
    environments_add_keys(&text, table->records->keys, table->records->key_count);
    if (!arena->failed)
        environments_add_sorted(arena, &text, texts, count);
    arena->failed = arena->failed || text.failed;
    return arena_text(arena, buf_span(&text));
}

/* Environments. */

static bool environments_is_taken(const struct grouping *grouping, const char *name)
{
    for (const struct declared_environment *each = grouping->map->environments; each;
         each = each->next)
        if (strcmp(each->name, name) == 0)
            return true;
    return false;
}

static void environments_add_environment(struct grouping *grouping, const char *name,
                                         const char *prefix, const char *note)
{
    struct declared_environment **last = &grouping->map->environments;
    struct declared_environment *made = arena_alloc(grouping->arena, sizeof *made);
    if (!made || !name)
        return;
    *made = (struct declared_environment){
        .name = name,
        .prefix = prefix,
        .profile = grouping->where->profile,
        .region = grouping->where->region,
        .endpoint = grouping->where->endpoint,
        .note = note,
    };
    while (*last)
        last = &(*last)->next;
    *last = made;
}

/* "prod" of "prod-"; all of it where "prod_" is called so already. */
static void environments_add_named(struct grouping *grouping, struct span prefix)
{
    const char *name = arena_text(grouping->arena, span_of(prefix.data, prefix.size - 1));
    const char *whole = arena_text(grouping->arena, prefix);
    if (name && whole)
        environments_add_environment(grouping, environments_is_taken(grouping, name) ? whole : name,
                                     whole, NULL);
}

/* Whether PREFIX is STEM, a branch, and the character END. */
static bool environments_is_branch(struct span prefix, struct span stem, char end)
{
    return prefix.size > stem.size + 1 && span_starts(prefix, stem) &&
           prefix.data[prefix.size - 1] == end;
}

/* "dev-" of "dev-a-", where there is a "dev-b-" as well, and something else than these. */
static struct span environments_stem_of(const struct shared_prefixes *shared, struct span prefix)
{
    char end = prefix.data[prefix.size - 1];
    for (size_t at = 1; at < prefix.size; at++) {
        struct span stem = span_of(prefix.data, at);
        size_t branches = 0;
        bool others = false;
        if (!shared_prefixes_is_delimiter(prefix.data[at - 1]) ||
            !environments_is_branch(prefix, stem, end))
            continue;
        for (size_t i = 0; i < shared->prefix_count; i++) {
            branches += environments_is_branch(shared->prefixes[i], stem, end);
            others = others || !span_starts(shared->prefixes[i], stem);
        }
        if (branches > 1 && others)
            return stem;
    }
    return span_of(prefix.data, 0);
}

/* Whether NAME is a table of a branch that was not drafted, and that may lack the other tables. */
static bool environments_is_unknown_branch(const struct shared_prefixes *shared, struct span stem,
                                           char end, struct span name)
{
    for (size_t b = 0; b < shared->base_count; b++) {
        struct span base = shared->bases[b];
        struct span prefix = span_of(name.data, name.size - base.size);
        bool known = false;
        if (name.size <= base.size || !span_ends(name, base) ||
            !environments_is_branch(prefix, stem, end))
            continue;
        for (size_t i = 0; i < shared->prefix_count; i++)
            known = known || span_equal(shared->prefixes[i], prefix);
        if (!known)
            return true;
    }
    return false;
}

/* Whether all branches that there are, by ALL names of tables, were drafted. */
static bool environments_are_known(const struct shared_prefixes *shared, struct span stem, char end,
                                   const struct author_names *all)
{
    for (size_t i = 0; i < all->count; i++)
        if (environments_is_unknown_branch(shared, stem, end, span_text(all->names[i])))
            return false;
    return true;
}

/* Adds the environment of PREFIX's branches, were it there already. False when it has none. */
static bool environments_add_branches(struct grouping *grouping, struct span prefix,
                                      const struct author_names *all)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0}, whole = {0};
    struct span stem = environments_stem_of(&grouping->shared, prefix);
    char end = prefix.data[prefix.size - 1];
    if (stem.size == 0 || !environments_are_known(&grouping->shared, stem, end, all))
        return false;
    buf_printf(&name, "%.*s{branch}", (int)stem.size, stem.data);
    buf_printf(&whole, "%s%c", buf_text(&name), end);
    grouping->arena->failed = grouping->arena->failed || name.failed || whole.failed;
    for (const struct declared_environment *each = grouping->map->environments; each;
         each = each->next)
        if (strcmp(each->name, buf_text(&name)) == 0)
            return strcmp(each->prefix, buf_text(&whole)) == 0;
    environments_add_environment(grouping, arena_text(grouping->arena, buf_span(&name)),
                                 arena_text(grouping->arena, buf_span(&whole)),
                                 "Branches are found among the names of the tables, by `ls /`.");
    return true;
}

static void environments_add_environments(struct grouping *grouping)
{
    const struct shared_prefixes *shared = &grouping->shared;
    struct author_names all = {0};
    bool asked = false, told = false;
    for (size_t i = 0; i < shared->prefix_count; i++) {
        struct span prefix = shared->prefixes[i];
        if (!asked && environments_stem_of(shared, prefix).size > 0) {
            told = grouping->where->list && grouping->where->list(grouping->where->arg, &all);
            asked = true;
        }
        if (!told || !environments_add_branches(grouping, prefix, &all))
            environments_add_named(grouping, prefix);
    }
}

/* Tables. */

static size_t environments_kinds_of(const struct declared_table *table)
{
    size_t count = 0;
    for (const struct declared_record *each = table->records; each; each = each->next)
        count++;
    return count;
}

/* Of the tables that are called BASE in some environment, the one of which most is known. */
static struct declared_table *environments_best_of(const struct grouping *grouping,
                                                   struct span base)
{
    struct declared_table *best = NULL;
    for (size_t i = 0; i < grouping->shared.prefix_count; i++) {
        size_t at = shared_prefixes_table(grouping->names, grouping->count,
                                          grouping->shared.prefixes[i], base);
        if (at < grouping->count &&
            (!best || environments_kinds_of(grouping->tables[at]) > environments_kinds_of(best)))
            best = grouping->tables[at];
    }
    return best;
}

static bool environments_is_shared(const struct grouping *grouping, struct span name)
{
    const struct shared_prefixes *shared = &grouping->shared;
    for (size_t p = 0; p < shared->prefix_count; p++)
        for (size_t b = 0; b < shared->base_count; b++)
            if (name.size == shared->prefixes[p].size + shared->bases[b].size &&
                span_starts(name, shared->prefixes[p]) && span_ends(name, shared->bases[b]))
                return true;
    return false;
}

static void environments_report_left_out(const struct grouping *grouping, struct author_names *out)
{
    out->names = arena_array(grouping->arena, grouping->count, sizeof *out->names);
    for (size_t i = 0; out->names && i < grouping->count; i++)
        if (!environments_is_shared(grouping, grouping->names[i].name))
            out->names[out->count++] = grouping->tables[i]->base_name;
}

/* Leaves one table for each base, under that name. */
static void environments_store_bases(struct grouping *grouping)
{
    struct declared_table **last = &grouping->map->tables;
    for (size_t i = 0; i < grouping->shared.base_count; i++) {
        struct declared_table *table = environments_best_of(grouping, grouping->shared.bases[i]);
        const char *base = arena_text(grouping->arena, grouping->shared.bases[i]);
        if (table->path_name && strcmp(table->path_name, table->base_name) == 0)
            table->path_name = base;
        table->base_name = base;
        *last = table;
        last = &table->next;
    }
    *last = NULL;
}

/* A map's own table can't be at "tables", where all of them are. */
static void environments_rename_tables(struct declared_map *map)
{
    for (struct declared_table *table = map->tables; table; table = table->next)
        if (table->path_name && strcmp(table->path_name, MAP_TABLES_NAME) == 0)
            table->path_name = MAP_TABLES_NAME "_";
}

static bool environments_read_tables(struct grouping *grouping,
                                     const struct declared_table *const *described)
{
    size_t i = 0;
    for (struct declared_table *each = grouping->map->tables; each; each = each->next)
        grouping->count++;
    grouping->tables = arena_array(grouping->arena, grouping->count, sizeof *grouping->tables);
    grouping->names = arena_array(grouping->arena, grouping->count, sizeof *grouping->names);
    if (!grouping->tables || !grouping->names)
        return false;
    for (struct declared_table *each = grouping->map->tables; each; each = each->next, i++) {
        grouping->tables[i] = each;
        grouping->names[i] = (struct named_table){
            span_text(each->base_name), environments_shape_of(grouping->arena, described[i])};
    }
    return !grouping->arena->failed;
}

bool author_add_environments(struct arena *arena, struct declared_map *map,
                             const struct declared_table *const *described,
                             const struct author_where *where, struct author_names *left_out)
{
    struct grouping grouping = {.arena = arena, .map = map, .where = where};
    *left_out = (struct author_names){0};
    if (!environments_read_tables(&grouping, described) ||
        !shared_prefixes_find(arena, grouping.names, grouping.count, &grouping.shared))
        return false;
    if (grouping.shared.prefix_count == 0) {
        environments_add_environment(&grouping, "all", NULL, NULL);
    } else {
        environments_add_environments(&grouping);
        environments_report_left_out(&grouping, left_out);
        environments_store_bases(&grouping);
    }
    environments_rename_tables(map);
    return !arena->failed;
}
