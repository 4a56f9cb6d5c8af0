/* Inside the map: the "tables" member of its file, read into declarations. */
#ifndef DDBFS_CORE_MAP_TABLE_MEMBERS_H
#define DDBFS_CORE_MAP_TABLE_MEMBERS_H

#include "core/map/declaration.h"
#include "core/map/member_reader.h"

/* TABLES, a struct declared_table **, gets the list of what was read. False when any
 * part of it was wrong. */
bool map_read_tables(struct map_reader *reader, struct json value, void *tables);

#endif
