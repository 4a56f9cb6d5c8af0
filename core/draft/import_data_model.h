/* The schema.json that AWS's dynamodb-mcp-server makes of a data model: tables, entities with the
 * templates of their keys, indexes, and access patterns, of which those that read by a key become
 * paths. */
#ifndef DDBFS_CORE_DRAFT_IMPORT_DATA_MODEL_H
#define DDBFS_CORE_DRAFT_IMPORT_DATA_MODEL_H

#include "core/draft/import_reader.h"

extern const struct import_format data_model_format;

#endif
