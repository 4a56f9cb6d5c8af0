/* What holds for every map: companions, sizes, traps, what not to do, and what errors say. */
#ifndef DDBFS_CORE_DESCRIBE_SKILL_ADVICE_H
#define DDBFS_CORE_DESCRIBE_SKILL_ADVICE_H

#include "core/describe/skill_table.h"

/* Appends these sections. */
void skill_advice_write(const struct skill_of *of, struct buf *out);

#endif
