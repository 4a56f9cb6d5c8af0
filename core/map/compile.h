/* From what is declared of a table to its model. */
#ifndef DDBFS_CORE_MAP_COMPILE_H
#define DDBFS_CORE_MAP_COMPILE_H

#include "core/map/declaration.h"
#include "core/map/findings.h"

/* The model of TABLE, with one reference that is the caller's. TABLE and all it points to may go
 * afterwards. NULL with everything that is wrong in FINDINGS; or, when parts of TABLE are BROKEN,
 * perhaps without a new one. */
const struct model *compile_table(const struct declared_table *table, struct findings *findings);

#endif
