/* The end of a Read whose pages never end. An honest service ends each, a hostile one may not.
 * docs/errors.md defines progress. */
#ifndef DDBFS_CORE_SOURCE_SOURCE_BOUNDS_H
#define DDBFS_CORE_SOURCE_SOURCE_BOUNDS_H

#include "core/base/error.h"
#include "core/source/read.h"

struct source_bounds {
    uint64_t items;  /* the most of one Read; a Scan has bounds of its own (scan_limits) */
    int64_t idle_ms; /* the longest time of responses in a row without progress */
};

/* Of one Read, so far. */
struct source_progress {
    uint64_t items;
    unsigned idle_pages; /* the latest in a row that brought nothing, */
    int64_t idle_ms;     /* and their time */
};

/* Adds a page to the progress of READ: COUNT items that the service has read for it, or names or
 * objects that it brings; MORE pages follow; it took TOOK_MS. False with ERR filled beyond a bound.
 */
bool source_bounds_admit(const struct source_bounds *bounds, struct source_progress *progress,
                         const struct read *read, uint64_t count, bool more, int64_t took_ms,
                         struct error *err);

#endif
