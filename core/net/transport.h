/* The interface of a transport, which sends requests and receives responses: libcurl in the product
 * (http.h), a script in unit tests. */
#ifndef DDBFS_CORE_NET_TRANSPORT_H
#define DDBFS_CORE_NET_TRANSPORT_H

#include <stdint.h>
#include <strings.h>

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/span.h"

struct http_request {
    const char *method; /* "POST" */
    const char *url;
    const char *const *headers; /* "Name: value", sent unchanged */
    size_t header_count;
    struct span body;
    int64_t timeout_ms;         /* for the whole response, the wait for a connection included */
    int64_t connect_timeout_ms; /* of this, for the connection; 0: the default */
    size_t max_body;            /* a larger response is ERROR_BAD_ANSWER */
    /* Requests wait for the connections of their own share only: a table and its region, say. NULL:
     * a common share. */
    const char *share;
    bool no_proxy; /* the environment's proxy is ignored */
    /* A file of trusted authorities, unless AWS_CA_BUNDLE names another; NULL: the system's. */
    const char *ca_bundle;
};

struct http_header {
    const char *name; /* unchanged; compared without case */
    const char *value;
};

/* Borrowed for the time of the callback. */
struct http_response {
    int status;
    const struct http_header *headers;
    size_t header_count;
    struct span body;   /* as transferred, perhaps compressed */
    struct buf *holder; /* of the body's bytes, which a callback can take (buf_move) instead of a
                         * copy; NULL if they cannot be taken */
    int64_t elapsed_ms; /* from the sent request to the whole response */
    bool authentic;     /* over TLS, or from this machine: no other party can have written it */
};

/* Exactly one of RESPONSE and ERR is not NULL. Any status is a response. ERR is for no response:
 * ERROR_TIMED_OUT, _UNREACHABLE, _REFUSED, _RESET, _TLS, _UNTRUSTED, _BAD_ANSWER, _NO_DESCRIPTORS,
 * _NO_MEMORY, with a text that names the host and a remedy. */
typedef void transport_done_fn(void *arg, const struct http_response *response,
                               const struct error *err);

struct transfer; /* a request under way; each transport has its own */

struct transport {
    const struct transport_ops *ops;
};

struct transport_ops {
    /* Copies REQUEST. DONE is called once, later, never from within send; the transfer is freed
     * before that. NULL when memory ran out; DONE is then never called. */
    struct transfer *(*send)(struct transport *transport, const struct http_request *request,
                             transport_done_fn *done, void *arg);
    /* Ends a transfer without a call of DONE. */
    void (*cancel)(struct transfer *transfer);
    /* Ends all transfers without a call. */
    void (*destroy)(struct transport *transport);
};

/* The header's value, or NULL. */
static inline const char *http_header(const struct http_response *response, const char *name)
{
    for (size_t i = 0; i < response->header_count; i++)
        if (strcasecmp(response->headers[i].name, name) == 0)
            return response->headers[i].value;
    return NULL;
}

#endif
