/* By how much this machine's clock is wrong, as the service's Date header tells. */
#ifndef DDBFS_CORE_AWS_SKEW_H
#define DDBFS_CORE_AWS_SKEW_H

#include "core/net/transport.h"

/* What to add to the wall clock to get the service's time: its Date less the middle of the
 * request, which was sent at SENT_WALL_MS. False when the response cannot tell: it has no
 * readable Date, comes out of somebody's cache (Age), or took more than 15 minutes. */
bool skew_read(const struct http_response *response, int64_t sent_wall_ms, int64_t *skew_ms);

/* Whether two skews are so far apart (4 minutes) that a signature can fail for it. */
bool skew_differs(int64_t a_ms, int64_t b_ms);

#endif
