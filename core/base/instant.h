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

/* Parses a date, a time, or an ISO prefix of one that ends with a whole field: 2026, 2026-11,
 * 2026-11-02, 2026-11-02T06, …, 2026-11-02T06:00:00.123; an offset as above may follow hours,
 * minutes or seconds. LAST_MS gets the last millisecond that the text includes, such as that of the
 * month. False if TEXT has another form. */
bool instant_parse_prefix(struct span text, int64_t *last_ms);
/* The first millisecond that such a text includes; unknown for a text of another form. */
struct instant instant_parse_first(struct span text);

/* Appends a time as 2026-04-16T10:15:00Z, rounded down. */
void instant_write(struct buf *out, int64_t ms);
/* The same with milliseconds, unless they are 0: 2026-04-16T10:15:00.123Z. */
void instant_write_exact(struct buf *out, int64_t ms);

#endif
