/* The end of a Read whose pages never end. An honest service ends each, a hostile one may not.
 * docs/errors.md defines progress. */
#ifndef DDBFS_CORE_SOURCE_SOURCE_BOUNDS_H
#define DDBFS_CORE_SOURCE_SOURCE_BOUNDS_H

#include "core/source/source.h"

struct source_bounds {
    uint64_t items;  /* the most of one Read; a Scan has bounds of its own (scan_limits) */
    int64_t idle_ms; /* the longest time of responses in a row without progress */
};

/* Adds PAGE to the progress of CALL. False with ERR filled, if a further page may not be requested,
 * or PAGE has passed a bound. */
bool source_bounds_admit(const struct source_bounds *bounds, struct source_call *call,
                         const struct page *page, struct error *err);

#endif
