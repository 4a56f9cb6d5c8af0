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

/* The step below DIRECTORY that nothing lists, or not all of it: neither values of which the map
 * says that there are no others, nor its listing; NULL when the directory can be listed as a whole.
 * What is hidden lacks nowhere. It can also where its listing has all records, and parameters only
 * open windows on some of them
 * ("{from}..{to}/"). */
const struct route *listable_missing(const struct model *table, const struct route *directory,
                                     const struct bindings *path);

#endif
