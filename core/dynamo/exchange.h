/* One request until it is answered: signed, sent, tried again, with fresh credentials and a
 * corrected clock where these were the cause, and never beyond its deadline. */
#ifndef DDBFS_CORE_DYNAMO_EXCHANGE_H
#define DDBFS_CORE_DYNAMO_EXCHANGE_H

#include "core/aws/session.h"
#include "core/base/log.h"
#include "core/base/loop.h"
#include "core/dynamo/answer.h"
#include "core/dynamo/dynamo.h"
#include "core/dynamo/retry.h"
#include "core/net/transport.h"

/* What all exchanges of one source share. The pointers are borrowed. */
struct exchange_link {
    struct loop *loop;
    struct transport *transport;
    struct aws_session *session;
    const struct log *log;
    struct retry retry;
    int64_t skew_ms; /* what to add to the wall clock */
    struct dynamo_stats stats;
};

/* Exactly one of ANSWER (now the callee's) and ERR is not NULL. TRIES is how many requests were
 * sent. The exchange is gone before the call. */
typedef void exchange_done_fn(void *arg, struct answer *answer, const struct error *err,
                              unsigned tries);

struct exchange;

/* Sends BODY (copied) until DEADLINE_AT_MS of the monotonic clock. QUESTION and LINK must stay
 * until the end. DONE is called once, later, never from within. NULL when memory ran out. */
struct exchange *exchange_start(struct exchange_link *link, const struct answer_question *question,
                                struct span body, int64_t deadline_at_ms, exchange_done_fn *done,
                                void *arg);
/* Ends it without a call. NULL is fine. */
void exchange_end(struct exchange *exchange);

#endif
