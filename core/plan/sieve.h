/* What of an answer counts: an item's key taken apart, and compared with what a path says. */
#ifndef DDBFS_CORE_PLAN_SIEVE_H
#define DDBFS_CORE_PLAN_SIEVE_H

#include "core/plan/plan.h"

enum sieve_verdict {
    SIEVE_COUNTS,
    SIEVE_OTHER,      /* a whole record that the path leaves out, of a kind that the map declares */
    SIEVE_UNDECLARED, /* a whole record of no kind that the map declares */
    SIEVE_UNREADABLE, /* its key is missing, or of another type than the map says */
    SIEVE_NO_MEMORY,
};

/* An item that was looked at. Valid as long as the arena that was given. */
struct sifted {
    struct key key;
    struct bindings parts;         /* of which the key is made */
    const struct map_entry *entry; /* of a listing: which of its entries */
};

/* KEY and, if it counts, PARTS and ENTRY are filled in; texts go to ARENA. Where names hold parts
 * of the index's key, ITEM tells them, and one that has them not in the index's formats is of no
 * kind that the map declares. */
enum sieve_verdict sieve_item(const struct plan *plan, struct json item, struct arena *arena,
                              struct sifted *out);

/* The base-table key that ITEM carries. False when an attribute is missing or of a wrong type, or
 * (ARENA->failed) when memory ran out. */
bool sieve_key(const struct model *table, struct json item, struct arena *arena, struct key *out);

/* Whether the key is of that kind and contradicts no value of PATH; PARTS gets what it is made of.
 */
bool sieve_is_kind(const struct model *table, const struct map_kind *kind, const struct key *key,
                   const struct bindings *path, struct bindings *parts);

/* The kind that the key is of, of several the one that says most of it; NULL when the map declares
 * none such. */
const struct map_kind *sieve_kind(const struct model *table, const struct key *key,
                                  struct bindings *parts);

/* The entry of PATTERN's listing that the key is; NULL when it is none. */
const struct map_entry *sieve_entry(const struct model *table, const struct map_pattern *pattern,
                                    const struct key *key, const struct bindings *path,
                                    struct bindings *parts);

/* Fills ERR: why ITEM, of verdict SIEVE_UNREADABLE, can't be taken apart. Returns false. */
bool sieve_complain(const struct plan *plan, struct json item, struct error *err);

#endif
