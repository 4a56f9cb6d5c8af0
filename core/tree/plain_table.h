/* The paths of a table of which nothing is known but its description: its items by their keys. */
#ifndef DDBFS_CORE_TREE_PLAIN_TABLE_H
#define DDBFS_CORE_TREE_PLAIN_TABLE_H

#include "core/map/declaration.h"

/* NULL when memory ran out; else it is ARENA's. */
struct declared_table *plain_table(struct arena *arena, const char *name,
                                   const struct table_info *info);

#endif
