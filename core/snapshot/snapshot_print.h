/* The command that is equal to a Read of a snapshot. */
#ifndef DDBFS_CORE_SNAPSHOT_SNAPSHOT_PRINT_H
#define DDBFS_CORE_SNAPSHOT_SNAPSHOT_PRINT_H

#include "core/source/source.h"

/* A function of struct source_ops. */
void snapshot_write_command(const struct read *read, const struct source_command *how,
                            struct buf *out);

#endif
