/* The common part of refusals by AWS's services: a code, a sentence, a request id; and advice for
 * refusals that concern the caller's identity, not its request. */
#ifndef DDBFS_CORE_AWS_AWS_FAULT_H
#define DDBFS_CORE_AWS_AWS_FAULT_H

#include "core/base/error.h"
#include "core/json/json.h"
#include "core/net/transport.h"

struct aws_fault {
    int status;
    char code[64];      /* "" without a code: the response is then not the service's */
    char sentence[640]; /* the service's own, cut before a possible secret */
};

/* Copies the service's sentence TEXT, cut before a possible secret. A refusal of a signature ends
 * with the canonical request, and so with the session token; others quote the Authorization header.
 * Every printed sentence of a service must pass through this function. */
void aws_fault_copy_sentence(char *out, size_t size, struct span text);

/* Reads a response whose status is not 200. ROOT is its JSON; absent if it is not JSON. */
void aws_fault_read(struct aws_fault *fault, const struct http_response *response,
                    struct json root);

/* Fills ERR if the refusal concerns the credentials, the signature or the session; else false. The
 * credentials are of PROFILE (NULL: not to be named); METHOD and ORIGIN are theirs (see struct
 * credentials; NULL: not known). */
bool aws_fault_of_identity(const struct aws_fault *fault, const char *method, const char *origin,
                           const char *profile, struct error *err);
/* Fills ERR if the identity has no permission for NEEDS ("dynamodb:Query on jobs"). */
bool aws_fault_of_permission(const struct aws_fault *fault, const char *needs, struct error *err);

/* Whether a wrong clock can be the cause of the service's error code. */
bool aws_fault_may_be_clock(const char *code);
/* Whether fresh credentials may help. */
bool aws_fault_may_be_credentials(const char *code);

/* Copies the response's request id; "" without one. */
void aws_fault_read_request_id(const struct http_response *response, char out[64]);

#endif
