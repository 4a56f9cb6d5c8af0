/* A source that wraps another and follows the streams of the tables that are read: results are
 * stored, changed as their items change, and used again without a request. While a stream lags, has
 * a gap or is lost, each Read is passed on. See docs/internals/live.md. */
#ifndef DDBFS_CORE_LIVE_LIVE_H
#define DDBFS_CORE_LIVE_LIVE_H

#include "core/base/log.h"
#include "core/base/loop.h"
#include "core/source/source.h"

struct live_options {
    struct source *source; /* owned by the new source, unless live_new fails */
    struct loop *loop;     /* borrowed, as are PAYER and LOG */
    struct payer *payer;   /* of the polls; may be NULL */
    const struct log *log; /* may be NULL */
    size_t most_bytes;     /* of all that is stored */
    void (*charge)(void *arg, size_t more, size_t less); /* called for each change of these bytes;
                                                          * may be NULL */
    void *charge_arg;
    int64_t settle_ms; /* a response to a Read lacks no change that is older than this; of an
                        * index five times as long */
};

/* NULL when memory ran out. */
struct source *live_new(const struct live_options *options);

/* Drops all that SOURCE, or one that it wraps, has stored in this way. */
void live_forget(struct source *source);

#endif
