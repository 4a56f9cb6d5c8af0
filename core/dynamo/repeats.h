/* Whether an item has come before: of the items of an index that share a sort key, whose order
 * nobody knows. The last of them are remembered, at least as many as a page can hold, each as a
 * number of 64 bits; so memory is bounded whatever is listed. That two items have one number by
 * chance is less likely, for a listing of a million, than 1 in 10^8; the numbers are seeded anew
 * each time. */
#ifndef DDBFS_CORE_DYNAMO_REPEATS_H
#define DDBFS_CORE_DYNAMO_REPEATS_H

#include "core/base/dict.h"

/* {0} is an empty one. */
struct repeats {
    struct dict_seed seed;
    /* The numbers, in open addressing; 0 is a free slot. Those of NEW become OLD when it is full.
     */
    struct repeats_part {
        uint64_t *slots; /* owned */
        size_t capacity; /* a power of two */
        size_t count;
    } new, old;
};

/* Adds the item that IDENTITY tells from others. AGAIN says whether it was there. False when memory
 * ran out. */
bool repeats_add(struct repeats *repeats, struct span identity, bool *again);

/* Forgets all: the next item has another sort key. */
void repeats_clear(struct repeats *repeats);
void repeats_clean_up(struct repeats *repeats);

#endif
