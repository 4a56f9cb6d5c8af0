/* "Did you mean": of some names, the one that a misspelt word stands nearest to. */
#ifndef DDBFS_CORE_BASE_NEAREST_H
#define DDBFS_CORE_BASE_NEAREST_H

#include "core/base/buf.h"

struct nearest {
    struct span wanted; /* what was typed; borrowed */
    struct span best;   /* the nearest name so far; borrowed, and empty when none is near */
    size_t distance;    /* how many letters it takes from one to the other */
};

struct nearest nearest_to(struct span wanted);

/* Takes NAME, which must stay, into account. One that differs in more than a third of its letters
 * is another word, and no slip. */
void nearest_offer(struct nearest *nearest, struct span name);

/* Appends ` (did you mean "NAME"?)` when a name is near, and else nothing. */
void nearest_write(const struct nearest *nearest, struct buf *out);

#endif
