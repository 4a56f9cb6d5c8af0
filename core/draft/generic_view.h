/* The generic view of a table: every item by its whole keys, whatever their format. */
#ifndef DDBFS_CORE_DRAFT_GENERIC_VIEW_H
#define DDBFS_CORE_DRAFT_GENERIC_VIEW_H

#include "core/map/declaration.h"

/* Declares the table called NAME, in the map and at the service, from its description. Each key
 * attribute is one open part, so that every item is of the one kind "item". The declaration
 * compiles (compile.h) for every INFO. Its note describes the table in words. INFO and NAME are
 * copied. NULL when memory ran out. */
struct declared_table *generic_view_declare_table(struct arena *arena, const char *name,
                                                  const struct table_info *info);

/* Adds items/ and by/ to TABLE, whose secrets must be declared already. RECORD is the kind whose
 * keys are one part each, those of indexes included. */
void generic_view_add_paths(struct arena *arena, struct declared_table *table,
                            const struct declared_record *record);

/* The part that is all of KEY, of an index, for items of RECORD's kind; NULL when KEY has several
 * parts or none. */
const char *generic_view_find_part(const struct declared_record *record,
                                   const struct declared_key *key);

/* The format of entry names for a listing of TABLE's INDEX whose path binds the first BOUND
 * attributes of the index's key. The name holds the unbound parts that are no secrets. NULL where
 * the default name is the same. */
const char *generic_view_name_index_entries(struct arena *arena, const struct declared_table *table,
                                            const struct declared_record *record,
                                            const struct declared_index *index, size_t bound);

#endif
