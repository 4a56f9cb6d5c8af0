/* Inside the map: one path, from its declaration to the pattern that is asked. */
#ifndef DDBFS_CORE_MAP_PATTERN_H
#define DDBFS_CORE_MAP_PATTERN_H

#include "core/map/declaration.h"
#include "core/map/findings.h"

/* Makes the pattern of PATH in ARENA, which is MODEL's; MODEL's keys, kinds and indexes are
 * complete. NULL with a finding, or without one where PATH refers to what is BROKEN in TABLE. */
struct map_pattern *pattern_compile(const struct model *model, struct arena *arena,
                                    const struct declared_table *table,
                                    const struct declared_path *path, struct findings *findings);

#endif
