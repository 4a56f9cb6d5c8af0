/* The lines that a skill teaches: which question is asked how, on a listing and a record of the
 * map. */
#ifndef DDBFS_CORE_DESCRIBE_SKILL_FORMS_H
#define DDBFS_CORE_DESCRIBE_SKILL_FORMS_H

#include "core/describe/skill_table.h"

/* Appends the section. False when memory ran out. */
bool skill_forms_write(const struct skill_of *of, struct buf *out);

#endif
