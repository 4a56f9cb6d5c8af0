/* Reads the "where" and "filter" members of a path into declarations. */
#ifndef DDBFS_CORE_MAP_CONDITION_MEMBERS_H
#define DDBFS_CORE_MAP_CONDITION_MEMBERS_H

#include "core/map/declaration.h"
#include "core/map/member_reader.h"

/* Append the conditions of VALUE, joined by "and", to the list OUT, a struct
 * declared_condition **. A "where" has one condition for each key or part of a key; a "filter" may
 * have any. */
map_read_fn map_read_where;
map_read_fn map_read_filter;

/* The map's word for the operation: "begins_with". */
const char *map_condition_word(enum cond_op op);

#endif
