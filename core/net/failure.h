/* Why a request has no answer, in words that name the peer and what to do. All of them return
 * false. */
#ifndef DDBFS_CORE_NET_FAILURE_H
#define DDBFS_CORE_NET_FAILURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

/* What is known of a transfer that libcurl has ended. The texts are borrowed. */
struct failure {
    const char *url;
    int code;           /* libcurl's; 0: it was content, though the answer ends among its headers */
    const char *reason; /* its words; "" for none */
    long os_error;
    long proxy_status; /* what a proxy answered to CONNECT; 0: nothing */
    bool proxied;
    bool connected; /* with anybody */
    bool lost;      /* the connection died over the request, which may have been heard */
    bool answered;  /* headers had come */
};

bool failure_report(const struct failure *failure, struct error *err);

/* No WHAT ("answer from") within the time. */
bool failure_report_late(const char *url, const char *what, int64_t timeout_ms, struct error *err);
/* The process, or the system, can open no more files. */
bool failure_report_no_descriptors(const char *url, struct error *err);
bool failure_report_too_large(const char *url, size_t limit, struct error *err);
/* Nothing came over a connection that had long been idle. */
bool failure_report_dead(const char *url, struct error *err);

#endif
