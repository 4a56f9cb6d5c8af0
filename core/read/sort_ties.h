/* Items of a query that share their sort key with the one before: a listing "with ties" does not
 * end between them. */
#ifndef DDBFS_CORE_READ_SORT_TIES_H
#define DDBFS_CORE_READ_SORT_TIES_H

#include "core/base/buf.h"
#include "core/json/json.h"
#include "core/source/read.h"

/* {0} before the first item. */
struct sort_ties {
    uint64_t group; /* of the item taken last: items share one if they share the sort key */
    struct buf last, next;
};

void sort_ties_clean_up(struct sort_ties *ties);

/* Takes the next item of READ in. False when memory ran out. */
bool sort_ties_take(struct sort_ties *ties, const struct read *read, struct json item);

#endif
