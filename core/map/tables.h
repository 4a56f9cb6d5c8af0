/* Inside the map: the "tables" member. */
#ifndef DDBFS_CORE_MAP_TABLES_H
#define DDBFS_CORE_MAP_TABLES_H

#include "core/map/reader.h"

bool map_read_tables(struct map_reader *reader, struct json value, void *map);

#endif
