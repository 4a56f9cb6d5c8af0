/* The source DynamoDB: a closed set of fifteen reading operations, signed, repeated, checked and
 * decoded. No code here builds any other operation. */
#ifndef DDBFS_CORE_DYNAMO_DYNAMO_H
#define DDBFS_CORE_DYNAMO_DYNAMO_H

#include "core/aws/session.h"
#include "core/base/log.h"
#include "core/base/loop.h"
#include "core/net/transport.h"
#include "core/source/source.h"

struct dynamo_options {
    struct loop *loop;
    struct transport *transport;
    struct aws_session *session;
    const struct log *log; /* may be NULL; one line a request at LOG_LEVEL_INFO */
    int64_t deadline_ms;   /* for one page, retries and waits included */
    unsigned random_seed;  /* of the jitter */
    bool may_scan;         /* a READ_SCAN is sent; else it is an error */
    bool hedges;           /* a GetItem whose response is late is sent twice (hedge.h) */
};

extern const struct source_ops dynamo_ops;

/* Everything in OPTIONS is borrowed and must outlive the source. NULL when memory ran out. */
struct source *dynamo_new(const struct dynamo_options *options);

#endif
