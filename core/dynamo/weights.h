/* What records have weighed so far, by table and index: how much a request will take, as far as
 * those before it tell. The service says what a request took only when it has answered. */
#ifndef DDBFS_CORE_DYNAMO_WEIGHTS_H
#define DDBFS_CORE_DYNAMO_WEIGHTS_H

#include <stddef.h>

#include "core/source/read.h"

/* So many tables and indexes are remembered; what was not asked for longest is forgotten. */
enum { WEIGHTS_MOST = 64 };

struct weight {
    char *name;         /* owned: the table, and behind a line end the index; NULL: free */
    double entry_bytes; /* of an item in a page */
    double key_steps;   /* of an item that is read by its key, in the least that one costs */
    unsigned long used; /* when it was asked for last, as a count */
};

/* {0} knows nothing. */
struct weights {
    struct weight items[WEIGHTS_MOST];
    unsigned long uses;
};

void weights_clean_up(struct weights *weights);

/* What a request is expected to take. */
struct outlay {
    double units;
    double least;   /* what is to be left for it, or it is not sent */
    double most;    /* no request of its kind takes more */
    uint32_t limit; /* entries of a page, 0: as many as it holds; or keys */
};

/* As many of COUNT keys of READ as LEFT pays for whatever their size, but at least one. */
struct outlay weights_of_keys(struct weights *weights, const struct read *read, size_t count,
                              double left);

/* A page of READ, of COUNT entries (0: as many as it holds). Where half of LEFT does not pay for
 * any page it is no longer than that is expected to pay for, and than BOLD, but at least of one. */
struct outlay weights_of_page(struct weights *weights, const struct read *read, uint32_t count,
                              double left, uint32_t bold);

/* COUNT keys, or a page of so many items, took UNITS. */
void weights_learn_keys(struct weights *weights, const struct read *read, size_t count,
                        double units);
void weights_learn_page(struct weights *weights, const struct read *read, size_t count,
                        double units);

#endif
