/* The largest table that is scanned (--scan-limit), and the errors for larger ones. */
#ifndef DDBFS_CORE_SOURCE_SCAN_LIMITS_H
#define DDBFS_CORE_SOURCE_SCAN_LIMITS_H

#include <stdint.h>

#include "core/base/error.h"

struct scan_limits {
    uint64_t items, bytes;
};

bool scan_limits_passed(const struct scan_limits *limits, uint64_t items, uint64_t bytes);

/* Fills ERR for a table whose description states more than the limits. Returns false. */
bool scan_limits_refuse(const struct scan_limits *limits, const char *table, uint64_t items,
                        uint64_t bytes, struct error *err);

/* Fills ERR for a Scan that has read more than the limits. Returns false. */
bool scan_limits_stop(const struct scan_limits *limits, const char *table, uint64_t items,
                      uint64_t bytes, struct error *err);

#endif
