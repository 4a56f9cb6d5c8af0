/* A call to a service of AWS: one request until it is answered. It is signed, sent, tried again,
 * with fresh credentials and a corrected clock where these were the cause, and never beyond its
 * deadline. What the answer means is its user's affair. docs/internals/aws-call.md tells its life.
 */
#ifndef DDBFS_CORE_AWS_CALL_H
#define DDBFS_CORE_AWS_CALL_H

#include "core/aws/aws_request.h"
#include "core/aws/credentials.h"
#include "core/aws/endpoint.h"
#include "core/aws/retry.h"
#include "core/base/log.h"
#include "core/base/loop.h"
#include "core/net/transport.h"

/* What all calls to one service have in common. The pointers are borrowed. */
struct aws_client {
    struct loop *loop;
    struct transport *transport;
    struct credentials_provider *credentials; /* a credentials_cache; NULL when nothing is signed */
    const struct log *log;                    /* may be NULL */
    /* Where requests go that name no URL: some hosts go by whose credentials sign, so it is known
     * after these. Borrowed until the next question; NULL with ERR filled. */
    const struct aws_endpoint *(*locate)(void *arg, const struct credentials *credentials,
                                         struct error *err);
    void *locate_arg;
    const char *ca_bundle; /* authorities to trust; see core/net/transport.h; may be NULL */
    struct retry retry;    /* of requests that name no quota of their own */
    int64_t skew_ms;       /* what to add to the wall clock to get the service's time */
};

/* One attempt, when it is over. */
struct aws_attempt {
    int64_t took_ms;
    const void *result;      /* what decode made of the answer; NULL when that was no good answer */
    const struct error *err; /* NULL when it was */
};

/* The user's side of a call. ARG is what aws_call_start was given. */
struct aws_call_ops {
    /* What is handed to DONE for RESPONSE. NULL with ERR filled (code, status and request id
     * included) when it is a refusal or not understood; the call then decides by ERR whether to
     * try again. */
    void *(*decode)(void *arg, const struct http_response *response, struct error *err);
    /* A request was sent; what came of it. For counts and the log; they may not end the call. */
    void (*sent)(void *arg);
    void (*attempted)(void *arg, const struct aws_attempt *attempt);
    /* The end, told once, later, never from within aws_call_start: exactly one of RESULT (now the
     * callee's) and ERR is not NULL. TRIES is how many requests were sent. The call is gone. */
    void (*done)(void *arg, void *result, const struct error *err, unsigned tries);
};

struct aws_call;

/* Sends REQUEST, whose body is copied and the rest of which must stay until the end, as CLIENT
 * must, until DEADLINE_AT_MS of the monotonic clock. NULL when memory ran out; no function of OPS
 * is called then. */
struct aws_call *aws_call_start(struct aws_client *client, const struct aws_request *request,
                                int64_t deadline_at_ms, const struct aws_call_ops *ops, void *arg);
/* Ends it without a call. NULL is fine. */
void aws_call_end(struct aws_call *call);
/* A call that waits for a response waits on for this one alone: nothing is sent again, and its
 * quota, which may go, is not credited. */
void aws_call_retire(struct aws_call *call);

#endif
