/* Inside the map: the "where" and "filter" members of a path, read into declarations. */
#ifndef DDBFS_CORE_MAP_CONDITIONS_H
#define DDBFS_CORE_MAP_CONDITIONS_H

#include "core/map/declaration.h"
#include "core/map/reader.h"

/* Appends what VALUE, called WHAT in errors, says to the list CONDITIONS. */
bool map_read_conditions(struct map_reader *reader, struct json value, const char *what,
                         struct declared_condition **conditions);

#endif
