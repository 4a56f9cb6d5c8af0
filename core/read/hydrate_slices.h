/* The records of one page of an index, read again from the table. A page may hold many thousand
 * keys, of records that together would fill the memory; so they are read in slices. */
#ifndef DDBFS_CORE_READ_HYDRATE_SLICES_H
#define DDBFS_CORE_READ_HYDRATE_SLICES_H

#include "core/base/arena.h"
#include "core/read/hydrate.h"

/* {0} is one without a page. */
struct hydrate_slices {
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
void hydrate_slices_clean_up(struct hydrate_slices *slices);
/* The page is through, and its keys are gone. */
void hydrate_slices_clear(struct hydrate_slices *slices);

/* KEY, whose parts stand in KEYS, is that of the page's entry number ENTRY; a page has at most MOST
 * of them. False when memory ran out. */
bool hydrate_slices_add(struct hydrate_slices *slices, const struct key *key, size_t entry,
                        size_t most);

/* Whether records remain to be read; then ENTRY (which may be NULL) is the first that waits. */
bool hydrate_slices_next(const struct hydrate_slices *slices, size_t *entry);

/* Reads the next slice of them, in whole requests no more than it takes for WANTED records (0:
 * all): ITEM is called for each record, DONE at the end. False with ERR filled when memory ran out.
 */
bool hydrate_slices_start(struct hydrate_slices *slices, const struct hydrate_from *from,
                          size_t wanted, hydrate_item_fn *item, hydrate_done_fn *done, void *arg,
                          struct error *err);

/* Which entry the slice in hand wanted the record of that key for; false for none. */
bool hydrate_slices_find(const struct hydrate_slices *slices, const struct key *key, size_t *entry);

/* A record came whose file has so many bytes: the next slices are as large as that allows. */
void hydrate_slices_note(struct hydrate_slices *slices, size_t bytes);

#endif
