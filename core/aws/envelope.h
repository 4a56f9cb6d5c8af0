/* The headers that carry one attempt to the service, its signature among them. */
#ifndef DDBFS_CORE_AWS_ENVELOPE_H
#define DDBFS_CORE_AWS_ENVELOPE_H

#include "core/aws/aws_request.h"
#include "core/aws/credentials.h"
#include "core/base/buf.h"

/* Beside the request's own: Host, X-Amz-Date, X-Amz-Security-Token. */
enum { ENVELOPE_MAX_SIGNED = AWS_MAX_HEADERS + 3, ENVELOPE_MAX_HEADERS = ENVELOPE_MAX_SIGNED + 2 };

/* {0} is an empty envelope. */
struct envelope {
    const char *headers[ENVELOPE_MAX_HEADERS]; /* "Name: value", in the buffers below */
    size_t header_count;
    struct buf lines;         /* secret: the token is among them */
    struct buf authorization; /* secret */
};

/* WALL_MS is the service's time. CREDENTIALS are NULL for a request that is not signed. False when
 * OpenSSL or memory failed. To be cleaned up in either case, which wipes secrets. */
bool envelope_init(struct envelope *envelope, const struct aws_request *request, int64_t wall_ms,
                   const struct credentials *credentials);
void envelope_clean_up(struct envelope *envelope);

#endif
