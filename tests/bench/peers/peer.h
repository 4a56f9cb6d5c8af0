/* What the peers of the mount share: a signed request to the service by bare libcurl, and the
 * summary of many measured times. A peer does what a careful program without a file system would
 * do: it signs each request, keeps its connection, and looks at nothing but the status. */
#ifndef DDBFS_TESTS_BENCH_PEERS_PEER_H
#define DDBFS_TESTS_BENCH_PEERS_PEER_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/buf.h"

/* One connection, and the request that is on it. */
struct peer {
    CURL *easy;                 /* owned */
    struct curl_slist *headers; /* owned */
    struct buf body;            /* of the answer */
};

/* Ends the program when libcurl cannot be had. URL is where the service is. AWS_CA_BUNDLE is
 * obeyed; if FRESH is set, each request has a connection of its own. */
void peer_init(struct peer *peer, const char *url);
void peer_clean_up(struct peer *peer);

/* Signs a request of OPERATION ("GetItem") with BODY, which must stay until its answer is here. */
void peer_prepare(struct peer *peer, const char *url, const char *operation,
                  const struct buf *body);

/* Sends what was prepared and waits; ends the program when the answer is not 200. */
void peer_perform(struct peer *peer);

int64_t peer_now_ns(void);

/* Prints COUNT times, one a line, in nanoseconds. */
void peer_print(const int64_t *times, size_t count);

/* Ends the program with a message unless POINTER is there. */
void *peer_need(void *pointer, const char *what);

#endif
