/* A Read as the service understands it: one of five operations, and its JSON body. */
#ifndef DDBFS_CORE_DYNAMO_REQUEST_H
#define DDBFS_CORE_DYNAMO_REQUEST_H

#include "core/base/buf.h"
#include "core/source/read.h"

/* The closed set. All of them read; nothing else is ever sent. */
enum dynamo_op {
    DYNAMO_GET_ITEM,
    DYNAMO_BATCH_GET_ITEM,
    DYNAMO_QUERY,
    DYNAMO_DESCRIBE_TABLE,
    DYNAMO_LIST_TABLES,
};

/* The operation's name in the protocol. */
const char *dynamo_op_name(enum dynamo_op op);

/* The operation that answers READ. */
enum dynamo_op request_op(const struct read *read);

/* Appends the body. RESUME is where the last answer stopped, JSON as the service wrote it:
 * LastEvaluatedKey, LastEvaluatedTableName, or the array of unprocessed Keys; empty at the start.
 * False when memory ran out. */
bool request_write(const struct read *read, struct span resume, struct buf *out);

#endif
