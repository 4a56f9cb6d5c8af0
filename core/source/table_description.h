/* A table's keys and indexes, read from the service's description of it. */
#ifndef DDBFS_CORE_SOURCE_TABLE_DESCRIPTION_H
#define DDBFS_CORE_SOURCE_TABLE_DESCRIPTION_H

#include "core/base/arena.h"
#include "core/json/json.h"
#include "core/source/source.h"

/* DynamoDB's own rule for the names of tables. Whatever else the service might take for a table,
 * such as its ARN, would be a second way to it. */
bool table_name_is_valid(struct span name);

/* Reads the object "Table" of a DescribeTable response into ARENA. Its global indexes come first.
 * NULL if a member is missing or not valid, or memory ran out (ARENA is failed then). The name of
 * the table is not checked. */
struct table_info *table_description_read(struct json table, struct arena *arena);

#endif
