/* The README of a directory: what to type there, what it costs, and the traps; made from the
 * map. Which directories have one, names.h says. */
#ifndef DDBFS_CORE_TREE_README_H
#define DDBFS_CORE_TREE_README_H

#include "core/tree/place.h"

/* Appends it: what things are called by NAMES. False when memory ran out. */
bool readme_write(const struct place *directory, const struct place_options *names,
                  struct buf *out);

#endif
