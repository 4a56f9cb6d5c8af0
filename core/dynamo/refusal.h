/* Refusals of DynamoDB as typed errors, with the service's sentence and advice. */
#ifndef DDBFS_CORE_DYNAMO_REFUSAL_H
#define DDBFS_CORE_DYNAMO_REFUSAL_H

#include "core/base/error.h"
#include "core/dynamo/request.h"
#include "core/net/transport.h"

/* The reason for which a transaction is canceled while another request writes an item of it. It is
 * the code of the error, and the items are named in its text. */
#define REFUSAL_CONFLICT_CODE "TransactionConflict"

/* Reads a response whose status is not 200. ROOT is its JSON, or absent. Fills ERR but
 * for status and request id, and returns false. */
bool refusal_read(const struct sent_request *sent, const struct http_response *response,
                  struct json root, struct error *err);

/* Whether ERR is the end of a transaction that some item caused while it was read. */
bool refusal_is_cancellation(const struct error *err);

/* Fills ERR for a response that is not DynamoDB's, and returns false. */
bool refusal_set_foreign(const struct sent_request *sent, const struct http_response *response,
                         struct error *err);

#endif
