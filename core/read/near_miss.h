/* Hints for a path that is allowed, but leads to nothing: one of its values may be a misspelt word
 * of the map. */
#ifndef DDBFS_CORE_READ_NEAR_MISS_H
#define DDBFS_CORE_READ_NEAR_MISS_H

#include "core/read/place.h"

/* Appends a hint about PLACE's path, the first of: a value similar to a literal step of the map;
 * one that is not among the values that the map declares; a name that seems to end in a companion's
 * ending; a window's value that is not compared with the beginning of names. Appends nothing when
 * all is plausible. */
void near_miss_write(const struct place *place, struct buf *out);

#endif
