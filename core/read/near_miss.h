/* What may be wrong with a path that nothing forbids, where it leads to nothing: a word that was
 * taken for a value, and stands near to one that the map knows. */
#ifndef DDBFS_CORE_READ_NEAR_MISS_H
#define DDBFS_CORE_READ_NEAR_MISS_H

#include "core/read/place.h"

/* Appends, of PLACE's path, the first of: a value near to a literal step that the map has in its
 * stead; one that is not among those that the map knows of its parameter; a name that seems to end
 * in a companion's ending. Nothing when all is plausible. */
void near_miss_write(const struct place *place, struct buf *out);

#endif
