/* What carries a request to a server and its answer back: libcurl in the product (http.h), a
 * script of answers in unit tests. */
#ifndef DDBFS_CORE_NET_TRANSPORT_H
#define DDBFS_CORE_NET_TRANSPORT_H

#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/span.h"

struct http_request {
    const char *method; /* "POST" */
    const char *url;
    const char *const *headers; /* "Name: value", each as it shall be sent */
    size_t header_count;
    struct span body;
    int64_t timeout_ms; /* until the whole answer is here, waiting for a connection included */
    int64_t connect_timeout_ms; /* of these, until the connection stands; 0: as usual */
    size_t max_body;            /* a larger answer is ERROR_BAD_ANSWER */
    /* Requests of one share wait for each other's connections, and for nobody else's: a table and
     * its region, say. NULL: that of all who have none. */
    const char *share;
    bool no_proxy; /* ask the host itself, whatever proxy the environment names */
    /* A file of authorities to trust, unless AWS_CA_BUNDLE names another; NULL: the system's. */
    const char *ca_bundle;
};

struct http_header {
    const char *name; /* as it came; compared without case */
    const char *value;
};

/* Borrowed for the time of the callback. */
struct http_response {
    int status;
    const struct http_header *headers;
    size_t header_count;
    struct span body;   /* as transferred: still compressed, if it was */
    struct buf *holder; /* of the body's bytes. Whoever wants to keep them takes them out of it
                         * (buf_move) instead of copying; NULL when they cannot be taken */
    int64_t elapsed_ms; /* from sending to the whole answer */
};

/* Exactly one of RESPONSE and ERR is not NULL. Any status is a response; ERR is for no answer
 * at all: ERROR_TIMED_OUT, _UNREACHABLE, _REFUSED, _RESET, _TLS, _UNTRUSTED, _BAD_ANSWER,
 * _NO_DESCRIPTORS, _NO_MEMORY, with a text that names the host and what to do. */
typedef void transport_done_fn(void *arg, const struct http_response *response,
                               const struct error *err);

struct transfer; /* one request under way; each transport has its own */

struct transport {
    const struct transport_ops *ops;
};

struct transport_ops {
    /* Copies all of REQUEST. DONE is called once, later, never from within send; the transfer
     * is gone before that. NULL when memory ran out; DONE is then never called. */
    struct transfer *(*send)(struct transport *transport, const struct http_request *request,
                             transport_done_fn *done, void *arg);
    /* Ends a transfer; DONE is not called. */
    void (*cancel)(struct transfer *transfer);
    /* Ends all transfers without a call. */
    void (*destroy)(struct transport *transport);
};

/* The header's value, or NULL. */
const char *http_header(const struct http_response *response, const char *name);

#endif
