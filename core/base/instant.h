/* Points in time as texts, ISO-8601. */
#ifndef DDBFS_CORE_BASE_INSTANT_H
#define DDBFS_CORE_BASE_INSTANT_H

#include <stdint.h>
#include <time.h>

#include "core/base/buf.h"

/* A point in time in the years 0000 to 9999, or unknown, as {0} is. */
struct instant {
    int64_t ms; /* since 1970; negative before */
    bool known;
};

/* The point MS milliseconds after 1970; unknown outside of the years 0000 to 9999. */
struct instant instant_of(int64_t ms);

/* Parses 2026-04-16T10:15:00Z or 2026-04-16T10:15:00.123+02:00 or 2026-04-16. A text without an
 * offset, or with "UTC" behind it, is UTC. Unknown if TEXT is not a date of the calendar. */
struct instant instant_parse(struct span text);

/* MS rounded down to whole seconds, and the nanoseconds beyond them, which are never negative. */
struct timespec instant_timespec(int64_t ms);

/* Appends a time as 2026-04-16T10:15:00Z, rounded down. */
void instant_write(struct buf *out, int64_t ms);

#endif
