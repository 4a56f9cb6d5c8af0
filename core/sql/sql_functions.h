/* DynamoDB's functions over values of SQLite. A value has the type of its attribute (sql_value.h)
 * if the function reads a column; behind a subquery, a group or a sort the type is lost. */
#ifndef DDBFS_CORE_SQL_SQL_FUNCTIONS_H
#define DDBFS_CORE_SQL_SQL_FUNCTIONS_H

#include "core/base/error.h"
#include "core/output/sql_value.h"

/* The types, as bits, of a statement's TEXTs so far that may be of several: zero at first. */
struct sql_types {
    unsigned seen;
};

/* Notes the value of a column. */
void sql_types_note(struct sql_types *types, const struct sql_value *value);

/* begins_with(x, y): true of two texts, and of two binaries. False with ERR filled: a type is lost,
 * and the result depends on it. */
bool sql_functions_begins_with(const struct sql_types *types, const struct sql_value *in,
                               const struct sql_value *wanted, bool *out, struct error *err);

/* contains(x, y): whether the text or binary x has y, or the list or set x has the element y. False
 * with ERR filled: likewise; or y is a list, a map or a set, and x has elements of these types. */
bool sql_functions_contains(const struct sql_types *types, const struct sql_value *in,
                            const struct sql_value *wanted, bool *out, struct error *err);

#endif
