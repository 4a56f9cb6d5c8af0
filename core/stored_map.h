/* Maps in files of their own, and maps that snapshots contain. */
#ifndef DDBFS_CORE_STORED_MAP_H
#define DDBFS_CORE_STORED_MAP_H

#include "core/map/map.h"

/* Whether FILE is a snapshot that contains a map. False also if FILE can't be read. */
bool stored_map_is_in(const char *file);

/* map_load and map_load_again, for a map file or a snapshot that contains a map. If ORIGIN is
 * stored, or IS_STORED, FILE must be a snapshot: it may have been replaced since it was found. */
const struct map *stored_map_load(const char *file, const struct map_origin *origin,
                                  struct findings *findings, struct error *err);
const struct map *stored_map_load_again(const char *file, bool is_stored, struct error *err);

#endif
