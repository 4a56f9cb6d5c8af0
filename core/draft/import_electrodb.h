/* Entities of ElectroDB, whose schemas were written out as JSON: one, a list of them, or an object
 * of them by name. */
#ifndef DDBFS_CORE_DRAFT_IMPORT_ELECTRODB_H
#define DDBFS_CORE_DRAFT_IMPORT_ELECTRODB_H

#include "core/draft/import_reader.h"

extern const struct import_format electrodb_format;

#endif
