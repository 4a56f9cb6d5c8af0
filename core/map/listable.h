/* What of a directory can be listed, by the map alone: which parameters have known values, and
 * which follow from the entries of its listing. */
#ifndef DDBFS_CORE_MAP_LISTABLE_H
#define DDBFS_CORE_MAP_LISTABLE_H

#include "core/map/route.h"

/* The parameter of CHILD whose values the map knows, when it is the only one; or NULL. There may be
 * other values, unless the map says that there are not. */
const struct map_param *listable_values(const struct model *table, const struct route *child);

/* Whether names of the directory CHILD follow from the parts of ENTRY, so that each entry brings
 * one directory along ("{index_name}.d" beside "{index_name}"). PATH is what has been said. */
bool listable_follows(const struct route *child, const struct route *entry,
                      const struct bindings *path);

/* The same for whichever entry of its directory's listing. */
bool listable_follows_some(const struct route *child, const struct bindings *path);

/* Whether records of KIND are found in the directory CHILD, or below it. */
bool listable_shows(const struct route *child, const struct map_kind *kind);

/* Whether no listing shows all names of the step CHILD of its directory: the map does not say that
 * its known values are all, and the entries of the listing do not lead to all. False for a hidden
 * step, and for a window ("{from}..{to}/") on records that the listing shows. */
bool listable_lacks(const struct model *table, const struct route *child,
                    const struct bindings *path);

#endif
