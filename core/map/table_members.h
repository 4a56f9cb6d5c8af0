/* Reads the "tables" member of the map's file into declarations. */
#ifndef DDBFS_CORE_MAP_TABLE_MEMBERS_H
#define DDBFS_CORE_MAP_TABLE_MEMBERS_H

#include "core/map/declaration.h"
#include "core/map/member_reader.h"

/* Appends the tables of VALUE to TABLES. False if any part of it was wrong. */
bool map_read_tables(struct map_reader *reader, struct json value, struct declared_table **tables);

#endif
