/* How something is read: decided once, then executed, printed and priced by people who therefore
 * can't disagree. A plan has at most two steps: a query that finds records, and a read of records
 * by their keys. */
#ifndef DDBFS_CORE_PLAN_PLAN_H
#define DDBFS_CORE_PLAN_PLAN_H

#include "core/map/model.h"
#include "core/plan/cost.h"
#include "core/plan/selection.h"
#include "core/source/read.h"

/* What is to be read: one of a table's patterns, with the values that the path gives. Borrowed by
 * plan_new, which copies what may go away. */
struct plan_subject {
    const struct model *table;
    const char *table_name; /* as the service knows it */
    const struct map_pattern *pattern;
    const struct map_entry *entry; /* the record is an entry of PATTERN's listing; else NULL */
    const struct map_kind *kind;   /* of the record; NULL for a listing */
    const struct bindings *path;
    struct span attribute; /* the only one that is wanted; empty for all */
    struct span shortened; /* the record's name, where only its digest is known; else empty */
    const struct selection
        *selection; /* of a listing: which of its records; NULL: all, and not these alone
                     */
    bool counts;    /* of a listing: no more is wanted than how many they are */
    const struct span *columns; /* likewise: only these attributes, COLUMN_COUNT; none: all */
    size_t column_count;
};

enum plan_kind {
    PLAN_KEY,    /* one record, by the key that the path says */
    PLAN_FIND,   /* one record, which a query finds */
    PLAN_SEARCH, /* one record, whose shortened name is looked for among a listing's entries */
    PLAN_LIST,   /* all records of a query, page by page */
};

/* Constant and reference-counted: a request under way may outlive the lookup that started it. */
struct plan {
    enum plan_kind kind;
    const struct model *table;
    const struct map_pattern *pattern;
    const struct map_entry *entry;    /* see struct question */
    const struct map_kind *kind_of;   /* likewise */
    const char *table_name;           /* in the arena */
    struct bindings path;             /* values in the arena */
    struct span attribute, shortened; /* in the arena */
    struct read *query;               /* owned; NULL for PLAN_KEY */
    struct key key;                   /* of PLAN_KEY; values in the arena */
    bool reads_again;                 /* what the query tells are keys: records are read by them */
    const struct selection
        *selection;               /* of PLAN_LIST, in the arena; NULL: nothing beside the path */
    struct selection_parts parts; /* of SELECTION's filter, in the arena */
    bool counts;                  /* of PLAN_LIST: no more is wanted than how many they are */
    bool index_suffices; /* of PLAN_LIST: its records are not read again, since the index holds the
                          * little that is wanted of them */
    struct cost cost;
    struct arena arena;
    size_t references;
    struct plan *self; /* itself, to count references: every holder sees it const */
};

/* NULL with ERR filled: ERROR_INVALID when nothing can have the values that the path gives. */
struct plan *plan_new(const struct plan_subject *subject, struct error *err);
/* NULL is fine for both. */
const struct plan *plan_ref(const struct plan *plan);
void plan_unref(const struct plan *plan);
/* The number of plans made so far, for tests. */
unsigned long plan_count_made(void);

/* The Read of COUNT records by their keys: the plan's second step, or its only one. The caller
 * destroys it. NULL with ERR filled when memory ran out. */
struct read *plan_items(const struct plan *plan, const struct key *keys, size_t count,
                        struct error *err);

/* Whether a record that was read by its key is still what the path says: every condition holds.
 * False with ERR filled: ERROR_NOT_FOUND, or that memory ran out. */
bool plan_holds(const struct plan *plan, const struct key *key, struct json item,
                struct error *err);

/* Whether a range that takes both its ends in has to leave out what has these parts: "<" on a part
 * of a key is asked as "<=". */
bool plan_excludes(const struct map_pattern *pattern, const struct bindings *path,
                   const struct bindings *parts);

/* Whether every item that FILE's first step can give is among those of the listing LIST, so that
 * who has read the listing to its end need not ask. */
bool plan_covers(const struct plan *list, const struct plan *file);

/* Whether ITEM answers what the plan's first step asks: it is an item that this step would have
 * given. FAILED is set, and the answer means nothing, when memory ran out. */
bool plan_admits(const struct plan *plan, const struct key *key, struct json item, bool *failed);

/* Whether an item of the plan's query can be one of those that were asked for: what is tested here,
 * and needs no more than the query gives, holds. FAILED as above. */
bool plan_may_select(const struct plan *plan, struct json item, bool *failed);

/* Whether a record is one of those that were asked for. ITEM is all of it, or as much as a listing
 * shows that reads no record again. */
bool plan_selects(const struct plan *plan, struct json item, bool *failed);

/* Appends a text that two plans share if and only if their first steps ask the same and the same of
 * the answer counts. */
void plan_identity(const struct plan *plan, struct buf *out);

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
