/* The repair of a snapshot file whose writer was killed, which may be a stranger's file. */
#ifndef DDBFS_CORE_IMPORT_SNAPSHOT_REPAIR_H
#define DDBFS_CORE_IMPORT_SNAPSHOT_REPAIR_H

#include "core/base/error.h"

/* Rolls the change of a killed writer back. REPAIRED is false without one. FILE must be a
 * snapshot or a recording, no link, and have one name. False with ERR filled; a file that is
 * refused is as it was before. */
bool snapshot_repair(const char *file, bool *repaired, struct error *err);

#endif
