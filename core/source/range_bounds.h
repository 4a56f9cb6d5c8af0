/* The ends of a range of sort keys, both included, and the condition that selects it. */
#ifndef DDBFS_CORE_SOURCE_RANGE_BOUNDS_H
#define DDBFS_CORE_SOURCE_RANGE_BOUNDS_H

#include "core/source/read.h"

struct range_bounds {
    bool has_low, has_high; /* else it is open on that side */
    struct value low, high; /* borrowed */
};

/* The least range that has every key of READ, which is divisible. It may have one key more. The
 * values are READ's, or in ARENA. False if such a range cannot be written, or memory ran out. */
bool range_bounds_of(const struct read *read, struct arena *arena, struct range_bounds *out);

/* A copy of READ for the keys within BOUNDS, which are not open on both sides. NULL when memory
 * ran out. */
struct read *range_bounds_read(const struct range_bounds *bounds, const struct read *read);

#endif
