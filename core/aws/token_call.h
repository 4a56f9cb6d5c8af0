/* One request to a service that issues tokens or credentials (SSO's portal, OIDC, AWS Sign-In,
 * STS), with a document as the response. */
#ifndef DDBFS_CORE_AWS_TOKEN_CALL_H
#define DDBFS_CORE_AWS_TOKEN_CALL_H

#include "core/aws/call.h"
#include "core/aws/document.h"
#include "core/aws/endpoint.h"

/* Copied when the call starts. */
struct token_request {
    const char *name; /* a constant; the service in messages: "the SSO portal" */
    const struct aws_endpoint *endpoint;
    const char *method;
    const char *path;         /* behind the endpoint's own, encoded: "federation/credentials"; "" */
    const char *query;        /* encoded and sorted; "" */
    const char *content_type; /* of the body; NULL without one */
    const char *accept;       /* the wanted content type; NULL if there is one only */
    const char *service;      /* a constant: the service of the signature ("sts"), by the client's
                               * credentials; NULL: unsigned */
    const char *secret_name;  /* a header whose value is a secret; NULL: none */
    const char *secret_value; /* or a secret in the body; NULL: none */
    struct span body;         /* a secret, unless … */
    bool is_open;             /* … all of it but the secret above can be shown */
    int64_t timeout_ms;       /* of all attempts together */
};

enum {
    TOKEN_CALL_MS = 30 * 1000
}; /* by default; a caller with an earlier deadline ends the call */

/* The end: exactly one of RESPONSE (now the callee's) and ERR is not NULL. ERR of a refusal has the
 * HTTP status, the service's code (of several the most specific) and ERROR_DENIED; its text can end
 * another one: "the SSO portal says: No access (ForbiddenException)". */
typedef void token_call_fn(void *arg, struct document *response, const struct error *err);

struct token_call;

/* CLIENT must outlive the call. NULL when memory ran out; FN is then never called. */
struct token_call *token_call_start(struct aws_client *client, const struct token_request *request,
                                    token_call_fn *fn, void *arg);
/* Ends the call without a call of FN. NULL is fine. */
void token_call_end(struct token_call *call);

/* The client of unsigned requests on behalf of CONTEXT. */
struct aws_client token_call_client(const struct credentials_context *context);

/* Copies the code, the request id and the HTTP status of a refusal to an error with another text.
 */
void token_call_copy_fault(struct error *to, const struct error *from);

#endif
