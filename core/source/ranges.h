/* A source that wraps another: a long query that is read to its end is divided into ranges of its
 * sort key, and some of them are read at the same time. The pages come in the order of the query
 * all the same. See docs/internals/ranges.md. */
#ifndef DDBFS_CORE_SOURCE_RANGES_H
#define DDBFS_CORE_SOURCE_RANGES_H

#include "core/base/loop.h"
#include "core/source/source.h"

struct ranges_options {
    struct source *source; /* owned by the new source, unless ranges_new fails */
    struct loop *loop;     /* borrowed */
    int64_t slow_ms;       /* pages that take as long are worth further requests beside them */
};

/* NULL when memory ran out. */
struct source *ranges_new(const struct ranges_options *options);

#endif
