/* The names that a directory can list, as far as the map knows: known values of parameters, and
 * directories that follow from the entries of a listing. */
#ifndef DDBFS_CORE_MAP_LISTABLE_H
#define DDBFS_CORE_MAP_LISTABLE_H

#include "core/map/route.h"

/* The parameter of CHILD whose values the map knows, if it is CHILD's only one; or NULL. It may
 * have other values, unless the map says "only". */
const struct map_param *listable_values(const struct model *table, const struct route *child);

/* Whether the name of the directory CHILD follows from the parts of ENTRY, so that each entry leads
 * to a directory ("{user}.d" beside "{user}#{number}"). PATH has the values of the path. */
bool listable_follows(const struct route *child, const struct route *entry,
                      const struct bindings *path);
/* The same for any entry of the listing. */
bool listable_follows_some(const struct route *child, const struct bindings *path);

/* Whether items of KIND are found in the directory CHILD, or below it. */
bool listable_shows(const struct route *child, const struct map_kind *kind);

/* Whether no listing shows all names of the step CHILD: its known values may not be all, and the
 * entries of the listing do not lead to all. False for a hidden step, and for a window
 * ("{from}..{to}/") on items that the listing shows. */
bool listable_lacks(const struct model *table, const struct route *child,
                    const struct bindings *path);

/* Whether CHILD is a directory that a listing with "groups" shows: the keys of the items have all
 * parts of its name that PATH does not have. */
bool listable_is_group(const struct route *child, const struct bindings *path);
/* Whether each listing with "groups" at ROUTE and below has such a directory. False with findings.
 */
bool listable_check_groups(const struct route *route, struct findings *findings);

#endif
