/* What of an answer counts: an item's key taken apart, and compared with what a path says. */
#ifndef DDBFS_CORE_PLAN_ITEM_MATCH_H
#define DDBFS_CORE_PLAN_ITEM_MATCH_H

#include "core/plan/plan.h"

enum item_match_verdict {
    ITEM_MATCH_COUNTS,
    ITEM_MATCH_OTHER, /* a whole record that the path leaves out, of a kind that the map declares */
    ITEM_MATCH_UNDECLARED, /* a whole record of no kind that the map declares */
    ITEM_MATCH_UNREADABLE, /* its key is missing, or of another type than the map says */
    ITEM_MATCH_NO_MEMORY,
};

/* An item that was looked at. Valid as long as the arena that was given. */
struct matched_item {
    struct key key;
    struct bindings parts;         /* of which the key is made */
    const struct map_entry *entry; /* of a listing: which of its entries */
};

/* KEY and, if it counts, PARTS and ENTRY are filled in; texts go to ARENA. Where names hold parts
 * of the index's key, ITEM tells them, and one that has them not in the index's formats is of no
 * kind that the map declares. */
enum item_match_verdict item_match_item(const struct plan *plan, struct json item,
                                        struct arena *arena, struct matched_item *out);

/* The base-table key that ITEM carries. False when an attribute is missing or of a wrong type, or
 * (ARENA->failed) when memory ran out. */
bool item_match_key(const struct model *table, struct json item, struct arena *arena,
                    struct key *out);

/* Whether the key is of that kind and contradicts no value of PATH; PARTS gets what it is made of.
 */
bool item_match_is_kind(const struct model *table, const struct map_kind *kind,
                        const struct key *key, const struct bindings *path, struct bindings *parts);

/* The kind that the key is of, of several the one that says most of it; NULL when the map declares
 * none such. */
const struct map_kind *item_match_kind(const struct model *table, const struct key *key,
                                       struct bindings *parts);

/* The entry of PATTERN's listing that the key is; NULL when it is none. */
const struct map_entry *item_match_entry(const struct model *table,
                                         const struct map_pattern *pattern, const struct key *key,
                                         const struct bindings *path, struct bindings *parts);

/* Fills ERR: why ITEM, of verdict ITEM_MATCH_UNREADABLE, can't be taken apart. Returns false. */
bool item_match_report(const struct plan *plan, struct json item, struct error *err);

#endif
