/* Constraints that the service tests, because no key can answer them. A filter drops only rows that
 * SQLite drops. */
#ifndef DDBFS_CORE_SQL_SQL_FILTER_H
#define DDBFS_CORE_SQL_SQL_FILTER_H

#include "core/sql/sql_wanted.h"

/* Whether the constraint can be in a filter of a request to INDEX (NULL: the table): it compares an
 * attribute that the index has and that is in no key of the request. */
bool sql_filter_accepts(const struct sql_columns *columns, const struct map_index *index,
                        const struct sql_constraint *constraint);

/* The condition of COUNT accepted constraints and their VALUES; NULL if the service cannot drop any
 * row, or memory ran out (ARENA is failed then). */
const struct cond *sql_filter_make(const struct sql_columns *columns,
                                   const struct sql_constraint *const *constraints,
                                   const struct sql_value *const *values, size_t count,
                                   struct arena *arena);

#endif
