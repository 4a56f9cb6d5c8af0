/* One path pattern: from the parts that a path binds to the conditions of its Read, and from a
 * key that came back to the name of an entry. */
#ifndef DDBFS_CORE_MAP_PATTERN_H
#define DDBFS_CORE_MAP_PATTERN_H

#include "core/map/map.h"

/* Settles what PATTERN reads and how its entries are named, or says why it can't be (TEXT
 * filled, without file and line). Memory is the map's. */
bool pattern_settle(struct arena *arena, struct map_pattern *pattern, struct error *err);

/* Whether PARAM stands in the pattern's path. */
bool pattern_path_has(const struct map_pattern *pattern, const char *param);

#endif
