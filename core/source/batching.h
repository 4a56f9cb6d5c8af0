/* A source that wraps another: reads of one item each leave as one request if they would wait for
 * each other. All other Reads are passed on. See docs/internals/batches.md. */
#ifndef DDBFS_CORE_SOURCE_BATCHING_H
#define DDBFS_CORE_SOURCE_BATCHING_H

#include "core/base/log.h"
#include "core/base/loop.h"
#include "core/source/source.h"

struct batching_options {
    struct source *source; /* owned by the new source, unless batching_new fails */
    struct loop *loop;     /* borrowed, as LOG is */
    const struct log *log; /* may be NULL */
    int64_t deadline_ms;   /* of one call, the wait for other calls included */
};

/* NULL when memory ran out. */
struct source *batching_new(const struct batching_options *options);

#endif
