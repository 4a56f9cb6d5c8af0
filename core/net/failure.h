/* Errors of requests without a response, which name the peer and a remedy. All functions return
 * false. */
#ifndef DDBFS_CORE_NET_FAILURE_H
#define DDBFS_CORE_NET_FAILURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

/* A transfer that libcurl has ended. The texts are borrowed. */
struct failure {
    const char *url;
    int code;           /* libcurl's; 0: no error, but the response ends among its headers */
    const char *reason; /* libcurl's words, or "" */
    long os_error;
    long proxy_status; /* of a proxy's response to CONNECT; 0: none */
    bool proxied;
    bool connected;
    bool lost;     /* the connection died after the request was sent */
    bool answered; /* headers were received */
};

bool failure_report(const struct failure *failure, struct error *err);

/* No WHAT ("response from") in time. */
bool failure_report_late(const char *url, const char *what, int64_t timeout_ms, struct error *err);
/* The process, or the system, has reached its limit of open files. */
bool failure_report_no_descriptors(const char *url, struct error *err);
/* The headers exceed LIMIT. */
bool failure_report_large_head(const char *url, size_t limit, struct error *err);
bool failure_report_too_large(const char *url, size_t limit, struct error *err);
/* No response over a connection that had been idle. */
bool failure_report_dead(const char *url, struct error *err);

#endif
