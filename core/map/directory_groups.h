/* Listings of directories alone ("groups"): which steps of the map they show. */
#ifndef DDBFS_CORE_MAP_DIRECTORY_GROUPS_H
#define DDBFS_CORE_MAP_DIRECTORY_GROUPS_H

#include "core/map/route.h"

/* Whether CHILD is a directory that the entries of the listing it stands in bring along, where that
 * shows nothing else: all that PATH does not say of its name, their keys do. */
bool directory_groups_show(const struct route *child, const struct bindings *path);

/* Whether each such listing at ROUTE and below has a step to show. False with findings. */
bool directory_groups_check(const struct route *route, struct findings *findings);

#endif
