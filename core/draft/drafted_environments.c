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

struct prefix_search {
    struct arena *arena;
    const struct named_table *tables;
    size_t count;
    struct shared_prefixes sets[MOST_SETS]; /* without their bases */
    size_t set_count;
    struct shared_prefixes best;
};

static bool shared_is_delimiter(char c)
{
    return c == '-' || c == '_' || c == '.';
}

/* Whether NAME can be divided before AT, into a prefix and a base. */
static bool shared_is_split(struct span name, size_t at)
{
    return at > 1 && at < name.size && !shared_is_delimiter(name.data[0]) &&
           shared_is_delimiter(name.data[at - 1]) && !shared_is_delimiter(name.data[at]);
}

static bool shared_has(const struct span *items, size_t count, struct span item)
{
    for (size_t i = 0; i < count; i++)
        if (span_equal(items[i], item))
            return true;
    return false;
}

/* The number of the table called PREFIX BASE; COUNT when there is none. */
static size_t shared_find_table(const struct named_table *tables, size_t count, struct span prefix,
                                struct span base)
{
    for (size_t i = 0; i < count; i++) {
        struct span name = tables[i].name;
        if (name.size == prefix.size + base.size && span_starts(name, prefix) &&
            span_ends(name, base))
            return i;
    }
    return count;
}

/* Common names of environments. They are the evidence where only one table is in several. */
static bool shared_is_usual(struct span word)
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

/* The first usual word of PREFIX; empty when there is none. */
static struct span shared_usual_word(struct span prefix)
{
    size_t from = 0;
    for (size_t i = 0; i < prefix.size; i++) {
        if (!shared_is_delimiter(prefix.data[i]))
            continue;
        struct span word = span_of(prefix.data + from, i - from);
        if (shared_is_usual(word))
            return word;
        from = i + 1;
    }
    return span_of(prefix.data, 0);
}

/* Whether the sets are environments: users-table and orders-table only end alike. */
static bool shared_is_evident(const struct shared_prefixes *shared)
{
    bool differ = false;
    struct span first = shared_usual_word(shared->prefixes[0]);
    for (size_t i = 0; i < shared->prefix_count; i++) {
        struct span word = shared_usual_word(shared->prefixes[i]);
        if (shared->base_count < 2 && word.size == 0)
            return false;
        differ = differ || !span_equal(word, first);
    }
    return shared->base_count > 1 || differ;
}

/* Whether all prefixes of SHARED have BASE, each of the same shape. */
static bool shared_is_base(const struct prefix_search *search, const struct shared_prefixes *shared,
                           struct span base)
{
    const char *shape = NULL;
    for (size_t i = 0; i < shared->prefix_count; i++) {
        size_t at = shared_find_table(search->tables, search->count, shared->prefixes[i], base);
        if (at == search->count || (shape && strcmp(shape, search->tables[at].shape) != 0))
            return false;
        shape = search->tables[at].shape;
    }
    return true;
}

static bool shared_is_better(const struct shared_prefixes *a, const struct shared_prefixes *b)
{
    size_t covered = a->prefix_count * a->base_count, others = b->prefix_count * b->base_count;
    if ((a->base_count > 1) != (b->base_count > 1))
        return a->base_count > 1;
    return covered != others ? covered > others : a->base_count > b->base_count;
}

/* Finds the bases of a set of prefixes, and stores the set if it is better than the best one. */
static void shared_consider(struct prefix_search *search, struct shared_prefixes shared)
{
    struct span first = shared.prefixes[0];
    shared.base_count = 0;
    shared.bases = arena_array(search->arena, search->count, sizeof *shared.bases);
    for (size_t i = 0; shared.bases && i < search->count; i++) {
        struct span name = search->tables[i].name;
        if (!span_starts(name, first) || !shared_is_split(name, first.size))
            continue;
        struct span base = span_from(name, first.size);
        if (shared_is_base(search, &shared, base))
            shared.bases[shared.base_count++] = base;
    }
    if (shared.bases && shared_is_evident(&shared) && shared_is_better(&shared, &search->best))
        search->best = shared;
}

static bool shared_is_known(const struct prefix_search *search, const struct shared_prefixes *set)
{
    for (size_t i = 0; i < search->set_count; i++) {
        const struct shared_prefixes *each = &search->sets[i];
        size_t same = 0;
        while (same < set->prefix_count &&
               shared_has(each->prefixes, each->prefix_count, set->prefixes[same]))
            same++;
        if (same == set->prefix_count && same == each->prefix_count)
            return true;
    }
    return false;
}

static void shared_add_set(struct prefix_search *search, const struct shared_prefixes *set)
{
    if (set->prefix_count < 2 || search->set_count == MOST_SETS || shared_is_known(search, set))
        return;
    search->sets[search->set_count++] = *set;
    shared_consider(search, *set);
}

/* Adds the prefixes of all tables of this shape that end in BASE. */
static void shared_add_prefixes_of(struct prefix_search *search, struct span base,
                                   const char *shape)
{
    struct shared_prefixes set = {0};
    set.prefixes = arena_array(search->arena, search->count, sizeof *set.prefixes);
    for (size_t i = 0; set.prefixes && i < search->count; i++) {
        struct span name = search->tables[i].name;
        if (span_ends(name, base) && shared_is_split(name, name.size - base.size) &&
            strcmp(search->tables[i].shape, shape) == 0)
            set.prefixes[set.prefix_count++] = span_of(name.data, name.size - base.size);
    }
    shared_add_set(search, &set);
}

/* The common part of two sets may have more bases than each of them. */
static void shared_add_common(struct prefix_search *search, const struct shared_prefixes *a,
                              const struct shared_prefixes *b)
{
    struct shared_prefixes set = {0};
    set.prefixes = arena_array(search->arena, a->prefix_count, sizeof *set.prefixes);
    for (size_t i = 0; set.prefixes && i < a->prefix_count; i++)
        if (shared_has(b->prefixes, b->prefix_count, a->prefixes[i]))
            set.prefixes[set.prefix_count++] = a->prefixes[i];
    shared_add_set(search, &set);
}

static void shared_find_sets(struct prefix_search *search)
{
    for (size_t i = 0; i < search->count; i++) {
        const struct named_table *table = &search->tables[i];
        for (size_t at = 1; at < table->name.size; at++)
            if (shared_is_split(table->name, at))
                shared_add_prefixes_of(search, span_from(table->name, at), table->shape);
    }
    for (size_t i = 1; i < search->set_count; i++)
        for (size_t j = 0; j < i; j++)
            shared_add_common(search, &search->sets[i], &search->sets[j]);
}

static bool shared_is_prefix_of_all(const struct prefix_search *search, struct span prefix)
{
    for (size_t i = 0; i < search->count; i++)
        if (!span_starts(search->tables[i].name, prefix) ||
            !shared_is_split(search->tables[i].name, prefix.size))
            return false;
    return true;
}

/* The one prefix of all tables: a usual word at the front, else all that they share. */
static bool shared_find_only_prefix(const struct prefix_search *search, struct span *out)
{
    struct span name = search->tables[0].name;
    out->size = 0;
    for (size_t at = 1; search->count > 1 && at < name.size; at++) {
        struct span prefix = span_of(name.data, at);
        if (shared_is_split(name, at) && shared_is_prefix_of_all(search, prefix))
            *out = prefix;
        if (out->size == at && shared_is_usual(span_of(name.data, at - 1)))
            break;
    }
    return out->size > 0;
}

static void shared_share_one_prefix(const struct prefix_search *search, struct span prefix,
                                    struct shared_prefixes *out)
{
    out->prefixes = arena_array(search->arena, 1, sizeof *out->prefixes);
    out->bases = arena_array(search->arena, search->count, sizeof *out->bases);
    if (!out->prefixes || !out->bases)
        return;
    out->prefixes[out->prefix_count++] = prefix;
    for (size_t i = 0; i < search->count; i++)
        out->bases[out->base_count++] = span_from(search->tables[i].name, prefix.size);
}

/* Finds what the names of the tables share. It may omit some tables, but never half of them. One
 * prefix alone is that of all tables. With only one base, the prefixes must be usual words ("prod",
 * "staging"). False when memory ran out. */
static bool shared_find(struct arena *arena, const struct named_table *tables, size_t count,
                        struct shared_prefixes *out)
{
    struct prefix_search search = {.arena = arena, .tables = tables, .count = count};
    struct span prefix;
    *out = (struct shared_prefixes){0};
    if (count < 2)
        return true;
    shared_find_sets(&search);
    size_t covered = search.best.prefix_count * search.best.base_count;
    if (covered < count && shared_find_only_prefix(&search, &prefix))
        shared_share_one_prefix(&search, prefix, out);
    else if (2 * covered > count)
        *out = search.best;
    return !arena->failed;
}

struct environment_draft {
    struct arena *arena;
    struct declared_map *map;
    const struct environment_origin *origin;
    struct declared_table **tables;
    struct named_table *names; /* of the same tables */
    size_t count;
    struct shared_prefixes shared;
};

/* The shape of a table: its description without its name. */

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

static const char *environments_shape_of_index(struct arena *arena,
                                               const struct declared_index *index)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    buf_printf(&text, "%s %d %d", index->name, (int)index->projects, index->local);
    environments_add_keys(&text, index->partition, index->partition_count);
    environments_add_keys(&text, index->sort, index->sort_count);
    environments_add_sorted(arena, &text, index->includes, index->include_count);
    return declare_text(arena, &text);
}

static const char *environments_shape_of_type(struct arena *arena, const struct declared_type *type)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    buf_printf(&text, "%s %d", type->attribute, (int)type->type);
    return declare_text(arena, &text);
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
    return declare_text(arena, &text);
}

/* Environments. */

static bool environments_is_taken(const struct environment_draft *draft, const char *name)
{
    for (const struct declared_environment *each = draft->map->environments; each;
         each = each->next)
        if (strcmp(each->name, name) == 0)
            return true;
    return false;
}

static void environments_add_environment(struct environment_draft *draft, const char *name,
                                         const char *prefix, const char *note)
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
        .note = note,
    };
    while (*last)
        last = &(*last)->next;
    *last = made;
}

/* The environment "prod" of "prod-"; or "prod-", if "prod_" has that name already. */
static void environments_add_named(struct environment_draft *draft, struct span prefix)
{
    const char *name = arena_text(draft->arena, span_of(prefix.data, prefix.size - 1));
    const char *whole = arena_text(draft->arena, prefix);
    if (name && whole)
        environments_add_environment(draft, environments_is_taken(draft, name) ? whole : name,
                                     whole, NULL);
}

/* Whether PREFIX is STEM, a branch, and the character END. */
static bool environments_is_branch(struct span prefix, struct span stem, char end)
{
    return prefix.size > stem.size + 1 && span_starts(prefix, stem) &&
           prefix.data[prefix.size - 1] == end;
}

/* "dev-" of "dev-a-", if there is a "dev-b-" as well, and another prefix. */
static struct span environments_stem_of(const struct shared_prefixes *shared, struct span prefix)
{
    char end = prefix.data[prefix.size - 1];
    for (size_t at = 1; at < prefix.size; at++) {
        struct span stem = span_of(prefix.data, at);
        size_t branches = 0;
        bool others = false;
        if (!shared_is_delimiter(prefix.data[at - 1]) || !environments_is_branch(prefix, stem, end))
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

/* Whether NAME is a table of a branch that was not drafted, which may have no other tables. */
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

/* Whether all branches among ALL names of tables were drafted. */
static bool environments_are_known(const struct shared_prefixes *shared, struct span stem, char end,
                                   const struct table_names *all)
{
    for (size_t i = 0; i < all->count; i++)
        if (environments_is_unknown_branch(shared, stem, end, span_text(all->names[i])))
            return false;
    return true;
}

/* Adds the environment of PREFIX's branches, unless it exists. False when PREFIX has no branches.
 */
static bool environments_add_branches(struct environment_draft *draft, struct span prefix,
                                      const struct table_names *all)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0}, whole = {0};
    struct span stem = environments_stem_of(&draft->shared, prefix);
    char end = prefix.data[prefix.size - 1];
    if (stem.size == 0 || !environments_are_known(&draft->shared, stem, end, all))
        return false;
    buf_printf(&name, "%.*s{branch}", (int)stem.size, stem.data);
    buf_printf(&whole, "%s%c", buf_text(&name), end);
    draft->arena->failed = draft->arena->failed || name.failed || whole.failed;
    for (const struct declared_environment *each = draft->map->environments; each;
         each = each->next)
        if (strcmp(each->name, buf_text(&name)) == 0)
            return strcmp(each->prefix, buf_text(&whole)) == 0;
    environments_add_environment(draft, arena_text(draft->arena, buf_span(&name)),
                                 arena_text(draft->arena, buf_span(&whole)),
                                 "Branches are found among the names of the tables, by `ls /`.");
    return true;
}

static void environments_add_environments(struct environment_draft *draft)
{
    const struct shared_prefixes *shared = &draft->shared;
    struct table_names all = {0};
    bool listed = false, complete = false;
    for (size_t i = 0; i < shared->prefix_count; i++) {
        struct span prefix = shared->prefixes[i];
        if (!listed && environments_stem_of(shared, prefix).size > 0) {
            complete = draft->origin->list && draft->origin->list(draft->origin->arg, &all);
            listed = true;
        }
        if (!complete || !environments_add_branches(draft, prefix, &all))
            environments_add_named(draft, prefix);
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

/* Of the tables that are called BASE in some environment, the one with the most kinds. */
static struct declared_table *environments_find_best(const struct environment_draft *draft,
                                                     struct span base)
{
    struct declared_table *best = NULL;
    for (size_t i = 0; i < draft->shared.prefix_count; i++) {
        size_t at = shared_find_table(draft->names, draft->count, draft->shared.prefixes[i], base);
        if (at < draft->count &&
            (!best || environments_count_kinds(draft->tables[at]) > environments_count_kinds(best)))
            best = draft->tables[at];
    }
    return best;
}

static bool environments_is_shared(const struct environment_draft *draft, struct span name)
{
    const struct shared_prefixes *shared = &draft->shared;
    for (size_t p = 0; p < shared->prefix_count; p++)
        for (size_t b = 0; b < shared->base_count; b++)
            if (name.size == shared->prefixes[p].size + shared->bases[b].size &&
                span_starts(name, shared->prefixes[p]) && span_ends(name, shared->bases[b]))
                return true;
    return false;
}

static void environments_list_left_out(const struct environment_draft *draft,
                                       struct table_names *out)
{
    out->names = arena_array(draft->arena, draft->count, sizeof *out->names);
    for (size_t i = 0; out->names && i < draft->count; i++)
        if (!environments_is_shared(draft, draft->names[i].name))
            out->names[out->count++] = draft->tables[i]->base_name;
}

/* Reduces the map to one table for each base, under that name. */
static void environments_store_bases(struct environment_draft *draft)
{
    struct declared_table **last = &draft->map->tables;
    for (size_t i = 0; i < draft->shared.base_count; i++) {
        struct declared_table *table = environments_find_best(draft, draft->shared.bases[i]);
        const char *base = arena_text(draft->arena, draft->shared.bases[i]);
        if (table->path_name && strcmp(table->path_name, table->base_name) == 0)
            table->path_name = base;
        table->base_name = base;
        *last = table;
        last = &table->next;
    }
    *last = NULL;
}

/* No table of the map can be at "tables", the directory of all tables. */
static void environments_rename_tables(struct declared_map *map)
{
    for (struct declared_table *table = map->tables; table; table = table->next)
        if (table->path_name && strcmp(table->path_name, MAP_TABLES_NAME) == 0)
            table->path_name = MAP_TABLES_NAME "_";
}

static bool environments_read_tables(struct environment_draft *draft,
                                     const struct declared_table *const *described)
{
    size_t i = 0;
    for (struct declared_table *each = draft->map->tables; each; each = each->next)
        draft->count++;
    draft->tables = arena_array(draft->arena, draft->count, sizeof *draft->tables);
    draft->names = arena_array(draft->arena, draft->count, sizeof *draft->names);
    if (!draft->tables || !draft->names)
        return false;
    for (struct declared_table *each = draft->map->tables; each; each = each->next, i++) {
        draft->tables[i] = each;
        draft->names[i] = (struct named_table){span_text(each->base_name),
                                               environments_shape_of(draft->arena, described[i])};
    }
    return !draft->arena->failed;
}

bool drafted_environments_add(struct arena *arena, struct declared_map *map,
                              const struct declared_table *const *described,
                              const struct environment_origin *origin, struct table_names *left_out)
{
    struct environment_draft draft = {.arena = arena, .map = map, .origin = origin};
    *left_out = (struct table_names){0};
    if (!environments_read_tables(&draft, described) ||
        !shared_find(arena, draft.names, draft.count, &draft.shared))
        return false;
    if (draft.shared.prefix_count == 0) {
        environments_add_environment(&draft, "all", NULL, NULL);
    } else {
        environments_add_environments(&draft);
        environments_list_left_out(&draft, left_out);
        environments_store_bases(&draft);
    }
    environments_rename_tables(map);
    return !arena->failed;
}
