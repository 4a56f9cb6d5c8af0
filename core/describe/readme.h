/* The README of a directory, made of the map: the names to type there, their costs, and the map's
 * hints. names.h defines which directories have one. */
#ifndef DDBFS_CORE_DESCRIBE_README_H
#define DDBFS_CORE_DESCRIBE_README_H

#include "core/read/model_provider.h"

/* Appends it, with names written by NAMES. DESCRIPTION is the service's, of a table that was found
 * by its name, if it is known; else NULL. False when memory ran out. */
bool readme_write(const struct place *directory, const struct place_options *names,
                  const struct model_provider_description *description, struct buf *out);

#endif
