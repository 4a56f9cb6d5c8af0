/* Dates in records: ISO-8601 texts, or seconds or milliseconds since 1970. */
#ifndef DDBFS_CORE_ITEM_WHEN_H
#define DDBFS_CORE_ITEM_WHEN_H

#include "core/base/instant.h"
#include "core/json/json.h"

/* The point in time that the typed value holds; none if it is not a date. */
struct instant when_read(struct json typed);

#endif
