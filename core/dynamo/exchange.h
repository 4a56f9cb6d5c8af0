/* A request of DynamoDB's as a call to AWS (core/aws/call.h): its headers, how its answers are
 * decoded, and what is counted and logged of it. */
#ifndef DDBFS_CORE_DYNAMO_EXCHANGE_H
#define DDBFS_CORE_DYNAMO_EXCHANGE_H

#include "core/aws/call.h"
#include "core/aws/session.h"
#include "core/base/list.h"
#include "core/dynamo/answer.h"

/* What has been sent since the source was made. */
struct dynamo_stats {
    uint64_t requests[DYNAMO_OPS]; /* by operation, retries included; see dynamo_op_name */
    uint64_t failures;             /* requests that were not answered with what was asked for */
    uint64_t pages, listed;        /* of queries and scans, and the items in them */
    uint64_t fetched;              /* items that were read by their keys */
    struct spent spent;            /* read units that were consumed */
};

/* A request whose caller has ended is awaited for its units, for so long at the most. */
enum { EXCHANGE_AWAITED_MS = 2000 };

/* What all exchanges of one source share. */
struct exchange_link {
    struct aws_client client;
    struct aws_session *session;         /* borrowed */
    const struct aws_endpoint *endpoint; /* where the last request was sent; the session's */
    const char *method;                  /* how the credentials were had that signed it */
    char origin[304];                    /* … and where */
    struct dynamo_stats stats;
    struct list
        abandoned; /* of struct exchange, owned: their responses are read for the units alone */
};

/* Ends what is awaited: it is charged with its upper bound. */
void exchange_link_clean_up(struct exchange_link *link);

/* For the client of a link, which is its argument. */
const struct aws_endpoint *exchange_locate(void *arg, const struct credentials *credentials,
                                           struct error *err);

/* Exactly one of ANSWER (now the callee's) and ERR is not NULL. TRIES is how many requests were
 * sent. The exchange is gone before the call. */
typedef void exchange_done_fn(void *arg, struct answer *answer, const struct error *err,
                              unsigned tries);

struct exchange;

/* Whose connections and retries a question shares: all that ask its table at that endpoint. */
enum { EXCHANGE_SHARE_SIZE = 512 };
void exchange_share(const struct exchange_link *link, const struct answer_question *question,
                    char out[EXCHANGE_SHARE_SIZE]);

/* What is sent, and how often. */
struct exchange_request {
    struct answer_question *question; /* borrowed; is told of the address that is asked */
    struct span body;                 /* copied */
    struct retry *retry;              /* borrowed: the table's quota */
    struct payer *payer;              /* borrowed; may be NULL */
    double set_aside;                 /* units, of the payer's; the exchange gives them back. No
                                       * such request consumes more */
    double expected;                  /* units, by what such requests consumed so far */
    unsigned most_tries;              /* requests, the first included */
    int64_t deadline_at_ms;           /* of the monotonic clock */
};

/* Sends what is WANTED; what it borrows, and LINK, must stay until the end. FN is called once,
 * later, never from within. NULL when memory ran out: nothing is given back then. */
struct exchange *exchange_start(struct exchange_link *link, const struct exchange_request *wanted,
                                exchange_done_fn *fn, void *arg);
/* How many requests it has sent so far, and whether it waits for the answer to the first of them.
 */
unsigned exchange_tries(const struct exchange *exchange);
bool exchange_waits_for_first(const struct exchange *exchange);
/* Ends it without a call. A request under way is charged when its response comes, or at the latest
 * after EXCHANGE_AWAITED_MS. NULL is fine. */
void exchange_end(struct exchange *exchange);

#endif
