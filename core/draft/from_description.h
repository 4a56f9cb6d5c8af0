/* From a table's description to the declaration of its generic view: what stands below any table
 * before anybody has said how its keys are written. */
#ifndef DDBFS_CORE_DRAFT_FROM_DESCRIPTION_H
#define DDBFS_CORE_DRAFT_FROM_DESCRIPTION_H

#include "core/map/declaration.h"

/* The table called NAME, in the map as at the service. Each key attribute is one part, which is
 * open, so that every item is a record of the one kind, "item". It compiles (compile.h) whatever
 * INFO says. Its note tells
 * in words what the table is (words.h). INFO and NAME may go afterwards. NULL when memory ran out.
 */
struct declared_table *describe_table(struct arena *arena, const char *name,
                                      const struct table_info *info);

#endif
