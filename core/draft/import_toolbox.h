/* What dynamodb-toolbox writes of its entities and tables as JSON (EntityDTO, TableDTO): one, a
 * list of them, or an object of them by name. What a function computes is not in there. */
#ifndef DDBFS_CORE_DRAFT_IMPORT_TOOLBOX_H
#define DDBFS_CORE_DRAFT_IMPORT_TOOLBOX_H

#include "core/draft/import_reader.h"

extern const struct import_format toolbox_format;

#endif
