/* HTTP requests on the loop, over libcurl's multi-socket interface: kept-alive connections, a total
 * deadline, a limit of the response's size, http and https only, no redirects, no netrc. Threads of
 * libcurl resolve names. A response has its status, its headers, and the body as transferred. See
 * docs/internals/connections.md. */
#ifndef DDBFS_CORE_NET_HTTP_H
#define DDBFS_CORE_NET_HTTP_H

#include <stdint.h>

#include "core/base/error.h"
#include "core/base/loop.h"
#include "core/net/transport.h"

struct http_options {
    unsigned max_connections; /* of one share; all shares have four times as many */
    const char *user_agent;
};

/* The transport owns its connections. The program must ignore SIGPIPE, because libcurl does not
 * touch signals here, and must not fork afterwards. The environment's AWS_CA_BUNDLE comes before a
 * request's own authorities, its REQUESTS_CA_BUNDLE behind them; its proxies are used, too
 * (proxy.h). NULL (with ERR filled) on failure. */
struct transport *http_new(struct loop *loop, const struct http_options *options,
                           struct error *err);

#endif
