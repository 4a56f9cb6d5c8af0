/* "Did you mean": the name that is nearest to a misspelt word. */
#ifndef DDBFS_CORE_BASE_NEAREST_H
#define DDBFS_CORE_BASE_NEAREST_H

#include "core/base/buf.h"

struct nearest {
    struct span wanted; /* the misspelt word; borrowed */
    struct span best;   /* the nearest name so far; borrowed; empty if no name is near */
    size_t distance;    /* letters that differ */
};

struct nearest nearest_to(struct span wanted);

/* Offers NAME, which must stay. A name that differs in more than a third of its letters is another
 * word. */
void nearest_offer(struct nearest *nearest, struct span name);

/* Appends ` (did you mean "NAME"?)` if a name is near. */
void nearest_write(const struct nearest *nearest, struct buf *out);

#endif
