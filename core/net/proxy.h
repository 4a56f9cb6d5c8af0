/* The proxy of a request, as the AWS CLI finds it in the environment. */
#ifndef DDBFS_CORE_NET_PROXY_H
#define DDBFS_CORE_NET_PROXY_H

#include "core/base/buf.h"

/* Appends the proxy's address for URL; nothing if the request goes to the host itself. */
void proxy_for(const char *url, struct buf *out);

#endif
