/* The README of a directory: what to type there, what it costs, and the traps; made from the
 * map. Which directories have one, names.h says. */
#ifndef DDBFS_CORE_DESCRIBE_README_H
#define DDBFS_CORE_DESCRIBE_README_H

#include "core/read/model_provider.h"

/* Appends it: what things are called by NAMES. TOLD is what the service said of a table that was
 * found by its name, as far as that is known; else NULL. False when memory ran out. */
bool readme_write(const struct place *directory, const struct place_options *names,
                  const struct model_provider_description *told, struct buf *out);

#endif
