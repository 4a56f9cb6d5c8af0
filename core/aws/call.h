/* A call to a service of AWS: one request until its end. The call signs the request, sends it and
 * retries it until its deadline; fresh credentials and a corrected clock are part of a retry. The
 * meaning of the response is the caller's affair. See docs/internals/aws-call.md. */
#ifndef DDBFS_CORE_AWS_CALL_H
#define DDBFS_CORE_AWS_CALL_H

#include "core/aws/credentials.h"
#include "core/aws/endpoint.h"
#include "core/aws/retry.h"
#include "core/base/log.h"
#include "core/base/loop.h"
#include "core/net/transport.h"

enum { AWS_MAX_HEADERS = 8 };

struct aws_header {
    const char *name;
    struct span value;
};

/* A request before it is signed. All members are borrowed. */
struct aws_request {
    const char *service;         /* the signing name: "dynamodb", "sts"; NULL: unsigned */
    const char *region;          /* of the signature */
    const char *url;             /* the whole address; NULL: locate of struct aws_client finds it */
    enum aws_service service_at; /* for locate */
    const char *host;            /* the Host header's value */
    const char *path;            /* the address's path, encoded: "/" */
    const char *query;           /* the address's query, encoded and sorted by name; "" */
    const char *method;
    const struct aws_header *headers; /* its own: Content-Type, X-Amz-Target; they are signed */
    size_t header_count;              /* at most AWS_MAX_HEADERS */
    struct span body;
    size_t max_answer;          /* a larger response, as transferred, is ERROR_BAD_ANSWER */
    const char *share;          /* of the connections; see core/net/transport.h */
    bool no_proxy;              /* the environment's proxy is ignored */
    int64_t connect_timeout_ms; /* 0: the default */
    struct retry *retry;        /* the quota that pays for retries; NULL: the client's own */
    unsigned most_tries;        /* the limit of requests; 0: the quota's */
};

/* The common part of all calls to one service. The pointers are borrowed. */
struct aws_client {
    struct loop *loop;
    struct transport *transport;
    struct credentials_provider *credentials; /* a credentials_cache; NULL: nothing is signed */
    const struct log *log;                    /* may be NULL */
    /* Finds the address of requests without a URL. Some hosts depend on the account of the
     * credentials. The result is borrowed until the next call; NULL with ERR filled. */
    const struct aws_endpoint *(*locate)(void *arg, enum aws_service service,
                                         const struct credentials *credentials, struct error *err);
    void *locate_arg;
    const char *ca_bundle; /* trusted authorities; see core/net/transport.h; may be NULL */
    struct retry retry;    /* of requests without a quota of their own */
    int64_t skew_ms;       /* the service's time less this machine's */
};

/* One attempt, when it is over. */
struct aws_attempt {
    int64_t took_ms;
    const void *result;      /* of decode; NULL after a failure */
    const struct error *err; /* of the failure, else NULL */
};

/* The caller's functions. ARG is the one of aws_call_start. */
struct aws_call_ops {
    /* Returns the result for DONE. NULL with ERR filled (code, status and request id included) if
     * the response is a refusal or not understood; ERR then decides whether the call retries. */
    void *(*decode)(void *arg, const struct http_response *response, struct error *err);
    /* A request was sent; an attempt is over. For counts and the log; they must not end the call.
     */
    void (*sent)(void *arg);
    void (*attempted)(void *arg, const struct aws_attempt *attempt);
    /* The end, called once, later, never from within aws_call_start: exactly one of RESULT (now the
     * callee's) and ERR is not NULL. TRIES is the number of requests. The call is freed before. */
    void (*done)(void *arg, void *result, const struct error *err, unsigned tries);
};

struct aws_call;

/* Sends REQUEST until DEADLINE_AT_MS of the monotonic clock. The body is copied; the rest of
 * REQUEST and CLIENT must outlive the call. NULL when memory ran out; no function of OPS is then
 * called. */
struct aws_call *aws_call_start(struct aws_client *client, const struct aws_request *request,
                                int64_t deadline_at_ms, const struct aws_call_ops *ops, void *arg);
/* Ends the call without a call of DONE. NULL is fine. */
void aws_call_end(struct aws_call *call);
/* Makes the response under way the last one: nothing is retried, and the quota, which may be freed,
 * gets no refund. */
void aws_call_retire(struct aws_call *call);

#endif
