/* NoSQL Workbench's models: tables with their keys and indexes. A facet is a kind of record where
 * it states how its keys are written; where no facet does, the table is as its description says. */
#ifndef DDBFS_CORE_DRAFT_IMPORT_WORKBENCH_H
#define DDBFS_CORE_DRAFT_IMPORT_WORKBENCH_H

#include "core/draft/import_reader.h"

extern const struct import_format workbench_format;

#endif
