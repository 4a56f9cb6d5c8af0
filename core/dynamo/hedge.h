/* A GetItem whose response is late is sent a second time over another connection; the first
 * response counts. No other operation is sent twice. See docs/internals/hedging.md. */
#ifndef DDBFS_CORE_DYNAMO_HEDGE_H
#define DDBFS_CORE_DYNAMO_HEDGE_H

#include "core/dynamo/exchange.h"

enum { HEDGE_SAMPLES = 128 };

/* The response times of a source's GetItems, and the budget for second requests. {0} sends none. */
struct hedging {
    bool on;
    int64_t took_ms[HEDGE_SAMPLES]; /* a ring */
    uint64_t taken;                 /* samples in all */
    int64_t patience_ms;            /* a response is late after it; 0: too few samples yet */
    unsigned credit;                /* in parts of a request */
    uint64_t sent;                  /* second requests */
    uint64_t won;                   /* of these, those whose response came first */
};

struct hedged;

/* As exchange_start, with a second exchange if the response to a GetItem is late. TRIES counts the
 * requests of both. HEDGING must stay until the end. */
struct hedged *hedged_start(struct hedging *hedging, struct exchange_link *link,
                            const struct exchange_request *wanted, exchange_done_fn *fn, void *arg);
/* The number of requests so far. */
unsigned hedged_tries(const struct hedged *hedged);
/* Ends both without calling FN. NULL is fine. */
void hedged_end(struct hedged *hedged);

#endif
