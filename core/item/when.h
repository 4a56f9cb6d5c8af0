/* Dates in records: ISO-8601 texts, or seconds or milliseconds since 1970. */
#ifndef DDBFS_CORE_ITEM_WHEN_H
#define DDBFS_CORE_ITEM_WHEN_H

#include <stdint.h>

#include "core/base/buf.h"
#include "core/json/json.h"

/* What the typed value says, in milliseconds since 1970; 0 when it is no date. */
int64_t when_read(struct json typed);

#endif
