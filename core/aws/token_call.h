/* One question to a service that gives tokens or credentials (SSO's portal, OIDC, sign-in, STS),
 * and its answer as a document. */
#ifndef DDBFS_CORE_AWS_TOKEN_CALL_H
#define DDBFS_CORE_AWS_TOKEN_CALL_H

#include "core/aws/call.h"
#include "core/aws/document.h"
#include "core/aws/endpoint.h"

/* Copied when the call starts. */
struct token_question {
    const char *what; /* a constant, for people: "the SSO portal" */
    const struct aws_endpoint *endpoint;
    const char *method;
    const char *path;         /* behind the endpoint's own, encoded: "federation/credentials"; "" */
    const char *query;        /* encoded and sorted; "" */
    const char *content_type; /* of the body; NULL without one */
    const char *accept;       /* which content type is wanted; NULL when there is but one */
    const char *service;      /* a constant: who signs for it ("sts"), by the client's credentials;
                               * NULL when it is unsigned */
    const char *secret_name;  /* a header whose value is a secret; NULL for none */
    const char *secret_value; /* also one that stands in the body; NULL for none */
    struct span body;         /* a secret, unless … */
    bool is_open;             /* … but for the secret above, all of it may be shown */
    int64_t within_ms;        /* how long it may take, all tries together */
};

enum {
    TOKEN_CALL_MS = 30 * 1000, /* as usual: whoever waits for less gives up before */
    /* How long what a service has refused is not shown to it again: one file that cannot be read
     * may be followed by thousands. */
    TOKEN_REFUSED_MS = 5 * 1000,
};

/* The end: exactly one of ANSWER (now the callee's) and ERR is not NULL. Of a refusal ERR has the
 * HTTP status, the service's code (of several the one that tells most) and ERROR_DENIED; its text
 * is one that another one can end with: "the SSO portal says: No access (ForbiddenException)". */
typedef void token_call_fn(void *arg, struct document *answer, const struct error *err);

struct token_call;

/* CLIENT must outlive the call. NULL when memory ran out; FN is then never called. */
struct token_call *token_call_start(struct aws_client *client,
                                    const struct token_question *question, token_call_fn *fn,
                                    void *arg);
/* Ends it without a call. NULL is fine. */
void token_call_end(struct token_call *call);

/* What calls on behalf of CONTEXT have in common: nothing is signed. */
struct aws_client token_call_client(const struct credentials_context *context);

#endif
