/* HTTP requests on the loop, over libcurl's multi-socket interface: kept-alive connections, a
 * total deadline, a cap on the answer, http and https only, no redirects, no netrc. Names are
 * resolved by threads of libcurl's. Answers are handed over as they came: status, headers, and the
 * body's bytes as transferred. docs/internals/connections.md tells how connections are kept, and
 * left. */
#ifndef DDBFS_CORE_NET_HTTP_H
#define DDBFS_CORE_NET_HTTP_H

#include <stdint.h>

#include "core/base/error.h"
#include "core/base/loop.h"
#include "core/net/transport.h"

struct http_options {
    unsigned max_connections; /* of one share; all together have four times as many */
    const char *user_agent;
};

/* The transport owns its connections. SIGPIPE must be ignored by the program: libcurl leaves
 * signals alone here. To be called after the last fork. AWS_CA_BUNDLE (and behind a request's own
 * wish REQUESTS_CA_BUNDLE) and proxies (proxy.h) are read of the environment. NULL (with ERR
 * filled) on failure. */
struct transport *http_new(struct loop *loop, const struct http_options *options,
                           struct error *err);

#endif
