/* Points in time as texts, ISO-8601. */
#ifndef DDBFS_CORE_BASE_INSTANT_H
#define DDBFS_CORE_BASE_INSTANT_H

#include <stdint.h>

#include "core/base/buf.h"

/* 2026-04-16T10:15:00Z or 2026-04-16T10:15:00.123+02:00 or 2026-04-16, in milliseconds since 1970;
 * UTC where no offset or "UTC" stands behind it; 0 when TEXT is none. */
int64_t instant_parse(struct span text);

/* Appends a time as 2026-04-16T10:15:00Z. */
void instant_write(struct buf *out, int64_t ms);

#endif
