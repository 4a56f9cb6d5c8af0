/* What the services of AWS have in common when they refuse: a code, a sentence, a request id; and
 * the refusals that concern who asks, not what is asked. */
#ifndef DDBFS_CORE_AWS_AWS_ERROR_H
#define DDBFS_CORE_AWS_AWS_ERROR_H

#include "core/base/error.h"
#include "core/json/json.h"
#include "core/net/transport.h"

struct aws_fault {
    int status;
    char code[64];      /* "" when there is none: the answer is then not the service's */
    char sentence[640]; /* the service's own, cut where a secret could stand */
};

/* Copies the service's sentence TOLD up to where a secret could stand. A refusal of a signature
 * goes on with the canonical request, and so with the session token; others quote the Authorization
 * header. Every sentence of a service that is printed has to pass here. */
void aws_fault_copy_sentence(char *out, size_t size, struct span told);

/* Reads a response whose status is not 200. ROOT is its JSON, absent when it is none. */
void aws_fault_read(struct aws_fault *fault, const struct http_response *response,
                    struct json root);

/* Fills ERR when the refusal concerns the credentials, the signature or the session; false when it
 * is of another kind. The credentials are PROFILE's (NULL when none need be named) and were had by
 * METHOD from ORIGIN (see struct credentials; NULL when that is not known). */
bool aws_fault_of_identity(const struct aws_fault *fault, const char *method, const char *origin,
                           const char *profile, struct error *err);
/* Fills ERR when the identity in use may not do NEEDS ("dynamodb:Query on jobs"). */
bool aws_fault_of_permission(const struct aws_fault *fault, const char *needs, struct error *err);

/* Whether a wrong clock can be the cause of the service's error code. */
bool aws_fault_may_be_clock(const char *code);
/* Whether credentials resolved afresh may help. */
bool aws_fault_may_be_credentials(const char *code);

/* Copies the response's request id; "" when it has none. */
void aws_request_id(const struct http_response *response, char out[64]);

#endif
