/* Texts about following a stream: its pace, its cost and its two readers. */
#ifndef DDBFS_CORE_DESCRIBE_FOLLOW_WORDS_H
#define DDBFS_CORE_DESCRIBE_FOLLOW_WORDS_H

#include "core/base/buf.h"
#include "core/base/error.h"

/* The time between two polls of a shard: right after a change, and when nothing has changed for
 * some seconds. */
enum { FOLLOW_POLL_LEAST_MS = 250, FOLLOW_POLL_MOST_MS = 2000 };

#define FOLLOW_TWO_READERS                                                                         \
    "a shard of a stream supports two readers; with this one, a Lambda function and another "      \
    "reader may get changes late"

/* Appends the requests for one shard, in one clause. */
void follow_write_cost(struct buf *out);

/* ERR says that a table has no stream: adds OPTIONS (" --profile …") to the command that it ends
 * with. Other errors stay as they are. */
void follow_add_options(struct error *err, const char *options);

#endif
