/* The headers that carry one attempt to the service, its signature among them. */
#ifndef DDBFS_CORE_DYNAMO_ENVELOPE_H
#define DDBFS_CORE_DYNAMO_ENVELOPE_H

#include "core/aws/credentials.h"
#include "core/base/buf.h"
#include "core/dynamo/request.h"

enum { ENVELOPE_MAX_HEADERS = 8 };

/* {0} is an empty envelope. */
struct envelope {
    const char *headers[ENVELOPE_MAX_HEADERS]; /* "Name: value", in the buffers below */
    size_t header_count;
    struct buf host, date, target;
    struct buf token, authorization; /* secret */
};

/* What is to be signed, and as whom. All borrowed. */
struct envelope_content {
    const char *host;
    const char *region;
    enum dynamo_op op;
    struct span body;
    int64_t wall_ms; /* the service's time */
    const struct credentials *credentials;
};

/* False when OpenSSL or memory failed. To be cleaned up in either case, which wipes secrets. */
bool envelope_init(struct envelope *envelope, const struct envelope_content *content);
void envelope_clean_up(struct envelope *envelope);

#endif
