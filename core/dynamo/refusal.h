/* DynamoDB's refusals as typed errors, with the service's sentence and what to do. */
#ifndef DDBFS_CORE_DYNAMO_REFUSAL_H
#define DDBFS_CORE_DYNAMO_REFUSAL_H

#include "core/base/error.h"
#include "core/dynamo/sent_request.h"
#include "core/net/transport.h"

/* Reads a response whose status is not 200. ROOT is its JSON, absent when it is none. Fills ERR
 * but for status and request id, and returns false. */
bool fault_read(const struct answer_question *question, const struct http_response *response,
                struct json root, struct error *err);

/* Fills ERR for a response that is not DynamoDB's, and returns false. */
bool fault_foreign(const struct answer_question *question, const struct http_response *response,
                   struct error *err);

#endif
