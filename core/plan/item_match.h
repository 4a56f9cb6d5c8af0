/* Items compared with a plan: which of a response's items count, and which one a path means. */
#ifndef DDBFS_CORE_PLAN_ITEM_MATCH_H
#define DDBFS_CORE_PLAN_ITEM_MATCH_H

#include "core/item/record.h"
#include "core/plan/plan.h"

enum item_match_verdict {
    ITEM_MATCH_COUNTS,
    ITEM_MATCH_OTHER,      /* of a declared kind, but not of this path */
    ITEM_MATCH_UNDECLARED, /* of no kind that the map declares */
    ITEM_MATCH_UNREADABLE, /* its key is absent, or of another type than in the map */
    ITEM_MATCH_NO_MEMORY,
};

/* The result for one item. Valid as long as the caller's arena. */
struct matched_item {
    struct key key;
    struct bindings parts;         /* of the key */
    const struct map_entry *entry; /* of a listing */
};

/* Fills in KEY and, if ITEM counts, PARTS and ENTRY; texts go to ARENA. Where names contain parts
 * of the index's key, an item without them in the index's formats is ITEM_MATCH_UNDECLARED. */
enum item_match_verdict item_match_item(const struct plan *plan, struct json item,
                                        struct arena *arena, struct matched_item *out);

/* The table's key in ITEM. False if an attribute is absent or of another type, or memory ran out
 * (ARENA->failed). */
bool item_match_key(const struct model *table, struct json item, struct arena *arena,
                    struct key *out);

/* Whether KEY is of KIND and agrees with PATH; PARTS gets its parts. */
bool item_match_is_kind(const struct model *table, const struct map_kind *kind,
                        const struct key *key, const struct bindings *path, struct bindings *parts);

/* The declared kind of KEY; of several, the one with the most literal bytes. NULL for none. */
const struct map_kind *item_match_kind(const struct model *table, const struct key *key,
                                       struct bindings *parts);

/* The entry of PATTERN's listing for KEY, or NULL. */
const struct map_entry *item_match_entry(const struct model *table,
                                         const struct map_pattern *pattern, const struct key *key,
                                         const struct bindings *path, struct bindings *parts);

/* Fills ERR with the reason why ITEM is ITEM_MATCH_UNREADABLE. Returns false. */
bool item_match_report(const struct model *table, const char *table_name, struct json item,
                       struct error *err);

/* The one item that a path means, among those of a query. {.plan = …} is the start. */
struct pick {
    const struct plan *plan; /* borrowed */
    struct record *best;     /* owned reference; NULL until an item counts */
    unsigned found;          /* items that counted */
    unsigned passed_over;    /* items that did not */
    bool backwards; /* items come in the opposite of the plan's order: the last one counts where the
                     * plan's own order would end with the first */
};

void pick_clean_up(struct pick *pick);

/* Takes one more item. False with ERR filled if no further item can help: several items match a
 * path of one, an item lacks the attribute that "pick" compares, or its key is unreadable. An item
 * of another kind is passed over. */
bool pick_consider(struct pick *pick, struct json item, const struct record_origin *origin,
                   struct error *err);

/* Whether no further item can change the result. */
bool pick_is_done(const struct pick *pick);

#endif
