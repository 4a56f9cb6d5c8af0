/* Reads the items of one page of an index again from the table, a hundred a request, all requests
 * of a slice at once. A page may hold many thousand keys, whose items together would fill the
 * memory; so it is read in slices. */
#ifndef DDBFS_CORE_READ_HYDRATE_H
#define DDBFS_CORE_READ_HYDRATE_H

#include "core/base/arena.h"
#include "core/base/loop.h"
#include "core/read/walk.h"

/* One item that was found. ITEM is borrowed. */
typedef void hydrate_item_fn(void *arg, struct json item, const char *request_id);
/* The slice has been read, or ERR is the reason why not. */
typedef void hydrate_done_fn(void *arg, const struct error *err);

/* Where the items are read. All of it is borrowed, and must stay until the end. */
struct hydrate_from {
    const struct plan *plan;
    struct source *source;
    struct payer *payer;                 /* may be NULL */
    const struct walk_transcript *items; /* has them all; NULL: requests are sent to SOURCE */
    struct loop *loop;
    struct walk_cost *cost;       /* to which the requests' cost is added */
    struct throttles **throttled; /* to which those that were throttled are added */
};

/* {0} is one without a page. Must not move while it reads. */
struct hydrate {
    struct arena keys; /* of the page's keys and their orders, until their items have been read */
    struct hydrate_key *wanted; /* owned; in the order of the entries, but for the slice in hand */
    size_t count;
    size_t from, to;     /* the slice in hand */
    size_t items, bytes; /* that came so far, of all pages; bytes of their files */
    struct hydrate_from source;
    struct hydrate_request *requests; /* owned; of the slice in hand */
    size_t request_count, pending;
    struct loop_timer *timer;
    hydrate_item_fn *item;
    hydrate_done_fn *done;
    void *arg;
};

/* Ends the Reads under way. */
void hydrate_clean_up(struct hydrate *hydrate);
/* Frees the page's keys. */
void hydrate_clear(struct hydrate *hydrate);

/* Adds KEY, whose parts are in KEYS, of the page's entry number ENTRY; ORDER, which is copied,
 * identifies its place in the query. A page has at most MOST of them. False when memory ran out. */
bool hydrate_add(struct hydrate *hydrate, const struct key *key, struct span order, size_t entry,
                 size_t most);

/* Whether items remain to be read; then ENTRY (which may be NULL) is the first that waits. */
bool hydrate_next(const struct hydrate *hydrate, size_t *entry);

/* Reads the next slice, in whole requests no more than WANTED items need (0: all). ITEM is called
 * for each item, DONE at the end, later. Items that no longer exist are passed over. False with ERR
 * filled when memory ran out. */
bool hydrate_start(struct hydrate *hydrate, const struct hydrate_from *from, size_t wanted,
                   hydrate_item_fn *item, hydrate_done_fn *done, void *arg, struct error *err);

/* The entry of that key in the slice in hand, and its ORDER; false for none. */
bool hydrate_find(const struct hydrate *hydrate, const struct key *key, size_t *entry,
                  struct span *order);

/* Counts an item whose file has BYTES bytes. The size of the next slices follows from it. */
void hydrate_note(struct hydrate *hydrate, size_t bytes);

#endif
