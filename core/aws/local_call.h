/* One plain question to a service of the machine itself (a container's endpoint, the machine's
 * metadata): unsigned, never through a proxy, with a short time for each try. */
#ifndef DDBFS_CORE_AWS_LOCAL_CALL_H
#define DDBFS_CORE_AWS_LOCAL_CALL_H

#include "core/aws/credentials.h"

enum { LOCAL_CALL_HEADERS = 2 };

/* Copied when the call starts; headers may hold secrets. */
struct local_question {
    const char *what;   /* a constant, for people: "the container's endpoint" */
    const char *method; /* a constant */
    const char *url;
    const char *headers[LOCAL_CALL_HEADERS]; /* "Name: value"; NULL for none */
    int64_t timeout_ms;                      /* of each try */
    unsigned attempts;
    int64_t pause_ms; /* between them */
    /* Whether an answer will do; another one is a try that failed. */
    bool (*is_good)(const struct http_response *response);
};

/* The end: exactly one of RESPONSE and ERR is not NULL, of the first try that was good, else of the
 * last one. */
typedef void local_call_fn(void *arg, const struct http_response *response,
                           const struct error *err);

struct local_call;

/* CONTEXT (of which neither settings nor profiles are needed) must outlive the call. NULL when
 * memory ran out; FN is then never called, and never from within. */
struct local_call *local_call_start(const struct credentials_context *context,
                                    const struct local_question *question, local_call_fn *fn,
                                    void *arg);
/* Ends it without a call. NULL is fine. */
void local_call_end(struct local_call *call);

/* An answer with status 200 and a body; one whose body is a document, too (where memory runs out it
 * is taken for one: whoever reads it says so). */
bool local_call_has_body(const struct http_response *response);
bool local_call_has_document(const struct http_response *response);

#endif
