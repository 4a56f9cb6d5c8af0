/* How large a table may be that is scanned (--scan-limit), and what is said of one that is larger.
 */
#ifndef DDBFS_CORE_SOURCE_SCAN_LIMITS_H
#define DDBFS_CORE_SOURCE_SCAN_LIMITS_H

#include <stdint.h>

#include "core/base/error.h"

/* How large a table may be that is scanned. */
struct scan_limits {
    uint64_t items, bytes;
};

bool scan_limits_passed(const struct scan_limits *limits, uint64_t items, uint64_t bytes);

/* Of a table that is not scanned, since it has so much, as DescribeTable says. False, always. */
bool scan_limits_refuse(const struct scan_limits *limits, const char *table, uint64_t items,
                        uint64_t bytes, struct error *err);

/* Of a Scan that has read so much; how much there is nobody knows. False, always. */
bool scan_limits_stop(const struct scan_limits *limits, const char *table, uint64_t items,
                      uint64_t bytes, struct error *err);

#endif
