/* The items whose vectors are nearest to that of one item: the item is read, then its vector index
 * is searched, then, if they are wanted, the items that were found are read by their keys. The
 * item and the search go through the cache. See docs/live.md. */
#ifndef DDBFS_CORE_READ_SIMILAR_H
#define DDBFS_CORE_READ_SIMILAR_H

#include "core/item/record.h"
#include "core/read/tree.h"

/* One result of a search. */
struct similar_hit {
    struct key key;
    struct span score; /* as the service writes it */
};

/* The results of a search, the nearest first. Constant once complete, and reference-counted. */
struct similar_result {
    size_t references;
    struct arena arena; /* owns the rest */
    struct similar_hit *hits;
    size_t count;
    unsigned requests;
    struct spent spent;
    struct record_origin origin;
};

/* Borrowed for the time of the callback. */
struct similar_found {
    const struct record *subject; /* the item whose vector was searched for */
    double subject_units;         /* RCU of the query that found it; < 0: not stated */
    const struct similar_result *result;
    const struct json *items; /* one for each hit: the typed item, or absent if it no longer exists;
                               * NULL if the items were not wanted */
    unsigned item_requests;   /* for these */
    struct spent item_spent;
    int64_t ttl_left_ms;
};

struct similar; /* a search on its way */

/* Exactly one of FOUND and ERR is not NULL. */
typedef void similar_fn(void *arg, const struct similar_found *found, const struct error *err);

/* PLACE is a PLACE_SIMILAR or below, whose index is known; it must stay until the end. FN is called
 * once, later; the search is freed behind that call. NULL when memory ran out. */
struct similar *similar_start(const struct tree *tree, const struct place *place, bool items,
                              similar_fn *fn, void *arg);
void similar_cancel(struct similar *similar); /* before FN; NULL is fine */

/* Appends the name of HIT, the result number RANK of PLACE, from 1 on: the rank, _, and its key. */
void similar_write_name(const struct place *place, const struct place_options *names, size_t rank,
                        const struct similar_hit *hit, struct buf *out);

/* Appends the typed ITEM of HIT with its rank, its score and the distance function as the first
 * attributes. False with ERR filled if ITEM has one of these names itself. */
bool similar_write_scored(const struct place *place, size_t rank, const struct similar_hit *hit,
                          struct json item, struct buf *out, struct error *err);

#endif
