/* Schemas of OneTable ("format": "onetable:1.1.0"): models whose attributes may be templates, in
 * the key attributes of one table. */
#ifndef DDBFS_CORE_DRAFT_IMPORT_ONETABLE_H
#define DDBFS_CORE_DRAFT_IMPORT_ONETABLE_H

#include "core/draft/import_reader.h"

extern const struct import_format onetable_format;

#endif
