/* Refusals of DynamoDB as typed errors, with the service's sentence and advice. */
#ifndef DDBFS_CORE_DYNAMO_REFUSAL_H
#define DDBFS_CORE_DYNAMO_REFUSAL_H

#include "core/base/error.h"
#include "core/dynamo/request.h"
#include "core/net/transport.h"

/* Reads a response whose status is not 200. ROOT is its JSON, or absent. Fills ERR but
 * for status and request id, and returns false. */
bool refusal_read(const struct sent_request *sent, const struct http_response *response,
                  struct json root, struct error *err);

/* Fills ERR for a response that is not DynamoDB's, and returns false. */
bool refusal_set_foreign(const struct sent_request *sent, const struct http_response *response,
                         struct error *err);

#endif
