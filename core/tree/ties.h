/* Items of a query that share their sort key with the one before: a listing "with ties" does not
 * end between them. */
#ifndef DDBFS_CORE_TREE_TIES_H
#define DDBFS_CORE_TREE_TIES_H

#include "core/base/buf.h"
#include "core/json/json.h"
#include "core/source/read.h"

/* {0} before the first item. */
struct ties {
    uint64_t group; /* of the item taken last: items share one if they share the sort key */
    struct buf last, next;
};

void ties_clean_up(struct ties *ties);

/* Takes the next item of READ in. False when memory ran out. */
bool ties_take(struct ties *ties, const struct read *read, struct json item);

#endif
