/* Reads the one item that a place names. Its key may have to be found by a query first. */
#ifndef DDBFS_CORE_READ_FETCH_H
#define DDBFS_CORE_READ_FETCH_H

#include "core/read/tree.h"

/* Whether PLACE needs an item, or the listing that it is, to be read. Links whose targets are known
 * from the path need none. */
bool fetch_is_needed(const struct place *place);

struct fetch;

/* RECORD and FOUND are borrowed. A proven miss is ERROR_NOT_FOUND with a text that names the key.
 * With both RECORD and ERR, the item may be too old, and ERR is the reason why no newer one was
 * read. */
typedef void fetch_done_fn(void *arg, struct record *record, const struct tree_found *found,
                           int64_t ttl_left_ms, const struct error *err);

/* PLACE is an item, its companion or its attribute, and must outlive the fetch. For a bare
 * attribute the item may hold no other one. DONE is called once, later; the fetch is freed before
 * that. NULL when memory ran out. */
struct fetch *fetch_start(const struct tree *tree, const struct place *place, fetch_done_fn *done,
                          void *arg);
void fetch_cancel(struct fetch *fetch); /* before DONE; NULL is fine */

/* KEY is borrowed for the time of the call; NULL with ERR if it is not known: ERROR_NOT_FOUND is a
 * proven miss of the query. The fetch is freed behind the call, and must not be cancelled within.
 */
typedef void fetch_key_fn(void *arg, const struct key *key, const struct error *err);

/* Finds the key of the item at PLACE, as above: it is in the path, or a query returns it. FN is
 * called once, later. NULL when memory ran out. */
struct fetch *fetch_find(const struct tree *tree, const struct place *place, fetch_key_fn *fn,
                         void *arg);

/* Whether RECORD (NULL: no item), which was read by KEY, is the item at PLACE. False with ERR
 * filled: ERROR_NOT_FOUND, or memory ran out. */
bool fetch_check(const struct tree *tree, const struct place *place, const struct key *key,
                 const struct record *record, struct error *err);

/* Fills in the origin of the items of PAGE. */
void fetch_fill_origin(struct loop *loop, const struct page *page, struct record_origin *out);

#endif
