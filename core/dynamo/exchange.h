/* One request of DynamoDB as a call to AWS (core/aws/call.h): its headers, the decoding of its
 * response, its charges, counts and log lines. */
#ifndef DDBFS_CORE_DYNAMO_EXCHANGE_H
#define DDBFS_CORE_DYNAMO_EXCHANGE_H

#include "core/aws/call.h"
#include "core/aws/session.h"
#include "core/base/list.h"
#include "core/dynamo/answer.h"

/* Counts since the source was made. */
struct dynamo_stats {
    uint64_t requests[DYNAMO_OPS]; /* by operation, retries included; see dynamo_op_name */
    uint64_t failures;             /* requests without a valid response */
    uint64_t throttled;            /* of these, those that the service throttled */
    uint64_t pages, listed;        /* of queries and scans, and the items in them */
    uint64_t fetched;              /* items that were read by their keys */
    struct spent spent;            /* RCU that were consumed */
};

/* How long the response to an abandoned request is awaited for its units. */
enum { EXCHANGE_AWAITED_MS = 2000 };

/* Shared by all exchanges of one source. */
struct exchange_link {
    struct aws_client client;
    struct aws_session *session;         /* borrowed */
    const struct aws_endpoint *endpoint; /* of the last request; the session's */
    const char *method;                  /* how the credentials that signed it were found */
    char origin[304];                    /* … and where */
    struct dynamo_stats stats;
    struct list abandoned; /* of struct exchange, owned: their responses are read for the units */
};

/* Ends the abandoned exchanges: each is charged with its upper bound. */
void exchange_link_clean_up(struct exchange_link *link);

/* The function LOCATE of the link's client; ARG is the link. */
const struct aws_endpoint *exchange_locate(void *arg, enum aws_service service,
                                           const struct credentials *credentials,
                                           struct error *err);

/* Exactly one of ANSWER (now the callee's) and ERR is not NULL. TRIES is the number of requests.
 * The exchange is freed before the call. */
typedef void exchange_done_fn(void *arg, struct answer *answer, const struct error *err,
                              unsigned tries);

struct exchange;

/* The name under which all requests for one table at one endpoint share connections and retries. */
enum { EXCHANGE_SHARE_SIZE = 512 };
void exchange_share(const struct exchange_link *link, const struct sent_request *sent,
                    char out[EXCHANGE_SHARE_SIZE]);

struct exchange_request {
    struct sent_request *sent; /* borrowed; the exchange sets its endpoint and credentials */
    struct span body;          /* copied */
    struct retry *retry;       /* borrowed: the table's quota */
    struct payer *payer;       /* borrowed; may be NULL */
    double set_aside;    /* the payer's units, which the exchange gives back: the most that such a
                          * request consumes */
    double expected;     /* an estimate of the units that it consumes */
    unsigned most_tries; /* requests, the first included */
    int64_t deadline_at_ms;       /* of the monotonic clock */
    struct throttles **throttled; /* borrowed: counts each request that is throttled; may be NULL */
};

/* Sends WANTED. LINK and all that is borrowed must stay until the end. FN is called once, later,
 * never from within. NULL when memory ran out: the units are not given back then. */
struct exchange *exchange_start(struct exchange_link *link, const struct exchange_request *wanted,
                                exchange_done_fn *fn, void *arg);
/* The number of requests so far. */
unsigned exchange_tries(const struct exchange *exchange);
/* Whether the response to the first request is awaited. */
bool exchange_waits_for_first(const struct exchange *exchange);
/* Ends it without calling FN. A request under way is charged when its response comes, at the latest
 * after EXCHANGE_AWAITED_MS. NULL is fine. */
void exchange_end(struct exchange *exchange);

#endif
