/* Example statements of a skill: the variables FROM, WHERE and ALSO of its shell lines. */
#ifndef DDBFS_CORE_DESCRIBE_SKILL_SQL_H
#define DDBFS_CORE_DESCRIBE_SKILL_SQL_H

#include "core/describe/skill_table.h"

/* Appends their assignments: the table of MODEL, conditions that find the items of LIST, and the
 * same table of the next environment. A part with declared values has the first, any other part its
 * name in braces. MODEL is NULL in a map without tables. */
void skill_sql_write_variables(const struct skill_of *of, const struct model *model,
                               const struct map_pattern *list, struct buf *out);

#endif
