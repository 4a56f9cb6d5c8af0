/* A source before another: who wants all that a query gives has it sooner from a service that is
 * slow, because it is read from both ends at once until they meet. Pages come in the order that was
 * asked for all the same. docs/internals/both-ends.md tells when, and why nothing is lost or told
 * twice. */
#ifndef DDBFS_CORE_SOURCE_BOTH_ENDS_H
#define DDBFS_CORE_SOURCE_BOTH_ENDS_H

#include "core/base/loop.h"
#include "core/source/source.h"

struct both_ends_options {
    struct source *source; /* whom to ask; from then on the new source's, if one could be made */
    struct loop *loop;     /* borrowed */
    int64_t slow_ms;       /* a page that takes as long is worth a second request beside it */
    size_t most_kept;      /* bytes of pages from behind, of all queries, that wait for their turn;
                            * 0: as usual */
};

/* NULL when memory ran out: the source in OPTIONS is then as it was. */
struct source *both_ends_new(const struct both_ends_options *options);

#endif
