/* A request to a service of AWS, before it is signed. */
#ifndef DDBFS_CORE_AWS_AWS_REQUEST_H
#define DDBFS_CORE_AWS_AWS_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/span.h"

enum { AWS_MAX_HEADERS = 8 };

struct aws_header {
    const char *name;
    struct span value;
};

struct retry;

/* All borrowed. A request that has no SERVICE is sent unsigned, without credentials. */
struct aws_request {
    const char *service; /* the signing name: "dynamodb", "sts" */
    const char *region;  /* of the signature */
    const char *url;     /* the whole address; NULL: see struct aws_client */
    const char *host;    /* the Host header's value */
    const char *path;    /* the address's path, encoded: "/" */
    const char *query;   /* the address's query, encoded and sorted by name; "" */
    const char *method;
    const struct aws_header *headers; /* its own: Content-Type, X-Amz-Target; they are signed */
    size_t header_count;              /* at most AWS_MAX_HEADERS */
    struct span body;
    size_t max_answer;          /* a larger answer, as it is sent, is ERROR_BAD_ANSWER */
    const char *share;          /* whose share of the connections; see core/net/transport.h */
    bool no_proxy;              /* ask the host itself, whatever proxy is set */
    int64_t connect_timeout_ms; /* 0: as usual */
    struct retry *retry;        /* the quota that pays for retries; NULL: the client's own */
    unsigned most_tries;        /* how often it is sent at the most; 0: as the quota says */
};

#endif
