/* One plain request to a service of the machine itself (a container's endpoint, the machine's
 * metadata): unsigned, never through a proxy, with a short timeout of each attempt. */
#ifndef DDBFS_CORE_AWS_LOCAL_CALL_H
#define DDBFS_CORE_AWS_LOCAL_CALL_H

#include "core/aws/credentials.h"

enum { LOCAL_CALL_HEADERS = 2 };

/* Copied when the call starts; headers may contain secrets. */
struct local_request {
    const char *name;   /* a constant; the service in messages: "the container's endpoint" */
    const char *method; /* a constant */
    const char *url;
    const char *headers[LOCAL_CALL_HEADERS]; /* "Name: value"; NULL: none */
    int64_t timeout_ms;                      /* of each attempt */
    unsigned attempts;                       /* at least 1 */
    int64_t pause_ms;                        /* between two attempts */
    /* Whether a response ends the call; another one is a failed attempt. */
    bool (*is_good)(const struct http_response *response);
};

/* The end: exactly one of RESPONSE and ERR is not NULL, of the first good attempt, else of the last
 * one. */
typedef void local_call_fn(void *arg, const struct http_response *response,
                           const struct error *err);

struct local_call;

/* CONTEXT (its settings and profiles are not needed) must outlive the call. FN is called later,
 * once. NULL when memory ran out; FN is then never called. */
struct local_call *local_call_start(const struct credentials_context *context,
                                    const struct local_request *request, local_call_fn *fn,
                                    void *arg);
/* Ends the call without a call of FN. NULL is fine. */
void local_call_end(struct local_call *call);

/* A response with status 200 and a body; the second one: whose body is a document. (If memory runs
 * out it counts as a document; its reader then fails.) */
bool local_call_has_body(const struct http_response *response);
bool local_call_has_document(const struct http_response *response);

#endif
