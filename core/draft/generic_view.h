/* The generic view of a table: every item by its whole keys, whatever stands in them. */
#ifndef DDBFS_CORE_DRAFT_GENERIC_VIEW_H
#define DDBFS_CORE_DRAFT_GENERIC_VIEW_H

#include "core/map/declaration.h"

/* Adds items/ and by/ to TABLE, whose secrets are known by then, and of which RECORD is the kind
 * whose keys are one part each, those of indexes included. */
void generic_add_paths(struct arena *arena, struct declared_table *table,
                       const struct declared_record *record);

/* The part that is all of KEY, of an index, for records of RECORD's kind; NULL when there is none.
 */
const char *generic_part(const struct declared_record *record, const struct declared_key *key);

/* How entries of a listing of TABLE's INDEX are named whose path says SAID attributes of the
 * index's key: by what it does not say and is no secret, as a format; NULL where that is how they
 * would be named anyway. */
const char *generic_index_name(struct arena *arena, const struct declared_table *table,
                               const struct declared_record *record,
                               const struct declared_index *index, size_t said);

/* The type that TABLE declares of an attribute. */
enum value_type generic_type(const struct declared_table *table, const char *attribute);

#endif
