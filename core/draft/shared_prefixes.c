#include "core/draft/shared_prefixes.h"

#include <strings.h>

/* Sets of prefixes that are compared with each other. */
enum { MOST_SETS = 32 };

struct prefix_search {
    struct arena *arena;
    const struct named_table *tables;
    size_t count;
    struct shared_prefixes sets[MOST_SETS]; /* whose bases are not known yet */
    size_t set_count;
    struct shared_prefixes best;
};

bool shared_prefixes_is_delimiter(char c)
{
    return c == '-' || c == '_' || c == '.';
}

/* Whether NAME can be divided before AT, into a prefix and a base. */
static bool shared_is_split(struct span name, size_t at)
{
    return at > 1 && at < name.size && !shared_prefixes_is_delimiter(name.data[0]) &&
           shared_prefixes_is_delimiter(name.data[at - 1]) &&
           !shared_prefixes_is_delimiter(name.data[at]);
}

static bool shared_has(const struct span *items, size_t count, struct span item)
{
    for (size_t i = 0; i < count; i++)
        if (span_equal(items[i], item))
            return true;
    return false;
}

size_t shared_prefixes_table(const struct named_table *tables, size_t count, struct span prefix,
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

/* What people call environments. Where but one table stands in several, only words tell. */
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

/* The first word of PREFIX that is a usual one; empty when there is none. */
static struct span shared_usual_word(struct span prefix)
{
    size_t from = 0;
    for (size_t i = 0; i < prefix.size; i++) {
        if (!shared_prefixes_is_delimiter(prefix.data[i]))
            continue;
        struct span word = span_of(prefix.data + from, i - from);
        if (shared_is_usual(word))
            return word;
        from = i + 1;
    }
    return span_of(prefix.data, 0);
}

/* Names that end alike may be no more than that: users-table and orders-table. */
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
        size_t at = shared_prefixes_table(search->tables, search->count, shared->prefixes[i], base);
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

/* Finds the bases of a set of prefixes, and keeps it when it is better than what there was. */
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

/* All that stands before BASE where a table of this shape ends so. */
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

/* What two sets have in common may have more bases than each of them. */
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

/* The one prefix of all tables: a usual word at the front, else as much as they share. */
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

bool shared_prefixes_find(struct arena *arena, const struct named_table *tables, size_t count,
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
