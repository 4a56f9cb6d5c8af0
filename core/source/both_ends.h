/* A source that wraps another: a long query that is read to its end is read from both ends at once,
 * until they meet. The pages come in the order of the query all the same. See
 * docs/internals/both-ends.md. */
#ifndef DDBFS_CORE_SOURCE_BOTH_ENDS_H
#define DDBFS_CORE_SOURCE_BOTH_ENDS_H

#include "core/base/loop.h"
#include "core/source/source.h"

struct both_ends_options {
    struct source *source; /* owned by the new source, unless both_ends_new fails */
    struct loop *loop;     /* borrowed */
    int64_t slow_ms;       /* pages that take as long are worth a second request beside them */
    size_t most_kept;      /* bytes of stored pages of all queries; 0: the default */
};

/* NULL when memory ran out. */
struct source *both_ends_new(const struct both_ends_options *options);

#endif
