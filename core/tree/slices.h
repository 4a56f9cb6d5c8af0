/* The records of one page of an index, read again from the table. A page may hold many thousand
 * keys, of records that together would fill the memory; so they are read in slices. */
#ifndef DDBFS_CORE_TREE_SLICES_H
#define DDBFS_CORE_TREE_SLICES_H

#include "core/base/arena.h"
#include "core/tree/hydrate.h"

/* {0} is one without a page. */
struct slices {
    struct arena keys;     /* of the page's keys, as long as their records are being read */
    struct wanted *wanted; /* owned; in the order of the entries, but for the slice in hand */
    size_t count;
    size_t from, to; /* where the slice in hand begins, and where it ends */
    size_t records;  /* that have come, of all pages, and what their files have in bytes */
    size_t bytes;
    struct hydrate *hydrate; /* under way */
    hydrate_item_fn *item;
    hydrate_done_fn *done;
    void *arg;
};

/* Ends what is under way. */
void slices_clean_up(struct slices *slices);
/* The page is through, and its keys are gone. */
void slices_clear(struct slices *slices);

/* KEY, whose parts stand in KEYS, is that of the page's entry number ENTRY; a page has at most MOST
 * of them. False when memory ran out. */
bool slices_add(struct slices *slices, const struct key *key, size_t entry, size_t most);

/* Whether records remain to be read; then ENTRY (which may be NULL) is the first that waits. */
bool slices_next(const struct slices *slices, size_t *entry);

/* Reads the next slice of them, in whole requests no more than it takes for WANTED records (0:
 * all): ITEM is called for each record, DONE at the end. False with ERR filled when memory ran out.
 */
bool slices_start(struct slices *slices, const struct hydrate_from *from, size_t wanted,
                  hydrate_item_fn *item, hydrate_done_fn *done, void *arg, struct error *err);

/* Which entry the slice in hand wanted the record of that key for; false for none. */
bool slices_find(const struct slices *slices, const struct key *key, size_t *entry);

/* A record came whose file has so many bytes: the next slices are as large as that allows. */
void slices_note(struct slices *slices, size_t bytes);

#endif
