/* The generic view of a table: every item by its whole keys, whatever stands in them. */
#ifndef DDBFS_CORE_AUTHOR_GENERIC_H
#define DDBFS_CORE_AUTHOR_GENERIC_H

#include "core/map/declaration.h"

/* Adds items/ and by/ to TABLE, of which RECORD is the kind whose keys are one part each, those of
 * indexes included. */
void generic_add_paths(struct arena *arena, struct declared_table *table,
                       const struct declared_record *record);

/* The part that is all of KEY, of an index, for records of RECORD's kind; NULL when there is none.
 */
const char *generic_part(const struct declared_record *record, const struct declared_key *key);

/* The type that TABLE declares of an attribute. */
enum value_type generic_type(const struct declared_table *table, const char *attribute);

#endif
