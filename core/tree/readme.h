/* The README of a directory: what to type there, what it costs, and the traps; made from the
 * map. */
#ifndef DDBFS_CORE_TREE_README_H
#define DDBFS_CORE_TREE_README_H

#include "core/tree/place.h"

#define README_NAME "README"

/* Whether the directory has one: a table's own, and any of which a part can't be listed. */
bool readme_is_in(const struct place *directory);

/* Appends it. False when memory ran out. */
bool readme_write(const struct place *directory, struct buf *out);

#endif
