/* Plans: how a path is read, decided once, then executed, printed, priced and billed. A plan has at
 * most two steps: a query that finds items, and a read of items by their keys. */
#ifndef DDBFS_CORE_PLAN_PLAN_H
#define DDBFS_CORE_PLAN_PLAN_H

#include "core/map/model.h"
#include "core/plan/cost.h"
#include "core/plan/selection.h"
#include "core/source/read.h"
#include "core/source/source.h"

/* Of the items that a search finds, those that are read by their keys. */
enum plan_found {
    PLAN_FOUND_NONE,
    PLAN_FOUND_ONE,
    PLAN_FOUND_ALL, /* for their contents and sizes */
};

/* The subject of a plan: one of a table's patterns, with the values of the path. Borrowed by
 * plan_new, which copies it. */
struct plan_subject {
    const struct model *table;
    const char *table_name; /* its full name */
    const struct map_pattern *pattern;
    const struct map_entry *entry; /* the item is an entry of PATTERN's listing; else NULL */
    const struct map_kind *kind;   /* of the item; NULL for a listing */
    const struct bindings *path;
    struct span attribute; /* the only wanted attribute; empty for all */
    struct span shortened; /* the item's name, if it is shortened; else empty */
    const struct selection
        *selection;             /* of a listing; NULL: all its items, and its other entries */
    bool counts;                /* of a listing: only the number of items is wanted */
    const struct span *columns; /* likewise: the only wanted attributes, COLUMN_COUNT; none: all */
    size_t column_count;
    const struct map_vector *vector; /* the item's vector is searched for in this index; or NULL. Of
                                      * a model that the caller holds longer than the plan */
    uint32_t top;                    /* the number of results */
    enum plan_found found;
};

enum plan_kind {
    PLAN_KEY,    /* one item, by the key in the path */
    PLAN_FIND,   /* one item, by a query */
    PLAN_SEARCH, /* one item, by its shortened name among a listing's entries */
    PLAN_LIST,   /* all items of a query, page by page */
};

/* Constant and reference-counted: a request under way may outlive the lookup that started it. */
struct plan {
    enum plan_kind kind;
    const struct model *table;
    const struct map_pattern *pattern;
    const struct map_entry *entry;     /* see struct plan_subject */
    const struct map_kind *kind_of;    /* likewise */
    const char *table_name;            /* in the arena */
    struct bindings path;              /* values in the arena */
    struct span attribute, shortened;  /* in the arena */
    struct read *query;                /* owned; NULL for PLAN_KEY */
    struct key key;                    /* of PLAN_KEY; values in the arena */
    bool reads_again;                  /* the query returns keys, and items are read by them */
    const struct selection *selection; /* of PLAN_LIST, in the arena; or NULL */
    struct selection_parts parts;      /* of SELECTION's filter, in the arena */
    bool counts;                       /* of PLAN_LIST: only the number of items is wanted */
    bool index_suffices; /* of PLAN_LIST: items are not read again, since the index includes the
                            wanted attributes */
    struct read *search; /* owned: what follows the steps for the item; its vector is not known yet
                          * (core/plan/vector_search.h). NULL: nothing */
    enum plan_found found;
    struct cost cost;
    struct arena arena;
    size_t references;
    struct plan *self; /* itself, to count references: every holder sees it const */
};

/* NULL with ERR filled: ERROR_INVALID if no item can have the values of the path. */
struct plan *plan_new(const struct plan_subject *subject, struct error *err);
/* NULL is fine for both. */
const struct plan *plan_ref(const struct plan *plan);
void plan_unref(const struct plan *plan);
/* The number of plans made so far, for tests. */
unsigned long plan_count_made(void);

/* The Read of COUNT items by their keys: the plan's second step, or its only one. The caller
 * destroys it. NULL with ERR filled if memory ran out. */
struct read *plan_items(const struct plan *plan, const struct key *keys, size_t count,
                        struct error *err);

/* For how long a result of SOURCE may be used again: the path's ttl, or less where SOURCE keeps
 * results up to date. */
int64_t plan_ttl_ms(const struct plan *plan, struct source *source);

/* Whether an item that was read by its key still matches the path: all conditions hold. False with
 * ERR filled: ERROR_NOT_FOUND, or memory ran out. */
bool plan_holds(const struct plan *plan, const struct key *key, struct json item,
                struct error *err);

/* Whether an item with PARTS must be removed from a range that includes both its ends: "<" on a
 * part of a key is requested as "<=". */
bool plan_excludes(const struct map_pattern *pattern, const struct bindings *path,
                   const struct bindings *parts);

/* Whether every item of FILE's first step is among those of the listing LIST, so that a listing
 * read to its end needs no request for FILE. */
bool plan_covers(const struct plan *list, const struct plan *file);

/* Whether the plan's first step would return ITEM. If memory ran out, FAILED is set and the result
 * is void. */
bool plan_admits(const struct plan *plan, const struct key *key, struct json item, bool *failed);

/* Whether an item of the plan's query can be in the selection: the conditions that are tested here,
 * on the query's attributes, hold. FAILED as above. */
bool plan_may_select(const struct plan *plan, struct json item, bool *failed);

/* Whether an item is in the selection. ITEM is complete, or has the attributes that a listing shows
 * which reads no item again. */
bool plan_selects(const struct plan *plan, struct json item, bool *failed);

/* Appends a text that is equal for two plans if and only if their first steps are equal and the
 * same items count. */
void plan_identity(const struct plan *plan, struct buf *out);

/* The cost of finding the item's key, which is nothing if the path has it. */
void plan_cost_of_key(const struct plan *plan, struct cost *out);

/* The operations on a table itself that an access policy has to grant. */
struct plan_operations {
    bool get;       /* one item by its key */
    bool batch_get; /* items by their keys */
    bool query;
};

/* The operations of all plans that TABLE's paths can have, whatever their values. */
void plan_find_operations(const struct model *table, struct plan_operations *out);

/* Whether a path queries INDEX, which is one of TABLE's. */
bool plan_queries_index(const struct model *table, const struct map_index *index);

#endif
