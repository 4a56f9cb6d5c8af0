/* Which proxy a request goes through, as the AWS CLI reads it of the environment. */
#ifndef DDBFS_CORE_NET_PROXY_H
#define DDBFS_CORE_NET_PROXY_H

#include "core/base/buf.h"

/* Appends the proxy's address for URL; nothing when it is to be asked itself. */
void proxy_for(const char *url, struct buf *out);

#endif
