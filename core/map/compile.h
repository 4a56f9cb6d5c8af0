/* Compiles the declaration of a table into its model. */
#ifndef DDBFS_CORE_MAP_COMPILE_H
#define DDBFS_CORE_MAP_COMPILE_H

#include "core/map/declaration.h"
#include "core/map/findings.h"

/* The model of TABLE, with one reference for the caller. It copies everything, so TABLE may be
 * freed. NULL with all mistakes in FINDINGS; if parts of TABLE are BROKEN, FINDINGS may have no new
 * one. */
const struct model *compile_table(const struct declared_table *table, struct findings *findings);

#endif
