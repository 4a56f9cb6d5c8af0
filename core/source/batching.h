/* A source before another: questions for one record each, of one table, leave as one question where
 * they would wait for each other. Whoever asks alone is passed on at once; all other Reads always
 * are. docs/internals/batches.md tells who waits, and for whom. */
#ifndef DDBFS_CORE_SOURCE_BATCHING_H
#define DDBFS_CORE_SOURCE_BATCHING_H

#include "core/base/log.h"
#include "core/base/loop.h"
#include "core/source/source.h"

struct batching_options {
    struct source *source; /* whom to ask; from then on the new source's, if one could be made */
    struct loop *loop;     /* borrowed, as LOG is */
    const struct log *log; /* may be NULL */
    int64_t deadline_ms;   /* of one question, the time included that it waits for others */
};

/* NULL when memory ran out: the source in OPTIONS is then as it was. */
struct source *batching_new(const struct batching_options *options);

#endif
