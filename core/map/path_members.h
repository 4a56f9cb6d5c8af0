/* Inside the map: the "paths" member of a table, read into declarations. */
#ifndef DDBFS_CORE_MAP_PATH_MEMBERS_H
#define DDBFS_CORE_MAP_PATH_MEMBERS_H

#include "core/map/declaration.h"
#include "core/map/member_reader.h"

/* PATHS, a struct declared_path **, gets the list of those that were read without fault. */
bool map_read_paths(struct map_reader *reader, struct json value, void *paths);

#endif
