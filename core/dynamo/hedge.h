/* A GetItem that stays unanswered for longer than nearly all others did is asked once more over
 * another connection; the first answer counts. Nothing else is asked twice.
 * docs/internals/hedging.md says when, and how often at most. */
#ifndef DDBFS_CORE_DYNAMO_HEDGE_H
#define DDBFS_CORE_DYNAMO_HEDGE_H

#include "core/dynamo/exchange.h"

enum { HEDGE_SAMPLES = 128 };

/* How long a source's GetItems took lately, and what it may still ask twice. {0} asks
 * nothing twice. */
struct hedging {
    bool on;
    int64_t took_ms[HEDGE_SAMPLES]; /* a ring */
    uint64_t taken;                 /* samples in all */
    int64_t patience_ms;            /* beyond it an answer is late; 0 while too few have come */
    unsigned credit;                /* in parts of a request */
    uint64_t sent;                  /* second requests */
    uint64_t won;                   /* of these, those that were answered first */
};

struct hedged;

/* As exchange_start, and for a GetItem with a second one if it is late; TRIES counts the requests
 * of both. HEDGING must stay until the end. */
struct hedged *hedged_start(struct hedging *hedging, struct exchange_link *link,
                            const struct exchange_request *wanted, exchange_done_fn *fn, void *arg);
/* Ends both without a call. NULL is fine. */
void hedged_end(struct hedged *hedged);

#endif
