/* Compiles the declaration of one path into its pattern. */
#ifndef DDBFS_CORE_MAP_PATTERN_H
#define DDBFS_CORE_MAP_PATTERN_H

#include "core/map/declaration.h"
#include "core/map/findings.h"

/* The pattern of PATH in ARENA, which is MODEL's; MODEL's keys, kinds and indexes are complete.
 * NULL with a finding, or without one if PATH refers to a BROKEN member of TABLE. */
struct map_pattern *pattern_compile(const struct model *model, struct arena *arena,
                                    const struct declared_table *table,
                                    const struct declared_path *path, struct findings *findings);

#endif
