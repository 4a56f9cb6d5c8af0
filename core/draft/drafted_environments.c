#include "core/draft/drafted_environments.h"

#include <stdlib.h>
#include <strings.h>

#include "core/draft/declare.h"
#include "core/map/map.h"

/* At most MOST_SETS sets of prefixes are compared with each other. */
enum { MOST_SETS = 32 };

/* A table. Tables with the same SHAPE have the same description, but for their names. */
struct named_table {
    struct span name;
    const char *shape;
};

/* Each prefix with each base is the name of a table, and the tables of one base have one shape.
 * Prefixes end in a delimiter. They are in the order of the tables, and borrow from their names. */
struct shared_prefixes {
    struct span *prefixes;
    size_t prefix_count; /* 0: the names share nothing */
    struct span *bases;
    size_t base_count;
};

/* A map while its environments are drafted. */
struct environment_draft {
    struct arena *arena;
    struct declared_map *map;
    const struct environment_origin *origin;
    struct declared_table **tables;
    struct named_table *names; /* of the same tables */
    size_t count;
    struct shared_prefixes sets[MOST_SETS]; /* candidates, without their bases */
    size_t set_count;
    struct shared_prefixes shared; /* the best set */
};

/* Shapes. */

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

/* Adds texts, sorted: the service returns them in any order. */
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

/* A table's description without its name, as a text. */
static const char *environments_find_shape(struct arena *arena, const struct declared_table *table)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0}, part = {0};
    size_t count = 0;
    for (const struct declared_type *type = table->types; type; type = type->next)
        count++;
    for (const struct declared_index *index = table->indexes; index; index = index->next)
        count++;
    const char **texts = arena_array(arena, count, sizeof *texts);
    if (!texts)
        return NULL;
    count = 0;
    for (const struct declared_type *type = table->types; type; type = type->next) {
        buf_truncate(&part, 0);
        buf_printf(&part, "%s %d", type->attribute, (int)type->type);
        texts[count++] = declare_text(arena, &part);
    }
    for (const struct declared_index *index = table->indexes; index; index = index->next) {
        buf_truncate(&part, 0);
        buf_printf(&part, "%s %d %d", index->name, (int)index->projects, index->local);
        environments_add_keys(&part, index->partition, index->partition_count);
        environments_add_keys(&part, index->sort, index->sort_count);
        environments_add_sorted(arena, &part, index->includes, index->include_count);
        texts[count++] = declare_text(arena, &part);
    }
    environments_add_keys(&text, table->records->keys, table->records->key_count);
    if (!arena->failed)
        environments_add_sorted(arena, &text, texts, count);
    return declare_text(arena, &text);
}

/* Shared prefixes. */

static bool environments_is_delimiter(char c)
{
    return c == '-' || c == '_' || c == '.';
}

/* Whether NAME can be divided before AT, into a prefix and a base. */
static bool environments_is_split(struct span name, size_t at)
{
    return at > 1 && at < name.size && !environments_is_delimiter(name.data[0]) &&
           environments_is_delimiter(name.data[at - 1]) &&
           !environments_is_delimiter(name.data[at]);
}

static bool environments_set_has(const struct shared_prefixes *set, struct span prefix)
{
    for (size_t i = 0; i < set->prefix_count; i++)
        if (span_equal(set->prefixes[i], prefix))
            return true;
    return false;
}

/* The index of the table called PREFIX BASE; COUNT if absent. */
static size_t environments_find_table(const struct environment_draft *draft, struct span prefix,
                                      struct span base)
{
    for (size_t i = 0; i < draft->count; i++) {
        struct span name = draft->names[i].name;
        if (name.size == prefix.size + base.size && span_starts(name, prefix) &&
            span_ends(name, base))
            return i;
    }
    return draft->count;
}

/* Common names of environments. They are the evidence where only one table is in several. */
static bool environments_is_usual(struct span word)
{
    static const char *const usual[] = {
        "prod", "production", "prd",  "live",    "staging",     "stage",   "stg",  "dev",
        "test", "testing",    "tst",  "develop", "development", "preprod", "qa",   "uat",
        "beta", "sandbox",    "demo", "int",     "integration", "canary",  "perf", "local",
    };
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        if (word.size == strlen(usual[i]) && strncasecmp(word.data, usual[i], word.size) == 0)
            return true;
    return false;
}

/* The first usual word of PREFIX; empty if absent. */
static struct span environments_find_usual(struct span prefix)
{
    size_t from = 0;
    for (size_t i = 0; i < prefix.size; i++) {
        if (!environments_is_delimiter(prefix.data[i]))
            continue;
        struct span word = span_of(prefix.data + from, i - from);
        if (environments_is_usual(word))
            return word;
        from = i + 1;
    }
    return span_of(prefix.data, 0);
}

/* Finds the bases of SET: those with which each prefix is a table, all of one shape. False if the
 * set may not be environments: users-table and orders-table only end alike. */
static bool environments_find_bases(struct environment_draft *draft, struct shared_prefixes *set)
{
    struct span first = set->prefixes[0];
    set->bases = arena_array(draft->arena, draft->count, sizeof *set->bases);
    for (size_t i = 0; set->bases && i < draft->count; i++) {
        struct span name = draft->names[i].name;
        if (!span_starts(name, first) || !environments_is_split(name, first.size))
            continue;
        struct span base = span_from(name, first.size);
        const char *shape = NULL;
        bool shared = true;
        for (size_t k = 0; shared && k < set->prefix_count; k++) {
            size_t at = environments_find_table(draft, set->prefixes[k], base);
            shared = at < draft->count && (!shape || strcmp(shape, draft->names[at].shape) == 0);
            shape = shared ? draft->names[at].shape : NULL;
        }
        if (shared)
            set->bases[set->base_count++] = base;
    }
    bool differ = false;
    struct span usual = environments_find_usual(first);
    for (size_t i = 0; i < set->prefix_count; i++) {
        struct span word = environments_find_usual(set->prefixes[i]);
        if (set->base_count < 2 && word.size == 0)
            return false;
        differ = differ || !span_equal(word, usual);
    }
    return set->bases && (set->base_count > 1 || differ);
}

/* Adds a candidate, and makes it the best one if it covers more tables. */
static void environments_add_set(struct environment_draft *draft, struct shared_prefixes set)
{
    if (set.prefix_count < 2 || draft->set_count == MOST_SETS)
        return;
    for (size_t i = 0; i < draft->set_count; i++) {
        const struct shared_prefixes *each = &draft->sets[i];
        size_t same = 0;
        while (same < set.prefix_count && environments_set_has(each, set.prefixes[same]))
            same++;
        if (same == set.prefix_count && same == each->prefix_count)
            return;
    }
    draft->sets[draft->set_count++] = set;
    if (!environments_find_bases(draft, &set))
        return;
    const struct shared_prefixes *best = &draft->shared;
    size_t covered = set.prefix_count * set.base_count;
    size_t others = best->prefix_count * best->base_count;
    bool better = covered != others ? covered > others : set.base_count > best->base_count;
    if ((set.base_count > 1) != (best->base_count > 1))
        better = set.base_count > 1;
    if (better)
        draft->shared = set;
}

/* Adds the prefixes of all tables of this shape that end in BASE. */
static void environments_add_prefixes(struct environment_draft *draft, struct span base,
                                      const char *shape)
{
    struct shared_prefixes set = {0};
    set.prefixes = arena_array(draft->arena, draft->count, sizeof *set.prefixes);
    for (size_t i = 0; set.prefixes && i < draft->count; i++) {
        struct span name = draft->names[i].name;
        if (span_ends(name, base) && environments_is_split(name, name.size - base.size) &&
            strcmp(draft->names[i].shape, shape) == 0)
            set.prefixes[set.prefix_count++] = span_of(name.data, name.size - base.size);
    }
    environments_add_set(draft, set);
}

/* The common part of two sets may have more bases than each of them. */
static void environments_add_common(struct environment_draft *draft,
                                    const struct shared_prefixes *a,
                                    const struct shared_prefixes *b)
{
    struct shared_prefixes set = {0};
    set.prefixes = arena_array(draft->arena, a->prefix_count, sizeof *set.prefixes);
    for (size_t i = 0; set.prefixes && i < a->prefix_count; i++)
        if (environments_set_has(b, a->prefixes[i]))
            set.prefixes[set.prefix_count++] = a->prefixes[i];
    environments_add_set(draft, set);
}

/* The one prefix of all tables: a usual word at the front, else all that they share; else empty. */
static struct span environments_find_only_prefix(const struct environment_draft *draft)
{
    struct span name = draft->names[0].name, found = span_of(name.data, 0);
    for (size_t at = 1; at < name.size; at++) {
        struct span prefix = span_of(name.data, at);
        bool all = environments_is_split(name, at);
        for (size_t i = 0; all && i < draft->count; i++)
            all = span_starts(draft->names[i].name, prefix) &&
                  environments_is_split(draft->names[i].name, prefix.size);
        if (all)
            found = prefix;
        if (found.size == at && environments_is_usual(span_of(name.data, at - 1)))
            break;
    }
    return found;
}

/* Finds what the names of the tables share. It may omit some tables, but never half of them. One
 * prefix alone is that of all tables. With only one base, the prefixes must be usual words ("prod",
 * "staging"). */
static void environments_find_shared(struct environment_draft *draft)
{
    struct shared_prefixes *shared = &draft->shared;
    if (draft->count < 2)
        return;
    for (size_t i = 0; i < draft->count; i++) {
        const struct named_table *table = &draft->names[i];
        for (size_t at = 1; at < table->name.size; at++)
            if (environments_is_split(table->name, at))
                environments_add_prefixes(draft, span_from(table->name, at), table->shape);
    }
    for (size_t i = 1; i < draft->set_count; i++)
        for (size_t j = 0; j < i; j++)
            environments_add_common(draft, &draft->sets[i], &draft->sets[j]);
    size_t covered = shared->prefix_count * shared->base_count;
    struct span prefix = environments_find_only_prefix(draft);
    if (covered == draft->count || (prefix.size == 0 && 2 * covered > draft->count))
        return;
    *shared = (struct shared_prefixes){0};
    if (prefix.size == 0)
        return;
    shared->prefixes = arena_array(draft->arena, 1, sizeof *shared->prefixes);
    shared->bases = arena_array(draft->arena, draft->count, sizeof *shared->bases);
    if (!shared->prefixes || !shared->bases)
        return;
    shared->prefixes[shared->prefix_count++] = prefix;
    for (size_t i = 0; i < draft->count; i++)
        shared->bases[shared->base_count++] = span_from(draft->names[i].name, prefix.size);
}

/* Environments. */

static const struct declared_environment *environments_find(const struct environment_draft *draft,
                                                            const char *name)
{
    const struct declared_environment *each = draft->map->environments;
    while (each && strcmp(each->name, name) != 0)
        each = each->next;
    return each;
}

static void environments_add(struct environment_draft *draft, const char *name, const char *prefix,
                             const char *note)
{
    struct declared_environment **last = &draft->map->environments;
    struct declared_environment *made = arena_alloc(draft->arena, sizeof *made);
    if (!made || !name)
        return;
    *made = (struct declared_environment){
        .name = name,
        .prefix = prefix,
        .profile = draft->origin->profile,
        .region = draft->origin->region,
        .endpoint = draft->origin->endpoint,
        .snapshot = draft->origin->snapshot,
        .note = note,
    };
    while (*last)
        last = &(*last)->next;
    *last = made;
}

/* Whether PREFIX is STEM, a branch, and the character END. */
static bool environments_is_branch(struct span prefix, struct span stem, char end)
{
    return prefix.size > stem.size + 1 && span_starts(prefix, stem) &&
           prefix.data[prefix.size - 1] == end;
}

/* "dev-" of "dev-a-", if there is a "dev-b-" as well, and another prefix; else empty. */
static struct span environments_find_stem(const struct shared_prefixes *shared, struct span prefix)
{
    char end = prefix.data[prefix.size - 1];
    for (size_t at = 1; at < prefix.size; at++) {
        struct span stem = span_of(prefix.data, at);
        size_t branches = 0;
        bool others = false;
        if (!environments_is_delimiter(prefix.data[at - 1]) ||
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

/* Adds the environment of PREFIX's branches, unless it exists. False when PREFIX has no branches,
 * or when some branch among ALL tables was not drafted. */
static bool environments_add_branches(struct environment_draft *draft, struct span prefix,
                                      const struct table_names *all)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0}, whole = {0};
    struct span stem = environments_find_stem(&draft->shared, prefix);
    char end = prefix.data[prefix.size - 1];
    if (stem.size == 0)
        return false;
    for (size_t i = 0; i < all->count; i++)
        for (size_t b = 0; b < draft->shared.base_count; b++) {
            struct span table = span_text(all->names[i]), base = draft->shared.bases[b];
            if (table.size <= base.size || !span_ends(table, base))
                continue;
            struct span branch = span_of(table.data, table.size - base.size);
            if (environments_is_branch(branch, stem, end) &&
                !environments_set_has(&draft->shared, branch))
                return false; /* it may have no other tables */
        }
    buf_printf(&name, "%.*s{branch}", (int)stem.size, stem.data);
    buf_printf(&whole, "%s%c", buf_text(&name), end);
    draft->arena->failed = draft->arena->failed || name.failed || whole.failed;
    const struct declared_environment *known = environments_find(draft, buf_text(&name));
    if (known)
        return strcmp(known->prefix, buf_text(&whole)) == 0;
    environments_add(draft, arena_text(draft->arena, buf_span(&name)),
                     arena_text(draft->arena, buf_span(&whole)),
                     "`ls /` finds the branches among the names of the tables.");
    return true;
}

/* An environment for each prefix: "prod" of "prod-", or "prod-" if "prod_" is "prod" already. */
static void environments_add_all(struct environment_draft *draft)
{
    const struct shared_prefixes *shared = &draft->shared;
    struct table_names all = {0};
    bool listed = false, complete = false;
    for (size_t i = 0; i < shared->prefix_count; i++) {
        struct span prefix = shared->prefixes[i];
        if (!listed && environments_find_stem(shared, prefix).size > 0) {
            complete = draft->origin->list && draft->origin->list(draft->origin->arg, &all);
            listed = true;
        }
        if (complete && environments_add_branches(draft, prefix, &all))
            continue;
        const char *name = arena_text(draft->arena, span_of(prefix.data, prefix.size - 1));
        const char *whole = arena_text(draft->arena, prefix);
        if (name && whole)
            environments_add(draft, environments_find(draft, name) ? whole : name, whole, NULL);
    }
}

/* Tables. */

static size_t environments_count_kinds(const struct declared_table *table)
{
    size_t count = 0;
    for (const struct declared_record *each = table->records; each; each = each->next)
        count++;
    return count;
}

/* Reduces the map to one table for each base, called BASE: of those in all environments, the one
 * with the most kinds of items. The others are LEFT_OUT. */
static void environments_reduce_tables(struct environment_draft *draft,
                                       struct table_names *left_out)
{
    const struct shared_prefixes *shared = &draft->shared;
    struct declared_table **last = &draft->map->tables;
    bool *kept = arena_array(draft->arena, draft->count, sizeof *kept);
    left_out->names = arena_array(draft->arena, draft->count, sizeof *left_out->names);
    if (!kept || !left_out->names)
        return;
    for (size_t b = 0; b < shared->base_count; b++) {
        struct declared_table *best = NULL;
        for (size_t i = 0; i < shared->prefix_count; i++) {
            size_t at = environments_find_table(draft, shared->prefixes[i], shared->bases[b]);
            if (at == draft->count)
                continue;
            kept[at] = true;
            if (!best ||
                environments_count_kinds(draft->tables[at]) > environments_count_kinds(best))
                best = draft->tables[at];
        }
        const char *base = arena_text(draft->arena, shared->bases[b]);
        if (best->path_name && strcmp(best->path_name, best->base_name) == 0)
            best->path_name = base;
        *last = best;
        last = &best->next;
        best->base_name = base;
    }
    *last = NULL;
    for (size_t i = 0; i < draft->count; i++)
        if (!kept[i])
            left_out->names[left_out->count++] = draft->tables[i]->base_name;
}

bool drafted_environments_add(struct arena *arena, struct declared_map *map,
                              const struct declared_table *const *described,
                              const struct environment_origin *origin, struct table_names *left_out)
{
    struct environment_draft draft = {.arena = arena, .map = map, .origin = origin};
    size_t i = 0;
    *left_out = (struct table_names){0};
    for (struct declared_table *each = map->tables; each; each = each->next)
        draft.count++;
    draft.tables = arena_array(arena, draft.count, sizeof *draft.tables);
    draft.names = arena_array(arena, draft.count, sizeof *draft.names);
    if (!draft.tables || !draft.names)
        return false;
    for (struct declared_table *each = map->tables; each; each = each->next, i++) {
        draft.tables[i] = each;
        draft.names[i].name = span_text(each->base_name);
        draft.names[i].shape = environments_find_shape(arena, described[i]);
    }
    if (!arena->failed)
        environments_find_shared(&draft);
    if (arena->failed)
        return false;
    if (draft.shared.prefix_count == 0) {
        environments_add(&draft, "all", NULL, NULL);
    } else {
        environments_add_all(&draft);
        environments_reduce_tables(&draft, left_out);
    }
    for (struct declared_table *table = map->tables; table; table = table->next)
        if (table->path_name && strcmp(table->path_name, MAP_TABLES_NAME) == 0)
            table->path_name = MAP_TABLES_NAME "_"; /* MAP_TABLES_NAME has all tables */
    return !arena->failed;
}
